//! Changes fields of a page.

use crate::change::{Change, Edits, NewContent, NewTags, Operation, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, TurnOf};
use crate::page::{Date, Field, PageReading, PageState, PartSelector, part_as_in};
use crate::wiki::{PageRights, Wiki};

use super::{
    Agreed, ChangeSource, ComparedSet, Made, Stopped, WriteCall, conflict, mending, tags_of,
    whole_page,
};
use crate::write::memory::Concerns;
use crate::write::stages::rights::CODE;
use crate::write::{EntryBuilder, ToWrite, faults};

/// The changes to a page.
#[derive(Debug, Clone)]
pub struct Update {
    /// The page.
    pub id: i64,
    /// The fields; `None` if only an id and a preview's token were given.
    pub edits: Option<Box<Edits>>,
    /// The former state whose content is restored, and also its title and description, unless the edits
    /// give them; if they name a section, only its text is.
    pub former: Option<FormerState>,
    /// The fields that may be lost if the key cannot read them.
    pub accept_loss: Vec<Field>,
    /// The time of the page that the caller knows.
    pub if_updated_at: Option<Date>,
    /// True if the links to the page and its own links are mended if it moves.
    pub updates_links: bool,
}

/// A former state of a page.
#[derive(Debug, Clone)]
pub enum FormerState {
    /// A version of the wiki.
    Version(i64),
    /// A state that this server saw: also its tags, styles and scripts are restored, where they were seen
    /// and the key may write them.
    Seen(Box<PageReading>),
}

impl Update {
    /// The change of the page as it is.
    ///
    /// # Errors
    /// `INVALID_INPUT` if nothing is asked for, or why the content cannot be changed so.
    fn of(&self, before: PageState) -> Result<Change> {
        let edits = *self.edits.clone().ok_or_else(nothing_asked_for)?;
        let sought = edits
            .section()
            .map(|selector| (selector.clone(), before.content.clone()));
        Change::update(before, edits).map_err(|fault| {
            let sought = sought.as_ref().map(|(selector, text)| (selector, &**text));
            faults::content_failure(fault, sought)
        })
    }

    /// The same, completed with the wiki's tags and the named version.
    async fn completed(&self, wiki: &Wiki, page: &PageState) -> Result<Self> {
        let mut own = self.clone().with_version(wiki, page).await?;
        // A leading `#` of a tag is dropped, unless the wiki has such a tag.
        let tags = own.edits.as_mut().and_then(|edits| edits.tags.as_mut());
        if let Some(given) = tags.map(NewTags::given_mut) {
            *given = wiki.without_hash(std::mem::take(given)).await?;
        }
        Ok(own)
    }

    /// The same, with the content of the named version filled in.
    async fn with_version(self, wiki: &Wiki, page: &PageState) -> Result<Self> {
        let missing = || Failure::new(Code::VersionNotFound, "The page has no such version.");
        let version = match self.former {
            Some(FormerState::Seen(seen)) => *seen,
            Some(FormerState::Version(version)) => {
                let version = wiki.version(self.id, version).await?;
                version.ok_or_else(missing)?.page
            }
            None => return Ok(self),
        };
        let content = version.content.as_ref().ok_or_else(missing)?;
        if let Some(editor) = version
            .editor
            .as_ref()
            .filter(|editor| **editor != page.editor)
        {
            return Err(Failure::new(
                Code::EditNotApplicable,
                "The version was written with another editor than the page has now.",
            )
            .hint("An administrator can convert the page to the version's editor in the wiki.")
            .detail("editor", editor.as_str()));
        }
        let mut edits = self.edits.unwrap_or_default();
        if let Some(NewContent::Section {
            selector,
            content: part,
            ..
        }) = &mut edits.content
        {
            *part = part_of_version(&page.content, content, selector)?;
        } else {
            edits.content = Some(NewContent::Whole(content.clone()));
            let (css, js) = code_of(wiki, page, &version).await;
            edits.title = edits.title.or(Some(version.title));
            edits.description = edits.description.or(version.description);
            edits.tags = edits.tags.or(version.tags.map(NewTags::All));
            edits.script_css = edits.script_css.or(css);
            edits.script_js = edits.script_js.or(js);
        }
        Ok(Self {
            edits: Some(edits),
            former: None,
            ..self
        })
    }

    /// The warning of what stays as it is, although the state that is restored may have had another one.
    fn not_restored(&self, completed: &Self) -> Option<Warning> {
        let is_seen = matches!(self.former, Some(FormerState::Seen(_)));
        let edits = completed.edits.as_ref();
        let edits = edits.filter(|edits| is_seen && edits.section().is_none())?;
        let left = [
            ("tags", edits.tags.is_none()),
            ("scriptCss", edits.script_css.is_none()),
            ("scriptJs", edits.script_js.is_none()),
        ];
        let left = left.into_iter().filter(|(_, is_left)| *is_left);
        let left: Vec<&str> = left.map(|(name, _)| name).collect();
        let message = format!(
            "it was not seen in that state, or this key may not write it, so it stays as it is: {}.",
            left.join(", ")
        );
        (!left.is_empty()).then(|| Warning::new("not_seen", message))
    }

