//! Numbers of runs, anchors and their signatures: who rewrites the record is found out, and what
//! cannot be known is said.

use wikijs_gate::audit::{AuditEntry, AuditLog, CallId, Keep, LineHash};

use crate::prelude::*;
use crate::script::{ADDRESS, place};

/// How long something may take that comes soon.
const LONG: Duration = Duration::from_secs(20);

/// The names of the runs of a log, oldest first.
fn runs(wiki: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(wiki.join("runs")).unwrap();
    let mut runs: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    runs.sort();
    runs
}

fn name(run: &Path) -> &str {
    run.file_name().unwrap().to_str().unwrap()
}

fn number(run: &Path) -> u64 {
    name(run).split('-').nth(1).unwrap().parse().unwrap()
}

fn verify(address: &str, dir: &Path, arguments: &[&str]) -> Ended {
    Command::new(&[&["audit", "verify"][..], arguments].concat())
        .log_of(address, dir)
        .run()
}

fn log(dir: &TempDir) -> AuditLog {
    AuditLog::new(dir.path(), "wiki.example.com")
}

async fn refusal(log: &AuditLog) {
    let entry = AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal);
    log.record(entry).await.unwrap();
}

/// A log of one run that is over.
async fn ended(dir: &TempDir) {
    let log = log(dir);
    refusal(&log).await;
    log.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_begin_at_once_get_numbers_one_by_one() {
    let dir = Arc::new(TempDir::new().unwrap());
    let begun = (0..8).map(|_| {
        let dir = Arc::clone(&dir);
        tokio::spawn(async move { ended(&dir).await })
    });
    for one in begun.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    let mut numbers = vec_of(runs(&place(dir.path())).iter().map(|it| number(it)));
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
    let told = verify(ADDRESS, dir.path(), &[]);
    assert_eq!(told.code, 0, "{}", told.told);
}

#[tokio::test]
async fn the_newest_run_is_missed_by_its_number_and_a_number_stands_once() {
    let dir = TempDir::new().unwrap();
    for _ in 0..3 {
        ended(&dir).await;
    }
    let all = runs(&place(dir.path()));
    let kept = fs::read(&all[2]).unwrap();
    fs::remove_file(&all[2]).unwrap();
    let told = verify(ADDRESS, dir.path(), &[]);
    let wrong =
        "wrong run number 3 is missing: a number goes to a run that begins, and no purge names one";
    assert_eq!(told.code, 5, "{}", told.told);
    assert!(told.stdout.contains(wrong), "{}", told.told);
    // It stays missed when others begin.
    ended(&dir).await;
    assert_eq!(number(&runs(&place(dir.path()))[2]), 4);
    assert_eq!(verify(ADDRESS, dir.path(), &[]).code, 5);
    fs::write(&all[2], kept).unwrap();
    assert_eq!(verify(ADDRESS, dir.path(), &[]).code, 0);

    // A name says the number of its first record, and no other.
    let renamed = name(&all[0]).replace("-000001-", "-000009-");
    fs::rename(&all[0], all[0].with_file_name(renamed)).unwrap();
    let told = verify(ADDRESS, dir.path(), &[]).stdout;
    assert!(told.contains("a copy, or renamed"), "{told}");
}

#[tokio::test]
async fn a_lost_count_is_said_and_the_next_run_counts_on() {
    let dir = TempDir::new().unwrap();
    ended(&dir).await;
    let count = place(dir.path()).join("runs.count");
    fs::remove_file(&count).unwrap();
    // A run that just begins is counted before its first record.
    let run = runs(&place(dir.path())).remove(0);
    let records = fs::read(&run).unwrap();
    fs::write(&run, "").unwrap();
    let told = verify(ADDRESS, dir.path(), &[]);
    assert_eq!(told.code, 0, "{}", told.told);
    fs::write(&run, records).unwrap();
    let told = verify(ADDRESS, dir.path(), &[]);
    let wrong = "wrong the count of runs (runs.count) is missing or holds no number";
    assert_eq!(told.code, 5, "{}", told.told);
    assert!(told.stdout.contains(wrong), "{}", told.told);
    ended(&dir).await;
    assert_eq!(verify(ADDRESS, dir.path(), &[]).code, 0);
    assert_eq!(number(&runs(&place(dir.path()))[1]), 2);
}

/// Purges until one run went. A child that another test is just starting holds the lock of a run
/// for a moment, and such a run stays.
async fn purged_one(log: &AuditLog, keep: Keep) {
    let purging = async {
        while log.purge(keep).await.unwrap().runs == 0 {
            tokio::task::yield_now().await;
        }
    };
    let patience = Duration::from_secs(30);
    tokio::time::timeout(patience, purging).await.unwrap();
}

#[tokio::test]
async fn a_number_that_was_purged_is_not_missed_whoever_is_purged_later() {
    let all = Keep {
        days: 365,
        proposal_days: 30,
        bytes: 0,
    };
    let dir = TempDir::new().unwrap();
    let first = log(&dir);
    refusal(&first).await;
    let second = log(&dir);
    refusal(&second).await;
    ended(&dir).await;
    // The newest goes, and the run that tells of it goes later, while the first still lives.
    purged_one(&second, all).await;
    second.close().await.unwrap();
    let fourth = log(&dir);
    refusal(&fourth).await;
    purged_one(&fourth, all).await;
    let numbers = vec_of(runs(&place(dir.path())).iter().map(|it| number(it)));
    assert_eq!(numbers, [1, 4]);
    let told = verify(ADDRESS, dir.path(), &[]);
    assert_eq!(told.code, 0, "{}", told.told);
    first.close().await.unwrap();
    purged_one(&fourth, all).await;
    fourth.close().await.unwrap();
    let told = verify(ADDRESS, dir.path(), &[]);
    assert_eq!(told.code, 0, "{}", told.told);
}

/// Makes a signing key; its file and its public key.
fn key(dir: &Path, file: &str) -> (PathBuf, String) {
    let path = dir.join(file);
    let made = Command::new(&["audit", "key", "new", path.to_str().unwrap()])
        .run()
        .good();
    (path, made.stdout.trim().to_owned())
}

#[test]
fn a_signing_key_is_its_owners_alone_never_written_over_and_never_shown() {
    let dir = TempDir::new().unwrap();
    let (path, public) = key(dir.path(), "audit.key");
    let text = fs::read_to_string(&path).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let file = path.to_str().unwrap();
    let show = |file: &str| Command::new(&["audit", "key", "show", file]).run();
    assert_eq!(show(file).stdout.trim(), public);
    let again = Command::new(&["audit", "key", "new", file]).run();
    assert_eq!(again.code, 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), text.clone());
    let secret = text.trim().split_once(':').unwrap().1;
    assert!(!again.told.contains(secret) && !public.contains(secret));

    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let open = show(file);
    assert_eq!(open.code, 1, "{}", open.told);
    assert!(open.stderr.contains("chmod 600"), "{}", open.told);
    let none = dir.path().join("none");
    fs::write(&none, "hello").unwrap();
    fs::set_permissions(&none, fs::Permissions::from_mode(0o600)).unwrap();
    let none = show(none.to_str().unwrap());
    assert!(none.stderr.contains("is no signing key"), "{}", none.told);
}

