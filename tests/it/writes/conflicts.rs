//! No silent overwrite: what a page is held against, and what is told of what was overwritten.

use crate::prelude::*;

/// The rights of a key that reads no history.
const BLIND: [&str; 4] = ["read:pages", "read:source", "write:pages", "manage:pages"];
const SINCE_THIS_CALL: &str = "since this call only: ifUpdatedAt checks since your reading";

/// Somebody else's edit: a real write, which leaves a version behind.
async fn somebody_edits(wiki: &DemoWiki, id: i64, arguments: Value) {
    let other = Setup::admin(wiki).serve().await;
    let mut arguments = arguments;
    arguments["id"] = json!(id);
    other.confirmed(UPDATE, arguments).await.unwrap();
    wiki.clear_requests();
}

async fn update(served: &Served, arguments: Value) -> Result<Value, Value> {
    served.confirmed(UPDATE, arguments).await
}

/// The state of a page as a session reads it.
async fn read_by_id(served: &Served, id: i64) -> Value {
    call_ok(served, BY_ID, json!({ "id": id })).await
}

/// Writes over the page's text in the wiki itself.
fn becomes(wiki: &DemoWiki, id: i64, text: &str) {
    wiki.with_store(|store| text.clone_into(&mut store.page_mut(id).unwrap().content));
}

#[tokio::test]
async fn a_page_that_is_newer_than_the_caller_says_is_a_conflict() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    let known = served.call(LIST, json!({ "limit": 1 })).await.unwrap()["pages"][0].clone();
    assert_eq!(known["id"], id);
    let asked = json!({ "title": "Theirs", "content": "Theirs.\n" });
    somebody_edits(&wiki, id, asked).await;
    wiki.with_store(|store| "Bea".clone_into(&mut store.page_mut(id).unwrap().author));
    let time = &known["updatedAt"];
    let edit = json!({ "id": id, "description": "x", "ifUpdatedAt": time });
    for (tool, arguments) in [
        (UPDATE, edit),
        (DELETE, json!({ "id": id, "ifUpdatedAt": time })),
    ] {
        let error = fails(&served, tool, arguments, "EDIT_CONFLICT").await;
        error["details"].shows(json!({ "fields": ["title", "content"], "changedBy": "Bea" }));
        says(&error["details"]["diff"], "+Theirs.");
    }
    assert_eq!(mutations(&wiki).len(), 0);
    let now = read_by_id(&served, id).await["updatedAt"].clone();
    let arguments = json!({ "id": id, "description": "x", "ifUpdatedAt": now });
    let applied = update(&served, arguments).await.unwrap();
    applied.shows(json!({ "outcome": "applied", "conflictCheck": null }));
}

#[tokio::test]
async fn a_conflict_shows_little_of_what_changed_and_more_in_full() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    read_by_id(&served, id).await;
    let theirs = "A line that somebody else wrote.\n".repeat(2_000);
    let theirs = json!({ "content": theirs });
    somebody_edits(&wiki, id, theirs).await;
    let ours = json!({ "id": id, "content": "Ours.\n" });
    let brief = fails(&served, UPDATE, ours.clone(), "EDIT_CONFLICT").await;
    let bytes = brief.to_string().len();
    assert!(bytes < 8_000, "{bytes} bytes: {brief}");
    let part = "+A line that somebody else wrote.";
    says(&brief["details"]["diff"], part);
    says(&brief["hint"], "detail \"full\" shows more");
    let whole = fails(&served, UPDATE, full(ours), "EDIT_CONFLICT").await;
    let bytes = whole.to_string().len();
    assert!((24_000..48_000).contains(&bytes), "{bytes} bytes");
    lacks(&whole["hint"], "detail \"full\"");
}

#[tokio::test]
async fn a_change_of_content_is_held_against_what_the_session_read() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    // Not read yet: only the state of this very call counts, and the answer says so.
    is_applied(&served, UPDATE, json!({ "id": id, "content": "One.\n" })).await;
    let unread = json!({ "id": id_of(&wiki, "docs"), "content": "x" });
    let unread = call_ok(&served, UPDATE, unread).await;
    assert_eq!(unread["conflictCheck"], SINCE_THIS_CALL);
    // Its own write counts as read; somebody else's after it is a conflict.
    is_applied(&served, UPDATE, json!({ "id": id, "content": "Two.\n" })).await;
    somebody_edits(&wiki, id, json!({ "content": "Theirs.\n" })).await;
    let third = json!({ "id": id, "content": "Three.\n" });
    confirmed_fails(&served, UPDATE, third, "EDIT_CONFLICT").await;
    // A change of something else is not held against it.
    is_applied(&served, UPDATE, json!({ "id": id, "title": "Mine" })).await;
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test]
async fn a_page_that_was_only_touched_is_no_conflict() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    let page = read_by_id(&served, id).await;
    // A page that it links to came or went: another time, no version.
    wiki.with_store(|store| store.touch(id));
    let arguments = json!({ "id": id, "content": "x", "ifUpdatedAt": page["updatedAt"] });
    let applied = update(&served, arguments).await.unwrap();
    assert_eq!(applied["outcome"], "applied");
}

