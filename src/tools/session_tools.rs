//! The tools that a session is offered, and our own texts adapted to them.
//!
//! Texts may name any tool. Before it is sent, each goes through [`SessionTools::text`], the one place
//! that knows the session's `tools/list`: tools that are not offered are removed from lists of
//! tools, and a clause left without any tool is dropped. Texts of the wiki are never touched: they
//! are in members of their own.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::registry::{TOOLS, ToolDefinition};
use super::toolset::Toolset;
use crate::error::{Failure, capitalised};
use crate::site::SiteName;

/// Replaces a hint that says nothing without a tool that is not offered.
const NOTHING_LEFT: &str =
    "Tell the user: the tool that this takes is not offered in this session.";

/// Marks a list of tools that has become empty. None of our texts contains it.
const GONE: char = '\u{1}';

/// A word that may be the name of a tool.
static NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b[\w/.-]*wikijs_[\w/.-]*\b").ok());

/// Names of tools, joined as in a sentence.
static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let one = "`?wikijs_[a-z_]+`?";
    Regex::new(&format!(r"{one}(?:(?:,\s+|\s+or\s+|\s+and\s+){one})*")).ok()
});

/// The tools that a session is offered.
#[derive(Debug, Clone, Default)]
pub struct SessionTools(Vec<&'static str>, Option<SiteName>);

/// The name of a tool as a client with several sites sees it.
pub fn name_at(site: &SiteName, name: &str) -> String {
    format!("{site}_{}", name.strip_prefix("wikijs_").unwrap_or(name))
}

impl SessionTools {
    /// These tools.
    pub fn new(names: impl IntoIterator<Item = &'static str>) -> Self {
        Self(names.into_iter().collect(), None)
    }

    /// The same under the name of a site, which replaces `wikijs` in all texts.
    #[must_use]
    pub fn called(self, site: Option<SiteName>) -> Self {
        Self(self.0, site)
    }

    /// True if a tool is offered.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    /// True if a tool of a toolset is offered.
    pub fn has_any_of(&self, toolset: Toolset) -> bool {
        let mut tools = TOOLS.iter().filter(|tool| tool.toolset == toolset);
        tools.any(|tool| self.has(tool.name))
    }

    /// Their names.
    pub fn names(&self) -> &[&'static str] {
        &self.0
    }

    /// One of our texts without the tools that are not offered; empty if nothing meaningful is
    /// left.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let told = self.of_offered(text);
        match &self.1 {
            Some(site) if told.contains("wikijs") => {
                // Names of tools alone: a page may have `wikijs_` in its path.
                let called = |found: &Captures| match found.get(0).map(|name| name.as_str()) {
                    Some(name) if TOOLS.iter().any(|tool| tool.name == name) => name_at(site, name),
                    name => name.unwrap_or_default().to_owned(),
                };
                let told = match NAME.as_ref() {
                    Some(name) => name.replace_all(&told, called),
                    None => told,
                };
                told.replace("wikijs://", &format!("wikijs://{site}/"))
                    .into()
            }
            _ => told,
        }
    }

    fn of_offered<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(names) = NAMES.as_ref().filter(|_| text.contains("wikijs_")) else {
            return text.into();
        };
        let marked = names.replace_all(text, |found: &Captures| {
            found
                .get(0)
                .map_or_else(String::new, |run| self.run(run.as_str()))
        });
        if marked.contains(GONE) {
            return without_gone(&marked).into();
        }
        marked
    }

    /// The same for one of our Markdown texts: paragraphs and items with nothing left to say are
    /// dropped.
    pub fn markdown(&self, text: &str) -> String {
        let mut told = String::new();
        for block in blocks(text) {
            let body = block.trim_end_matches('\n');
            let end = block.get(body.len()..).unwrap_or_default();
            let body = self.text(body);
            if !body.is_empty() || block.trim().is_empty() {
                told.push_str(&body);
                told.push_str(end);
            }
        }
        told
    }

    /// A list of tools, reduced to those that are offered.
    fn run(&self, run: &str) -> String {
        let word = |part: &&str| part.contains("wikijs_");
        let words: Vec<&str> = run.split([' ', ',', '\n']).filter(word).collect();
        let is_told = |word: &&&str| {
            let name = word.trim_matches('`');
            self.has(name) || !TOOLS.iter().any(|tool| tool.name == name)
        };
        let kept: Vec<&str> = words.iter().filter(is_told).copied().collect();
        if kept.len() == words.len() {
            return run.to_owned();
        }
        let joint = if run.contains(" and ") {
            " and "
        } else {
            " or "
        };
        match kept.split_last() {
            None => GONE.to_string(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => [&others.join(", "), joint, last].concat(),
        }
    }

    /// Adapts an answer's hints and the reasons for what could not be read.
    pub fn answer(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                // One of several pages may be refused, as an error.
                let is_error = members.contains_key("code");
                members.retain(|name, value| match (name.as_str(), value) {
                    // A page's own words, and what a custom query found.
                    ("properties" | "data", _) => true,
                    ("hint", Value::String(hint)) => {
                        self.replace(hint);
                        if hint.is_empty() && is_error {
                            hint.push_str(NOTHING_LEFT);
                        }
                        !hint.is_empty()
                    }
                    ("unavailable", Value::Object(reasons)) => {
                        for reason in reasons.values_mut() {
                            if let Value::String(reason) = reason {
                                self.replace(reason);
                            }
                        }
                        true
                    }
                    (_, value) => {
                        self.answer(value);
                        true
                    }
                });
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.answer(item)),
            _ => {}
        }
    }

    fn replace(&self, text: &mut String) {
        if let Cow::Owned(told) = self.text(text) {
            *text = told;
        }
    }

    /// Adapts an error: its hint and the messages about its arguments.
    pub fn failure(&self, mut failure: Failure) -> Failure {
        self.replace(&mut failure.message);
        self.replace(&mut failure.hint);
        if failure.hint.is_empty() {
            failure.hint.push_str(NOTHING_LEFT);
        }
        let faults = failure
            .details
            .get_mut("fields")
            .and_then(Value::as_array_mut);
        for fault in faults.into_iter().flatten() {
            if let Some(Value::String(message)) = fault.get_mut("message") {
                self.replace(message);
            }
        }
        failure
    }

    /// A tool as described to this session. If the tool that documents its arguments is not
    /// offered, it documents them itself.
    pub fn definition(&self, definition: &ToolDefinition) -> ToolDefinition {
        let mut told = match &definition.alone {
            Some(alone) if !self.has(alone.without) => (*alone.definition).clone(),
            _ => definition.clone(),
        };
        if let Cow::Owned(description) = self.text(&told.description) {
            told.description = description.into();
        }
        self.schema(&mut told.input);
        self.schema(&mut told.output);
        told
    }

    fn schema(&self, schema: &mut Map<String, Value>) {
        schema.retain(|name, value| match value {
            Value::String(text) if name == "description" => {
                self.replace(text);
                !text.is_empty()
            }
            Value::Object(inner) => {
                self.schema(inner);
                true
            }
            _ => true,
        });
    }
}

