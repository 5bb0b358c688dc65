//! What previews of sets weigh, and what they say before anything else.

use crate::prelude::*;

/// The most bytes of the text of an answer about fifty changes.
const MOST: usize = 8_000;
/// The changes.
const MANY: usize = 50;

/// A place of usual length.
fn place(number: usize) -> String {
    format!("handbook/operations/runbooks/service-{number:02}/how-to-restore-from-backup")
}

/// A text of forty lines, some of which name what is to be changed.
fn text() -> String {
    let line = |number: usize| match number % 4 {
        0 => "The old name of the service stands in this line of the page.\n",
        _ => "A line of the page that stays as it is, of the usual length of a sentence.\n",
    };
    (0..40).map(line).collect()
}

async fn wiki() -> DemoWiki {
    let wiki = wiki_of(&[]).await;
    wiki.with_store(|store| {
        for number in 0..MANY {
            store.add(page(&place(number), &text()));
        }
    });
    wiki
}

fn setup(wiki: &DemoWiki) -> Setup {
    Setup::admin(wiki)
        .toolsets("pages,undo,drafts,proposals")
        .with_tables("rules_off = [\"large-sets\"]\n")
}

/// The edit of all pages, each with a link to a page that is not there.
fn rename() -> Value {
    let edit = json!([{ "oldText": "old name", "newText": "[new name](/gone/away)" }]);
    json!({ "path": "handbook", "replaceAll": edit })
}

/// Holds a brief view of fifty changes against its full one.
fn weighs(brief: &Value, full: &Value) {
    let bytes = brief.to_string().len();
    assert!(bytes <= MOST, "{bytes} bytes: {brief}");
    assert!(full.to_string().len() > 3 * MOST, "{full}");
    assert_eq!(brief["pages"], MANY);
    let lines = brief["lines"].as_array().unwrap();
    assert_eq!(lines.len(), MANY);
    for line in lines {
        let line = line.as_str().unwrap();
        assert!(line.len() <= 110, "{line}");
        says(&line, "how-to-restore");
        assert!(line.contains("content +10 -10"), "{line}");
    }
    assert_eq!(brief["differences"].as_array().unwrap().len(), 3);
    let differences = brief["differences"].to_string().len();
    assert!((600..2_200).contains(&differences), "{differences}");
    says(&brief["hint"], "full");
}

async fn told(served: &Served, tool: &str, arguments: Value) -> (Value, Value) {
    let brief = call_ok(served, tool, arguments.clone()).await;
    (brief, call_ok(served, tool, full(arguments)).await)
}

#[tokio::test]
async fn a_preview_of_fifty_changes_takes_eight_kilobytes_and_begins_with_its_verdict() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let (brief, all) = told(&served, BULK, rename()).await;
    weighs(&brief, &all);
    let members: Vec<&String> = brief.as_object().unwrap().keys().collect();
    assert_eq!(members[..3], ["preview", "verdict", "warnings"]);
    says(&brief["verdict"], "confirm sends this set of 50 changes");
    // Warnings are counted by kind, the first of each whole.
    let dead = &brief["warnings"][0];
    dead.shows(json!({ "code": "dead_link", "more": 49 }));
    says(&dead["message"], &place(0));
    says(&brief["lines"][7], "!dead_link");
    let each = all["changes"].as_array().unwrap();
    assert_eq!(each.len(), 50);
    assert_eq!(each[7]["warnings"][0]["code"], dead["code"]);
    // The set by its id, in brief and in full.
    let id = json!({ "id": brief["previewId"] });
    let (again, in_full) = told(&served, CHANGE_SET, id).await;
    weighs(&again, &in_full);
    // What a token confirms is the same, whatever was shown of it.
    let mut arguments = rename();
    arguments["confirm"] = brief["confirm"].clone();
    let done = call_ok(&served, BULK, arguments).await;
    done.shows(json!({ "outcome": "applied", "applied": 50 }));
    assert_eq!(mutations(&wiki).len(), 50);
    // So does the undo of a set.
    let undo = json!({ "callId": done["callId"] });
    let (brief, all) = told(&served, UNDO, undo.clone()).await;
    weighs(&brief, &all);
    let undone = confirmed_ok(&served, UNDO, full(undo)).await;
    assert_eq!(undone["applied"], 50);
    let first = id_of(&wiki, &place(0));
    let now = wiki.with_store(|store| store.page(first).unwrap().content.clone());
    assert_eq!(now, text());
}

#[tokio::test]
async fn a_proposal_of_fifty_changes_takes_eight_kilobytes_and_a_list_only_names_it() {
    let (_wiki, served) = with_server(wiki().await, |wiki| setup(wiki).dry()).await;
    let shown = call_ok(&served, BULK, rename()).await;
    assert!(shown.to_string().len() <= MOST, "{shown}");
    let part = "Nothing was sent; the operator can apply it with";
    says(&shown["verdict"], part);
    let id = json!({ "id": shown["proposal"] });
    let (brief, all) = told(&served, GET_PROPOSAL, id).await;
    weighs(&brief, &all);
    assert_eq!(brief["state"], "open");
    let (brief, all) = told(&served, CHANGE_SET, json!({ "id": shown["previewId"] })).await;
    weighs(&brief, &all);
    let listed = call_ok(&served, LIST_PROPOSALS, json!({})).await;
    assert_eq!(listed["proposals"][0]["pages"], 50);
    assert!(listed.to_string().len() < 1_000, "{listed}");
}

