//! Plays 25 usual tasks of an agent against a wiki of 81 pages, and counts calls and bytes.

mod editing;
mod player;
mod reading;
mod together;
mod wiki;

use player::Player;

use crate::prelude::*;

/// Calls that the tasks may take together.
const MOST_CALLS: usize = 150;
/// Bytes of arguments and of text of answers that they may take together.
const MOST_BYTES: usize = 250_000;

#[tokio::test]
async fn usual_tasks_take_at_most_150_calls_and_250_kilobytes() {
    let wiki = wiki::made().await;
    let served = Setup::admin(&wiki)
        .indexed()
        .toolsets("pages,undo,proposals,drafts,memory,comments,assets")
        .with("WIKI_DENIED_MUTATION_PATH_PREFIXES", "policies/retention")
        // Otherwise people decide about a set of more than 20 pages.
        .with_tables("rules_off = [\"large-sets\"]\n")
        .serve()
        .await;
    // The first search that needs the index makes it.
    let warm = json!({ "query": "backlog", "in": "content" });
    while call_ok(&served, SEARCH, warm.clone())
        .await
        .get("index")
        .is_some()
    {}

    let mut player = Player::new(&wiki, &served);
    reading::play(&mut player).await;
    editing::play(&mut player).await;
    together::play(&mut player).await;

    let (table, sum) = player.finish();
    assert!(sum.calls <= MOST_CALLS, "{} calls", sum.calls);
    assert!(sum.bytes <= MOST_BYTES, "{} bytes", sum.bytes);
    generated("docs/reference.md", "usual", &table, |text| {
        // Ids and times have the same length in nearly all runs: bytes may differ by a few.
        let calls = |line: &str| line.rsplitn(3, '|').nth(2).map(str::to_owned);
        text.lines()
            .filter_map(calls)
            .collect::<Vec<_>>()
            .join("\n")
    });
}
