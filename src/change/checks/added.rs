//! Finds what a change adds: active content, foreign resources, hidden text, secrets.

use std::borrow::Cow;
use std::collections::BTreeMap;

use url::Url;

use super::super::plan::Change;
use super::super::warning::{Warning, named, unchecked};
use crate::page::{
    Active, ActiveKind, Attached, Field, HiddenText, PageState, SecretKind, active as active_in,
    active_styles, has_unchecked_active, secrets as secrets_in,
};

/// Finds what is active in a page, each with its line.
type ActiveFinder<'a> = dyn Fn(&PageState) -> Vec<((ActiveKind, String), usize)> + 'a;
/// A text of a page.
type TextAccessor = fn(&PageState) -> &str;

/// The most lines that are named for each kind of hidden text.
const MOST_LINES: usize = 5;

/// Items that occur more often in the second list than in the first, with places; of equal names
/// the last places count as added.
fn more<K: Ord + Clone>(before: Vec<(K, usize)>, after: Vec<(K, usize)>) -> Vec<(K, usize)> {
    let mut known: BTreeMap<K, usize> = BTreeMap::new();
    for (what, _) in before {
        *known.entry(what).or_default() += 1;
    }
    let is_new = |(what, _): &(K, usize)| match known.get_mut(what) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    after.into_iter().filter(is_new).collect()
}

/// Finds what a change adds to a page. The old page is searched only if the new one has something.
fn added<K: Ord + Clone>(
    before: Option<&PageState>,
    after: &PageState,
    look: &(impl Fn(&PageState) -> Vec<(K, usize)> + ?Sized),
) -> Vec<(K, usize)> {
    let is = look(after);
    if is.is_empty() {
        return is;
    }
    more(before.map(look).unwrap_or_default(), is)
}

/// The content as the checks search it: the wiki shows HTML of a comment as text (W30), and after a
/// space `<` begins none, while a link's address in `<…>` stays one.
fn searched(page: &PageState) -> Cow<'_, str> {
    if is_comment(page) {
        page.content.replace('<', "< ").into()
    } else {
        (&page.content).into()
    }
}

const fn is_comment(page: &PageState) -> bool {
    matches!(page.thing, Some(Attached::Comment(_)))
}

/// Scripts, handlers and resources of other sites.
pub(super) fn active(change: &Change, wiki: &Url, warnings: &mut Vec<Warning>) {
    let Some(after) = change.after() else {
        return;
    };
    let before = change.before();
    let is_changed = |field: Field| before.is_none_or(|before| !before.same(after, field));
    if is_changed(Field::ScriptJs) && !after.script_js.trim().is_empty() {
        let message = "The page's script changes: it runs in the browser of every reader.";
        warnings.push(Warning::new("script_added", message).at(Field::ScriptJs, None));
    }
    let keyed = |found: Vec<Active>| -> Vec<((ActiveKind, String), usize)> {
        let keyed = found.into_iter();
        keyed.map(|one| ((one.kind, one.what), one.line)).collect()
    };
    let is_unchecked = |page: &PageState| has_unchecked_active(&page.content, page.format());
    let in_content = |page: &PageState| {
        if is_unchecked(page) {
            return Vec::new();
        }
        let mut found = active_in(&searched(page), page.format(), wiki);
        // Nor does markdown-it make a link of an address that runs.
        found.retain(|one| !is_comment(page) || one.kind != ActiveKind::Script);
        keyed(found)
    };
    let in_styles = |page: &PageState| keyed(active_styles(&page.script_css, wiki));
    let both: [(Field, &ActiveFinder<'_>); 2] = [
        (Field::Content, &in_content),
        (Field::ScriptCss, &in_styles),
    ];
    for (field, look) in both {
        if !is_changed(field) && !is_changed(Field::Editor) {
            continue;
        }
        if field == Field::Content && is_unchecked(after) {
            warnings.extend(["script_added", "foreign_resource_added"].map(unchecked));
            continue;
        }
        let added = added(before, after, look);
        for kind in [ActiveKind::Script, ActiveKind::Foreign] {
            let (code, says) = match kind {
                ActiveKind::Script => ("script_added", "It runs in the browser of every reader"),
                ActiveKind::Foreign => (
                    "foreign_resource_added",
                    "Browsers of readers load it from another site by themselves",
                ),
            };
            let of_kind = added.iter().filter(|((of, _), _)| *of == kind);
            let of_kind: Vec<_> = of_kind.collect();
            let Some((_, line)) = of_kind.first() else {
                continue;
            };
            let mut names: Vec<String> =
                of_kind.iter().map(|((_, what), _)| what.clone()).collect();
            names.dedup();
            let message = format!("{says}: {}.", named(&names));
            let line = (field == Field::Content).then_some(*line);
            warnings.push(Warning::new(code, message).at(field, line));
        }
    }
}

/// Text that readers do not see and models do.
pub(super) fn hidden(change: &Change) -> Option<Warning> {
    let after = change.after()?;
    let before = change.before();
    let fields = [Field::Content, Field::ScriptCss, Field::Editor];
    let is_same = |before: &PageState| fields.iter().all(|field| before.same(after, *field));
    if before.is_some_and(is_same) {
        return None;
    }
    let look =
        |page: &PageState| HiddenText::of(&searched(page), page.format(), Some(&page.script_css));
    // The old page is searched only if something is hidden in the new one.
    let is = look(after)?;
    if is.is_unchecked {
        return Some(unchecked("hidden_text_added"));
    }
    let was = before.and_then(look).unwrap_or_default();
    let mut line = None;
    let names: Vec<String> = is
        .found
        .iter()
        .filter(|(kind, is)| is.count > was.count(**kind))
        .map(|(kind, is)| {
            if was.count(*kind) == 0 {
                line = line.or_else(|| is.lines.first().copied());
            }
            let shown = is.lines.iter().take(MOST_LINES).map(usize::to_string);
            let shown: Vec<String> = shown.collect();
            let more = is.lines.get(MOST_LINES).map_or("", |_| ", …");
            format!("{kind}: {} (line {}{more})", is.count, shown.join(", "))
        })
        .collect();
    (!names.is_empty()).then(|| {
        let message = format!(
            "Readers of the page will not see all of its content. {}. This list is not exhaustive.",
            names.join("; ")
        );
        Warning::new("hidden_text_added", message).at(Field::Content, line)
    })
}

/// Bytes of common text searched around the part that differs: more than any secret is long.
const AROUND: usize = 64 * 1024;

/// The part of each of two texts that differs, with the text around it, and how many lines are
/// before it.
fn differing<'a>(was: &'a str, is: &'a str) -> (&'a str, &'a str, usize) {
    let same = |(one, other): &(u8, u8)| one == other;
    let lead = was.bytes().zip(is.bytes()).take_while(same).count();
    let most = was.len().min(is.len()) - lead;
    let ends = was.bytes().rev().zip(is.bytes().rev()).take(most);
    let tail = ends.take_while(same).count();
    let begin = is.floor_char_boundary(lead.saturating_sub(AROUND));
    let end = |text: &str| text.ceil_char_boundary(text.len() - tail.saturating_sub(AROUND));
    let part = |text: &'a str| text.get(begin..end(text)).unwrap_or(text);
    let before = is.get(..begin).unwrap_or_default();
    (part(was), part(is), before.matches('\n').count())
}

