//! Resolves a link as Wiki.js renders it and a browser follows it.
//!
//! Measured on 2.5.314, every form with namespacing on and off, in pages of both locales:
//! - Rendering rewrites `<a href>` alone. A link with a dot anywhere behind the site's address
//!   is a file's and stays as it is; any other that begins without a slash hangs on the page
//!   as if that were a folder, from the home page on the root. With namespacing a link from the
//!   root gets the page's locale, unless its fourth character is a slash: `/de/x` has a locale,
//!   `/pt-br/x` becomes `/en/pt-br/x`, and so does `/` become `/en/`, where no page is.
//! - The rest is the browser's, relative to the address that the page is read at: with
//!   namespacing below its locale, without it only in locales other than the site's own.
//! - The server takes an address apart by rules of its own: the site's locale where none is
//!   said, one segment of one character dropped, some signs cut out, `.md`, `.html` and `.txt`
//!   answered by the page without them.

use std::borrow::{Borrow, Cow};
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use url::Url;

use super::super::link::{OWN_ADDRESSES, PAGE_ENDINGS, has_other_scheme};
use crate::page::model::locale::is_locale_like;
use crate::page::model::percent::{coded_byte, percent_decoded};
use crate::page::model::reference::way_below;
use crate::page::{Carrier, Locale, PagePath, can_be_linked, push_coded};

/// The place of a page.
pub type PagePlace = (Locale, PagePath);

/// The wiki, as far as it decides where links lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedSite {
    /// Its address.
    pub address: Url,
    /// Its own locale: that of addresses without one.
    pub locale: Locale,
    /// True if the addresses of its pages begin with a locale.
    pub has_namespaces: bool,
    /// True if it is set to take relative links from its root (`absoluteLinks`).
    pub relative_from_root: bool,
}

/// The places that a page is rendered at and read at. They differ for a page that moves: the wiki
/// writes it first, renders it at its old place, and does not render it again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat<'a> {
    pub(super) rendered: &'a PagePlace,
    pub(super) read: &'a PagePlace,
}

impl<'a> Seat<'a> {
    pub(super) const fn at(place: &'a PagePlace) -> Self {
        Self {
            rendered: place,
            read: place,
        }
    }
}

/// The target that a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Leads {
    /// To a place on the page itself.
    Here,
    /// To the place of a page, or to one of the wiki's views of it (`/e/…`, `/h/…`, `/s/…`, `/d/…`).
    Page(Option<char>, PagePlace),
    /// To something else of the wiki, by its way below the wiki's address.
    OfWiki(String),
    /// Elsewhere.
    Elsewhere,
}

/// Resolves a link on a page.
pub(super) fn resolve(target: &str, carrier: Carrier, seat: Seat<'_>, site: &LinkedSite) -> Leads {
    let href = href(target, carrier, seat.rendered, site);
    site.followed(&href, || site.read_at(seat.read))
}

/// A page whose links are followed: its address is made once for all of them.
#[derive(Debug)]
pub struct LinkBase<'a> {
    page: &'a PagePlace,
    site: &'a LinkedSite,
    address: Option<Url>,
}

impl<'a> LinkBase<'a> {
    /// A page of a wiki.
    pub fn new(page: &'a PagePlace, site: &'a LinkedSite) -> Self {
        let address = site.read_at(page);
        Self {
            page,
            site,
            address,
        }
    }

    /// The place of a page that a link leads to, by its target as it is read from a source.
    pub fn place(&self, target: &str, carrier: Carrier) -> Option<PagePlace> {
        match self.leads(target, carrier) {
            Leads::Page(_, place) => Some(place),
            Leads::Here | Leads::OfWiki(_) | Leads::Elsewhere => None,
        }
    }

    /// The page that readers get to by a link; none for a place on the same page, the wiki's own
    /// addresses and its views of pages, files, and other sites.
    pub fn page(&self, target: &str, carrier: Carrier) -> Option<PagePlace> {
        if has_other_scheme(target.trim()) {
            return None;
        }
        match self.leads(target, carrier) {
            Leads::Page(None, place) => Some(place).filter(|(_, path)| can_be_linked(path)),
            Leads::Page(Some(_), _) | Leads::Here | Leads::OfWiki(_) | Leads::Elsewhere => None,
        }
    }

