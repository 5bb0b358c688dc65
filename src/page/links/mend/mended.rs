//! Mending: what has to change in a text, and what cannot.

use std::ops::Range;

use super::super::find::written_links;
use super::super::link::has_other_scheme;
use super::super::written::SourceLink;
use super::moves::{HeadingHome, Moves};
use super::resolve::{Leads, LinkedSite, PagePlace, Seat, resolve};
use super::rewrite::LinkTargetParts;
use crate::page::select::position::lines_of;
use crate::page::{Carrier, SourceFormat, anchor_forms};
use crate::words::words;

/// A link that was mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MendedLink {
    /// Its line in the text before, from 1.
    pub line: usize,
    /// Its target as it was written.
    pub before: String,
    /// Its target now.
    pub after: String,
}

words! {
    /// The reason that a link was left although its page is no longer there.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum WhyLeft: words {
        /// It stands in `<code>` or `<pre>`.
        InCode = "in code",
        /// The bytes of its target could not be determined reliably.
        NotFound = "its target cannot be told apart in the source",
        /// No form of it leads to the new place as the wiki resolves it.
        NoAddress = "no such link leads to the new place",
        /// It names the wiki by another scheme or port, or without a scheme.
        OtherAddress = "another scheme or port than the wiki's",
        /// The page is neither Markdown nor HTML; it names the place.
        Format = "neither Markdown nor HTML",
        /// Several of the new pages have the heading.
        SeveralPages = "several new pages have the heading",
    }
}

/// A link that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftLink {
    /// Its line in the text before, from 1.
    pub line: usize,
    /// Its target as it is written.
    pub link: String,
    /// The reason.
    pub why: WhyLeft,
}

/// A text whose links were mended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MendedText {
    /// The text; unchanged if nothing was mended.
    pub text: String,
    /// Mended links, in page order.
    pub mended: Vec<MendedLink>,
    /// Links that should have been mended but could not be, in page order.
    pub left: Vec<LeftLink>,
    /// The lines of links that stay as they are and lead right once the page is rendered where it
    /// goes, in page order: until then its readers get to where they led before.
    pub stale: Vec<usize>,
}

/// Mends the links of a page that stands at a place before the pages move.
///
/// Every link that led to an old place then leads to the new one. If the page itself moves, its
/// other links lead where they led before, once it is rendered where it goes; a relative link that
/// does so stays as it is. Links that could not be rewritten reliably are left and named. Takes
/// time linear in the text.
pub fn mend_links(
    text: &str,
    format: SourceFormat,
    page: &PagePlace,
    moves: &Moves,
    site: &LinkedSite,
) -> MendedText {
    let work = Mender {
        page,
        rendered: page,
        after: moves.after(page),
        moves,
        site,
    };
    if matches!(format, SourceFormat::AsciiDoc | SourceFormat::Other) {
        return work.only_named(text);
    }
    mended(&work, text, format)
}

/// A text of one page as it stands in a new one: its relative links lead to the pages that they led to. Those
/// that cannot be rewritten reliably stay.
pub fn mend_copied(
    text: &str,
    format: SourceFormat,
    (from, to): (&PagePlace, &PagePlace),
    site: &LinkedSite,
) -> String {
    let work = Mender {
        page: from,
        rendered: to,
        after: to.clone(),
        moves: &Moves::default(),
        site,
    };
    mended(&work, text, format).text
}

fn mended(work: &Mender<'_>, text: &str, format: SourceFormat) -> MendedText {
    let found = written_links(text, format, host(work.site));
    let mut edits = Vec::new();
    let mut faults: Vec<(&SourceLink, WhyLeft)> = Vec::new();
    let mut stale: Vec<&SourceLink> = Vec::new();
    for link in &found {
        match work.needed(link, text) {
            MendAction::Nothing => {}
            MendAction::Rendering => stale.push(link),
            MendAction::Edit(range, way) => edits.push(Edit { range, way, link }),
            MendAction::Left(why) => faults.push((link, why)),
        }
    }
    // A link's target stands behind those of the images in it.
    edits.sort_by_key(|edit| edit.range.start);
    let new = applied(text, &edits);
    let is_sure = edits.is_empty() || work.is_as_meant(&found, &new, format);
    if !is_sure {
        let unsure = edits.drain(..).map(|edit| (edit.link, WhyLeft::NotFound));
        faults.extend(unsure);
        faults.sort_by_key(|(link, _)| link.at);
    }
    let mut line_of = lines_of(text);
    let anew = edits.into_iter().map(|edit| MendedLink {
        line: line_of(edit.range.start),
        before: text.get(edit.range).unwrap_or_default().to_owned(),
        after: edit.way,
    });
    let mended = anew.collect();
    let mut line_of = lines_of(text);
    let kept = faults.into_iter().map(|(link, why)| LeftLink {
        line: line_of(link.at),
        link: link.target.clone(),
        why,
    });
    let left = kept.collect();
    let mut line_of = lines_of(text);
    let stale = stale.into_iter().map(|link| line_of(link.at)).collect();
    let text = if is_sure { new } else { text.to_owned() };
    MendedText {
        text,
        mended,
        left,
        stale,
    }
}

