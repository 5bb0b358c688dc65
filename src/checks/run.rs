//! Runs a check to its end, whatever it does.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinError;
use tokio::time::timeout_at;

use crate::change::{Change, Warning};
use crate::checks::CheckCommand;
use crate::page::escaped;

/// Bytes of a check's output that the warning shows.
const MOST_SHOWN: usize = 2_048;
/// Bytes of a check's output that are read; the rest is discarded.
const MOST_READ: u64 = 64 << 10;
/// The pause between two looks whether a check has ended.
const PAUSE: Duration = Duration::from_millis(5);
/// Time to wait for output after a check ended or was killed: a process that left the group may
/// still hold the pipe.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The most checks that run at a time: other work needs threads, too.
static RUNNING: Semaphore = Semaphore::const_new(8);

/// Runs a check on a blocking thread when its turn has come, with the time that is left then;
/// `None` if that is too late. The turn lasts as long as the check, whoever still waits for it.
pub async fn in_turn<T: Send + 'static>(
    until: Instant,
    run: impl FnOnce(Duration) -> T + Send + 'static,
) -> Option<Result<T, JoinError>> {
    // It is never closed.
    let turn = timeout_at(until.into(), RUNNING.acquire()).await.ok()?;
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return None;
    }
    let run = move || {
        let _turn = turn;
        run(left)
    };
    Some(tokio::task::spawn_blocking(run).await)
}

/// A command that was run, and what it printed.
#[derive(Debug, Default)]
pub struct CheckRun {
    /// Its exit code; `None` if it did not end by itself.
    pub exit_code: Option<i32>,
    /// The reason it counts as failed, if it does.
    pub fault: Option<String>,
    /// The beginning of its standard output; `None` if a process that outlived it holds it open.
    pub stdout: Option<Vec<u8>>,
    /// The same of its standard error.
    pub stderr: Option<Vec<u8>>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// The warning, if it failed.
    pub warning: Option<Warning>,
    /// The time that it took.
    pub took: Duration,
}

/// Runs a check on a change, given by its [`input`], within the check's own limit and `most`.
/// Blocks for that time and a moment more.
pub fn run(check: &CheckCommand, input: &Arc<str>, most: Duration) -> CheckResult {
    let began = Instant::now();
    let ended = carry_out(check, input, check.timeout.min(most));
    let warning = match ended {
        Ok(()) => None,
        Err((why, said)) => {
            let said = if said.trim().is_empty() {
                String::new()
            } else {
                format!(" It says: {}", escaped(said.trim(), MOST_SHOWN))
            };
            Some(Warning::new(
                check.code(),
                format!("The check {why}.{said}"),
            ))
        }
    };
    CheckResult {
        warning,
        took: began.elapsed(),
    }
}

/// The input of all checks of a change: the change as JSON.
pub fn input(change: &Change) -> Arc<str> {
    let input = json!({
        "v": 1,
        "operation": change.operation(),
        "fields": change.fields(),
        "before": change.before(),
        "after": change.after(),
    });
    input.to_string().into()
}

/// Runs a command with its input and a time limit; if it fails, gives the reason and its output.
/// Blocks for that time and a moment more.
pub fn carry_out(
    check: &CheckCommand,
    input: &Arc<str>,
    most: Duration,
) -> Result<(), (String, String)> {
    let run = execute(check, input, most);
    let text =
        |said: Option<Vec<u8>>| String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
    match run.fault {
        None => Ok(()),
        Some(why) => Err((why, text(run.stdout) + &text(run.stderr))),
    }
}

/// Runs a command with its input and a time limit. Blocks for that time and a moment more.
pub fn execute(check: &CheckCommand, input: &Arc<str>, most: Duration) -> CheckRun {
    let end = Instant::now() + most;
    let mut child = match start(check) {
        Ok(child) => child,
        Err(why) => {
            let fault = Some(why);
            return CheckRun {
                fault,
                ..CheckRun::default()
            };
        }
    };
    let group = Group::of(Pid::from_child(&child));
    let [stdout, stderr] = talk(&mut child, Arc::clone(input));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(PAUSE),
            _ => break None,
        }
    };
    // Ends every process that the command started, after success as well.
    drop(group);
    if status.is_none() {
        // The command was killed; if waiting for it fails, the system cleans up.
        let _ = child.wait();
    }
    let exit_code = status.and_then(|status| status.code());
    let fault = match (status, exit_code) {
        (_, Some(0)) => None,
        (_, Some(code)) => Some(format!("ended with exit code {code}")),
        (Some(_), None) => Some("was ended by a signal".to_owned()),
        (None, None) => {
            let took = most.as_secs_f32();
            Some(format!("took longer than {took} s and was ended"))
        }
    };
    CheckRun {
        exit_code,
        fault,
        stdout: stdout.recv_timeout(LAST_WORDS).ok(),
        stderr: stderr.recv_timeout(LAST_WORDS).ok(),
    }
}