#[tokio::test]
async fn what_was_overwritten_between_reading_and_sending_is_told() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    wiki.before_next_mutation(move |store| {
        store.rewrite(id, |page| "Theirs.\n".clone_into(&mut page.content));
    });
    let applied = is_applied(&served, UPDATE, json!({ "id": id, "title": "Mine" })).await;
    let author = "Administrator (account 1: that person, or any API key)";
    let part = format!("overwrote_newer: \"{author}\" changed content");
    begins(&said(&applied["warnings"][0]), &part);
    // Nobody wrote: nothing is told.
    let applied = is_applied(&served, UPDATE, json!({ "id": id, "title": "Mine again" })).await;
    assert_eq!(applied.get("warnings"), None);
}

#[tokio::test]
async fn without_read_history_the_answer_says_that_it_was_not_checked() {
    let wiki = sample_wiki().await;
    let key = wiki.key_with(&[&BLIND[..], &["delete:pages"]].concat(), "");
    let served = Setup::at(&wiki.address(), &key).serve().await;
    let id = id_of(&wiki, "home");
    let page = read_by_id(&served, id).await;
    let applied = is_applied(&served, UPDATE, json!({ "id": id, "title": "Mine" })).await;
    assert!(said(&applied["warnings"][0]).starts_with("overwrite_not_checked:"));
    let stale = json!({ "id": id, "title": "Stale", "ifUpdatedAt": page["updatedAt"] });
    let error = confirmed_fails(&served, UPDATE, stale, "EDIT_CONFLICT").await;
    assert!(error["message"].as_str().unwrap().contains("read:history"));
}

#[tokio::test]
async fn changes_that_do_not_touch_are_offered_merged_and_never_written_unasked() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    becomes(&wiki, id, "One.\n\nTwo.\n\nThree.\n");
    // With and without the right to read the history: the base is a version, or what was read.
    let unread = wiki.key_with(&BLIND, "");
    for key in [wiki.keys().editor.clone(), unread] {
        let served = Setup::at(&wiki.address(), &key).serve().await;
        let page = read_by_id(&served, id).await;
        let content = page["content"].as_str().unwrap();
        let theirs = content.replace("One", "One of theirs");
        somebody_edits(&wiki, id, json!({ "content": theirs })).await;
        let edit = json!({ "oldText": "Three.", "newText": "Three of ours." });
        let ours = json!({ "id": id, "edits": [edit] });
        let error = fails(&served, UPDATE, ours, "EDIT_CONFLICT").await;
        let merged = &error["details"]["merged"];
        merged.shows(json!({ "linesAdded": 1, "linesRemoved": 1 }));
        let diff = merged["diff"].as_str().unwrap();
        says(&diff, "+Three of ours.");
        lacks(&diff, "+One");
        assert_eq!(mutations(&wiki).len(), 0);

        let confirmed = json!({ "id": id, "confirm": merged["confirm"] });
        is_applied(&served, UPDATE, confirmed).await;
        let stored = wiki.with_store(|store| store.page_mut(id).unwrap().content.clone());
        assert_eq!(stored, theirs.replace("Three.", "Three of ours."));
        let events = served.told();
        says(&events.join(", "), "preview");
        becomes(&wiki, id, content);
    }
}

#[tokio::test]
async fn changes_that_touch_or_are_of_other_fields_are_not_merged() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let (theirs, ours) = ("Theirs.\n\nTwo.\n", "One.\n\nOurs.\n");
    let of_title = json!({ "content": ours, "title": "Ours" });
    for (theirs, ours) in json_rows::<(Value, Value)>(&json!([
        [{ "content": "One.\nTheirs.\n" }, { "content": "One.\nOurs.\n" }],
        [{ "content": theirs, "title": "Theirs" }, { "content": ours }],
        [{ "content": theirs }, of_title],
    ])) {
        becomes(&wiki, id, "One.\n\nTwo.\n");
        let served = Setup::editor(&wiki).serve().await;
        read_by_id(&served, id).await;
        somebody_edits(&wiki, id, theirs).await;
        let ours = ours.but(|ours| ours["id"] = json!(id));
        let error = confirmed_fails(&served, UPDATE, ours, "EDIT_CONFLICT").await;
        assert_eq!(error["details"].get("merged"), None, "{error}");
    }
}