/// A log of real servers with its anchors, as it lies on the disk.
struct Kept {
    address: String,
    audit: Arc<TempDir>,
    /// Holds `anchors.jsonl` and the keys.
    dir: TempDir,
    public: String,
}

impl Kept {
    fn begin(wiki: &DemoWiki, dir: TempDir, public: String) -> Self {
        let audit = Arc::new(TempDir::new().unwrap());
        Self {
            address: wiki.address(),
            audit,
            dir,
            public,
        }
    }

    /// All of it once more.
    fn copy(&self) -> Self {
        let copied = Self {
            address: self.address.clone(),
            audit: Arc::new(TempDir::new().unwrap()),
            dir: TempDir::new().unwrap(),
            public: self.public.clone(),
        };
        copy(self.audit.path(), copied.audit.path());
        copy(self.dir.path(), copied.dir.path());
        copied
    }

    fn anchors(&self) -> PathBuf {
        self.dir.path().join("anchors.jsonl")
    }

    fn wiki(&self) -> PathBuf {
        wiki_dir(self.audit.path())
    }

    fn run(&self, number: usize) -> PathBuf {
        runs(&self.wiki()).swap_remove(number - 1)
    }

    /// Runs a server that writes so many times, and ends.
    async fn serve(&self, wiki: &DemoWiki, writes: usize, key: Option<&Path>) {
        let mut setup = Setup::editor(wiki).in_dir(&self.audit);
        if let Some(key) = key {
            setup = setup.with_tables(&anchored(&self.anchors(), Some(key)));
        }
        let served = setup.serve().await;
        let id = id_of(wiki, "docs");
        for write in 0..writes {
            let title = json!({ "id": id, "title": format!("Title {write}") });
            served.confirmed(UPDATE, title).await.unwrap();
        }
        served.app.writer.finish().await;
    }

