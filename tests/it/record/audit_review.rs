//! The audit log as an auditor reads it: every command with its complete output, every kind of
//! tampering.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use insta::assert_snapshot;
use wikijs_gate::audit::FileHead;

use crate::prelude::*;
use crate::script::{ADDRESS, Script, keep, page, place};

const FIRST: &str = "20300102T090000Z-00000000000000aa.jsonl";
const SECOND: &str = "20300103T090000Z-00000000000000bb.jsonl";
const THIRD: &str = "20300104T090000Z-00000000000000cc.jsonl";

/// Three runs: one closed, one killed in a delete, one that settled that and took a write back.
pub(crate) struct Log {
    pub(crate) dir: TempDir,
    heads: Vec<FileHead>,
    before: String,
    after: String,
}

pub(crate) fn log() -> Log {
    let dir = TempDir::new().unwrap();
    let at = dir.path();
    let before = keep(at, &page("docs/setup", "Setup", "# Setup\n\nOne.\nTwo.\n"));
    let after = page("docs/setup", "Set up", "# Setup\n\nOne.\n2.\n3.\n");
    let after = keep(at, &after);
    let old = keep(at, &page("docs/old", "Old", "Gone.\n"));
    let claude = json!({ "name": "claude-code", "version": "2.1" });
    let update = json!({
        "call": "1111111111111111", "client": claude, "tool": UPDATE,
        "operation": "update", "id": 7, "locale": "en", "path": "docs/setup",
        "fields": ["title", "content"], "linesAdded": 2, "linesRemoved": 1,
        "before": before, "after": after, "step": "update",
    });
    let with = |base: &Value, more: Value| {
        let mut all = base.clone();
        let more = more.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(more);
        all
    };

    let mut first = Script::begin(at, "2030-01-02T09:00:00", "00000000000000aa", &[]);
    let attempt = json!({ "event": "attempt", "gate": "confirm", "decision": "token" });
    let applied = json!({ "event": "outcome", "outcome": "applied", "ms": 34 });
    first.add("2030-01-02T09:00:01", &with(&update, attempt.clone()));
    first.add("2030-01-02T09:00:02", &with(&update, applied.clone()));
    let evil = json!({
        "name": "evil\u{1b}[2J\u{202e}", "version": "0", "subject": "mallory", "address": "192.0.2.1",
    });
    let refusal = json!({
        "call": "2222222222222222", "event": "refusal", "client": evil,
        "tool": CREATE, "operation": "create", "locale": "de", "path": "intern/plan",
        "gate": "paths", "decision": "refused", "code": "PATH_NOT_ALLOWED",
        "reason": "The page lies outside the allowed prefixes.",
    });
    first.add("2030-01-02T09:00:03", &refusal);
    let preview = json!({
        "call": "3333333333333333", "event": "preview", "client": claude,
        "tool": UPDATE, "operation": "move", "id": 7, "locale": "en", "path": "docs/setup",
        "newPath": "docs/start", "gate": "dry_run", "decision": "dry_run", "fields": ["path"],
    });
    first.add("2030-01-02T09:00:04", &preview);
    let mut heads = vec![first.close("2030-01-02T09:00:05")];

    let delete = json!({
        "call": "4444444444444444", "client": { "name": "cursor", "version": "1" },
        "tool": DELETE, "operation": "delete", "id": 8, "locale": "en",
        "path": "docs/old", "fields": ["title"], "linesRemoved": 1, "before": old, "step": "delete",
    });
    let mut second = Script::begin(at, "2030-01-03T09:00:00", "00000000000000bb", &heads);
    second.add("2030-01-03T09:00:01", &with(&delete, attempt.clone()));
    heads.push(second.kill());

    let mut third = Script::begin(at, "2030-01-04T09:00:00", "00000000000000cc", &heads);
    third.add("2030-01-04T09:00:01", &with(&delete, applied.clone()));
    let undo = json!({
        "call": "5555555555555555", "client": { "name": "wikijs-gate", "version": "0" },
        "actor": "user:alice", "tool": "undo", "before": after, "after": before,
        "undoes": "1111111111111111", "linesAdded": 1, "linesRemoved": 2,
    });
    let undo = with(&update, undo);
    let operator = json!({ "event": "attempt", "gate": "operator", "decision": "token" });
    third.add("2030-01-04T09:00:02", &with(&undo, operator));
    third.add("2030-01-04T09:00:03", &with(&undo, applied));
    heads.push(third.close("2030-01-04T09:00:04"));
    Log {
        dir,
        heads,
        before,
        after,
    }
}

impl Log {
    fn audit(&self, arguments: &[&str]) -> Ended {
        audit(self.dir.path(), arguments)
    }

    fn run(&self, name: &str) -> PathBuf {
        place(self.dir.path()).join("runs").join(name)
    }

    fn page(&self, state: &str) -> PathBuf {
        let name = format!("{state}.json.gz");
        place(self.dir.path()).join("pages").join(name)
    }

    fn lines(&self, run: &str, change: impl FnOnce(&mut Vec<String>)) {
        let text = fs::read_to_string(self.run(run)).unwrap();
        let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
        change(&mut lines);
        fs::write(self.run(run), lines.concat()).unwrap();
    }

    /// A file with the heads as they were.
    fn kept_heads(&self) -> PathBuf {
        let line =
            |head: &FileHead| format!("{} {} {}\n", head.file, head.length, head.hash.unwrap());
        let text: String = self.heads.iter().map(line).collect();
        let path = self.dir.path().join("heads.txt");
        fs::write(&path, text).unwrap();
        path
    }

