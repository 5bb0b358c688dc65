//! The real binary, ended by SIGKILL at every request of a write: what it leaves on record is
//! settled by the next server, and what was applied can be taken back.

use std::fmt::Debug;

use crate::prelude::*;

/// A write, and the page's path.
#[derive(Clone, Copy)]
pub(crate) struct Write {
    pub(crate) tool: &'static str,
    pub(crate) path: &'static str,
    pub(crate) arguments: fn(i64) -> Value,
}

/// A server that was killed, and what it left.
pub(crate) struct Killed {
    pub(crate) wiki: DemoWiki,
    pub(crate) faulty: FaultyWiki,
    pub(crate) dir: Arc<TempDir>,
    /// The pages before the write.
    pub(crate) before: Vec<PageRow>,
}

pub(crate) const UPDATE: Write = Write {
    tool: "wikijs_update_page",
    path: "releases/2-4",
    arguments: |id| {
        json!({
            "id": id, "title": "T", "description": "D", "content": "c\n", "tags": ["x"],
            "isPublished": false, "publishStartDate": "", "publishEndDate": "2031-01-01",
            "scriptCss": "a{b:c}", "scriptJs": "",
        })
    },
};
/// Titled like its last segment: the move alone changes its title (W14).
const MOVE_AND_UPDATE: Write = Write {
    path: "glossary",
    arguments: |id| json!({ "id": id, "path": "moved/words", "title": "T", "content": "c\n" }),
    ..UPDATE
};
const MOVE: Write = Write {
    arguments: |id| json!({ "id": id, "path": "moved/words" }),
    ..MOVE_AND_UPDATE
};
pub(crate) const CREATE: Write = Write {
    tool: "wikijs_create_page",
    path: "",
    arguments: |_| {
        let mut page = new_page("docs/x");
        page["tags"] = json!(["x"]);
        page["scriptCss"] = json!("body { color: red }");
        page
    },
};
pub(crate) const DELETE: Write = Write {
    tool: "wikijs_delete_page",
    path: "releases/2-4",
    arguments: |id| json!({ "id": id }),
};
const TRASH: Write = Write {
    arguments: |id| json!({ "id": id, "trash": true }),
    ..DELETE
};

impl Write {
    /// A server that has previewed the write, and the arguments that confirm it.
    async fn previewed(self) -> (Killed, Program, Value) {
        let wiki = sample_wiki().await;
        let faulty = FaultyWiki::before(&wiki).await;
        let dir = Arc::new(TempDir::new().unwrap());
        let id = if self.path.is_empty() {
            0
        } else {
            id_of(&wiki, self.path)
        };
        let mut program = Program::writing(
            &faulty.address(),
            &wiki.keys().scripter,
            dir.path(),
            &[("WIKI_TRASH_PREFIX", "trash")],
        );
        let mut arguments = (self.arguments)(id);
        let preview = program.call(self.tool, &arguments);
        arguments["confirm"] = preview["confirm"].clone();
        let before = timeless_pages(&wiki);
        let killed = Killed {
            wiki,
            faulty,
            dir,
            before,
        };
        (killed, program, arguments)
    }

    /// What the confirmed call asks the wiki for: whether each request is a mutation.
    async fn requests(self) -> Vec<bool> {
        let (server, mut program, arguments) = self.previewed().await;
        let count = server.faulty.seen().len();
        let answer = program.call(self.tool, &arguments);
        assert_eq!(answer["outcome"], "applied", "{answer}");
        program.kill();
        let seen = server.faulty.seen();
        seen[count..].iter().map(|seen| seen.is_mutation).collect()
    }

    /// Kills the server while it waits for the answer to its last mutation.
    pub(crate) async fn killed_when_sent(self, reach: Reach) -> Killed {
        let requests = self.requests().await;
        let index = requests.iter().rposition(|is_mutation| *is_mutation);
        self.killed_at(index.unwrap(), reach).await
    }

    /// Kills the server while it waits for the answer to one of its requests, which reaches the
    /// wiki after the kill, if at all.
    async fn killed_at(self, index: usize, reach: Reach) -> Killed {
        let (killed, mut program, arguments) = self.previewed().await;
        let count = killed.faulty.seen().len() + index + 1;
        let fault = Fault::new(reach, Reply::Silence);
        killed.faulty.on_request_after(index, fault);
        program.begin(self.tool, &arguments);
        killed.faulty.requests_arrive(count).await;
        program.kill();
        killed.faulty.let_late_ones_through().await;
        killed
    }
}

impl Killed {
    pub(crate) fn setup(&self) -> Setup {
        Setup::at(&self.faulty.address(), &self.wiki.keys().scripter)
            .toolsets("pages,undo")
            .in_dir(&self.dir)
    }

    /// The next server, when it has settled what it found.
    pub(crate) async fn next(&self) -> Served {
        let served = self.setup().serve().await;
        served.app.desk.recovered().await;
        served
    }

    pub(crate) fn of(&self, event: AuditEvent) -> Vec<Record> {
        let mut records = records(self.dir.path());
        records.retain(|record| record.event == event);
        records
    }

    /// Page by page, since a difference of all is too long to be read.
    pub(crate) fn is_restored_to(&self, wanted: &[PageRow]) {
        let pages = timeless_pages(&self.wiki);
        for (page, wanted) in pages.iter().zip(wanted) {
            assert_eq!(page, wanted);
        }
        assert_eq!(pages.len(), wanted.len());
    }

    /// Takes the last record away: killed a moment before.
    fn without_last_record(&self) {
        let [run] = &runs(self.dir.path())[..] else {
            panic!("one run");
        };
        let text = fs::read_to_string(run).unwrap();
        let (start, _) = text.trim_end().rsplit_once('\n').unwrap();
        fs::write(run, format!("{start}\n")).unwrap();
    }

