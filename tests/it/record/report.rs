//! The report as a file; in a browser it is used by `tests/browser/report.mjs`.

use std::process::Command as Process;

use crate::prelude::*;
use crate::record::audit_review::{audit, log};
use crate::script::{Script, keep, page};

/// Writes a report; its path.
fn report(dir: &Path, arguments: &[&str]) -> PathBuf {
    let path = dir.join("report.html");
    let file = path.to_str().unwrap();
    let ended = audit(dir, &[&["report", "--html", file][..], arguments].concat());
    assert_eq!(ended.code, 0, "{}", ended.told);
    path
}

/// A report as a person reads it: its text, and its rows by the calls that they stand for.
struct Read {
    text: String,
    rows: Vec<(String, String)>,
}

fn read(path: &Path) -> Read {
    let text = fs::read_to_string(path).unwrap();
    let rows = text.split("<li class=\"row\" data-call=\"").skip(1);
    let row = |row: &str| {
        let (call, rest) = row.split_once('"').unwrap();
        let rest = rest.split("</li>").next().unwrap();
        (call.to_owned(), rest.to_owned())
    };
    Read {
        rows: rows.map(row).collect(),
        text,
    }
}

/// Text as it stands in the page.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[test]
fn a_report_has_all_that_the_commands_tell_and_is_its_owners_alone() {
    let log = log();
    let path = report(log.dir.path(), &[]);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let found = read(&path);
    let told = |words: &[&str]| -> Value { audit(log.dir.path(), words).json() };
    let figures = told(&["stats", "--json"]);
    let calls = format!(
        "<b class=\"calm\">{}</b> <span>calls</span>",
        figures["calls"]
    );
    assert!(found.text.contains(&calls), "{}", found.text);
    let applied = &figures["outcomes"]["applied"];
    let applied = format!("<b class=\"good\">{applied}</b> <span>applied</span>");
    assert!(found.text.contains(&applied), "{}", found.text);
    for (kind, counts) in [
        ("refusalsByGate", "Refusals by gate"),
        ("callsByClient", "Calls by client"),
    ] {
        let (_, part) = found.text.split_once(counts).unwrap();
        for (word, count) in figures[kind].as_object().unwrap() {
            let bar = format!("<bdi>{word}</bdi><span class=\"quiet\">{count}</span>");
            assert!(part.contains(&bar), "{bar}");
        }
    }
    let listed = told(&["list", "--json"]);
    let listed = listed["calls"].as_array().unwrap();
    assert_eq!(found.rows.len(), listed.len());
    for ((call, row), told) in found.rows.iter().zip(listed) {
        assert_eq!(call, told["call"].as_str().unwrap());
        let told = told.as_object().unwrap();
        for name in [
            "outcome", "path", "newPath", "code", "tool", "undoneBy", "undoes", "actor",
        ] {
            let Some(value) = told.get(name) else {
                continue;
            };
            let value = escaped(value.as_str().unwrap());
            assert!(row.contains(&value), "{name} {value}: {row}");
        }
        let time = told["time"].as_str().unwrap();
        assert!(row.contains(&format!("data-time=\"{time}\"")), "{row}");
    }
    let (_, changed) = &found.rows[4];
    let diff = told(&["show", "1111", "--json"])["diff"].clone();
    let lines: Vec<&str> = diff.as_str().unwrap().lines().skip(1).collect();
    assert!(lines.len() > 3);
    for line in lines {
        let (sign, text) = line.split_at(1);
        let shown = changed.split("<td class=\"code ").skip(1);
        let kind = match sign {
            "+" => "added",
            "-" => "removed",
            _ => "kept",
        };
        let is_it = |cell: &str| cell.starts_with(kind) && without_tags(cell).ends_with(text);
        assert!(
            { shown }.any(|cell| is_it(cell.split("</td>").next().unwrap())),
            "{line}: {changed}"
        );
    }
    let step =
        "<td>2030-01-02 09:00:01.000</td><td>attempt update</td><td><bdi>confirm: token</bdi></td>";
    assert!(changed.contains(step), "{changed}");
    // Where the wiki has the page, what the check found, and the heads.
    says(&changed, "href=\"https://wiki.example.com/en/docs/setup\"");
    assert!(found.text.contains("All of it holds."), "{}", found.text);
    assert!(found.text.contains("Not proven: "), "{}", found.text);
    for line in audit(log.dir.path(), &["head"]).stdout.lines() {
        for word in line.split(' ') {
            assert!(found.text.contains(&format!("<td>{word}</td>")), "{word}");
        }
    }
}

