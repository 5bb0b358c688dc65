//! Finds what an operator names by the beginning of its id.

/// The fewest characters of an id that are taken for it.
const MIN_PREFIX: usize = 4;

/// The only one whose id begins so; `None` if none does.
///
/// # Errors
/// That the beginning is too short, or several begin so.
pub(super) fn by_prefix<'a, T, E>(
    all: &'a [T],
    id_of: impl Fn(&T) -> String,
    prefix: &str,
    several: impl FnOnce() -> E,
) -> Result<Option<&'a T>, E> {
    let mut found = all.iter().filter(|one| id_of(one).starts_with(prefix));
    match (found.next(), found.next()) {
        (Some(one), None) if prefix.len() >= MIN_PREFIX => Ok(Some(one)),
        (Some(_), _) => Err(several()),
        (None, _) => Ok(None),
    }
}
