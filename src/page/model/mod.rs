//! A page as a value: its fields, its place, the checks of new values.

pub(super) mod active;
pub(super) mod asset;
pub(super) mod attached;
pub(super) mod blob;
pub(super) mod characters;
pub(super) mod checks;
pub(super) mod date;
pub(super) mod field;
pub(super) mod locale;
pub(super) mod note;
pub(super) mod path;
pub(super) mod percent;
pub(super) mod read_scope;
pub(super) mod reading;
pub(super) mod reference;
pub(super) mod secrets;
pub(super) mod state;
pub(super) mod tag_pattern;
pub(super) mod trash;