fn without_tags(html: &str) -> String {
    let parts = html
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect()
}

#[test]
fn a_report_of_some_calls_says_of_which() {
    let log = log();
    let found = read(&report(
        log.dir.path(),
        &["--since", "2030-01-03", "--path", "docs"],
    ));
    let about = "wiki.example.com, from 2030-01-03 00:00:00, path docs. Made ";
    assert!(found.text.contains(about), "{}", found.text);
    says(&found.text, "<b class=\"calm\">2</b> <span>calls</span>");
    assert_eq!(found.rows.len(), 2);
}

#[test]
fn a_report_says_what_is_wrong_with_the_record() {
    let log = log();
    let runs = crate::script::place(log.dir.path()).join("runs");
    let run = fs::read_dir(runs).unwrap().map(|run| run.unwrap().path());
    let run = run.min().unwrap();
    let text = fs::read_to_string(&run).unwrap();
    fs::write(&run, text.replace("intern/plan", "intern/else")).unwrap();
    let found = read(&report(log.dir.path(), &[]));
    says(&found.text, "was changed: it does not have its hash");
    assert!(!found.text.contains("All of it holds"));
}

#[test]
fn the_rows_of_a_report_stand_in_their_list_however_a_client_names_itself() {
    let log = log();
    for (second, name) in ["{rows}", "<!--rows-->"].into_iter().enumerate() {
        let run = format!("00000000000000d{second}");
        let mut run = Script::begin(
            log.dir.path(),
            &format!("2030-01-05T09:0{second}:00"),
            &run,
            &[],
        );
        let refusal = json!({
            "call": format!("777777777777777{second}"), "event": "refusal", "tool": CREATE,
            "client": { "name": name, "version": "0" }, "gate": "paths", "decision": "refused",
        });
        run.add(&format!("2030-01-05T09:0{second}:01"), &refusal);
        run.close(&format!("2030-01-05T09:0{second}:02"));
    }
    let found = read(&report(log.dir.path(), &[]));
    says(&found.text, "<bdi>{rows}</bdi>");
    let (before, _) = found.text.split_once("<li class=\"row\"").unwrap();
    assert!(before.ends_with("<ol class=\"calls rows brief\">"));
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let log = log();
    let ended = audit(
        log.dir.path(),
        &["report", "--html", "/no/such/directory/x.html"],
    );
    let expected = "$ wikijs-gate audit report --html /no/such/directory/x.html\n\
         error: /no/such/directory/x.html cannot be written: its directory is not there; make it, \
         or name another file\nexit 1\n";
    assert_eq!(ended.told, expected);
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
        if event == "attempt" {
            write["gate"] = json!("confirm");
            write["decision"] = json!("token");
        } else {
            write["outcome"] = json!("applied");
        }
        run.add(time, &write);
    }
    let agent = json!({ "name": "agent", "version": "1" });
    let proposal = json!({
        "tool": CREATE, "operation": "create", "locale": "en", "path": "docs/new",
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
        "client": { "name": "wikijs-gate", "version": "0" }, "actor": "user:alice",
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
                json!({ "event": "attempt", "gate": "confirm", "decision": "token" }),
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

/// Leaves pictures in target/browser/pictures.
#[test]
#[ignore = "needs Chromium and Node; part of `just heavy`"]
#[expect(clippy::print_stderr, reason = "says why it did nothing")]
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
    let root = root();
    let status = Process::new("node")
        .arg(root.join("tests/browser/report.mjs"))
        .arg(chromium)
        .arg(report(small.dir.path(), &[]))
        .arg(report(dir.path(), &[]))
        .arg(root.join("target/browser"))
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_report_follows_no_link_and_leaves_no_right_to_others() {
    let log = log();
    let dir = TempDir::new().unwrap();
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
        assert!(fs::read_to_string(&file).unwrap().contains("Audit report"));
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
