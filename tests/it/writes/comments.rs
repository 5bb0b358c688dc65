//! The comments of pages: read, written, and taken back.

use wikijs_gate::demo::CommentRow;

use crate::prelude::*;
use crate::writes::assets::steady_answer;
use crate::writes::kill::is_found_and_taken_back;

const RIGHTS: [&str; 6] = [
    "read:pages",
    "read:source",
    "read:history",
    "read:comments",
    "write:comments",
    "manage:comments",
];

/// A wiki of a few pages, one with two comments, and the id of that page.
async fn commented() -> (DemoWiki, i64, [i64; 2]) {
    let wiki = wiki_of(&[
        ("docs/a", "# A\n"),
        ("docs/b", "# B\n"),
        ("vault/x", "# X\n"),
    ])
    .await;
    let id = id_of(&wiki, "docs/a");
    let made = wiki.with_store(|store| {
        [
            store.add_comment(id, "Ana", "Is this *still* so?"),
            store.add_comment(id, "Ben", "It is. See [b](/en/docs/b)."),
        ]
    });
    (wiki, id, made)
}

fn setup(wiki: &DemoWiki, rights: &[&str]) -> Setup {
    let key = wiki.key_with(rights, "");
    Setup::at(&wiki.address(), &key).toolsets("pages,undo,proposals,comments")
}

/// A server that nobody commented through yet, once the wiki takes a comment again.
async fn served(wiki: &DemoWiki) -> Served {
    wiki.later_for_comments(Duration::from_secs(31));
    setup(wiki, &RIGHTS).serve().await
}

fn comments(wiki: &DemoWiki) -> Vec<CommentRow> {
    wiki.with_store(|store| store.comments().cloned().collect())
}

fn texts(wiki: &DemoWiki) -> Vec<String> {
    let texts = comments(wiki).into_iter().map(|comment| comment.content);
    texts.collect()
}

fn sorted(wiki: &DemoWiki) -> Vec<String> {
    let mut texts = texts(wiki);
    texts.sort();
    texts
}

#[tokio::test]
async fn the_comments_of_a_page_are_read_newest_first() {
    let (wiki, id, [first, second]) = commented().await;
    wiki.with_store(|store| {
        let comment = store.comment_mut(first).unwrap();
        comment.author = "Ana\u{200b}".to_owned();
        comment.updated_at = "2030-01-01T00:00:00.000Z".to_owned();
    });
    let served = served(&wiki).await;
    let mut list = checked_ok(&served, LIST_COMMENTS, json!({ "id": id })).await;
    for comment in list["comments"].as_array_mut().unwrap() {
        assert!(comment["createdAt"].as_str().unwrap().ends_with('Z'));
        comment.as_object_mut().unwrap().remove("createdAt");
    }
    let expected = json!({ "comments": [
            { "comment": second, "authorName": "Ben", "content": "It is. See [b](/en/docs/b)." },
            { "comment": first, "authorName": "Ana\\u{200b}", "content": "Is this *still* so?",
              "updatedAt": "2030-01-01T00:00:00.000Z" },
        ] });
    assert_eq!(list, expected);
    let one = json!({ "id": id, "limit": 1, "offset": 1 });
    let one = served.checked(LIST_COMMENTS, one).await.unwrap();
    assert_eq!(one["comments"][0]["comment"], first);
    assert_eq!(one["total"], 2);
}

#[tokio::test]
async fn a_key_that_may_not_read_sources_reads_what_readers_see() {
    let (wiki, id, [_, second]) = commented().await;
    let served = setup(&wiki, &["read:pages", "read:comments"]).serve().await;
    let list = json!({ "id": id, "comment": second });
    let list = served.checked(LIST_COMMENTS, list).await.unwrap();
    list["comments"][0].shows(json!({ "text": "It is. See b.", "content": null }));
    says(&list["unavailable"]["content"], "write:comments");
    let none = setup(&wiki, &["read:pages"]).serve().await;
    let arguments = json!({ "id": id });
    let refused = fails(&none, LIST_COMMENTS, arguments, "PERMISSION_DENIED").await;
    assert_eq!(refused["details"]["right"], "read:comments");
}

