//! Writes and reads through everything that can go wrong between us and the wiki: a mutation
//! goes out once, what is told of it is true, and it is on record.

use rmcp::model::CallToolRequest;
use rmcp::service::{PeerRequestOptions, RequestHandle};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use wikijs_gate::audit::{AuditEntry, AuditLog, CallId};

use crate::prelude::*;
use crate::record::audit::{child, childs_dir};
use crate::wiki::faulty_wiki::attempts_on_record;
use crate::wiki::relay::{Relay, socket_of};

/// Where a wiki that went silent is given up soon.
const SHORT: Timeouts = Timeouts {
    settling: Duration::from_millis(300),
    ..QUICK
};
/// Where what comes late must not be missed, however busy the machine is.
const LONG: Timeouts = Timeouts {
    settling: Duration::from_secs(30),
    ..QUICK
};
/// Longer than anything here may take, shorter than what must not be waited for.
const SOON: Duration = Duration::from_secs(10);

const PAGE: &str = "releases/2-4";
/// How the warning begins of a write that happened, though the answer was another.
const OTHERWISE: &str = "answered_otherwise: ";
/// The operator's token.
const SESAME: &str = "sesame-and-much-more";

#[derive(Debug, Clone, Copy)]
enum Kind {
    Create,
    Update,
    Move,
    Delete,
}

const KINDS: [Kind; 4] = [Kind::Create, Kind::Update, Kind::Move, Kind::Delete];

impl Kind {
    fn call(self, wiki: &DemoWiki) -> (&'static str, Value) {
        let id = id_of(wiki, PAGE);
        match self {
            Self::Create => (CREATE, new_page("faults/new")),
            Self::Update => (UPDATE, json!({ "id": id, "title": "Two four" })),
            Self::Move => (UPDATE, json!({ "id": id, "path": "releases/two-four" })),
            Self::Delete => (DELETE, json!({ "id": id })),
        }
    }

    const fn step(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Move => "move",
            Self::Delete => "delete",
        }
    }

    /// All pages as they are when this is applied.
    fn applied_to(self, pages: &[PageRow]) -> Vec<PageRow> {
        let mut pages = pages.to_vec();
        let page = pages.iter_mut().find(|page| page.path == PAGE).unwrap();
        match self {
            Self::Create => pages.push(titled("faults/new", "New", "# New\n")),
            Self::Update => "Two four".clone_into(&mut page.title),
            Self::Move => "releases/two-four".clone_into(&mut page.path),
            Self::Delete => pages.retain(|page| page.path != PAGE),
        }
        pages.sort_by(|a, b| (&a.locale, &a.path).cmp(&(&b.locale, &b.path)));
        pages
    }
}

pub(crate) fn html(status: u16) -> Reply {
    Reply::say(status, "text/html", "<!DOCTYPE html><p>Sign in</p>")
}

fn json_of(status: u16, body: &Value) -> Reply {
    Reply::say(status, "application/json", &body.to_string())
}

fn named(status: u16, message: &str) -> Reply {
    let errors = json!([{ "message": message, "path": [] }]);
    json_of(status, &json!({ "data": {}, "errors": errors }))
}

/// Answers that leave open what the wiki did, each with the code that is told as the cause.
fn open_replies(elsewhere: &str) -> Vec<(&'static str, Reply, &'static str)> {
    let to = |status: u16| html(status).header("location", &format!("{elsewhere}/graphql"));
    let empty = |status: u16| Reply::say(status, "text/plain", "");
    let later = html(503).header("retry-after", "1");
    let other = json_of(200, &json!({ "ok": true }));
    let no_pages = json_of(200, &json!({ "data": null }));
    let else_fails = named(500, "upstream timed out");
    vec![
        ("cut", Reply::Cut, "WIKI_UNAVAILABLE"),
        ("cut inside", Reply::CutInside, "WIKI_UNAVAILABLE"),
        ("reset", Reply::Reset, "WIKI_UNAVAILABLE"),
        ("silence", Reply::Silence, "TIMEOUT"),
        ("drip", Reply::Drip, "TIMEOUT"),
        ("garbage", Reply::Garbage, "WIKI_UNAVAILABLE"),
        ("HTML", html(200), "WIKI_UNAVAILABLE"),
        ("nothing", empty(200), "WIKI_UNAVAILABLE"),
        ("other JSON", other, "WIKI_ERROR"),
        ("no pages", no_pages, "WIKI_ERROR"),
        ("404", html(404), "WIKI_UNAVAILABLE"),
        ("408", html(408), "WIKI_UNAVAILABLE"),
        ("500 HTML", html(500), "WIKI_UNAVAILABLE"),
        ("500 empty", empty(500), "WIKI_UNAVAILABLE"),
        ("500 of something else", else_fails, "WIKI_ERROR"),
        ("502", html(502), "WIKI_UNAVAILABLE"),
        ("503", later, "WIKI_UNAVAILABLE"),
        ("504", html(504), "WIKI_UNAVAILABLE"),
        ("302", to(302), "WIKI_UNAVAILABLE"),
        ("307", to(307), "WIKI_UNAVAILABLE"),
        ("40 MB", Reply::Huge, "TOO_LARGE"),
    ]
}

/// Answers of what stands before the wiki that refuse: it may have let the request through all
/// the same.
fn refusals_before_the_wiki() -> Vec<(&'static str, Reply, &'static str)> {
    let later = |seconds: &str| html(429).header("retry-after", seconds);
    vec![
        ("401", html(401), "PERMISSION_DENIED"),
        ("403", html(403), "PERMISSION_DENIED"),
        ("413", html(413), "TOO_LARGE"),
        ("429", html(429), "RATE_LIMITED"),
        ("429, soon", later("1"), "RATE_LIMITED"),
        ("429, much later", later("86400"), "RATE_LIMITED"),
        ("429, never", later("18446744073709551615"), "RATE_LIMITED"),
    ]
}

/// Answers of the wiki itself that refuse, each with the code that is told as the cause.
fn refusing_replies() -> Vec<(&'static str, Reply, &'static str)> {
    let revoked = named(500, "API Key is invalid or was revoked.");
    let disabled = named(500, "API is disabled. You must enable it first.");
    vec![
        ("key revoked", revoked, "KEY_REJECTED"),
        ("API off", disabled, "API_DISABLED"),
        ("400", named(400, "Unknown type"), "WIKI_ERROR"),
    ]
}

