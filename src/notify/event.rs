//! The events that people are notified of.

use serde::Serialize;

use crate::notify::ReviewAddress;
use crate::page::plain_name;
use crate::words::{counted, words};

/// The longest name in a sentence, in characters.
const LONGEST_NAME: usize = 128;

words! {
    /// The occasions on which people are notified.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Occasion: as_str, ALL {
        /// A set waits for the decision of a person.
        Waiting = "waiting",
        /// A person decided on a set.
        Decided = "decided",
        /// A write was applied only in part.
        PartlyApplied = "partly_applied",
        /// The outcome of a write is unknown.
        Unknown = "unknown",
        /// The key of the wiki ends within seven days.
        KeyEnds = "key_ends",
        /// The mirror missed pages that others deleted.
        Deleted = "deleted",
        /// One author changed many pages within an hour.
        ManyChanged = "many_changed",
    }
}

/// An event to notify people of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum NotifyEvent {
    /// A set waits.
    Waiting {
        /// The set.
        set: String,
        /// The number of its changes.
        changes: usize,
    },
    /// A person decided on a set.
    Decided {
        /// The set.
        set: String,
        /// `applied`, `rejected` or `withdrawn`.
        decision: &'static str,
        /// The call of the decision.
        call: String,
    },
    /// A write was applied only in part.
    PartlyApplied {
        /// Its call.
        call: String,
    },
    /// The outcome of a write is unknown.
    Unknown {
        /// Its call.
        call: String,
    },
    /// The key of the wiki ends soon.
    KeyEnds {
        /// The time of the end, in RFC 3339.
        at: String,
        /// In how many days.
        days: i64,
    },
    /// The mirror missed pages that others deleted.
    Deleted {
        /// Their number.
        pages: usize,
        /// The ids of the first of them.
        ids: Vec<i64>,
        /// True if the wiki's list went back in time: a backup of it may have been restored.
        went_back: bool,
    },
    /// One author changed many pages within an hour.
    ManyChanged {
        /// The author, as the wiki names it.
        author: String,
        /// The number of pages.
        pages: usize,
    },
}

impl NotifyEvent {
    /// The occasion of the event.
    pub const fn occasion(&self) -> Occasion {
        match self {
            Self::Waiting { .. } => Occasion::Waiting,
            Self::Decided { .. } => Occasion::Decided,
            Self::PartlyApplied { .. } => Occasion::PartlyApplied,
            Self::Unknown { .. } => Occasion::Unknown,
            Self::KeyEnds { .. } => Occasion::KeyEnds,
            Self::Deleted { .. } => Occasion::Deleted,
            Self::ManyChanged { .. } => Occasion::ManyChanged,
        }
    }

    /// The event as JSON. Its member `text` is a sentence: chat programs show that member.
    pub(super) fn json(&self, wiki: &str, review: &ReviewAddress) -> String {
        let set = match self {
            Self::Waiting { set, .. } | Self::Decided { set, .. } => Some(set),
            _ => None,
        };
        let told = EventJson {
            v: 1,
            event: self.occasion().as_str(),
            wiki,
            text: format!("{wiki}: {}", self.text(review)),
            own: self,
            review: set.map(|set| review.for_set(set)),
        };
        // It has only texts and numbers.
        serde_json::to_string(&told).unwrap_or_default()
    }

    /// The event as a sentence.
    fn text(&self, review: &ReviewAddress) -> String {
        match self {
            Self::Waiting { set, changes } => {
                let count = match changes {
                    1 => "A change waits".to_owned(),
                    many => format!("{many} changes wait"),
                };
                format!("{count} for a decision: {}", review.for_set(set))
            }
            Self::Decided { set, decision, .. } => format!("The set {set} was {decision}."),
            Self::PartlyApplied { call } => {
                let at = shown_at(review, call);
                format!("The write {call} was applied only in part: {at}.")
            }
            Self::Unknown { call } => {
                let at = shown_at(review, call);
                format!("The outcome of the write {call} is unknown: {at}.")
            }
            Self::KeyEnds { at, days } => {
                let days = counted(*days, "day", "days");
                format!("The key of the wiki ends in {days}, at {at}.")
            }
            Self::Deleted {
                pages, went_back, ..
            } => {
                let back = if *went_back {
                    " The wiki's list went back in time: was a backup of it restored?"
                } else {
                    ""
                };
                format!("Pages were deleted ({pages}); `wikijs-gate bin list` shows them.{back}")
            }
            Self::ManyChanged { author, pages } => {
                // Nothing in it that a chat program could take for a mention, a link or a new line.
                let author = plain_name(author, LONGEST_NAME, " -.,:'()");
                format!("{author} changed {pages} pages within an hour.")
            }
        }
    }
}