    /// True if it asks for the change that was shown. A call that names only its page asks for
    /// whatever was shown.
    fn agrees_with(&self, shown: &ChangeSet) -> bool {
        let only = shown.first();
        if self.edits.is_some() && shown.is_list() != self.updates_links {
            return false;
        }
        let is_own = only.undoes.is_none() && shown.proposal().is_none();
        let Some(before) = only.change.before().filter(|page| page.id == Some(self.id)) else {
            return false;
        };
        if self.edits.is_none() {
            return is_own && only.change.after().is_some();
        }
        // A loss that the preview accepted need not be named again; any other one is a mismatch.
        let named = &self.accept_loss;
        let lost = only.change.lost().iter().copied();
        let lost = lost.filter(|lost| named.is_empty() || named.contains(lost));
        let lost: Vec<Field> = lost.collect();
        self.of(before.clone())
            .is_ok_and(|asked| is_own && mending::is_asked(asked.with_loss_of(lost), only, shown))
    }

    /// The change of the content, if one is asked for.
    fn content(&self) -> Option<&NewContent> {
        self.edits.as_ref()?.content.as_ref()
    }

    /// The time that the caller names, and the part of the content that it changes.
    fn known(&self) -> (Option<&Date>, Option<Concerns>) {
        let concerns = self.content().map(|content| match content {
            NewContent::Whole(_) => Concerns::Whole,
            NewContent::Section { selector, .. } => Concerns::Part(selector.to_string()),
            NewContent::Edits(_)
            | NewContent::Everywhere(_)
            | NewContent::Patch(_)
            | NewContent::FrontMatter(_) => Concerns::Places,
        });
        (self.if_updated_at.as_ref(), concerns)
    }

    /// True if it gives styles for an existing page.
    fn says_styles(&self) -> bool {
        let edits = self.edits.as_ref();
        edits.is_some_and(|edits| edits.script_css.is_some())
    }
}

impl ChangeSource for Update {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.names(Operation::Update, self.id);
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        // In a set, each change takes a turn of its own.
        if self.updates_links {
            return TurnOf::default();
        }
        let edits = self.edits.as_ref();
        let moves = edits.is_none_or(|edits| edits.path.is_some() || edits.locale.is_some());
        TurnOf::new(Some(self.id), moves)
    }

    fn says_whole_content(&self) -> bool {
        matches!(self.content(), Some(NewContent::Whole(_)))
    }

    async fn said(&self, _: WriteCall<'_>, set: &ChangeSet) -> Vec<Warning> {
        let tags = self.edits.as_ref().and_then(|edits| edits.tags.as_ref());
        let warning = tags.and_then(|tags| tags.warning(&tags_of(set)));
        warning.into_iter().collect()
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        let wiki = call.wiki();
        let read = whole_page::to_write(wiki, self.id, &self.accept_loss).await?;
        if self.says_styles() && !read.page.knows(Field::ScriptCss) && read.lost.is_empty() {
            let reading = wiki.page_by_id(self.id).await.map_err(Failure::from)?;
            return Err(whole_page::unreadable(&reading).into());
        }
        let base = call.base(&read.page).await?;
        let page = base.as_ref().unwrap_or(&read.page);
        let own = self.completed(wiki, page).await?;
        let not_restored = self.not_restored(&own);
        let warning = own.content().and_then(|content| content.warning(page));
        let remake = |page| own.of(page).ok();
        let conflict = conflict::check(call, own.known(), &read, remake).await?;
        let change = match base {
            Some(base) => own.of(base)?.on(read.page),
            None => own.of(read.page)?,
        };
        let change = change.with_loss_of(read.lost);
        let set = if self.updates_links && !call.drafts() {
            list(call, change).await?
        } else {
            ChangeSet::single(call.id, change)
        };
        let set = set.warned(warning).warned(not_restored);
        Ok(ComparedSet::of(set, conflict))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        Ok(match shown.first().change.before() {
            Some(page) => self.completed(call.wiki(), page).await?.agrees_with(shown),
            None => self.agrees_with(shown),
        })
    }

    async fn look_again(&self, call: WriteCall<'_>, read: &ToWrite) -> Result<(), Stopped> {
        if self.if_updated_at.is_some() {
            let own = self.completed(call.wiki(), &read.page).await?;
            let remake = |page| own.of(page).ok();
            conflict::check(call, own.known(), read, remake).await?;
        }
        Ok(())
    }
}