    fn verified(&self, arguments: &[&str]) -> Value {
        let anchors = self.anchors();
        let arguments: Vec<&str> = arguments
            .iter()
            .map(|word| match *word {
                "ANCHORS" => anchors.to_str().unwrap(),
                "KEY" => &self.public,
                word => word,
            })
            .chain(["--json"])
            .collect();
        let ended = verify(&self.address, self.audit.path(), &arguments);
        let told = ended.json();
        let is_good = told["holds"].as_bool().unwrap();
        assert_eq!(ended.code, if is_good { 0 } else { 5 }, "{}", ended.told);
        told
    }

    /// Gives every line of every run anew, its hash and those that name it too; the new hashes by
    /// the old ones.
    fn rewrite(&self, change: impl Fn(usize, &str) -> String) -> HashMap<String, String> {
        let mut hashes = HashMap::new();
        for (index, run) in runs(&self.wiki()).iter().enumerate() {
            let text = fs::read_to_string(run).unwrap();
            let mut written = String::new();
            for line in text.lines() {
                let (body, trailer) = line.split_at(line.len() - 75);
                let body = renamed(&change(index + 1, body), &hashes);
                let hash = LineHash::new(body.as_bytes()).to_string();
                let old = trailer.trim_matches(|c: char| !c.is_ascii_hexdigit());
                let old = old.rsplit('"').next().unwrap();
                hashes.insert(old.to_owned(), hash.clone());
                let _ = writeln!(written, "{body},\"hash\":\"{hash}\"}}");
            }
            fs::write(run, written).unwrap();
        }
        hashes
    }
}

fn renamed(text: &str, hashes: &HashMap<String, String>) -> String {
    let parts = text.split('"');
    let parts = parts.map(|part| hashes.get(part).map_or(part, String::as_str));
    parts.collect::<Vec<_>>().join("\"")
}

fn lines(path: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    change(&mut lines);
    fs::write(path, lines.concat()).unwrap();
}

/// Two servers after another that anchor and sign, each with two writes.
async fn kept(wiki: &DemoWiki) -> Kept {
    let dir = TempDir::new().unwrap();
    let (file, public) = key(dir.path(), "audit.key");
    let kept = Kept::begin(wiki, dir, public);
    kept.serve(wiki, 2, Some(&file)).await;
    kept.serve(wiki, 2, Some(&file)).await;
    kept
}

/// What `verify` says, with what differs from run to run replaced.
fn cell(kept: &Kept, told: &Value) -> String {
    let mut said: Vec<String> = Vec::new();
    let wrong = told["wrong"].as_array().unwrap();
    let mut kinds: Vec<&str> = Vec::new();
    for one in wrong {
        let kind = one["kind"].as_str().unwrap();
        if !kinds.contains(&kind) {
            kinds.push(kind);
            let message = one["message"].as_str().unwrap();
            // How many lines a server adds depends on how fast it was.
            said.push(match message.strip_prefix("anchors.jsonl, line ") {
                Some(rest) => format!("a line of the anchors {}", rest.split_once(": ").unwrap().1),
                None => message.to_owned(),
            });
        }
    }
    if !told["clock"].as_array().unwrap().is_empty() {
        said.push("the clock had been set back".to_owned());
    }
    let records = told["runs"].as_array().unwrap().iter();
    let records: u64 = records.filter_map(|run| run["records"].as_u64()).sum();
    match told["anchored"]["unproven"].as_u64().unwrap_or(0) {
        0 => {}
        all if all == records => said.push("all records are unproven".to_owned()),
        _ => said.push("the newest records are unproven".to_owned()),
    }
    let mut text = said.join("; ");
    let names = runs(&kept.wiki());
    for run in &names {
        text = text.replace(name(run), &format!("run {}", number(run)));
    }
    let word = |word: &str| {
        let bare = word.trim_matches(['(', ')', ',', ';', ':']);
        let is_run = bare.strip_suffix(".jsonl").is_some() && bare.contains('Z');
        let is_id = bare.len() >= 16 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_large = bare.len() > 2 && bare.bytes().all(|byte| byte.is_ascii_digit());
        if is_run {
            let number: u64 = bare.split('-').nth(1).unwrap().parse().unwrap();
            word.replace(bare, &format!("run {number}"))
        } else if is_id || is_large {
            word.replace(bare, "…")
        } else {
            word.to_owned()
        }
    };
    let text = text.split(' ').map(word).collect::<Vec<_>>().join(" ");
    match (wrong.is_empty(), text.is_empty()) {
        (true, true) => "all of it holds".to_owned(),
        (true, false) => format!("all of it holds; {text}"),
        (false, _) => format!("**wrong**: {text}"),
    }
}