/// An answer of success, for a create with the id of a page.
fn success(kind: Kind, id: i64) -> Reply {
    let result = json!({ "succeeded": true, "errorCode": 0, "slug": "ok", "message": "Done." });
    let mut answer = json!({ "responseResult": result });
    if matches!(kind, Kind::Create) {
        answer["page"] = json!({ "id": id });
    }
    let step = kind.step();
    json_of(200, &json!({ "data": { "pages": { (step): answer } } }))
}

struct Case {
    name: String,
    kind: Kind,
    fault: Fault,
    outcome: Outcome,
    cause: &'static str,
}

fn cases(elsewhere: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, reach, reply: &Reply, outcome, cause| {
        cases.extend(KINDS.map(|kind| Case {
            name: format!("{kind:?}, {name}, {reach:?}"),
            kind,
            fault: Fault::new(reach, reply.clone()),
            outcome,
            cause,
        }));
    };
    let open = open_replies(elsewhere).into_iter();
    for (name, reply, cause) in open.chain(refusals_before_the_wiki()) {
        add(name, Reach::Before, &reply, Outcome::Applied, cause);
        add(name, Reach::Afterwards, &reply, Outcome::Unknown, cause);
        // What comes late is found the same way whatever was answered: a few will do.
        if matches!(name, "cut" | "silence" | "HTML" | "502" | "413") {
            add(name, Reach::Meanwhile, &reply, Outcome::Applied, cause);
        }
    }
    for (name, reply, cause) in refusing_replies() {
        add(name, Reach::Never, &reply, Outcome::NotApplied, cause);
    }
    for (name, reach) in [("well", Reach::Before), ("sent twice", Reach::Twice)] {
        add(name, reach, &Reply::Wiki, Outcome::Applied, "");
    }
    cases
}

/// A server before whose wiki something misbehaves.
async fn served(wiki: &DemoWiki, set: impl FnOnce(Setup) -> Setup) -> (FaultyWiki, Served) {
    let faulty = FaultyWiki::before(wiki).await;
    let setup = Setup::at(&faulty.address(), &wiki.keys().scripter);
    let served = set(setup).serve().await;
    faulty.watch(served.dir.path());
    (faulty, served)
}

/// A server that soon gives a silent wiki up.
fn short(mut setup: Setup) -> Setup {
    setup.patience = SHORT;
    setup
}

/// A write that was shown: its tool, and the arguments that confirm it.
async fn shown(served: &Served, kind: Kind, wiki: &DemoWiki) -> (&'static str, Value) {
    let (tool, mut arguments) = kind.call(wiki);
    let preview = served.call(tool, arguments.clone()).await.unwrap();
    arguments["confirm"] = preview["confirm"].clone();
    (tool, arguments)
}

/// The outcome that is told, and the code and cause of an error.
fn outcome_of(answer: &Result<Value, Value>) -> (&str, &str, &str) {
    match answer {
        Ok(applied) => (applied["outcome"].as_str().unwrap(), "", ""),
        Err(error) => {
            let detail = |name: &str| error["details"][name].as_str().unwrap_or_default();
            let code = error["code"].as_str().unwrap();
            (detail("outcome"), code, detail("cause"))
        }
    }
}

async fn prove(it: Case) {
    let (name, kind, fault) = (it.name, it.kind, it.fault);
    let (outcome, cause) = (it.outcome, it.cause);
    let is_silent = matches!(fault.reply, Reply::Silence | Reply::Drip);
    let warning = match (fault.reach, kind, cause) {
        // The second update finds the page as the first left it, and succeeds.
        (_, _, "") if fault.reach != Reach::Twice => None,
        (Reach::Twice, Kind::Update, _) => None,
        (Reach::Twice, ..) | (_, _, "PERMISSION_DENIED" | "RATE_LIMITED") => Some(OTHERWISE),
        (_, _, "TOO_LARGE") if name.contains("413") => Some(OTHERWISE),
        _ => Some("answer_was_no_success: "),
    };
    let wiki = sample_wiki().await;
    let before = timeless_pages(&wiki);
    let promised = kind.applied_to(&before);
    let (faulty, served) = served(&wiki, |mut setup| {
        let is_open = outcome == Outcome::Unknown;
        setup.patience = if is_open { SHORT } else { LONG };
        let limit = if is_silent { "600" } else { "60000" };
        setup.with("WIKI_HTTP_WRITE_TIMEOUT_MS", limit)
    })
    .await;
    faulty.on_mutations(fault);
    let (tool, arguments) = kind.call(&wiki);
    let answer = served.confirmed(tool, arguments).await;

    // What is told.
    let refusal = match (warning, kind, cause) {
        (Some(OTHERWISE), Kind::Create | Kind::Move, "") => " PAGE_EXISTS".to_owned(),
        (Some(OTHERWISE), Kind::Delete, "") => " PAGE_NOT_FOUND".to_owned(),
        (Some(OTHERWISE), _, cause) => format!(" {cause}"),
        _ => String::new(),
    };
    let (code, record) = match outcome {
        Outcome::Applied => ("", refusal),
        Outcome::NotApplied => ("NOT_APPLIED", " NOT_APPLIED".to_owned()),
        _ => ("OUTCOME_UNKNOWN", " OUTCOME_UNKNOWN".to_owned()),
    };
    let why = if code.is_empty() { "" } else { cause };
    assert_eq!(
        outcome_of(&answer),
        (outcome.as_str(), code, why),
        "{name}: {answer:?}"
    );
    if let Ok(applied) = &answer {
        let warnings = applied.get("warnings").and_then(Value::as_array);
        let warnings = warnings.into_iter().flatten();
        let told: Vec<String> = warnings.map(said).collect();
        let is_it = |told: &String| warning.is_some_and(|warning| told.starts_with(warning));
        let count = usize::from(warning.is_some());
        assert_eq!(told.len(), count, "{name}: {told:?}");
        assert!(told.iter().all(is_it), "{name}: {told:?}");
    }
    // What is true.
    let now = timeless_pages(&wiki);
    match outcome {
        Outcome::Applied => assert_eq!(now, promised, "{name}"),
        _ => assert_eq!(now, before, "{name}"),
    }
    faulty.let_late_ones_through().await;
    let is_same = outcome == Outcome::NotApplied;
    let pages = timeless_pages(&wiki);
    assert_eq!(pages, if is_same { before } else { promised }, "{name}");
    // What went out, and what was on record by then.
    let attempts: Vec<usize> = faulty.mutations().iter().map(|it| it.attempts).collect();
    assert_eq!(attempts, [1], "{name}");
    // What is on record now.
    let end = format!("{}{record}", outcome.as_str());
    assert_eq!(served.told(), story(kind, &end), "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn in_every_fault_a_write_goes_out_once_and_is_told_as_it_is() {
    let elsewhere = FaultyWiki::alone().await;
    let places = Arc::new(Semaphore::new(12));
    let mut walk = JoinSet::new();
    for case in cases(&elsewhere.address()) {
        let places = Arc::clone(&places);
        walk.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            prove(case).await;
        });
    }
    while let Some(proven) = walk.join_next().await {
        proven.unwrap();
    }
    // The key does not travel.
    assert_eq!(elsewhere.seen(), []);
}