    /// What `verify` says is wrong.
    fn wrong(&self, arguments: &[&str]) -> String {
        let ended = self.audit(&[&["verify"][..], arguments].concat()).exits(5);
        let lines = ended.stdout.split_inclusive('\n');
        lines.filter(|line| line.starts_with("wrong ")).collect()
    }

    /// A run that begins on this day of the month, beside the others, which saw these heads.
    fn begin(&self, day: u8, heads: &[FileHead]) -> Script {
        let id = match day {
            2 => "00000000000000aa",
            5 => "00000000000000dd",
            _ => "00000000000000ee",
        };
        let time = format!("2030-01-0{day}T09:00:00");
        Script::begin(self.dir.path(), &time, id, heads)
    }

    /// The file that has the state of a page from before, for a purge.
    fn before_head(&self) -> FileHead {
        FileHead {
            file: format!("{}.json.gz", self.before),
            length: 9,
            hash: None,
        }
    }
}

/// A command of `audit`, without a key.
fn command(dir: &Path, arguments: &[&str]) -> Command {
    Command::new(&[&["audit"][..], arguments].concat()).log_of(ADDRESS, dir)
}

pub(crate) fn audit(dir: &Path, arguments: &[&str]) -> Ended {
    command(dir, arguments).run()
}

fn json_of(ended: &Ended) -> Value {
    assert_eq!(ended.stderr, "");
    ended.json()
}