/// Starts a command; if it cannot be started, gives the reason.
fn start(check: &CheckCommand) -> Result<Child, String> {
    let split = check.argv.split_first();
    let (program, arguments) = split.ok_or_else(|| "names no program".to_owned())?;
    let started = Command::new(program)
        .args(arguments)
        .current_dir(&check.cwd)
        .env_clear()
        .envs(check.environment.iter().map(|(name, value)| (name, value)))
        .envs(check.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    started.map_err(|error| match error.kind() {
        ErrorKind::NotFound => "cannot be run: its program or directory is not there".to_owned(),
        kind => format!("cannot be run: {kind}"),
    })
}

/// Writes its input and reads its two outputs, in threads of their own: a check that reads nothing
/// or prints without end blocks nobody.
fn talk(child: &mut Child, input: Arc<str>) -> [mpsc::Receiver<Vec<u8>>; 2] {
    let ((out, stdout), (err, stderr)) = (mpsc::channel(), mpsc::channel());
    if let Some(mut stdin) = child.stdin.take() {
        std::thread::spawn(move || {
            // The command may read only a part of its input, or nothing.
            let _ = stdin.write_all(input.as_bytes());
        });
    }
    if let Some(stream) = child.stdout.take() {
        std::thread::spawn(take(stream, out));
    }
    if let Some(stream) = child.stderr.take() {
        std::thread::spawn(take(stream, err));
    }
    [stdout, stderr]
}

/// Reads output to its end, and sends its beginning.
fn take(
    mut stream: impl std::io::Read + Send + 'static,
    sender: mpsc::Sender<Vec<u8>>,
) -> impl FnOnce() + Send + 'static {
    move || {
        let mut said = Vec::new();
        // Output that cannot be read counts as none.
        let _ = stream.by_ref().take(MOST_READ).read_to_end(&mut said);
        // A failed send means that nobody waits any more.
        let _ = sender.send(said);
        // The rest is discarded, so that the program does not block.
        let mut rest = [0_u8; 8 << 10];
        while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
    }
}

/// The process groups of all checks under way.
static UNDER_WAY: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// The process group of a check; killed when this is dropped.
struct Group(Pid);

impl Group {
    fn of(leader: Pid) -> Self {
        UNDER_WAY.lock().push(leader);
        Self(leader)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut all = UNDER_WAY.lock();
        all.retain(|group| *group != self.0);
        kill(self.0);
    }
}

fn kill(group: Pid) {
    // It may have ended by itself.
    let _ = kill_process_group(group, Signal::KILL);
}

