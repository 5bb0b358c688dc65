//! `wikijs_update_page`: changes the given fields of a page, and nothing else.

use serde_json::{Map, Value};

use super::comparison::{MAX_VERSION, seen_version};
use super::prelude::*;
use crate::change::{Edits, NewContent, NewTags, ReplaceAll};
use crate::page::{self, Field, Locale, SectionMode};
use crate::wiki::Wiki;
use crate::write::{FormerState, Update, WriteRequest};

/// The tool.
pub(super) struct UpdatePage;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A preview's token (other arguments must be as there), or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    #[garde(range(min = 1, max = 2_147_483_647))]
    id: i64,
    // Joins this draft: nothing is sent.
    #[garde(custom(rule::optional(rule::draft)))]
    draft: Option<String>,
    /// The updatedAt that you know.
    #[garde(custom(rule::optional(rule::time)))]
    if_updated_at: Option<String>,
    #[garde(custom(rule::optional(rule::new_place)))]
    path: Option<String>,
    #[garde(custom(rule::optional(rule::locale)))]
    locale: Option<String>,
    /// With a new path or locale: mends links to the page and its own, as one set.
    #[garde(skip)]
    update_links: Option<bool>,
    #[garde(custom(rule::optional(rule::title)))]
    title: Option<String>,
    /// All of it; or one of edits, patch, section, fromVersion, frontMatter.
    #[garde(custom(rule::optional(rule::content)))]
    content: Option<String>,
    /// Exact, in order; each oldText is once in the page (replaceAll: anywhere).
    #[garde(length(min = 1, max = 100), dive)]
    edits: Option<Vec<TextEdit>>,
    #[garde(skip)]
    replace_all: Option<bool>,
    #[garde(skip)]
    outside_code: Option<bool>,
    /// Sets keys of the YAML block on top; null removes.
    #[garde(skip)]
    front_matter: Option<Map<String, Value>>,
    /// A unified diff.
    #[garde(length(chars, min = 1), custom(rule::optional(rule::text)))]
    patch: Option<String>,
    /// Of a Markdown page: h2[0], section[0] (before the first heading), block:table[0], a heading's text or path (Install/Linux).
    #[garde(custom(rule::optional(rule::selector)))]
    section: Option<String>,
    /// Replace: heading too. Append: rows or items join a last table or list.
    #[garde(length(chars, min = 1), custom(rule::optional(rule::text)))]
    section_content: Option<String>,
    /// Default replace.
    #[garde(skip)]
    section_mode: Option<SectionMode>,
    /// versionId to restore: content, title and description, or the section.
    #[garde(range(min = 1))]
    from_version: Option<i64>,
    #[garde(custom(rule::optional(rule::description)))]
    description: Option<String>,
    /// All tags.
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    tags: Option<Vec<String>>,
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    add_tags: Option<Vec<String>>,
    #[garde(inner(inner(custom(rule::required(rule::tag)))))]
    remove_tags: Option<Vec<String>>,
    #[garde(skip)]
    is_published: Option<bool>,
    #[garde(custom(rule::optional(rule::date)))]
    publish_start_date: Option<String>,
    #[garde(custom(rule::optional(rule::date)))]
    publish_end_date: Option<String>,
    #[garde(custom(rule::optional(rule::text)))]
    script_css: Option<String>,
    #[garde(custom(rule::optional(rule::text)))]
    script_js: Option<String>,
    /// After `FIELD_UNREADABLE`, if the user agrees.
    #[garde(length(max = 4))]
    accept_loss: Option<Vec<Losable>>,
    /// Why, for whoever decides.
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

// What an update overwrites although not every key can read it. (A doc comment would be sent to
// clients.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Losable {
    PublishStartDate,
    PublishEndDate,
    ScriptCss,
    ScriptJs,
}

