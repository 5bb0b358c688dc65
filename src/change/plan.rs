//! A change, and the steps in which Wiki.js can make it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ContentFault, Edits, Operation};
use crate::page::{
    Attached, DiffStyle, Difference, Field, LineCounts, Locale, NewPath, PagePath, PageState,
    unified_diff,
};

/// A planned write: a page before, a page after, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Change {
    states: States,
    /// Fields whose old values could not be read and which are empty afterwards.
    lost: Vec<Field>,
    /// Fields that stay as they are because their old values are unknown.
    left_alone: Vec<Field>,
    /// The path, in its old locale, at which its page stands between its old and its new place.
    aside: Option<PagePath>,
    /// True if the page is written once more after its move, so that the wiki renders it there.
    renders_anew: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum States {
    Create { after: PageState },
    Update { before: PageState, after: PageState },
    Delete { before: PageState },
}

impl Change {
    const fn new(states: States) -> Self {
        Self {
            states,
            lost: Vec::new(),
            left_alone: Vec::new(),
            aside: None,
            renders_anew: false,
        }
    }

    /// The same move by a temporary place, a path in the page's old locale; `None` moves it directly.
    pub fn by_way_of(self, aside: Option<PagePath>) -> Self {
        let aside = aside.filter(|_| self.moves());
        Self { aside, ..self }
    }

    /// The path in its old locale at which the page stands between its old and its new place, if it
    /// does not move directly.
    pub const fn aside(&self) -> Option<&PagePath> {
        self.aside.as_ref()
    }

    /// The first step of a move by a temporary place, as a change of its own.
    pub fn to_aside(&self) -> Option<Self> {
        let before = self.before().filter(|_| self.aside.is_some())?;
        Some(Self::between(
            before.clone(),
            self.after_step(Operation::Aside)?.into_owned(),
        ))
    }

    /// The same move, after which the page is written once more even if nothing else changes: the
    /// wiki renders a page where it is written, and a move renders nothing (W49).
    pub fn rendered_anew(self, renders_anew: bool) -> Self {
        let renders_anew = renders_anew && self.moves();
        Self {
            renders_anew,
            ..self
        }
    }

    /// True if the page is written once more after its move, only to be rendered there.
    pub const fn renders_anew(&self) -> bool {
        self.renders_anew
    }

    /// The same change, with fields whose old values could not be read and will be empty.
    pub fn with_loss_of(mut self, lost: Vec<Field>) -> Self {
        if let States::Update { after, .. } = &mut self.states {
            // The values that the update writes there are known.
            after.unknown.retain(|field| !lost.contains(field));
        }
        Self { lost, ..self }
    }

    /// The same change without fields that it should restore to unknown values.
    pub fn without(self, left_alone: Vec<Field>) -> Self {
        Self { left_alone, ..self }
    }

    /// The fields that should be restored to unknown values and therefore stay as they are.
    pub fn left_alone(&self) -> &[Field] {
        &self.left_alone
    }

    /// The fields whose old values could not be read. They will be empty, or as the change sets
    /// them, and the old values cannot be restored.
    pub fn lost(&self) -> &[Field] {
        &self.lost
    }

    /// Fields of a page change.
    ///
    /// # Errors
    /// Why the source cannot become what was asked for.
    pub fn update(before: PageState, edits: Edits) -> Result<Self, ContentFault> {
        let after = edits.onto(&before)?;
        Ok(Self::between(before, after))
    }

    /// A page comes to be, or something that belongs to a page.
    pub const fn add(after: PageState) -> Self {
        Self::new(States::Create { after })
    }

    /// A page goes.
    pub const fn delete(before: PageState) -> Self {
        Self::new(States::Delete { before })
    }

    /// Moves a page to the trash, unpublished.
    pub fn trash(before: PageState, place: NewPath) -> Self {
        let after = PageState {
            path: place.into_path(),
            is_published: false,
            updated_at: None,
            ..before.clone()
        };
        Self::between(before, after)
    }