#[tokio::test]
async fn long_comments_are_cut_and_one_alone_is_whole() {
    let (wiki, id, _) = commented().await;
    let long = "é".repeat(10_000);
    let made = wiki.with_store(|store| (0..40).fold(0, |_, _| store.add_comment(id, "Ana", &long)));
    let served = served(&wiki).await;
    let all = json!({ "id": id, "limit": 100 });
    let list = served.checked(LIST_COMMENTS, all).await.unwrap();
    let comments = list["comments"].as_array().unwrap();
    assert!(comments.len() < 42, "{}", comments.len());
    assert_eq!(list["total"], 42);
    assert_eq!(comments[0]["bytes"], 20_000);
    assert_eq!(comments[0]["content"].as_str().unwrap().len(), 4_096);
    let one = json!({ "id": id, "comment": made });
    let one = served.checked(LIST_COMMENTS, one).await.unwrap();
    assert_eq!(one["comments"][0]["content"], long);
    let none = json!({ "id": id, "comment": 9_999 });
    fails(&served, LIST_COMMENTS, none, "PAGE_NOT_FOUND").await;
}

#[tokio::test]
async fn comments_follow_their_page_under_the_bounds_of_reading() {
    let (wiki, id, [first, _]) = commented().await;
    let hidden = id_of(&wiki, "vault/x");
    wiki.with_store(|store| store.add_comment(hidden, "Ana", "xyloquartz"));
    let setup = setup(&wiki, &RIGHTS).with("WIKI_DENIED_READ_PATH_PREFIXES", "vault");
    let bounded = setup.serve().await;
    for (tool, more) in [
        (LIST_COMMENTS, json!({})),
        (ADD_COMMENT, json!({ "content": "Mine" })),
        (UPDATE_COMMENT, json!({ "comment": 3, "content": "Mine" })),
        (DELETE_COMMENT, json!({ "comment": 3 })),
    ] {
        let call = more.but(|more| more["id"] = hidden.into());
        let refused = fails(&bounded, tool, call, "PAGE_NOT_FOUND").await;
        assert!(!refused.to_string().contains("xyloquartz"), "{refused}");
    }
    // A comment is no comment of another page, and moves with its own.
    let other = json!({ "id": id_of(&wiki, "docs/b"), "comment": first });
    fails(&bounded, DELETE_COMMENT, other, "PAGE_NOT_FOUND").await;
    wiki.with_store(|store| store.page_mut(id).unwrap().path = "vault/a".to_owned());
    let arguments = json!({ "id": id });
    fails(&bounded, LIST_COMMENTS, arguments, "PAGE_NOT_FOUND").await;
    assert!(mutations(&wiki).is_empty());
}

#[tokio::test]
async fn a_comment_is_shown_first_then_sent_once_and_taken_back() {
    let (wiki, id, _) = commented().await;
    let served = served(&wiki).await;
    let add = json!({ "id": id, "content": "  Mine,\n\n- a\n- b\n", "note": "asked for" });
    let preview = served.checked(ADD_COMMENT, add).await.unwrap();
    assert!(mutations(&wiki).is_empty());
    assert_eq!(preview["operation"], "add-comment");
    assert_eq!(preview["target"]["path"], "docs/a");
    let wanted = "@@ -0,0 +1,4 @@\n+Mine,\n+\n+- a\n+- b\n\\ No newline at end of file\n";
    assert_eq!(preview["diff"], wanted);
    assert!(warnings(&preview)[0].starts_with("comment_limit: the wiki takes one comment in 15 s"));
    let confirm = json!({ "id": id, "confirm": preview["confirm"] });
    let made = served.checked(ADD_COMMENT, confirm.clone()).await.unwrap();
    made.shows(json!({ "outcome": "applied", "unverified": null }));
    let of_wiki = comments(&wiki).pop().unwrap();
    assert_eq!(made["target"]["comment"], of_wiki.id);
    assert_eq!(of_wiki.page, id);
    assert_eq!(of_wiki.content.as_str(), "Mine,\n\n- a\n- b");
    assert_eq!(mutations(&wiki).len(), 1);
    fails(&served, ADD_COMMENT, confirm, "CONFIRM_EXPIRED").await;

    let undo = json!({ "callId": made["callId"] });
    let undone = served.confirmed(UNDO, undo.clone()).await.unwrap();
    undone.shows(json!({ "operation": "delete-comment", "outcome": "applied" }));
    assert_eq!(texts(&wiki).len(), 2);
    fails(&served, UNDO, undo, "NOTHING_TO_UNDO").await;
    let expected = "preview, attempt add-comment, outcome add-comment applied, \
        refusal CONFIRM_EXPIRED, preview, attempt delete-comment, \
        outcome delete-comment applied, refusal NOTHING_TO_UNDO";
    assert_eq!(served.told().join(", "), expected);
    let mut records = served.records().into_iter();
    let record = records.find(|record| record.step.is_some()).unwrap();
    assert_eq!(record.note.as_deref(), Some("asked for"));
    assert_eq!(record.id, Some(id));
}