/// How many requests a confirmed call makes before it sends.
async fn reads_before_sending(kind: Kind) -> usize {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| setup).await;
    let served = served.acquainted().await;
    let (tool, arguments) = shown(&served, kind, &wiki).await;
    let first = faulty.seen().len();
    served.call(tool, arguments).await.unwrap();
    let seen = faulty.seen();
    let sent = seen.iter().skip(first).position(|seen| seen.is_mutation);
    sent.unwrap()
}

#[tokio::test]
async fn a_connection_that_never_opened_sent_nothing() {
    for kind in KINDS {
        let wiki = sample_wiki().await;
        let before = timeless_pages(&wiki);
        let (faulty, served) = served(&wiki, |setup| setup).await;
        let served = served.acquainted().await;
        let (tool, arguments) = shown(&served, kind, &wiki).await;
        faulty.close_at(reads_before_sending(kind).await - 1);
        let answer = served.call(tool, arguments).await;
        assert_eq!(
            outcome_of(&answer),
            ("not_applied", "NOT_APPLIED", "WIKI_UNAVAILABLE"),
            "{kind:?}: {answer:?}"
        );
        assert_eq!(timeless_pages(&wiki), before);
        assert_eq!(faulty.mutations(), []);
        assert_eq!(served.told(), story(kind, "not_applied NOT_APPLIED"));
    }
}

#[tokio::test]
async fn a_write_is_settled_in_time_by_a_wiki_that_falls_silent_after_it() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, short).await;
    faulty.on_mutations(Fault::new(Reach::Before, Reply::Cut));
    faulty.on_reads_after_mutation(Fault::new(Reach::Never, Reply::Silence));
    let (tool, arguments) = Kind::Update.call(&wiki);
    let began = Instant::now();
    let answer = served.confirmed(tool, arguments).await;
    let told = outcome_of(&answer);
    assert_eq!(told, ("unknown", "OUTCOME_UNKNOWN", "WIKI_UNAVAILABLE"));
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    let expected = [
        "preview",
        "attempt update",
        "outcome update unknown OUTCOME_UNKNOWN",
    ];
    assert_eq!(served.told(), expected);
}

#[tokio::test]
async fn a_move_that_is_known_is_taken_back_though_the_rest_of_its_write_is_not() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| short(setup).toolsets("pages,undo")).await;
    let id = id_of(&wiki, "releases/2-4");
    let first = json!({ "id": id_of(&wiki, "home"), "title": "First" });
    is_applied(&served, UPDATE, first).await;
    // The wiki's move gives it another title, which an update puts back (W14).
    wiki.with_store(|store| "2-4".clone_into(&mut store.page_mut(id).unwrap().title));
    faulty.on_mutation_number(1, Fault::new(Reach::Never, html(502)));
    let moved = json!({ "id": id, "path": "releases/new" });
    let failed = served.confirmed(UPDATE, moved).await.unwrap_err();
    assert_eq!(failed["code"], "OUTCOME_UNKNOWN", "{failed}");
    assert_eq!(failed["details"]["movedTo"], "releases/new", "{failed}");
    faulty.recovers();
    // It is the session's last: no older write is meant.
    let undone = is_applied(&served, UNDO, json!({ "callId": "last" })).await;
    assert_eq!(undone["undoes"], failed["details"]["callId"]);
    let back = wiki.with_store(|store| store.page(id).unwrap().clone());
    assert_eq!((&*back.path, &*back.title), ("releases/2-4", "2-4"));
}

#[tokio::test]
async fn last_means_no_older_write_than_one_whose_outcome_is_unknown() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| short(setup).toolsets("pages,undo")).await;
    let first = json!({ "id": id_of(&wiki, "home"), "title": "First" });
    is_applied(&served, UPDATE, first).await;
    faulty.on_mutations(Fault::new(Reach::Never, html(502)));
    let (tool, arguments) = Kind::Update.call(&wiki);
    confirmed_fails(&served, tool, arguments, "OUTCOME_UNKNOWN").await;
    faulty.recovers();
    let refused = fails(
        &served,
        UNDO,
        json!({ "callId": "last" }),
        "NOTHING_TO_UNDO",
    )
    .await;
    says(&refused["message"], "is not known");
}

#[tokio::test]
async fn of_a_set_with_an_unknown_change_the_others_are_taken_back() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| short(setup).toolsets("pages,drafts,undo")).await;
    let ids = ["home", "docs", "releases/2-4"].map(|path| id_of(&wiki, path));
    let tags = || ids.map(|id| wiki.with_store(|store| store.page(id).unwrap().tags.clone()));
    let before = tags();
    faulty.on_mutation_number(1, Fault::new(Reach::Never, html(502)));
    let tagged = json!({ "ids": ids, "addTags": ["new"] });
    let failed = served.confirmed(BULK, tagged).await.unwrap_err();
    assert_eq!(failed["code"], "OUTCOME_UNKNOWN", "{failed}");
    says(&failed["hint"], "onConflict: \"skip\"");
    faulty.recovers();
    let mut undo = json!({ "callId": failed["details"]["callId"] });
    let refused = fails(&served, UNDO, undo.clone(), "NOTHING_TO_UNDO").await;
    says(&refused["hint"], "onConflict: \"skip\"");
    undo["onConflict"] = "skip".into();
    let done = served.confirmed(UNDO, undo).await.unwrap();
    says(
        &done["leftOut"][0]["why"],
        "whether it was applied is not known",
    );
    assert_eq!(tags(), before);
}

#[tokio::test]
async fn an_absurd_wait_that_is_asked_for_while_a_write_is_settled_breaks_nothing() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, short).await;
    let never = html(429).header("retry-after", "18446744073709551615");
    faulty.on_mutations(Fault::new(Reach::Before, Reply::Cut));
    faulty.on_reads_after_mutation(Fault::new(Reach::Never, never));
    let (tool, arguments) = Kind::Update.call(&wiki);
    let answer = served.confirmed(tool, arguments).await;
    let told = outcome_of(&answer);
    assert_eq!(told, ("unknown", "OUTCOME_UNKNOWN", "WIKI_UNAVAILABLE"));
    let expected = [
        "preview",
        "attempt update",
        "outcome update unknown OUTCOME_UNKNOWN",
    ];
    assert_eq!(served.told(), expected);
}

