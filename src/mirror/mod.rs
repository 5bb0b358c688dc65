//! The mirror: the states in which pages were seen, so that what anybody deleted can be brought back.
//!
//! It lies beside the record, in a store of its own: a purge of the one never removes what the other
//! names. The record says what this server did, the mirror what it saw. It is no audit: after a power
//! cut it may lack its last seconds, which the next look reads again.
//!
//! ```text
//! blobs                  states of pages, each named by its content
//! documents `00` to `3f` the pages, each in that of its id, one a line
//! document `look`        when the list was looked at last
//! ```

mod bin;
mod compare;
mod health;
mod known;
mod look;
mod look_back;
mod pages;
mod retention;
mod settings;
mod then;
mod versions;

pub use bin::no_state;
pub use bin::{BinList, BinPage, Mirror, MirrorFault};
pub use health::check;
pub use look::MirrorNews;
pub use pages::{MirrorTime, MirroredPage, PageGone, SeenPlace, SeenState};
pub use retention::{Forgotten, ToForget};
pub use settings::MirrorSettings;
pub use then::{PageThen, PartThen};
pub use versions::SeenVersion;
