//! Reads pages as requested.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use pulldown_cmark::{Options, Parser, html};
use serde_json::Value;

use super::answer::{Excerpt, Output, PageResult, PageView};
use super::ask::{PageReadOptions, PageViewKind};
use super::metadata::{LinkNeighbours, Metadata};
use super::named::{RequestedPart, below, lines_of, listing};
use crate::audit::Draft;
use crate::error::{Code, Failure, Result};
use crate::page::{
    Field, HiddenText, LinkedSite, Locale, Outline, PageInventory, PagePlace, PageReading, Slice,
    SourceFormat, escaped, plain_text, slice,
};
use crate::tools::context::ToolContext;
use crate::tools::input::refuse;
use crate::tools::no_page::no_page;
use crate::tools::output::{AUTHOR, WholePage};
use crate::wiki::{AllPages, RIGHT_TO_AUTHOR, WikiError};
use crate::write::ReadExtent;

/// The right needed for the wiki's own HTML, if the readers' view is not available.
const RIGHT_TO_RENDERED: &str = "manage:pages or delete:pages";

/// The reason why fields of an old version cannot be read (W10).
const NOT_IN_VERSIONS: &str = "no version keeps it";

/// The reference to the wanted page.
#[derive(Debug, Clone)]
pub(in crate::tools) enum PageLookup {
    /// The page with this id.
    Id(i64),
    /// The page that this reference names.
    Named(String),
}

/// A page that was read, and the text to show of it.
struct PageWithText {
    page: PageReading,
    format: SourceFormat,
    /// The section that a reference named.
    anchor: Option<String>,
    /// The text of the view; `None` if the key may not read it, or none is wanted.
    text: Option<String>,
    is_ours: bool,
    /// The page as it is in the wiki, if a draft's version is shown.
    beneath: Option<Box<PageReading>>,
}

impl PageWithText {
    /// The state that a later change is checked against, if the current text is shown; with a
    /// draft, the page in the wiki.
    fn as_read(&self, ask: &PageReadOptions) -> Option<PageReading> {
        let is_as_it_is = ask.view == PageViewKind::Content && ask.version.is_none();
        let page = self.beneath.as_deref().unwrap_or(&self.page);
        is_as_it_is.then(|| page.clone())
    }
}

/// Reads one page, or several concurrently. Each is answered or refused on its own, and all share
/// one budget of bytes.
///
/// # Errors
/// Those of a single page; several are never refused together.
pub(in crate::tools) async fn answer(
    context: &ToolContext,
    (wanted, is_several): (Vec<PageLookup>, bool),
    said: Option<Locale>,
    ask: &PageReadOptions,
) -> Result<Output> {
    let draft = match &ask.draft {
        Some(name) => Some(context.desk.draft(&context.caller, name.clone()).await?),
        None => None,
    };
    let draft = draft.as_ref();
    let mut found = join_all(
        wanted
            .iter()
            // Boxed, since a list would move each several times.
            .map(|wanted| Box::pin(find(context, wanted, said.as_ref(), (ask, draft)))),
    )
    .await;
    let linking = LinkContext::load(context, &found, ask).await;
    if !is_several && let Some(found) = found.pop() {
        let (view, seen) = show(context, found?, (ask, &linking), (ask.most(), false))?;
        saw(context, seen).await;
        return Ok(Output {
            page: Some(view),
            pages: None,
        });
    }
    let budgets = shares(ask.most(), found.iter().map(wish).collect());
    let mut pages = Vec::new();
    for ((found, most), wanted) in found.into_iter().zip(budgets).zip(&wanted) {
        let found = found.and_then(|found| show(context, found, (ask, &linking), (most, true)));
        pages.push(match found {
            Ok((mut view, seen)) => {
                saw(context, seen).await;
                view.page.page.url = None;
                PageResult::Page(Box::new(view))
            }
            Err(failure) => match wanted {
                PageLookup::Id(id) => PageResult::refused("id", Value::from(*id), &failure),
                PageLookup::Named(path) => {
                    PageResult::refused("path", escaped(path, 300).into(), &failure)
                }
            },
        });
    }
    Ok(Output {
        page: None,
        pages: Some(pages),
    })
}