/// Keys and tokens; returns whether one of them is grave.
pub(super) fn secrets(change: &Change, own: &[&str], warnings: &mut Vec<Warning>) -> bool {
    let Some(after) = change.after() else {
        return false;
    };
    let before = change.before();
    let texts: [(Field, TextAccessor); 5] = [
        (Field::Title, |page| &page.title),
        (Field::Description, |page| &page.description),
        (Field::Content, |page| &page.content),
        (Field::ScriptCss, |page| &page.script_css),
        (Field::ScriptJs, |page| &page.script_js),
    ];
    let mut is_any_grave = false;
    for (field, text) in texts {
        let (was, is) = (before.map_or("", text), text(after));
        if was == is {
            continue;
        }
        let (was, is, lines_before) = differing(was, is);
        let found = |text: &str| -> Vec<(SecretKind, usize)> {
            let found = secrets_in(text, own).into_iter();
            found.map(|one| (one.kind, one.line)).collect()
        };
        let is = found(is);
        let added = if is.is_empty() {
            is
        } else {
            more(found(was), is)
        };
        let Some((_, line)) = added.first() else {
            continue;
        };
        is_any_grave |= added.iter().any(|(kind, _)| kind.is_grave);
        let mut names: Vec<String> = added.iter().map(|(kind, _)| kind.name.to_owned()).collect();
        names.dedup();
        let message = format!(
            "It looks like a secret, and everybody who reads the page gets it: {}.",
            named(&names)
        );
        let line = (field == Field::Content).then_some(lines_before + line);
        warnings.push(Warning::new("secret_added", message).at(field, line));
    }
    is_any_grave
}

#[cfg(test)]
mod tests {
    use super::{AROUND, differing, more};

    #[test]
    fn of_equal_things_those_count_as_added_that_there_are_more_of() {
        let things = |names: &[&'static str]| -> Vec<(&'static str, usize)> {
            names
                .iter()
                .enumerate()
                .map(|(at, name)| (*name, at))
                .collect()
        };
        for (before, after, added) in [
            (&[][..], &["a"][..], &[("a", 0)][..]),
            (&["a"], &["a"], &[]),
            (&["a", "a"], &["a", "b", "a"], &[("b", 1)]),
            (&["a", "a"], &["a", "a", "a", "a"], &[("a", 2), ("a", 3)]),
            (&["a", "b"], &["b", "b"], &[("b", 1)]),
        ] {
            assert_eq!(more(things(before), things(after)), added, "{after:?}");
        }
    }

    #[test]
    fn the_part_that_differs_is_found_in_texts_of_any_characters() {
        for (was, is) in [
            ("", ""),
            ("a", ""),
            ("", "ä"),
            ("aba", "aa"),
            ("ä", "å"),
            ("aä", "bä"),
        ] {
            assert_eq!(differing(was, is), (was, is, 0));
        }
    }

    #[test]
    fn far_from_what_differs_nothing_is_searched() {
        // Each letter has two bytes, so that a cut may fall between them.
        let far = |odd: &str| format!("{odd}{}\n", "ä".repeat(AROUND));
        for odd in ["", "x"] {
            let (was, is) = (
                format!("{0}old\n{0}", far(odd)),
                format!("{0}new\n{0}", far(odd)),
            );
            let (old, new, before) = differing(&was, &is);
            assert_eq!(before, 0);
            assert!(new.contains("\nnew\n") && old.contains("\nold\n"));
            assert!(new.len() <= 2 * AROUND + 8, "{}", new.len());
            assert_eq!(new.replace("new", "old"), old);
            let (was, is) = (far(odd) + &was, far(odd) + &is);
            let twice = differing(&was, &is);
            assert_eq!((twice.1, twice.2), (new, 1));
        }
        // Text of the common beginning is not counted again as common end.
        assert_eq!(AROUND, 65_536);
        let (was, is) = ("x".repeat(3 * AROUND), "x".repeat(3 * AROUND + 1));
        let (old, new, _) = differing(&was, &is);
        assert_eq!((old.len(), new.len()), (AROUND, AROUND + 1));
    }
}
