//! The same link to another place, in the form that it is written in.

use super::super::super::{LinkedSite, Locale, PagePlace, push_coded};
use super::super::link::PAGE_ENDINGS;
use crate::page::model::locale::is_locale_like;

/// A link's target, taken apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkTargetParts<'a> {
    /// The wiki's address, as it is written; empty where the link has none.
    pub(super) address: &'a str,
    /// The way to the page.
    pub(super) way: &'a str,
    /// Query and anchor.
    pub(super) rest: &'a str,
}

impl<'a> LinkTargetParts<'a> {
    /// The ways to take a target apart, the likelier first: the wiki takes `//x` for a way, too.
    pub(super) fn split(target: &'a str, site: &LinkedSite) -> [Self; 2] {
        [address_length(target, site), 0].map(|address| {
            let (address, below) = target.split_at_checked(address).unwrap_or(("", target));
            let rest = below.find(['#', '?']).unwrap_or(below.len());
            let (way, rest) = below.split_at_checked(rest).unwrap_or((below, ""));
            Self { address, way, rest }
        })
    }

    /// Targets that may lead to another page, those most similar to this one first.
    /// [`super::resolve`] decides which of them do.
    pub(super) fn ways_to(
        self,
        view: Option<char>,
        (locale, path): &PagePlace,
        from: &PagePlace,
        site: &LinkedSite,
    ) -> Vec<String> {
        let is_from_root = !self.address.is_empty() || self.way.starts_with('/');
        let codes_letters = self.way.contains('%');
        let path = coded(path.as_str(), codes_letters);
        let end = self.ending();
        if let Some(view) = view {
            return vec![format!("/{view}/{locale}/{path}{end}")];
        }
        let plain = format!("/{path}{end}");
        let with_locale = format!("/{locale}/{path}{end}");
        let mut ways = Vec::new();
        if !is_from_root {
            ways.extend(self.relative(&path, locale, end, from, site, codes_letters));
        }
        if self.has_locale() {
            ways.extend([with_locale, plain]);
        } else {
            ways.extend([plain, with_locale]);
        }
        ways
    }

    /// The ending of a file's name, or a slash, that the way has behind the page's name.
    fn ending(self) -> &'a str {
        let name = self.way.rsplit('/').next().unwrap_or_default();
        let ending = PAGE_ENDINGS
            .iter()
            .find(|ending| name.len() > ending.len() && name.ends_with(**ending));
        let length = match ending {
            Some(ending) => ending.len(),
            None if self.way.len() > 1 && name.is_empty() => 1,
            None => 0,
        };
        let start = self.way.len() - length;
        self.way.get(start..).unwrap_or_default()
    }

    /// True if the path names a locale.
    fn has_locale(self) -> bool {
        let first = self.way.trim_start_matches('/').split('/').next();
        let is_from_root = !self.address.is_empty() || self.way.starts_with('/');
        is_from_root && first.is_some_and(|first| is_locale_like(&first.to_lowercase()))
    }

    /// Relative to the page as a folder, or to the page's folder as browsers do.
    fn relative(
        self,
        path: &str,
        locale: &Locale,
        end: &str,
        (own_locale, own): &PagePlace,
        site: &LinkedSite,
        codes_letters: bool,
    ) -> Option<String> {
        if locale != own_locale {
            return None;
        }
        let target = [self.way, self.rest].concat();
        if !target.contains('.') {
            let is_root = site.relative_from_root || own.as_str() == "home";
            let folder = if is_root {
                String::new()
            } else {
                format!("{}/", coded(own.as_str(), codes_letters))
            };
            return Some(format!("{}{end}", path.strip_prefix(&folder)?));
        }
        let folder = coded(own.folder().as_str(), codes_letters);
        let folder: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        let to: Vec<&str> = path.split('/').collect();
        let (_, parents) = to.split_last()?;
        let shared = folder.iter().zip(parents).take_while(|(a, b)| a == b);
        let shared = shared.count();
        let ups = folder.len() - shared;
        let down = to.get(shared..)?.join("/");
        let way = format!("{}{down}{end}", "../".repeat(ups));
        let needs_dot = ups == 0
            && (self.way.starts_with("./") || !(way.contains('.') || self.rest.contains('.')));
        Some(if needs_dot { format!("./{way}") } else { way })
    }
}

/// Length of the wiki's address at the beginning of a target.
fn address_length(target: &str, site: &LinkedSite) -> usize {
    let Some(authority) = target.find("//").map(|at| at + 2) else {
        return 0;
    };
    let scheme = target.get(..authority - 2).unwrap_or_default();
    if !(scheme.is_empty()
        || scheme.eq_ignore_ascii_case("http:")
        || scheme.eq_ignore_ascii_case("https:"))
    {
        return 0;
    }
    let rest = target.get(authority..).unwrap_or_default();
    let authority = authority + rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let base = site.address.path().trim_end_matches('/');
    let has_base = target
        .get(authority..)
        .is_some_and(|rest| rest.starts_with(base));
    authority + if has_base { base.len() } else { 0 }
}

/// A path encoded for every kind of link, without any character that one of them would read
/// differently; letters of other alphabets are encoded if the link encodes them.
pub(super) fn coded(path: &str, codes_letters: bool) -> String {
    let mut way = String::with_capacity(path.len());
    for c in path.chars() {
        let is_plain = if c.is_ascii() {
            c.is_ascii_alphanumeric() || "-._~/+,@!=:;".contains(c)
        } else {
            c.is_alphanumeric() && !codes_letters
        };
        if is_plain {
            way.push(c);
        } else {
            push_coded(&mut way, c);
        }
    }
    way
}