/// An event as it is sent.
#[derive(Serialize)]
struct EventJson<'a> {
    v: u8,
    event: &'static str,
    wiki: &'a str,
    text: String,
    #[serde(flatten)]
    own: &'a NotifyEvent,
    /// The place where a person decides on the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<String>,
}

/// The place that shows a recorded call: its page, else a command.
fn shown_at(review: &ReviewAddress, call: &str) -> String {
    let page = review.page_of_call(call);
    page.unwrap_or_else(|| format!("`wikijs-gate audit show {call}`"))
}

#[cfg(test)]
mod tests {
    use super::{NotifyEvent, Occasion, ReviewAddress};

    #[test]
    fn each_event_is_told_with_ids_and_counts_and_a_sentence() {
        let review = ReviewAddress::parse("https://mcp.example.org/review").unwrap();
        let set = || "0123456789abcdef".to_owned();
        let call = || "c".repeat(32);
        let events = [
            NotifyEvent::Waiting {
                set: set(),
                changes: 3,
            },
            NotifyEvent::Decided {
                set: set(),
                decision: "rejected",
                call: call(),
            },
            NotifyEvent::PartlyApplied { call: call() },
            NotifyEvent::Unknown { call: call() },
            NotifyEvent::KeyEnds {
                at: "2026-12-01T00:00:00Z".to_owned(),
                days: 6,
            },
            NotifyEvent::Deleted {
                pages: 2,
                ids: vec![7, 8],
                went_back: true,
            },
            NotifyEvent::ManyChanged {
                author: "A".to_owned(),
                pages: 60,
            },
        ];
        let occasions: Vec<_> = events.iter().map(NotifyEvent::occasion).collect();
        assert_eq!(occasions, Occasion::ALL);
        let told: Vec<String> = events.iter().map(|it| it.json("wiki", &review)).collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        {"v":1,"event":"waiting","wiki":"wiki","text":"wiki: 3 changes wait for a decision: https://mcp.example.org/review/sets/0123456789abcdef","set":"0123456789abcdef","changes":3,"review":"https://mcp.example.org/review/sets/0123456789abcdef"}
        {"v":1,"event":"decided","wiki":"wiki","text":"wiki: The set 0123456789abcdef was rejected.","set":"0123456789abcdef","decision":"rejected","call":"cccccccccccccccccccccccccccccccc","review":"https://mcp.example.org/review/sets/0123456789abcdef"}
        {"v":1,"event":"partly_applied","wiki":"wiki","text":"wiki: The write cccccccccccccccccccccccccccccccc was applied only in part: https://mcp.example.org/review/record/calls/cccccccccccccccccccccccccccccccc.","call":"cccccccccccccccccccccccccccccccc"}
        {"v":1,"event":"unknown","wiki":"wiki","text":"wiki: The outcome of the write cccccccccccccccccccccccccccccccc is unknown: https://mcp.example.org/review/record/calls/cccccccccccccccccccccccccccccccc.","call":"cccccccccccccccccccccccccccccccc"}
        {"v":1,"event":"key_ends","wiki":"wiki","text":"wiki: The key of the wiki ends in 6 days, at 2026-12-01T00:00:00Z.","at":"2026-12-01T00:00:00Z","days":6}
        {"v":1,"event":"deleted","wiki":"wiki","text":"wiki: Pages were deleted (2); `wikijs-gate bin list` shows them. The wiki's list went back in time: was a backup of it restored?","pages":2,"ids":[7,8],"wentBack":true}
        {"v":1,"event":"many_changed","wiki":"wiki","text":"wiki: A changed 60 pages within an hour.","author":"A","pages":60}
        "#);
    }

    #[test]
    fn a_name_of_the_wiki_mentions_nobody_and_begins_no_link_or_line() {
        let author = "<!channel> Ada\nL (@all) [x](https://evil.example/)".to_owned();
        let event = NotifyEvent::ManyChanged {
            author: author.clone(),
            pages: 60,
        };
        let told = event.json("wiki", &ReviewAddress::default());
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(
            told["text"],
            "wiki: --channel- Ada-L (-all) -x-(https:--evil.example-) changed 60 pages within an hour."
        );
        assert_eq!(told["author"], author);
    }

    #[test]
    fn one_change_waits_in_the_singular_and_a_command_stands_for_a_missing_address() {
        let event = NotifyEvent::Waiting {
            set: "0123456789abcdef".to_owned(),
            changes: 1,
        };
        let told = event.json("wiki", &ReviewAddress::default());
        assert!(
            told.contains("A change waits for a decision: wikijs-gate review 0123456789abcdef"),
            "{told}"
        );
    }
}