/// Removes the clauses in which a list of tools has become empty.
fn without_gone(text: &str) -> String {
    let mut told = String::new();
    // What ends the preceding sentence or clause; a text starts like a sentence.
    let mut before = ". ";
    let ends_as_sentence = text.trim_end().ends_with('.');
    for clause in clauses(text) {
        let body = clause.trim_end().trim_end_matches([';', '.']);
        let end = clause.get(body.len()..).unwrap_or_default();
        let is_first = before.starts_with('.');
        if body.contains(GONE) {
            // The sentence ends with the preceding clause or continues with the following one.
            if !is_first && !end.starts_with(';') {
                let kept = told.trim_end().trim_end_matches(';').len();
                told.truncate(kept);
                told.push_str(end);
                before = ". ";
            }
            continue;
        }
        if is_first && ends_as_sentence {
            told.push_str(&capitalised(body));
        } else {
            told.push_str(body);
        }
        told.push_str(end);
        before = if end.starts_with(';') { "; " } else { ". " };
    }
    told.trim_end().trim_end_matches(';').to_owned()
}

/// The clauses of a text, each with the punctuation that ends it.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive("; ")
        .flat_map(|part| part.split_inclusive(". "))
        .flat_map(|part| part.split_inclusive(".\n"))
        .flat_map(|part| part.split_inclusive(";\n"))
}

