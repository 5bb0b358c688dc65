//! `wikijs_bulk_update_pages`: the same edit of many pages, as one set.

use super::list_pages::{Choice, LinkFilter};
use super::prelude::*;
use super::update_page::{TextEdit, everywhere};
use crate::change::NewTags;
use crate::page::{Locale, MovedPart, PagePath, Reference};
use crate::wiki::{ListQuery, Wiki};
use crate::write::{Bulk, LinksTo, PageSelection, WriteRequest};

/// The tool.
pub(super) struct BulkUpdatePages;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// From the preview.
    #[garde(skip)]
    confirm: Option<String>,
    /// These, or all that match the next seven, as in `wikijs_list_pages`.
    #[garde(inner(length(min = 1, max = 200), inner(range(min = 1, max = 2_147_483_647))))]
    // Without this, a list is limited to 100 items.
    #[schemars(length(max = 200))]
    ids: Option<Vec<i64>>,
    #[garde(custom(rule::optional(rule::text)))]
    path: Option<String>,
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    tags: Option<Vec<String>>,
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    without_tags: Option<Vec<String>>,
    #[garde(custom(rule::optional(rule::text)))]
    links_to: Option<String>,
    #[garde(skip)]
    links: Option<LinkFilter>,
    #[garde(length(chars, min = 1, max = 500))]
    property: Option<String>,
    #[garde(custom(rule::optional(rule::locales)))]
    locale: Option<String>,
    /// With removeTags: renames a tag.
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    add_tags: Option<Vec<String>>,
    /// Without *.
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    remove_tags: Option<Vec<String>>,
    /// New place of path.
    #[garde(custom(rule::optional(rule::new_place)))]
    move_to: Option<String>,
    /// Every occurrence, in order.
    #[garde(length(min = 1, max = 100), dive)]
    replace_all: Option<Vec<TextEdit>>,
    /// Not in code.
    #[garde(skip)]
    outside_code: Option<bool>,
    /// False: drafts.
    #[garde(skip)]
    is_published: Option<bool>,
    /// Their number, else refused.
    #[garde(range(min = 1))]
    expect_pages: Option<u32>,
    /// Default takeBack.
    #[garde(skip)]
    on_failure: Option<OnFailure>,
    /// Why.
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum OnFailure {
    TakeBack,
    Keep,
}

impl Input {
    /// The given arguments that select pages.
    fn selected_by(&self) -> Vec<&'static str> {
        let all = [
            ("ids", self.ids.is_some()),
            ("path", self.path.is_some()),
            ("tags", self.tags.is_some()),
            ("withoutTags", self.without_tags.is_some()),
            ("linksTo", self.links_to.is_some()),
            ("links", self.links.is_some()),
            ("property", self.property.is_some()),
        ];
        let given = all.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(name, _)| name).collect()
    }
}

impl WriteTool for BulkUpdatePages {
    const NAME: &'static str = "wikijs_bulk_update_pages";
    const DESCRIPTION: &'static str =
        "Edit pages or move path (mends links), all or none. Show the preview, then confirm.";
    // The selection and the edit are taken from the preview.
    const IN_PREVIEW: &'static [&'static str] = &["ids"];
    type Input = Input;

    async fn request(context: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let (confirm, note) = (input.confirm.clone(), input.note.clone());
        let plan = WriteRequest::Bulk(Box::new(Box::pin(bulk(context, input)).await?));
        Ok(RequestedWrite::new(plan, confirm, note))
    }
}

