//! A page that leaves its place: who links there is named before.

use crate::prelude::*;
use crate::session::person::{self, BOTH};

const LINKED: &[(&str, &str)] = &[
    ("docs/a", "# A\n\n[me](/docs/a) [b](./b)\n"),
    ("docs/b", "[a](./a)\n"),
    ("docs/c", "[a](/en/docs/a#x) [a](/docs/a)\n"),
    ("docs/d", "`[a](/docs/a)` and [b](/docs/b)\n"),
    ("other/e", "<a href=\"/docs/a.md\">a</a>\n"),
];

/// Pages of both locales; one of them is named by its locale.
async fn linked() -> DemoWiki {
    let wiki = wiki_of(LINKED).await;
    wiki.with_store(|store| {
        let mut german = page("docs/f", "[a](/en/docs/a) [f](/docs/a)\n");
        "de".clone_into(&mut german.locale);
        store.add(german);
    });
    wiki
}

async fn preview(served: &Served, tool: &str, arguments: Value) -> Value {
    let preview = served.call(tool, arguments).await.unwrap();
    assert_eq!(preview["preview"], true, "{preview}");
    preview
}

/// What is warned of with this code.
fn warned<'a>(preview: &'a Value, code: &str) -> Vec<&'a str> {
    let warnings = preview["warnings"].as_array().into_iter().flatten();
    let warnings = warnings.filter(|warning| warning["code"] == code);
    vec_of(warnings.filter_map(|warning| warning["message"].as_str()))
}

fn warning(preview: &Value) -> Vec<&str> {
    warned(preview, "links_break")
}

#[tokio::test]
async fn the_preview_of_a_move_or_a_delete_names_the_pages_that_link_there() {
    let (wiki, served) = with_server(linked().await, |wiki| {
        Setup::admin(wiki)
            .indexed()
            .with("WIKI_MUTATIONS_ENABLED", "true")
    })
    .await;
    let id = id_of(&wiki, "docs/a");
    let linking = ["docs/b", "docs/c", "other/e", "/de/docs/f"];
    for (tool, arguments) in [
        (UPDATE, json!({ "id": id, "path": "docs/new" })),
        (UPDATE, json!({ "id": id, "locale": "de" })),
        (DELETE, json!({ "id": id })),
    ] {
        wiki.clear_requests();
        let preview = preview(&served, tool, arguments.clone()).await;
        let members = members(&preview, "linkedFrom", "path");
        assert_eq!(members, linking, "{arguments}");
        let expected = ["4 pages link here, and those links will lead nowhere."];
        assert_eq!(warning(&preview), expected);
    }
    // The index looks at the list of pages, and the links are looked up among these.
    let seen = wiki.requests();
    let lists = seen.iter().filter(|seen| seen.fields == ["pages.list"]);
    assert_eq!(lists.count(), 1);
    for unmoved in [
        json!({ "id": id, "title": "New" }),
        json!({ "id": id, "path": "docs/a", "title": "New" }),
    ] {
        let preview = preview(&served, UPDATE, unmoved).await;
        assert!(preview.get("linkedFrom").is_none() && warning(&preview).is_empty());
    }
    let alone = json!({ "id": id_of(&wiki, "other/e"), "path": "docs/new" });
    let preview = preview(&served, UPDATE, alone).await;
    assert!(preview.get("linkedFrom").is_none() && warning(&preview).is_empty());
}

#[tokio::test]
async fn the_preview_of_a_move_says_which_links_of_the_page_itself_break() {
    let (wiki, served) = with_server(linked().await, |wiki| {
        Setup::admin(wiki)
            .indexed()
            .with("WIKI_MUTATIONS_ENABLED", "true")
    })
    .await;
    let id = id_of(&wiki, "docs/a");
    let own = async |arguments| {
        let preview = preview(&served, UPDATE, arguments).await;
        warned(&preview, "own_links_break")
            .first()
            .map(|own| (*own).to_owned())
    };
    // One leads to the page itself, one is relative to its folder.
    assert_eq!(
        own(json!({ "id": id, "path": "other/a" })).await.unwrap(),
        "2 links of the page itself lead elsewhere once it is moved (line 3)."
    );
    assert_eq!(
        own(json!({ "id": id, "path": "docs/z" })).await.unwrap(),
        "1 link of the page itself leads elsewhere once it is moved (line 3)."
    );
    let id = id_of(&wiki, "docs/c");
    assert_eq!(own(json!({ "id": id, "path": "other/c" })).await, None);
}

