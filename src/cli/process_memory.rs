//! The memory of the process holds the wiki's key and what pages say: it is written to no disk.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Switches core dumps off, for what this program starts too; and where the system has it, other
/// programs of the same user from reading the memory.
pub(super) fn keep_private() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // If the system refuses to lower the limit there is no alternative, and the program works
    // without it.
    let _ = setrlimit(Resource::Core, none);
    // A limit does not stop a dump that is piped to a program.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
