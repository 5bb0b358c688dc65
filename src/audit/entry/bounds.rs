//! Bounds the length of what a record says: texts from outside are cut to lengths that no real value
//! reaches.
#![expect(
    clippy::ref_option,
    reason = "each takes a member of an entry as it stands there"
)]

use super::super::{Actor, Client, PersonId};
use crate::page::{Field, Locale, PagePath};

/// The longest path and reason, in characters.
const MAX_LONG: usize = 1024;
/// The most warnings of one record.
const MAX_WARNINGS: usize = 50;
/// The longest of any other text, in characters.
pub(super) const MAX_SHORT: usize = 256;

/// A member whose size its type bounds.
pub(super) fn whole<T: Clone>(value: &T) -> T {
    value.clone()
}

pub(super) fn short(text: &Option<String>) -> Option<String> {
    text.as_deref().map(|text| cut(text, MAX_SHORT))
}

pub(super) fn long(text: &Option<String>) -> Option<String> {
    text.as_deref().map(|text| cut(text, MAX_LONG))
}

pub(super) fn path(path: &Option<PagePath>) -> Option<PagePath> {
    let path = path.as_ref()?;
    Some(PagePath::as_stored(cut(path.as_str(), MAX_LONG)))
}

pub(super) fn locale(locale: &Option<Locale>) -> Option<Locale> {
    let locale = locale.as_ref()?;
    Some(Locale::as_stored(cut(locale.as_str(), MAX_SHORT)))
}

pub(super) fn actor(actor: &Option<Actor>) -> Option<Actor> {
    let actor = actor.as_ref()?;
    Some(actor.map(|text| cut(text, MAX_SHORT)))
}

pub(super) fn client(client: &Option<Client>) -> Option<Client> {
    let client = client.as_ref()?;
    Some(Client {
        name: cut(&client.name, MAX_SHORT),
        version: cut(&client.version, MAX_SHORT),
        id: client.id,
        role: client.role,
        subject: short(&client.subject),
        address: short(&client.address),
        parent: client.parent,
        person: client.person.as_ref().map(|person| PersonId {
            issuer: cut(&person.issuer, MAX_SHORT),
            subject: cut(&person.subject, MAX_SHORT),
        }),
    })
}

/// The fields in [`Field`]'s order, each once.
pub(super) fn fields(fields: &[Field]) -> Vec<Field> {
    let mut fields = fields.to_vec();
    fields.sort_unstable();
    fields.dedup();
    fields
}

/// The first codes of warnings.
pub(super) fn codes(codes: &[String]) -> Vec<String> {
    let first = codes.iter().take(MAX_WARNINGS);
    first.map(|code| cut(code, MAX_SHORT)).collect()
}

pub(super) fn cut(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(max.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