#[tokio::test]
async fn an_update_that_is_half_done_is_waited_for() {
    let wiki = sample_wiki().await;
    wiki.set_stepwise_updates(Duration::from_millis(150));
    let (faulty, served) = served(&wiki, |mut setup| {
        setup.patience = LONG;
        setup
    })
    .await;
    faulty.on_mutations(Fault::new(Reach::Meanwhile, Reply::Cut));
    let id = id_of(&wiki, PAGE);
    let change = json!({ "id": id, "title": "Two four", "tags": ["late"] });
    // Half of it would be believed after these.
    let answer = served.confirmed(UPDATE, change).await;
    assert_eq!(outcome_of(&answer), ("applied", "", ""), "{answer:?}");
    let page = wiki.with_store(|store| store.page(id).unwrap().clone());
    assert_eq!(page.title.as_str(), "Two four");
    assert_eq!(page.tags, vec!["late".to_owned()]);
}

#[tokio::test]
async fn an_update_that_stays_half_done_is_partly_applied() {
    let wiki = sample_wiki().await;
    wiki.set_stepwise_updates(Duration::from_hours(1));
    let (faulty, served) = served(&wiki, |mut setup| {
        // The last reading has the time of `apart` to come in.
        setup.patience.settling = Duration::from_secs(2);
        setup.patience.apart = Duration::from_secs(1);
        setup
    })
    .await;
    faulty.on_mutations(Fault::new(Reach::Meanwhile, Reply::Cut));
    let id = id_of(&wiki, PAGE);
    let change = json!({ "id": id, "title": "Two four", "tags": ["late"] });
    let error = confirmed_fails(&served, UPDATE, change, "PARTLY_APPLIED").await;
    error["details"].shows(json!({ "outcome": "partly_applied", "fields": ["tags"] }));
    let expected = [
        "preview",
        "attempt update",
        "outcome update partly_applied PARTLY_APPLIED",
    ];
    assert_eq!(served.told(), expected);
}

#[tokio::test]
async fn after_a_move_an_update_without_an_answer_is_unknown_and_a_refused_one_leaves_the_rest() {
    let refused = Fault::new(Reach::Never, named(400, "Unknown type"));
    let late = Fault::new(Reach::Afterwards, Reply::Cut);
    for (fault, code, outcome, step) in [
        (
            refused,
            "PARTLY_APPLIED",
            "partly_applied",
            "not_applied PARTLY_APPLIED",
        ),
        (
            late,
            "OUTCOME_UNKNOWN",
            "unknown",
            "unknown OUTCOME_UNKNOWN",
        ),
    ] {
        let wiki = sample_wiki().await;
        let (faulty, served) = served(&wiki, short).await;
        faulty.on_mutations_after(1, fault);
        let id = id_of(&wiki, PAGE);
        let change = json!({ "id": id, "path": "releases/two-four", "title": "Two four" });
        let error = served.confirmed(UPDATE, change).await.unwrap_err();
        let page = wiki.with_store(|store| store.page(id).unwrap().clone());
        assert_eq!(page.path.as_str(), "releases/two-four");
        assert_eq!(page.title.as_str(), "Release 2.4");
        assert_eq!(error["code"], code, "{error}");
        assert_eq!(error["details"]["outcome"], outcome);
        if code == "PARTLY_APPLIED" {
            assert_eq!(error["details"]["fields"], json!(["title"]));
        }
        let attempts: Vec<usize> = faulty.mutations().iter().map(|it| it.attempts).collect();
        assert_eq!(attempts, [1, 2]);
        let expected = [
            "preview".to_owned(),
            "attempt move".to_owned(),
            "outcome move applied".to_owned(),
            "attempt update".to_owned(),
            format!("outcome update {step}"),
        ];
        assert_eq!(served.told(), expected);
        faulty.let_late_ones_through().await;
    }
}

#[tokio::test]
async fn a_place_that_another_client_took_first_leaves_a_create_not_applied() {
    let (wiki, served) = sample(Setup::scripter).await;
    wiki.before_next_mutation(|store| {
        store.add(titled("faults/new", "Theirs", "theirs"));
    });
    let answer = served.confirmed(CREATE, new_page("faults/new")).await;
    assert_eq!(
        outcome_of(&answer),
        ("not_applied", "NOT_APPLIED", "PAGE_EXISTS"),
        "{answer:?}"
    );
    let expected = [
        "preview",
        "attempt create",
        "outcome create not_applied NOT_APPLIED",
    ];
    assert_eq!(served.told(), expected);
}

/// A page that stands at a create's place when the wiki refuses it, though the place was free just
/// before: made by the same request, which a proxy sent twice, or by somebody else.
#[tokio::test]
async fn a_create_that_is_refused_since_its_page_is_there_is_compared_with_it() {
    let ago = |seconds: i64| {
        let at = time::OffsetDateTime::now_utc() - time::Duration::seconds(seconds);
        wikijs_gate::page::Date::from_instant(at)
            .unwrap()
            .as_str()
            .to_owned()
    };
    let promised = titled("faults/new", "New", "# New\n");
    let dated = |seconds| promised.clone().but(|row| row.created_at = ago(seconds));
    let differing = promised
        .clone()
        .but(|row| row.tags = vec!["theirs".to_owned()]);
    for (name, page, expected) in [
        ("as promised", promised.clone(), ("applied", "", "")),
        (
            "otherwise",
            differing,
            ("not_applied", "NOT_APPLIED", "PAGE_EXISTS"),
        ),
        (
            "a year old",
            dated(31_536_000),
            ("not_applied", "NOT_APPLIED", "PAGE_EXISTS"),
        ),
        // It is not surely its own, so the wiki's word holds.
        (
            "a minute old",
            dated(60),
            ("not_applied", "NOT_APPLIED", "PAGE_EXISTS"),
        ),
    ] {
        let (wiki, served) = sample(|wiki| Setup::scripter(wiki).toolsets("pages,undo")).await;
        wiki.before_next_mutation(|store| {
            store.add(page);
        });
        let create = new_page("faults/new");
        let answer = served.confirmed(CREATE, create).await;
        assert_eq!(outcome_of(&answer), expected, "{name}: {answer:?}");
        let id = id_of(&wiki, "faults/new");
        if let Ok(applied) = &answer {
            assert_eq!(applied["target"]["id"], id);
            begins(&said(&applied["warnings"][0]), "answered_otherwise: ");
            undone_by_force_alone(&wiki, &served, applied).await;
        } else {
            // A page that may be another's is not on record, and never taken away.
            let outcome = served.records().pop().unwrap();
            assert_eq!((outcome.id, outcome.found), (None, None), "{name}");
            let undo = json!({ "callId": "last" });
            confirmed_fails(&served, UNDO, undo, "NOTHING_TO_UNDO").await;
            assert_eq!(id_of(&wiki, "faults/new"), id);
        }
    }
}

