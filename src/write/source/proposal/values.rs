//! Checks that a call could have asked for what a proposal asks for: kept states are not trusted.

use std::collections::HashSet;

use crate::audit::CallId;
use crate::change::Change;
use crate::error::{Failure, Result};
use crate::page::{
    Attached, Date, Field, Locale, NewPath, PageState, check_asset, check_comment, check_content,
    check_description, check_editor, check_new_asset_path, check_tag, check_text, check_title,
};

/// Checks that a call could have asked for the new values. An undo writes old values back; it is
/// compared with the same undo made again.
pub(in crate::write::source) fn check(change: &Change, undoes: Option<CallId>) -> Result<()> {
    let Some(after) = change.after().filter(|_| undoes.is_none()) else {
        return Ok(());
    };
    let unfit = unfit_field(change.before(), after);
    unfit.map_or(Ok(()), |(field, fault)| {
        let message = format!("The proposal asks for what no call may: {field} {fault}.");
        Err(Failure::of_argument(field.name(), message))
    })
}

/// The first field with a new value that no call could have asked for, and what is wrong with it.
pub fn unfit_field(before: Option<&PageState>, after: &PageState) -> Option<(Field, String)> {
    after
        .own_fields()
        .filter(|field| before.is_none_or(|before| !before.same(after, *field)))
        .find_map(|field| Some((field, check_field(before, after, field).err()?)))
}

const fn is_asset(state: &PageState) -> bool {
    matches!(state.thing, Some(Attached::Asset(_)))
}

fn check_field(before: Option<&PageState>, after: &PageState, field: Field) -> Result<(), String> {
    let date = |date: &Date| Date::parse(date.as_str()).map(drop);
    match field {
        Field::Locale => Locale::parse(after.locale.as_str()).map(drop),
        Field::Path if is_asset(after) => check_new_asset_path(&after.path),
        Field::Path => match NewPath::parse(after.path.as_str())? {
            path if *path.as_path() == after.path => Ok(()),
            _ => Err("must have no slashes around it".to_owned()),
        },
        Field::Title => check_title(&after.title),
        Field::Description => check_description(&after.description),
        Field::Content => match &after.thing {
            Some(Attached::Comment(_)) => check_comment(&after.content),
            // What is shown of them must be what they are.
            Some(Attached::Asset(asset)) if asset.bytes.described(&asset.mime) != after.content => {
                Err("does not say what the bytes are".to_owned())
            }
            Some(Attached::Asset(asset)) => check_asset(&after.path, asset.bytes.as_bytes()),
            None => check_content(&after.content),
        },
        Field::Tags => {
            let old: HashSet<&String> = before.iter().flat_map(|page| &page.tags).collect();
            let mut new = after.tags.iter().filter(|tag| !old.contains(tag));
            new.try_for_each(|tag| match check_tag(tag)? {
                stored if stored == **tag => Ok(()),
                _ => Err("must be as the wiki stores them".to_owned()),
            })
        }
        Field::Editor | Field::IsPrivate if before.is_some() => Err("cannot be changed".to_owned()),
        Field::Editor => check_editor(&after.editor),
        Field::IsPrivate | Field::IsPublished => Ok(()),
        Field::PublishStartDate => date(&after.publish_start_date),
        Field::PublishEndDate => date(&after.publish_end_date),
        Field::ScriptCss => check_text(&after.script_css),
        Field::ScriptJs => check_text(&after.script_js),
    }
}

#[cfg(test)]
mod tests {
    use super::check_field;
    use crate::page::{Date, Field, Locale, PagePath, PageState, testing};

    fn page() -> PageState {
        PageState {
            tags: vec!["Odd, but there".to_owned()],
            ..testing::page()
        }
    }

    #[test]
    fn a_kept_state_may_say_no_more_than_a_call() {
        let before = page();
        let faulty = |field, make: fn(&mut PageState)| {
            let mut after = page();
            make(&mut after);
            assert!(
                check_field(Some(&before), &after, field).is_err(),
                "{field}"
            );
        };
        faulty(Field::Locale, |page| {
            page.locale = Locale::as_stored("../x");
        });
        faulty(Field::Path, |page| {
            page.path = PagePath::as_stored("login");
        });
        faulty(Field::Path, |page| {
            page.path = PagePath::as_stored("/docs/a");
        });
        faulty(Field::Title, |page| {
            page.title = " ".to_owned();
        });
        faulty(Field::Description, |page| {
            page.description = "x".repeat(256);
        });
        faulty(Field::Content, |page| {
            page.content.clear();
        });
        faulty(Field::Editor, |page| {
            page.editor = "code".to_owned();
        });
        faulty(Field::Tags, |page| {
            page.tags.push("A".to_owned());
        });
        faulty(Field::IsPrivate, |page| {
            page.is_private = true;
        });
        faulty(Field::PublishEndDate, |page| {
            page.publish_end_date = Date::from("soon".to_owned());
        });
        faulty(Field::ScriptJs, |page| {
            page.script_js = "\0".to_owned();
        });
        let mut after = page();
        after.tags.push("a".to_owned());
        for field in [Field::Tags, Field::Path, Field::Title, Field::Locale] {
            assert_eq!(check_field(Some(&before), &after, field), Ok(()), "{field}");
        }
        // A new page has an editor and may be private.
        for field in [Field::Editor, Field::IsPrivate] {
            assert_eq!(check_field(None, &page(), field), Ok(()), "{field}");
        }
    }
}
