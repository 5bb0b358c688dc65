//! Sends events to all targets that want them.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::task::TaskTracker;

use super::post::post;
use crate::checks::{self, CheckCommand};
use crate::notify::{NotifyEvent, Occasion, ReviewAddress};

/// The most notifications that wait to be sent to one target. Further ones are dropped, with a line in the log.
const MOST_WAITING: usize = 256;
/// The pause before an address is tried a second and last time.
const AGAIN: Duration = Duration::from_secs(1);
/// Time that the program waits at its end for notifications that are still to be sent.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A `[[notify]]` of the settings file.
#[derive(Debug, Clone)]
pub struct NotifyTarget {
    /// Its name.
    pub name: String,
    /// The occasions on which the target is notified.
    pub on: Vec<Occasion>,
    /// The way to notify the target.
    pub to: NotifyTo,
    /// The time limit of one try.
    pub timeout: Duration,
}

/// A way to notify a target.
#[derive(Debug, Clone)]
pub enum NotifyTo {
    /// JSON on the standard input of a command.
    Command(CheckCommand),
    /// JSON by POST to an address, which often holds a secret.
    Address(SecretString),
}

impl PartialEq for NotifyTarget {
    /// Compares no command or address: the name is unique.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.on == other.on && self.timeout == other.timeout
    }
}

impl Eq for NotifyTarget {}

/// Sends events, one after another to each target. No caller waits for this, and a failure is only
/// logged.
#[derive(Debug)]
pub struct Notifier {
    targets: Vec<Arc<Turned>>,
    review: ReviewAddress,
    tasks: TaskTracker,
}

/// A target, the lock that lets one notification at a time through to it, and the room for those that wait.
#[derive(Debug)]
struct Turned {
    target: NotifyTarget,
    turn: Mutex<()>,
    waiting: Arc<Semaphore>,
}

impl Notifier {
    /// A notifier for these targets.
    pub fn new(targets: Vec<NotifyTarget>, review: ReviewAddress) -> Self {
        let turned = |target| {
            Arc::new(Turned {
                target,
                turn: Mutex::default(),
                waiting: Arc::new(Semaphore::new(MOST_WAITING)),
            })
        };
        Self {
            targets: targets.into_iter().map(turned).collect(),
            review,
            tasks: TaskTracker::new(),
        }
    }

    /// Its targets, and where the operator says that the review page is, in words.
    #[cfg(any(test, feature = "testing"))]
    pub fn in_words(&self) -> String {
        let targets: Vec<_> = self.targets.iter().map(|one| &one.target).collect();
        format!("{targets:?} {:?}", self.review.named())
    }

    /// True if there is no target to notify.
    pub fn is_idle(&self) -> bool {
        self.targets.is_empty()
    }

    /// Sends an event of a wiki, in a task for each target.
    pub fn tell(&self, wiki: &str, event: &NotifyEvent) {
        let occasion = event.occasion();
        let wanting = self.targets.iter();
        for target in wanting.filter(|it| it.target.on.contains(&occasion)) {
            let Ok(place) = Arc::clone(&target.waiting).try_acquire_owned() else {
                let (notify, event) = (&target.target.name, occasion.as_str());
                tracing::warn!(%notify, event, "too much waits to be told; this is not");
                continue;
            };
            let (target, json) = (Arc::clone(target), event.json(wiki, &self.review));
            self.tasks.spawn(async move {
                let _place = place;
                let _turn = target.turn.lock().await;
                if let Err(why) = target.target.tell(json).await {
                    let (name, event) = (&target.target.name, occasion.as_str());
                    tracing::warn!(notify = %name, event, "people could not be told: {why}");
                }
            });
        }
    }

    /// Waits until all notifications are sent, but not for long.
    pub async fn finish(&self) {
        self.tasks.close();
        if tokio::time::timeout(LAST_WORDS, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("not everything could be told before the end");
        }
        self.tasks.reopen();
    }
}

impl NotifyTarget {
    async fn tell(&self, json: String) -> Result<(), String> {
        match &self.to {
            NotifyTo::Address(address) => {
                let first = post(address, json.clone(), self.timeout).await;
                match first {
                    Err((_, true)) => {}
                    told => return told.map_err(|(why, _)| why),
                }
                tokio::time::sleep(AGAIN).await;
                let second = post(address, json, self.timeout).await;
                second.map_err(|(why, _)| why)
            }
            NotifyTo::Command(command) => {
                let (command, input) = (command.clone(), Arc::from(json));
                let run = move || checks::carry_out(&command, &input, command.timeout);
                match crate::blocking::run(run).await {
                    // The command's output stays out of our log: it may repeat anything.
                    Some(told) => told.map_err(|(why, _)| format!("the command {why}")),
                    None => Err("the command broke off".to_owned()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MOST_WAITING, Notifier, NotifyTarget, NotifyTo};
    use crate::notify::{NotifyEvent, Occasion, ReviewAddress};

    #[tokio::test]
    async fn what_waits_for_one_target_takes_no_room_from_another() {
        let target = |name: &str| NotifyTarget {
            name: name.to_owned(),
            on: vec![Occasion::Unknown],
            // Nobody listens there.
            to: NotifyTo::Address("http://127.0.0.1:9/".into()),
            timeout: Duration::from_secs(1),
        };
        let targets = vec![target("one"), target("two")];
        let notifier = Notifier::new(targets, ReviewAddress::default());
        let call = "0123456789abcdef".to_owned();
        for _ in 0..=MOST_WAITING {
            notifier.tell("docs", &NotifyEvent::Unknown { call: call.clone() });
        }
        // None of them is sent before this waits for something.
        assert_eq!(notifier.tasks.len(), 2 * MOST_WAITING);
    }
}
