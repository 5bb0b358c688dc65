//! A delegate as the server takes it: with what its grant and its maker's both allow.

use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;

use super::super::clients::client_record::{Bond, ClientRecord};
use super::delegate::{DelegateEndReason, DelegateRecord};
use crate::audit::Role;
use crate::site::SiteName;

/// A delegate and its maker, as they are now.
#[derive(Debug)]
pub(in crate::server) struct LiveDelegate {
    pub(in crate::server) line: Arc<DelegateRecord>,
    end: OffsetDateTime,
    /// As the server takes it; `None` if its maker is not there.
    known: Option<Arc<ClientRecord>>,
}

impl LiveDelegate {
    /// A delegate among these clients.
    pub(in crate::server) fn of(
        line: Arc<DelegateRecord>,
        clients: &[&Arc<ClientRecord>],
        thinking: Duration,
    ) -> Result<Self, String> {
        let maker = clients
            .iter()
            .find(|client| Some(client.id) == line.parent() && client.role == Role::Agent);
        let known = maker
            .map(|maker| known(&line, maker, thinking))
            .transpose()?;
        Ok(Self {
            end: line.expiry()?,
            known: known.map(Arc::new),
            line,
        })
    }

    /// The delegate, if it and its maker may call at this moment.
    pub(in crate::server) fn standing(&self) -> Option<&Arc<ClientRecord>> {
        let known = self.known.as_ref()?;
        let maker = &known.bond.as_ref()?.maker;
        let is_of_maker = maker.backs(&self.line.by.to_lowercase());
        (is_of_maker && self.end_reason().is_none()).then_some(known)
    }

    /// The reason for its end, if it has come.
    pub(in crate::server) fn end_reason(&self) -> Option<DelegateEndReason> {
        let is_up = OffsetDateTime::now_utc() >= self.end;
        let time_up = is_up.then_some(DelegateEndReason::TimeUp);
        self.line.ended.or(time_up)
    }
}

/// A delegate of this maker with what both may.
fn known(
    line: &DelegateRecord,
    maker: &Arc<ClientRecord>,
    thinking: Duration,
) -> Result<ClientRecord, String> {
    let both = line.client.granted(line.client.may.within(&maker.may)?);
    let site = line.site.as_deref().map(str::parse::<SiteName>);
    Ok(ClientRecord {
        bond: Some(Bond {
            maker: Arc::clone(maker),
            site: site.transpose()?,
            task: line.task.as_str().into(),
        }),
        ..both.checked_whole(thinking)?
    })
}

#[cfg(test)]
mod tests;
