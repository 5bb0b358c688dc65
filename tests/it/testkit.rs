//! What many tests say in a word: the tools by name, calls that must succeed or fail, and texts that must hold something.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rmcp::service::{RoleClient, Service};
use serde::Deserialize;
use serde_json::Value;
use wikijs_gate::demo::{DemoWiki, PageRow};

use crate::harness::Served;

pub(crate) const ADD_COMMENT: &str = "wikijs_add_comment";
pub(crate) const BULK: &str = "wikijs_bulk_update_pages";
pub(crate) const BY_ID: &str = "wikijs_get_page_by_id";
pub(crate) const BY_PATH: &str = "wikijs_get_page_by_path";
pub(crate) const CHANGE_SET: &str = "wikijs_get_change_set";
pub(crate) const CREATE: &str = "wikijs_create_page";
pub(crate) const DELEGATE: &str = "wikijs_delegate";
pub(crate) const DELETE: &str = "wikijs_delete_page";
pub(crate) const DELETE_ASSET: &str = "wikijs_delete_asset";
pub(crate) const DELETE_COMMENT: &str = "wikijs_delete_comment";
pub(crate) const DISCARD: &str = "wikijs_discard_draft";
pub(crate) const END: &str = "wikijs_end_delegation";
pub(crate) const FORGET: &str = "wikijs_forget";
pub(crate) const GET_ASSET: &str = "wikijs_get_asset";
pub(crate) const GET_PROPOSAL: &str = "wikijs_get_proposal";
pub(crate) const HISTORY: &str = "wikijs_get_page_history";
pub(crate) const LIST: &str = "wikijs_list_pages";
pub(crate) const LIST_ASSETS: &str = "wikijs_list_assets";
pub(crate) const LIST_COMMENTS: &str = "wikijs_list_comments";
pub(crate) const LIST_PROPOSALS: &str = "wikijs_list_proposals";
pub(crate) const RECALL: &str = "wikijs_recall";
pub(crate) const REMEMBER: &str = "wikijs_remember";
pub(crate) const RENAME_ASSET: &str = "wikijs_rename_asset";
pub(crate) const SEARCH: &str = "wikijs_search_pages";
pub(crate) const SUBMIT: &str = "wikijs_submit_draft";
pub(crate) const TAGS: &str = "wikijs_list_tags";
pub(crate) const TREE: &str = "wikijs_get_page_tree";
pub(crate) const UNDO: &str = "wikijs_undo_write";
pub(crate) const UPDATE: &str = "wikijs_update_page";
pub(crate) const UPDATE_COMMENT: &str = "wikijs_update_comment";
pub(crate) const UPLOAD: &str = "wikijs_upload_asset";
pub(crate) const WITHDRAW: &str = "wikijs_withdraw_proposal";

/// These words in a list that may be left out.
#[expect(clippy::unnecessary_wraps, reason = "a grant's lists may be left out")]
pub(crate) fn some<const COUNT: usize>(words: [&str; COUNT]) -> Option<Vec<String>> {
    Some(words.map(str::to_owned).into())
}

/// The same call with all that its answer holds.
pub(crate) fn full(mut arguments: Value) -> Value {
    arguments["detail"] = "full".into();
    arguments
}

/// What the warnings of an answer say.
pub(crate) fn warnings(answer: &Value) -> Vec<String> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    warnings.map(crate::harness::said).collect()
}

/// The rows of a table in JSON.
pub(crate) fn json_rows<'a, T: Deserialize<'a>>(table: &'a Value) -> Vec<T> {
    let rows = table.as_array().unwrap().iter();
    rows.map(|row| T::deserialize(row).unwrap()).collect()
}

/// The rows of a table in text: a line each, with `=>` between its cells.
pub(crate) fn text_rows<const CELLS: usize>(text: &str) -> Vec<[&str; CELLS]> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let cells = lines.map(|line| line.split(" => ").collect::<Vec<_>>());
    cells.map(|cells| cells.try_into().unwrap()).collect()
}

/// All items in a list.
pub(crate) fn vec_of<T>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect()
}

/// The answer of a call that must succeed.
pub(crate) async fn call_ok<C>(served: &Served<C>, tool: &str, arguments: Value) -> Value
where
    C: Service<RoleClient>,
{
    let call = format!("{tool} {arguments}");
    let answer = served.call(tool, arguments).await;
    answer.unwrap_or_else(|error| panic!("{call}: {error}"))
}

/// The error of a call that must fail.
pub(crate) async fn call_err<C>(served: &Served<C>, tool: &str, arguments: Value) -> Value
where
    C: Service<RoleClient>,
{
    let call = format!("{tool} {arguments}");
    let answer = served.call(tool, arguments).await;
    answer.expect_err(&call)
}

/// The answer of a call that must succeed, of the form that the tool says.
pub(crate) async fn checked_ok<C>(served: &Served<C>, tool: &str, arguments: Value) -> Value
where
    C: Service<RoleClient>,
{
    let answer = served.checked(tool, arguments).await;
    answer.unwrap_or_else(|error| panic!("{tool}: {error}"))
}

/// The answer of a write that must succeed, once it is confirmed.
pub(crate) async fn confirmed_ok<C>(served: &Served<C>, tool: &str, arguments: Value) -> Value
where
    C: Service<RoleClient>,
{
    let call = format!("{tool} {arguments}");
    let answer = served.confirmed(tool, arguments).await;
    answer.unwrap_or_else(|error| panic!("{call}: {error}"))
}

/// The answer of a write that must be applied, once it is confirmed.
pub(crate) async fn is_applied<C>(served: &Served<C>, tool: &str, arguments: Value) -> Value
where
    C: Service<RoleClient>,
{
    let answer = confirmed_ok(served, tool, arguments).await;
    assert_eq!(answer["outcome"], "applied", "{tool}: {answer}");
    answer
}

