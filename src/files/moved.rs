//! Finds new files of pages that moved: the page's own files are gone, and the new ones have its
//! content or, under the same title, most of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::text::{PageFileKind, Texts};

/// Less content than this many bytes says nothing about which page it is.
const LEAST: usize = 20;

/// A page whose files are gone.
#[derive(Debug)]
pub(super) struct RemovedFiles {
    pub(super) id: i64,
    /// The name that its files had.
    pub(super) name: String,
    /// The texts that they had.
    pub(super) texts: Texts,
}

/// The pages that moved, each with the name of its new files.
pub(super) fn moved(gone: &[RemovedFiles], new: &BTreeMap<String, Texts>) -> Vec<(i64, String)> {
    let mut pairs = of_same_content(gone, new);
    let (ids, names): (BTreeSet<i64>, BTreeSet<String>) = pairs.iter().cloned().unzip();
    let gone = gone.iter().filter(|page| !ids.contains(&page.id));
    let new = new.iter().filter(|(name, _)| !names.contains(*name));
    pairs.extend(of_same_title(gone, new));
    pairs
}

/// Of several files with the same content the first by name is taken, one with the same last name
/// before others.
fn of_same_content(gone: &[RemovedFiles], new: &BTreeMap<String, Texts>) -> Vec<(i64, String)> {
    let mut by_content: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, texts) in new {
        if let Some(content) = content_of(texts) {
            by_content.entry(content).or_default().push(name);
        }
    }
    let pair = |page: &RemovedFiles| {
        let names = by_content.get_mut(content_of(&page.texts)?)?;
        let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
        let same_last = names.iter().position(|name| last(name) == last(&page.name));
        let at = same_last.unwrap_or_default();
        (at < names.len()).then(|| (page.id, names.remove(at).to_owned()))
    };
    gone.iter().filter_map(pair).collect()
}

/// Pages that were edited, too. A wrong guess would move a page that somebody deleted, so only one
/// page and one file may have the title.
fn of_same_title<'a>(
    gone: impl Iterator<Item = &'a RemovedFiles>,
    new: impl Iterator<Item = (&'a String, &'a Texts)>,
) -> Vec<(i64, String)> {
    type Both<'a> = (Vec<&'a RemovedFiles>, Vec<(&'a String, &'a Texts)>);
    let mut by_title: HashMap<&str, Both<'_>> = HashMap::new();
    for page in gone {
        if let Some(title) = title_of(&page.texts) {
            by_title.entry(title).or_default().0.push(page);
        }
    }
    for file in new {
        let both = title_of(file.1).and_then(|title| by_title.get_mut(title));
        if let Some((_, files)) = both {
            files.push(file);
        }
    }
    let pairs = by_title.into_values().filter_map(|(pages, files)| {
        let ([page], [(name, texts)]) = (pages.as_slice(), files.as_slice()) else {
            return None;
        };
        let is_it = is_mostly_the_same(content_of(&page.texts)?, content_of(texts)?);
        is_it.then(|| (page.id, (*name).clone()))
    });
    pairs.collect()
}

/// True if lines of at least half of the longer text are in both.
fn is_mostly_the_same(one: &str, other: &str) -> bool {
    let mut lines: HashMap<&str, usize> = HashMap::new();
    for line in one.lines() {
        *lines.entry(line).or_default() += 1;
    }
    let shared = other.lines().filter(|line| {
        let left = lines.get_mut(line).filter(|left| **left > 0);
        left.is_some_and(|left| {
            *left -= 1;
            true
        })
    });
    let shared: usize = shared.map(str::len).sum();
    let bytes = |text: &str| text.lines().map(str::len).sum::<usize>();
    shared * 2 >= bytes(one).max(bytes(other))
}

/// The line of the title, as it is written.
fn title_of(texts: &Texts) -> Option<&str> {
    let head = texts.get(&PageFileKind::Meta).map(String::as_str);
    let mut lines = head.or_else(|| source_of(texts))?.lines().take(2);
    lines.find(|line| line.starts_with("title:") || line.starts_with("title (json):"))
}

