//! Tasks that change one page, or several by one call.

use super::player::Player;
use super::wiki::{LONG, WITH_OLD_NAME, WITHOUT_OWNER};

use crate::prelude::*;

pub(super) async fn play(player: &mut Player<'_>) {
    typo(player).await;
    term(player).await;
    section_moved(player).await;
    merged(player).await;
    split(player).await;
    table_row(player).await;
    last_weeks_paragraph(player).await;
    owners(player).await;
    broken_links(player).await;
    in_style(player).await;
    translation(player).await;
    list_to_table(player).await;
    by_section(player).await;
}

async fn typo(player: &mut Player<'_>) {
    let found = player
        .call(SEARCH, json!({ "query": "recieve", "match": "EXACT" }))
        .await;
    let hit = &found["hits"][0];
    assert_eq!(hit["path"], LONG, "{found}");
    let edit = json!([{ "oldText": "recieve", "newText": "receive" }]);
    player
        .write(UPDATE, json!({ "id": hit["id"], "edits": edit }))
        .await;
    assert!(!player.content(LONG).contains("recieve"));
    player.done("a typo in 2,000 lines");
}

async fn term(player: &mut Player<'_>) {
    let edit = json!([{ "oldText": "relayq", "newText": "job queue" }]);
    player
        .write(BULK, json!({ "path": "guides", "replaceAll": edit, "outsideCode": true, "expectPages": WITH_OLD_NAME }))
        .await;
    for number in 1..=WITH_OLD_NAME {
        let content = player.content(&format!("guides/g{number:02}"));
        assert_eq!(content.matches("job queue").count(), 2, "{content}");
        assert_eq!(content.matches("relayq").count(), 2, "{content}");
    }
    player.done("a term on 30 pages, except in code");
}

async fn section_moved(player: &mut Player<'_>) {
    let part = player
        .call(
            BY_PATH,
            json!({ "path": "policies/visitors", "section": "Wi-Fi" }),
        )
        .await;
    let remove = json!({ "page": "policies/visitors", "section": "Wi-Fi", "sectionMode": "remove", "draft": "wifi" });
    player.call(UPDATE, remove).await;
    let insert = json!({
        "page": "policies/office", "section": "Network", "sectionMode": "insertAfter",
        "sectionContent": part["content"], "draft": "wifi",
    });
    player.call(UPDATE, insert).await;
    player.write(SUBMIT, json!({ "draft": "wifi" })).await;
    assert!(!player.content("policies/visitors").contains("Wi-Fi"));
    says(&player.content("policies/office"), "## Wi-Fi\n\nThe key");
    player.done("a section moved to another page");
}

async fn merged(player: &mut Player<'_>) {
    let other = player
        .call(BY_PATH, json!({ "path": "policies/holidays" }))
        .await;
    let text = other["content"].as_str().unwrap();
    let text = text
        .replace("# Holidays", "## Holidays")
        .replace("## Carry", "### Carry");
    let text = text.replace("### # ", "### ");
    let append = json!({
        "page": "policies/leave", "section": "Sick leave", "sectionMode": "insertAfter", "sectionContent": text,
    });
    player.write(UPDATE, append).await;
    let links =
        json!([{ "oldText": "/en/policies/holidays", "newText": "/en/policies/leave#holidays" }]);
    player
        .write(
            BULK,
            json!({ "linksTo": "policies/holidays", "replaceAll": links, "expectPages": 2 }),
        )
        .await;
    player.write(DELETE, json!({ "id": other["id"] })).await;
    says(&player.content("policies/leave"), "Thirty days a year");
    for linking in ["policies/office", "policies/travel"] {
        says(&player.content(linking), "/en/policies/leave#holidays");
    }
    player.done("two pages merged, links to the one led to the other");
}

async fn split(player: &mut Player<'_>) {
    for (path, section) in [
        ("policies/access", "Access"),
        ("policies/devices", "Devices"),
        ("policies/incidents", "Incidents"),
    ] {
        let part = json!({ "path": path, "title": section, "fromPage": "policies/security", "section": section, "draft": "split" });
        player.call(CREATE, part).await;
    }
    let rest = json!({
        "page": "policies/security", "draft": "split",
        "content": "# Security policy\n\n- [Access](/en/policies/access)\n- [Devices](/en/policies/devices)\n- [Incidents](/en/policies/incidents)\n",
    });
    player.call(UPDATE, rest).await;
    player.write(SUBMIT, json!({ "draft": "split" })).await;
    for name in ["Access", "Devices", "Incidents"] {
        let content = player.content(&format!("policies/{}", name.to_lowercase()));
        assert_eq!(
            content
                .matches(&format!("policy says about {name}"))
                .count(),
            12,
            "{content}"
        );
        says(&content, &format!("## Exceptions of {name}"));
    }
    player.done("a page split in three");
}

