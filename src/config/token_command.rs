//! A key from a command: an array of arguments, never a line for a shell.

use std::io::{ErrorKind, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The longest time for the command.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// After this time a message says that we wait for the command.
const SILENCE: Duration = Duration::from_secs(1);

/// The most bytes of a key.
const MOST: u64 = 64 << 10;

/// The output of a command. Its stderr is not kept, since it could hold the secret. The command
/// gets no stdin, which belongs to the protocol.
///
/// # Errors
/// One fragment that says what went wrong, without any of the command's output.
pub(super) fn run(command: &[String], limit: Duration) -> Result<String, String> {
    let (program, arguments) = command.split_first().ok_or("names no program")?;
    let end = Instant::now() + limit;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                "cannot be run: its program is not there; look at its name".to_owned()
            }
            ErrorKind::PermissionDenied => {
                "cannot be run: this user may not run its program".to_owned()
            }
            other => format!("cannot be run: {other}"),
        })?;
    let (sender, printed) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut text = String::new();
            let read = stdout.take(MOST).read_to_string(&mut text);
            // A failed send means that the receiver gave up waiting.
            let _ = sender.send(read.map(|_| text));
        });
    }
    let too_long = || format!("took longer than {} s and was ended", limit.as_secs());
    let text = printed.recv_timeout(limit.min(SILENCE)).or_else(|_| {
        if Instant::now() < end {
            tracing::info!("waiting for the command that prints the key");
        }
        printed.recv_timeout(end.saturating_duration_since(Instant::now()))
    });
    let Some(status) = ended(&mut child, end) else {
        // The command is given up anyway, whether it can be killed or not.
        let _ = child.kill();
        let _ = child.wait();
        return Err(too_long());
    };
    match (status.code(), text) {
        (Some(0), Ok(Ok(text))) => Ok(text.trim().to_owned()),
        (Some(0), Ok(Err(_))) => Err("printed what is no text".to_owned()),
        (Some(0), Err(_)) => Err(too_long()),
        (Some(code), _) => Err(format!(
            "failed with exit code {code}; run it by hand to see why: what it says on stderr may hold the key and is not shown"
        )),
        (None, _) => Err("was ended by a signal".to_owned()),
    }
}

/// The exit status of the command, if it ended in time. Its output is closed by now, so one check
/// is usually enough.
fn ended(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{LIMIT, run};

    fn run_for(command: &[&str], limit: Duration) -> Result<String, String> {
        let command: Vec<String> = command.iter().map(|part| (*part).to_owned()).collect();
        run(&command, limit)
    }

    #[test]
    fn what_a_command_prints_is_trimmed_and_no_shell_reads_its_arguments() {
        let told = run_for(&["printf", " %s\\n\\n", "$HOME; *"], LIMIT);
        assert_eq!(told.as_deref(), Ok("$HOME; *"));
    }

    #[test]
    fn a_command_that_fails_is_told_without_what_it_said() {
        let failing = ["sh", "-c", "echo out; echo secret >&2; exit 3"];
        let told = run_for(&failing, LIMIT).unwrap_err();
        assert!(
            told.starts_with("failed with exit code 3; run it by hand"),
            "{told}"
        );
        assert!(!told.contains("secret") && !told.contains("out"), "{told}");
        assert_eq!(
            run_for(&["/nonexistent/program"], LIMIT),
            Err("cannot be run: its program is not there; look at its name".to_owned())
        );
        assert_eq!(
            run_for(&["sh", "-c", "kill -9 $$"], LIMIT),
            Err("was ended by a signal".to_owned())
        );
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        for endless in [
            &["tail", "-f", "/dev/null"][..],
            &["sh", "-c", "exec >/dev/null; exec tail -f /dev/null"],
        ] {
            let begun = Instant::now();
            let told = run_for(endless, Duration::from_millis(50));
            assert_eq!(told, Err("took longer than 0 s and was ended".to_owned()));
            assert!(begun.elapsed() < LIMIT);
        }
    }
}