/// The blocks of a Markdown text: a heading, an item or a paragraph each, with its line ends.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        let is_first = line.trim().is_empty()
            || line.starts_with(['#', '-'])
            || line.starts_with(|c: char| c.is_ascii_digit());
        match blocks.last_mut() {
            Some(block) if !is_first && !block.trim().is_empty() => block.push_str(line),
            _ => blocks.push(line.to_owned()),
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::{NOTHING_LEFT, SessionTools, TOOLS};
    use crate::error::{Code, Failure};
    use serde_json::json;

    const SEARCH: &str = "wikijs_search_pages";
    const LIST: &str = "wikijs_list_pages";
    const TREE: &str = "wikijs_get_page_tree";

    #[test]
    fn a_tool_that_is_not_offered_leaves_lists_and_takes_its_clause_along() {
        for (offered, text, told) in [
            (
                &[SEARCH, LIST][..],
                "Find it with wikijs_search_pages, wikijs_list_pages or wikijs_get_page_tree.",
                "Find it with wikijs_search_pages or wikijs_list_pages.",
            ),
            (
                &[TREE],
                "Check the path; find it with wikijs_search_pages. Then go on.",
                "Check the path. Then go on.",
            ),
            (
                &[],
                "By tags: wikijs_list_pages; below a path: `wikijs_get_page_tree`.",
                "",
            ),
            (
                &[TREE],
                "By tags: wikijs_list_pages; below a path: `wikijs_get_page_tree`.",
                "Below a path: `wikijs_get_page_tree`.",
            ),
            (
                &[],
                "is not taken here; wikijs_list_pages takes it, and returns the id",
                "is not taken here",
            ),
            (
                &[],
                "A word of wikijs_nothing.",
                "A word of wikijs_nothing.",
            ),
            (
                &[LIST],
                "Read it. Find it with wikijs_search_pages or\n   wikijs_list_pages.",
                "Read it. Find it with wikijs_list_pages.",
            ),
        ] {
            let offered = SessionTools::new(offered.iter().copied());
            assert_eq!(offered.text(text), told, "{text}");
        }
    }

    #[test]
    fn under_a_sites_name_only_tools_are_called_otherwise() {
        let offered = SessionTools::new([SEARCH]).called("docs".parse().ok());
        for (text, told) in [
            ("Call wikijs_search_pages.", "Call docs_search_pages."),
            ("Read en/wikijs_setup.", "Read en/wikijs_setup."),
            ("en/wikijs_search_pages", "en/wikijs_search_pages"),
            ("my_wikijs_search_pages", "my_wikijs_search_pages"),
            ("wikijs://status", "wikijs://docs/status"),
        ] {
            assert_eq!(offered.text(text), told, "{text}");
        }
    }

    #[test]
    fn an_error_always_says_what_to_do_and_names_no_tool_that_is_not_offered() {
        let without = |left: &'static str| {
            let names = TOOLS.iter().map(|tool| tool.name);
            SessionTools::new(names.filter(move |name| *name != left))
        };
        let surfaces = TOOLS.iter().map(|tool| without(tool.name));
        for offered in surfaces.chain([SessionTools::default()]) {
            for code in Code::ALL {
                let failure = offered.failure(Failure::new(*code, "It failed."));
                assert!(!failure.hint.is_empty(), "{code}");
                for tool in TOOLS.iter().filter(|tool| !offered.has(tool.name)) {
                    assert!(!failure.hint.contains(tool.name), "{}", failure.hint);
                }
            }
        }
        let failure = Failure::new(Code::InvalidInput, "No.").hint("wikijs_list_pages does it.");
        assert_eq!(SessionTools::default().failure(failure).hint, NOTHING_LEFT);
    }

    #[test]
    fn what_the_wiki_says_stays_as_it_is() {
        let page = json!({ "content": "Call wikijs_list_pages.", "title": "wikijs_list_pages",
            "properties": { "hint": "wikijs_list_pages" } });
        let mut answer = json!({ "pages": [page], "hint": "So it is. Call wikijs_list_pages.",
            "unavailable": { "tags": "not read; wikijs_list_pages tells them" } });
        SessionTools::default().answer(&mut answer);
        assert_eq!(
            answer,
            json!({ "pages": [page], "hint": "So it is.",
                "unavailable": { "tags": "not read" } })
        );
    }

    #[test]
    fn a_guide_loses_the_items_that_say_nothing_any_more() {
        let guide = "# A\n\n1. Find: `wikijs_list_pages`\n   or `wikijs_search_pages`.\n2. Read.\n\n- `wikijs_list_pages`\n  lists.\n- Good.\n";
        assert_eq!(
            SessionTools::new([SEARCH]).markdown(guide),
            "# A\n\n1. Find: `wikijs_search_pages`.\n2. Read.\n\n- Good.\n"
        );
    }
}