/// The record has the refusal of a create that counts as applied; only force deletes its page.
async fn undone_by_force_alone(wiki: &DemoWiki, served: &Served, applied: &Value) {
    let (id, call) = (
        &applied["target"]["id"],
        applied["callId"].as_str().unwrap(),
    );
    let outcome = served.records().pop().unwrap();
    assert_eq!(outcome.outcome, Some(Outcome::Applied));
    assert_eq!(outcome.code.as_deref(), Some("PAGE_EXISTS"));
    let reason = outcome.reason.unwrap();
    assert!(reason.starts_with("Answered with a refusal: "), "{reason}");
    let command = Command::new(&["audit", "show", call]).log_of(&wiki.address(), served.dir.path());
    let shown = command.end().await;
    for line in [
        "  code          PAGE_EXISTS\n",
        "  reason        Answered with a refusal: ",
    ] {
        assert!(shown.told.contains(line), "{}", shown.told);
    }
    let mut undo = json!({ "callId": applied["callId"] });
    let refused = fails(served, UNDO, undo.clone(), "EDIT_CONFLICT").await;
    assert_eq!(refused["details"]["refusal"], "PAGE_EXISTS", "{refused}");
    assert_eq!(&refused["details"]["id"], id, "{refused}");
    undo["force"] = true.into();
    let forced = served.call(UNDO, undo.clone()).await;
    let forced = forced.unwrap();
    let warnings = forced["warnings"].as_array().unwrap();
    let is_told = warnings.iter().any(|one| one["code"] == "takes_along");
    assert!(is_told, "{forced}");
    undo["confirm"] = forced["confirm"].clone();
    served.call(UNDO, undo).await.unwrap();
    wiki.with_store(|store| assert!(store.page_at("en", "faults/new").is_none()));
}

/// Something answers in the wiki's place: success, with the id of another page.
#[tokio::test]
async fn a_page_that_the_answer_of_a_create_names_is_not_taken_for_the_page_that_it_made() {
    for reach in [Reach::Before, Reach::Never] {
        let wiki = sample_wiki().await;
        let (faulty, served) = served(&wiki, |setup| short(setup).toolsets("pages,undo")).await;
        let other = id_of(&wiki, PAGE);
        faulty.on_mutations(Fault::new(reach, success(Kind::Create, other)));
        let create = new_page("faults/new");
        let answer = served.confirmed(CREATE, create).await;
        faulty.on_mutations(Fault::new(Reach::Before, Reply::Wiki));
        let records = served.records();
        let recorded = records.last().unwrap();
        let call = recorded.call.unwrap().to_string();
        let undo = json!({ "callId": call, "force": true });
        if reach == Reach::Never {
            assert_eq!(outcome_of(&answer), ("unknown", "OUTCOME_UNKNOWN", ""));
            assert_eq!((recorded.id, recorded.found), (None, None));
            confirmed_fails(&served, UNDO, undo, "NOTHING_TO_UNDO").await;
        } else {
            let applied = answer.unwrap();
            let made = id_of(&wiki, "faults/new");
            applied["target"].shows(json!({ "id": made, "path": "faults/new" }));
            begins(&said(&applied["warnings"][0]), "answered_otherwise: ");
            assert_eq!(recorded.id, Some(made));
            served.confirmed(UNDO, undo).await.unwrap();
            wiki.with_store(|store| assert!(store.page(made).is_none()));
        }
        wiki.with_store(|store| assert!(store.page(other).is_some()));
    }
}

#[tokio::test]
async fn a_success_without_effect_is_unknown_and_nothing_is_said_to_have_happened() {
    for kind in KINDS {
        let wiki = sample_wiki().await;
        let before = timeless_pages(&wiki);
        let (faulty, served) = served(&wiki, |setup| short(setup).toolsets("pages,undo")).await;
        faulty.on_mutations(Fault::new(Reach::Never, success(kind, 4_711)));
        let (tool, arguments) = kind.call(&wiki);
        let answer = served.confirmed(tool, arguments).await;
        let told = outcome_of(&answer);
        assert_eq!(told, ("unknown", "OUTCOME_UNKNOWN", ""), "{kind:?}");
        let message = answer.unwrap_err()["message"].to_string();
        assert!(!message.contains("happened"), "{kind:?}: {message}");
        assert_eq!(timeless_pages(&wiki), before);
        let undo = json!({ "callId": "last" });
        let error = served.confirmed(UNDO, undo).await.unwrap_err();
        assert_eq!(error["code"], "NOTHING_TO_UNDO", "{kind:?}");
    }
}

/// A fault of a read: its name, whether it passes, and the code that it ends in.
fn read_faults(elsewhere: &str) -> Vec<(&'static str, Reply, bool, &'static str)> {
    let passing = [
        "cut",
        "cut inside",
        "reset",
        "silence",
        "drip",
        "garbage",
        "408",
        "500 HTML",
        "500 empty",
        "502",
        "503",
        "504",
    ];
    let mut faults: Vec<_> = open_replies(elsewhere)
        .into_iter()
        .map(|(name, reply, code)| (name, reply, passing.contains(&name), code))
        .collect();
    let refusing = refusing_replies().into_iter();
    faults.extend(
        refusing
            .chain(refusals_before_the_wiki())
            .map(|(name, reply, code)| {
                // A wait of a second fits into the total, a day does not.
                let is_passing = matches!(name, "429" | "429, soon");
                (name, reply, is_passing, code)
            }),
    );
    faults
}

