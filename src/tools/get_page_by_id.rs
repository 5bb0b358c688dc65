//! `wikijs_get_page_by_id`: pages by their ids.

use super::get_page_by_path::GetPageByPath;
use super::page_view::{
    self, MAX_AT_ONCE, Output, PageLookup, READ_ANSWER, how_to_read, one_or_several, page_input,
};
use super::prelude::*;

/// The tool.
pub(super) struct GetPageById;

page_input! {
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: Option<i64>,
    /// In place of id.
    #[garde(length(min = 1, max = MAX_AT_ONCE), inner(inner(range(min = 1, max = 2_147_483_647))))]
    ids: Option<Vec<i64>>,
}

impl Tool for GetPageById {
    const NAME: &'static str = "wikijs_get_page_by_id";
    const DESCRIPTION: &'static str =
        "Read pages by id; arguments and answer are otherwise those of wikijs_get_page_by_path.";
    const ANSWER: &'static str = "As of wikijs_get_page_by_path.";
    const KIND: ToolKind = ToolKind::Read;
    const EXPLAINED: Explained = NAMED_BY_ID;
    const DESCRIBED_BY: Option<DescribedBy> = Some(DescribedBy {
        tool: GetPageByPath::NAME,
        alone: (how_to_read!("Read pages by id"), READ_ANSWER),
    });
    const MOST_BYTES: usize = TEXT_BYTES;
    type Input = Input;
    type Output = Output;

    async fn run(context: ToolContext, input: Input) -> Result<Output> {
        let ask = input.ask()?;
        let (ids, is_several) = one_or_several(["id", "ids"], input.id, input.ids)?;
        let wanted = ids.into_iter().map(PageLookup::Id).collect();
        page_view::answer(&context, (wanted, is_several), None, &ask).await
    }
}