/// Notes what of a page was shown, if anything was.
async fn saw(context: &ToolContext, seen: Option<(PageReading, ReadExtent)>) {
    if let Some((page, sight)) = seen {
        context.saw(page, sight).await;
    }
}

/// The number of bytes that a page could use.
fn wish(found: &Result<PageWithText>) -> usize {
    let Ok(found) = found else { return 0 };
    let scripts = [&found.page.script_css, &found.page.script_js];
    let scripts: usize = scripts.into_iter().flatten().map(String::len).sum();
    found.text.as_ref().map_or(0, String::len) + scripts
}

/// Divides a budget: a page that wants less than an even share leaves the rest to the others.
pub(in crate::tools) fn shares(budget: usize, wishes: Vec<usize>) -> Vec<usize> {
    let mut order: Vec<(usize, usize)> = wishes.into_iter().enumerate().collect();
    order.sort_by_key(|(_, wish)| *wish);
    let (mut left, mut waiting) = (budget, order.len());
    for (_, share) in &mut order {
        // With a budget of zero, reading on would never advance.
        *share = (*share).min(left / waiting.max(1)).max(1);
        left = left.saturating_sub(*share);
        waiting -= 1;
    }
    order.sort_by_key(|(index, _)| *index);
    order.into_iter().map(|(_, share)| share).collect()
}

