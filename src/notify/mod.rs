//! Notifies people elsewhere when something waits for them or went wrong. Notifications hold ids,
//! counts and addresses, never text of a page.

mod event;
mod notifier;
mod post;
mod review_address;

pub use event::{NotifyEvent, Occasion};
pub use notifier::{Notifier, NotifyTarget, NotifyTo};
pub use review_address::ReviewAddress;
