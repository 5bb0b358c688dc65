//! Whether a refusal is the key's own fault: a guest told apart from a key without the right.
//!
//! An unknown or malformed key is answered as a guest, without a word (W3). Measured on
//! 2.5.314: `users.profile` answers every good key, whatever its rights, and refuses a guest
//! with the code 1019.

use super::client::Wiki;
use super::error::{WikiError, sentence};
use super::operations::{UserProfile, user_profile};
use crate::error::{Code, Failure};

impl Wiki {
    /// Says of a refusal for want of a right what the key itself has to do with it. The wiki is
    /// asked at most until it answered once.
    pub async fn explained(&self, failure: Failure) -> Failure {
        let mut failure = self.told_of_key(failure).await;
        if failure.code == Code::KeyRejected {
            failure.hint = self.settings().key.setting().named_in(&failure.hint);
        }
        failure
    }

    async fn told_of_key(&self, mut failure: Failure) -> Failure {
        let is_refusal = match failure.code {
            // What stands before the wiki refuses with a status, and knows no rights.
            Code::PermissionDenied => failure.details.contains_key("right"),
            Code::FieldUnreadable => true,
            _ => false,
        };
        if !is_refusal {
            return failure;
        }
        match self.is_guest().await {
            Some(true) => {
                for name in ["right", "rights", "fields"] {
                    failure.details.shift_remove(name);
                }
                failure.code = Code::KeyRejected;
                failure.message = sentence(&WikiError::Guest.to_string());
                failure.hint("Tell the user: WIKI_API_TOKEN holds no key that this wiki knows; an administrator of the wiki can make one. Only what guests may read can be read.")
            }
            Some(false) if failure.code == Code::PermissionDenied => {
                failure.hint("The wiki knows this key; tell the user that its group lacks the right in details.right, for this path at least.")
            }
            Some(false) | None => failure,
        }
    }

    /// Whether the wiki takes this key for a guest's; nothing where that cannot be found out.
    pub async fn is_guest(&self) -> Option<bool> {
        if let Some(known) = self.is_guest.get() {
            return Some(*known);
        }
        let key = self.settings.key.digest();
        if self.traffic().strangers.has(&key) {
            return Some(true);
        }
        let is_guest = match self.query::<UserProfile>(user_profile::Variables).await {
            Ok(data) => data.users?.profile.map(|_| false)?,
            Err(WikiError::Guest) => {
                // For a while: it may be one that the wiki comes to know.
                self.traffic().strangers.note(key);
                return Some(true);
            }
            Err(error) => {
                tracing::debug!(%error, "whose key it is could not be found out");
                return None;
            }
        };
        Some(*self.is_guest.get_or_init(|| is_guest))
    }
}