    /// Creates a deleted page again, with every field and a new id.
    pub fn recreate(page: PageState) -> Self {
        let thing = page.thing.map(Attached::anew);
        let after = PageState {
            // What belongs to a page comes back to that page.
            id: page.id.filter(|_| thing.is_some()),
            updated_at: None,
            thing,
            ..page
        };
        Self::new(States::Create { after })
    }

    /// The change between two states of one page.
    pub const fn between(before: PageState, after: PageState) -> Self {
        Self::new(States::Update { before, after })
    }

    /// The change between two states of a page, of which `None` is no page; `None` if there is none
    /// before and after.
    pub fn of_states(before: Option<PageState>, after: Option<PageState>) -> Option<Self> {
        match (before, after) {
            (None, None) => None,
            (None, Some(after)) => Some(Self::recreate(after)),
            (Some(before), None) => Some(Self::delete(before)),
            (Some(before), Some(after)) => Some(Self::between(before, after)),
        }
    }

    /// The same change with another page after it.
    pub fn with_after(self, after: PageState) -> Self {
        let states = match self.states {
            States::Create { .. } => States::Create { after },
            States::Update { before, .. } => States::Update { before, after },
            States::Delete { before } => States::Delete { before },
        };
        Self { states, ..self }
    }

    /// The same change of the page as it was just read.
    pub fn on(self, before: PageState) -> Self {
        let states = match self.states {
            States::Create { after } => States::Create { after },
            States::Update { after, .. } => States::Update { before, after },
            States::Delete { .. } => States::Delete { before },
        };
        Self { states, ..self }
    }

    /// The page as it was; `None` for a create.
    pub const fn before(&self) -> Option<&PageState> {
        match &self.states {
            States::Create { .. } => None,
            States::Update { before, .. } | States::Delete { before } => Some(before),
        }
    }

    /// The page as it shall be; `None` for a delete.
    pub const fn after(&self) -> Option<&PageState> {
        match &self.states {
            States::Delete { .. } => None,
            States::Update { after, .. } | States::Create { after } => Some(after),
        }
    }

    /// The page that represents the change: as it was, or for a create as it shall be.
    pub const fn target(&self) -> &PageState {
        match &self.states {
            States::Create { after } => after,
            States::Update { before, .. } | States::Delete { before } => before,
        }
    }

    /// The comment or asset that it changes; `None` if it changes the page itself.
    pub const fn thing(&self) -> Option<&Attached> {
        self.target().thing.as_ref()
    }

    /// The page's places before, in between and after: all that the gate *paths* must check.
    pub fn places(&self) -> impl Iterator<Item = (&Locale, &PagePath)> {
        let aside = self.before().zip(self.aside.as_ref());
        let both = [self.before(), self.after()].into_iter().flatten();
        both.map(|page| (&page.locale, &page.path))
            .chain(aside.map(|(before, path)| (&before.locale, path)))
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let page = |page: &PageState| {
            let thing = page.thing.as_ref().map_or(0, Attached::size);
            page.content.len() + page.script_css.len() + page.script_js.len() + thing + 1_024
        };
        let both = [self.before(), self.after()].into_iter().flatten();
        both.map(page).sum()
    }

