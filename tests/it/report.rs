//! The report as a file; in a browser it is used by `tests/browser/report.mjs`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::{env, fs};

use serde_json::{Value, json};

use crate::audit_review::{audit, log};
use crate::script::{Script, keep, page};

/// Writes a report; its path.
fn report(dir: &Path, arguments: &[&str]) -> PathBuf {
    let path = dir.join("report.html");
    let file = path.to_str().unwrap();
    let ended = audit(dir, &[&["report", "--html", file][..], arguments].concat());
    assert_eq!(ended.code, 0, "{}", ended.told);
    path
}

/// The data of a report.
fn data(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    let (_, data) = text
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    assert!(!data.contains('<'));
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_report_has_all_that_the_commands_tell_and_is_its_owners_alone() {
    let log = log();
    let path = report(log.dir.path(), &[]);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let data = data(&path);
    let told = |words: &[&str]| -> Value {
        serde_json::from_str(&audit(log.dir.path(), words).stdout).unwrap()
    };
    assert_eq!(data["figures"], told(&["stats", "--json"]));
    let listed = told(&["list", "--json"]);
    let calls = data["calls"].as_array().unwrap();
    assert_eq!(calls.len(), listed["calls"].as_array().unwrap().len());
    for (call, row) in calls.iter().zip(listed["calls"].as_array().unwrap()) {
        for (name, value) in row.as_object().unwrap() {
            assert_eq!(&call[name], value, "{name}");
        }
    }
    assert_eq!(calls[4]["diff"], told(&["show", "1111", "--json"])["diff"]);
    assert_eq!(
        calls[4]["records"][0],
        json!([
            "2030-01-02T09:00:01.000Z",
            "attempt update",
            "confirm: preview"
        ])
    );
}

#[test]
fn a_report_of_some_calls_says_of_which() {
    let log = log();
    let data = data(&report(
        log.dir.path(),
        &["--since", "2030-01-03", "--path", "docs"],
    ));
    assert_eq!(data["since"], "2030-01-03T00:00:00Z");
    assert_eq!(data["filters"], json!(["path docs"]));
    assert_eq!(
        (
            &data["figures"]["calls"],
            data["calls"].as_array().unwrap().len()
        ),
        (&json!(2), 2)
    );
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let log = log();
    let ended = audit(
        log.dir.path(),
        &["report", "--html", "/no/such/directory/x.html"],
    );
    assert_eq!(
        ended.told,
        "$ wikijs-mcp audit report --html /no/such/directory/x.html\n\
         error: /no/such/directory/x.html cannot be written: its directory is not there; make it, \
         or name another file\nexit 1\n"
    );
}

/// The same log with titles and clients that no page may run.
fn hostile(dir: &Path) {
    let before = keep(
        dir,
        &page("docs/evil", "<img src=x onerror=alert(1)>", "a\n"),
    );
    let after = keep(
        dir,
        &page(
            "docs/evil",
            "</script><script>alert(2)</script>",
            "\u{202e}<!--<script>\nb\n",
        ),
    );
    let mut run = Script::begin(dir, "2030-01-05T09:00:00", "00000000000000dd", &[]);
    for (time, event) in [
        ("2030-01-05T09:00:01", "attempt"),
        ("2030-01-05T09:00:02", "outcome"),
    ] {
        let mut write = json!({
            "event": event, "call": "7777777777777777", "tool": "<i>tool</i>", "operation": "update",
            "client": { "name": "<b onclick=alert(3)>client</b>", "version": "\u{202e}0" },
            "locale": "en", "path": "docs/evil", "before": before, "after": after, "step": "update",
            "fields": ["title", "content"],
        });
        if event == "outcome" {
            write["outcome"] = json!("applied");
        }
        run.add(time, &write);
    }
    let agent = json!({ "name": "agent", "version": "1" });
    let proposal = json!({
        "tool": "wikijs_create_page", "operation": "create", "locale": "en", "path": "docs/new",
        "proposal": "dddddddddddddddd", "fields": ["title", "content"], "linesAdded": 1,
    });
    let with = |more: Value| {
        let mut all = proposal.clone();
        let more = more.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(more);
        all
    };
    let made = json!({ "call": "8888888888888888", "client": agent });
    let made = |more: Value| {
        let mut all = with(made.clone());
        let more = more.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(more);
        all
    };
    let preview = json!({ "event": "preview", "gate": "dry_run", "decision": "dry_run" });
    run.add("2030-01-05T09:00:03", &made(preview));
    let kept = json!({ "event": "proposal", "decision": "made" });
    run.add("2030-01-05T09:00:04", &made(kept));
    let rejected = json!({
        "call": "9999999999999999", "event": "proposal", "tool": "proposals reject",
        "client": { "name": "wikijs-mcp", "version": "0" }, "actor": "user:alice",
        "proposer": agent, "gate": "operator", "decision": "rejected", "reason": "not here",
    });
    run.add("2030-01-05T09:00:05", &with(rejected));
    run.close("2030-01-05T09:00:06");
}

/// More calls than a page lists, over three months.
fn large(dir: &Path) {
    let mut run = Script::begin(dir, "2030-01-01T00:00:00", "00000000000000aa", &[]);
    let states: Vec<String> = (0..50)
        .map(|part| {
            keep(
                dir,
                &page(
                    "docs/a",
                    &format!("Title {part}"),
                    &format!("# A\n\nText {part}.\n").repeat(part + 1),
                ),
            )
        })
        .collect();
    let clients = ["claude-code", "cursor", "codex", "nightly-sync"];
    let gates = ["paths", "confirm", "enabled"];
    let areas = ["docs", "runbooks", "team/notes", "releases"];
    for call in 0..11_000_usize {
        let day = call / 122;
        let time = format!(
            "2030-{:02}-{:02}T{:02}:{:02}:{:02}",
            day / 28 + 1,
            day % 28 + 1,
            call % 24,
            call % 60,
            call % 59
        );
        let kind = ["update", "create", "update", "delete", "update"][call % 5];
        let base = json!({
            "call": format!("{call:016x}"), "tool": format!("wikijs_{kind}_page"), "operation": kind,
            "client": { "name": clients[(call / 7) % 4], "version": "1" }, "id": call % 400,
            "locale": if call % 9 == 0 { "de" } else { "en" },
            "path": format!("{}/page-{}", areas[(call / 3) % 4], call % 400),
        });
        let mut add = |more: Value| {
            let mut all = base.clone();
            all.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            run.add(&time, &all);
        };
        if call % 6 == 5 {
            add(json!({
                "event": "refusal", "gate": gates[call / 6 % 3],
                "decision": "refused", "code": "PATH_DENIED", "reason": "The page lies below a denied prefix.",
            }));
        } else {
            let write = json!({
                "before": states[call % 50], "after": states[(call + 1) % 50], "step": kind,
                "fields": ["title", "content"], "linesAdded": call % 40, "linesRemoved": call % 11,
            });
            let with = |more: Value| {
                let mut all = write.clone();
                all.as_object_mut()
                    .unwrap()
                    .extend(more.as_object().unwrap().clone());
                all
            };
            add(with(
                json!({ "event": "attempt", "gate": "confirm", "decision": "preview" }),
            ));
            let outcome = if call % 97 == 0 {
                "partly_applied"
            } else {
                "applied"
            };
            add(with(json!({ "event": "outcome", "outcome": outcome })));
        }
    }
    run.close("2030-04-10T00:00:00");
}

/// With `WIKIJS_MCP_PICTURES`, leaves pictures in that directory.
#[test]
#[ignore = "needs Chromium and Node; part of `just heavy`"]
#[expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "says why it did nothing; where pictures go"
)]
fn a_report_in_a_browser_is_used_as_a_person_does() {
    let is_there = |program: &str| Process::new(program).arg("--version").output().is_ok();
    let chromium = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| is_there(name));
    let (Some(chromium), true) = (chromium, is_there("node")) else {
        eprintln!("skipped: the report in a browser, since there is no chromium or no node");
        return;
    };
    let (small, dir) = (log(), tempfile::tempdir().unwrap());
    hostile(small.dir.path());
    large(dir.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/report.mjs");
    let status = Process::new("node")
        .arg(script)
        .arg(chromium)
        .arg(report(small.dir.path(), &[]))
        .arg(report(dir.path(), &[]))
        .args(env::var_os("WIKIJS_MCP_PICTURES"))
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_report_follows_no_link_and_leaves_no_right_to_others() {
    let log = log();
    let dir = tempfile::TempDir::new().unwrap();
    let (file, link) = (dir.path().join("file.html"), dir.path().join("link.html"));
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    let write = |path: &Path| {
        let arguments = ["report", "--html", path.to_str().unwrap()];
        audit(log.dir.path(), &arguments)
    };
    std::os::unix::fs::symlink(&file, &link).unwrap();
    // A link that leads nowhere yet, then one to a file.
    for is_there in [false, true] {
        if is_there {
            fs::write(&file, "precious").unwrap();
        }
        let ended = write(&link);
        assert_eq!(ended.code, 1);
        let why = "link.html cannot be written: it is a link; name the file itself";
        assert!(ended.stderr.contains(why), "{}", ended.told);
        assert_eq!(
            fs::read_to_string(&file).ok(),
            is_there.then(|| "precious".to_owned())
        );
    }
    for (before, after) in [
        (0o644, 0o600),
        (0o666, 0o600),
        (0o600, 0o600),
        (0o755, 0o600),
    ] {
        fs::set_permissions(&file, fs::Permissions::from_mode(before)).unwrap();
        assert_eq!(write(&file).code, 0);
        assert_eq!(mode(), after, "{before:o}");
        data(&file);
    }
    // Root may write what nobody may: its mode stays.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    let ended = write(&file);
    assert!(
        ended.code == 0 || ended.stderr.contains("may not write"),
        "{}",
        ended.told
    );
    assert_eq!(mode(), 0o400);
}