async fn read(served: &Served, wiki: &DemoWiki) -> Result<Value, Value> {
    let id = id_of(wiki, PAGE);
    served.call(BY_ID, json!({ "id": id })).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_read_is_tried_again_where_that_may_help_and_nowhere_else() {
    let elsewhere = FaultyWiki::alone().await;
    let mut walk = JoinSet::new();
    for (name, reply, is_passing, code) in read_faults(&elsewhere.address()) {
        walk.spawn(async move {
            let wiki = sample_wiki().await;
            let is_silent = matches!(reply, Reply::Silence | Reply::Drip);
            let limit = if is_silent { "300" } else { "60000" };
            let (faulty, served) = served(&wiki, |setup| {
                setup
                    .with("WIKI_HTTP_TIMEOUT_MS", limit)
                    .with("WIKI_HTTP_MAX_RETRIES", "1")
            })
            .await;
            faulty.on_reads(usize::MAX, Fault::new(Reach::Never, reply.clone()));
            let error = read(&served, &wiki).await.unwrap_err();
            assert_eq!(error["code"], code, "{name}: {error}");
            let tries = 1 + usize::from(is_passing);
            assert_eq!(faulty.seen().len(), tries, "{name}");
            // What a body says is not repeated.
            assert!(!error.to_string().contains("Sign in"), "{name}: {error}");
            if is_passing {
                faulty.on_reads(1, Fault::new(Reach::Never, reply));
                let page = read(&served, &wiki).await.unwrap();
                assert_eq!(page["title"], "Release 2.4", "{name}");
                // The first answer is the time to ask whose key it is.
                assert_eq!(faulty.seen().len(), tries + 3, "{name}");
            }
            // A read leaves no record.
            assert_eq!(served.records(), []);
        });
    }
    while let Some(proven) = walk.join_next().await {
        proven.unwrap();
    }
    assert_eq!(elsewhere.seen(), []);
}

#[tokio::test]
async fn a_read_ends_within_its_total_time_however_many_tries_are_left() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| {
        setup
            .with("WIKI_HTTP_TIMEOUT_MS", "100")
            .with("WIKI_HTTP_RETRY_TOTAL_MS", "700")
            .with("WIKI_HTTP_MAX_RETRIES", "10")
    })
    .await;
    faulty.on_reads(usize::MAX, Fault::new(Reach::Never, Reply::Silence));
    let began = Instant::now();
    let error = read(&served, &wiki).await.unwrap_err();
    assert_eq!(error["code"], "TIMEOUT");
    // Tries of 100 ms with waits of 200 ms and more between them: four at most.
    assert!(
        (1..=4).contains(&faulty.seen().len()),
        "{:?}",
        faulty.seen()
    );
    assert!(began.elapsed() < SOON);
}

#[tokio::test]
async fn a_wait_that_is_asked_for_is_kept_if_it_fits_into_the_total() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| {
        setup.with("WIKI_HTTP_RETRY_TOTAL_MS", "30000")
    })
    .await;
    let wait = |seconds: &str| Fault::new(Reach::Never, html(429).header("retry-after", seconds));
    faulty.on_reads(1, wait("1"));
    let began = Instant::now();
    read(&served, &wiki).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1));
    faulty.on_reads(1, wait("31"));
    let error = read(&served, &wiki).await.unwrap_err();
    assert_eq!(error["code"], "RATE_LIMITED");
    assert_eq!(error["details"]["retryAfterSeconds"], 31);
    // Once it was asked whose key it is.
    assert_eq!(faulty.seen().len(), 4);
    // Once more than a second has gone by, this one and that are over what can be counted.
    faulty.on_reads(1, wait("1"));
    faulty.then_on_reads(1, wait(&u64::MAX.to_string()));
    let error = read(&served, &wiki).await.unwrap_err();
    assert_eq!(error["code"], "RATE_LIMITED", "{error}");
}

#[tokio::test]
async fn an_answer_that_swells_when_unpacked_is_cut_off() {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..40 {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n".to_owned();
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| setup).await;
    let reply = Reply::Say(head, packed.finish().unwrap());
    faulty.on_reads(1, Fault::new(Reach::Never, reply));
    let error = read(&served, &wiki).await.unwrap_err();
    assert_eq!(error["code"], "TOO_LARGE");
    assert_eq!(faulty.seen().len(), 1);
}

#[tokio::test]
async fn with_the_port_closed_a_read_says_so() {
    let wiki = sample_wiki().await;
    let (faulty, served) = served(&wiki, |setup| setup).await;
    faulty.close_at(0);
    read(&served, &wiki).await.unwrap();
    let error = read(&served, &wiki).await.unwrap_err();
    assert_eq!(error["code"], "WIKI_UNAVAILABLE");
    // A write needs a read first, so it goes nowhere either.
    let (tool, arguments) = Kind::Delete.call(&wiki);
    fails(&served, tool, arguments, "WIKI_UNAVAILABLE").await;
    assert_eq!(served.told(), ["refusal WIKI_UNAVAILABLE"]);
}

/// A wiki as it is with many pages: rebuilding the tree takes long, and two at once fail.
async fn slow_wiki() -> DemoWiki {
    let wiki = sample_wiki().await;
    wiki.set_tree_rebuild_time(Duration::from_millis(300));
    wiki.set_tree_rebuild_conflicts(true);
    wiki
}

