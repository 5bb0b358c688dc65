//! No silent overwrite: what a page is held against, and what is told of what was overwritten.

use crate::prelude::*;

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

#[tokio::test]
async fn a_page_that_is_newer_than_the_caller_says_is_a_conflict() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    let known = served.call(LIST, json!({ "limit": 1 })).await.unwrap()["pages"][0].clone();
    assert_eq!(known["id"], id);
    somebody_edits(
        &wiki,
        id,
        json!({ "title": "Theirs", "content": "Theirs.\n" }),
    )
    .await;
    wiki.with_store(|store| "Bea".clone_into(&mut store.page_mut(id).unwrap().author));
    let time = &known["updatedAt"];
    for (tool, arguments) in [
        (
            UPDATE,
            json!({ "id": id, "description": "x", "ifUpdatedAt": time }),
        ),
        (DELETE, json!({ "id": id, "ifUpdatedAt": time })),
    ] {
        let error = fails(&served, tool, arguments, "EDIT_CONFLICT").await;
        error["details"].shows(json!({ "fields": ["title", "content"], "changedBy": "Bea" }));
        says(&error["details"]["diff"], "+Theirs.");
    }
    assert_eq!(mutations(&wiki).len(), 0);
    let now = served.call(BY_ID, json!({ "id": id })).await.unwrap()["updatedAt"].clone();
    let applied = update(
        &served,
        json!({ "id": id, "description": "x", "ifUpdatedAt": now }),
    )
    .await
    .unwrap();
    applied.shows(json!({ "outcome": "applied", "conflictCheck": null }));
}

#[tokio::test]
async fn a_conflict_shows_little_of_what_changed_and_more_in_full() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    served.call(BY_ID, json!({ "id": id })).await.unwrap();
    let theirs = "A line that somebody else wrote.\n".repeat(2_000);
    let theirs = json!({ "content": theirs });
    somebody_edits(&wiki, id, theirs).await;
    let ours = json!({ "id": id, "content": "Ours.\n" });
    let brief = fails(&served, UPDATE, ours.clone(), "EDIT_CONFLICT").await;
    let bytes = brief.to_string().len();
    assert!(bytes < 8_000, "{bytes} bytes: {brief}");
    says(
        &brief["details"]["diff"],
        "+A line that somebody else wrote.",
    );
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
    let applied = update(&served, json!({ "id": id, "content": "One.\n" }))
        .await
        .unwrap();
    assert_eq!(applied["outcome"], "applied");
    let unread = served
        .call(
            UPDATE,
            json!({ "id": id_of(&wiki, "docs"), "content": "x" }),
        )
        .await;
    assert_eq!(unread.unwrap()["conflictCheck"], SINCE_THIS_CALL);
    // Its own write counts as read; somebody else's after it is a conflict.
    update(&served, json!({ "id": id, "content": "Two.\n" }))
        .await
        .unwrap();
    somebody_edits(&wiki, id, json!({ "content": "Theirs.\n" })).await;
    let error = update(&served, json!({ "id": id, "content": "Three.\n" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    // A change of something else is not held against it.
    let applied = update(&served, json!({ "id": id, "title": "Mine" }))
        .await
        .unwrap();
    assert_eq!(applied["outcome"], "applied");
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test]
async fn a_page_that_was_only_touched_is_no_conflict() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    let page = served.call(BY_ID, json!({ "id": id })).await.unwrap();
    // A page that it links to came or went: another time, no version.
    wiki.with_store(|store| store.touch(id));
    let applied = update(
        &served,
        json!({ "id": id, "content": "x", "ifUpdatedAt": page["updatedAt"] }),
    )
    .await
    .unwrap();
    assert_eq!(applied["outcome"], "applied");
}

#[tokio::test]
async fn what_was_overwritten_between_reading_and_sending_is_told() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    wiki.before_next_mutation(move |store| {
        store.rewrite(id, |page| "Theirs.\n".clone_into(&mut page.content));
    });
    let applied = update(&served, json!({ "id": id, "title": "Mine" }))
        .await
        .unwrap();
    let warning = said(&applied["warnings"][0]);
    begins(
        &warning,
        "overwrote_newer: \"Administrator (account 1: that person, or any API key)\" changed content",
    );
    // Nobody wrote: nothing is told.
    let applied = update(&served, json!({ "id": id, "title": "Mine again" }))
        .await
        .unwrap();
    assert_eq!(applied.get("warnings"), None);
}