#[test]
fn a_run_that_no_process_has_is_not_being_written() {
    let dir = TempDir::new().unwrap();
    let closed = Script::begin(dir.path(), "2030-01-02T09:00:00", "00000000000000aa", &[]);
    closed.close("2030-01-02T09:00:01");
    let killed = Script::begin(dir.path(), "2030-01-03T09:00:00", "00000000000000bb", &[]);
    killed.kill();
    // Its server died, or was stopped, before it wrote a line.
    fs::write(place(dir.path()).join("runs").join(THIRD), "").unwrap();
    let told = audit(dir.path(), &["verify"]).stdout;
    assert!(!told.contains("is being written"), "{told}");
    says(&told, &format!("open end {SECOND} was not closed"));
    let empty = format!("open end {THIRD} is empty: its server is just beginning, or was ended");
    assert!(told.contains(&empty), "{told}");
    let told = audit(dir.path(), &["verify", "--json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["runs"][2]["isLocked"], false);
}

#[test]
fn an_open_call_of_a_server_that_ended_is_not_under_way() {
    let dir = TempDir::new().unwrap();
    let attempt = json!({
        "event": "attempt", "call": "1111111111111111", "tool": UPDATE,
        "operation": "update", "id": 7, "locale": "en", "path": "docs/setup",
    });
    let mut killed = Script::begin(dir.path(), "2030-01-02T09:00:00", "00000000000000aa", &[]);
    killed.add("2030-01-02T09:00:01", &attempt);
    killed.kill();
    let shown = || audit(dir.path(), &["show", "1111"]).stdout;
    let first = "call 1111111111111111 open: its server ended without an outcome; the next one";
    assert!(shown().starts_with(first), "{}", shown());
    let run = fs::File::open(place(dir.path()).join("runs").join(FIRST)).unwrap();
    run.lock().unwrap();
    let first = "call 1111111111111111 open: it is under way\n";
    assert!(shown().starts_with(first), "{}", shown());
}

#[test]
fn the_list_is_newest_first_and_nothing_in_it_steers_the_terminal() {
    golden("audit_list", &log().audit(&["list"]).told);
}

#[test]
fn each_filter_takes_what_it_names() {
    let log = log();
    let between = [
        "--since",
        "2030-01-02T09:00:03Z",
        "--until",
        "2030-01-03T09:00:01Z",
    ];
    for (arguments, calls) in [
        (&["--since", "2030-01-03"][..], &["5", "4"][..]),
        (&["--until", "2030-01-02"], &["3", "2", "1"]),
        (&between, &["3", "2"]),
        (&["--since", "7d"], &["5", "4", "3", "2", "1"]),
        (&["--until", "24h"], &[]),
        (&["--tool", DELETE], &["4"]),
        (&["--tool", "update_page"], &["3", "1"]),
        (&["--tool", "approvals end"], &[]),
        (&["--tool", "bin restore"], &[]),
        (&["--tool", "files push"], &[]),
        (&["--tool", "memory forget"], &[]),
        (&["--tool", "memory import"], &[]),
        (&["--tool", "memory restore"], &[]),
        (&["--tool", "mirror forget"], &[]),
        (&["--tool", "review"], &[]),
        (&["--operation", "move"], &["3"]),
        (&["--path", "docs"], &["5", "4", "3", "1"]),
        (&["--path", "docs/start"], &["3"]),
        (&["--path", "doc"], &[]),
        (&["--path", "de:intern"], &["2"]),
        (&["--path", "de/intern"], &["2"]),
        (&["--path", "/de/intern/plan"], &["2"]),
        (&["--path", "en:intern"], &[]),
        (&["--client", "Claude-Code"], &["3", "1"]),
        (&["--gate", "paths"], &["2"]),
        (&["--gate", "operator"], &["5"]),
        (&["--outcome", "applied"], &["5", "4", "1"]),
        (&["--outcome", "refused"], &["2"]),
        (&["--outcome", "preview", "--tool", "update_page"], &["3"]),
        (&["--outcome", "unknown"], &[]),
        (&["--limit", "2"], &["5", "4"]),
        (&["--limit", "2", "--before", "4444"], &["3", "2"]),
        (&["--limit", "2", "--before", "2222"], &["1"]),
    ] {
        let answer = json_of(&log.audit(&[&["list", "--json"][..], arguments].concat()));
        let found = members(&answer, "calls", "call").into_iter();
        let found = vec_of(found.map(|call| call.split_at(1).0));
        assert_eq!(found, calls, "{arguments:?}");
    }
}

#[test]
fn a_page_says_how_to_get_the_next() {
    let log = log();
    golden("audit_page", &log.audit(&["list", "--limit", "2"]).told);
    let answer = json_of(&log.audit(&["list", "--limit", "2", "--json"]));
    answer.shows(json!({ "next": "4444444444444444", "older": 3 }));
    let last = json_of(&log.audit(&["list", "--limit", "2", "--before", "2222", "--json"]));
    assert_eq!((&last["next"], &last["older"]), (&Value::Null, &json!(0)));
}

/// Reads CSV by the letter of RFC 4180.
fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match (c, is_quoted) {
            ('"', true) if chars.peek() == Some(&'"') => cell.extend(chars.next()),
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => row.push(std::mem::take(&mut cell)),
            ('\r', false) => {
                assert_eq!(chars.next(), Some('\n'));
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (c, _) => cell.push(c),
        }
    }
    assert_eq!((row.len(), &*cell), (0, ""));
    rows
}

#[test]
fn calls_as_csv_have_one_line_each_and_no_cell_is_a_formula() {
    let log = log();
    let mut run = log.begin(5, &log.heads);
    let refusal = json!({
        "event": "refusal", "call": "6666666666666666",
        "client": { "name": "=cmd|' /C calc'!A0", "version": "1,2" },
        "tool": CREATE, "operation": "create", "locale": "en",
        "path": "-1+\"1\"", "gate": "paths", "decision": "refused", "fields": ["title", "content"],
        "note": "@SUM(A1)\r\nline", "reason": "He said \"no, never\".",
    });
    run.add("2030-01-05T09:00:00", &refusal);
    run.close("2030-01-05T09:00:01");
    let ended = log.audit(&["list", "--csv"]);
    assert_eq!((ended.code, &*ended.stderr), (0, ""));
    let rows = cells(&ended.stdout);
    let [head, calls @ ..] = rows.as_slice() else {
        panic!("{rows:?}");
    };
    assert!(calls.iter().all(|row| row.len() == head.len()), "{rows:?}");
    assert!(
        calls.iter().flatten().all(|cell| cell != "null"),
        "{rows:?}"
    );
    let of = |row: &[String], name: &str| {
        let column = head.iter().position(|column| column == name).unwrap();
        row[column].clone()
    };
    let times: Vec<String> = calls.iter().map(|row| of(row, "time")).collect();
    assert_eq!((times.len(), &*times[0]), (6, "2030-01-05T09:00:00.000Z"));
    for (call, column, expected) in [
        (0, "client", "'=cmd|' /C calc'!A0"),
        (0, "client_version", "1,2"),
        (0, "path", "'-1+\"1\""),
        (0, "note", "'@SUM(A1)\\u{d}\\u{a}line"),
        (0, "reason", "He said \"no, never\"."),
        (0, "fields", "title content"),
        (1, "client", ""),
        (1, "actor", "user:alice"),
        (1, "tool", "undo"),
        (1, "undoes", "1111111111111111"),
        (1, "outcome", "applied"),
        (1, "lines_added", "1"),
        (5, "undone_by", "5555555555555555"),
        (0, "undone_by", ""),
        (0, "proposer", ""),
        (1, "code", ""),
        (1, "confirms", ""),
    ] {
        assert_eq!(of(&calls[call], column), expected, "{call} {column}");
    }

    let page = log.audit(&["list", "--csv", "--limit", "2"]);
    assert_eq!(cells(&page.stdout).len(), 3);
    assert_eq!(page.stderr, "4 older ones: --before 5555555555555555\n");
    let none = log.audit(&["list", "--csv", "--client", "nobody"]);
    assert_eq!(none.stdout, format!("{}\r\n", head.join(",")));
    assert_eq!(log.audit(&["list", "--csv", "--json"]).code, 2);
}

#[test]
fn the_help_has_every_flag_and_examples() {
    let dir = TempDir::new().unwrap();
    let help = |words: &[&str]| audit(dir.path(), &[words, &["--help"]].concat()).told;
    let of =
        ["list", "show", "tail", "stats", "report", "head", "verify"].map(|word| help(&[word]));
    golden("audit_help", &[&[help(&[])][..], &of].concat().join("\n"));
}

#[test]
fn a_flag_that_means_nothing_is_wrong_usage() {
    let dir = TempDir::new().unwrap();
    let wrong = |arguments: &[&str]| {
        let ended = audit(dir.path(), arguments);
        assert_eq!((ended.code, &*ended.stdout), (2, ""), "{arguments:?}");
        ended.stderr.lines().next().unwrap().to_owned()
    };
    let all = "list --since soon|list --outcome good|list --operation read|list --gate path|\
        list --gate foo|list --tool wikijs_update_pag|list --tool nope|list --path /|\
        list --limit 0|list --before x|show xyz|verify --head /no/such/file";
    let told = { all.split('|') }.map(|line| wrong(&vec_of(line.split(' '))));
    golden("audit_usage", &vec_of(told).join("\n"));
}

#[test]
fn the_address_is_needed_and_a_key_is_not() {
    let ended = Command::new(&["audit", "list"]).with("WIKI_AUDIT_DIR", "/x");
    ended.run().exits(2).warns("WIKI_BASE_URL is missing");
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(place(dir.path())).unwrap();
    assert_snapshot!(audit(dir.path(), &["list"]).told, @r"
    $ wikijs-gate audit list
    no calls
    ");
    assert_snapshot!(audit(dir.path(), &["verify"]).stdout, @r"
    wiki.example.com: 0 runs, 0 records, 0 kept pages, 0 proposals, 0 files purged
    nothing is on record yet
    ");
}

#[test]
fn a_log_that_is_not_there_does_not_pass_for_one_in_which_all_is_well() {
    let log = log();
    let elsewhere = TempDir::new().unwrap();
    let html = elsewhere.path().join("x.html");
    let html = html.to_str().unwrap();
    for arguments in [
        &["verify"][..],
        &["list"],
        &["show", "last"],
        &["stats"],
        &["report", "--html", html],
        &["tail"],
        &["head"],
    ] {
        let mistyped = command(log.dir.path(), arguments);
        let mistyped = mistyped.with("WIKI_BASE_URL", "https://wikki.example.com");
        let mistyped = mistyped.run().exits(2);
        let at = log.dir.path().display();
        let expected = format!(
            "error: there is no log of wikki.example.com at {at}; there are logs of \
             wiki.example.com: look at WIKI_BASE_URL and WIKI_AUDIT_DIR\n"
        );
        assert_eq!(mistyped.stderr, expected, "{arguments:?}");
        let empty = audit(elsewhere.path(), arguments);
        if arguments == ["list"] {
            continue;
        }
        assert_eq!((empty.code, &*empty.stdout), (2, ""), "{}", empty.told);
        says(&empty.stderr, "nor of any other wiki");
    }
}

#[test]
fn a_call_is_shown_with_its_records_and_the_change_rebuilt() {
    let log = log();
    let told: String = ["1111", "2222222222222222", "3333", "4444", "last"]
        .map(|call| log.audit(&["show", call]).told)
        .join("\n");
    golden("audit_show", &told);
}

#[test]
fn a_client_without_a_name_is_said_to_have_none() {
    let dir = TempDir::new().unwrap();
    let mut run = Script::begin(dir.path(), "2030-01-02T09:00:00", "00000000000000aa", &[]);
    let client = json!({ "name": "", "version": "", "subject": "alice", "address": "192.0.2.1" });
    let refusal = json!({
        "call": "1111111111111111", "event": "refusal", "client": client,
        "tool": CREATE, "gate": "enabled", "decision": "refused",
    });
    run.add("2030-01-02T09:00:01", &refusal);
    run.close("2030-01-02T09:00:02");
    let shown = audit(dir.path(), &["show", "1111"]).stdout;
    let part = "  client        an unnamed client as alice, from 192.0.2.1\n";
    says(&shown, part);
}

#[test]
fn a_call_is_shown_to_programs_with_its_records_as_they_stand_in_the_log() {
    let log = log();
    let answer = json_of(&log.audit(&["show", "1111", "--json"]));
    assert_eq!(answer["undoneBy"], "5555555555555555");
    let expected = json!({ "before": "Setup", "after": "Set up" });
    assert_eq!(answer["changes"]["title"], expected);
    says(&answer["diff"], "-Two.\n+2.\n+3.\n");
    let first = fs::read_to_string(log.run(FIRST)).unwrap();
    let line: Value = serde_json::from_str(first.lines().nth(1).unwrap()).unwrap();
    assert_eq!(answer["records"][0], line);
    let undo = json_of(&log.audit(&["show", "5555", "--json"]));
    assert_eq!(undo["undoes"], "1111111111111111");
}

#[test]
fn a_call_that_is_not_there_is_an_error() {
    let log = log();
    assert_snapshot!(log.audit(&["show", "abcd"]).told, @r"
    $ wikijs-gate audit show abcd
    error: no such call is on record; `wikijs-gate audit list` has the calls that there are
    exit 1
    ");
    let mut run = log.begin(5, &log.heads);
    let refusal = json!({ "event": "refusal", "call": "1111222222222222" });
    run.add("2030-01-05T09:00:00", &refusal);
    run.kill();
    assert_snapshot!(log.audit(&["show", "1111"]).told, @r"
    $ wikijs-gate audit show 1111
    error: several calls begin like this: 1111111111111111, 1111222222222222
    exit 1
    ");
}

#[test]
fn a_state_that_was_purged_is_told_from_one_that_is_missing_or_damaged() {
    let log = log();
    let told = |log: &Log| {
        let answer = json_of(&log.audit(&["show", "1111", "--json"]));
        let note = answer["notes"][0].as_str().unwrap();
        note.replace(&log.before, "STATE")
    };
    fs::write(log.page(&log.before), "no state").unwrap();
    assert_eq!(told(&log), "the kept state STATE is not what its name says");
    fs::remove_file(log.page(&log.before)).unwrap();
    let expected = "the kept state STATE is missing, and no purge on record took it";
    assert_eq!(told(&log), expected);
    purge(&log, &[log.before_head()]);
    let expected = "the kept state STATE was purged, so what changed is no longer known";
    assert_eq!(told(&log), expected);
}

/// A later run that removed files, and said so before.
fn purge(log: &Log, removed: &[FileHead]) {
    let mut run = log.begin(6, &log.heads);
    let purge = json!({ "event": "purge", "call": "6666666666666666", "removed": removed });
    run.add("2030-01-06T09:00:00", &purge);
    run.close("2030-01-06T09:00:01");
}

#[test]
fn a_log_that_holds_is_said_to_and_its_open_ends_too() {
    let log = log();
    golden("audit_verify", &log.audit(&["verify"]).told);
    let answer = json_of(&log.audit(&["verify", "--json"]));
    assert_eq!(answer["holds"], true);
    let ends = answer["runs"].as_array().unwrap().iter();
    let ends: Vec<&str> = ends.map(|run| run["end"].as_str().unwrap()).collect();
    assert_eq!(ends, ["closed", "open", "closed"]);
}

#[test]
fn heads_are_printed_as_they_are_compared() {
    let log = log();
    let ended = log.audit(&["head"]);
    assert_eq!(ended.stdout, fs::read_to_string(log.kept_heads()).unwrap());
    let kept = log.kept_heads();
    let kept = kept.to_str().unwrap();
    assert_eq!(log.audit(&["verify", "--head", kept]).code, 0);
    let in_json = log.audit(&["head", "--json"]);
    assert_eq!(json_of(&in_json), json!({ "runs": log.heads }));
    fs::write(kept, in_json.stdout).unwrap();
    assert_eq!(log.audit(&["verify", "--head", kept]).code, 0);
    for nothing in ["", "\n"] {
        fs::write(kept, nothing).unwrap();
        let ended = log.audit(&["verify", "--head", kept]).exits(2);
        says(&ended.stderr, "names no run; keep what `audit head` prints");
    }
    fs::write(kept, "hello\n").unwrap();
    let ended = log.audit(&["verify", "--head", kept]);
    let ended = ended.told.replace(kept, "FILE");
    assert_snapshot!(ended, @r"
    $ wikijs-gate audit verify --head FILE
    error: --head: line 1 is not a name, a length and a hash, as `audit head` prints them
    exit 2
    ");
}

#[test]
fn a_changed_line_is_named() {
    let log = log();
    log.lines(FIRST, |lines| {
        lines[3] = lines[3].replace("PATH_NOT_ALLOWED", "PATH_DENIED");
    });
    golden("audit_changed_line", &log.audit(&["verify"]).told);
    let answer = log.audit(&["verify", "--json"]).json();
    assert_eq!(answer["wrong"][0]["kind"], "broken");
    assert_eq!(answer["runs"][0]["line"], json!(4));
    assert_eq!(answer["holds"], false);
}

#[test]
fn removed_and_reordered_lines_are_named() {
    let removed = log();
    removed.lines(FIRST, |lines| drop(lines.drain(2..4)));
    let reordered = log();
    reordered.lines(FIRST, |lines| lines.swap(1, 2));
    assert_snapshot!([removed.wrong(&[]), reordered.wrong(&[])].concat(), @r"
    wrong 20300102T090000Z-00000000000000aa.jsonl, line 3: records 3 to 4 are missing before it
    wrong 20300102T090000Z-00000000000000aa.jsonl, line 2: is out of order: record 2, which was due here, stands further down
    ");
}

#[test]
fn lines_cut_off_at_the_end_show_where_a_later_run_saw_them() {
    let log = log();
    log.lines(SECOND, |lines| drop(lines.pop()));
    let told = log.wrong(&[]);
    let length = fs::metadata(log.run(SECOND)).unwrap().len();
    let seen = log.heads[1].length;
    let right =
        format!("wrong {SECOND} is shorter than {THIRD} saw it: {length} of {seen} bytes\n");
    assert_eq!(told, right);
}

#[test]
fn lines_cut_off_where_nobody_looked_since_show_against_heads_kept_elsewhere() {
    let log = log();
    let heads = log.kept_heads();
    log.lines(THIRD, |lines| lines.truncate(2));
    let ended = log.audit(&["verify"]).good();
    says(&ended.stdout, &format!("open end {THIRD} was not closed"));
    let told = log.wrong(&["--head", heads.to_str().unwrap()]);
    let part = format!("wrong {THIRD} is shorter than the list of heads saw it");
    begins(&told, &part);
}

#[test]
fn a_run_that_was_rewritten_hashes_and_all_shows_in_what_later_runs_saw() {
    let log = log();
    fs::remove_file(log.run(FIRST)).unwrap();
    let run = log.begin(2, &[]);
    let forged = run.close("2030-01-02T09:00:01");
    assert!(forged.length < log.heads[0].length);
    let told = log.wrong(&[]);
    let part = format!("wrong {FIRST} is shorter than {SECOND} saw it");
    begins(&told, &part);

    // As long as before, to the byte.
    fs::remove_file(log.run(FIRST)).unwrap();
    let mut run = log.begin(2, &[]);
    let refusal = |reason: &str| json!({ "event": "refusal", "reason": reason });
    run.add("2030-01-02T09:00:01", &refusal(""));
    let missing = log.heads[0].length - run.head().length;
    fs::remove_file(log.run(FIRST)).unwrap();
    let mut run = log.begin(2, &[]);
    let reason = "x".repeat(usize::try_from(missing).unwrap());
    run.add("2030-01-02T09:00:01", &refusal(&reason));
    let length = log.heads[0].length;
    assert_eq!(run.kill().length, length);
    let expected =
        format!("wrong {FIRST} was rewritten: {SECOND} saw another line end at byte {length}\n");
    assert_eq!(log.wrong(&[]), expected);
}

#[test]
fn a_missing_run_is_wrong_unless_a_purge_names_it_as_it_was() {
    let gone = log();
    fs::remove_file(gone.run(FIRST)).unwrap();
    let expected = format!("wrong {FIRST} is missing: {SECOND} saw it, and no purge names it\n");
    assert_eq!(gone.wrong(&[]), expected);
    purge(&gone, &gone.heads[..1]);
    let ended = gone.audit(&["verify"]).good();
    assert!(ended.stdout.contains("1 file purged"), "{}", ended.told);

    // It had been cut before it was purged.
    let cut = log();
    fs::remove_file(cut.run(FIRST)).unwrap();
    purge(&cut, &[cut.heads[0].clone().but(|head| head.length = 5)]);
    let told = cut.wrong(&[]);
    let part = format!("wrong {FIRST} is shorter than {SECOND} saw it: 5 of ");
    begins(&told, &part);
}

#[test]
fn a_copy_of_a_run_under_another_name_is_named() {
    let log = log();
    let copy = "20300102T090000Z-00000000000000cc.jsonl";
    fs::copy(log.run(FIRST), log.run(copy)).unwrap();
    let expected =
        format!("wrong {copy} is not the file of the run in its first line: a copy, or renamed\n");
    assert_eq!(log.wrong(&[]), expected);
}

#[test]
fn a_run_that_nobody_saw_later_is_missed_by_heads_kept_elsewhere_alone() {
    let log = log();
    let heads = log.kept_heads();
    fs::remove_file(log.run(THIRD)).unwrap();
    assert_eq!(log.audit(&["verify"]).code, 0);
    let expected =
        format!("wrong {THIRD} is missing: the list of heads saw it, and no purge names it\n");
    assert_eq!(log.wrong(&["--head", heads.to_str().unwrap()]), expected);
}

#[test]
fn pages_without_any_run_show_that_all_of_them_were_removed() {
    let log = log();
    fs::remove_dir_all(log.run(FIRST).parent().unwrap()).unwrap();
    let told = log.wrong(&[]);
    let end = "pages were kept (3), which only runs do\n";
    assert!(told.contains(end), "{told}");
}

#[test]
fn a_kept_page_that_was_changed_or_is_missing_shows() {
    let log = log();
    let other = fs::read(log.page(&log.after)).unwrap();
    fs::write(log.page(&log.before), other).unwrap();
    let wrong = |what: &str| format!("wrong the kept page {} {what}\n", log.before);
    let changed = wrong("was changed: its content does not match its name");
    assert_eq!(log.wrong(&[]), changed);
    fs::remove_file(log.page(&log.before)).unwrap();
    let missing = wrong("is missing: a record names it, and no purge does");
    assert_eq!(log.wrong(&[]), missing);
    purge(&log, &[log.before_head()]);
    assert_eq!(log.audit(&["verify"]).code, 0);
}

const PROPOSAL: &str = "7777777777777777";

/// Puts a proposal into a log, whose making is on record; what became of it is on record too.
fn propose(log: &Log, later: &[Value], is_closed: bool) -> Value {
    let making = json!({
        "call": "8888888888888888", "event": "proposal", "decision": "made", "proposal": PROPOSAL,
        "client": { "name": "claude-code", "version": "2.1" }, "tool": UPDATE,
        "operation": "move", "id": 7, "locale": "en", "path": "docs/setup", "newPath": "docs/start",
        "fields": ["path", "description"], "linesAdded": 2, "linesRemoved": 1,
        "before": log.before, "after": log.after, "reason": "loss accepted: description",
    });
    let at = log.dir.path();
    let mut run = Script::begin(at, "2030-01-05T09:00:00", "00000000000000dd", &log.heads);
    run.add("2030-01-05T09:00:01", &making);
    for record in later {
        run.add("2030-01-05T09:00:02", record);
    }
    if is_closed {
        run.close("2030-01-05T09:00:03");
    } else {
        run.kill();
    }
    let mut file = making;
    let members = file.as_object_mut().unwrap();
    for name in ["event", "decision", "proposal", "reason"] {
        members.remove(name);
    }
    for (name, value) in [
        ("v", json!(1)),
        ("id", json!(PROPOSAL)),
        ("page", json!(7)),
        ("state", json!("open")),
        ("created", json!("2030-01-05T09:00:01.002Z")),
        ("session", json!("0123456789abcdef")),
        ("title", json!("Setup")),
        ("lost", json!(["description"])),
    ] {
        members.insert(name.to_owned(), value);
    }
    put(log, PROPOSAL, &file);
    file
}

fn proposal_file(log: &Log, id: &str) -> PathBuf {
    place(log.dir.path()).join(format!("proposals/{id}.json"))
}

fn put(log: &Log, id: &str, file: &Value) {
    let path = proposal_file(log, id);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, file.to_string()).unwrap();
}

fn with(file: &Value, name: &str, value: Value) -> Value {
    let mut file = file.clone();
    file[name] = value;
    file
}

#[test]
fn a_proposal_whose_file_is_not_as_on_record_is_named_with_what_differs() {
    let log = log();
    let file = propose(&log, &[], true);
    let holds = log.audit(&["verify"]);
    assert_eq!(holds.code, 0, "{}", holds.told);
    assert!(holds.stdout.contains("1 proposal"), "{}", holds.told);
    let other = json!({ "name": "cursor", "version": "2.1" });
    let renamed = json!({ "name": "claude-code", "version": "2.1", "subject": "boss" });
    for (name, value) in [
        ("call", json!("9999999999999999")),
        ("tool", json!(DELETE)),
        ("client", other),
        ("client", renamed),
        ("operation", json!("update")),
        ("page", json!(8)),
        ("locale", json!("de")),
        ("path", json!("docs/else")),
        ("newPath", json!("docs/else")),
        ("fields", json!(["path"])),
        ("linesAdded", json!(3)),
        ("linesRemoved", json!(0)),
        ("lost", json!(["description", "scriptJs"])),
        ("undoes", json!("1111111111111111")),
        ("before", json!(log.after)),
        ("after", json!(log.before)),
    ] {
        put(&log, PROPOSAL, &with(&file, name, value));
        let expected = format!(
            "wrong the proposal {PROPOSAL} was changed: its file is not as on record in {name}\n"
        );
        assert_eq!(log.wrong(&[]), expected);
    }
    // Nobody decided.
    let decided = "2030-01-06T09:00:00.000Z";
    for state in [
        json!({ "state": "rejected", "decided": decided, "reason": "no" }),
        json!({ "state": "replaced", "decided": decided, "replacedBy": "0123456789abcdef" }),
        json!({ "state": "applied", "decided": decided, "appliedBy": "1111111111111111" }),
    ] {
        let mut changed = file.clone();
        let members = changed.as_object_mut().unwrap();
        members.extend(state.as_object().unwrap().clone());
        put(&log, PROPOSAL, &changed);
        assert!(log.wrong(&[]).ends_with("on record in state\n"), "{state}");
    }
    let answer = log.audit(&["verify", "--json"]).json();
    assert_eq!(answer["wrong"][0]["kind"], "changed_proposal");
    assert_eq!(answer["wrong"][0]["file"], format!("{PROPOSAL}.json"));
    assert_eq!(answer["proposals"], 0);
}

#[test]
fn a_proposal_that_cannot_be_read_or_is_not_on_record_is_named() {
    let log = log();
    let file = propose(&log, &[], true);
    let newer = with(&file, "v", json!(2));
    let bad = format!(
        "wrong the proposal {PROPOSAL} cannot be read: its file is damaged, or a newer version wrote it\n"
    );
    for text in ["", "{}", "[]", &newer.to_string()] {
        fs::write(proposal_file(&log, PROPOSAL), text).unwrap();
        assert_eq!(log.wrong(&[]), bad, "{text}");
    }
    put(&log, PROPOSAL, &file);
    let copy = "0123456789abcdef";
    put(&log, copy, &with(&file, "id", json!(copy)));
    let expected =
        format!("wrong the proposal {copy} is not on record: no record tells of its making\n");
    assert_eq!(log.wrong(&[]), expected);
    // What bears no proposal's name is none of ours.
    fs::remove_file(proposal_file(&log, copy)).unwrap();
    fs::write(proposal_file(&log, "notes"), "{}").unwrap();
    assert_eq!(log.audit(&["verify"]).code, 0);
}

#[test]
fn a_proposal_that_is_on_record_has_a_file_unless_a_purge_names_it() {
    let gone = |later: &[Value], is_closed: bool| {
        let log = log();
        propose(&log, later, is_closed);
        fs::remove_file(proposal_file(&log, PROPOSAL)).unwrap();
        log
    };
    let open = gone(&[], true);
    let expected = format!(
        "wrong the file of the proposal {PROPOSAL} is missing: its making is on record, and no purge names it\n"
    );
    assert_eq!(open.wrong(&[]), expected);
    let purged = |log: &Log| {
        let file = format!("{PROPOSAL}.json");
        purge(log, &[log.before_head().but(|head| head.file = file)]);
        let told = log.audit(&["verify"]);
        assert_eq!(told.code, 0, "{}", told.told);
    };
    purged(&open);
    // It was there before the record, also of a server that was killed right behind it.
    assert_eq!(gone(&[], false).audit(&["verify"]).code, 5);
    let rejected = json!({
        "call": "9999999999999999", "event": "proposal", "decision": "rejected",
        "proposal": PROPOSAL, "reason": "no",
    });
    let decided = gone(&[rejected], true);
    assert_eq!(decided.wrong(&[]), expected);
    purged(&decided);
}

#[test]
fn a_half_written_last_line_is_no_tampering_and_another_is() {
    let half = log();
    half.lines(SECOND, |lines| {
        lines.push("{\"v\":1,\"seq\":3,\"time\":\"2030".to_owned());
    });
    let ended = half.audit(&["verify"]).good();
    let part = format!("open end {SECOND} ends in a half-written record: a power cut");
    says(&ended.stdout, &part);
    let tampered = log();
    tampered.lines(SECOND, |lines| {
        lines.push("{\"v\":1,\"seq\":9,\"time\":\"2030".to_owned());
    });
    let expected = format!("wrong {SECOND}, line 3: was changed: it does not have its hash\n");
    assert_eq!(tampered.wrong(&[]), expected);
}

#[test]
fn what_cannot_be_read_is_said_beside_what_can() {
    let log = log();
    log.lines(FIRST, |lines| lines[3] = "hello\n".to_owned());
    for arguments in [&["list"][..], &["stats"]] {
        let expected =
            "1 lines of the log cannot be read; `wikijs-gate audit verify` says more of them\n";
        assert_eq!(log.audit(arguments).stderr, expected);
    }
}

#[test]
fn the_figures_are_counted_and_shown_as_bars() {
    let log = log();
    golden("audit_stats", &log.audit(&["stats"]).told);
    let answer = json_of(&log.audit(&["stats", "--json", "--client", "claude-code"]));
    let expected = json!({
        "calls": 2,
        "sets": 0,
        "outcomes": { "applied": 1, "preview": 1 },
        "refusalsByGate": {},
        "callsByClient": { "claude-code": 2 },
        "writesByDay": { "2030-01-02": 1 },
        "refusalsByDay": { "2030-01-02": 0 },
    });
    assert_eq!(answer, expected);
}

#[test]
fn the_tail_is_the_last_events_in_order() {
    let log = log();
    golden("audit_tail", &log.audit(&["tail", "-n", "4"]).told);
    let in_json = log.audit(&["tail", "-n", "1", "--json"]).stdout;
    let third = fs::read_to_string(log.run(THIRD)).unwrap();
    let record: Value = serde_json::from_str(&in_json).unwrap();
    let line: Value = serde_json::from_str(third.lines().last().unwrap()).unwrap();
    assert_eq!(record, line);
}

/// A real server writes; the tail that follows sees it, new runs too, and ends on SIGINT with 130.
#[tokio::test(flavor = "multi_thread")]
async fn a_tail_that_follows_sees_what_a_server_does_and_ends_when_interrupted() {
    let (wiki, served) = sample(Setup::scripter).await;
    let mut tail = std::process::Command::new(env!("CARGO_BIN_EXE_wikijs-gate"))
        .args(["audit", "tail", "-f"])
        .env_clear()
        .env("WIKI_BASE_URL", wiki.address())
        .env("WIKI_AUDIT_DIR", served.dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let id = id_of(&wiki, "docs");
    let write = json!({ "id": id, "title": "Other" });
    served.confirmed(UPDATE, write).await.unwrap();
    let outcome = lines.find(|line| line.as_ref().unwrap().contains("outcome update"));
    let outcome = outcome.unwrap().unwrap();
    ends(&outcome, "wikijs_update_page  update  en:docs  applied");

    let pid = tail.id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(tail.wait().unwrap().code(), Some(130));

    // All of it can be read while the server lives, and holds.
    let audit = |arguments: &[&str]| {
        Command::new(&[&["audit"][..], arguments].concat())
            .log_of(&wiki.address(), served.dir.path())
            .run()
    };
    audit(&["verify"]).good().prints("is being written");
    let shown = json_of(&audit(&["show", "last", "--json"]));
    assert_eq!(shown["changes"]["title"]["after"], "Other");
    assert_eq!(shown["outcome"], "applied");
}

#[test]
fn the_page_for_auditors_has_the_programs_own_output() {
    let log = log();
    let capture = |arguments: &[&str]| format!("```console\n{}```\n", log.audit(arguments).told);
    let held = [
        ("list", capture(&["list"])),
        ("show", capture(&["show", "1111"])),
        ("stats", capture(&["stats"])),
        ("tail", capture(&["tail", "-n", "4"])),
        ("verify", capture(&["verify"])),
        ("head", capture(&["head"])),
    ];
    log.lines(FIRST, |lines| {
        lines[3] = lines[3].replace("PATH_NOT_ALLOWED", "PATH_DENIED");
    });
    let changed = [("changed", capture(&["verify"]))];
    for (marker, told) in held.iter().chain(&changed) {
        generated("docs/audit.md", marker, told, str::to_owned);
    }
}

#[test]
fn a_list_where_nothing_was_ever_on_record_is_empty_and_says_so() {
    let fresh = tempfile::tempdir().unwrap();
    let listed = audit(fresh.path(), &["list"]);
    assert_eq!(listed.code, 0, "{}", listed.told);
    assert_eq!(&*listed.stdout, "no calls\n", "{}", listed.told);
    says(&listed.stderr, "nothing is on record yet");
    let json = audit(fresh.path(), &["list", "--json"]);
    let answer = json.json();
    assert_eq!((json.code, &answer["calls"]), (0, &json!([])));
}

#[test]
fn a_member_of_the_record_that_is_shown_is_shown_at_every_door() {
    let dir = TempDir::new().unwrap();
    let mut run = Script::begin(dir.path(), "2030-01-02T09:00:00", "00000000000000aa", &[]);
    let mut record = json!({
        "call": "1111111111111111", "event": "outcome", "outcome": "applied", "tool": UPDATE,
        "operation": "update", "id": 7, "locale": "en", "path": "docs/setup",
    });
    let of_json = |name: &str| {
        let words = name.split('_').enumerate();
        let words = words.map(|(at, word)| match (at, word.split_at(1)) {
            (0, _) => word.to_owned(),
            (_, (first, rest)) => first.to_uppercase() + rest,
        });
        words.collect::<String>()
    };
    assert!(Record::SHOWN.len() >= 2);
    let text_of = |name: &str| match name {
        // Its type takes no other text.
        "trace" => "ab".repeat(16),
        name => format!("text-of-{name}"),
    };
    for member in Record::SHOWN {
        record[of_json(member.name)] = text_of(member.name).into();
    }
    run.add("2030-01-02T09:00:01", &record);
    run.close("2030-01-02T09:00:02");

    let (lines, one) = (audit(dir.path(), &["show", "1111"]).stdout, "1111");
    let json = json_of(&audit(dir.path(), &["show", one, "--json"]));
    let listed = json_of(&audit(dir.path(), &["list", "--json"]));
    let csv = audit(dir.path(), &["list", "--csv"]).stdout;
    let html = dir.path().join("report.html");
    let report = audit(dir.path(), &["report", "--html", html.to_str().unwrap()]);
    assert_eq!(report.code, 0, "{}", report.told);
    let html = fs::read_to_string(html).unwrap();
    let columns = fs::read_to_string(root().join("docs/audit.md"));
    let columns = columns.unwrap();
    for member in Record::SHOWN {
        let text = text_of(member.name);
        let shown = lines.lines().find(|line| line.ends_with(&text));
        begins(shown.unwrap().trim_start(), member.name);
        assert_eq!(json[of_json(member.name)], text, "{json}");
        assert_eq!(listed["calls"][0][of_json(member.name)], text, "{listed}");
        let at = |line: &str, cell: &str| line.split(',').position(|own| own.trim() == cell);
        let (head, row) = csv.split_once('\n').unwrap();
        assert_eq!(at(head, member.name).unwrap(), at(row, &text).unwrap());
        says(&html, &text);
        let part = format!("| `{}` | {} |", member.name, member.meaning);
        says(&columns, &part);
    }
}
