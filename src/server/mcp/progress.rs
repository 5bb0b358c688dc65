//! Progress of a call, for a client that asked for it with a token.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::watch;

use crate::notice::Progress;

/// Passes on a call's progress, as long as it is polled.
pub(in crate::server) async fn pass_on(
    context: &RequestContext<RoleServer>,
    mut said: watch::Receiver<Progress>,
) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut last = 0;
    while said.changed().await.is_ok() {
        let Progress { done, of } = *said.borrow_and_update();
        // The protocol wants it to grow with each notification.
        if done > last {
            last = done;
            let told = ProgressNotificationParam::new(token.clone(), f64::from(done))
                .with_total(f64::from(of));
            // A connection that is closing takes no more notifications.
            let sent = context.peer.notify_progress(told);
            let _ = tokio::time::timeout(Duration::from_millis(250), sent).await;
        }
    }
    std::future::pending().await
}
