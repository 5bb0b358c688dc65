//! Reading what is large where nobody else has to wait for it.

use tokio::runtime::{Handle, RuntimeFlavor};

/// What has more bytes takes longer to be read than other calls should wait.
const LARGE: usize = 64 * 1024;

/// Does what takes as long as so many bytes are large. Where there are other threads, they take
/// over what waits for this one.
pub(super) fn aside<T>(bytes: usize, act: impl FnOnce() -> T) -> T {
    let has_others = Handle::try_current()
        .is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if bytes > LARGE && has_others {
        tokio::task::block_in_place(act)
    } else {
        act()
    }
}
