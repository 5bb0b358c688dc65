//! The wiki's view of a key: good, a guest's, or invalid.
//!
//! The wiki silently treats an unknown or malformed key as a guest (W3), so this has to be asked
//! for. Measured on 2.5.314: `users.profile` answers every good key, whatever its rights, and
//! refuses a guest with the code 1019, and so a key that expired, in the renewal time too; in that
//! time every operation that wants a right answers `Unauthorized`, the view that readers see a
//! status 500, and the views of source and editor do not answer at all.

use std::time::{Duration, Instant};

use graphql_client::GraphQLQuery as _;

use super::super::client::{Wiki, encode};
use super::super::operations::generated::{UserProfile, user_profile};
use super::super::transport::classify::read_query;
use super::super::{KeyStatus, WikiError, WikiResult};
use crate::error::{Code, Failure, sentence};

/// Time that an answer waits for the key's standing.
const PATIENCE: Duration = Duration::from_secs(2);

impl Wiki {
    /// The key's standing with the wiki; nothing where it does not say so within two seconds. It is
    /// asked once, and again when that is ten minutes old, or a minute if it was bad news.
    pub async fn standing(&self) -> Option<KeyStatus> {
        self.standing_within(PATIENCE.min(self.settings.time.read))
            .await
    }

    /// The same with another limit.
    pub async fn standing_within(&self, limit: Duration) -> Option<KeyStatus> {
        let keyed = self.keyed();
        if let Some(known) = keyed.fresh_standing() {
            return Some(known);
        }
        // Another client of the same wiki may have asked about this key.
        let strangers = &self.traffic().strangers;
        if strangers.has(Instant::now(), &keyed.key.digest()) {
            return Some(KeyStatus::Guest);
        }
        let _turn = keyed.asking.lock().await;
        // One asks for all who wait, and a wiki that does not answer is not asked by each call.
        match keyed.fresh_standing() {
            None if keyed.is_unanswered() => return None,
            None => {}
            known => return known,
        }
        self.ask_standing(limit).await.ok().flatten()
    }

    /// The known standing, without a request.
    pub fn known_standing(&self) -> Option<KeyStatus> {
        self.keyed().standing()
    }

    /// Asks the wiki once for the key's standing; `None` if its answer does not say.
    ///
    /// # Errors
    /// No answer came.
    pub(in crate::wiki) async fn ask_standing(
        &self,
        limit: Duration,
    ) -> WikiResult<Option<KeyStatus>> {
        let keyed = self.keyed();
        let body = encode(&UserProfile::build_query(user_profile::Variables))?;
        let answer = self.transport.post(body, limit).await;
        let answer = answer.and_then(|answer| read_query::<user_profile::ResponseData>(&answer));
        let standing = match answer {
            Ok(data) => data
                .users
                .and_then(|users| users.profile)
                .map(|_| KeyStatus::Good),
            // A wiki that refused it as expired is believed, whatever our clock says.
            Err(WikiError::Guest)
                if keyed.key.has_expired() || keyed.standing() == Some(KeyStatus::Expired) =>
            {
                Some(KeyStatus::Expired)
            }
            Err(WikiError::Guest) => {
                let strangers = &self.traffic().strangers;
                strangers.note(Instant::now(), keyed.key.digest());
                Some(KeyStatus::Guest)
            }
            Err(WikiError::Unauthorized) => Some(KeyStatus::Expired),
            Err(WikiError::KeyRevoked) => Some(KeyStatus::Revoked),
            Err(WikiError::ApiDisabled) => Some(KeyStatus::ApiDisabled),
            // It answers, but does not know the question.
            Err(WikiError::Misunderstood) => None,
            Err(error) => {
                tracing::debug!(%error, "whose key it is could not be found out");
                keyed.asked(None);
                return Err(error);
            }
        };
        keyed.asked(standing);
        Ok(standing)
    }

    /// The error of a key with this standing; none if it is good.
    pub fn fault_of(&self, standing: KeyStatus) -> Option<WikiError> {
        self.keyed().fault(standing)
    }

    /// The hint that accompanies every answer to a key that counts as a guest's.
    pub async fn guests_hint(&self) -> Option<String> {
        let fault = match self.standing().await? {
            KeyStatus::Guest => "it does not know the key".to_owned(),
            KeyStatus::Expired => {
                let at = self.keyed().key.expired_at();
                at.map_or_else(
                    || "it has expired".to_owned(),
                    |at| format!("it expired at {at}"),
                )
            }
            KeyStatus::Good | KeyStatus::Revoked | KeyStatus::ApiDisabled => return None,
        };
        Some(format!(
            "The wiki treats this key as a guest's: {fault}. The answer has only what guests may read."
        ))
    }

    /// Explains a refusal for lack of a right, if the key itself is the cause. The wiki is asked
    /// only until it has answered once.
    pub async fn explained(&self, failure: Failure) -> Failure {
        let mut failure = self.told_of_key(failure).await;
        if failure.code == Code::KeyRejected {
            failure.hint = self.settings().key.setting.named_in(&failure.hint);
        }
        failure
    }

    async fn told_of_key(&self, mut failure: Failure) -> Failure {
        let is_refusal = match failure.code {
            // A gateway before the wiki refuses with a status and knows no rights.
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
                let fault = self.expired().unwrap_or(WikiError::Guest);
                failure.code = Code::KeyRejected;
                failure.message = sentence(&fault.to_string());
                if let WikiError::KeyExpired { at } = fault {
                    return failure
                        .detail("expiredAt", at)
                        .hint(Code::KeyRejected.hint());
                }
                failure.hint("Tell the user: WIKI_API_TOKEN holds no key that this wiki knows; an administrator of the wiki can make one. Only what guests may read can be read.")
            }
            Some(false) if failure.code == Code::PermissionDenied => {
                failure.hint("The wiki knows this key; tell the user that its group lacks the right in details.right, for this path at least.")
            }
            Some(false) | None => failure,
        }
    }

    /// Checks whether the wiki treats this key as a guest's; `None` if unknown.
    pub async fn is_guest(&self) -> Option<bool> {
        match self.standing().await? {
            KeyStatus::Good => Some(false),
            KeyStatus::Guest | KeyStatus::Expired => Some(true),
            KeyStatus::Revoked | KeyStatus::ApiDisabled => None,
        }
    }
}