#[tokio::test]
async fn a_merged_change_gets_a_token_only_where_tokens_are_given() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let sesame = "open-sesame-please";
    for (name, value, mut ours) in json_rows::<(&str, &str, Value)>(&json!([
        ["WIKI_MUTATION_DRY_RUN", "true", {}],
        ["WIKI_MUTATION_CONFIRM_TOKEN", sesame, { "confirm": sesame }],
    ])) {
        becomes(&wiki, id, "One.\n\nTwo.\n");
        let setup = Setup::editor(&wiki).with(name, value);
        let served = setup.serve().await;
        read_by_id(&served, id).await;
        somebody_edits(&wiki, id, json!({ "content": "Theirs.\n\nTwo.\n" })).await;
        ours["id"] = json!(id);
        ours["content"] = json!("One.\n\nOurs.\n");
        let error = served.call(UPDATE, ours).await.unwrap_err();
        let merged = &error["details"]["merged"];
        assert!(merged["diff"].as_str().unwrap().contains("+Ours."));
        assert_eq!(merged.get("confirm"), None);
        assert_eq!(mutations(&wiki).len(), 0);
    }
}

/// A session has read the page and has the token of a preview. While it confirms, somebody
/// else writes right before one of our operations.
#[tokio::test]
async fn a_second_client_between_any_two_requests_is_never_overwritten_in_silence() {
    const OURS: &str = "One.\n\nOurs.\n";
    const THEIRS: &str = "Theirs.\n";
    let mut seen = Vec::new();
    for number in 0.. {
        let wiki = sample_wiki().await;
        let id = id_of(&wiki, "home");
        let served = Setup::editor(&wiki).serve().await;
        let arguments = json!({ "id": id, "content": OURS });
        let preview = served.call(UPDATE, arguments).await.unwrap();
        wiki.clear_requests();
        wiki.before_operation(number, move |store| {
            store.rewrite(id, |page| THEIRS.clone_into(&mut page.content));
        });
        let confirmed = json!({ "id": id, "confirm": preview["confirm"] });
        let answer = served.call(UPDATE, confirmed).await;
        if wiki.requests().len() <= number {
            break;
        }
        let content = wiki.with_store(|store| store.page(id).unwrap().content.clone());
        let warnings = |answer: &Value| answer["warnings"].to_string();
        seen.push(match &answer {
            Err(error) if error["code"] == "EDIT_CONFLICT" => {
                assert_eq!((content.as_str(), mutations(&wiki).len()), (THEIRS, 0));
                "conflict"
            }
            Ok(applied) if warnings(applied).contains("overwrote_newer") => {
                // Theirs is the version that ours left behind, and is named.
                assert_eq!(content, OURS);
                let history = served.call(HISTORY, json!({ "id": id })).await;
                let version = history.unwrap()["entries"][0]["versionId"].clone();
                assert!(warnings(applied).contains(&format!("version {version}")));
                "overwrote"
            }
            Ok(applied) if warnings(applied).contains("changed_since") => {
                // Written, and then overwritten by somebody else, whose version has ours.
                assert_eq!(content.as_str(), THEIRS);
                assert_eq!(applied["outcome"], "applied");
                let told = warnings(applied);
                let history = served.call(HISTORY, json!({ "id": id })).await;
                let version = history.unwrap()["entries"][0]["versionId"].clone();
                assert!(told.contains(&format!("version {version}")), "{told}");
                says(&told, "somebody changed content, and \\\"");
                let mut codes = members(applied, "warnings", "code");
                codes.retain(|code| !["much_removed", "heading_dropped"].contains(code));
                assert_eq!(codes.len(), 1, "{told}");
                "changed since"
            }
            Ok(applied) => {
                // After our reading back: nothing of theirs was touched.
                assert_eq!(content.as_str(), THEIRS);
                assert_eq!(applied["outcome"], "applied");
                "later"
            }
            Err(error) => panic!("{number}: {error}"),
        });
    }
    assert_eq!(seen, ["conflict", "overwrote", "changed since", "later"]);
}

