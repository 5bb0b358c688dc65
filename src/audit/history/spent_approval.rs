//! Tells which approval a write spent, by what its records say.

use super::super::{ApprovalId, AuditEvent, CallId, Record};

/// The most calls that are named as those that spent one approval.
const MAX_SPENT: usize = 100;

/// The approval of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpentApproval<'a> {
    /// The operator's static token, which approves every write.
    StaticToken,
    /// The preview that this call showed.
    Preview(CallId),
    /// The yes of a person, given in this call to this very write.
    Yes(CallId),
    /// The yes of a person, given in this call to more writes: of the same `page`, or of the same
    /// `kind`.
    Standing(CallId, &'a str),
    /// The decision on this proposal.
    Proposal(ApprovalId),
}

impl<'a> SpentApproval<'a> {
    /// Reads it from a record; `None` if the record names no approval.
    pub fn read(record: &'a Record) -> Option<Self> {
        let decision = record.decision.as_deref();
        let Some(id) = record.confirms else {
            let is_token = record.event == AuditEvent::Attempt && decision == Some("token");
            return is_token.then_some(Self::StaticToken);
        };
        let of_proposal = |proposal: &String| *proposal == id.to_string();
        Some(if record.proposal.as_ref().is_some_and(of_proposal) {
            Self::Proposal(id)
        } else if let Some(scope) = record.standing.as_deref() {
            Self::Standing(id.call(), scope)
        } else if decision == Some("person") || record.call == Some(id.call()) {
            Self::Yes(id.call())
        } else {
            Self::Preview(id.call())
        })
    }
}

/// The calls that spent an approval.
#[derive(Debug, Default)]
pub(in crate::audit) struct SpendingCalls(pub(in crate::audit) Vec<CallId>);

impl SpendingCalls {
    /// Reads a record; returns whether it is of another call, or set, that spent the approval of
    /// this one.
    pub(in crate::audit) fn read(&mut self, of: CallId, record: &Record) -> bool {
        let by = record.set.or(record.call);
        let is_spent = record.confirms.is_some_and(|id| id.is_call(of));
        let Some(by) = by.filter(|by| is_spent && *by != of && record.call != Some(of)) else {
            return false;
        };
        if !self.0.contains(&by) && self.0.len() < MAX_SPENT {
            self.0.push(by);
        }
        true
    }
}