fn host(site: &LinkedSite) -> &str {
    site.address.host_str().unwrap_or_default()
}

/// A rewritten target.
struct Edit<'a> {
    range: Range<usize>,
    way: String,
    link: &'a SourceLink,
}

/// The action that a link needs.
enum MendAction {
    Nothing,
    /// It stays, and leads right once the page is rendered where it goes.
    Rendering,
    Edit(Range<usize>, String),
    Left(WhyLeft),
}

/// A page before and after.
struct Mender<'a> {
    page: &'a PagePlace,
    /// The place at which it is rendered: a moved page is not rendered again, a new one is where it stands.
    rendered: &'a PagePlace,
    after: PagePlace,
    moves: &'a Moves,
    site: &'a LinkedSite,
}

impl Mender<'_> {
    /// The place that a link should lead to when all pages are moved.
    fn wanted(&self, link: &SourceLink) -> Leads {
        let before = resolve(&link.target, link.carrier, Seat::at(self.page), self.site);
        let home = self.home(link, &before).and_then(HeadingHome::place);
        match (home, before) {
            (Some(home), _) => Leads::Page(None, home.clone()),
            (None, Leads::Page(view, place)) => Leads::Page(view, self.moves.after(&place)),
            (None, before) => before,
        }
    }

    /// The page that has the heading to which a link leads, if its page has it no more.
    fn home(&self, link: &SourceLink, leads: &Leads) -> Option<&HeadingHome> {
        let homes = match leads {
            Leads::Here => {
                let own = self.moves.in_parts.get(self.page);
                own.or_else(|| self.moves.headings.get(self.page))
            }
            Leads::Page(None, place) => self.moves.headings.get(place),
            Leads::Page(Some(_), _) | Leads::OfWiki(_) | Leads::Elsewhere => None,
        }?;
        let (_, anchor) = link.target.split_once('#')?;
        anchor_forms(anchor).iter().find_map(|form| homes.get(form))
    }

    /// True if a target leads there once the page is rendered where it goes.
    fn leads(&self, target: &str, link: &SourceLink, wanted: &Leads) -> bool {
        resolve(target, link.carrier, Seat::at(&self.after), self.site) == *wanted
    }

    /// True if it does so as the page was rendered before it moved.
    fn leads_at_once(&self, target: &str, link: &SourceLink, wanted: &Leads) -> bool {
        let seat = Seat {
            rendered: self.rendered,
            read: &self.after,
        };
        resolve(target, link.carrier, seat, self.site) == *wanted
    }

    fn needed(&self, link: &SourceLink, text: &str) -> MendAction {
        if has_other_scheme(&link.target) {
            return MendAction::Nothing;
        }
        let leads = resolve(&link.target, link.carrier, Seat::at(self.page), self.site);
        let home = self.home(link, &leads);
        if home == Some(&HeadingHome::Several) {
            return MendAction::Left(WhyLeft::SeveralPages);
        }
        let wanted = self.wanted(link);
        match &wanted {
            Leads::Here => MendAction::Nothing,
            Leads::Elsewhere => self.of_other_address(link),
            _ if self.leads(&link.target, link, &wanted) => {
                if self.leads_at_once(&link.target, link, &wanted) {
                    MendAction::Nothing
                } else {
                    MendAction::Rendering
                }
            }
            _ if link.is_in_code => MendAction::Left(WhyLeft::InCode),
            _ => {
                let keeps_anchor = !matches!(home, Some(HeadingHome::Title(_)));
                self.rewritten(link, text, &wanted, keeps_anchor)
            }
        }
    }

    /// A link written so that it leads there.
    fn rewritten(
        &self,
        link: &SourceLink,
        text: &str,
        wanted: &Leads,
        keeps_anchor: bool,
    ) -> MendAction {
        let Some(range) = &link.range else {
            return MendAction::Left(WhyLeft::NotFound);
        };
        let ways = |form: &LinkTargetParts<'_>| match wanted {
            Leads::Page(view, to) => form.ways_to(*view, to, &self.after, self.site),
            Leads::OfWiki(way) => vec![format!("/{way}")],
            Leads::Here | Leads::Elsewhere => Vec::new(),
        };
        let good = LinkTargetParts::split(&link.target, self.site)
            .into_iter()
            .find_map(|form| {
                let anchor = form.rest.find('#').filter(|_| !keeps_anchor);
                let kept = form.rest.get(..anchor.unwrap_or(form.rest.len()));
                let kept = kept.unwrap_or_default();
                let is_good = |way: &String| {
                    let target = [form.address, way, kept].concat();
                    self.leads(&target, link, wanted) && self.leads_at_once(&target, link, wanted)
                };
                let way = ways(&form).into_iter().find(is_good)?;
                let (end, way) = match anchor {
                    None => (form.address.len() + form.way.len(), way),
                    Some(_) => (link.target.len(), [&*way, kept].concat()),
                };
                Some((form.address.len(), end, way))
            });
        let Some((start, end, way)) = good else {
            return MendAction::Left(WhyLeft::NoAddress);
        };
        let raw = text.get(range.clone()).unwrap_or_default();
        let place = |length| Some(range.start + link.writing.behind(raw, length)?);
        match place(start).zip(place(end)) {
            Some((start, end)) => MendAction::Edit(start..end, way),
            None => MendAction::Left(WhyLeft::NotFound),
        }
    }

    /// A link whose address is not the wiki's, although people will take it for this wiki's.
    fn of_other_address(&self, link: &SourceLink) -> MendAction {
        let host = host(self.site);
        let Some(at) = link.target.to_ascii_lowercase().find(host) else {
            return MendAction::Nothing;
        };
        let before = link.target.get(..at).unwrap_or_default();
        let rest = link.target.get(at + host.len()..).unwrap_or_default();
        let is_host = matches!(before.to_ascii_lowercase().as_str(), "http://" | "https://");
        let Some(way) = rest.find('/').and_then(|at| rest.get(at..)) else {
            return MendAction::Nothing;
        };
        let is_port = rest.starts_with([':', '/']);
        let target = format!("{}{way}", self.site.address.as_str().trim_end_matches('/'));
        match resolve(&target, link.carrier, Seat::at(self.page), self.site) {
            Leads::Page(_, place) if is_host && is_port && self.moves.target(&place).is_some() => {
                MendAction::Left(WhyLeft::OtherAddress)
            }
            _ => MendAction::Nothing,
        }
    }

    /// True if the new text has the same links, each leading where it should.
    fn is_as_meant(&self, before: &[SourceLink], new: &str, format: SourceFormat) -> bool {
        let after = written_links(new, format, host(self.site));
        before.len() == after.len()
            && before.iter().zip(&after).all(|(before, after)| {
                let is_same = before.target == after.target;
                before.carrier == after.carrier
                    && before.is_in_code == after.is_in_code
                    && (is_same || self.leads(&after.target, after, &self.wanted(before)))
            })
    }

    /// Lists the words of a source in another format that name places of the wiki as links do; none is
    /// mended.
    fn only_named(&self, text: &str) -> MendedText {
        let ends = |c: char| c.is_whitespace() || "\"'<>()[]{}|`,;".contains(c);
        let mut line_of = lines_of(text);
        let (mut left, mut at) = (Vec::new(), 0);
        for word in text.split_inclusive(ends) {
            let start = at;
            at += word.len();
            let word = word.trim_end_matches(ends);
            // Macros such as `link:/docs/x[text]`.
            let name = word.strip_prefix("link:");
            let name = name.or_else(|| word.strip_prefix("xref:")).unwrap_or(word);
            let leads = || resolve(name, Carrier::Anchor, Seat::at(self.page), self.site);
            if name.contains('/')
                && let Leads::Page(_, place) = leads()
                && self.moves.target(&place).is_some()
            {
                left.push(LeftLink {
                    line: line_of(start),
                    link: name.to_owned(),
                    why: WhyLeft::Format,
                });
            }
        }
        MendedText {
            text: text.to_owned(),
            left,
            ..MendedText::default()
        }
    }
}

/// A text with its edits, which are in order.
fn applied(text: &str, edits: &[Edit<'_>]) -> String {
    let mut new = String::with_capacity(text.len());
    let mut passed = 0;
    for edit in edits {
        new.push_str(text.get(passed..edit.range.start).unwrap_or_default());
        new.push_str(&edit.way);
        passed = edit.range.end;
    }
    new.push_str(text.get(passed..).unwrap_or_default());
    new
}
