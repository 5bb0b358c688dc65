//! Work on large texts without blocking other calls.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Work on more bytes takes longer than other calls should wait.
const LARGE: usize = 64 * 1024;

/// Runs work whose time grows with this many bytes. If there are other threads, they take over this
/// one's other tasks meanwhile.
pub fn aside<T>(bytes: usize, act: impl FnOnce() -> T) -> T {
    let has_others = Handle::try_current()
        .is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > LARGE && has_others {
        tokio::task::block_in_place(act)
    } else {
        act()
    }
}