#[tokio::test]
async fn two_creates_at_once_both_end_applied() {
    for has_two_servers in [false, true] {
        let wiki = slow_wiki().await;
        let one = Setup::scripter(&wiki).serve().await;
        let two = Setup::scripter(&wiki).in_dir_of(&one).serve().await;
        let second = if has_two_servers { &two } else { &one };
        let titled = |path: &str| {
            let mut page = new_page(path);
            page["title"] = json!(path);
            page
        };
        let (first, second) = tokio::join!(
            one.confirmed(CREATE, titled("twins/first")),
            second.confirmed(CREATE, titled("twins/second"))
        );
        for (answer, path) in [(first, "twins/first"), (second, "twins/second")] {
            let applied = answer.unwrap();
            assert_eq!(applied["outcome"], "applied");
            // Neither met the other's rebuild.
            assert_eq!(applied.get("warnings"), None);
            assert_eq!(applied["target"]["id"], id_of(&wiki, path));
        }
        assert_eq!(mutations(&wiki).len(), 2);
        let records = one.records();
        let sent: Vec<_> = records
            .iter()
            .filter(|record| matches!(record.event, AuditEvent::Attempt | AuditEvent::Outcome))
            .map(|record| (record.call, record.event))
            .collect();
        // One after the other: each attempt is followed by its own outcome.
        assert_eq!(sent.len(), 4);
        for pair in sent.chunks(2) {
            assert_eq!(pair[0].0, pair[1].0);
            assert_eq!(pair[0].1, AuditEvent::Attempt);
            assert_eq!(pair[1].1, AuditEvent::Outcome);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_servers_on_one_audit_directory_lose_nothing() {
    let (wiki, one) = sample(Setup::scripter).await;
    let two = Setup::scripter(&wiki).in_dir_of(&one).serve().await;
    let ids: Vec<i64> = wiki.with_store(|store| store.pages().map(|page| page.id).collect());
    let (odd, even): (Vec<i64>, Vec<i64>) = ids.iter().partition(|id| *id % 2 == 1);
    let write = async |served: &Served, ids: &[i64], name: &str| {
        let mut calls = Vec::new();
        for id in ids {
            let change = json!({ "id": id, "description": name });
            let applied = is_applied(served, UPDATE, change).await;
            calls.push(applied["callId"].as_str().unwrap().to_owned());
        }
        let path = format!("both/{name}");
        let created = served.confirmed(CREATE, new_page(&path)).await;
        calls.push(created.unwrap()["callId"].as_str().unwrap().to_owned());
        calls
    };
    let (by_one, by_two) = tokio::join!(write(&one, &odd, "one"), write(&two, &even, "two"));
    one.app.writer.finish().await;
    two.app.writer.finish().await;
    assert_eq!(runs(one.dir.path()).len(), 2);
    let mut made = [by_one, by_two].concat();
    made.sort();
    assert_eq!(made.len(), mutations(&wiki).len());
    let records = one.records();
    for event in [AuditEvent::Attempt, AuditEvent::Outcome] {
        let mut calls: Vec<String> = records
            .iter()
            .filter(|record| record.event == event)
            .map(|record| record.call.unwrap().to_string())
            .collect();
        calls.sort();
        assert_eq!(calls, made);
    }
}

#[tokio::test]
async fn an_answer_that_names_the_trees_rebuild_is_applied_with_a_warning() {
    const THEIRS: &str = "mutation { pages { create(path: \"theirs\", title: \"T\", content: \"c\",
        description: \"\", editor: \"markdown\", isPublished: true, isPrivate: false,
        locale: \"en\", tags: []) { responseResult { succeeded } } } }";
    for kind in [Kind::Create, Kind::Move, Kind::Delete] {
        let (wiki, served) = sample(Setup::scripter).await;
        let (tool, arguments) = shown(&served, kind, &wiki).await;
        wiki.set_tree_rebuild_time(Duration::from_secs(2));
        wiki.set_tree_rebuild_conflicts(true);
        let second = WikiClient::new(&wiki, Some(&wiki.keys().admin));
        let theirs = tokio::spawn(async move { second.run(THEIRS, json!({})).await });
        while wiki.with_store(|store| store.page_at("en", "theirs").is_none()) {
            tokio::task::yield_now().await;
        }
        let applied = served.call(tool, arguments).await.unwrap();
        assert_eq!(applied["outcome"], "applied", "{kind:?}");
        let warnings = applied["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1, "{kind:?}: {warnings:?}");
        begins(&said(&warnings[0]), "wiki_index_incomplete: ");
        theirs.abort();
        assert_eq!(mutations(&wiki).len(), 2);
        assert_eq!(served.told(), story(kind, "applied"));
    }
}

/// What a write of this kind leaves on record, which ends so.
fn story(kind: Kind, end: &str) -> [String; 3] {
    let step = kind.step();
    [
        "preview".to_owned(),
        format!("attempt {step}"),
        format!("outcome {step} {end}"),
    ]
}

/// A confirmed write whose mutation has reached the wiki, and whose answer is held back.
async fn held(wiki: &DemoWiki) -> (FaultyWiki, Served, CallToolRequest) {
    let (faulty, served) = served(wiki, |setup| {
        let setup = setup.toolsets("pages,undo");
        setup.with("WIKI_HTTP_WRITE_TIMEOUT_MS", "60000")
    })
    .await;
    let (tool, arguments) = shown(&served, Kind::Update, wiki).await;
    faulty.on_mutations(Fault::new(Reach::Before, Reply::WikiHeld));
    let mut params = CallToolRequestParams::new(tool);
    params.arguments = arguments.as_object().cloned();
    (faulty, served, CallToolRequest::new(params))
}

/// The call under way.
async fn sent(served: &Served, request: CallToolRequest) -> RequestHandle<RoleClient> {
    let options = PeerRequestOptions::no_options();
    let call = served
        .client
        .send_cancellable_request(request.into(), options);
    call.await.unwrap()
}

const SETTLED: [&str; 3] = ["preview", "attempt update", "outcome update applied"];

#[tokio::test]
async fn a_cancelled_call_leaves_no_sent_write_unrecorded() {
    let wiki = sample_wiki().await;
    let (faulty, served, request) = held(&wiki).await;
    let call = sent(&served, request).await;
    faulty.mutations_arrive(1).await;
    call.cancel(Some("enough".to_owned())).await.unwrap();
    // Answered behind the cancellation, which has therefore arrived.
    served.client.list_tools(None).await.unwrap();
    assert_eq!(served.told(), SETTLED[..2]);
    faulty.let_late_ones_through().await;
    served.app.writer.finish().await;
    assert_eq!(served.told(), SETTLED);
    assert_eq!(faulty.mutations().len(), 1);
}

#[tokio::test]
async fn what_a_cancelled_call_wrote_is_the_last_write_of_its_session() {
    let wiki = sample_wiki().await;
    let (faulty, served, request) = held(&wiki).await;
    let call = sent(&served, request).await;
    faulty.mutations_arrive(1).await;
    call.cancel(None).await.unwrap();
    served.client.list_tools(None).await.unwrap();
    faulty.let_late_ones_through().await;
    let shown = async {
        let last = json!({ "callId": "last" });
        loop {
            // Nothing to take back as long as the write is under way.
            match served.call(UNDO, last.clone()).await {
                Ok(shown) if shown.get("warnings").is_none() => return shown,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    let shown = tokio::time::timeout(Duration::from_secs(20), shown).await;
    let shown = shown.expect("it becomes the session's own last write");
    let written = served.records().iter().find_map(|record| {
        let is_outcome = record.event == AuditEvent::Outcome;
        is_outcome.then_some(record.call).flatten()
    });
    assert_eq!(shown["undoes"], written.unwrap().to_string());
}

#[tokio::test]
async fn updates_of_two_pages_by_token_do_not_wait_for_each_other() {
    let wiki = sample_wiki().await;
    let (faulty, served, request) = held(&wiki).await;
    let other = json!({ "id": id_of(&wiki, "docs"), "title": "Another" });
    let shown = served.call(UPDATE, other.clone()).await.unwrap();
    let _call = sent(&served, request).await;
    faulty.mutations_arrive(1).await;
    faulty.on_mutations(Fault::new(Reach::Before, Reply::Wiki));
    let confirm = json!({ "id": other["id"], "confirm": shown["confirm"] });
    is_applied(&served, UPDATE, confirm).await;
    faulty.let_late_ones_through().await;
    served.app.writer.finish().await;
}

#[tokio::test]
async fn a_client_that_left_leaves_no_sent_write_unrecorded() {
    let wiki = sample_wiki().await;
    let (faulty, served, request) = held(&wiki).await;
    let _call = sent(&served, request).await;
    faulty.mutations_arrive(1).await;
    let Served { client, app, dir } = served;
    client.cancel().await.unwrap();
    // The end of the server waits for the write.
    let finish = tokio::spawn(async move { app.writer.finish().await });
    faulty.let_late_ones_through().await;
    finish.await.unwrap();
    let records = records(dir.path());
    assert_eq!(told(&records), SETTLED);
    assert_eq!(records.last().unwrap().event, AuditEvent::Closed);
    assert_eq!(faulty.mutations().len(), 1);
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_its_write_is_sent_sends_nothing() {
    let wiki = sample_wiki().await;
    let (faulty, served, request) = held(&wiki).await;
    let so_far = faulty.seen().len();
    faulty.on_reads(usize::MAX, Fault::new(Reach::Before, Reply::WikiHeld));
    let call = sent(&served, request).await;
    faulty.requests_arrive(so_far + 1).await;
    call.cancel(None).await.unwrap();
    served.client.list_tools(None).await.unwrap();
    faulty.let_late_ones_through().await;
    served.app.writer.finish().await;
    assert_eq!(served.told(), SETTLED[..1]);
    assert_eq!(faulty.mutations(), []);
}

#[tokio::test]
async fn a_wiki_that_was_away_is_found_again_and_a_preview_from_before_still_counts() {
    let wiki = sample_wiki().await;
    let relay = Relay::proxy(socket_of(&wiki)).await;
    let address = relay.address;
    let served = Setup::at(&format!("http://{address}"), &wiki.keys().scripter)
        .with("WIKI_HTTP_MAX_RETRIES", "0")
        .serve()
        .await;
    let (tool, arguments) = shown(&served, Kind::Update, &wiki).await;
    relay.gone().await;
    let error = read(&served, &wiki).await.unwrap_err();
    assert_eq!(error["code"], "WIKI_UNAVAILABLE");
    fails(&served, tool, arguments.clone(), "WIKI_UNAVAILABLE").await;
    let _back = Relay::proxy_at(address, socket_of(&wiki)).await;
    is_applied(&served, tool, arguments).await;
    assert_eq!(mutations(&wiki).len(), 1);
}

/// The directory that the audit log of a wiki lies in, below its own.
async fn dir_of(wiki: &str) -> std::ffi::OsString {
    let dir = TempDir::new().unwrap();
    let log = AuditLog::new(dir.path(), wiki);
    let entry = AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal);
    log.record(entry).await.unwrap();
    wiki_dir(dir.path()).file_name().unwrap().to_owned()
}

#[tokio::test]
async fn without_a_record_nothing_is_sent() {
    for kind in KINDS {
        let wiki = sample_wiki().await;
        let before = timeless_pages(&wiki);
        let served = Setup::scripter(&wiki)
            .with("WIKI_MUTATION_CONFIRM_TOKEN", SESAME)
            .serve()
            .await;
        let (tool, mut arguments) = kind.call(&wiki);
        arguments["confirm"] = json!(SESAME);
        let place = served.dir.path();
        let place = place.join(dir_of(&served.app.wiki.settings().name).await);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("runs"), "in the way").unwrap();
        let error = fails(&served, tool, arguments, "AUDIT_UNAVAILABLE").await;
        let disk = served.dir.path().to_str().unwrap();
        assert!(!error.to_string().contains(disk), "{error}");
        assert_eq!(mutations(&wiki).len(), 0);
        assert_eq!(timeless_pages(&wiki), before);
    }
}

/// A disk that is full, as `audit` makes one: a limit on the size of a file.
#[test]
fn a_full_disk_stops_a_write() {
    let dir = tempfile::tempdir().unwrap();
    let shell = "trap '' XFSZ; ulimit -f 16;";
    let part = "writes::faults::childs_part_writes_pages_until_the_disk_is_full";
    let output = child(part, dir.path(), shell).wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}

#[tokio::test]
#[ignore = "a child's part, run by the test of the full disk"]
async fn childs_part_writes_pages_until_the_disk_is_full() {
    if childs_dir().is_none() {
        return;
    }
    let (wiki, served) =
        sample(|wiki| Setup::scripter(wiki).with("WIKI_MUTATION_CONFIRM_TOKEN", SESAME)).await;
    let id = id_of(&wiki, PAGE);
    let mut applied = 0;
    let refused = loop {
        let title = format!("Title {}", applied + 1);
        let change = json!({ "id": id, "title": title, "confirm": SESAME });
        match served.call(UPDATE, change).await {
            Ok(answer) => {
                assert_eq!(answer["outcome"], "applied");
                applied += 1;
            }
            Err(error) => break error,
        }
        assert!(applied < 1_000);
    };
    assert_eq!(refused["code"], "AUDIT_UNAVAILABLE");
    let (tool, mut arguments) = Kind::Delete.call(&wiki);
    arguments["confirm"] = json!(SESAME);
    fails(&served, tool, arguments, "AUDIT_UNAVAILABLE").await;
    assert!(applied > 2);
    assert_eq!(mutations(&wiki).len(), applied);
    assert_eq!(attempts_on_record(served.dir.path()), applied);
    let title = wiki.with_store(|store| store.page(id).unwrap().title.clone());
    assert_eq!(title, format!("Title {applied}"));
}

/// A write that never reached the wiki, while somebody else changed another field.
#[tokio::test]
async fn a_write_that_did_not_happen_is_not_told_as_one_since_somebody_else_wrote() {
    let refusal = json!({ "data": { "pages": { "update": { "responseResult": {
        "succeeded": false, "errorCode": 6009, "slug": "PageUpdateForbidden", "message": "No",
    } } } } });
    let refusal = Reply::say(200, "application/json", &refusal.to_string());
    for (reply, code, outcome) in [
        (Reply::Cut, "OUTCOME_UNKNOWN", "unknown"),
        (refusal, "NOT_APPLIED", "not_applied"),
    ] {
        let wiki = sample_wiki().await;
        let faulty = FaultyWiki::before(&wiki).await;
        let served = Setup::at(&faulty.address(), &wiki.keys().admin)
            .with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please")
            .serve()
            .await;
        let id = id_of(&wiki, "home");
        faulty.on_mutations(Fault::new(Reach::Never, reply));
        // The reading before is the first operation that arrives, the reading back the second.
        wiki.before_operation(1, move |store| {
            store.rewrite(id, |page| page.description = Some("Theirs".to_owned()));
        });
        let edit = json!({ "id": id, "title": "Ours", "confirm": "open-sesame-please" });
        let error = fails(&served, UPDATE, edit, code).await;
        assert_eq!(error["details"]["outcome"], outcome);
    }
}
