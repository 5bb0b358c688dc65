//! Work that blocks, away from the threads that answer.

use tokio::sync::oneshot;

/// Runs work on a blocking thread; `None` if it broke off. It goes on if the caller is gone.
///
/// Boxed, since each type of task is some sixty functions of the runtime to compile.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, told) = oneshot::channel();
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(done.send(work())));
    tokio::task::spawn_blocking(work);
    told.await.ok()
}
