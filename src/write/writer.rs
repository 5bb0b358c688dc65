//! The one door of every write.

use std::sync::Arc;

use crate::audit::CallId;
use crate::error::Result;
use crate::gates::{ClientLimits, Policy};
use crate::index::ContentIndex;
use crate::wiki::Sender;

use super::pipeline::Pipeline;
use crate::write::{Brought, Caller, WriteAnswer, WriteContext, WriteRequest};

/// Writes to one wiki, as far as its operator allows. Only the writer owns a [`Sender`].
#[derive(Debug)]
#[must_use]
pub struct Writer {
    desk: Arc<WriteContext>,
    sender: Arc<Sender>,
}

impl Writer {
    /// The writer of a context, with the sender to its wiki.
    pub fn new(desk: Arc<WriteContext>, sender: Sender) -> Self {
        let sender = Arc::new(sender);
        Self { desk, sender }
    }

    /// A writer to the same wiki with another key or within other bounds, those of this index: the
    /// same log, policy and approvals, but its own previews and remembered reads.
    pub fn for_key(&self, index: &Arc<ContentIndex>) -> Self {
        let policy = self.desk.policy.clone();
        self.with(self.desk.for_reader(Arc::clone(index), policy))
    }

    /// A writer for a reviewer, who decides on what others left open.
    pub fn for_reviewer(
        &self,
        index: &Arc<ContentIndex>,
        narrowing: &ClientLimits,
        may_apply_in_dry_run: bool,
    ) -> Self {
        let policy = &self.desk.policy;
        let policy = policy.for_reviewer(narrowing, may_apply_in_dry_run);
        self.with(self.desk.for_reader(Arc::clone(index), policy))
    }

    /// The same writer under changed settings, which calls under way do not see.
    pub fn renewed(&self, index: &Arc<ContentIndex>, policy: Policy, gates_changed: bool) -> Self {
        let index = Arc::clone(index);
        self.with(self.desk.renewed(index, policy, gates_changed))
    }

    fn with(&self, desk: WriteContext) -> Self {
        let sender = self.sender.for_key(&desk.wiki);
        Self::new(Arc::new(desk), sender)
    }

    /// The context of writes, for tools and commands.
    pub const fn desk(&self) -> &Arc<WriteContext> {
        &self.desk
    }

    /// Takes a request through the gates, and sends what they permit.
    ///
    /// # Errors
    /// What stopped it, with `details.callId`; on record.
    pub async fn write(
        &self,
        caller: Caller,
        request: WriteRequest,
        confirm: Option<String>,
    ) -> Result<WriteAnswer> {
        let brought = confirm.map_or(Brought::Nothing, Brought::Token);
        self.run(&caller, &request, brought).await
    }

    /// Takes a request through the gates, with what confirms it.
    pub(super) async fn run(
        &self,
        caller: &Caller,
        request: &WriteRequest,
        brought: Brought,
    ) -> Result<WriteAnswer> {
        let call = CallId::current_or_new()?;
        let mut pipeline = Pipeline::new(&self.desk, &self.sender, caller, request, call);
        let answer = pipeline.run(brought).await;
        answer.map_err(|failure| failure.detail("callId", call.to_string()))
    }

    /// Begins no more writes and no more changes of sets under way.
    pub fn close(&self) {
        self.desk.house.tasks.close();
    }

    /// Waits for writes under way, then closes the log.
    pub async fn finish(&self) {
        self.desk.house.finish().await;
    }
}