async fn table_row(player: &mut Player<'_>) {
    let row = json!({
        "page": "services/s03", "section": "Limits", "sectionMode": "append", "sectionContent": "| requests a second | 50 |",
    });
    player.write(UPDATE, row).await;
    let content = player.content("services/s03");
    let part = "| connections | 400 |\n| requests a second | 50 |\n";
    says(&content, part);
    player.done("a row more in a table");
}

async fn last_weeks_paragraph(player: &mut Player<'_>) {
    let history = player
        .call(HISTORY, json!({ "page": "policies/backups", "limit": 1 }))
        .await;
    let back = json!({
        "page": "policies/backups", "fromVersion": history["entries"][0]["versionId"], "section": "Backups/block:paragraph[0]",
    });
    player.write(UPDATE, back).await;
    assert!(player.content("policies/backups").contains("every night"));
    player.done("last week's paragraph back");
}

async fn owners(player: &mut Player<'_>) {
    let without = player
        .call(
            LIST,
            json!({ "path": "services", "withoutTags": ["owner:*"], "fields": ["path"] }),
        )
        .await;
    let page_count = without["pages"].as_array().unwrap().len();
    assert_eq!(page_count, WITHOUT_OWNER.len());
    let add = json!({
        "path": "services", "withoutTags": ["owner:*"], "addTags": ["owner:team-1"], "expectPages": WITHOUT_OWNER.len(),
    });
    player.write(BULK, add).await;
    for number in 1..=15 {
        let tags = player.page(&format!("services/s{number:02}"), |page| page.tags.clone());
        assert_eq!(
            tags.iter().filter(|tag| tag.starts_with("owner:")).count(),
            1,
            "{number}: {tags:?}"
        );
    }
    player.done("an owner for each page that has none");
}

async fn broken_links(player: &mut Player<'_>) {
    let broken = player
        .call(LIST, json!({ "links": "BROKEN", "fields": ["path"] }))
        .await;
    let pages = broken["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 1, "{broken}");
    let edits = json!([
        { "oldText": "See [the old checklist](/en/runbooks/checklist) and [Runbook 3](/en/runbooks/r3).", "newText": "See [Runbook 3](/en/runbooks/r03)." },
    ]);
    // The answer names the links, not the lines that hold them.
    let found = player
        .call(
            SEARCH,
            json!({ "query": "/en/runbooks/checklist", "match": "EXACT" }),
        )
        .await;
    assert_eq!(found["hits"][0]["id"], pages[0]["id"]);
    player
        .write(UPDATE, json!({ "id": pages[0]["id"], "edits": edits }))
        .await;
    let left = player.call(LIST, json!({ "links": "BROKEN" })).await;
    assert_eq!(left["pages"], json!([]), "{left}");
    player.done("broken links found and mended");
}

async fn in_style(player: &mut Player<'_>) {
    let model = player.call(BY_PATH, json!({ "path": "reports/i9" })).await;
    let content = model["content"].as_str().unwrap();
    let content = content.replace("Incident 9", "Incident 10");
    let content = content.replace(
        "Service 9 did not answer for 90 minutes",
        "Service 2 lost its disk for an hour",
    );
    player
        .write(CREATE, json!({ "path": "reports/i10", "title": "Incident 10", "content": content, "tags": model["tags"] }))
        .await;
    assert!(player.content("reports/i10").contains("lost its disk"));
    player.done("a new page in the style of another");
}

async fn translation(player: &mut Player<'_>) {
    player
        .call(BY_PATH, json!({ "path": "policies/visitors" }))
        .await;
    let content = "# Besuch\n\n## Ausweise\n\nAm Empfang.\n";
    player
        .write(CREATE, json!({ "path": "policies/visitors", "locale": "de", "title": "Besuch", "content": content, "tags": ["policy"] }))
        .await;
    let titles = player.wiki.with_store(|store| {
        store
            .page_at("de", "policies/visitors")
            .map(|page| page.title.clone())
    });
    assert_eq!(titles.as_deref(), Some("Besuch"));
    player.done("a translation");
}

async fn list_to_table(player: &mut Player<'_>) {
    player
        .call(
            BY_PATH,
            json!({ "path": "policies/expenses", "section": "Limits" }),
        )
        .await;
    let table = "## Limits\n\n| kind | limit |\n|---|---|\n| Meals | 30 |\n| Hotel | 120 |\n| Train | any |\n";
    player
        .write(
            UPDATE,
            json!({ "page": "policies/expenses", "section": "Limits", "sectionContent": table }),
        )
        .await;
    let content = player.content("policies/expenses");
    assert_eq!(content, format!("# Expenses\n\n{table}"));
    player.done("a list made a table");
}

async fn by_section(player: &mut Player<'_>) {
    player
        .write(UPDATE, json!({ "page": "runbooks/r05", "section": "Mend", "sectionContent": "## Mend\n\nRestart it twice.\n" }))
        .await;
    let content = player.content("runbooks/r05");
    says(&content, "## Mend\n\nRestart it twice.\n\n## Escalate");
    player.done("an edit of one section");
}