/// Without the history nobody can know whether a text that is not there was there.
#[tokio::test]
async fn an_edit_before_the_reading_back_is_told_as_far_as_it_can_be_known() {
    type Act = fn(&mut wikijs_gate::demo::PageRow);
    let content: Act = |page| "Theirs.\n".clone_into(&mut page.content);
    let both: Act = |page| {
        "Theirs.\n".clone_into(&mut page.content);
        "Theirs".clone_into(&mut page.title);
    };
    let ours = json!({ "title": "Ours", "content": "Ours.\n" });
    let title = json!({ "title": "Ours" });
    let text = json!({ "content": "Ours.\n" });
    let since = ("applied", "changed_since: ");
    let (unknown, partly) = (
        ("unknown", "OUTCOME_UNKNOWN"),
        ("partly_applied", "PARTLY_APPLIED"),
    );
    for (may_read_history, ours, theirs, expected) in [
        (true, ours.clone(), both, since),
        (true, title.clone(), content, since),
        (false, ours.clone(), both, unknown),
        // What is surely seen happened.
        (false, ours, content, partly),
        (false, title, content, partly),
        (false, text, content, unknown),
    ] {
        let wiki = sample_wiki().await;
        let id = id_of(&wiki, "home");
        let mut rights = BLIND.to_vec();
        rights.extend(may_read_history.then_some("read:history"));
        let setup = Setup::at(&wiki.address(), &wiki.key_with(&rights, ""));
        let served = setup.serve().await;
        let mut arguments = ours.clone();
        arguments["id"] = json!(id);
        let preview = served.call(UPDATE, arguments).await.unwrap();
        // The reading, the mutation, the reading back.
        wiki.before_operation(2, move |store| store.rewrite(id, theirs));
        let confirmed = json!({ "id": id, "confirm": preview["confirm"] });
        let answer = served.call(UPDATE, confirmed).await;
        let told = match &answer {
            Ok(applied) => {
                let mut warnings = applied["warnings"].as_array().unwrap().iter().rev();
                (&applied["outcome"], warnings.next().map(said).unwrap())
            }
            Err(error) => {
                let code = error["code"].as_str().unwrap();
                (&error["details"]["outcome"], code.to_owned())
            }
        };
        assert_eq!(told.0, expected.0, "{ours}: {answer:?}");
        let says = told.1;
        assert!(says.starts_with(expected.1), "{ours}: {says}");
    }
}

/// The page `home` with ten lines, read by a session.
async fn read_page(wiki: &DemoWiki, setup: Setup) -> (Served, i64, Value) {
    let id = id_of(wiki, "home");
    let lines = vec_of((1..=10).map(|line| format!("Line {line}.\n\n")));
    becomes(wiki, id, &lines.concat());
    let served = setup.serve().await;
    let page = read_by_id(&served, id).await;
    (served, id, page)
}

fn rewrite(wiki: &DemoWiki, id: i64, from: &str, to: &str) {
    wiki.with_store(|store| {
        store.rewrite(id, |page| page.content = page.content.replace(from, to));
    });
}