async fn bulk(context: &ToolContext, input: Input) -> Result<Bulk> {
    let selected_by = input.selected_by();
    let narrows = { selected_by.iter() }.any(|name| !["ids", "path"].contains(name));
    let mut elsewhere = 0;
    let read = |tags: Option<Vec<String>>| tags.map(input::tags).transpose();
    let (add, remove) = (read(input.add_tags)?, read(input.remove_tags)?);
    let (add, remove) = (add.unwrap_or_default(), remove.unwrap_or_default());
    if add.iter().any(|tag| remove.contains(tag)) {
        return refuse("removeTags", "has a tag that addTags has, too");
    }
    let tags = !(add.is_empty() && remove.is_empty());
    let tags = tags.then_some(NewTags::Some { add, remove });
    let replace_all = everywhere(input.replace_all, input.outside_code)?;
    let changes_none =
        tags.is_none() && replace_all.edits.is_empty() && input.is_published.is_none();
    if changes_none && input.move_to.is_none() {
        let (desk, caller) = (&context.desk, &context.caller);
        let token = input.confirm.as_deref();
        if let Some(token) = token {
            desk.takes_token(caller, token).await?;
            // The preview would name it, if its token still counted.
            if let Err(gone) = desk.asked(caller, token) {
                return Err(desk.refuse_input(caller, Some(token), gone).await);
            }
        }
        let failure = invalid_argument("", "nothing to change is named");
        return Err(failure.hint("Name addTags, removeTags, replaceAll, isPublished or moveTo."));
    }
    if input.move_to.is_some() && (input.ids.is_some() || narrows) {
        let fault = "goes with path and locale alone: all pages at or below path move";
        return refuse("moveTo", fault);
    }
    let mut move_to = None;
    let is_listed = input.path.is_some() || narrows;
    let which = match input.ids {
        Some(_) if is_listed => {
            let fault = "cannot be combined with path, tags, withoutTags, linksTo, links or property: they find the pages";
            return refuse("ids", fault);
        }
        Some(ids) => PageSelection::Ids(ids),
        None if !is_listed => {
            let failure = invalid_argument("", "no pages are named");
            return Err(
                failure.hint("Name ids, path, tags, withoutTags, linksTo, links or property.")
            );
        }
        None => {
            let wiki = &context.wiki;
            let (locales, path) =
                input::places(wiki, input.path.as_deref(), input.locale.as_deref())?;
            if let Some(to) = &input.move_to {
                move_to = Some(part(wiki, locales.one.as_ref(), path.as_ref(), to)?);
            }
            let links_to = input.links_to.as_deref();
            let links_to = links_to.map(|page| links_to_page(wiki, page)).transpose()?;
            let tags = input::tag_filters(wiki, input.tags, input.without_tags).await?;
            let property = input.property.as_deref();
            let chosen = match (input.links, property) {
                (None, None) => None,
                (links, property) => Choice::whole(context, links, property).await?,
            };
            let query = ListQuery {
                locale: locales.one,
                path,
                chosen,
                ..tags
            };
            // What links there is found later, and is not counted.
            if locales.is_fallback && links_to.is_none() {
                elsewhere = wiki.count_elsewhere(&query).await?;
            }
            PageSelection::Listed(Box::new(query), links_to)
        }
    };
    Ok(Bulk {
        which,
        tags,
        replace_all,
        is_published: input.is_published,
        move_to,
        expect_pages: input
            .expect_pages
            .and_then(|count| usize::try_from(count).ok()),
        keeps_on_failure: input.on_failure == Some(OnFailure::Keep),
        selected_by,
        elsewhere,
    })
}

/// The target of the links: by its id, or by its place, where no page needs to exist any more.
fn links_to_page(wiki: &Wiki, page: &str) -> Result<LinksTo> {
    if let Some(id) = page.parse().ok().filter(|id| *id > 0) {
        return Ok(LinksTo::Id(id));
    }
    let settings = wiki.settings();
    let (locale, path) = Reference::place(page, &settings.base_url)
        .map_err(|fault| invalid_argument("linksTo", fault))?;
    if path.as_str().is_empty() {
        return refuse("linksTo", "must name a page");
    }
    let locale = locale.unwrap_or_else(|| settings.default_locale.clone());
    Ok(LinksTo::Place((locale, path)))
}

/// The part of the wiki to move, and its destination.
fn part(
    wiki: &Wiki,
    locale: Option<&Locale>,
    from: Option<&PagePath>,
    to: &str,
) -> Result<MovedPart> {
    let fault = |fault: &str| refuse("moveTo", fault);
    let (Some(locale), Some(from)) = (locale, from) else {
        return fault("needs path, in one locale: all pages at or below it move");
    };
    let (to_locale, to) = input::new_place(wiki, to, None)?;
    let part = MovedPart {
        locale: locale.clone(),
        from: from.clone(),
        to_locale: to_locale.unwrap_or_else(|| locale.clone()),
        to: to.into_path(),
    };
    if part.goes_into_itself() {
        return fault("is path itself or below it");
    }
    Ok(part)
}
