//! Describes in words who is notified of what.

use std::path::Path;

use super::finding::DoctorFinding;
use crate::notify::{NotifyTarget, NotifyTo};
use crate::words::separated;

pub(super) fn found(targets: &[NotifyTarget]) -> Vec<DoctorFinding> {
    targets.iter().map(of_one).collect()
}

fn of_one(target: &NotifyTarget) -> DoctorFinding {
    let (name, on) = (&target.name, separated(&target.on, ", "));
    let command = match &target.to {
        // The address may hold a secret.
        NotifyTo::Address(_) => {
            return DoctorFinding::good(format!("{name}: an address is told: {on}"));
        }
        NotifyTo::Command(command) => command,
    };
    let program = command.argv.first().map_or("", String::as_str);
    let seen = format!("{name}: {program} is told: {on}");
    if program.contains('/') && !Path::new(program).exists() {
        return DoctorFinding::warning(
            format!("{seen}; it is not there"),
            "Correct argv in [[notify]], or install the program.",
        );
    }
    DoctorFinding::good(seen)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::of_one;
    use crate::checks::CheckCommand;
    use crate::notify::{NotifyTarget, NotifyTo, Occasion};

    fn target(to: NotifyTo) -> NotifyTarget {
        NotifyTarget {
            name: "chat".to_owned(),
            on: vec![Occasion::Waiting, Occasion::Decided],
            to,
            timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn an_address_is_not_shown_and_a_missing_program_is_named() {
        let address = NotifyTo::Address("https://h/secret".into());
        let seen = of_one(&target(address)).seen;
        assert_eq!(seen, "chat: an address is told: waiting, decided");
        let command = NotifyTo::Command(CheckCommand {
            name: "chat".to_owned(),
            argv: vec!["/not/there".to_owned()],
            cwd: "/".into(),
            environment: Vec::new(),
            env: Vec::new(),
            paths: None,
            timeout: Duration::from_secs(1),
        });
        let seen = of_one(&target(command)).seen;
        assert_eq!(
            seen,
            "chat: /not/there is told: waiting, decided; it is not there"
        );
    }
}