    /// The file of the wiki that a link leads to: locales and single characters before its path are
    /// no part of it (W42).
    pub fn file(&self, target: &str, carrier: Carrier) -> Option<PagePath> {
        let Leads::OfWiki(way) = self.leads(target, carrier) else {
            return None;
        };
        let way = percent_decoded(&way);
        let mut parts: Vec<&str> = way.split('/').collect();
        if parts.len() > 1 && parts.first()?.encode_utf16().count() == 1 {
            parts.remove(0);
        }
        if parts.len() > 1 && is_locale_like(&parts.first()?.to_lowercase()) {
            parts.remove(0);
        }
        let is_own = parts.first()?.starts_with('_');
        (!is_own).then(|| PagePath::as_stored(parts.join("/")))
    }

    fn leads(&self, target: &str, carrier: Carrier) -> Leads {
        let href = href(target, carrier, self.page, self.site);
        self.site.followed(&href, || self.address.as_ref())
    }
}

/// The `href` that a link has in a page's HTML, rendered at a place.
pub(super) fn href(target: &str, carrier: Carrier, at: &PagePlace, site: &LinkedSite) -> String {
    match carrier {
        Carrier::Markdown => site.rewritten(encoded(target), at),
        Carrier::Anchor => site.rewritten(target.to_owned(), at),
        Carrier::Untouched => target.to_owned(),
    }
}

impl LinkedSite {
    /// The `href` that the wiki writes for a link's, in a page that it renders at a place.
    fn rewritten(&self, href: String, (locale, path): &PagePlace) -> String {
        let is_left = href.is_empty()
            || ["#", "mailto:", "tel:"]
                .iter()
                .any(|start| href.starts_with(start));
        if is_left {
            return href;
        }
        let address = self.address.as_str().trim_end_matches('/');
        let href = match href.strip_prefix(address) {
            Some(rest) if rest.starts_with('/') => rest.to_owned(),
            _ => href,
        };
        if href.contains("://") || begins_view(&href) || href.contains('.') {
            return href;
        }
        let is_from_root = href.starts_with('/');
        let has_locale = is_from_root && href.encode_utf16().nth(3) == Some(u16::from(b'/'));
        let folder = match path.as_str() {
            _ if is_from_root || self.relative_from_root => String::new(),
            "home" => String::new(),
            path => format!("/{path}"),
        };
        let slash = if is_from_root { "" } else { "/" };
        if self.has_namespaces && !has_locale {
            format!("/{locale}{folder}{slash}{href}")
        } else {
            format!("{folder}{slash}{href}")
        }
    }

    /// The target that a browser reaches by an `href` of a page that it reads at an address.
    fn followed<A: Borrow<Url>>(&self, href: &str, read_at: impl FnOnce() -> Option<A>) -> Leads {
        let href = href.trim_matches(|c: char| c <= ' ');
        if href.is_empty() || href.starts_with('#') {
            return Leads::Here;
        }
        let is_address = |url: &Url| matches!(url.scheme(), "http" | "https");
        let address = match Url::parse(href) {
            Ok(url) if is_address(&url) && has_authority(href) => Some(url),
            Ok(url) if !is_address(&url) => return Leads::Elsewhere,
            _ if begins_authority(href) => match self.address.join(href) {
                Ok(url) => Some(url),
                Err(_) => return Leads::Elsewhere,
            },
            _ => None,
        };
        if let Some(address) = address {
            if address.scheme() != self.address.scheme() {
                return Leads::Elsewhere;
            }
            return way_below(&address, &self.address)
                .map_or(Leads::Elsewhere, |way| self.answered(way));
        }
        let url = read_at().and_then(|base| base.borrow().join(href).ok());
        url.map_or(Leads::Elsewhere, |url| self.answered(url.path()))
    }

    /// The address that a page is read at, below a root that stands for the wiki's.
    fn read_at(&self, (locale, path): &PagePlace) -> Option<Url> {
        let mut url = Url::parse("http://wiki.invalid").ok()?;
        let mut segments = url.path_segments_mut().ok()?;
        segments.clear();
        if self.has_namespaces || *locale != self.locale {
            segments.push(locale.as_str());
        }
        segments.extend(path.as_str().split('/'));
        drop(segments);
        Some(url)
    }