#[tokio::test]
async fn a_reply_names_what_cannot_be_read_back_and_answers_only_what_is_there() {
    let (wiki, id, [first, _]) = commented().await;
    let served = served(&wiki).await;
    let reply = json!({ "id": id, "content": "Thanks", "replyTo": first });
    let preview = served.checked(ADD_COMMENT, reply.clone()).await.unwrap();
    assert_eq!(preview["changes"]["replyTo"]["after"], first);
    let made = served.confirmed(ADD_COMMENT, reply).await.unwrap();
    assert_eq!(made["unverified"], json!(["replyTo"]));
    assert_eq!(comments(&wiki).pop().unwrap().reply_to, first);
    for (wrong, code) in [(9_999, "PAGE_NOT_FOUND"), (0, "INVALID_INPUT")] {
        let reply = json!({ "id": id, "content": "Thanks", "replyTo": wrong });
        fails(&served, ADD_COMMENT, reply, code).await;
    }
}

#[tokio::test]
async fn the_limit_of_the_wiki_is_told_before_it_is_hit() {
    let (wiki, id, [first, _]) = commented().await;
    let served = served(&wiki).await;
    let add = |content: &str| json!({ "id": id, "content": content });
    let delete = json!({ "id": id, "comment": first });
    let gone = confirmed_ok(&served, DELETE_COMMENT, delete).await;
    is_applied(&served, ADD_COMMENT, add("One")).await;
    let preview = served.call(ADD_COMMENT, add("Two")).await.unwrap();
    says(&warnings(&preview)[0], "the next from here in ");
    let confirm = json!({ "id": id, "confirm": preview["confirm"] });
    let refused = fails(&served, ADD_COMMENT, confirm.clone(), "RATE_LIMITED").await;
    let left = refused["details"]["retryAfterSeconds"].as_u64().unwrap();
    // All API keys are one account, of which the wiki takes one comment in 30 s.
    assert!((16..=30).contains(&left), "{refused}");
    // An undo that writes a comment anew waits as well, with a token that stays good.
    let mut undo = json!({ "callId": gone["callId"] });
    undo["confirm"] = call_ok(&served, UNDO, undo.clone()).await["confirm"].clone();
    for _ in 0..2 {
        fails(&served, UNDO, undo.clone(), "RATE_LIMITED").await;
    }
    assert_eq!(mutations(&wiki).len(), 2);
}

#[tokio::test]
async fn what_the_wiki_refuses_for_its_limits_was_not_written() {
    let (wiki, id, _) = commented().await;
    let first = served(&wiki).await;
    let add = |content: &str| json!({ "id": id, "content": content });
    first.confirmed(ADD_COMMENT, add("One")).await.unwrap();
    // Other servers know nothing of it.
    for (later, seconds) in [(0, 15), (16, 30)] {
        wiki.later_for_comments(Duration::from_secs(later));
        let other = setup(&wiki, &RIGHTS).serve().await;
        let refused = confirmed_fails(&other, ADD_COMMENT, add("One"), "NOT_APPLIED").await;
        assert_eq!(refused["details"]["cause"], "RATE_LIMITED");
        says(&refused["hint"], "a preview's token is used up");
        let left = refused["details"]["retryAfterSeconds"].as_u64().unwrap();
        assert!((seconds - 10..=seconds).contains(&left), "{refused}");
    }
    assert_eq!(texts(&wiki).len(), 3);
}

