//! `wikijs_create_page`: creates a page.

use super::page_argument::{FROM_PAGE, by_name_or_id};
use super::prelude::*;
use super::update_page::{TextEdit, everywhere};
use crate::page::PageState;
use crate::write::{Copy, CopyFields, WriteRequest};

/// The tool.
pub(super) struct CreatePage;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A preview's token (other arguments must be as there), or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    /// Such as docs/install.
    #[garde(custom(rule::required(rule::new_place)))]
    path: String,
    #[garde(custom(rule::required(rule::title)))]
    title: String,
    #[garde(custom(rule::content_or_copied(self.from_page.is_some())))]
    content: Option<String>,
    /// Path or id: gives content, description, tags, editor where you do not.
    #[garde(custom(rule::optional(rule::text)))]
    from_page: Option<String>,
    /// Of fromPage: this part, headings lifted; one like title goes.
    #[garde(custom(rule::optional(rule::selector)))]
    section: Option<String>,
    /// In fromPage, everywhere.
    #[garde(length(min = 1, max = 100), dive)]
    replace_all: Option<Vec<TextEdit>>,
    #[garde(skip)]
    outside_code: Option<bool>,
    // Joins this draft: nothing is sent.
    #[garde(custom(rule::optional(rule::draft)))]
    draft: Option<String>,
    /// Default: as configured.
    #[garde(custom(rule::optional(rule::locale)))]
    locale: Option<String>,
    #[garde(custom(rule::optional(rule::description)))]
    description: Option<String>,
    /// Default: as configured.
    #[garde(custom(rule::optional(rule::editor)))]
    editor: Option<String>,
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    tags: Option<Vec<String>>,
    /// Default true.
    #[garde(skip)]
    is_published: Option<bool>,
    #[garde(skip)]
    is_private: Option<bool>,
    #[garde(custom(rule::optional(rule::date)))]
    publish_start_date: Option<String>,
    #[garde(custom(rule::optional(rule::date)))]
    publish_end_date: Option<String>,
    #[garde(custom(rule::optional(rule::text)))]
    script_css: Option<String>,
    #[garde(custom(rule::optional(rule::text)))]
    script_js: Option<String>,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for CreatePage {
    const NAME: &'static str = "wikijs_create_page";
    const DESCRIPTION: &'static str = "Make a new page of path (or folder), title and content (or fromPage). Without confirm you may get a preview and a token: show the user, then call again with path and confirm. To change a page: wikijs_update_page.";
    const KIND: ToolKind = ToolKind::Add;
    const IN_PREVIEW: &'static [&'static str] = &["title", "content"];
    const TAKES_FOLDER: bool = true;
    type Input = Input;

    async fn request(context: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let is_copied = input.from_page.is_some() && input.content.is_none();
        for (name, is_given) in [
            ("replaceAll", input.replace_all.is_some()),
            ("section", input.section.is_some()),
        ] {
            if is_given && !is_copied {
                return refuse(name, "needs fromPage, and cannot be combined with content");
            }
        }
        let replace_all = everywhere(input.replace_all, input.outside_code)?;
        let section = input.section.as_deref().map(input::part).transpose()?;
        let tags = match input.tags {
            Some(tags) => Some(input::known_tags(&context.wiki, Some(tags)).await?),
            None => None,
        };
        let said = CopyFields {
            content: input.content,
            description: input.description,
            tags,
            editor: input.editor,
        };
        let settings = context.wiki.settings();
        let (locale, path) = context.new_place(&input.path, input.locale.as_deref())?;
        let date = |name, said: Option<String>| {
            let date = input::date(name, said.as_deref());
            date.map(Option::unwrap_or_default)
        };
        let page = PageState {
            id: None,
            locale,
            path,
            title: input.title,
            description: said.description.clone().unwrap_or_default(),
            content: said.content.clone().unwrap_or_default(),
            editor: said
                .editor
                .clone()
                .unwrap_or_else(|| settings.default_editor.clone()),
            tags: said.tags.clone().unwrap_or_default(),
            is_published: input.is_published.unwrap_or(true),
            is_private: input.is_private.unwrap_or(false),
            publish_start_date: date("publishStartDate", input.publish_start_date)?,
            publish_end_date: date("publishEndDate", input.publish_end_date)?,
            script_css: input.script_css.unwrap_or_default(),
            script_js: input.script_js.unwrap_or_default(),
            updated_at: None,
            unknown: Vec::new(),
            thing: None,
        };
        let from = by_name_or_id(context, FROM_PAGE, input.from_page.as_deref()).await?;
        let plan = match from {
            None => WriteRequest::Create(Box::new(page)),
            Some(from) => WriteRequest::Copy(Box::new(Copy {
                page,
                said,
                from,
                section,
                replace_all,
            })),
        };
        let write = RequestedWrite::new(plan, input.confirm, input.note);
        Ok(write.joining(input.draft))
    }
}