/// The source behind the fields, if it is long enough to tell a page by.
fn content_of(texts: &Texts) -> Option<&str> {
    let source = source_of(texts)?;
    let cut = source
        .split_once("\n---\n\n")
        .or_else(|| source.split_once("\n-->\n\n"));
    let content = match cut {
        Some((head, content)) if head.starts_with("---\n") || head.starts_with("<!--\n") => content,
        _ => source,
    };
    (content.len() >= LEAST).then_some(content)
}

fn source_of(texts: &Texts) -> Option<&str> {
    texts.iter().find_map(|(part, text)| match part {
        PageFileKind::Source(_) => Some(text.as_str()),
        PageFileKind::Meta | PageFileKind::Styles | PageFileKind::Scripts => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{RemovedFiles, moved};
    use crate::files::text::{PageFileKind, Texts};
    use crate::page::SourceFormat;

    const LINES: &str = "The first line of it.\nThe second line of it.\nThe third.\n";

    fn texts(title: &str, content: &str) -> Texts {
        let text = format!("---\ntitle: {title}\ntags:\n---\n\n{content}");
        [(PageFileKind::Source(SourceFormat::Markdown), text)].into()
    }

    fn gone(id: i64, title: &str) -> RemovedFiles {
        RemovedFiles {
            id,
            name: format!("en/gone/{id}"),
            texts: texts(title, LINES),
        }
    }

    fn found(gone: &[RemovedFiles], new: &[(&str, Texts)]) -> Vec<(i64, String)> {
        let new = new
            .iter()
            .map(|(name, texts)| ((*name).to_owned(), texts.clone()));
        moved(gone, &new.collect::<BTreeMap<_, _>>())
    }

    #[test]
    fn the_same_content_is_the_page_whatever_its_title() {
        let pages = [gone(1, "One"), gone(2, "Two")];
        let new = [
            ("en/a", texts("Other", LINES)),
            ("en/b/2", texts("Another", LINES)),
        ];
        assert_eq!(
            found(&pages, &new),
            [(1, "en/a".to_owned()), (2, "en/b/2".to_owned())]
        );
    }

    #[test]
    fn an_edited_page_is_recognised_by_its_title_and_most_of_its_content() {
        let edited = LINES.replace("The third.", "Something else.");
        let new = [("en/a", texts("One", &edited))];
        assert_eq!(found(&[gone(1, "One")], &new), [(1, "en/a".to_owned())]);
        // Half of it or more.
        let other = "Other words here.\n".repeat(3);
        let new = [("en/a", texts("One", &format!("{LINES}{other}")))];
        assert_eq!(found(&[gone(1, "One")], &new).len(), 1);
        let new = [("en/a", texts("One", &format!("{LINES}{other}{other}")))];
        assert!(found(&[gone(1, "One")], &new).is_empty());
    }

    #[test]
    fn what_could_be_another_page_is_none_that_moved() {
        let edited = LINES.replace("The third.", "Something else.");
        let titled = |title| texts(title, &edited);
        // Another title, none, two files or two pages with it.
        let new = [("en/a", titled("Two"))];
        assert!(found(&[gone(1, "One")], &new).is_empty());
        let untitled: Texts =
            [(PageFileKind::Source(SourceFormat::Markdown), edited.clone())].into();
        assert!(found(&[gone(1, "One")], &[("en/a", untitled)]).is_empty());
        let new = [("en/a", titled("One")), ("en/b", titled("One"))];
        assert!(found(&[gone(1, "One")], &new).is_empty());
        let new = [("en/a", titled("One"))];
        assert!(found(&[gone(1, "One"), gone(2, "One")], &new).is_empty());
    }

    #[test]
    fn lines_that_are_there_again_and_again_count_once_each() {
        let new = [("en/a", texts("One", &"The first line of it.\n".repeat(9)))];
        assert!(found(&[gone(1, "One")], &new).is_empty());
    }
}