#[tokio::test]
async fn a_comment_is_changed_and_changed_back_unless_somebody_was_there_meanwhile() {
    let (wiki, id, [first, _]) = commented().await;
    let served = served(&wiki).await;
    let change = json!({ "id": id, "comment": first, "content": "Was this so?" });
    let changed = confirmed_ok(&served, UPDATE_COMMENT, change.clone()).await;
    changed.shows(json!({ "outcome": "applied", "operation": "change-comment" }));
    assert_eq!(changed["changed"], json!(["content"]));
    assert_eq!(texts(&wiki)[0], "Was this so?");
    let same = served.confirmed(UPDATE_COMMENT, change).await.unwrap();
    assert_eq!(same["outcome"], "unchanged");

    // Moved and retitled, the page is still the comment's.
    wiki.with_store(|store| {
        let page = store.page_mut(id).unwrap();
        page.path = "docs/elsewhere".to_owned();
        page.title = "Other".to_owned();
    });
    let undo = json!({ "callId": changed["callId"] });
    wiki.with_store(|store| store.comment_mut(first).unwrap().content = "Theirs".to_owned());
    fails(&served, UNDO, undo.clone(), "EDIT_CONFLICT").await;
    let forced = json!({ "callId": changed["callId"], "force": true });
    let undone = served.confirmed(UNDO, forced).await.unwrap();
    assert_eq!(undone["target"]["path"], "docs/elsewhere");
    assert_eq!(texts(&wiki)[0], "Is this *still* so?");
}

#[tokio::test]
async fn a_confirmed_change_of_a_comment_that_changed_is_a_conflict() {
    let (wiki, id, [first, _]) = commented().await;
    let served = served(&wiki).await;
    let change = json!({ "id": id, "comment": first, "content": "Was this so?" });
    let preview = served.call(UPDATE_COMMENT, change).await.unwrap();
    wiki.with_store(|store| store.comment_mut(first).unwrap().content = "Theirs".to_owned());
    let confirm = json!({ "id": id, "confirm": preview["confirm"] });
    let conflict = fails(&served, UPDATE_COMMENT, confirm, "EDIT_CONFLICT").await;
    // The tool has no such argument.
    lacks(&conflict["hint"], "ifUpdatedAt");
    says(&conflict["details"]["diff"], "+Theirs");
    assert!(mutations(&wiki).is_empty());
}

#[tokio::test]
async fn a_deleted_comment_comes_back_anew_and_what_cannot_is_said_before() {
    let (wiki, id, [first, _]) = commented().await;
    let server = served(&wiki).await;
    let delete = json!({ "id": id, "comment": first });
    let preview = checked_ok(&server, DELETE_COMMENT, delete.clone()).await;
    begins(
        &warnings(&preview)[0],
        "cannot_return: undo can write the comment anew",
    );
    let gone = confirmed_ok(&server, DELETE_COMMENT, delete.clone()).await;
    gone.shows(json!({ "outcome": "applied", "operation": "delete-comment" }));
    assert_eq!(texts(&wiki), ["It is. See [b](/en/docs/b)."]);
    fails(&server, DELETE_COMMENT, delete, "PAGE_NOT_FOUND").await;
    wiki.with_store(|store| store.page_mut(id).unwrap().path = "docs/moved".to_owned());
    let undo = json!({ "callId": gone["callId"] });
    let back = server.confirmed(UNDO, undo).await.unwrap();
    back.shows(json!({ "outcome": "applied", "operation": "add-comment" }));
    assert_eq!(back["target"]["path"], "docs/moved");
    let anew = comments(&wiki).pop().unwrap();
    assert_eq!(anew.content.as_str(), "Is this *still* so?");
    assert_eq!(anew.author.as_str(), "API");
    assert_ne!(anew.id, first);
}

