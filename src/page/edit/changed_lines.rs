//! Finds the lines that differ between two texts. Short texts are compared with Myers' algorithm;
//! long ones between the lines that each of them has once, so that no more than a few bytes of
//! memory and a bounded time are spent on a line.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::ops::{Index, Range};
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_deadline};

use super::super::select::position::line_feeds;

/// Time limit of the line comparison; after it, a coarser one is used. Tests wait longer: on a busy
/// machine what they prove would not hold.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 200 });
/// The most lines that both texts may have to be compared as they are.
const FEW: usize = 20_000;
/// The most lines that a text may have to be searched for common lines.
const MOST: usize = 1 << 24;

/// Number of lines that a change adds and removes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines that are in the new text only.
    pub added: usize,
    /// Lines that are in the old text only.
    pub removed: usize,
}

/// The lines of a text, each with its line feed.
#[derive(Debug, Clone)]
pub struct TextLines<'a> {
    text: &'a str,
    /// Start of each line, and the end of the last one.
    starts: Vec<u32>,
}

impl<'a> TextLines<'a> {
    /// The lines of a text.
    pub fn new(text: &'a str) -> Self {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let mut starts = Vec::with_capacity(line_feeds(text) + 2);
        starts.push(0);
        starts.extend(text.match_indices('\n').map(|(at, _)| offset(at + 1)));
        if !text.is_empty() && !text.ends_with('\n') {
            starts.push(offset(text.len()));
        }
        Self { text, starts }
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// One of them, from 0.
    pub fn line(&self, at: usize) -> &'a str {
        self.text(at..at + 1)
    }

    /// The text of some of them; nothing of those that are not there.
    pub fn text(&self, lines: Range<usize>) -> &'a str {
        let offset = |at: usize| {
            let start = self.starts.get(at).copied()?;
            usize::try_from(start).ok()
        };
        let range = offset(lines.start).zip(offset(lines.end));
        let text = range.and_then(|(start, end)| self.text.get(start..end));
        text.unwrap_or_default()
    }
}

impl Index<usize> for TextLines<'_> {
    type Output = str;

    fn index(&self, at: usize) -> &str {
        self.line(at)
    }
}

/// The lines that differ between two texts.
#[derive(Debug, Default)]
pub struct LineDiff {
    /// Lines of the old text and the lines of the new one that replace them, in order. At least one
    /// unchanged line is between two of them.
    pub(crate) regions: Vec<(Range<usize>, Range<usize>)>,
    /// Unchanged lines may be among them.
    pub(crate) is_coarse: bool,
}

impl LineDiff {
    /// Compares the lines of two texts.
    pub fn new(old: &TextLines, new: &TextLines) -> Self {
        let most = old.count().min(new.count());
        let is_same = |at: &usize| old.line(*at) == new.line(*at);
        let before = (0..most).take_while(is_same).count();
        let is_same = |at: &usize| old.line(old.count() - 1 - at) == new.line(new.count() - 1 - at);
        let behind = (0..most - before).take_while(is_same).count();
        let within = (before..old.count() - behind, before..new.count() - behind);
        let mut changed = Self::default();
        if within.0.len() + within.1.len() <= FEW {
            let until = Instant::now() + PATIENCE;
            changed.compare(old, new, (0..old.count(), 0..new.count()), until);
            return changed;
        }
        let common = common(old, new, &within);
        let until = Instant::now() + PATIENCE;
        let (mut from_old, mut from_new) = (within.0.start, within.1.start);
        let end = (within.0.end, within.1.end);
        for (at_old, at_new) in common.into_iter().chain([end]) {
            let gap = (from_old..at_old, from_new..at_new);
            (from_old, from_new) = (at_old + 1, at_new + 1);
            if gap.0.is_empty() || gap.1.is_empty() || gap.0.len() + gap.1.len() <= FEW {
                changed.compare(old, new, gap, until);
            } else {
                changed.is_coarse = true;
                changed.add(gap);
            }
        }
        changed
    }

    /// The number of lines that came and went.
    pub fn counts(&self) -> LineCounts {
        let count =
            |of: fn(&(Range<usize>, Range<usize>)) -> usize| self.regions.iter().map(of).sum();
        LineCounts {
            added: count(|(_, new)| new.len()),
            removed: count(|(old, _)| old.len()),
        }
    }