    /// True if both make the same change of the same page: all thirteen fields are equal before and
    /// after. The time of the last write may differ, since other pages can change it.
    pub fn is_same_write(&self, other: &Self) -> bool {
        let same = |ours: Option<&PageState>, theirs: Option<&PageState>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                let is_same_thing = match (&ours.thing, &theirs.thing) {
                    (Some(ours), Some(theirs)) => ours.is_same(theirs),
                    (ours, theirs) => ours.is_none() && theirs.is_none(),
                };
                ours.id == theirs.id && is_same_thing && ours.difference(theirs).is_empty()
            }
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        self.lost == other.lost
            && self.renders_anew == other.renders_anew
            && same(self.before(), other.before())
            && same(self.after(), other.after())
    }

    /// True if the page is at another place afterwards.
    pub fn moves(&self) -> bool {
        let States::Update { before, after } = &self.states else {
            return false;
        };
        let stays = before.same(after, Field::Path) && before.same(after, Field::Locale);
        self.thing().is_none() && !stays
    }

    /// The changed fields; for a create or a delete, all that have a value, and whether it is published.
    pub fn fields(&self) -> Vec<Field> {
        match &self.states {
            States::Update { before, after } => before.difference(after),
            States::Create { after: page } | States::Delete { before: page } => page
                .own_fields()
                .filter(|field| *field == Field::IsPublished || !is_blank(&page.value(*field)))
                .collect(),
        }
    }

    /// True if there is nothing to do.
    pub fn is_empty(&self) -> bool {
        matches!(&self.states, States::Update { .. }) && self.fields().is_empty()
    }

    /// The word for it.
    pub fn operation(&self) -> Operation {
        match (self.thing(), &self.states) {
            (None, States::Create { .. }) => Operation::Create,
            (None, States::Update { before, after }) => match before.difference(after).as_slice() {
                fields @ [_, ..] if fields.iter().all(|field| field.is_place()) => Operation::Move,
                _ => Operation::Update,
            },
            (None, States::Delete { .. }) => Operation::Delete,
            (Some(Attached::Comment(_)), States::Create { .. }) => Operation::AddComment,
            (Some(Attached::Comment(_)), States::Update { .. }) => Operation::ChangeComment,
            (Some(Attached::Comment(_)), States::Delete { .. }) => Operation::DeleteComment,
            (Some(Attached::Asset(_)), States::Create { .. }) => Operation::UploadAsset,
            (Some(Attached::Asset(_)), States::Update { before, after }) => {
                match before.difference(after).as_slice() {
                    [Field::Path] => Operation::RenameAsset,
                    _ => Operation::UploadAsset,
                }
            }
            (Some(Attached::Asset(_)), States::Delete { .. }) => Operation::DeleteAsset,
        }
    }

    /// The mutations of the change, in order.
    ///
    /// A page that moves and changes is moved first, so that a failed move leaves nothing written
    /// (W14). If a page is titled like its last segment, the wiki's move changes the title to the
    /// new segment; then the title is written back.
    pub fn steps(&self) -> Vec<Operation> {
        match (&self.states, self.thing()) {
            (States::Update { .. }, Some(Attached::Asset(_))) => {
                let of_field = |field| match field {
                    Field::Path => Operation::RenameAsset,
                    _ => Operation::UploadAsset,
                };
                self.fields().into_iter().map(of_field).collect()
            }
            (States::Update { .. }, Some(_)) if self.is_empty() => Vec::new(),
            (States::Create { .. } | States::Delete { .. }, _)
            | (States::Update { .. }, Some(_)) => vec![self.operation()],
            (States::Update { before, after }, None) => {
                let moves = self.moves();
                let rest = self.fields().iter().any(|field| !field.is_place());
                let retitles = moves
                    && before.title == before.path.last_segment()
                    && after.title != after.path.last_segment();
                let steps = [
                    (self.aside.is_some(), Operation::Aside),
                    (moves, Operation::Move),
                    (rest || retitles || self.renders_anew, Operation::Update),
                ];
                let needed = steps.into_iter().filter(|(is_needed, _)| *is_needed);
                needed.map(|(_, step)| step).collect()
            }
        }
    }

    /// True if the wiki rebuilds its page tree for one of the steps (W19).
    pub fn rebuilds_tree(&self) -> bool {
        self.steps().into_iter().any(Operation::rebuilds_tree)
    }

    /// The state that a step shall leave behind; `None` for a delete.
    pub fn after_step(&self, step: Operation) -> Option<Cow<'_, PageState>> {
        match (&self.states, step) {
            (States::Update { before, .. }, Operation::Aside) => {
                let path = self.aside.as_ref()?;
                Some(moved(before, &before.locale, path))
            }
            (States::Update { before, after }, Operation::Move) => {
                Some(moved(before, &after.locale, &after.path))
            }
            (States::Update { before, after }, Operation::RenameAsset) => {
                let mut renamed = before.clone();
                renamed.take(Field::Path, after);
                Some(Cow::Owned(renamed))
            }
            _ => self.after().map(Cow::Borrowed),
        }
    }

    /// The difference of the content, and how many lines it adds and removes.
    pub fn content_diff(&self) -> (String, LineCounts) {
        let difference = self.content_difference();
        (difference.unified(), difference.counts())
    }

    /// The lines of the content that differ.
    pub fn content_difference(&self) -> Difference<'_> {
        let [before, after] = self.texts(Field::Content);
        Difference::new(before, after)
    }

    /// A field with text before and after; empty where there is no page.
    fn texts(&self, field: Field) -> [&str; 2] {
        let pages = [self.before(), self.after()];
        pages.map(|page| page.and_then(|page| page.text(field)).unwrap_or_default())
    }

    /// The difference of styles or scripts, and how many lines it adds and removes; `None` for
    /// other fields.
    pub fn code_diff(&self, field: Field) -> Option<(String, LineCounts)> {
        let [before, after] = self.texts(field);
        field.is_code().then(|| unified_diff(before, after))
    }

    /// Each changed field with its values before and after; styles and scripts as a difference with
    /// its counts. The content is left out, since it has its own difference.
    pub fn values(&self) -> Map<String, Value> {
        let reply = match self.thing() {
            Some(Attached::Comment(comment)) if self.before().is_none() => comment.reply_to,
            _ => None,
        };
        let reply = reply.map(|to| ("replyTo".to_owned(), json!({ "after": to })));
        let made = match self.after().and_then(|after| after.thing.as_ref()) {
            Some(Attached::Asset(asset)) if !asset.makes.is_empty() => Some(&asset.makes),
            _ => None,
        };
        let made = made.map(|made| ("folders".to_owned(), json!({ "after": made })));
        let aside = self.aside.as_ref().map(PagePath::as_str);
        let aside = aside.map(|path| ("temporaryPath".to_owned(), json!({ "after": path })));
        self.fields()
            .into_iter()
            .filter(|field| field.shown() != DiffStyle::Text)
            .map(|field| {
                let states = [("before", self.before()), ("after", self.after())];
                let values = match self.code_diff(field) {
                    Some((diff, lines)) => json!({
                        "diff": diff,
                        "linesAdded": lines.added,
                        "linesRemoved": lines.removed,
                    }),
                    None => { states.into_iter() }
                        .filter_map(|(name, page)| Some((name.to_owned(), page?.value(field))))
                        .collect(),
                };
                (field.name().to_owned(), values)
            })
            .chain(reply)
            .chain(made)
            .chain(aside)
            .collect()
    }
}

/// A page as the wiki's move leaves it at a place: titled like its last segment, it gets the new one
/// as its title (W14).
fn moved<'a>(page: &'a PageState, locale: &Locale, path: &PagePath) -> Cow<'a, PageState> {
    if (&page.locale, &page.path) == (locale, path) {
        return Cow::Borrowed(page);
    }
    let mut moved = page.clone();
    moved.locale.clone_from(locale);
    moved.path.clone_from(path);
    if page.title == page.path.last_segment() {
        path.last_segment().clone_into(&mut moved.title);
    }
    Cow::Owned(moved)
}

/// True for the value of a field that a page has when nothing was given for it.
pub fn is_blank(value: &Value) -> bool {
    *value == json!("") || *value == json!([]) || *value == json!(false)
}

#[cfg(test)]
mod tests;
