//! Ten usual tasks in calls and bytes of text: with whole pages and plain lists alone, as the ten
//! tools were before parts, references, content search and comparisons; with these; and with
//! answers in one line that leave out what goes without saying.

use crate::prelude::*;

/// What a way to do a task costs: calls, and bytes of arguments and of the text of answers.
#[derive(Clone, Copy, Default)]
struct Cost {
    calls: usize,
    bytes: usize,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes += other.bytes;
    }
}

/// What the tasks cost while answers were indented, with defaults and repeats: measured by the
/// program as it then was.
const BEFORE: [(usize, usize); 10] = [
    (1, 698),
    (1, 1_177),
    (1, 515),
    (1, 1_128),
    (1, 1_071),
    (1, 891),
    (1, 488),
    (1, 768),
    (1, 6_818),
    (2, 970),
];
/// How much of that is left at most, in hundredths.
const MOST_LEFT: usize = 56;

fn cell(cost: Cost) -> String {
    format!("{} | {}", cost.calls, cost.bytes)
}

/// A client that counts.
struct Counted<'a> {
    served: &'a Served,
    cost: Cost,
}

impl<'a> Counted<'a> {
    fn new(served: &'a Served) -> Self {
        let cost = Cost::default();
        Self { served, cost }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.cost.calls += 1;
        self.cost.bytes += arguments.to_string().len();
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = arguments.as_object().cloned();
        let result = self.served.client.call_tool(request).await.unwrap();
        let content = serde_json::to_value(&result.content).unwrap();
        self.cost.bytes += content[0]["text"].as_str().unwrap().len();
        read(&result).unwrap()
    }

    /// A whole page, as every read was one.
    async fn whole(&mut self, id: i64) -> Value {
        self.call(BY_ID, json!({ "id": id, "maxBytes": 65_536 }))
            .await
    }
}

/// A page that is worth reading in parts.
fn handbook() -> PageRow {
    let mut content = "# Handbook of operations\n\n".to_owned();
    for chapter in 1..=40 {
        write!(content, "## Chapter {chapter}\n\n").unwrap();
        for line in 0..8 {
            let _ = writeln!(
                content,
                "What chapter {chapter} says in its line {line} about the service, in one sentence of usual length."
            );
        }
        content.push('\n');
        if chapter == 23 {
            content.push_str("The escrow of the signing keys lies with two people.\n\nSee [backup](/en/docs/operations/backup).\n\n");
        }
    }
    PageRow {
        locale: "en".to_owned(),
        path: "handbook/operations".to_owned(),
        title: "Handbook of operations".to_owned(),
        description: Some(String::new()),
        content,
        editor: "markdown".to_owned(),
        tags: vec!["handbook".to_owned()],
        is_published: true,
        ..PageRow::default()
    }
}

struct Tasks<'a> {
    served: &'a Served,
    page: i64,
    pages: Vec<i64>,
    table: String,
    count: usize,
    /// By whole pages; before; now.
    sums: [Cost; 3],
}

