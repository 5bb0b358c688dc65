//! Identifies who runs a command: the user of the machine, as recorded in the audit log.

#![expect(
    clippy::disallowed_methods,
    reason = "the names of the users of this machine"
)]

use std::fs;

use crate::audit::Actor;

/// The login id that the kernel gives to a process without a login.
const NO_LOGIN: u32 = u32::MAX;

/// The user who runs this process and, if different, the one who logged in (`sudo`), by their names
/// in `/etc/passwd` or else by their numbers.
pub(super) fn actor() -> Actor {
    let names = fs::read_to_string("/etc/passwd").unwrap_or_default();
    // Only Linux has it; it is set at login and stays.
    let login = fs::read_to_string("/proc/self/loginuid").ok();
    let login = login.and_then(|login| login.trim().parse().ok());
    told(rustix::process::getuid().as_raw(), login, &names)
}

fn told(user: u32, login: Option<u32>, names: &str) -> Actor {
    let login = login.filter(|login| ![NO_LOGIN, user].contains(login));
    let login = login.map(|login| name(login, names));
    Actor::user(&name(user, names), login.as_deref())
}

fn name(user: u32, names: &str) -> String {
    let number = user.to_string();
    let found = names.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == number && !name.is_empty()).then(|| name.to_owned())
    });
    found.unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::{NO_LOGIN, told};

    #[test]
    fn a_user_goes_by_the_name_and_whoever_logged_in_stands_beside_it() {
        let names =
            "root:x:0:0:root:/root:/bin/sh\nbroken\nalice:x:1000:1000::/home/alice:/bin/sh\n";
        for (user, login, actor) in [
            (1000, None, "user:alice"),
            (1000, Some(1000), "user:alice"),
            (0, Some(NO_LOGIN), "user:root"),
            (0, Some(1000), "user:root/login:alice"),
            (1001, Some(1002), "user:1001/login:1002"),
        ] {
            assert_eq!(told(user, login, names).as_str(), actor);
        }
    }

    #[test]
    fn an_actor_is_called_by_the_whole_and_by_each_name() {
        let actor = told(0, Some(1000), "alice:x:1000:\nroot:x:0:\n");
        for name in ["user:root/login:alice", "user:root", "ROOT", "alice"] {
            assert!(actor.is_called(name), "{name}");
        }
        for name in ["user", "bob", "", "user:"] {
            assert!(!actor.is_called(name), "{name}");
        }
    }
}
