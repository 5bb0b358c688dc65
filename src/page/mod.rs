//! The page as Wiki.js keeps it: its fields, where it stands, and the checks of new values.
//!
//! Everything here is pure. Other rooms share these words: a [`PageState`] is what a read
//! gives, what a change is made of and what the audit log keeps.

mod checks;
mod date;
mod field;
mod lines;
mod locale;
mod path;
mod reading;
mod state;

pub use checks::{
    check_content, check_description, check_editor, check_tag, check_text, check_title,
};
pub use date::Date;
pub use field::Field;
pub use lines::{LineCounts, unified_diff};
pub use locale::Locale;
pub use path::{MAX_PATH_CHARS, NewPath, PagePath, Prefix};
pub use reading::PageReading;
pub use state::PageState;