#[tokio::test]
async fn without_read_history_the_answer_says_that_it_was_not_checked() {
    let wiki = sample_wiki().await;
    let rights = [
        "read:pages",
        "read:source",
        "write:pages",
        "manage:pages",
        "delete:pages",
    ];
    let key = wiki.key_with(&rights, "");
    let served = Setup::at(&wiki.address(), &key).serve().await;
    let id = id_of(&wiki, "home");
    let page = served.call(BY_ID, json!({ "id": id })).await.unwrap();
    let applied = update(&served, json!({ "id": id, "title": "Mine" }))
        .await
        .unwrap();
    assert!(said(&applied["warnings"][0]).starts_with("overwrite_not_checked:"));
    let stale = json!({ "id": id, "title": "Stale", "ifUpdatedAt": page["updatedAt"] });
    let error = update(&served, stale).await.unwrap_err();
    assert_eq!(error["code"], "EDIT_CONFLICT");
    assert!(error["message"].as_str().unwrap().contains("read:history"));
}

#[tokio::test]
async fn changes_that_do_not_touch_are_offered_merged_and_never_written_unasked() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    wiki.with_store(|store| {
        "One.\n\nTwo.\n\nThree.\n".clone_into(&mut store.page_mut(id).unwrap().content);
    });
    // With and without the right to read the history: the base is a version, or what was read.
    let rights = ["read:pages", "read:source", "write:pages", "manage:pages"];
    let unread = wiki.key_with(&rights, "");
    for key in [wiki.keys().editor.clone(), unread] {
        let served = Setup::at(&wiki.address(), &key).serve().await;
        let page = served.call(BY_ID, json!({ "id": id })).await.unwrap();
        let content = page["content"].as_str().unwrap();
        let theirs = content.replace("One", "One of theirs");
        somebody_edits(&wiki, id, json!({ "content": theirs })).await;
        let ours =
            json!({ "id": id, "edits": [{ "oldText": "Three.", "newText": "Three of ours." }] });
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
        assert!(
            events.iter().any(|event| event.contains("preview")),
            "{events:?}"
        );
        wiki.with_store(|store| content.clone_into(&mut store.page_mut(id).unwrap().content));
    }
}

#[tokio::test]
async fn changes_that_touch_or_are_of_other_fields_are_not_merged() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    for (theirs, ours) in [
        (
            json!({ "content": "One.\nTheirs.\n" }),
            json!({ "content": "One.\nOurs.\n" }),
        ),
        (
            json!({ "content": "Theirs.\n\nTwo.\n", "title": "Theirs" }),
            json!({ "content": "One.\n\nOurs.\n" }),
        ),
        (
            json!({ "content": "Theirs.\n\nTwo.\n" }),
            json!({ "content": "One.\n\nOurs.\n", "title": "Ours" }),
        ),
    ] {
        wiki.with_store(|store| {
            "One.\n\nTwo.\n".clone_into(&mut store.page_mut(id).unwrap().content);
        });
        let served = Setup::editor(&wiki).serve().await;
        served.call(BY_ID, json!({ "id": id })).await.unwrap();
        somebody_edits(&wiki, id, theirs).await;
        let error = update(&served, {
            let mut ours = ours;
            ours["id"] = json!(id);
            ours
        })
        .await
        .unwrap_err();
        assert_eq!(error["code"], "EDIT_CONFLICT");
        assert_eq!(error["details"].get("merged"), None, "{error}");
    }
}

