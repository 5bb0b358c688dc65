//! The one door of every write.

use std::sync::Arc;

use crate::audit::CallId;
use crate::error::Failure;
use crate::gates::{ClientLimits, Policy};
use crate::index::ContentIndex;
use crate::wiki::{Sender, Wiki};

use super::answer::WriteAnswer;
use super::audit_entry::{EntryBuilder, unavailable};
use super::caller::Caller;
use super::context::WriteContext;
use super::pipeline;
use super::source::WriteRequest;

/// Writes to one wiki, as far as its operator allows. Only the writer owns a [`Sender`].
#[derive(Debug)]
pub struct Writer {
    desk: Arc<WriteContext>,
    sender: Arc<Sender>,
}

impl Writer {
    /// The writer of a desk, with the sender to its wiki.
    #[must_use]
    pub fn new(desk: Arc<WriteContext>, sender: Sender) -> Self {
        let sender = Arc::new(sender);
        Self { desk, sender }
    }

    /// A writer to the same wiki with another key: the same log and policy, but its own previews,
    /// approvals and remembered reads.
    #[must_use]
    pub fn for_key(&self, wiki: &Arc<Wiki>, index: &Arc<ContentIndex>) -> Self {
        let desk = self.desk.for_key(Arc::clone(wiki), Arc::clone(index));
        let desk = Arc::new(desk);
        Self::new(desk, self.sender.for_key(wiki))
    }

    /// A writer for a reviewer, who decides on what others left open.
    #[must_use]
    pub fn for_reviewer(
        &self,
        wiki: &Arc<Wiki>,
        index: &Arc<ContentIndex>,
        narrowing: &ClientLimits,
        may_apply_in_dry_run: bool,
    ) -> Self {
        let policy = self
            .desk
            .policy
            .for_reviewer(narrowing, may_apply_in_dry_run);
        let (of_wiki, index) = (Arc::clone(wiki), Arc::clone(index));
        let desk = self.desk.for_reviewer(of_wiki, index, policy);
        Self::new(Arc::new(desk), self.sender.for_key(wiki))
    }

    /// The same writer under changed settings, which calls under way do not see.
    #[must_use]
    pub fn renewed(
        &self,
        wiki: &Arc<Wiki>,
        index: &Arc<ContentIndex>,
        policy: Policy,
        gates_changed: bool,
    ) -> Self {
        let reader = (Arc::clone(wiki), Arc::clone(index));
        let desk = self.desk.renewed(reader, policy, gates_changed);
        Self::new(Arc::new(desk), self.sender.for_key(wiki))
    }

    /// The context of writes, for tools and commands.
    #[must_use]
    pub const fn desk(&self) -> &Arc<WriteContext> {
        &self.desk
    }

    /// Takes a plan through the gates, and sends what they permit.
    ///
    /// # Errors
    /// What stopped it, with `details.callId`; on record.
    pub async fn write(
        &self,
        caller: Caller,
        plan: WriteRequest,
        confirm: Option<String>,
    ) -> Result<WriteAnswer, Failure> {
        let call = CallId::current_or_new().map_err(|error| unavailable(&error))?;
        let desk = &*self.desk;
        let mut docket = EntryBuilder::open(call, &caller, desk.past.key());
        plan.source().tell(desk, &mut docket).await;
        let token = confirm.clone();
        let answer = match pipeline::walk(
            &self.desk,
            &self.sender,
            &mut docket,
            &caller,
            &plan,
            confirm,
        )
        .await
        {
            Ok(passed) => {
                if passed.has_proposed() {
                    desk.house.purge_if_due();
                }
                passed.into_answer()
            }
            Err(mut refusal) => {
                if let Some(token) = token {
                    let failure = desk.of_used(&caller.session, &token, refusal.failure);
                    refusal.failure = failure.await;
                }
                plan.source().tell_refused(desk, &mut docket).await;
                desk.record_refusal(&docket, &refusal).await;
                Err(refusal.failure)
            }
        };
        answer.map_err(|failure| failure.detail("callId", call.to_string()))
    }

    /// Begins no more writes and no more changes of sets under way.
    pub fn close(&self) {
        self.desk.house.close();
    }

    /// Waits for writes under way, then closes the log.
    pub async fn finish(&self) {
        self.desk.house.finish().await;
    }
}
