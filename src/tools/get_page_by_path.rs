//! `wikijs_get_page_by_path`: reads pages by path, title, address or link.

use super::page_view::{
    self, MAX_AT_ONCE, Output, PageLookup, READ_ANSWER, how_to_read, one_or_several, page_input,
};
use super::prelude::*;
use crate::page::Locale;

/// The tool.
pub(super) struct GetPageByPath;

page_input! {
    /// docs/install, /en/docs/install, a title, an address, [[Page#Section]].
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    /// In place of path.
    #[garde(length(min = 1, max = MAX_AT_ONCE), inner(inner(custom(rule::required(rule::text)))))]
    paths: Option<Vec<String>>,
    #[garde(custom(rule::optional(rule::locale)))]
    locale: Option<String>,
}

impl Tool for GetPageByPath {
    const NAME: &'static str = "wikijs_get_page_by_path";
    const DESCRIPTION: &'static str = how_to_read!("Read pages by path, title or link");
    const ANSWER: &'static str = READ_ANSWER;
    const KIND: ToolKind = ToolKind::Read;
    const EXPLAINED: Explained = &[
        ("id", "is not taken here; wikijs_get_page_by_id takes it"),
        ("title", "is not taken by that name: a title goes into path"),
    ];
    const MOST_BYTES: usize = TEXT_BYTES;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let ask = input.ask()?;
        let (paths, is_several) = one_or_several(["path", "paths"], input.path, input.paths)?;
        let wanted = paths.into_iter().map(PageLookup::Named).collect();
        let said = input.locale.map(Locale::as_stored);
        page_view::answer(&context, (wanted, is_several), said, &ask).await
    }
}