#[tokio::test]
async fn a_time_between_two_versions_is_held_against_the_page_too() {
    let wiki = sample_wiki().await;
    let (served, id, page) = read_page(&wiki, Setup::editor(&wiki)).await;
    let read = page["updatedAt"].as_str().unwrap();
    // Some clock's time after the reading, before somebody else's write.
    let between = read.replace('Z', "9Z");
    rewrite(&wiki, id, "Line 1.", "Theirs.");
    let edit = json!({ "id": id, "title": "x", "ifUpdatedAt": between });
    let error = fails(&served, UPDATE, edit, "EDIT_CONFLICT").await;
    says(&error["details"]["diff"], "+Theirs.");
    // A token does not stand for the time that the caller names beside it.
    let preview = json!({ "id": id, "title": "x" });
    let token = served.call(UPDATE, preview).await.unwrap()["confirm"].clone();
    let stale = json!({ "id": id, "confirm": token, "ifUpdatedAt": read });
    fails(&served, UPDATE, stale, "EDIT_CONFLICT").await;
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_page_that_was_written_too_often_to_look_back_is_not_merged() {
    let wiki = sample_wiki().await;
    let (served, id, _) = read_page(&wiki, Setup::editor(&wiki)).await;
    rewrite(&wiki, id, "Line 1.", "Theirs.");
    let last = |number| format!("Line 10.{}", "!".repeat(number));
    for number in 0..101 {
        rewrite(&wiki, id, &last(number), &last(number + 1));
    }
    let edit = json!({ "id": id, "edits": [{ "oldText": "Line 5.", "newText": "Ours." }] });
    let error = fails(&served, UPDATE, edit, "EDIT_CONFLICT").await;
    error["details"].shows(json!({ "merged": null, "diff": null }));
}

#[tokio::test]
async fn what_was_overwritten_is_found_behind_a_third_write() {
    let wiki = sample_wiki().await;
    let (served, id, _) = read_page(&wiki, Setup::editor(&wiki)).await;
    let preview = json!({ "id": id, "title": "Mine" });
    let token = served.call(UPDATE, preview).await.unwrap()["confirm"].clone();
    wiki.before_next_mutation(move |store| {
        store.rewrite(id, |page| "Theirs.\n".clone_into(&mut page.content));
    });
    // Reading, mutation, reading back, and the third right before the history is read.
    wiki.before_operation(3, move |store| {
        store.rewrite(id, |page| page.description = Some("Third".to_owned()));
    });
    let confirmed = json!({ "id": id, "confirm": token });
    let applied = served.call(UPDATE, confirmed).await.unwrap();
    says(&applied["warnings"].to_string(), "overwrote_newer");
}

#[tokio::test]
async fn a_page_that_was_only_touched_is_no_conflict_without_read_history_either() {
    let wiki = sample_wiki().await;
    let key = wiki.key_with(&BLIND, "");
    let (served, id, _) = read_page(&wiki, Setup::at(&wiki.address(), &key)).await;
    wiki.with_store(|store| store.touch(id));
    let edit = json!({ "id": id, "edits": [{ "oldText": "Line 5.", "newText": "Ours." }] });
    assert_eq!(update(&served, edit).await.unwrap()["outcome"], "applied");
}

#[tokio::test]
async fn an_edit_of_a_part_does_not_count_as_having_read_the_page() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    becomes(&wiki, id, "One.\n");
    let edit = json!({ "id": id, "edits": [{ "oldText": "One", "newText": "Two" }] });
    update(&served, edit).await.unwrap();
    let whole = json!({ "id": id, "content": "Three.\n" });
    let preview = served.call(UPDATE, whole).await.unwrap();
    assert_eq!(preview["conflictCheck"], SINCE_THIS_CALL);
}

/// A session that saw a part of the page knows that part: what somebody else wrote elsewhere in it
/// is not overwritten by a whole text that the session made of what it saw before.
#[tokio::test]
async fn reading_a_part_is_not_reading_the_page() {
    for read in [
        json!({ "section": "B" }),
        json!({ "lines": { "from": 7, "to": 7 } }),
        json!({ "maxBytes": 1 }),
        json!({ "section": "nope" }),
        json!({ "view": "outline" }),
        json!({ "view": "metadata" }),
    ] {
        let (wiki, served) = sample(Setup::editor).await;
        let id = id_of(&wiki, "home");
        let text = "# A\n\none\n\n# B\n\ntwo\n";
        wiki.with_store(|store| store.rewrite(id, |page| text.clone_into(&mut page.content)));
        let get = |mut arguments: Value| {
            arguments["id"] = json!(id);
            served.call(BY_ID, arguments)
        };
        get(json!({})).await.unwrap();
        let theirs = json!({ "content": text.replace("one", "ONE") });
        somebody_edits(&wiki, id, theirs).await;
        let _ = get(read.clone()).await;
        let ours = json!({ "id": id, "content": text.replace("two", "TWO") });
        confirmed_fails(&served, UPDATE, ours, "EDIT_CONFLICT").await;
        assert_eq!(mutations(&wiki).len(), 0);

        // The part that it did see it may change.
        if read == json!({ "section": "B" }) {
            let ours = json!({ "id": id, "section": "B", "sectionContent": "# B\n\nTWO\n" });
            update(&served, ours).await.unwrap();
            let now = wiki.with_store(|store| store.page(id).unwrap().content.clone());
            assert_eq!(now, "# A\n\nONE\n\n# B\n\nTWO\n");
            let other = json!({ "id": id, "section": "A", "sectionContent": "# A\n\nmine\n" });
            confirmed_fails(&served, UPDATE, other, "EDIT_CONFLICT").await;
        }
    }
}

#[tokio::test]
async fn reading_a_page_piece_by_piece_is_reading_it() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "docs/install/linux");
    read_by_id(&served, id).await;
    somebody_edits(&wiki, id, json!({ "content": "a\nb\nc\nd\n" })).await;
    let mut offset = json!(0);
    while !offset.is_null() {
        let piece = json!({ "id": id, "offset": offset, "maxBytes": 3 });
        let page = served.call(BY_ID, piece).await.unwrap();
        offset = page["part"]["nextOffset"].clone();
    }
    let ours = json!({ "id": id, "content": "a\nb\nc\nD\n" });
    update(&served, ours).await.unwrap();
}
