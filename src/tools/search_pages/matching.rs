//! Finds lines of the content by exact text or by a regular expression.

use std::sync::Arc;

use super::scope::SearchScope;
use super::{CONTENT, In, Indexed, MatchMode, Output, SWITCHED_OFF, SearchHit, Sought};
use crate::error::Result;
use crate::index::{Pattern, PatternHit};
use crate::page::escape_hidden;
use crate::tools::context::ToolContext;
use crate::tools::input::{invalid_argument, refuse};
use crate::tools::output::some_count;

/// The most lines that one answer shows.
const MAX_LINES: usize = 100;

pub(super) async fn matching(
    context: &ToolContext,
    query: &str,
    way: MatchMode,
    (scope, place): (&Arc<SearchScope>, In),
    limit: usize,
) -> Result<Output> {
    if place == In::Wiki {
        return refuse(
            "match",
            "cannot go with in: wiki, whose engine finds words alone",
        );
    }
    let index = &context.index;
    if !index.is_on() {
        return refuse("match", format!("needs the index: {SWITCHED_OFF}"));
    }
    let pattern = match way {
        MatchMode::Regex => {
            Pattern::regex(query).map_err(|fault| invalid_argument("query", fault))?
        }
        MatchMode::Words | MatchMode::Exact => Pattern::Exact(query.to_owned()),
    };
    let covered = context.indexed().await?;
    // A single page shows more of its lines.
    let most_lines = (MAX_LINES / limit.max(1)).max(3);
    let _turn = context.turn().await?;
    let found = index
        .matching(pattern, scope.filter(), (limit, most_lines))
        .await?;
    let is_cut = found.looked_at < found.of;
    let cut = is_cut.then(|| {
        format!(
            "The second that a pattern may take was over after {} of {} pages, those changed last: narrow it with path, tags or updatedSince.",
            found.looked_at, found.of
        )
    });
    let long = (found.long_lines > 0).then(|| {
        format!(
            "Of {} lines only the first 64 kB were searched with the expression: EXACT also finds what follows.",
            found.long_lines
        )
    });
    let indexed = Indexed::new(covered, Sought::Lines).lacking_sources(found.without_source);
    let hits = found.hits.into_iter();
    Ok(Output {
        hits: hits.map(SearchHit::of_lines).collect(),
        hits_left: some_count(found.left),
        searched_in: vec![CONTENT],
        index: indexed.note(cut).note(long).if_lacking(),
        ..Output::default()
    })
}

impl SearchHit {
    fn of_lines(hit: PatternHit) -> Self {
        let line = |line: &crate::page::TextPosition| {
            format!("{}: {}", line.line, escape_hidden(&line.text))
        };
        Self {
            lines_left: some_count(hit.count.saturating_sub(hit.lines.len())),
            lines: hit.lines.iter().map(line).collect(),
            section: hit.section,
            ..Self::of_page(&hit.page)
        }
    }
}