async fn find(
    context: &ToolContext,
    wanted: &PageLookup,
    said: Option<&Locale>,
    (ask, draft): (&PageReadOptions, Option<&Draft>),
) -> Result<PageWithText> {
    let wiki = &context.wiki;
    let created = draft.zip(named_place(context, wanted, said));
    let created = created.and_then(|(draft, place)| draft.at(&place));
    let (mut page, anchor) = match (wanted, created) {
        (PageLookup::Named(_), Some(one)) if one.page().is_none() => {
            let after = one.after.clone().ok_or_else(not_there)?;
            (PageReading::from(after), None)
        }
        // The draft moves a page there; whether it may be read is decided by that page.
        (PageLookup::Named(_), Some(one)) => {
            let id = one.page().unwrap_or_default();
            (wiki.page_by_id(id).await?, None)
        }
        (PageLookup::Id(id), _) => (wiki.page_by_id(*id).await?, None),
        (PageLookup::Named(text), None) => {
            let resolved = match wiki.resolve(text, said).await {
                Ok(resolved) => resolved,
                Err(unresolved) => return Err(no_page(context, unresolved, text, said).await),
            };
            (resolved.page, resolved.section)
        }
    };
    if let Some(version) = ask.version {
        page = as_it_was(context, page, version).await?;
    }
    let mut beneath = None;
    if let Some(one) = draft.and_then(|draft| draft.of_page(page.id?)) {
        let after = one.after.clone().ok_or_else(not_there)?;
        beneath = Some(Box::new(std::mem::replace(&mut page, after.into())));
    }
    let is_drafted = beneath.is_some() || page.id.is_none();
    let format = SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref());
    let mut found = PageWithText {
        text: None,
        page,
        format,
        anchor,
        is_ours: false,
        beneath,
    };
    match ask.view {
        PageViewKind::Metadata => {}
        PageViewKind::Content | PageViewKind::Outline => found.text.clone_from(&found.page.content),
        // The wiki has no HTML of old versions or drafts.
        PageViewKind::Rendered | PageViewKind::Text if ask.version.is_some() || is_drafted => {
            found.text = found
                .page
                .content
                .as_deref()
                .map(|text| rendered(text, format));
            found.format = SourceFormat::Html;
            found.is_ours = true;
        }
        PageViewKind::Rendered | PageViewKind::Text => {
            found.text = match wiki.rendered(&found.page).await {
                Ok(html) => Some(html),
                Err(WikiError::Forbidden { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            found.format = SourceFormat::Html;
        }
    }
    Ok(found)
}

/// The place that a name spells out, if it does.
fn named_place(
    context: &ToolContext,
    wanted: &PageLookup,
    said: Option<&Locale>,
) -> Option<PagePlace> {
    let PageLookup::Named(text) = wanted else {
        return None;
    };
    context.new_place(text, said.map(Locale::as_str)).ok()
}

fn not_there() -> Failure {
    Failure::new(Code::PageNotFound, "This draft deletes the page.")
}

/// A page as of an old version; fields that versions do not keep are absent.
async fn as_it_was(context: &ToolContext, page: PageReading, version: i64) -> Result<PageReading> {
    let id = page.id.unwrap_or_default();
    let old = context
        .wiki
        .version(id, version)
        .await?
        .ok_or_else(|| Failure::new(Code::VersionNotFound, "The page has no such version."))?;
    Ok(PageReading {
        id: page.id,
        ..old.page
    })
}

fn rendered(text: &str, format: SourceFormat) -> String {
    match format {
        SourceFormat::Html => text.to_owned(),
        SourceFormat::AsciiDoc | SourceFormat::Other => {
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            format!("<pre>{text}</pre>")
        }
        SourceFormat::Markdown => {
            let mut rendered = String::new();
            let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
            html::push_html(&mut rendered, Parser::new_ext(text, options));
            rendered
        }
    }
}

/// The link graph and the site settings, for pages whose metadata is wanted.
#[derive(Default)]
struct LinkContext {
    /// Its link graph; `None` if it cannot be asked.
    around: Option<LinkNeighbours>,
    /// The site settings that decide where links lead; `None` if unknown.
    site: Option<LinkedSite>,
    /// All pages, if they are in more than one locale; `None` if they could not be listed.
    pages: Option<Arc<AllPages>>,
}

impl LinkContext {
    async fn load(
        context: &ToolContext,
        found: &[Result<PageWithText>],
        ask: &PageReadOptions,
    ) -> Self {
        let pages = found.iter().flatten().map(|found| &found.page);
        let pages: Vec<&PageReading> = pages.collect();
        if ask.view != PageViewKind::Metadata || pages.is_empty() {
            return Self::default();
        }
        let site = context.wiki.linked_site().await;
        let site = site.inspect_err(|error| tracing::debug!(%error, "the site could not be asked"));
        let mut linking = Self {
            around: None,
            site: site.ok(),
            pages: None,
        };
        if ask.version.is_none() {
            linking.pages = if context.wiki.has_other_locales().await {
                context.wiki.pages_lately().await.ok()
            } else {
                Some(Arc::new(AllPages::new(Vec::new())))
            };
            let around = LinkNeighbours::load(&context.wiki, &pages, &mut linking.site).await;
            linking.around = around
                .inspect_err(|error| tracing::debug!(%error, "the link graph could not be read"))
                .ok();
        }
        linking
    }
}

/// The reason why links are missing if the wiki did not list its locales.
const NO_SITE: &str = "the wiki did not list its locales";

/// The metadata of a page, and which parts of it the key could not read.
fn beside(
    found: &PageWithText,
    ask: &PageReadOptions,
    linking: &LinkContext,
) -> (Option<Metadata>, BTreeMap<&'static str, &'static str>) {
    let mut unavailable = unavailable(found, ask);
    if ask.view != PageViewKind::Metadata {
        return (None, unavailable);
    }
    if linking.around.is_none() && ask.version.is_none() {
        unavailable.insert("linkedFrom", "read:pages");
    }
    if linking.pages.is_none() && ask.version.is_none() {
        unavailable.insert("translations", "read:pages");
    }
    if linking.site.is_none() {
        unavailable.insert("links", NO_SITE);
    }
    let (around, site) = (linking.around.as_ref(), linking.site.as_ref());
    let mut metadata = Metadata::new(&found.page, around, site);
    if let Some(all) = &linking.pages {
        metadata = metadata.translated(&found.page, all);
    }
    (Some(metadata), unavailable)
}

fn show(
    context: &ToolContext,
    found: PageWithText,
    (ask, linking): (&PageReadOptions, &LinkContext),
    (most, is_share): (usize, bool),
) -> Result<(PageView, Option<(PageReading, ReadExtent)>)> {
    if found.anchor.is_some() {
        ask.check_beside_section()?;
    }
    let (metadata, unavailable) = beside(&found, ask, linking);
    let as_read = found.as_read(ask);
    let PageWithText {
        mut page,
        format,
        anchor,
        text,
        is_ours,
        ..
    } = found;
    let is_html = matches!(ask.view, PageViewKind::Rendered | PageViewKind::Text) && !is_ours;
    let source_format = SourceFormat::detect(page.content_type.as_deref(), page.editor.as_deref());
    let source = page.content.take().filter(|_| is_html);
    let mut scripts = (page.script_css.take(), page.script_js.take());
    let is_whole = ask.is_whole() && anchor.is_none();
    if !ask.tells_fields(anchor.is_some()) {
        page = brief(page);
    }
    let mut part = Excerpt::default();
    let (mut outlined, mut shown, mut hidden_text, mut seen) = (None, None, None, None);
    let mut is_part = ask.version.is_some() && text.is_some();
    if let Some(text) = text {
        let source = source.as_deref().map(|source| (source, source_format));
        let named = RequestedPart::find((&text, format), source, ask, anchor.as_deref())?;
        // The plain text is reported below, where it is made.
        if ask.view != PageViewKind::Text {
            hidden_text = HiddenText::of(&text, format, scripts.0.as_deref());
        }
        part.section.clone_from(&named.section);
        let range = named.range.clone();
        if let Some(listed) = listing(&text, format, &named, (ask, most))? {
            (part, is_part) = (listed, true);
        } else if ask.view == PageViewKind::Outline {
            let outline = Outline::in_format(&text, format);
            outlined = Some(PageInventory::new(&outline, &range, ask.offset(), most));
        } else {
            let piece = text.get(range.clone()).unwrap_or_default();
            let plain = (ask.view == PageViewKind::Text).then(|| plain_text(piece));
            if let Some(plain) = &plain {
                hidden_text = HiddenText::of_plain(plain, piece, scripts.0.as_deref());
            }
            let (cut, left) = cut(plain.as_deref().unwrap_or(piece), &named, ask, most)?;
            if let Some(page) = as_read {
                let is_all = cut.start == 0 && left == 0;
                let sight = match named.selector.clone().filter(|_| is_all) {
                    Some(selector) => ReadExtent::Part(selector),
                    None => ReadExtent::Piece {
                        from: range.start + cut.start,
                        to: range.start + cut.end,
                        of: text.len(),
                    },
                };
                seen = Some((page, sight));
            }
            part.lines = format!("{}-{}", cut.first_line, cut.last_line);
            if left > 0 {
                part.bytes_left = Some(left);
                part.next_offset = Some(cut.end);
            }
            is_part |= !is_whole || left > 0;
            let room = most.saturating_sub(cut.text.len());
            if is_part && ask.view != PageViewKind::Text {
                // The texts of several pages and what is named of them are bounded together.
                let most = if is_share { room } else { usize::MAX };
                (part.parts, part.parts_left) = below(&text, format, &named, most);
            }
            if is_whole && ask.view == PageViewKind::Content {
                scripts = fitting(scripts, room, &mut part.left_out);
            }
            shown = Some(cut.text);
        }
        part.rendered_by = is_ours.then_some("this server, not the wiki");
    } else if is_whole {
        scripts = fitting(scripts, most, &mut part.left_out);
    }
    is_part |= !part.left_out.is_empty() || (part.section.is_some() && shown.is_some());
    if is_whole && matches!(ask.view, PageViewKind::Content | PageViewKind::Metadata) {
        (page.script_css, page.script_js) = scripts;
    }
    let (mut rendered, mut plain) = (None, None);
    match ask.view {
        PageViewKind::Content => page.content = shown,
        PageViewKind::Rendered => rendered = shown,
        PageViewKind::Text => plain = shown,
        PageViewKind::Outline | PageViewKind::Metadata => {}
    }
    let view = PageView {
        page: WholePage::new(&context.wiki, page),
        metadata,
        rendered,
        text: plain,
        outline: outlined,
        version: ask.version,
        part: is_part.then_some(part),
        hint: hint(&unavailable, ask),
        unavailable,
        hidden_text,
    };
    Ok((view, seen))
}

/// A piece of a text of the wanted size, and how many bytes follow it.
fn cut(
    text: &str,
    named: &RequestedPart,
    ask: &PageReadOptions,
    most: usize,
) -> Result<(Slice, usize)> {
    // Lines of plain text are counted here; lines of a source were already taken with its part.
    let (text, first_line) = match (ask.view, ask.lines()) {
        (PageViewKind::Text, Some(lines)) => (
            text.get(lines_of(text, lines)?).unwrap_or_default(),
            lines.0,
        ),
        (PageViewKind::Text, None) => (text, 1),
        _ => (text, named.first_line),
    };
    if ask.offset() > text.len() {
        let fault = format!("is beyond the end of the text, {}", text.len());
        return refuse("offset", fault);
    }
    let cut = slice(text, ask.offset(), most, first_line, ask.is_numbered);
    let left = text.len() - cut.end;
    Ok((cut, left))
}

/// Fields that were requested and could not be read, with the right each needs.
fn unavailable(
    found: &PageWithText,
    ask: &PageReadOptions,
) -> BTreeMap<&'static str, &'static str> {
    let fields = found.page.unreadable().into_iter();
    let tells_fields = ask.tells_fields(found.anchor.is_some());
    let is_asked = |field: Field| match ask.view {
        PageViewKind::Content | PageViewKind::Outline if field == Field::Content => true,
        PageViewKind::Content | PageViewKind::Metadata => tells_fields && field != Field::Content,
        PageViewKind::Outline | PageViewKind::Rendered | PageViewKind::Text => false,
    };
    let reason = |right| match ask.version {
        Some(_) => NOT_IN_VERSIONS,
        None => right,
    };
    let mut unavailable: BTreeMap<_, _> = fields
        .filter(|(field, _)| is_asked(*field))
        .map(|(field, right)| (field.name(), reason(right)))
        .collect();
    // A page as a draft makes it was written by nobody yet.
    if tells_fields && ask.draft.is_none() && found.page.author_name.is_none() {
        unavailable.insert(AUTHOR, RIGHT_TO_AUTHOR);
    }
    if found.text.is_none() {
        match ask.view {
            PageViewKind::Rendered => unavailable.insert("rendered", RIGHT_TO_RENDERED),
            PageViewKind::Text => unavailable.insert("text", RIGHT_TO_RENDERED),
            PageViewKind::Outline => unavailable.insert("outline", Field::Content.right_to_read()),
            PageViewKind::Metadata if found.page.content.is_none() => {
                let right = Field::Content.right_to_read();
                unavailable.insert("properties", right);
                unavailable.insert("words", right)
            }
            PageViewKind::Content | PageViewKind::Metadata => None,
        };
    }
    unavailable
}

/// Advice on fields that the key cannot read.
fn hint(
    unavailable: &BTreeMap<&'static str, &'static str>,
    ask: &PageReadOptions,
) -> Option<&'static str> {
    let lacks_text = unavailable.contains_key(Field::Content.name());
    (lacks_text && ask.view != PageViewKind::Metadata)
        .then_some("view: text or rendered needs read:pages alone.")
}

/// A page's names and date, which every answer without all fields has.
fn brief(page: PageReading) -> PageReading {
    let mut brief = PageReading::bare(page.id, page.locale, page.path, page.title);
    brief.updated_at = page.updated_at;
    brief
}

/// Styles and scripts, each if it fits into the rest of the budget.
fn fitting(
    (styles, scripts): (Option<String>, Option<String>),
    mut room: usize,
    left_out: &mut Vec<&'static str>,
) -> (Option<String>, Option<String>) {
    let mut fits = |field: Option<String>, name| {
        let text = field?;
        if text.len() > room {
            left_out.push(name);
            return None;
        }
        room -= text.len();
        Some(text)
    };
    (fits(styles, "scriptCss"), fits(scripts, "scriptJs"))
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn who_wants_little_leaves_the_rest_to_the_others() {
        assert_eq!(shares(100, vec![10, 1_000, 20, 1_000]), [10, 35, 20, 35]);
        assert_eq!(shares(100, vec![10, 20]), [10, 20]);
        assert_eq!(shares(2, vec![9, 9, 9]), [1, 1, 1]);
    }
}