/// Kills all checks under way: the program ends, and nobody is left to bound them.
pub fn end_all() {
    UNDER_WAY.lock().drain(..).for_each(kill);
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::super::CheckCommand;
    use super::{CheckResult, MOST_SHOWN, input, run};
    use crate::change::Change;
    use crate::page::testing::{But as _, page};

    const LIMIT: Duration = Duration::from_secs(10);

    fn change() -> Change {
        let before = page();
        let after = before.clone().but(|it| it.content = "other\n".to_owned());
        Change::between(before, after)
    }

    fn check(argv: &[&str]) -> CheckCommand {
        CheckCommand {
            name: "links".to_owned(),
            argv: argv.iter().map(|part| (*part).to_owned()).collect(),
            cwd: std::env::temp_dir(),
            environment: CheckCommand::PASSED_ON
                .into_iter()
                .map(|name| (name, environment(name)))
                .collect(),
            env: vec![("MODE".to_owned(), "strict".to_owned())],
            paths: None,
            timeout: LIMIT,
        }
    }

    /// The environment of a server, with a key in it.
    fn environment(name: &str) -> std::ffi::OsString {
        match name {
            "PATH" => "/usr/bin:/bin".into(),
            _ => "planted".into(),
        }
    }

    fn ran(check: &CheckCommand) -> CheckResult {
        run(check, &input(&change()), check.timeout)
    }

    fn told(argv: &[&str]) -> Option<String> {
        let warning = ran(&check(argv)).warning?;
        assert_eq!(warning.code, "check:links");
        Some(warning.message)
    }

    #[test]
    fn a_check_that_ends_well_says_nothing() {
        assert_eq!(told(&["true"]), None);
        assert_eq!(told(&["echo", "all is well"]), None);
        // A check need not read the change.
        assert_eq!(told(&["sh", "-c", "exec <&-; exit 0"]), None);
    }

    #[test]
    fn it_gets_the_change_and_no_shell_reads_its_arguments() {
        let grep = r#""operation":"update".*"before":.*"content":"x\\n".*"after":.*other"#;
        assert_eq!(told(&["grep", "-q", grep]), None);
        let told = told(&["sh", "-c", "printf '%s' \"$1\"; exit 3", "x", "$HOME; *"]).unwrap();
        assert_eq!(told, "The check ended with exit code 3. It says: $HOME; *");
    }

    #[test]
    fn its_environment_holds_what_it_is_given_and_no_more() {
        let told = told(&[
            "sh",
            "-c",
            "env | cut -d= -f1 | sort | tr '\\n' ' '; exit 1",
        ])
        .unwrap();
        let names = told.split_once("It says: ").unwrap().1.split(' ');
        let names: Vec<&str> = names
            .filter(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name))
            .collect();
        assert_eq!(
            names,
            [
                "HOME", "LANG", "LC_ALL", "MODE", "PATH", "TMPDIR", "TZ", "USER"
            ]
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_known_without_a_run() {
        for (argv, lacks) in [
            (&["sh"][..], false),
            (&["/bin/sh", "-c", "exit 0"], false),
            (&["no-such-program"], true),
            (&["./no-such-program"], true),
            (&["/tmp"], true),
        ] {
            assert_eq!(check(argv).lacks_program(), lacks, "{argv:?}");
        }
        let mut elsewhere = check(&["sh"]);
        elsewhere.env = vec![("PATH".to_owned(), "/nonexistent".to_owned())];
        assert!(elsewhere.lacks_program() && told(&["no-such-program"]).is_some());
    }

    #[test]
    fn what_it_says_is_data_and_bounded() {
        let told = told(&["sh", "-c", "yes x | head -c 100000; exit 1"]).unwrap();
        assert!(told.len() < 3 * MOST_SHOWN, "{}", told.len());
        let told =
            self::told(&["sh", "-c", "printf 'a\\033[2Jb\\342\\200\\256c'; exit 1"]).unwrap();
        assert!(
            !told.contains('\u{1b}') && !told.contains('\u{202e}'),
            "{told}"
        );
    }

    #[test]
    fn one_that_is_missing_hangs_forks_or_prints_without_end_is_bounded() {
        let missing = told(&["/nonexistent/program"]).unwrap();
        assert!(missing.starts_with("The check cannot be run"), "{missing}");
        for (script, counts) in [
            ("exec tail -f /dev/null", "took longer than"),
            (
                "tail -f /dev/null & tail -f /dev/null & wait",
                "took longer than",
            ),
            (
                "trap '' TERM INT HUP; while :; do :; done",
                "took longer than",
            ),
            ("exec yes", "took longer than"),
            ("kill -9 $$", "was ended by a signal"),
            // One prints a gigabyte; the other leaves a child behind that holds its output open.
            ("head -c 1000000000 /dev/zero; exit 2", "exit code 2"),
            ("tail -f /dev/null & exit 4", "exit code 4"),
        ] {
            let mut check = check(&["sh", "-c", script]);
            if counts.starts_with("took") {
                check.timeout = Duration::from_millis(100);
            }
            let began = Instant::now();
            let message = ran(&check).warning.unwrap().message;
            assert!(message.contains(counts), "{script}: {message}");
            assert!(began.elapsed() < LIMIT, "{script}");
        }
    }

    /// Every process that the check started is gone: none of them holds the named pipe open any
    /// more.
    #[test]
    fn nothing_of_its_group_lives_on() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("alive");
        let kind = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).unwrap();
        let script = "exec 3<>\"$0\"; (tail -f /dev/null & tail -f /dev/null) & exit 1";
        let path: &Path = &fifo;
        let check = check(&["sh", "-c", script, path.to_str().unwrap()]);
        assert!(ran(&check).warning.is_some());
        // Without a reader, opening it to write without waiting fails.
        let how = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
        let until = Instant::now() + LIMIT;
        while rustix::fs::open(path, how, rustix::fs::Mode::empty()).is_ok() {
            assert!(Instant::now() < until, "something of its group lives on");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_check_is_ended_with_the_time_of_all_checks() {
        let began = Instant::now();
        let check = check(&["sleep", "60"]);
        let most = Duration::from_millis(200);
        let warning = run(&check, &input(&change()), most).warning.unwrap();
        assert!(warning.message.contains("0.2 s"), "{warning}");
        assert!(began.elapsed() < LIMIT);
    }
}
