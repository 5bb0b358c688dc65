//! A desk for tests, with a log of its own and a wiki that nobody reaches.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::audit_entry::EntryBuilder;
use super::caller::Asker;
use super::caller::{Caller, Extent};
use super::context::WriteContext;
use super::stages::check::SetCheck;
use super::stages::verify::expected::FoundPage;
use super::timeouts::Timeouts;
use crate::audit::{AuditLog, CallId, Client, Keep};
use crate::change::{Change, Operation, Proof};
use crate::gates::{
    ChangeSet, Confirmation, Fallback, LinkLeft, Mending, Permit, Policy, Ruled, SessionId,
    SetChange, StaticToken, WritePolicy, confirm, enabled, paths, rules,
};
use crate::index::{ContentIndex, IndexLoad, IndexMode, IndexSettings, Pace};
use crate::page::testing::{But as _, linked_site, numbered, page};
use crate::page::{DroppedRules, Locale, PagePath, PageState, ReadScope};
use crate::rules::Facts;
use crate::store::local::LocalStore;
use crate::wiki::{ApiKey, Network, RetryLimits, Sender, TimeLimits, Wiki, WikiSettings};

const TOKEN: &str = "open sesame, please";

/// A desk and the directory of its log.
pub(super) struct Office {
    pub(super) desk: Arc<WriteContext>,
    dir: Arc<TempDir>,
}

impl Office {
    /// A desk whose writes do not wait for others.
    pub(super) fn new(policy: Policy) -> Self {
        Self::within(Arc::new(tempfile::tempdir().unwrap()), policy)
    }

    /// The desk of another server, which shares all that lies in the store.
    pub(super) fn beside(&self, policy: Policy) -> Self {
        Self::within(Arc::clone(&self.dir), policy)
    }

    /// From now on servers elsewhere share the store.
    pub(super) fn shares_store(&self) {
        LocalStore::new(self.dir.path(), "docs").remote().unwrap();
    }

    fn within(dir: Arc<TempDir>, policy: Policy) -> Self {
        let audit = Arc::new(AuditLog::new(dir.path(), "docs"));
        let wiki = Arc::new(Wiki::new(wiki_settings(), "test").unwrap());
        let index = ContentIndex::new(
            wiki,
            IndexSettings {
                mode: IndexMode::Off,
                dir: None,
                most: 0,
                callers_bytes: 0,
                pace: Pace::new(IndexLoad::FULL),
                embeddings: None,
            },
        );
        let patience = Timeouts::default().but(|it| it.queueing = Duration::ZERO);
        let keep = Keep {
            days: 90,
            proposal_days: 30,
            bytes: 1 << 30,
        };
        let desk = WriteContext::new(Arc::new(index), &audit, policy, patience, keep);
        let desk = Arc::new(desk);
        Self { desk, dir }
    }

    /// A sender to a wiki that nobody reaches.
    pub(super) fn sender() -> Arc<Sender> {
        let (_, sender) = Sender::with_wiki(wiki_settings(), "test").unwrap();
        Arc::new(sender)
    }

    /// The records so far, but for the one that begins a run.
    pub(super) fn records(&self) -> Vec<Value> {
        let Ok(runs) = std::fs::read_dir(self.dir.path().join("docs/runs")) else {
            return Vec::new();
        };
        let run = |file: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(file.unwrap().path()).unwrap()
        };
        let text: String = runs.map(run).collect();
        let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
        records
            .filter(|record: &Value| record["event"] != "start" && record["event"] != "closed")
            .collect()
    }

    /// One member of each record, as a word; empty where a record has no such member.
    pub(super) fn words(&self, member: &str) -> Vec<String> {
        let word = |record: &Value| record[member].as_str().unwrap_or_default().to_owned();
        self.records().iter().map(word).collect()
    }

    /// Records an attempt, without kept states, that nothing follows.
    pub(super) async fn leaves_open(&self) {
        let attempt = record(&set(update(1))).attempt(Operation::Update);
        let _ = self.desk.audit.attempt(attempt, &[]).await.unwrap();
    }

    /// From now on nothing can be put on record.
    pub(super) async fn without_log(&self) {
        self.desk.audit.close().await.unwrap();
    }
}

