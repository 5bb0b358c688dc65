//! `wikijs_list_bin`: the pages that anybody deleted (toolset `undo`).

use super::prelude::*;
use crate::mirror::BinPage;
use crate::page::escape_hidden;

/// The most pages of one answer.
const MOST: usize = 100;
/// The most bytes of a page's tags that are told.
const MOST_TAG_BYTES: usize = 1_024;

/// The tool.
pub(super) struct ListBin;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Only what was at or below it; de:docs for one locale.
    #[garde(length(chars, max = 255))]
    path: Option<String>,
    /// Newest to skip.
    #[garde(range(max = 1_000_000))]
    offset: Option<u32>,
}

/// Its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// Those last found missing first.
    pages: Vec<BinEntry>,
    total: Option<i64>,
    /// The reasons why pages may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    incomplete: Vec<String>,
}

/// A page of the bin, as tools and commands tell it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BinEntry {
    id: i64,
    locale: String,
    path: String,
    title: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    tags_not_shown: Option<i64>,
    /// True if the key did not see it any more before it went.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    last_seen: String,
    missed: String,
    last_author: Option<String>,
    taken_by: Option<i64>,
    linked_from: Option<i64>,
}

impl From<&BinPage> for BinEntry {
    fn from(one: &BinPage) -> Self {
        let all = one.page.place.tags.as_deref().unwrap_or_default();
        let mut bytes = 0_usize;
        let fits = |tag: &String| {
            bytes = bytes.saturating_add(tag.len());
            bytes <= MOST_TAG_BYTES
        };
        let tags = all.iter().map(|tag| escape_hidden(tag));
        let tags: Vec<String> = tags.take_while(fits).collect();
        Self {
            id: one.page.id,
            locale: one.page.place.locale.as_str().to_owned(),
            path: one.page.place.path.as_str().to_owned(),
            title: escape_hidden(&one.page.title),
            tags_not_shown: some_count(all.len().saturating_sub(tags.len())),
            tags,
            hidden: one.gone.is_hidden,
            last_seen: one.gone.last_seen.to_string(),
            missed: one.gone.missed.to_string(),
            last_author: one.page.author().map(escape_hidden),
            taken_by: one.taken_by,
            linked_from: one.linked_from.and_then(some_count),
        }
    }
}

impl Tool for ListBin {
    const NAME: &'static str = "wikijs_list_bin";
    const DESCRIPTION: &'static str = "List pages that anybody deleted and this server saw before, those last found missing first. wikijs_restore_page brings one back.";
    const ANSWER: &'static str = "takenBy: the page at its place now; linkedFrom: how many link there. Absent: none, unknown.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let prefix = input::prefix(input.path.as_deref())?;
        let key = context.wiki.key().digest_on_record().to_string();
        let mirror = context.mirror()?;
        let scope = context.wiki.scope();
        let bin = mirror.bin(scope, Some(&key), prefix.as_ref()).await?;
        let (incomplete, total) = (bin.incomplete(), bin.pages.len());
        let shown = bin
            .pages
            .into_iter()
            .skip(input::count(input.offset, 0))
            .take(MOST);
        let mut shown: Vec<BinPage> = shown.collect();
        BinPage::count_links(&mut shown, &context.wiki).await;
        let pages: Vec<BinEntry> = shown.iter().map(BinEntry::from).collect();
        Ok(Output {
            total: some_count(total).filter(|_| total > pages.len()),
            pages,
            incomplete,
        })
    }
}