#[tokio::test]
async fn a_merged_change_gets_a_token_only_where_tokens_are_given() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    for (settings, arguments) in [
        (("WIKI_MUTATION_DRY_RUN", "true"), json!({})),
        (
            ("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please"),
            json!({ "confirm": "open-sesame-please" }),
        ),
    ] {
        wiki.with_store(|store| {
            "One.\n\nTwo.\n".clone_into(&mut store.page_mut(id).unwrap().content);
        });
        let served = Setup::editor(&wiki)
            .with(settings.0, settings.1)
            .serve()
            .await;
        served.call(BY_ID, json!({ "id": id })).await.unwrap();
        somebody_edits(&wiki, id, json!({ "content": "Theirs.\n\nTwo.\n" })).await;
        let mut ours = arguments;
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
                let mut warnings = applied["warnings"].as_array().unwrap().clone();
                warnings.retain(|warning| {
                    !["much_removed", "heading_dropped"]
                        .contains(&warning["code"].as_str().unwrap())
                });
                assert_eq!(warnings.len(), 1, "{told}");
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
    let rights = ["read:pages", "read:source", "write:pages", "manage:pages"];
    let content: Act = |page| "Theirs.\n".clone_into(&mut page.content);
    let both: Act = |page| {
        "Theirs.\n".clone_into(&mut page.content);
        "Theirs".clone_into(&mut page.title);
    };
    let ours = json!({ "title": "Ours", "content": "Ours.\n" });
    for (may_read_history, ours, theirs, expected) in [
        (true, ours.clone(), both, ("applied", "changed_since: ")),
        (
            true,
            json!({ "title": "Ours" }),
            content,
            ("applied", "changed_since: "),
        ),
        (false, ours.clone(), both, ("unknown", "OUTCOME_UNKNOWN")),
        // What is surely seen happened.
        (false, ours, content, ("partly_applied", "PARTLY_APPLIED")),
        (
            false,
            json!({ "title": "Ours" }),
            content,
            ("partly_applied", "PARTLY_APPLIED"),
        ),
        (
            false,
            json!({ "content": "Ours.\n" }),
            content,
            ("unknown", "OUTCOME_UNKNOWN"),
        ),
    ] {
        let wiki = sample_wiki().await;
        let id = id_of(&wiki, "home");
        let mut rights = rights.to_vec();
        rights.extend(may_read_history.then_some("read:history"));
        let served = Setup::at(&wiki.address(), &wiki.key_with(&rights, ""))
            .serve()
            .await;
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
    let lines: Vec<String> = (1..=10).map(|line| format!("Line {line}.\n\n")).collect();
    let lines = lines.concat();
    wiki.with_store(|store| store.page_mut(id).unwrap().content = lines);
    let served = setup.serve().await;
    let page = served.call(BY_ID, json!({ "id": id })).await.unwrap();
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
    for number in 0..101 {
        rewrite(
            &wiki,
            id,
            &format!("Line 10.{}", "!".repeat(number)),
            &format!("Line 10.{}", "!".repeat(number + 1)),
        );
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
    let key = wiki.key_with(
        &["read:pages", "read:source", "write:pages", "manage:pages"],
        "",
    );
    let (served, id, _) = read_page(&wiki, Setup::at(&wiki.address(), &key)).await;
    wiki.with_store(|store| store.touch(id));
    let edit = json!({ "id": id, "edits": [{ "oldText": "Line 5.", "newText": "Ours." }] });
    assert_eq!(update(&served, edit).await.unwrap()["outcome"], "applied");
}

#[tokio::test]
async fn an_edit_of_a_part_does_not_count_as_having_read_the_page() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "home");
    wiki.with_store(|store| "One.\n".clone_into(&mut store.page_mut(id).unwrap().content));
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
        let error = update(&served, ours).await.unwrap_err();
        assert_eq!(error["code"], "EDIT_CONFLICT", "{read}");
        assert_eq!(mutations(&wiki).len(), 0);

        // The part that it did see it may change.
        if read == json!({ "section": "B" }) {
            let ours = json!({ "id": id, "section": "B", "sectionContent": "# B\n\nTWO\n" });
            update(&served, ours).await.unwrap();
            assert_eq!(
                wiki.with_store(|store| store.page(id).unwrap().content.clone()),
                "# A\n\nONE\n\n# B\n\nTWO\n"
            );
            let other = json!({ "id": id, "section": "A", "sectionContent": "# A\n\nmine\n" });
            let error = update(&served, other).await.unwrap_err();
            assert_eq!(error["code"], "EDIT_CONFLICT");
        }
    }
}

#[tokio::test]
async fn reading_a_page_piece_by_piece_is_reading_it() {
    let (wiki, served) = sample(Setup::editor).await;
    let id = id_of(&wiki, "docs/install/linux");
    served.call(BY_ID, json!({ "id": id })).await.unwrap();
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