    /// Compares these lines of the two texts.
    fn compare(
        &mut self,
        old: &TextLines,
        new: &TextLines,
        (of_old, of_new): (Range<usize>, Range<usize>),
        until: Instant,
    ) {
        if of_old.is_empty() || of_new.is_empty() {
            self.add((of_old, of_new));
            return;
        }
        let ops = capture_diff_deadline(Algorithm::Myers, old, of_old, new, of_new, Some(until));
        for op in ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
            self.add((op.old_range(), op.new_range()));
        }
        self.is_coarse |= Instant::now() > until;
    }

    fn add(&mut self, (old, new): (Range<usize>, Range<usize>)) {
        match self.regions.last_mut() {
            _ if old.is_empty() && new.is_empty() => {}
            Some((last_old, last_new))
                if last_old.end == old.start && last_new.end == new.start =>
            {
                last_old.end = old.end;
                last_new.end = new.end;
            }
            _ => self.regions.push((old, new)),
        }
    }
}

/// Lines that each of the two texts has once within these ranges, in the order of both.
fn common(
    old: &TextLines,
    new: &TextLines,
    within: &(Range<usize>, Range<usize>),
) -> Vec<(usize, usize)> {
    if old.count().max(new.count()) >= MOST {
        return Vec::new();
    }
    let (of_old, of_new) = (hashes(old, within.0.clone()), hashes(new, within.1.clone()));
    let (mut of_old, mut of_new) = (once(&of_old).peekable(), once(&of_new).peekable());
    let mut pairs = Vec::new();
    while let (Some(one), Some(other)) = (of_old.peek(), of_new.peek()) {
        let order = hash_of(*one).cmp(&hash_of(*other));
        if order.is_eq() {
            let (at_old, at_new) = (line_of(*one), line_of(*other));
            // Different lines may have one hash.
            if old.line(at_old) == new.line(at_new) {
                pairs.push((at_old, at_new));
            }
        }
        if order.is_le() {
            of_old.next();
        }
        if order.is_ge() {
            of_new.next();
        }
    }
    pairs.sort_unstable();
    in_order(&pairs)
}

/// The lower bits of a hashed line: its number.
const NUMBER: u64 = (1 << 24) - 1;

const fn hash_of(hashed: u64) -> u64 {
    hashed & !NUMBER
}

fn line_of(hashed: u64) -> usize {
    usize::try_from(hashed & NUMBER).unwrap_or_default()
}

/// Each line's hash with its number, sorted.
fn hashes(lines: &TextLines, range: Range<usize>) -> Vec<u64> {
    let hash = |at: usize| {
        let mut hasher = DefaultHasher::new();
        lines.line(at).hash(&mut hasher);
        hash_of(hasher.finish()) | u64::try_from(at).unwrap_or_default()
    };
    let mut hashes = Vec::with_capacity(range.len());
    hashes.extend(range.map(hash));
    hashes.sort_unstable();
    hashes
}

/// The hashed lines whose hash no other one has.
fn once(hashes: &[u64]) -> impl Iterator<Item = u64> {
    let same = hashes.chunk_by(|one, next| hash_of(*one) == hash_of(*next));
    same.filter_map(|same| match same {
        [only] => Some(*only),
        _ => None,
    })
}

/// The longest part of these pairs, sorted by the first, whose second is sorted, too.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let second = |at: u32| {
        let pair = usize::try_from(at).ok().and_then(|at| pairs.get(at));
        pair.map_or(0, |(_, second)| *second)
    };
    // For each length, the pair with the least second that ends a part of that length.
    let mut ends: Vec<u32> = Vec::new();
    let mut before: Vec<Option<u32>> = Vec::with_capacity(pairs.len());
    for (at, (_, own)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| second(*end) < *own);
        before.push(
            length
                .checked_sub(1)
                .and_then(|length| ends.get(length).copied()),
        );
        match ends.get_mut(length) {
            Some(end) => *end = short(at),
            None => ends.push(short(at)),
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next.and_then(|at| usize::try_from(at).ok()) {
        found.extend(pairs.get(at).copied());
        next = before.get(at).copied().flatten();
    }
    found.reverse();
    found
}