/// Not only previews: rules decide by it, and what was sent without a preview says it afterwards.
#[tokio::test]
async fn a_rule_may_forbid_what_breaks_links_and_what_was_sent_says_it_too() {
    let wiki = linked().await;
    let table = "[[rules]]\nname = \"whole\"\nthen = \"deny\"\nwarnings = [\"links_break\"]\noperations = [\"move\", \"delete\"]\n";
    let setup = Setup::admin(&wiki).indexed().with_tables(table);
    let ruled = setup.serve().await;
    let id = id_of(&wiki, "docs/a");
    for (tool, arguments) in [
        (UPDATE, json!({ "id": id, "path": "docs/new" })),
        (DELETE, json!({ "id": id })),
    ] {
        fails(&ruled, tool, arguments, "RULE_DENIED").await;
    }
    // Nobody links to this one.
    let alone = json!({ "id": id_of(&wiki, "other/e"), "path": "docs/new" });
    preview(&ruled, UPDATE, alone).await;

    let token = "0123456789abcdef0123456789abcdef";
    let served = Setup::admin(&wiki)
        .indexed()
        .with("WIKI_CONFIRM", "token")
        .with("WIKI_MUTATION_CONFIRM_TOKEN", token)
        .serve()
        .await;
    let moved = json!({ "id": id, "path": "docs/new", "confirm": token });
    let moved = is_applied(&served, UPDATE, moved).await;
    let linking = members(&moved, "linkedFrom", "path");
    assert_eq!(linking, ["docs/b", "docs/c", "other/e", "/de/docs/f"]);
    assert_eq!(warning(&moved).len(), 1, "{moved}");
}

#[tokio::test]
async fn a_person_who_is_asked_is_told_which_links_break() {
    let wiki = linked().await;
    let setup = person::setup(&wiki).indexed();
    let (served, mut person) = person::serve(setup, BOTH[0]).await;
    let id = id_of(&wiki, "docs/a");
    let asking = async {
        let asked = person.is_asked().await;
        let message = asked.message.clone();
        asked.answers("no");
        message
    };
    let moved = json!({ "id": id, "path": "docs/new" });
    let (message, _) = tokio::join!(asking, served.call(UPDATE, moved));
    says(&message, "links_break: 4 pages link here");
}

#[tokio::test]
async fn only_pages_that_the_key_may_read_are_named_as_linking() {
    let wiki = linked().await;
    let rights = ["read:pages", "read:source", "write:pages", "manage:pages"];
    let key = wiki.key_with(&rights, "docs");
    let setup = Setup::at(&wiki.address(), &key).indexed();
    let served = setup.with("WIKI_MUTATIONS_ENABLED", "true").serve().await;
    let id = id_of(&wiki, "docs/a");
    let preview = preview(&served, UPDATE, json!({ "id": id, "path": "docs/new" })).await;
    let linking = members(&preview, "linkedFrom", "path");
    assert_eq!(linking, ["docs/b", "docs/c", "/de/docs/f"], "{preview}");
}

#[tokio::test]
async fn without_an_index_the_link_graph_alone_is_asked_and_that_is_said() {
    let wiki = linked().await;
    let served = Setup::admin(&wiki).with("WIKI_INDEX", "off").serve().await;
    let id = id_of(&wiki, "docs/a");
    let preview = preview(&served, DELETE, json!({ "id": id })).await;
    let members = members(&preview, "linkedFrom", "path");
    assert_eq!(members, ["docs/c", "/de/docs/f"]);
    let warning = warning(&preview).concat();
    assert!(warning.contains("2 pages link here"), "{warning}");
    assert!(warning.contains("only the wiki's link graph"), "{warning}");
}

/// Not only in the link graph, which leaves these links out, and not only in the index as it was.
#[tokio::test]
async fn links_that_were_just_written_are_named_whatever_their_form() {
    let wiki = wiki_of(&[("docs/a", "A\n"), ("docs/b", "B\n"), ("other/c", "C\n")]).await;
    let mut setup = Setup::admin(&wiki).indexed();
    // Searches are content with an index of a minute ago.
    setup.pace.fresh = Duration::from_mins(1);
    let served = setup.serve().await;
    let query = json!({ "query": "B", "in": "content" });
    served.call(SEARCH, query).await.unwrap();
    wiki.with_store(|store| {
        for (path, text) in [("docs/b", "[a](./a)\n"), ("other/c", "[a](../docs/a.md)\n")] {
            let id = store.page_at("en", path).unwrap().id;
            store.rewrite(id, |page| page.content = text.to_owned());
        }
    });
    let id = id_of(&wiki, "docs/a");
    for (tool, arguments) in [
        (DELETE, json!({ "id": id })),
        (UPDATE, json!({ "id": id, "path": "docs/new" })),
    ] {
        let preview = preview(&served, tool, arguments).await;
        let linking = members(&preview, "linkedFrom", "path");
        assert_eq!(linking, ["docs/b", "other/c"], "{preview}");
    }
}