    /// The next server settles what is open, as this outcome, and takes back what was applied.
    async fn is_settled(&self, open: Option<Outcome>, whole: Option<Outcome>) {
        let attempts = self.of(AuditEvent::Attempt);
        let told = self.of(AuditEvent::Outcome);
        assert_eq!(attempts.len(), told.len() + usize::from(open.is_some()));
        let served = self.next().await;
        let settled: Vec<Record> = self.of(AuditEvent::Outcome).split_off(told.len());
        if let Some(outcome) = open {
            let (attempt, [settled]) = (attempts.last().unwrap(), &settled[..]) else {
                panic!("one outcome: {settled:?}");
            };
            assert_eq!(settled.outcome, Some(outcome));
            assert_eq!((settled.call, &settled.step), (attempt.call, &attempt.step));
            assert_ne!(settled.run, attempt.run);
        } else {
            assert_eq!(settled, []);
        }
        let call = match attempts.last() {
            Some(attempt) => attempt.call.unwrap().to_string(),
            None => "last".to_owned(),
        };
        let undone = served.confirmed(UNDO, json!({ "callId": call })).await;
        // A move before an unknown step is taken back, too.
        let call = attempts.last().and_then(|attempt| attempt.call);
        let has_moved = told
            .iter()
            .any(|one| one.call == call && one.outcome == Some(Outcome::Applied));
        if matches!(whole, Some(Outcome::Applied | Outcome::PartlyApplied)) || has_moved {
            assert_eq!(undone.unwrap()["outcome"], "applied");
            self.is_restored_to(&self.before);
        } else {
            assert_eq!(undone.unwrap_err()["code"], "NOTHING_TO_UNDO");
        }
    }
}

/// Kills a server after the wiki has a confirmed write and before it is answered: the next server
/// finds it, and takes back what it changed of the wiki.
pub(crate) async fn is_found_and_taken_back<T: PartialEq + Debug>(
    wiki: &DemoWiki,
    toolset: &str,
    (tool, mut arguments): (&'static str, Value),
    state: impl Fn(&DemoWiki) -> T,
) {
    let before = state(wiki);
    let faulty = FaultyWiki::before(wiki).await;
    let dir = Arc::new(TempDir::new().unwrap());
    let (address, key) = (faulty.address(), &wiki.keys().admin);
    let toolsets = [("WIKI_TOOLSETS", toolset)];
    let mut program = Program::writing(&address, key, dir.path(), &toolsets);
    let preview = program.call(tool, &arguments);
    arguments["confirm"] = preview["confirm"].clone();
    faulty.on_mutations(Fault::new(Reach::Afterwards, Reply::Silence));
    program.begin(tool, &arguments);
    faulty.mutations_arrive(1).await;
    program.kill();
    faulty.let_late_ones_through().await;
    faulty.recovers();
    assert_ne!(state(wiki), before, "{tool}");
    let next = Setup::at(&address, key).toolsets(&format!("undo,{toolset}"));
    let next = next.in_dir(&dir).serve().await;
    next.app.desk.recovered().await;
    let mut records = next.records();
    records.retain(|record| record.outcome.is_some());
    let outcomes: Vec<_> = records.iter().map(|record| record.outcome).collect();
    assert_eq!(outcomes, [Some(Outcome::Applied)], "{tool}");
    wiki.later_for_comments(Duration::from_secs(31));
    let undo = json!({ "callId": records[0].call.unwrap().to_string() });
    confirmed_ok(&next, UNDO, undo).await;
    assert_eq!(state(wiki), before, "{tool}");
}

/// Kills at each request of a write, before and after the wiki has it.
async fn walk(write: Write) {
    let requests = write.requests().await;
    let steps = requests.iter().filter(|is_mutation| **is_mutation).count();
    let mut sent = 0;
    for (index, is_mutation) in requests.iter().copied().enumerate() {
        let so_far = |steps_applied| match steps_applied {
            0 => None,
            applied if applied == steps => Some(Outcome::Applied),
            _ => Some(Outcome::PartlyApplied),
        };
        let killed = write.killed_at(index, Reach::Never).await;
        if !is_mutation {
            // Either it is being read back, or what it may have overwritten is looked for.
            let is_open =
                killed.of(AuditEvent::Attempt).len() > killed.of(AuditEvent::Outcome).len();
            assert_eq!(is_open, sent > 0 && requests[index - 1]);
            killed
                .is_settled(is_open.then_some(Outcome::Applied), so_far(sent))
                .await;
            continue;
        }
        killed
            .is_settled(Some(Outcome::Unknown), Some(Outcome::Unknown))
            .await;
        let killed = write.killed_at(index, Reach::Never).await;
        killed.without_last_record();
        killed.is_settled(None, so_far(sent)).await;
        sent += 1;
        let killed = write.killed_at(index, Reach::Afterwards).await;
        killed
            .is_settled(Some(Outcome::Applied), so_far(sent))
            .await;
    }
    assert!(sent > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_that_was_killed_at_any_request_is_settled_and_taken_back() {
    walk(UPDATE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_with_an_update_that_was_killed_at_any_request_is_settled_and_taken_back() {
    walk(MOVE_AND_UPDATE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_whose_title_is_written_back_is_settled_and_taken_back_too() {
    walk(MOVE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_create_that_was_killed_at_any_request_is_settled_and_taken_back() {
    walk(CREATE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_way_to_the_trash_that_was_killed_at_any_request_is_settled_and_taken_back() {
    walk(TRASH).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delete_that_was_killed_at_any_request_is_settled_and_taken_back() {
    walk(DELETE).await;
}