/// The error of a write that must fail, at its preview or when it is confirmed.
pub(crate) async fn confirmed_err<C>(served: &Served<C>, tool: &str, arguments: Value) -> Value
where
    C: Service<RoleClient>,
{
    let call = format!("{tool} {arguments}");
    let answer = served.confirmed(tool, arguments).await;
    answer.expect_err(&call)
}

/// The error of a call that must fail with this code.
pub(crate) async fn fails<C>(served: &Served<C>, tool: &str, arguments: Value, code: &str) -> Value
where
    C: Service<RoleClient>,
{
    let call = format!("{tool} {arguments}");
    let error = call_err(served, tool, arguments).await;
    assert_eq!(error["code"], code, "{call}: {error}");
    error
}

/// The error of a write that must fail with this code, at its preview or when it is confirmed.
pub(crate) async fn confirmed_fails<C>(
    served: &Served<C>,
    tool: &str,
    arguments: Value,
    code: &str,
) -> Value
where
    C: Service<RoleClient>,
{
    let call = format!("{tool} {arguments}");
    let error = confirmed_err(served, tool, arguments).await;
    assert_eq!(error["code"], code, "{call}: {error}");
    error
}

/// An answer whose members are looked at.
pub(crate) trait Shows {
    /// It has each of these members, with this value; `null` stands for a member that is not there.
    #[track_caller]
    fn shows(&self, members: Value);
}

impl Shows for Value {
    #[track_caller]
    fn shows(&self, members: Value) {
        let Value::Object(members) = members else {
            panic!("no members: {members}");
        };
        for (name, wanted) in &members {
            let wanted = Some(wanted).filter(|wanted| !wanted.is_null());
            assert_eq!(self.get(name), wanted, "{name} in {self}");
        }
    }
}

/// A value that is changed where it is made.
pub(crate) trait But: Sized {
    /// The same with this changed.
    fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl<T> But for T {}

/// Something that tells a text.
pub(crate) trait Text {
    fn text(&self) -> &str;
}

impl Text for str {
    fn text(&self) -> &str {
        self
    }
}

impl Text for String {
    fn text(&self) -> &str {
        self
    }
}

impl Text for Value {
    fn text(&self) -> &str {
        self.as_str().expect("a text")
    }
}

impl<T: Text + ?Sized> Text for &T {
    fn text(&self) -> &str {
        (*self).text()
    }
}

/// The text has this part.
#[track_caller]
pub(crate) fn says(text: &(impl Text + ?Sized), part: &str) {
    let text = text.text();
    assert!(text.contains(part), "{part:?} is not in: {text}");
}

/// The text does not have this part.
#[track_caller]
pub(crate) fn lacks(text: &(impl Text + ?Sized), part: &str) {
    let text = text.text();
    assert!(!text.contains(part), "{part:?} is in: {text}");
}

/// The text begins so.
#[track_caller]
pub(crate) fn begins(text: &(impl Text + ?Sized), part: &str) {
    let text = text.text();
    assert!(text.starts_with(part), "{part:?} does not begin: {text}");
}

/// The text ends so.
#[track_caller]
pub(crate) fn ends(text: &(impl Text + ?Sized), part: &str) {
    let text = text.text();
    assert!(text.ends_with(part), "{part:?} does not end: {text}");
}

/// The project's directory.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory.
pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// All files below a directory whose names end so.
pub(crate) fn files_ending(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = files_below(dir);
    files.retain(|path| path.extension().is_some_and(|own| own == ending));
    files
}

/// Each page's text by its path.
pub(crate) fn texts(wiki: &DemoWiki) -> BTreeMap<String, String> {
    let text = |page: &PageRow| (page.path.clone(), page.content.clone());
    wiki.with_store(|store| store.pages().map(text).collect())
}

/// A page without what every write changes and no undo brings back: its id and its times.
pub(crate) fn timeless(page: &PageRow) -> PageRow {
    PageRow {
        id: 0,
        created_at: String::new(),
        updated_at: String::new(),
        ..page.clone()
    }
}

/// All pages of a wiki in this form.
pub(crate) fn timeless_pages(wiki: &DemoWiki) -> Vec<PageRow> {
    let mut pages: Vec<PageRow> = wiki.with_store(|store| store.pages().map(timeless).collect());
    pages.sort_by(|a, b| (&a.locale, &a.path).cmp(&(&b.locale, &b.path)));
    pages
}

/// The set that waits for a decision, as soon as one does.
pub(crate) async fn waiting<C: Service<RoleClient>>(served: &Served<C>) -> String {
    loop {
        let all = served.app.desk.proposals().all().await.unwrap();
        if let Some(one) = all.iter().find(|one| one.is_open()) {
            return one.id.to_string();
        }
        tokio::task::yield_now().await;
    }
}

/// The directory of the one wiki in an audit directory.
pub(crate) fn wiki_dir(audit: &Path) -> PathBuf {
    // Beside it may lie what is of the servers.
    let of_servers = ["delegates", "last-uses", "servers", "sessions", "turns"];
    let entries = fs::read_dir(audit).unwrap().flatten();
    let mut dirs = entries.filter(|entry| {
        let name = entry.file_name();
        entry.path().is_dir() && !of_servers.iter().any(|other| name == *other)
    });
    dirs.next().expect("a wiki").path()
}

/// The file of a proposal of that wiki.
pub(crate) fn proposal_file(audit: &Path, id: &str) -> PathBuf {
    wiki_dir(audit).join(format!("proposals/{id}.json"))
}
