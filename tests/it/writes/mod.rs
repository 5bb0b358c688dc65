//! Writes that go well, and what else they must not do.

mod approvals;
mod assets;
mod assets_at_risk;
pub(crate) mod bin;
mod bin_kept;
mod bulk;
mod cannot_return;
mod comments;
mod confirming;
mod conflicts;
mod copies;
pub(crate) mod doors;
mod editor_view;
mod edits;
pub(crate) mod faults;
mod fidelity;
mod input;
mod kept_approvals;
pub(crate) mod key_rights;
mod kill;
mod knowing;
mod linkers;
mod locales;
mod mending;
mod mistakes;
mod named;
mod notes;
mod part_edits;
mod pauses;
mod recover;
mod rules;
mod run_check;
mod seen_states;
mod servers;
mod styles;
mod tag_arguments;
mod trash;
mod undo;
mod undo_client;
mod waiting;
mod warned;

use crate::prelude::*;

/// A page that has something in every field.
pub(crate) fn dressed() -> PageRow {
    PageRow {
        locale: "en".to_owned(),
        path: "docs/dressed".to_owned(),
        title: "Dressed".to_owned(),
        description: Some("Has everything".to_owned()),
        content: "# Dressed\r\n\r\nodd \u{a0} spaces  \n\n".to_owned(),
        tags: vec!["zeta".to_owned(), "alpha".to_owned()],
        is_published: true,
        publish_start_date: "2020-01-01".to_owned(),
        publish_end_date: "whenever".to_owned(),
        script_css: "body{color:red}".to_owned(),
        script_js: "console.log(\"</script>\")".to_owned(),
        ..PageRow::default()
    }
}

pub(crate) async fn wiki_with(page: PageRow) -> (DemoWiki, i64) {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let id = wiki.with_store(|store| store.add(page));
    (wiki, id)
}

/// The thirteen fields as the wiki itself has them.
pub(crate) fn fields(wiki: &DemoWiki, id: i64) -> BTreeMap<&'static str, Value> {
    let mut page = wiki.with_store(|store| store.page(id).unwrap().clone());
    page.tags.sort_unstable();
    BTreeMap::from([
        ("locale", json!(page.locale)),
        ("path", json!(page.path)),
        ("title", json!(page.title)),
        ("description", json!(page.description)),
        ("content", json!(page.content)),
        ("editor", json!(page.editor)),
        ("tags", json!(page.tags)),
        ("isPublished", json!(page.is_published)),
        ("isPrivate", json!(page.is_private)),
        ("publishStartDate", json!(page.publish_start_date)),
        ("publishEndDate", json!(page.publish_end_date)),
        ("scriptCss", json!(page.script_css)),
        ("scriptJs", json!(page.script_js)),
    ])
}

pub(crate) fn changed(
    before: &BTreeMap<&'static str, Value>,
    after: &BTreeMap<&'static str, Value>,
) -> Vec<&'static str> {
    before
        .iter()
        .filter(|(name, value)| after[*name] != **value)
        .map(|(name, _)| *name)
        .collect()
}

fn code(result: &Result<Value, Value>) -> &str {
    result.as_ref().expect_err("a refusal")["code"]
        .as_str()
        .unwrap()
}

/// Each field that update can change, with a new value.
fn single_edits() -> Vec<(&'static str, Value)> {
    vec![
        ("path", json!("docs/elsewhere")),
        ("locale", json!("de")),
        ("title", json!("Other")),
        ("content", json!("other\n")),
        ("description", json!("")),
        ("tags", json!(["one", "Two "])),
        ("isPublished", json!(false)),
        ("publishStartDate", json!("")),
        ("publishEndDate", json!("2031-01-01T00:00:00Z")),
        ("scriptCss", json!("a { b: c; } /* x */")),
        ("scriptJs", json!("")),
    ]
}