type Tampering = (&'static str, fn(&Kept));

const TAMPERINGS: [Tampering; 13] = [
    ("nothing", |_| {}),
    ("a record was changed", |kept| {
        lines(&kept.run(1), |lines| {
            lines[3] = lines[3].replace("applied", "unknown");
        });
    }),
    ("a record was removed", |kept| {
        lines(&kept.run(1), |lines| drop(lines.remove(2)));
    }),
    ("two records changed places", |kept| {
        lines(&kept.run(1), |lines| lines.swap(1, 2));
    }),
    ("an older run is gone", |kept| {
        fs::remove_file(kept.run(1)).unwrap();
    }),
    ("the newest run was cut", |kept| {
        lines(&kept.run(2), |lines| lines.truncate(3));
    }),
    ("the newest run is gone", |kept| {
        fs::remove_file(kept.run(2)).unwrap();
    }),
    (
        "the newest run is gone, and the count of runs was set back",
        |kept| {
            fs::remove_file(kept.run(2)).unwrap();
            fs::write(kept.wiki().join("runs.count"), format!("{:020}\n", 1)).unwrap();
        },
    ),
    (
        "a client's name was changed, and all rewritten with new hashes",
        |kept| {
            kept.rewrite(|_, line| line.replace(UPDATE, DELETE));
        },
    ),
    (
        "the times of the newest run were set back, with new hashes",
        |kept| {
            kept.rewrite(|run, line| match run {
                2 => line.replace("\"time\":\"20", "\"time\":\"19"),
                _ => line.to_owned(),
            });
        },
    ),
    (
        "all was rewritten with new hashes, and the anchors to match",
        |kept| {
            let hashes = kept.rewrite(|_, line| line.replace(UPDATE, DELETE));
            let text = fs::read_to_string(kept.anchors()).unwrap();
            fs::write(kept.anchors(), renamed(&text, &hashes)).unwrap();
        },
    ),
    (
        "the newest run is gone with its number and its anchors",
        |kept| {
            let gone = name(&kept.run(2)).to_owned();
            fs::remove_file(kept.run(2)).unwrap();
            fs::write(kept.wiki().join("runs.count"), format!("{:020}\n", 1)).unwrap();
            lines(&kept.anchors(), |lines| {
                lines.retain(|line| !line.contains(&gone));
            });
        },
    ),
    (
        "the last line of the anchors was cut off in the middle",
        |kept| {
            lines(&kept.anchors(), |lines| {
                let last = lines.pop().unwrap();
                lines.push(last.split_at(90).0.to_owned());
            });
        },
    ),
];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn row(table: &mut String, what: &str, kept: &Kept) {
    let anchors = ["--anchors", "ANCHORS"];
    let signed = ["--anchors", "ANCHORS", "--key", "KEY"];
    let cells = [&[][..], &anchors, &signed].map(|given| cell(kept, &kept.verified(given)));
    let _ = writeln!(table, "| {what} | {} |", cells.join(" | "));
}

/// Each tampering is tried on a log of real servers; docs/audit.md has what `verify` says.
#[tokio::test(flavor = "multi_thread")]
async fn what_each_tampering_shows_is_in_the_documentation() {
    let wiki = sample_wiki().await;
    let whole = kept(&wiki).await;
    let mut table = String::from(
        "| what was done | the log alone | with anchors | with their signatures |\n|---|---|---|---|\n",
    );
    for (what, tamper) in TAMPERINGS {
        let tampered = whole.copy();
        tamper(&tampered);
        row(&mut table, what, &tampered);
    }

    // The clock of a first server was a day ahead; the second one anchors what it finds.
    let dir = TempDir::new().unwrap();
    let (file, public) = key(dir.path(), "audit.key");
    let ahead = Kept::begin(&wiki, dir, public);
    ahead.serve(&wiki, 2, None).await;
    ahead.rewrite(|_, line| line.replace("\"time\":\"20", "\"time\":\"30"));
    let first = ahead.run(1);
    let later = name(&first).replacen("20", "30", 1);
    fs::rename(&first, first.with_file_name(later)).unwrap();
    ahead.serve(&wiki, 2, Some(&file)).await;
    row(
        &mut table,
        "the clock was set back between two runs",
        &ahead,
    );

    // A server with another key adds to the same file.
    let (other, _) = key(whole.dir.path(), "other.key");
    whole.serve(&wiki, 1, Some(&other)).await;
    row(&mut table, "anchors were signed by another key", &whole);
    generated("docs/audit.md", "tampering", &table, str::to_owned);
}

/// Waits for what comes soon.
fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + LONG;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "it did not come");
        std::thread::yield_now();
    }
}

