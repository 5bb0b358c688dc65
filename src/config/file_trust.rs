//! Checks if other users could have changed a file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

/// The reason why a file cannot be trusted: others may write it, it belongs to another user, or it
/// is not a file. The metadata must be the open file's, so that nobody can exchange the file in
/// between.
#[must_use]
pub fn changeable_by_others(file: &Metadata) -> Option<&'static str> {
    if file.is_dir() {
        return Some("is a directory; name a file in it");
    }
    fault(file.mode(), file.uid(), rustix::process::geteuid().as_raw())
}

/// Like [`changeable_by_others`], but the file may belong to any user: for root, who may change a
/// user's file on that user's behalf.
#[must_use]
pub fn changeable_by_others_than_its_owner(file: &Metadata) -> Option<&'static str> {
    fault(file.mode(), file.uid(), file.uid())
}

/// A warning if a setting names a secret's file that others may read.
pub(super) fn readable_by_others(setting: &str, file: &Metadata) -> Option<String> {
    (file.mode() & 0o044 != 0).then(|| {
        format!(
            "the file that {setting} names may be read by others than its owner; take that away with chmod 600"
        )
    })
}

pub(super) const fn fault(mode: u32, owner: u32, this_user: u32) -> Option<&'static str> {
    if mode & 0o022 != 0 {
        Some("may be written by others than its owner; take that away with chmod go-w")
    } else if owner != 0 && owner != this_user {
        Some("is owned by neither this user nor root; make it your own with chown")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn only_this_user_and_root_may_own_and_write_a_file() {
        for (mode, owner, is_fine) in [
            (0o100_600, 1000, true),
            (0o100_644, 0, true),
            (0o100_600, 1001, false),
            (0o100_620, 1000, false),
            (0o100_602, 0, false),
        ] {
            assert_eq!(
                fault(mode, owner, 1000).is_none(),
                is_fine,
                "{mode:o} {owner}"
            );
        }
    }
}
