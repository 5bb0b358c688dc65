//! Notifies people elsewhere when something waits for them or went wrong. Notifications hold ids,
//! counts and addresses, never text of a page.

mod event;
mod notifier;
mod post;
mod review_address;
mod target;

pub use event::{NotifyEvent, Occasion};
pub use notifier::Notifier;
pub use review_address::ReviewAddress;
pub use target::{NotifyTarget, NotifyTo};