#[tokio::test]
async fn gates_hold_for_the_page_of_a_comment() {
    let (wiki, id, [first, _]) = commented().await;
    let add = json!({ "id": id, "content": "Mine" });
    let denied = "WIKI_DENIED_MUTATION_PATH_PREFIXES";
    let only = "WIKI_ALLOWED_MUTATION_PATH_PREFIXES";
    for (name, value, code) in [
        ("WIKI_MUTATIONS_ENABLED", "false", "MUTATIONS_DISABLED"),
        (denied, "docs/a", "PATH_DENIED"),
        (only, "other", "PATH_NOT_ALLOWED"),
    ] {
        let served = setup(&wiki, &RIGHTS).with(name, value).serve().await;
        fails(&served, ADD_COMMENT, add.clone(), code).await;
    }
    let rule = "[[rules]]\nname = \"none\"\noperations = [\"delete-comment\"]\nthen = \"deny\"\nwhy = \"People talk there.\"\n";
    let ruled = setup(&wiki, &RIGHTS).with_tables(rule).serve().await;
    let delete = json!({ "id": id, "comment": first });
    fails(&ruled, DELETE_COMMENT, delete, "RULE_DENIED").await;
    let change = json!({ "id": id, "comment": first, "content": "Was it?" });
    ruled.confirmed(UPDATE_COMMENT, change).await.unwrap();
    let body = "MIIB".repeat(20);
    let secret = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n");
    let secret = json!({ "id": id, "content": secret });
    fails(&ruled, ADD_COMMENT, secret, "RULE_DENIED").await;
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test]
async fn an_answer_that_is_lost_is_found_out_by_reading() {
    let (wiki, id, _) = commented().await;
    wiki.later_for_comments(Duration::from_secs(31));
    // A comment of the same text was there before.
    wiki.with_store(|store| store.add_comment(id, "Ana", "Mine"));
    let setup = setup(&wiki, &RIGHTS).with("WIKI_HTTP_WRITE_TIMEOUT_MS", "1000");
    let served = setup.serve().await;
    wiki.set_write_delay(Duration::from_millis(1_200));
    let add = json!({ "id": id, "content": "Mine" });
    let made = is_applied(&served, ADD_COMMENT, add).await;
    assert_eq!(made["target"]["comment"], comments(&wiki).pop().unwrap().id);
    assert_eq!(texts(&wiki).len(), 4);
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test]
async fn bad_comments_are_refused_before_anything_is_sent() {
    let (wiki, id, _) = commented().await;
    let served = served(&wiki).await;
    for content in ["", " x ", "\u{feff}y\n", "a\0b"] {
        let add = json!({ "id": id, "content": content });
        fails(&served, ADD_COMMENT, add, "INVALID_INPUT").await;
    }
    let none = json!({ "id": 9_999, "content": "Mine" });
    fails(&served, ADD_COMMENT, none, "PAGE_NOT_FOUND").await;
    let reader = setup(&wiki, &["read:pages", "read:comments"]).serve().await;
    let add = json!({ "id": id, "content": "Mine" });
    let refused = reader.confirmed(ADD_COMMENT, add).await.unwrap_err();
    assert_eq!(refused["details"]["right"], "write:comments", "{refused}");
    assert_eq!(texts(&wiki).len(), 2);
}

#[tokio::test]
async fn comments_of_a_dry_run_are_proposals_of_their_own() {
    let (wiki, id, [first, _]) = commented().await;
    let served = setup(&wiki, &RIGHTS).dry().serve().await;
    let one = json!({ "id": id, "content": "One" });
    let one = served.call(ADD_COMMENT, one).await.unwrap();
    let two = json!({ "id": id, "content": "Two" });
    let two = served.call(ADD_COMMENT, two).await.unwrap();
    assert_eq!((one.get("replaces"), two.get("replaces")), (None, None));
    let change = |content: &str| json!({ "id": id, "comment": first, "content": content });
    let change_one = served.call(UPDATE_COMMENT, change("A?")).await.unwrap();
    let change_two = served.call(UPDATE_COMMENT, change("B?")).await.unwrap();
    assert_eq!(change_two["replaces"], change_one["proposal"]);
    // No list of pages has comments.
    let open = served.call(LIST_PROPOSALS, json!({})).await.unwrap();
    let states = members(&open, "proposals", "state");
    assert_eq!(states, ["unchecked", "replaced", "unchecked", "unchecked"]);
    let shown = json!({ "id": two["proposal"] });
    let shown = served.call(GET_PROPOSAL, shown).await.unwrap();
    assert!(shown.to_string().contains("add-comment"), "{shown}");
    assert!(mutations(&wiki).is_empty());
}

