//! SIGINT and SIGTERM: the first asks to end, the second ends. SIGHUP never ends a server.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use signal_hook::consts::SIGINT;
use signal_hook::flag::register_conditional_shutdown;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::Exit;

/// The signals that came.
#[derive(Clone, Default)]
pub(super) struct Signals {
    seen: Arc<AtomicU8>,
    at_end: Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>,
}

impl Signals {
    /// Listens from now on; the first signal cancels `stop`, the second ends the process at
    /// once and leaves an attempt under way open on record.
    pub(super) fn listen(stop: CancellationToken) -> Result<Self, String> {
        let signals = Self::default();
        let failed = |_| "no signals can be listened for".to_owned();
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let (seen, at_end) = (Arc::clone(&signals.seen), Arc::clone(&signals.at_end));
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
                // Whoever reads the line knows that nothing new is begun.
                stop.cancel();
                if let Some(act) = at_end.get() {
                    act();
                }
                tracing::info!("ending on a signal; writes under way are settled first");
            }
        });
        Ok(signals)
    }

    /// Does this at the first signal, before the signal is logged. Only the first call counts.
    pub(super) fn at_end(&self, act: impl Fn() + Send + Sync + 'static) {
        self.at_end.get_or_init(|| Box::new(act));
    }

    /// The exit that a signal asks for, if one came.
    pub(super) fn exit(&self) -> Option<Exit> {
        let code = self.seen.load(Ordering::Relaxed);
        [Exit::Interrupted, Exit::Terminated]
            .into_iter()
            .find(|exit| exit.code() == code)
    }
}

/// While this lives, SIGINT is a pager's and ends nobody else: both run in the terminal's
/// foreground, and a pager that outlived us would fight the shell for it.
pub(super) struct Interrupts;

/// The number of [`Interrupts`] that are held.
static HELD: AtomicU8 = AtomicU8::new(0);
/// True if SIGINT ends the process: read when it comes, since a task that learned of it later would
/// find the pager gone.
static ENDS: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// True once a handler listens to SIGINT: for the rest of the process's life.
static LISTENS: AtomicBool = AtomicBool::new(false);

impl Interrupts {
    /// Holds it; nothing if signals cannot be listened for.
    pub(super) fn hold() -> Option<Self> {
        HELD.fetch_add(1, Ordering::SeqCst);
        ENDS.store(false, Ordering::SeqCst);
        let held = Self;
        if !LISTENS.load(Ordering::SeqCst) {
            let code = Exit::Interrupted.code().into();
            register_conditional_shutdown(SIGINT, code, Arc::clone(&ENDS)).ok()?;
            LISTENS.store(true, Ordering::SeqCst);
        }
        Some(held)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        if HELD.fetch_sub(1, Ordering::SeqCst) == 1 {
            ENDS.store(true, Ordering::SeqCst);
        }
    }
}

/// SIGHUP, which asks a server to read its key again.
#[derive(Debug)]
pub(super) struct HangUps(Signal);

impl HangUps {
    /// Listens from now on: from here on the signal ends nothing.
    pub(super) fn listen() -> Result<Self, String> {
        let hang_ups = signal(SignalKind::hangup());
        hang_ups
            .map(Self)
            .map_err(|_| "no signals can be listened for".to_owned())
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

#[expect(clippy::exit, reason = "a signal asks for just that")]
fn end_at_once(exit: Exit) -> ! {
    std::process::exit(exit.code().into())
}
