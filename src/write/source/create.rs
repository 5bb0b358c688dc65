//! Creates a page, new or as a copy of another one.

use crate::change::{Change, ContentFault, Operation, ReplaceAll, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, TurnOf};
use crate::page::{
    Field, PageReading, PageState, PartSelector, SourceFormat, check_content, mend_copied,
    page_of_part,
};
use crate::wiki::Wiki;

use super::{Agreed, CREATES, ChangeSource, Made, WriteCall, checked, is_shown};
use crate::write::{EntryBuilder, faults};

impl ChangeSource for PageState {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.is_at(Operation::Create, &self.locale, &self.path);
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        CREATES
    }

    fn says_whole_content(&self) -> bool {
        true
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        let change = Change::add(self.clone());
        Ok(checked(ChangeSet::single(call.id, change)))
    }
}

/// A new page that takes some fields from another page.
#[derive(Debug, Clone)]
pub struct Copy {
    /// The new page, without the fields to copy.
    pub page: PageState,
    /// The fields that the caller gave, which are not copied.
    pub said: CopyFields,
    /// The id of the page that is copied.
    pub from: i64,
    /// The part of it that is copied; all of it if none.
    pub section: Option<PartSelector>,
    /// Texts to replace everywhere in the copied content.
    pub replace_all: ReplaceAll,
}

/// The fields that a caller may give or have copied.
#[derive(Debug, Clone, Default)]
pub struct CopyFields {
    /// The source.
    pub content: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The tags.
    pub tags: Option<Vec<String>>,
    /// The editor.
    pub editor: Option<String>,
}

impl Copy {
    /// The new page, made from the copied page as it was just read; with a warning about it.
    fn of(&self, read: PageReading) -> Result<(PageState, Option<Warning>)> {
        let said = self.said.clone();
        let (mut unread, mut warning) = (Vec::new(), None);
        let content = match (said.content, read.content) {
            (Some(said), _) => said,
            (None, Some(copied)) => {
                let fault = |fault| faults::content_failure(fault, None);
                let editor = read.editor.as_deref().unwrap_or_default();
                let copied = match &self.section {
                    None => copied,
                    Some(_) if editor != "markdown" => {
                        return Err(fault(ContentFault::NotMarkdown));
                    }
                    Some(part) => page_of_part(&copied, part, &self.page.title, &read.title)
                        .map_err(|fault| faults::part_failure(fault, Some(part), &copied))?,
                };
                warning = self.replace_all.warning(&copied, editor);
                let content = self.replace_all.onto(&copied, editor).map_err(fault)?;
                if check_content(&content).is_err() {
                    return Err(faults::content_failure(ContentFault::Blank, None));
                }
                content
            }
            (None, None) => {
                unread.push(Field::Content);
                String::new()
            }
        };
        let mut either = |field, said: Option<String>, copied: Option<String>| {
            said.or(copied).unwrap_or_else(|| {
                unread.push(field);
                String::new()
            })
        };
        let description = either(Field::Description, said.description, read.description);
        let editor = either(Field::Editor, said.editor, read.editor);
        let tags = said.tags.or(read.tags).unwrap_or_else(|| {
            unread.push(Field::Tags);
            Vec::new()
        });
        if !unread.is_empty() {
            return Err(unreadable(&unread));
        }
        let page = PageState {
            description,
            content,
            editor,
            tags,
            ..self.page.clone()
        };
        Ok((page, warning))
    }

    async fn made_now(&self, call: WriteCall<'_>) -> Result<ChangeSet> {
        let read = call.wiki().page_by_id(self.from).await?;
        let from = (read.locale.clone(), read.path.clone());
        let (mut page, warning) = self.of(read)?;
        if self.section.is_some() && self.said.content.is_none() {
            let site = call.wiki().linked_site().await?;
            let to = page.place();
            let format = SourceFormat::Markdown;
            page.content = mend_copied(&page.content, format, (&from, &to), &site);
        }
        Ok(ChangeSet::single(call.id, Change::add(page)).warned(warning))
    }
}

fn unreadable(fields: &[Field]) -> Failure {
    let message = "This key cannot read all that is to be copied of the page.";
    Failure::new(Code::FieldUnreadable, message)
        .hint("Say the fields in details.fields yourself, or copy a page that this key can read.")
        .detail("fields", Field::names(fields))
}