/// The styles and scripts of a former state, as far as they are known and the key may write them.
async fn code_of(
    wiki: &Wiki,
    page: &PageState,
    version: &PageReading,
) -> (Option<String>, Option<String>) {
    let mut rights = PageRights::default();
    if CODE.iter().any(|(field, _)| version.knows(*field)) {
        // Where the wiki tells nothing, it decides when the write is sent.
        let place = PageReading::from(page.clone());
        rights = wiki.rights_to_code(&place).await.unwrap_or_default();
    }
    let [css, js] =
        CODE.map(|(field, right)| page.knows(field) && rights.has(right) != Some(false));
    (
        version.script_css.clone().filter(|_| css),
        version.script_js.clone().filter(|_| js),
    )
}

/// The text of a part of a page as a version has it.
fn part_of_version(page: &str, version: &str, part: &PartSelector) -> Result<String> {
    let found = part_as_in(page, version, part).map_err(|fault| {
        faults::part_failure(fault, Some(part), page)
            .hint("A part that the page lacks comes back as new text: read it with the version, and put it in with sectionMode insertAfter.")
    })?;
    found.map_err(|fault| {
        let failure = faults::part_failure(fault, Some(part), version);
        Failure {
            message: "The version has no such section, or several; details.headings and details.candidates are the version's.".to_owned(),
            ..failure
        }
    })
}

/// The set of a move and of the changes that mend the links to its page.
async fn list(call: WriteCall<'_>, change: Change) -> Result<ChangeSet> {
    if !change.moves() {
        return Err(needs_move());
    }
    let (changes, mending) = mending::with_links(call, vec![change], &[]).await?;
    let set = ChangeSet::list(call.id, changes).ok_or_else(nothing_asked_for)?;
    Ok(set.with(|batch| batch.mending = Some(mending)))
}

/// The failure of `updateLinks` without a move.
pub(super) fn needs_move() -> Failure {
    let message = "The argument updateLinks needs a new path or locale.";
    Failure::of_argument("updateLinks", message)
        .hint("Name path or locale, or leave updateLinks out.")
}

fn nothing_asked_for() -> Failure {
    Failure::new(Code::InvalidInput, "Nothing was asked for.")
        .hint("Name at least one field to change; with a preview's token, pass it as confirm.")
}

#[cfg(test)]
mod tests {
    use super::Update;
    use crate::audit::CallId;
    use crate::change::{Change, Edits};
    use crate::error::Code;
    use crate::gates::SetChange;
    use crate::page::Field;
    use crate::page::testing::{But as _, page, titled};
    use crate::write::testing::set;

    fn update(id: i64, title: Option<&str>, accept_loss: &[Field]) -> Update {
        let edits = title
            .map(|title| Box::new(Edits::default().but(|it| it.title = Some(title.to_owned()))));
        Update {
            id,
            edits,
            former: None,
            accept_loss: accept_loss.to_vec(),
            if_updated_at: None,
            updates_links: false,
        }
    }

    fn retitled(lost: &[Field]) -> Change {
        Change::between(page(), titled("B")).with_loss_of(lost.to_vec())
    }

    #[test]
    fn a_token_counts_for_the_change_that_was_shown_and_no_other() {
        let shown = set(retitled(&[]));
        for (own, expected) in [
            (update(1, Some("B"), &[]), true),
            (update(1, Some("C"), &[]), false),
            (update(2, Some("B"), &[]), false),
            (update(1, None, &[]), true),
            (update(2, None, &[]), false),
        ] {
            assert_eq!(own.agrees_with(&shown), expected, "{own:?}");
        }
        let undoes = Some(CallId::new().unwrap());
        let change = retitled(&[]);
        let undo = set(SetChange::from(change).undoing(undoes));
        let proposal = shown.of_proposal(Some("00000000000000aa".parse().unwrap()));
        for own in [update(1, Some("B"), &[]), update(1, None, &[])] {
            assert!(!own.agrees_with(&undo), "{own:?}");
            assert!(!own.agrees_with(&proposal), "{own:?}");
            for other in [Change::delete(page()), Change::recreate(page())] {
                assert!(!own.agrees_with(&set(other)), "{own:?}");
            }
        }
    }

    #[test]
    fn a_loss_that_was_shown_need_not_be_named_again_but_no_other_one() {
        let (css, js) = (Field::ScriptCss, Field::ScriptJs);
        let shown = set(retitled(&[css, js]));
        for (named, expected) in [
            (&[][..], true),
            (&[css, js], true),
            (&[css], false),
            (&[css, js, Field::Tags], true),
        ] {
            let own = update(1, Some("B"), named);
            assert_eq!(own.agrees_with(&shown), expected, "{named:?}");
        }
    }

    #[test]
    fn without_fields_nothing_is_asked_for() {
        let failure = update(1, None, &[]).of(page()).unwrap_err();
        assert_eq!(failure.code, Code::InvalidInput);
    }
}
