//! The possible meanings of a text that names a page.

use url::Url;

use super::super::{Locale, PagePath};
use super::locale::is_locale_like;
use super::percent::percent_decoded;

/// One way to understand a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpretation {
    /// Places where the page may stand, the likeliest first; without a locale, in the caller's.
    pub places: Vec<(Option<Locale>, PagePath)>,
    /// The title, or the last segment of a path, that it may be; none for an address.
    pub name: Option<String>,
    /// The section, if the reference names one.
    pub section: Option<String>,
}

/// All possible meanings of a text that names a page, the likeliest first.
///
/// | text | is |
/// |---|---|
/// | `docs/x`, `/docs/x` | a path, or a title |
/// | `/en/docs/x` | a path in a locale |
/// | `https://…/en/docs/x` | a page's address on this wiki |
/// | `[[docs/x]]`, `[[Title]]` | the same as without brackets |
/// | `[[Page#Section]]`, `Page#Section` | a section of a page, or a page with a `#` in its title |
/// | `[[Page\|alias]]` | `Page` |
/// | `[text](/en/docs/x)` | where the link leads |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// At least one.
    pub interpretations: Vec<Interpretation>,
}

impl Reference {
    /// Reads a reference to a page of the wiki at this address.
    ///
    /// # Errors
    /// One sentence: it is an address elsewhere.
    pub fn parse(text: &str, wiki: &Url) -> Result<Self, &'static str> {
        let text = text.trim();
        let Some(target) = link_target(text) else {
            return Self::plain(text, wiki);
        };
        let mut read = Self::plain(target, wiki)?;
        // A title may look like a link.
        read.interpretations.push(of_name(text, None));
        Ok(read)
    }

    fn plain(text: &str, wiki: &Url) -> Result<Self, &'static str> {
        if let Some(address) = Url::parse(text).ok().filter(Url::has_host) {
            let of_address = address_of(&address, wiki).ok_or("is an address of another site")?;
            return Ok(Self {
                interpretations: vec![of_address],
            });
        }
        let inner = text
            .strip_prefix("[[")
            .and_then(|inner| inner.strip_suffix("]]"))
            .map(|inner| inner.split('|').next().unwrap_or_default().trim());
        let text = inner.unwrap_or(text);
        let mut interpretations = Vec::new();
        if let Some((page, section)) = text.split_once('#')
            && !page.trim().is_empty()
            && !section.trim().is_empty()
        {
            interpretations.push(of_name(page.trim(), Some(section.trim().to_owned())));
        }
        interpretations.push(of_name(text, None));
        Ok(Self { interpretations })
    }

    /// The place below which pages are meant, and its locale where the text names one:
    /// `docs`, `/en/docs`, `en:docs`, or an address on this wiki.
    ///
    /// # Errors
    /// One sentence: it is an address elsewhere.
    pub fn place(text: &str, wiki: &Url) -> Result<(Option<Locale>, PagePath), &'static str> {
        let text = text.trim();
        if let Some(address) = Url::parse(text).ok().filter(Url::has_host) {
            let way = address_of(&address, wiki).and_then(|way| way.places.into_iter().next());
            return way.ok_or("is an address of another site");
        }
        Ok(Self::prefix(text))
    }

    /// The place that a text names that is no address.
    fn prefix(text: &str) -> (Option<Locale>, PagePath) {
        // Without a slash before it or a colon, the first segment may as well be a folder.
        let is_prefix = text
            .split_once(':')
            .is_some_and(|(first, _)| !first.contains('/'));
        let in_locale = text
            .strip_prefix('/')
            .or(is_prefix.then_some(text))
            .and_then(split_locale);
        match in_locale {
            Some((locale, path)) => (Some(locale), path),
            None => (None, PagePath::new(text)),
        }
    }

    /// The place that a text names where a page shall come to be, and its locale where the text
    /// names one: as [`Self::place`], and `en/docs` too, since no page may come to be below a
    /// folder that reads as a locale (W16).
    ///
    /// # Errors
    /// One sentence: it is an address elsewhere.
    pub fn new_place(text: &str, wiki: &Url) -> Result<(Option<Locale>, PagePath), &'static str> {
        if Url::parse(text).is_ok_and(|address| address.has_host()) {
            return Self::place(text, wiki);
        }
        Ok(Self::split(text))
    }

    /// The same of a text that is no address.
    pub fn split(text: &str) -> (Option<Locale>, PagePath) {
        let (locale, path) = Self::prefix(text);
        match locale {
            Some(locale) => (Some(locale), path),
            None => split_locale(path.as_str())
                .map_or((None, path), |(locale, path)| (Some(locale), path)),
        }
    }
}

/// The target of a Markdown link.
fn link_target(text: &str) -> Option<&str> {
    let (_, target) = text
        .strip_prefix('[')?
        .strip_suffix(')')?
        .split_once("](")?;
    // A title may stand behind it.
    target.split_whitespace().next()
}

fn of_name(name: &str, section: Option<String>) -> Interpretation {
    // The wiki's root is its page `home`.
    let path = PagePath::new(if name == "/" { "home" } else { name });
    let in_locale = split_locale(path.as_str());
    let mut places = vec![(None, path)];
    if let Some((locale, path)) = in_locale {
        places.insert(0, (Some(locale), path));
    }
    Interpretation {
        places,
        name: (!name.trim_matches('/').is_empty()).then(|| name.to_owned()),
        section,
    }
}