/// The settings of anchors, as a file has them.
fn anchored(anchors: &Path, key: Option<&Path>) -> String {
    let key = key.map(|key| format!("audit_signing_key = {}\n", json!(key)));
    format!(
        "audit_anchors = {}\n{}",
        json!(anchors),
        key.unwrap_or_default()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_is_anchored_while_the_server_lives_and_verify_says_up_to_when() {
    let wiki = sample_wiki().await;
    let elsewhere = TempDir::new().unwrap();
    let (file, public) = key(elsewhere.path(), "audit.key");
    let anchors = elsewhere.path().join("anchors.jsonl");
    let setup = Setup::editor(&wiki).with_tables(&anchored(&anchors, Some(&file)));
    let served = setup.serve().await;
    let id = id_of(&wiki, "docs");
    let update = json!({ "id": id, "title": "Other" });
    served.confirmed(UPDATE, update).await.unwrap();
    let line = tokio::task::block_in_place(|| {
        until(|| {
            let text = fs::read_to_string(&anchors).ok()?;
            text.lines()
                .next()
                .filter(|_| text.ends_with('\n'))
                .map(str::to_owned)
        })
    });
    let line: Value = serde_json::from_str(&line).unwrap();
    line.shows(json!({ "v": 1, "seq": 1 }));
    assert_eq!(line["heads"][0]["number"], 1);
    assert!(line["signature"].is_string() && line["key"].is_string());

    let given = ["--anchors", anchors.to_str().unwrap(), "--key", &public];
    let told = verify(&wiki.address(), served.dir.path(), &given);
    assert_eq!(told.code, 0, "{}", told.told);
    says(&told.stdout, "all records are anchored");
    assert!(!told.stdout.contains("unproven"), "{}", told.told);
    // A refusal waits for what comes next.
    let unknown = json!({ "id": id, "title": "Third", "confirm": "0000" });
    served.call(UPDATE, unknown).await.unwrap_err();
    let told = verify(&wiki.address(), served.dir.path(), &given).stdout;
    assert!(told.contains("all records before 20"), "{told}");
    says(&told, "after the last anchor could have been");

    let other = verify(&wiki.address(), served.dir.path(), &given[..2]).stdout;
    says(&other, "no signature of the anchors was checked");
    let alone = verify(&wiki.address(), served.dir.path(), &[]).stdout;
    assert!(alone.contains("unproven without anchors"), "{alone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_and_its_end_are_anchored() {
    let wiki = sample_wiki().await;
    let elsewhere = TempDir::new().unwrap();
    let anchors = elsewhere.path().join("anchors.jsonl");
    let tables = anchored(&anchors, None);
    let config = elsewhere.path().join("config.toml");
    fs::write(&config, &tables).unwrap();
    let served = Setup::editor(&wiki).with_tables(&tables).serve().await;
    served.app.writer.finish().await;
    for arguments in [&["pause", "a restore"][..], &["resume"]] {
        Command::new(arguments)
            .log_of(&wiki.address(), served.dir.path())
            .with("WIKI_CONFIG", config.to_str().unwrap())
            .good()
            .await;
    }
    let given = ["--anchors", anchors.to_str().unwrap()];
    let told = verify(&wiki.address(), served.dir.path(), &given);
    assert_eq!(told.code, 0, "{}", told.told);
    says(&told.stdout, "all records are anchored");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_command_that_records_says_that_the_setting_of_anchors_is_bad() {
    let wiki = sample_wiki().await;
    let served = Setup::editor(&wiki).serve().await;
    let config = served.dir.path().join("config.toml");
    fs::write(&config, "audit_signing_key = \"/no/such/key\"\n").unwrap();
    let said = async |arguments: &[&str]| {
        let command = Command::new(arguments).log_of(&wiki.address(), served.dir.path());
        let command = command.with("WIKI_CONFIG", config.to_str().unwrap());
        command.good().await.told
    };
    says(&said(&["pause", "a restore"]).await, "not anchored: ");
    lacks(&said(&["memory", "list"]).await, "not anchored: ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_reads_each_anchor_and_one_that_fails_stops_no_write() {
    let wiki = sample_wiki().await;
    let elsewhere = TempDir::new().unwrap();
    let out = elsewhere.path().join("out");
    let command = json!(["sh", "-c", "cat >> \"$0\"", out]);
    let served = Setup::editor(&wiki).with_tables(&format!("audit_anchors = {command}"));
    let served = served.serve().await;
    let id = id_of(&wiki, "docs");
    let update = json!({ "id": id, "title": "Other" });
    served.confirmed(UPDATE, update).await.unwrap();
    served.app.writer.finish().await;
    let given = ["--anchors", out.to_str().unwrap()];
    let told = verify(&wiki.address(), served.dir.path(), &given);
    assert_eq!(told.code, 0, "{}", told.told);
    says(&told.stdout, "all records are anchored");

    let command = json!(["sh", "-c", "echo secret >&2; exit 3"]);
    let failing = Setup::editor(&wiki).with_tables(&format!("audit_anchors = {command}"));
    let failing = failing.in_dir_of(&served).serve().await;
    let update = json!({ "id": id, "title": "Third" });
    failing.confirmed(UPDATE, update).await.unwrap();
    failing.app.writer.finish().await;
    let told = verify(&wiki.address(), served.dir.path(), &given);
    let why = "the command for anchors ended with exit code 3";
    assert_eq!(told.code, 0, "{}", told.told);
    assert!(told.stdout.contains(why), "{}", told.told);
    assert!(!told.stdout.contains("secret"), "{}", told.told);
    says(&told.stdout, "after the last anchor could have been");
}

#[tokio::test(flavor = "multi_thread")]
async fn readyz_and_doctor_tell_that_heads_are_not_anchored() {
    let wiki = sample_wiki().await;
    let elsewhere = TempDir::new().unwrap();
    let nowhere = elsewhere.path().join("missing").join("anchors");
    let setup = Setup::editor(&wiki);
    let setup = setup.with_tables(&anchored(&nowhere, None));
    let server = setup.host_within(LIMITS()).await;
    let id = id_of(&wiki, "docs");
    let caller = server.open(&Caller::default()).await;
    let preview = server
        .call(&caller, UPDATE, json!({ "id": id, "title": "Other" }))
        .await
        .unwrap();
    let confirmed = json!({ "id": id, "title": "Other", "confirm": preview["confirm"] });
    server.call(&caller, UPDATE, confirmed).await.unwrap();
    let end = Instant::now() + LONG;
    let told = loop {
        let answer = server.get("/readyz").await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        if let Some(told) = body["anchors"].as_str() {
            break told.to_owned();
        }
        assert!(Instant::now() < end, "it did not come");
    };
    let why = "the file of anchors cannot be written: entity not found";
    assert!(told.starts_with("not anchored since 20"), "{told}");
    assert!(told.ends_with(why), "{told}");
    let doctor = Command::new(&["doctor", "--audit-anchors", nowhere.to_str().unwrap()])
        .at(&wiki.address(), &wiki.keys().editor, server.dir.path())
        .end()
        .await;
    says(&doctor.stdout, "heads cannot be anchored in");
    assert_eq!(doctor.code, 5, "{}", doctor.told);
}