    /// The target that the wiki answers with for a path below its address, which may be
    /// percent-encoded.
    fn answered(&self, way: &str) -> Leads {
        // Measured: it takes several slashes for one.
        let segments: Vec<&str> = way.split('/').filter(|part| !part.is_empty()).collect();
        let way = segments.join("/");
        let first = segments.first().copied().unwrap_or_default();
        let lower = first.to_ascii_lowercase();
        let view = match lower.as_str() {
            "e" | "h" | "s" | "d" if segments.len() > 1 => lower.chars().next(),
            "e" | "h" | "s" | "d" | "i" | "t" | "a" | "p" => return Leads::OfWiki(way),
            _ => None,
        };
        let is_own = OWN_ADDRESSES.contains(&first)
            || ["login", "logout", "register"].contains(&first)
            || first.starts_with('_')
            || !is_well_coded(&way);
        match self.page_of(&way, view.is_none()) {
            Some(place) if !is_own => Leads::Page(view, place),
            _ => Leads::OfWiki(way),
        }
    }

    /// The place that the wiki takes a way for; none where it looks for a file.
    fn page_of(&self, way: &str, cuts_endings: bool) -> Option<PagePlace> {
        let is_cut = cuts_endings && PAGE_ENDINGS.iter().any(|ending| way.ends_with(ending));
        let way = percent_decoded(way);
        let mut way = without_first_unsafe(way.trim());
        if way.is_empty() {
            "home".clone_into(&mut way);
        }
        let way = way.replace('\\', "").replace("//", "");
        let way = without_runs_of_dots(&way);
        let is_segment = |part: &&str| !matches!(part.trim(), "" | ".");
        let mut parts: Vec<&str> = way.split('/').filter(is_segment).collect();
        if parts.first()?.encode_utf16().count() == 1 {
            parts.remove(0);
        }
        let mut locale = self.locale.clone();
        if let Some(first) = parts.first()
            && is_locale_like(&first.to_lowercase())
        {
            locale = Locale::as_stored(*first);
            parts.remove(0);
        }
        if is_cut
            && let Some(last) = parts.last_mut()
            && let Some(dot) = last.rfind('.').filter(|dot| *dot > 0)
        {
            *last = last.get(..dot).unwrap_or_default();
        }
        let path = parts.join("/");
        (is_cut || !path.contains('.')).then(|| (locale, PagePath::as_stored(path)))
    }
}

/// True if an `href` begins like one of the wiki's views: the wiki leaves these unchanged.
fn begins_view(href: &str) -> bool {
    let mut chars = href.chars();
    chars.next() == Some('/')
        && chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && matches!(chars.next(), None | Some('/'))
}

/// True if an address has a host of its own: `http:x` is relative where the scheme is the same.
fn has_authority(href: &str) -> bool {
    href.split_once(':')
        .is_some_and(|(_, rest)| begins_authority(rest))
}

/// True if it begins with two slashes; browsers take backslashes for slashes.
fn begins_authority(href: &str) -> bool {
    let is_slash = |c: Option<char>| matches!(c, Some('/' | '\\'));
    let mut chars = href.chars();
    is_slash(chars.next()) && is_slash(chars.next())
}

/// True if each `%` of a path begins a percent-encoded byte; the wiki refuses other paths.
fn is_well_coded(way: &str) -> bool {
    way.split('%')
        .skip(1)
        .all(|part| coded_byte(part).is_some())
}

/// The wiki cuts out the first sign that it finds unsafe, and no other.
fn without_first_unsafe(way: &str) -> String {
    let is_unsafe = |c: char| matches!(c, '\\' | '"' | '|' | '<' | '>' | ':' | '*' | '?' | '\0'..='\u{1f}' | '\u{80}'..='\u{9f}');
    let way = way.strip_prefix('/').unwrap_or(way);
    let mut way = way.to_owned();
    if let Some(at) = way.find(is_unsafe) {
        way.remove(at);
    }
    way
}

/// Several dots in a row.
static DOTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\.{2,}").ok());

fn without_runs_of_dots(way: &str) -> Cow<'_, str> {
    let dots = DOTS.as_ref();
    dots.map_or(Cow::Borrowed(way), |dots| dots.replace_all(way, ""))
}

/// A target as the wiki's Markdown writes it into `href`.
fn encoded(target: &str) -> String {
    let mut href = String::with_capacity(target.len());
    let mut rest = target.chars();
    while let Some(c) = rest.next() {
        let is_kept = c.is_ascii_alphanumeric()
            || ";/?:@&=+$,-_.!~*'()#".contains(c)
            || (c == '%' && coded_byte(rest.as_str()).is_some());
        if is_kept {
            href.push(c);
        } else {
            push_coded(&mut href, c);
        }
    }
    href
}
