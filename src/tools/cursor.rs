//! The cursor of a list that is read in parts.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use url::Url;

use crate::wiki::{ListQuery, Position};

/// The cursor for the rest of this list.
pub fn seal(wiki: &Url, query: &ListQuery, position: Position) -> String {
    let mark = mark(wiki, query);
    URL_SAFE_NO_PAD.encode(format!("{mark}.{}.{}", position.index, position.id))
}

/// The position in a list; `None` if the cursor belongs to another list or is invalid.
pub fn open(wiki: &Url, query: &ListQuery, cursor: &str) -> Option<Position> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    let mut parts = text.split('.');
    if parts.next()? != mark(wiki, query) {
        return None;
    }
    let (index, id) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    // No wiki is that large; a larger number is forged.
    (parts.next().is_none() && index <= 10_000_000).then_some(Position { id, index })
}

/// Ties a cursor to the list, and the wiki, that it was issued for.
fn mark(wiki: &Url, query: &ListQuery) -> String {
    let list = ListQuery {
        after: None,
        ..query.clone()
    };
    let digest = Sha256::digest(format!("{wiki} {list:?}"));
    URL_SAFE_NO_PAD.encode(digest.get(..6).unwrap_or_default())
}