impl From<Losable> for Field {
    fn from(losable: Losable) -> Self {
        match losable {
            Losable::PublishStartDate => Self::PublishStartDate,
            Losable::PublishEndDate => Self::PublishEndDate,
            Losable::ScriptCss => Self::ScriptCss,
            Losable::ScriptJs => Self::ScriptJs,
        }
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct TextEdit {
    #[garde(length(chars, min = 1), custom(rule::required(rule::text)))]
    old_text: String,
    #[garde(custom(rule::required(rule::text)))]
    new_text: String,
}

impl From<TextEdit> for page::TextReplacement {
    fn from(edit: TextEdit) -> Self {
        Self {
            old_text: edit.old_text,
            new_text: edit.new_text,
        }
    }
}

impl WriteTool for UpdatePage {
    const NAME: &'static str = "wikijs_update_page";
    const DESCRIPTION: &'static str = "Change fields of a page, move or rename it (path), restore a version; what is left out stays, \"\" or [] clears. Small changes of the text: edits or section. Without confirm you may get a preview and a token: show the user, then call again with id and confirm.";
    const TAKES_PAGE_NAME: bool = true;
    const EXPLAINED: Explained = &[
        (
            "editor",
            "cannot be changed: Wiki.js ignores it in an update",
        ),
        (
            "isPrivate",
            "cannot be changed: Wiki.js ignores it in an update",
        ),
    ];
    type Input = Input;

    async fn request(context: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let edits = edits(&context.wiki, &input)?;
        if edits.is_empty() && input.from_version.is_none() {
            let Some(token) = &input.confirm else {
                let failure = invalid_argument("", "nothing to change is named");
                return Err(failure.hint("Besides id, name a field, such as title, edits or path."));
            };
            context.desk.takes_token(&context.caller, token).await?;
        }
        let accept_loss = input.accept_loss.clone().unwrap_or_default();
        let is_named = !edits.is_empty() || input.from_version.is_some();
        let former = match input.from_version {
            Some(version) if version > MAX_VERSION => {
                let now = context.wiki.page_by_id(input.id).await?;
                let seen = seen_version(context, &now, version).await?;
                Some(FormerState::Seen(Box::new(seen)))
            }
            version => version.map(FormerState::Version),
        };
        let plan = WriteRequest::Update(Update {
            id: input.id,
            edits: is_named.then(|| Box::new(edits)),
            former,
            accept_loss: accept_loss.into_iter().map(Field::from).collect(),
            if_updated_at: input::date("ifUpdatedAt", input.if_updated_at.as_deref())?,
            updates_links: input.update_links == Some(true),
        });
        let write = RequestedWrite::new(plan, input.confirm, input.note);
        Ok(write.joining(input.draft))
    }
}

/// The fields to change.
fn edits(wiki: &Wiki, input: &Input) -> Result<Edits> {
    let said = input.locale.as_deref();
    let (locale, path) = match &input.path {
        Some(path) => {
            let (locale, path) = input::new_place(wiki, path, said)?;
            (locale, Some(path))
        }
        None => (said.map(Locale::as_stored), None),
    };
    Ok(Edits {
        path,
        locale,
        title: input.title.clone(),
        content: content(input)?,
        description: input.description.clone(),
        tags: tags(input)?,
        is_published: input.is_published,
        publish_start_date: input::date("publishStartDate", input.publish_start_date.as_deref())?,
        publish_end_date: input::date("publishEndDate", input.publish_end_date.as_deref())?,
        script_css: input.script_css.clone(),
        script_js: input.script_js.clone(),
    })
}

/// The one way to change the content.
fn content(input: &Input) -> Result<Option<NewContent>> {
    // With a section, a version gives only that part.
    let is_whole_version = input.from_version.is_some() && input.section.is_none();
    let ways = [
        ("content", input.content.is_some()),
        ("edits", input.edits.is_some()),
        ("patch", input.patch.is_some()),
        ("section", input.section.is_some()),
        ("fromVersion", is_whole_version),
        ("frontMatter", input.front_matter.is_some()),
    ];
    let mut given = ways.iter().filter(|(_, is_given)| *is_given);
    if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
        let message =
            format!("cannot be combined with {first}: name one way to change the content");
        return refuse(second, message);
    }
    let is_everywhere = input.replace_all == Some(true);
    let said = input.section_content.as_ref().map(|_| "sectionContent");
    let of_part = said.or(input.section_mode.map(|_| "sectionMode"));
    let of_edits = input.replace_all.map(|_| "replaceAll");
    for (given, needed, is_there) in [
        (of_part, "section", input.section.is_some()),
        (of_edits, "edits", input.edits.is_some()),
    ] {
        if let Some(name) = given.filter(|_| !is_there) {
            let failure = invalid_argument(name, format!("needs {needed}"));
            return Err(match needed {
                "section" => failure.hint("Name a heading as section. To add at the end of the page, name its last heading, with sectionMode append."),
                _ => failure,
            });
        }
    }
    let edits = input.edits.clone();
    let all = everywhere(edits.filter(|_| is_everywhere), input.outside_code)?;
    Ok(Some(if let Some(content) = &input.content {
        NewContent::Whole(content.clone())
    } else if let Some(patch) = &input.patch {
        NewContent::Patch(patch.clone())
    } else if let Some(set) = &input.front_matter {
        NewContent::FrontMatter(set.clone())
    } else if let Some(section) = &input.section {
        of_section(input, section)?
    } else if is_everywhere {
        NewContent::Everywhere(all)
    } else if let Some(edits) = &input.edits {
        NewContent::Edits(edits.iter().cloned().map(Into::into).collect())
    } else {
        return Ok(None);
    }))
}

/// The texts to replace everywhere.
pub(super) fn everywhere(
    edits: Option<Vec<TextEdit>>,
    outside_code: Option<bool>,
) -> Result<ReplaceAll> {
    if outside_code.is_some() && edits.is_none() {
        return refuse("outsideCode", "needs replaceAll");
    }
    let edits = edits.unwrap_or_default().into_iter();
    Ok(ReplaceAll {
        edits: edits.map(page::TextReplacement::from).collect(),
        outside_code: outside_code == Some(true),
    })
}

fn of_section(input: &Input, section: &str) -> Result<NewContent> {
    let mode = input.section_mode.unwrap_or(SectionMode::Replace);
    let is_version = input.from_version.is_some();
    let fault = match (&input.section_content, mode) {
        (Some(_), _) if is_version => Some("cannot be combined with fromVersion"),
        (None, SectionMode::Replace) if is_version => None,
        (_, _) if is_version => {
            return refuse(
                "sectionMode",
                "must be replace, or left out, beside fromVersion",
            );
        }
        (Some(_), SectionMode::Remove) => Some("cannot be combined with sectionMode remove"),
        (None, SectionMode::Remove) | (Some(_), _) => None,
        (None, _) => {
            Some("is required beside section; to take the section away, use sectionMode remove")
        }
    };
    if let Some(fault) = fault {
        return refuse("sectionContent", fault);
    }
    Ok(NewContent::Section {
        selector: input::part(section)?,
        mode,
        content: input.section_content.clone().unwrap_or_default(),
    })
}

fn tags(input: &Input) -> Result<Option<NewTags>> {
    let read = |tags: &Option<Vec<String>>| tags.clone().map(input::tags).transpose();
    let (all, add, remove) = (
        read(&input.tags)?,
        read(&input.add_tags)?,
        read(&input.remove_tags)?,
    );
    match (all, add, remove) {
        (None, None, None) => Ok(None),
        (Some(all), None, None) => Ok(Some(NewTags::All(all))),
        (Some(_), _, _) => refuse(
            "tags",
            "are all of the tags, and cannot be combined with addTags or removeTags",
        ),
        (None, add, remove) => {
            let (add, remove) = (add.unwrap_or_default(), remove.unwrap_or_default());
            if add.iter().any(|tag| remove.contains(tag)) {
                return refuse("removeTags", "has a tag that addTags has, too");
            }
            Ok(Some(NewTags::Some { add, remove }))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Losable;
    use crate::page::Field;

    #[test]
    fn a_caller_may_accept_the_loss_of_what_an_update_overwrites_unread() {
        for field in Field::ALL {
            let losable: Result<Losable, _> = serde_json::from_value(json!(field.name()));
            let losable = losable.ok().map(Field::from);
            assert_eq!(losable, field.may_be_lost().then_some(field), "{field}");
        }
    }
}