/// A comment told step by step: what docs/comments.md shows.
#[tokio::test]
async fn the_walk_in_the_docs_is_what_the_program_says() {
    let (wiki, id, [first, _]) = commented().await;
    let address = wiki.address();
    let shown = |marker: &str, answer: &Value| {
        let told = steady_answer(answer, &address);
        generated("docs/comments.md", marker, &told, str::to_owned);
    };
    let server = served(&wiki).await;
    let call = async |tool, arguments| checked_ok(&server, tool, arguments).await;
    shown("list", &call(LIST_COMMENTS, json!({ "id": id })).await);
    let add = json!({ "id": id, "content": "Thanks, both.", "replyTo": first });
    let preview = call(ADD_COMMENT, add).await;
    shown("preview", &preview);
    let confirm = json!({ "id": id, "confirm": preview["confirm"] });
    let made = call(ADD_COMMENT, confirm).await;
    shown("added", &made);
    let soon = json!({ "id": id, "content": "And thanks again." });
    let soon = call(ADD_COMMENT, soon).await;
    let confirm = json!({ "id": id, "confirm": soon["confirm"] });
    let mut refused = server.call(ADD_COMMENT, confirm).await.unwrap_err();
    refused["details"]["retryAfterSeconds"] = 30.into();
    shown("limit", &refused);
    let delete = json!({ "id": id, "comment": first });
    shown("delete", &call(DELETE_COMMENT, delete).await);
    let undo = json!({ "callId": made["callId"] });
    shown("undone", &server.confirmed(UNDO, undo).await.unwrap());
}

