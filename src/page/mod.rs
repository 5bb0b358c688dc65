//! The page as Wiki.js keeps it: its fields, its place, and the checks of new values.
//!
//! Everything here is pure. Other modules use these types: a [`PageState`] is what a read
//! gives, what a change is made of and what the audit log keeps.

mod active;
mod alike;
mod asset;
mod blob;
mod block;
mod changed;
mod checks;
mod css;
mod css_rules;
mod date;
mod edits;
mod field;
mod hidden;
mod html;
mod html_block;
mod html_outline;
mod hunk;
mod index;
mod lines;
mod link;
mod listing;
mod locale;
mod marked;
mod mend_links;
mod note;
mod outline;
mod part;
mod part_kind;
mod patch;
mod path;
mod place;
mod properties;
mod raw;
mod read_scope;
mod reading;
mod reference;
mod secrets;
mod sections;
mod selector;
mod slice;
mod state;
mod tag_pattern;
#[cfg(test)]
pub(crate) mod testing;
mod thing;
mod trash;

pub use active::{Active, ActiveKind, active, active_styles};
pub use asset::{
    MAX_ASSET_BYTES, can_be_downloaded, check_asset, check_new_asset_path, check_new_place,
    extension, is_picture, is_web_page, mime_of, needs_locale, parse_asset_path,
};
pub use blob::Blob;
pub use block::{Block, BlockKind, Target};
pub use changed::LineCounts;
pub(crate) use changed::{Changed, Lines};
pub use checks::{
    EDITORS, bare_tag, check_comment, check_content, check_description, check_editor, check_tag,
    check_text, check_title, trimmed_comment,
};
pub use css::same_css;
pub use css_rules::{DroppedRules, Sheet, dropped_rules};
pub use date::Date;
pub use edits::{EditFault, TextEdit, apply_edits, replace_all, replaced};
pub use field::{Field, InUpdate, Shown};
pub use hidden::{Found, HiddenText, escape_hidden, escaped};
pub use html::plain_text;
pub use hunk::PatchFault;
pub use index::{Index, word_count};
#[cfg(test)]
pub(crate) use lines::COARSE;
pub use lines::{Difference, unified_diff};
pub use link::{LinkKind, PageLink, can_be_linked, links, may_lead_to_page};
pub use locale::Locale;
pub use marked::{MarkedLine, marked_lines};
pub use mend_links::{
    LeftLink, LinkBase, LinkedSite, MendedLink, MendedText, MovedPart, Moves, PagePlace, WhyLeft,
    mend_links,
};
pub use note::{MAX_NOTE, Note, Whose, own_words};
pub use outline::{Format, Heading, Outline};
pub use part::{PartSelector, PartStep};
pub use part_kind::PartKind;
pub use patch::apply_patch;
pub use path::{MAX_PATH_CHARS, NewPath, PagePath, Prefix};
pub(crate) use path::{fold_place, is_invisible};
pub use place::{DiffersIn, Place};
pub use properties::{Property, properties};
pub use read_scope::{ReadRule, ReadScope};
pub use reading::PageReading;
pub use reference::{Interpretation, Reference};
pub use secrets::{Secret, SecretKind, secrets};
pub use sections::{Candidate, Section, SectionFault, SectionMode, edit_section, find_section};
pub use selector::{Selector, SelectorFault};
pub use slice::{Slice, slice};
pub use state::PageState;
pub use tag_pattern::TagPattern;
pub use thing::{AssetOf, CommentOf, Thing};
pub use trash::Trash;