#[tokio::test]
async fn an_update_of_one_field_changes_none_of_the_other_twelve() {
    let keys: [fn(&Keys) -> &String; 4] = [
        |keys| &keys.admin,
        |keys| &keys.scripter,
        |keys| &keys.editor,
        |keys| &keys.writer,
    ];
    for (index, key) in keys.into_iter().enumerate() {
        for (field, value) in single_edits() {
            let (may_script, may_move) = (index < 2, index < 3);
            let (wiki, id) = wiki_with(dressed()).await;
            let served = Setup::of(&wiki, key).serve().await;
            let before = fields(&wiki, id);
            let result = served
                .confirmed(UPDATE, json!({ "id": id, (field): value }))
                .await;
            let after = fields(&wiki, id);
            if !may_move && matches!(field, "path" | "locale") {
                let error = result.unwrap_err();
                assert_eq!(error["code"], "PERMISSION_DENIED", "{field}");
                assert_eq!(error["details"]["right"], "manage:pages");
                assert_eq!(changed(&before, &after), Vec::<&str>::new(), "{field}");
            } else if !may_script && field.starts_with("script") {
                let error = result.unwrap_err();
                assert_eq!(error["code"], "PERMISSION_DENIED", "{field}");
                let right = if field == "scriptCss" {
                    "write:styles"
                } else {
                    "write:scripts"
                };
                assert_eq!(error["details"]["right"], right);
                assert_eq!(changed(&before, &after), Vec::<&str>::new(), "{field}");
            } else {
                let applied = result.unwrap();
                assert_eq!(applied["outcome"], "applied", "{field}");
                assert_eq!(applied["changed"], json!([field]));
                assert_eq!(changed(&before, &after), [field]);
            }
        }
    }
}

#[tokio::test]
async fn a_move_changes_the_place_alone_even_of_a_page_titled_like_its_path() {
    for title in ["Dressed", "dressed", "target"] {
        let (wiki, id) = wiki_with(dressed().but(|row| row.title = title.to_owned())).await;
        let served = Setup::editor(&wiki).serve().await;
        let before = fields(&wiki, id);
        let moved =
            confirmed_ok(&served, UPDATE, json!({ "id": id, "path": "other/target" })).await;
        assert_eq!(moved["operation"], "move");
        assert_eq!(moved["target"]["path"], "other/target");
        assert_eq!(changed(&before, &fields(&wiki, id)), ["path"], "{title}");
        // A title that follows the path is written back by a second step (W14).
        let sent = mutations(&wiki).len();
        assert_eq!(sent, if title == "dressed" { 2 } else { 1 }, "{title}");
    }
}

#[tokio::test]
async fn a_page_that_moves_and_changes_is_moved_first() {
    let (wiki, id) = wiki_with(dressed()).await;
    wiki.with_page(dressed().but(|row| row.path = "taken".to_owned()));
    let served = Setup::scripter(&wiki).serve().await;
    let edits = json!({ "id": id, "path": "moved/here", "title": "Moved", "tags": [] });
    let preview = served.call(UPDATE, edits).await.unwrap();
    // Somebody takes the place after the preview: the move fails, and nothing is written.
    wiki.before_next_mutation(move |store| {
        store.add(dressed().but(|row| row.path = "moved/here".to_owned()));
    });
    let before = fields(&wiki, id);
    let confirm = json!({ "id": id, "confirm": preview["confirm"] });
    let error = fails(&served, UPDATE, confirm, "NOT_APPLIED").await;
    assert_eq!(error["details"]["cause"], "PAGE_EXISTS");
    assert_eq!(changed(&before, &fields(&wiki, id)), Vec::<&str>::new());
    let arguments = json!({ "id": id, "path": "moved/there", "title": "Moved" });
    let applied = confirmed_ok(&served, UPDATE, arguments).await;
    assert_eq!(applied["changed"], json!(["path", "title"]));
    let expected = [
        "preview",
        "attempt move",
        "outcome move not_applied NOT_APPLIED",
        "preview",
        "attempt move",
        "outcome move applied",
        "attempt update",
        "outcome update applied",
    ];
    assert_eq!(served.told(), expected);
}

#[tokio::test]
async fn a_page_is_created_with_every_field_and_deleted_again() {
    let wiki = DemoWiki::start(DemoOptions::empty()).await.unwrap();
    let served = Setup::scripter(&wiki).serve().await;
    let page = json!({
        "path": "/docs/new/", "title": "New", "content": "x\r\n", "locale": "de", "description": "d",
        "editor": "code", "tags": ["B", "b", " a "], "isPublished": false, "isPrivate": true,
        "publishStartDate": "2030-01-01", "publishEndDate": "2031-01-01T00:00:00+01:00",
        "scriptCss": "a { b: c }", "scriptJs": "1",
    });
    let created = is_applied(&served, CREATE, page).await;
    assert_eq!(created.get("unverified"), None);
    let id = created["target"]["id"].as_i64().unwrap();
    let stored = fields(&wiki, id);
    assert_eq!(stored["path"], "docs/new");
    assert_eq!(stored["tags"], json!(["a", "b"]));
    assert_eq!(stored["publishEndDate"], "2030-12-31T23:00:00.000Z");
    assert_eq!(stored["scriptCss"], "a{b:c}");
    is_applied(&served, DELETE, json!({ "id": id })).await;
    assert_eq!(wiki.with_store(|store| store.pages().count()), 0);
}

