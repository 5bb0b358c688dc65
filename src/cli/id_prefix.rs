//! Finds what an operator names by the beginning of its id.

/// The fewest characters of an id that are taken for it.
const MIN_PREFIX: usize = 4;

/// The reason that the beginning of an id names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfound {
    /// It is too short, or several begin so.
    Several,
    /// None begins so.
    None,
}

/// The only one whose id begins so.
pub(super) fn by_prefix<'a, T>(
    all: &'a [T],
    id_of: impl Fn(&T) -> String,
    prefix: &str,
) -> Result<&'a T, Unfound> {
    let mut found = all.iter().filter(|one| id_of(one).starts_with(prefix));
    match (found.next(), found.next()) {
        (Some(one), None) if prefix.len() >= MIN_PREFIX => Ok(one),
        (Some(_), _) => Err(Unfound::Several),
        (None, _) => Err(Unfound::None),
    }
}
