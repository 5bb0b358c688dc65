//! The page as Wiki.js keeps it: its fields, its place, and the checks of new values.
//!
//! Everything here is pure. Other modules use these types: a [`PageState`] is what a read
//! gives, what a change is made of and what the audit log keeps.

mod css;
mod edit;
mod hidden;
mod html;
mod links;
mod markdown;
mod model;
mod select;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use css::compare::same_css;
pub use css::rules::{DroppedRules, StyleSheet, dropped_rules};
pub use edit::changed_lines::{LineCounts, LineDiff, TextLines};
pub use edit::changed_words::{MarkedLine, marked_lines};
pub use edit::edits::{EditFault, TextReplacement, apply_edits, replace_all, replaced};
pub use edit::hunk::PatchFault;
pub use edit::lines::{COARSE, Difference, unified_diff};
pub use edit::patch::apply_patch;
pub use edit::section::{PartFault, SectionMode, edit_section, page_of_part, part_as_in};
pub use hidden::{HiddenKind, HiddenText, Occurrences};
pub use html::plain_text;
pub use links::find::{has_unchecked_links, links};
pub use links::link::{Carrier, LinkKind, PageLink, can_be_linked, may_lead_to_page};
pub use links::mend::{
    LeftLink, LinkBase, LinkedSite, MendedLink, MendedText, MovedPart, Moves, PagePlace, PartPage,
    WhyLeft, mend_copied, mend_links,
};
pub use markdown::anchors::{anchor_forms, anchors};
pub use markdown::block::{Block, BlockKind, LinkOrImage};
pub use markdown::code::code_ranges;
pub use markdown::index::{PageInventory, word_count};
pub use markdown::outline::{Heading, Outline, SourceFormat};
pub use markdown::properties::{Property, properties, set_properties};
pub use markdown::sections::{Section, SectionCandidate, SectionFault};
pub use markdown::signs::{MOST_SIGNS, has_too_many_signs};
pub use model::active::{Active, ActiveKind, active, active_styles, has_unchecked_active};
pub use model::asset::{
    MAX_ASSET_BYTES, can_be_downloaded, check_asset, check_new_asset_path, check_new_place,
    extension, is_picture, is_web_page, mime_of, needs_locale, parse_asset_path,
};
pub use model::attached::{AssetOf, Attached, CommentOf};
pub use model::blob::Blob;
pub use model::characters::{escape_hidden, escaped, plain_name};
pub use model::checks::{
    EDITORS, bare_tag, check_comment, check_content, check_description, check_editor, check_tag,
    check_text, check_title, stored_tags, trimmed_comment,
};
pub use model::date::Date;
pub use model::field::{DiffStyle, Field, InUpdate};
pub use model::locale::Locale;
pub use model::note::{MAX_NOTE, Note, Whose, own_words};
pub use model::path::{MAX_PATH_CHARS, NewPath, PagePath, Prefix};
pub use model::path::{fold_place, is_invisible};
pub use model::percent::{percent_decoded_whole, push_coded};
pub use model::read_scope::{ReadRule, ReadScope};
pub use model::reading::PageReading;
pub use model::reference::{Interpretation, Reference};
pub use model::secrets::{Secret, SecretKind, secrets};
pub use model::state::{PageState, same_tags};
pub use model::tag_pattern::TagPattern;
pub use model::trash::Trash;
pub use select::part::PartSelector;
pub use select::position::{DiffersIn, TextPosition};
pub use select::reader_parts::{ReaderPart, reader_parts};
pub use select::selector::{PartKind, Selector, SelectorFault};
pub use select::slice::{Slice, slice};