#[tokio::test]
async fn a_set_that_a_rule_leaves_to_people_begins_with_the_rule_and_its_limit() {
    let (_wiki, served) = with_server(wiki().await, |wiki| setup(wiki).with_tables("")).await;
    let shown = call_ok(&served, BULK, rename()).await;
    assert!(shown.to_string().len() <= MOST, "{shown}");
    let verdict = shown["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with("The rule large-sets (with more than 20 pages asked for; "),
        "{verdict}"
    );
    let part = ") leaves this to a person: nothing was sent, and confirm makes it a proposal.";
    says(verdict, part);
    assert_eq!(shown.get("proposal"), None);
}

#[tokio::test]
async fn a_submit_says_by_digest_that_it_is_what_joining_showed() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let mut joined = Value::Null;
    for number in 0..MANY {
        let id = id_of(&wiki, &place(number));
        let edit = json!([{ "oldText": text(), "newText": text().replace("old", "new") }]);
        let edit = json!({ "id": id, "edits": edit, "draft": "rename" });
        joined = call_ok(&served, UPDATE, edit).await;
    }
    let digest = joined["draft"]["digest"].as_str().unwrap().to_owned();
    let submit = json!({ "draft": "rename" });
    let (brief, all) = told(&served, SUBMIT, submit.clone()).await;
    weighs(&brief, &all);
    let part = format!("what joining the draft showed last (digest {digest})");
    says(&brief["verdict"], &part);
    let (brief, all) = told(&served, CHANGE_SET, json!({ "id": "rename" })).await;
    weighs(&brief, &all);
    // One page is as drafted by now.
    let first = id_of(&wiki, &place(0));
    wiki.with_store(|store| {
        store.rewrite(first, |page| page.content = text().replace("old", "new"));
    });
    let less = call_ok(&served, SUBMIT, submit).await;
    assert_eq!(less["pages"], 49);
    let part = "differs from what joining the draft showed last";
    says(&less["verdict"], part);
    // Another change is another digest.
    let edit = json!({ "id": id_of(&wiki, &place(1)), "title": "Other", "draft": "rename" });
    let joined = call_ok(&served, UPDATE, edit).await;
    assert_ne!(joined["draft"]["digest"], digest);
}

#[tokio::test]
async fn what_the_caller_has_just_sent_is_not_sent_back() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let chapter = |number: usize| format!("## Chapter {number}\n\n{}\n", text());
    let long: String = (1..=8).map(chapter).collect();
    assert!(long.len() > 18_000);
    let create = json!({ "path": "made", "title": "Made", "content": long });
    let (brief, all) = told(&served, CREATE, create).await;
    assert!(brief.to_string().len() < 1_500, "{brief}");
    assert_eq!(brief.get("diff"), None);
    assert_eq!(brief["linesAdded"], all["linesAdded"]);
    says(&brief["outline"][7], "Chapter 8");
    says(&brief["hint"], "detail \"full\"");
    says(&all["diff"], "+## Chapter 8");
    assert_eq!(all.get("outline"), None);
    // So with a whole new content, unless little of the page changes.
    let id = id_of(&wiki, &place(0));
    let other = json!({ "id": id, "content": long });
    let (brief, all) = told(&served, UPDATE, other).await;
    assert!(brief.to_string().len() < 2_000, "{brief}");
    says(&brief["outline"][0], "Chapter 1");
    assert_eq!(brief["linesRemoved"], all["linesRemoved"]);
    let near = json!({ "id": id, "content": text().replacen("old name", "new name", 1) });
    let (brief, all) = told(&served, UPDATE, near).await;
    assert_eq!(brief["diff"], all["diff"]);
    assert_eq!((brief.get("outline"), brief.get("hint")), (None, None));
    // A copy was not sent by the caller: it is shown, as far as it goes.
    let copy = json!({ "path": "copy", "title": "Copy", "fromPage": id });
    let part = "+The old name";
    says(&call_ok(&served, CREATE, copy).await["diff"], part);
}

#[tokio::test]
async fn a_small_change_is_shown_whole_and_a_large_one_says_how_to_see_the_rest() {
    let (wiki, served) = with_server(wiki().await, setup).await;
    let id = id_of(&wiki, &place(0));
    let edit =
        |old: &str, new: &str| json!({ "id": id, "edits": [{ "oldText": old, "newText": new }] });
    let small = edit(&text(), &text().replacen("old name", "new name", 1));
    let (brief, all) = told(&served, UPDATE, small).await;
    let bare = |shown: &Value| {
        let mut shown = shown.clone();
        for own in ["confirm", "confirmExpiresAt", "previewId"] {
            shown.as_object_mut().unwrap().remove(own);
        }
        shown
    };
    assert_eq!(bare(&brief), bare(&all));
    let large = edit(&text(), &text().replace("line", "row").repeat(12));
    let (brief, all) = told(&served, UPDATE, large.clone()).await;
    assert!(brief["diff"].as_str().unwrap().len() <= 4_096, "{brief}");
    says(&brief["hint"], "detail \"full\"");
    says(&brief["warnings"].to_string(), "diff_cut");
    // Full is as much as an answer holds; nothing shows more.
    assert!(all["diff"].as_str().unwrap().len() > 30_000);
    says(&all["warnings"].to_string(), "diff_cut");
    assert_eq!(all.get("hint"), None);
    // Either token confirms all of it; `detail` is no argument of the write.
    let mut confirm = full(large);
    confirm["confirm"] = brief["confirm"].clone();
    let done = is_applied(&served, UPDATE, confirm).await;
    let undo = json!({ "callId": done["callId"] });
    is_applied(&served, UNDO, full(undo)).await;
}
