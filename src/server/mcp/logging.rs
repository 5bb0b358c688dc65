//! Log messages of a call, for a client that has set a level. MCP calls it logging; the protocol
//! has it deprecated (SEP-2577), and all that names it is here.
#![expect(deprecated, reason = "clients of all generations may still ask for it")]

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProtocolVersion, SetLevelRequestMethod,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::mpsc::{self, Receiver};

use crate::notice::{self, Notice};

/// The parameters with which a client sets the level of its session.
pub(in crate::server) type SetLevel = rmcp::model::SetLevelRequestParams;

/// The most messages about one call.
const MOST: usize = 8;
/// Timeout for a client to accept one message, or all that are left when the answer is ready.
const PATIENCE: Duration = Duration::from_millis(250);

/// From the least to the most severe.
const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// The level that a session has set, if it has.
#[derive(Debug, Clone, Default)]
pub(in crate::server) struct SessionLogLevel(Arc<Mutex<Option<LoggingLevel>>>);

impl SessionLogLevel {
    /// Sets the level of a session.
    pub(in crate::server) fn set(
        &self,
        to: &SetLevel,
        has_session: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        if !has_session {
            let why = "without a session no level is remembered; initialize first";
            return Err(ErrorData::invalid_request(why, None));
        }
        *self.0.lock() = Some(to.level);
        Ok(())
    }

    /// The level that counts for a request: from 2026-07-28 on only its own.
    fn level_for(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if is_modern(context) {
            context.meta.log_level()
        } else {
            *self.0.lock()
        }
    }

    /// Runs the work of a request, and passes on its notices.
    pub(in crate::server) async fn during<F: Future>(
        &self,
        context: &RequestContext<RoleServer>,
        work: F,
    ) -> F::Output {
        let Some(level) = self.level_for(context) else {
            return work.await;
        };
        let (listener, said) = mpsc::channel(MOST);
        let mut log = Log {
            context,
            level,
            said,
            left: MOST,
        };
        let answer = tokio::select! {
            answer = notice::told_to(listener, work) => answer,
            never = log.pass_on() => match never {},
        };
        // An answer does not wait for a client that accepts nothing.
        let _ = tokio::time::timeout(PATIENCE, log.pass_on_the_rest()).await;
        answer
    }
}

/// The notices of one request.
struct Log<'a> {
    context: &'a RequestContext<RoleServer>,
    level: LoggingLevel,
    said: Receiver<Notice>,
    left: usize,
}

impl Log<'_> {
    async fn pass_on(&mut self) -> Infallible {
        while let Some(notice) = self.said.recv().await {
            self.tell(&notice).await;
        }
        std::future::pending().await
    }

    async fn pass_on_the_rest(&mut self) {
        while let Ok(notice) = self.said.try_recv() {
            self.tell(&notice).await;
        }
    }

    async fn tell(&mut self, notice: &Notice) {
        let level = if notice.is_warning() {
            LoggingLevel::Warning
        } else {
            LoggingLevel::Info
        };
        if self.left == 0 || severity(level) < severity(self.level) {
            return;
        }
        self.left -= 1;
        let told = LoggingMessageNotificationParam::new(level, notice.to_string().into())
            .with_logger("wikijs-gate");
        // A connection that is closing takes no more notifications.
        let sent = self.context.peer.notify_logging_message(told);
        let _ = tokio::time::timeout(PATIENCE, sent).await;
    }
}

fn severity(level: LoggingLevel) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