/// The three writes of a comment.
fn writes(id: i64, comment: i64) -> [(&'static str, Value); 3] {
    let add = json!({ "id": id, "content": "Mine", "replyTo": comment });
    let change = json!({ "id": id, "comment": comment, "content": "Mine" });
    let delete = json!({ "id": id, "comment": comment });
    [
        (ADD_COMMENT, add),
        (UPDATE_COMMENT, change),
        (DELETE_COMMENT, delete),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_becomes_of_an_answer_a_comment_is_sent_once_and_its_outcome_true() {
    for (reach, reply) in [
        (Reach::Before, Reply::Silence),
        (Reach::Before, Reply::Cut),
        (Reach::Twice, Reply::Wiki),
        (Reach::Never, Reply::Silence),
    ] {
        // Each of the three writes waits for a wiki of its own.
        let writes = (0..3).map(|number| is_sent_once(number, reach, reply.clone()));
        futures_util::future::join_all(writes).await;
    }
}

/// Sends a write of a comment once, whose answer is this one.
async fn is_sent_once(number: usize, reach: Reach, reply: Reply) {
    let (wiki, id, [first, _]) = commented().await;
    wiki.later_for_comments(Duration::from_secs(31));
    let before = sorted(&wiki);
    let faulty = FaultyWiki::before(&wiki).await;
    let setup = Setup::at(&faulty.address(), &wiki.keys().admin).toolsets("pages,undo,comments");
    let setup = setup.with("WIKI_HTTP_WRITE_TIMEOUT_MS", "1000");
    let served = setup.serve().await;
    let (tool, arguments) = writes(id, first)[number].clone();
    faulty.on_mutations(Fault::new(reach, reply));
    let told = served.confirmed(tool, arguments).await;
    assert_eq!(faulty.mutations().len(), 1, "{tool}");
    if reach == Reach::Never {
        assert_eq!(told.unwrap_err()["code"], "OUTCOME_UNKNOWN", "{tool}");
        assert_eq!(sorted(&wiki), before);
        return;
    }
    let made = told.unwrap();
    assert_eq!(made["outcome"], "applied", "{tool}");
    faulty.recovers();
    // What an undo adds anew comes within the wiki's limits.
    wiki.later_for_comments(Duration::from_secs(31));
    let undo = json!({ "callId": made["callId"] });
    served.confirmed(UNDO, undo).await.unwrap();
    assert_eq!(sorted(&wiki), before, "{tool}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_leaves_comments_that_the_next_one_finds_and_takes_back() {
    for number in 0..3 {
        let (wiki, id, [first, _]) = commented().await;
        wiki.later_for_comments(Duration::from_secs(31));
        let write = writes(id, first)[number].clone();
        is_found_and_taken_back(&wiki, "comments", write, sorted).await;
    }
}

#[tokio::test]
async fn a_proposed_comment_is_applied_by_a_person_if_it_still_fits() {
    let (wiki, id, [first, second]) = commented().await;
    let dry = setup(&wiki, &RIGHTS).dry().serve().await;
    let apply = async |proposed: &Value| {
        wiki.later_for_comments(Duration::from_secs(31));
        let id = proposed["proposal"].as_str().unwrap();
        let command = Command::operator(&wiki, &dry, &["proposals", "apply", id, "--yes"]);
        let command = command.with("WIKI_DENIED_MUTATION_PATH_PREFIXES", "vault");
        command.writing().end().await
    };
    for (tool, arguments) in writes(id, first) {
        let proposed = dry.call(tool, arguments).await.unwrap();
        apply(&proposed).await.good();
        let again = apply(&proposed).await;
        assert_ne!(again.code, 0, "{}", again.told);
    }
    assert_eq!(texts(&wiki), ["It is. See [b](/en/docs/b).", "Mine"]);
    // Neither of what changed since, nor where the page went.
    let change = json!({ "id": id, "comment": second, "content": "Ours" });
    let change = dry.call(UPDATE_COMMENT, change).await.unwrap();
    let add = json!({ "id": id, "content": "More" });
    let add = dry.call(ADD_COMMENT, add).await.unwrap();
    wiki.with_store(|store| {
        store.comment_mut(second).unwrap().content = "Theirs".to_owned();
        store.page_mut(id).unwrap().path = "vault/a".to_owned();
    });
    let refused = apply(&change).await;
    says(&refused.told, "PROPOSAL_OUTDATED");
    let refused = apply(&add).await;
    assert!(refused.told.contains("PATH_DENIED"), "{}", refused.told);
    assert_eq!(texts(&wiki), ["Theirs", "Mine"]);
}

#[tokio::test]
async fn a_deletion_says_how_many_comments_go_with_the_page() {
    let (wiki, id, _) = commented().await;
    let rights = [&RIGHTS[..], &["write:pages", "delete:pages"]].concat();
    let warned = async |rights: &[&str], id: i64| {
        let served = setup(&wiki, rights).serve().await;
        let all = warnings(&call_ok(&served, DELETE, json!({ "id": id })).await).into_iter();
        { all }.find(|one| one.starts_with("cannot_return: "))
    };
    let two = "cannot_return: 2 comments go with the page, and undo brings none of them back.";
    assert_eq!(warned(&rights, id).await.as_deref(), Some(two));
    let without = id_of(&wiki, "docs/b");
    assert_eq!(warned(&rights, without).await, None);
    // A key that reads no comments cannot know.
    let blind = rights.iter().copied();
    let blind: Vec<&str> = blind.filter(|right| !right.contains("comments")).collect();
    assert_eq!(warned(&blind, id).await, None);
}

#[tokio::test]
async fn all_that_a_client_wrote_goes_back_but_for_comments_which_are_named() {
    let (wiki, id, [first, _]) = commented().await;
    let more = ["write:pages", "manage:pages", "delete:pages"];
    let rights = [&RIGHTS[..], &more].concat();
    let served = setup(&wiki, &rights).serve().await;
    let change = json!({ "id": id, "comment": first, "content": "Mine" });
    served.confirmed(UPDATE_COMMENT, change).await.unwrap();
    let page = json!({ "id": id_of(&wiki, "docs/b"), "title": "Mine" });
    served.confirmed(UPDATE, page).await.unwrap();
    let client = served.records();
    let client = client.iter().find_map(|record| record.client.clone());
    let name = client.unwrap().name;
    let undo = ["undo", "--client", &name, "--since", "1h", "--yes"];
    let ended = Command::operator(&wiki, &served, &undo)
        .writing()
        .end()
        .await;
    says(&ended.told, "call by call");
    assert_eq!(texts(&wiki)[0], "Mine");
}