/// A desk at which a write is shown before it is sent.
pub(super) fn office() -> Office {
    Office::new(policy(WritePolicy::Preview))
}

fn wiki_settings() -> WikiSettings {
    let second = Duration::from_secs(1);
    WikiSettings {
        name: "docs".to_owned(),
        // Nobody listens there.
        base_url: "http://127.0.0.1:9/".parse().unwrap(),
        graphql_path: "graphql".to_owned(),
        key: ApiKey::new("key".into()),
        network: Box::new(Network::default()),
        default_locale: Locale::as_stored("en"),
        default_editor: "markdown".to_owned(),
        time: TimeLimits {
            read: second,
            write: second,
        },
        retry: RetryLimits::new(0, second),
        reads: ReadScope::default(),
    }
}

pub(super) fn policy(writes: WritePolicy) -> Policy {
    Policy::default().but(|it| it.writes = writes)
}

/// A person is asked, who may think for a minute.
pub(super) fn person() -> WritePolicy {
    WritePolicy::Person {
        limit: Duration::from_mins(1),
        fallback: Fallback::None,
    }
}

pub(super) fn session() -> SessionId {
    SessionId::new("s")
}

/// A caller of the session with this way to ask a person.
pub(super) fn caller(asker: Asker) -> Caller {
    let client = Client::default().but(|it| it.name = "client".to_owned());
    Caller {
        asker,
        extent: Extent::Bounded,
        ..Caller::new("wikijs_update_page", client, session())
    }
}

/// The record of a call about a set.
pub(super) fn record(set: &ChangeSet) -> EntryBuilder {
    let key = ApiKey::new("key".into()).digest_on_record();
    let mut record = EntryBuilder::open(set.id(), &caller(Asker::Nobody), key);
    record.about(set);
    record
}

pub(super) fn set(change: impl Into<SetChange>) -> ChangeSet {
    ChangeSet::single(CallId::new().unwrap(), change)
}

pub(super) fn list(changes: Vec<Change>) -> ChangeSet {
    let changes = changes.into_iter().map(Into::into).collect();
    ChangeSet::list(CallId::new().unwrap(), changes).unwrap()
}

/// A page gets another title.
pub(super) fn update(id: i64) -> Change {
    let after = numbered(id).but(|it| it.title = "B".to_owned());
    Change::between(numbered(id), after)
}

/// A page gets another place and another style: two steps.
pub(super) fn move_and_update() -> Change {
    let after = PageState {
        path: PagePath::as_stored("docs/b"),
        script_css: "a{}".to_owned(),
        ..page()
    };
    Change::between(page(), after)
}

/// Checks that found nothing.
pub(super) fn checked() -> SetCheck {
    SetCheck::default()
}

/// The permit of a change, by way of all gates.
pub(super) fn permit(change: Change) -> Permit {
    permit_of(set(change))
}

/// The permit of a set, by way of all gates.
pub(super) fn permit_of(set: ChangeSet) -> Permit {
    let policy = policy(WritePolicy::Token(StaticToken::new(TOKEN.into()).unwrap()));
    let enabled = enabled(&policy, &session(), Some(TOKEN)).unwrap();
    let allowed = paths(enabled, set).unwrap();
    match rules(allowed, &Facts::default(), None).unwrap() {
        Ruled::Cleared(cleared) => confirm(cleared, Confirmation::StaticToken).unwrap(),
        Ruled::Demands(..) => panic!("no rule stands"),
    }
}

/// The plan of a set that mends as many links in a page, and leaves these.
pub(super) fn mending(page: i64, links: usize, left: Vec<LinkLeft>) -> Mending {
    Mending {
        site: linked_site("https://wiki.example.org".parse().unwrap()),
        alone: [(page, links)].into(),
        left,
    }
}

/// The proof of a page that was found where another was promised.
pub(super) fn proof(promised: &PageState, found: PageState) -> Proof {
    Proof {
        differing: promised.difference(&found),
        unverified: Vec::new(),
        css_minified: false,
        css_dropped: DroppedRules::default(),
        found,
    }
}

/// A page that was found where another was promised.
pub(super) fn found(promised: &PageState, page: PageState) -> FoundPage {
    FoundPage {
        proof: proof(promised, page),
        is_answered: false,
        created_at: None,
        author: None,
    }
}