#[tokio::test]
async fn what_a_key_cannot_read_back_it_may_not_overwrite() {
    let (wiki, id) = wiki_with(dressed()).await;
    let keys: [fn(&Keys) -> &String; 2] = [|keys| &keys.readonly, |keys| &keys.reader];
    for key in keys {
        let served = Setup::of(&wiki, key).serve().await;
        for (tool, arguments, right) in [
            (UPDATE, json!({ "id": id, "title": "x" }), "write:pages"),
            (UPDATE, json!({ "id": id, "path": "docs/y" }), "write:pages"),
            (DELETE, json!({ "id": id }), "delete:pages"),
        ] {
            let error = fails(&served, tool, arguments, "PERMISSION_DENIED").await;
            assert_eq!(error["details"]["right"], right, "{error}");
        }
        // What a key may not write it cannot lose either.
        let accepted = json!({ "id": id, "title": "x", "acceptLoss": ["scriptCss", "scriptJs"] });
        fails(&served, UPDATE, accepted, "PERMISSION_DENIED").await;
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn nothing_to_change_sends_nothing() {
    let (wiki, id) = wiki_with(dressed()).await;
    let served = Setup::scripter(&wiki).serve().await;
    let same = json!({ "id": id, "title": "Dressed", "tags": ["ALPHA", "zeta"], "publishStartDate": "2020-01-01" });
    let answer = served.call(UPDATE, same).await.unwrap();
    assert_eq!(answer["outcome"], "unchanged");
    assert_eq!(mutations(&wiki).len(), 0);
    assert_eq!(served.told(), ["outcome unchanged"]);
}

#[tokio::test]
async fn with_writes_off_nothing_goes_out_at_all() {
    let (wiki, served) =
        sample(|wiki| Setup::admin(wiki).with("WIKI_MUTATIONS_ENABLED", "false")).await;
    for (tool, arguments) in [
        (CREATE, new_page("docs/x")),
        (UPDATE, json!({ "id": 1, "title": "x" })),
        (DELETE, json!({ "id": 1, "confirm": "x" })),
    ] {
        fails(&served, tool, arguments, "MUTATIONS_DISABLED").await;
    }
    assert_eq!(wiki.requests().len(), 0);
    assert_eq!(served.told(), ["refusal MUTATIONS_DISABLED"; 3]);
}

#[tokio::test]
async fn in_token_mode_every_write_and_preview_needs_the_static_token() {
    let wiki = sample_wiki().await;
    let setup = Setup::scripter(&wiki).with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please");
    let served = setup.serve().await;
    let id = id_of(&wiki, "home");
    let without = json!({ "id": id, "title": "x" });
    fails(&served, UPDATE, without, "CONFIRM_REQUIRED").await;
    let wrong = json!({ "id": id, "title": "x", "confirm": "simsim" });
    assert_eq!(code(&served.call(UPDATE, wrong).await), "CONFIRM_MISMATCH");
    assert_eq!(wiki.requests().len(), 0);
    let right = json!({ "id": id, "title": "x", "confirm": "open-sesame-please" });
    let answer = served.call(UPDATE, right).await.unwrap();
    answer.shows(json!({ "preview": null, "confirm": null }));
    assert_eq!(mutations(&wiki).len(), 1);
    // An id and the token alone ask for nothing.
    let empty = json!({ "id": id, "confirm": "open-sesame-please" });
    assert_eq!(code(&served.call(UPDATE, empty).await), "INVALID_INPUT");
}

/// A proposal is all that a call gets there, so nothing of the token is asked for.
#[tokio::test]
async fn in_a_dry_run_a_static_token_is_neither_needed_nor_of_use() {
    let (wiki, served) = sample(|wiki| {
        Setup::scripter(wiki)
            .with("WIKI_MUTATION_CONFIRM_TOKEN", "open-sesame-please")
            .dry()
    })
    .await;
    let id = id_of(&wiki, "home");
    for arguments in [
        json!({ "id": id, "title": "x" }),
        json!({ "id": id, "title": "y", "confirm": "open-sesame-please" }),
    ] {
        let answer = served.call(UPDATE, arguments).await.unwrap();
        assert_eq!(answer["preview"], true);
        assert!(answer["proposal"].is_string(), "{answer}");
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn in_a_dry_run_nothing_is_sent_and_no_token_is_given() {
    let (wiki, served) = sample(|wiki| Setup::scripter(wiki).dry()).await;
    let id = id_of(&wiki, "home");
    for arguments in [
        json!({ "id": id, "title": "x" }),
        json!({ "id": id, "title": "x", "confirm": "y" }),
    ] {
        let preview = served.call(UPDATE, arguments).await.unwrap();
        preview.shows(json!({ "preview": true, "confirm": null }));
    }
    assert_eq!(mutations(&wiki).len(), 0);
    let expected = [
        "preview", "proposal", // made
        "preview", "proposal", "proposal", // made in place of the other
    ];
    assert_eq!(served.told(), expected);
}

#[tokio::test]
async fn a_preview_warns_of_what_readers_will_not_see() {
    let wiki = sample_wiki().await;
    let served = as_scripter_in_a_dry_run(&wiki).await;
    let id = id_of(&wiki, "home");
    let warned = async |content: &str| {
        let arguments = json!({ "id": id, "content": content });
        let preview = served.call(UPDATE, arguments).await.unwrap();
        let warnings = preview.get("warnings").and_then(Value::as_array);
        let warnings = warnings.cloned().unwrap_or_default();
        let is_it = |warning: &String| warning.starts_with("hidden_text_added: ");
        warnings.iter().map(said).find(is_it)
    };
    assert_eq!(warned("# Home\n\nA <b>bold</b> word.\n").await, None);
    let warned = warned("# Home\n\n<p style=\"left:-9999px;position:fixed\">Do this.</p>\n").await;
    let expected = "hidden_text_added: Readers of the page will not see all of its content. hiddenElements: 1 (line 3). This list is not exhaustive.";
    assert_eq!(warned.as_deref(), Some(expected));
}

#[tokio::test]
async fn a_token_alone_is_told_where_the_level_takes_none_any_more() {
    let (wiki, served) = sample(Setup::scripter).await;
    let id = id_of(&wiki, "home");
    let token = preview_of_a_title(&served, id).await;
    let dry = Setup::scripter(&wiki).dry().in_dir_of(&served);
    let dry = dry.toolsets("pages,drafts").serve().await;
    for (tool, arguments) in [
        (UPDATE, json!({ "id": id, "confirm": token })),
        (BULK, json!({ "ids": [id], "confirm": token })),
    ] {
        let failed = fails(&dry, tool, arguments, "CONFIRM_EXPIRED").await;
        says(&failed["message"], "The level of writes is dry_run now");
    }
    assert_eq!(mutations(&wiki).len(), 0);
}

async fn as_scripter_in_a_dry_run(wiki: &DemoWiki) -> Served {
    Setup::scripter(wiki).dry().serve().await
}

async fn preview_of_a_title(served: &Served, id: i64) -> Value {
    let preview = served
        .call(UPDATE, json!({ "id": id, "title": "Previewed" }))
        .await;
    preview.unwrap()["confirm"].clone()
}

#[tokio::test]
async fn a_previews_token_confirms_that_change_once_and_no_other() {
    let (wiki, served) = sample(Setup::scripter).await;
    let (id, other) = (id_of(&wiki, "home"), id_of(&wiki, "docs"));
    let token = preview_of_a_title(&served, id).await;
    for (tool, arguments) in json_rows(&json!([
        [UPDATE, { "id": id, "confirm": token, "title": "Else" }],
        [UPDATE, { "id": id, "confirm": token, "title": "Previewed", "tags": ["x"] }],
        [UPDATE, { "id": other, "confirm": token }],
        [DELETE, { "id": id, "confirm": token }],
    ])) {
        fails(&served, tool, arguments, "CONFIRM_MISMATCH").await;
    }
    assert_eq!(mutations(&wiki).len(), 0);
    // A refusal does not use the token up; the same change said again does agree with it.
    let again = json!({ "id": id, "confirm": token, "title": "Previewed" });
    is_applied(&served, UPDATE, again.clone()).await;
    assert_eq!(code(&served.call(UPDATE, again).await), "CONFIRM_EXPIRED");
    let made_up = json!({ "id": id, "confirm": "0123456789abcdef0123456789abcdef" });
    assert_eq!(code(&served.call(UPDATE, made_up).await), "CONFIRM_EXPIRED");
    assert_eq!(mutations(&wiki).len(), 1);
}

#[tokio::test]
async fn a_page_that_changed_since_its_preview_is_a_conflict() {
    let (wiki, served) = sample(Setup::scripter).await;
    let id = id_of(&wiki, "home");
    let token = preview_of_a_title(&served, id).await;
    wiki.with_store(|store| {
        "Somebody was quicker.\n".clone_into(&mut store.page_mut(id).unwrap().content);
    });
    let arguments = json!({ "id": id, "confirm": token });
    let error = fails(&served, UPDATE, arguments, "EDIT_CONFLICT").await;
    assert_eq!(error["details"]["fields"], json!(["content"]));
    says(&error["details"]["diff"], "+Somebody was quicker.");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn a_place_that_is_taken_is_refused_before_anything_is_sent() {
    let (wiki, served) = sample(Setup::scripter).await;
    let taken = served.call(CREATE, new_page("docs/configuration")).await;
    assert_eq!(code(&taken), "PAGE_EXISTS");
    assert_eq!(
        taken.unwrap_err()["details"]["id"],
        id_of(&wiki, "docs/configuration")
    );
    let moved = json!({ "id": id_of(&wiki, "home"), "path": "docs/configuration" });
    assert_eq!(code(&served.call(UPDATE, moved).await), "PAGE_EXISTS");
    // A key that may not read the path of the folder sees it, too.
    let key = key_rights::page_key(&wiki, &[], "docs/");
    let below = Setup::at(&wiki.address(), &key).serve().await;
    let taken = below.call(CREATE, new_page("docs/configuration")).await;
    assert_eq!(code(&taken), "PAGE_EXISTS");
    // In other letter case it is another page: possible, but worth a word.
    let preview = call_ok(&served, CREATE, new_page("Docs/Configuration")).await;
    assert!(
        said(&preview["warnings"][0]).starts_with("path_differs_by_case: page"),
        "{preview}"
    );
    // Taken between the preview and its confirmation, it is refused as well.
    let free = new_page("docs/free");
    let preview = served.call(CREATE, free.clone()).await.unwrap();
    wiki.with_page(dressed().but(|row| row.path = "docs/free".to_owned()));
    let mut confirm = free;
    confirm["confirm"] = preview["confirm"].clone();
    assert_eq!(code(&served.call(CREATE, confirm).await), "PAGE_EXISTS");
    assert_eq!(mutations(&wiki).len(), 0);
}

#[tokio::test]
async fn the_preview_of_a_delete_says_what_is_lost_and_who_links_there() {
    let (wiki, served) = sample(Setup::scripter).await;
    let id = id_of(&wiki, "docs/operations/backup");
    let preview = served.call(DELETE, json!({ "id": id })).await.unwrap();
    assert_eq!(preview["operation"], "delete");
    assert!(said(&preview["warnings"][0]).starts_with("lost_for_good:"));
    let linking = preview["linkedFrom"].as_array().unwrap().iter();
    let linking: Vec<&str> = linking.map(|page| page["path"].as_str().unwrap()).collect();
    assert!(linking.contains(&"releases/2-4"), "{linking:?}");
}

#[tokio::test]
async fn no_spelling_of_a_path_passes_the_gate() {
    let (wiki, served) = sample(|wiki| {
        Setup::scripter(wiki)
            .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs,de:team")
            .with("WIKI_DENIED_MUTATION_PATH_PREFIXES", "docs/operations")
    })
    .await;
    for path in [
        "docs-old",
        "Docs/x",
        "DOCS",
        "documents",
        "team/x",
        "d\u{43e}cs/x",
        "home",
        "other/docs",
    ] {
        let answer = served.call(CREATE, new_page(path)).await;
        assert_eq!(code(&answer), "PATH_NOT_ALLOWED", "{path}");
    }
    let paths = "docs/operations docs/operations/x docs/OPERATIONS/x Docs/Operations";
    for path in paths.split(' ') {
        let answer = served.call(CREATE, new_page(path)).await;
        assert_eq!(code(&answer), "PATH_DENIED", "{path}");
    }
    for path in [
        "docs/../home",
        "docs/%2e%2e/home",
        "docs//home",
        "docs/\u{200b}x",
        "docs\\x",
        "docs/.",
        "",
    ] {
        let answer = served.call(CREATE, new_page(path)).await;
        assert_eq!(code(&answer), "INVALID_INPUT", "{path}");
    }
    // Neither out of the allowed part, nor into it, nor to another locale.
    let inside = id_of(&wiki, "docs/configuration");
    let outside = id_of(&wiki, "home");
    for (id, edits) in [
        (inside, json!({ "path": "elsewhere/x" })),
        (outside, json!({ "path": "docs/x" })),
        (outside, json!({ "title": "x" })),
    ] {
        let mut arguments = edits;
        arguments["id"] = json!(id);
        fails(&served, UPDATE, arguments, "PATH_NOT_ALLOWED").await;
    }
    assert!(served.call(CREATE, new_page("docs/")).await.is_err());
    let mut german = new_page("team/neu");
    german["locale"] = json!("de");
    assert_eq!(served.call(CREATE, german).await.unwrap()["preview"], true);
    assert_eq!(mutations(&wiki).len(), 0);
}