/// The locale that a path begins with, as addresses (`en/docs`) or prefixes (`en:docs`) have it,
/// and the rest.
fn split_locale(path: &str) -> Option<(Locale, PagePath)> {
    let (first, rest) = path.split_once(['/', ':'])?;
    let is_locale = is_locale_like(&first.to_lowercase());
    (is_locale && !rest.is_empty()).then(|| (Locale::as_stored(first), PagePath::new(rest)))
}

/// The part of an address's path below the wiki's; none where it is an address elsewhere.
pub(in crate::page) fn way_below<'a>(address: &'a Url, wiki: &Url) -> Option<&'a str> {
    let is_same = address.host() == wiki.host()
        && address.port_or_known_default() == wiki.port_or_known_default();
    let base = wiki.path().trim_matches('/');
    let path = address.path().trim_start_matches('/');
    path.strip_prefix(base)
        .filter(|below| is_same && (base.is_empty() || below.is_empty() || below.starts_with('/')))
}

fn address_of(address: &Url, wiki: &Url) -> Option<Interpretation> {
    let path = percent_decoded(way_below(address, wiki)?);
    let path = path.trim_matches('/');
    // The wiki's own views have one letter before the locale: /e/en/… edits, /h/en/… is history.
    let viewed = path.split_once('/').filter(|(view, _)| view.len() == 1);
    let path = viewed.map_or(path, |(_, rest)| rest);
    let place = match split_locale(path) {
        Some((locale, path)) => (Some(locale), path),
        None if path.is_empty() => (None, PagePath::new("home")),
        None => (None, PagePath::new(path)),
    };
    let section = address.fragment().filter(|section| !section.is_empty());
    Some(Interpretation {
        places: vec![place],
        name: None,
        section: section.map(percent_decoded),
    })
}

#[cfg(test)]
mod tests {
    use super::{PagePath, Reference};
    use proptest::prelude::*;
    use url::Url;

    /// All that a reference may mean, in a line: places, `=name`, `#section`.
    fn told(text: &str) -> String {
        let wiki = Url::parse("https://wiki.example.org/base/").unwrap();
        let reference = match Reference::parse(text, &wiki) {
            Ok(reference) => reference,
            Err(fault) => return fault.to_owned(),
        };
        let ways: Vec<String> = reference
            .interpretations
            .iter()
            .map(|way| {
                let mut words: Vec<String> = way
                    .places
                    .iter()
                    .map(|(locale, path)| match locale {
                        Some(locale) => format!("{locale}:{path}"),
                        None => path.to_string(),
                    })
                    .collect();
                words.extend(way.name.iter().map(|name| format!("={name}")));
                words.extend(way.section.iter().map(|section| format!("#{section}")));
                words.join(" ")
            })
            .collect();
        ways.join(" | ")
    }

    #[test]
    fn references_mean_what_people_mean() {
        for (text, meaning) in [
            ("docs/x", "docs/x =docs/x"),
            ("/docs/x/", "docs/x =/docs/x/"),
            ("/en/docs/x", "en:docs/x en/docs/x =/en/docs/x"),
            ("pt-br/x", "pt-br:x pt-br/x =pt-br/x"),
            ("en", "en =en"),
            ("My Title", "My Title =My Title"),
            ("[[docs/x]]", "docs/x =docs/x"),
            ("[[My Title]]", "My Title =My Title"),
            (" [[ My Title | shown ]] ", "My Title =My Title"),
            ("[[Page#Part|x]]", "Page =Page #Part | Page#Part =Page#Part"),
            ("docs/x#a/b", "docs/x =docs/x #a/b | docs/x#a/b =docs/x#a/b"),
            ("C#", "C# =C#"),
            ("#x", "#x =#x"),
            ("a|b", "a|b =a|b"),
            ("https://wiki.example.org/base/en/docs/x", "en:docs/x"),
            (
                "https://wiki.example.org/base/en/d%C3%A4/x?y=1#two-w%C3%B6rds",
                "en:dä/x #two-wörds",
            ),
            ("http://wiki.example.org:443/base/docs/x", "docs/x"),
            ("https://wiki.example.org/base/e/en/docs/x", "en:docs/x"),
            ("https://wiki.example.org/base", "home"),
            (
                "https://wiki.example.org/based/en/x",
                "is an address of another site",
            ),
            (
                "https://elsewhere.example.org/base/en/x",
                "is an address of another site",
            ),
            (
                "https://wiki.example.org:444/base/en/x",
                "is an address of another site",
            ),
            ("Note: this", "Note: this =Note: this"),
            ("", ""),
            ("///", ""),
            ("/", "home"),
            ("/#Part", "home #Part | #Part =/#Part"),
        ] {
            assert_eq!(told(text).trim(), meaning, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_path_or_an_address(text in "\\PC{0,40}") {
            let wiki = Url::parse("https://wiki.example.org").unwrap();
            if let Ok(reference) = Reference::parse(&text, &wiki)
                && text != "/" && !text.contains("://") && !text.contains("[[") && text.trim() == text
            {
                let last = reference.interpretations.last().unwrap();
                prop_assert_eq!(&last.places.last().unwrap().1, &PagePath::new(&text));
            }
        }
    }
}