impl ChangeSource for Copy {
    fn tell(&self, _: &Wiki, record: &mut EntryBuilder) {
        record.is_at(Operation::Create, &self.page.locale, &self.page.path);
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        CREATES
    }

    fn says_whole_content(&self) -> bool {
        self.said.content.is_some()
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        Ok(checked(self.made_now(call).await?))
    }

    async fn agrees(&self, call: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        // Made again: the copied page may have changed, or be unreadable by now.
        let own = self.made_now(call).await?;
        let agrees = is_shown(&own, shown);
        agrees.then_some(true).ok_or_else(no_longer)
    }
}

fn no_longer() -> Failure {
    let message =
        "This call asks for something else than the preview, or the page that is copied changed.";
    Failure::new(Code::ConfirmMismatch, message)
        .hint("For a new preview, repeat the call with all its arguments, without confirm.")
}

#[cfg(test)]
mod tests {
    use super::{Copy, CopyFields};
    use crate::change::ReplaceAll;
    use crate::error::Code;
    use crate::page::{Locale, PagePath, PageReading, TextReplacement};

    fn copy(replace_all: &[(&str, &str)], said: CopyFields) -> Copy {
        let edit = |(old, new): &(&str, &str)| TextReplacement {
            old_text: (*old).to_owned(),
            new_text: (*new).to_owned(),
        };
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/new"));
        Copy {
            page: PageReading::bare(None, locale, path, "New".to_owned()).or_blank(),
            said,
            from: 7,
            section: None,
            replace_all: ReplaceAll {
                edits: replace_all.iter().map(edit).collect(),
                outside_code: false,
            },
        }
    }

    fn example() -> PageReading {
        let (locale, path) = (Locale::as_stored("en"), PagePath::as_stored("docs/old"));
        let mut page = PageReading::bare(Some(7), locale, path, "Old".to_owned());
        page.content = Some("# Host a\n\nHost a runs here.\n".to_owned());
        page.description = Some("Of a host".to_owned());
        page.tags = Some(vec!["host".to_owned()]);
        page.editor = Some("markdown".to_owned());
        page
    }

    #[test]
    fn what_is_not_said_is_taken_over_with_every_text_replaced() {
        let page = copy(&[("Host a", "Host b")], CopyFields::default());
        let (page, _) = page.of(example()).unwrap();
        assert_eq!(page.content, "# Host b\n\nHost b runs here.\n");
        assert_eq!(page.description, "Of a host");
        assert_eq!(
            (&*page.editor, page.tags),
            ("markdown", vec!["host".to_owned()])
        );
        assert_eq!((&*page.title, page.path.as_str()), ("New", "docs/new"));
    }

    #[test]
    fn what_is_said_wins_even_where_it_is_empty() {
        let said = CopyFields {
            content: Some("# Own\n".to_owned()),
            description: Some(String::new()),
            tags: Some(Vec::new()),
            editor: Some("code".to_owned()),
        };
        let (page, _) = copy(&[], said).of(example()).unwrap();
        assert_eq!((&*page.content, &*page.description), ("# Own\n", ""));
        assert_eq!((&*page.editor, page.tags.len()), ("code", 0));
    }

    #[test]
    fn each_text_must_be_there_once_those_before_it_are_replaced() {
        let refused = |edits: &[(&str, &str)]| {
            let failure = copy(edits, CopyFields::default())
                .of(example())
                .unwrap_err();
            (failure.code, failure.details["edit"].clone())
        };
        let absent = (Code::EditNotApplicable, 1.into());
        assert_eq!(refused(&[("Host a", "x"), ("Host a", "y")]), absent);
        assert_eq!(refused(&[("# ", "## "), ("Host c", "y")]), absent);
    }

    #[test]
    fn what_the_key_cannot_read_is_named_and_not_left_empty() {
        let mut bare = example();
        (bare.content, bare.editor) = (None, None);
        let failure = copy(&[], CopyFields::default())
            .of(bare.clone())
            .unwrap_err();
        assert_eq!(failure.code, Code::FieldUnreadable);
        assert_eq!(
            failure.details["fields"],
            serde_json::json!(["content", "editor"])
        );
        let said = CopyFields {
            content: Some("# Own\n".to_owned()),
            editor: Some("markdown".to_owned()),
            ..CopyFields::default()
        };
        assert!(copy(&[], said).of(bare).is_ok());
    }
}
