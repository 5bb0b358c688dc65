//! SIGINT and SIGTERM: the first asks to end, the second ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::Exit;

/// The signals that came.
#[derive(Debug, Clone, Default)]
pub(super) struct Signals {
    seen: Arc<AtomicU8>,
}

impl Signals {
    /// Listens from now on; the first signal cancels `stop`, the second ends the process at
    /// once and leaves an attempt under way open on record.
    pub(super) fn listen(stop: CancellationToken) -> Result<Self, String> {
        let signals = Self::default();
        let failed = |_| "no signals can be listened for".to_owned();
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let seen = Arc::clone(&signals.seen);
        tokio::spawn(async move {
            loop {
                let exit = tokio::select! {
                    _ = interrupt.recv() => Exit::Interrupted,
                    _ = terminate.recv() => Exit::Terminated,
                };
                if stop.is_cancelled() {
                    end_at_once(exit);
                }
                seen.store(exit.code(), Ordering::Relaxed);
                tracing::info!("ending on a signal; writes under way are settled first");
                stop.cancel();
            }
        });
        Ok(signals)
    }

    /// The exit that a signal asks for, if one came.
    pub(super) fn exit(&self) -> Option<Exit> {
        let code = self.seen.load(Ordering::Relaxed);
        [Exit::Interrupted, Exit::Terminated]
            .into_iter()
            .find(|exit| exit.code() == code)
    }
}

#[expect(clippy::exit, reason = "a second signal asks for just that")]
fn end_at_once(exit: Exit) -> ! {
    std::process::exit(exit.code().into())
}