impl Tasks<'_> {
    fn note(&mut self, task: &str, whole: Option<Cost>, now: &Cost) {
        let (calls, bytes) = BEFORE[self.count];
        let before = Cost { calls, bytes };
        assert!(now.calls <= before.calls, "{task}");
        self.count += 1;
        for (sum, cost) in self
            .sums
            .iter_mut()
            .zip([whole.unwrap_or_default(), before, *now])
        {
            *sum += cost;
        }
        let told = whole.map_or("not possible | ".to_owned(), cell);
        let (before, now) = (cell(before), cell(*now));
        writeln!(self.table, "| {task} | {told} | {before} | {now} |").unwrap();
    }

    fn sum(&mut self) {
        let [whole, before, now] = self.sums;
        assert_eq!(self.count, BEFORE.len());
        assert!(
            now.bytes * 100 <= before.bytes * MOST_LEFT,
            "{} of {} bytes",
            now.bytes,
            before.bytes
        );
        let sums = [whole, before, now].map(cell).join(" | ");
        writeln!(self.table, "| all of them | {sums} |").unwrap();
    }

    async fn find_and_read(&mut self) {
        let mut before = Counted::new(self.served);
        let hits = before
            .call(SEARCH, json!({ "query": "escrow", "in": "wiki" }))
            .await;
        assert_eq!(hits["hits"], json!([]));
        before.call(LIST, json!({ "limit": 100 })).await;
        for id in &self.pages {
            let page = before.whole(*id).await;
            if page["content"].as_str().unwrap().contains("escrow") {
                break;
            }
        }
        let mut now = Counted::new(self.served);
        let hits = now.call(SEARCH, json!({ "query": "escrow" })).await;
        assert_eq!(hits["hits"][0]["id"], self.page, "{hits}");
        let section = hits["hits"][0]["section"].clone();
        self.note(
            "find the page that says something in its text",
            Some(before.cost),
            &now.cost,
        );

        let mut before = Counted::new(self.served);
        before.whole(self.page).await;
        let mut now = Counted::new(self.served);
        let part = now
            .call(BY_ID, json!({ "id": self.page, "section": section }))
            .await;
        assert!(part["content"].as_str().unwrap().contains("escrow"));
        self.note(
            "read the section that says it",
            Some(before.cost),
            &now.cost,
        );
    }

    async fn parts(&mut self) {
        let mut before = Counted::new(self.served);
        before.whole(self.page).await;
        let mut now = Counted::new(self.served);
        now.call(BY_ID, json!({ "id": self.page, "view": "metadata" }))
            .await;
        self.note(
            "tags and dates of a large page",
            Some(before.cost),
            &now.cost,
        );

        let mut before = Counted::new(self.served);
        before.whole(self.page).await;
        let mut now = Counted::new(self.served);
        let arguments = json!({ "id": self.page, "lines": { "from": 1, "to": 12 } });
        now.call(BY_ID, arguments).await;
        self.note(
            "the first lines of a large page",
            Some(before.cost),
            &now.cost,
        );

        let mut before = Counted::new(self.served);
        let hits = before
            .call(
                SEARCH,
                json!({ "query": "Handbook of operations", "in": "wiki" }),
            )
            .await;
        before.whole(hits["hits"][0]["id"].as_i64().unwrap()).await;
        let mut now = Counted::new(self.served);
        let page = now
            .call(
                BY_PATH,
                json!({ "path": "[[Handbook of operations#Chapter 7]]" }),
            )
            .await;
        assert!(page["content"].as_str().unwrap().contains("chapter 7"));
        self.note(
            "follow the link [[Title#Section]]",
            Some(before.cost),
            &now.cost,
        );
    }

    async fn lists(&mut self, wiki: &DemoWiki) {
        let mut before = Counted::new(self.served);
        before
            .call(
                LIST,
                json!({ "path": "docs", "orderBy": "UPDATED", "direction": "DESC" }),
            )
            .await;
        let mut now = Counted::new(self.served);
        now.call(LIST, json!({ "path": "docs", "updatedSince": "2026-01-01T00:00:00Z", "fields": ["path", "updatedAt"] })).await;
        self.note(
            "what changed below a path since a day",
            Some(before.cost),
            &now.cost,
        );

        let backup = id_of(wiki, "docs/operations/backup");
        let mut before = Counted::new(self.served);
        before.call(LIST, json!({ "limit": 100 })).await;
        for id in &self.pages {
            before.whole(*id).await;
        }
        let mut now = Counted::new(self.served);
        let linking = now
            .call(LIST, json!({ "linksTo": backup, "fields": ["path"] }))
            .await;
        assert!(!linking["pages"].as_array().unwrap().is_empty());
        self.note("which pages link here", Some(before.cost), &now.cost);

        let mut before = Counted::new(self.served);
        let tags = before.call(TAGS, json!({})).await;
        for tag in tags["tags"].as_array().unwrap() {
            before.call(LIST, json!({ "tags": [tag["tag"]] })).await;
        }
        let mut now = Counted::new(self.served);
        now.call(TAGS, json!({})).await;
        self.note("how many pages each tag has", Some(before.cost), &now.cost);
    }

    async fn several(&mut self) {
        let some = &self.pages[..3];
        let mut before = Counted::new(self.served);
        for id in some {
            before.whole(*id).await;
        }
        let mut now = Counted::new(self.served);
        now.call(BY_ID, json!({ "ids": some, "view": "outline" }))
            .await;
        self.note("what three pages are about", Some(before.cost), &now.cost);

        let mut now = Counted::new(self.served);
        let history = now
            .call(HISTORY, json!({ "id": self.page, "limit": 1 }))
            .await;
        let from = history["entries"][0]["versionId"].to_string();
        let compared = now
            .call(
                HISTORY,
                json!({ "id": self.page, "compare": { "from": from, "to": "current" } }),
            )
            .await;
        assert!(compared.to_string().contains("three people"));
        self.note("how a page differs from its last version", None, &now.cost);
    }
}

#[tokio::test]
async fn ten_usual_tasks_cost_fewer_calls_and_bytes() {
    let wiki = sample_wiki().await;
    let page = wiki.with_store(|store| store.add(handbook()));
    let pages = wiki.with_store(|store| {
        let mut ids: Vec<i64> = (1..=page).filter(|id| store.page(*id).is_some()).collect();
        ids.sort_unstable();
        ids
    });
    let served = Setup::editor(&wiki).indexed().serve().await;
    // The first search that needs the index begins it.
    let indexed = async || {
        let warm = json!({ "query": "escrow", "in": "content" });
        call_ok(&served, SEARCH, warm).await.get("index").is_none()
    };
    for _ in 0..50 {
        if indexed().await {
            break;
        }
    }
    let mut tasks = Tasks {
        served: &served,
        page,
        pages,
        table: "| task | calls by whole pages | bytes | calls before | bytes | calls | bytes |\n|---|---|---|---|---|---|---|\n"
            .to_owned(),
        count: 0,
        sums: [Cost::default(); 3],
    };
    tasks.find_and_read().await;
    tasks.parts().await;
    tasks.lists(&wiki).await;
    wiki.with_store(|store| {
        store.rewrite(page, |page| {
            page.content = page.content.replace("two people", "three people");
        });
    });
    tasks.several().await;
    tasks.sum();
    // Ids and times have their length whatever they are; a few bytes may differ all the same.
    let numbers = |text: &str| {
        text.lines()
            .map(|line| {
                let cells = line.split('|').enumerate();
                let kept = cells.filter(|(at, _)| ![3, 7].contains(at));
                kept.map(|(_, cell)| cell).collect::<String>()
            })
            .collect::<String>()
    };
    generated("docs/reference.md", "tasks", &tasks.table, numbers);
}
