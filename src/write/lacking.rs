//! Refuses a write for which the key lacks a right at some place.

use serde::Serialize;
use serde_json::json;

use crate::error::{Code, Failure};
use crate::page::{Locale, PagePath, PageReading, escaped};
use crate::words::{counted, first_of};

/// The most places that a refusal names.
const NAMED: usize = 20;
/// The most places that its sentence names.
const IN_SENTENCE: usize = 3;
/// The most characters of a place in a sentence.
const PLACE: usize = 120;

/// A place at which the key lacks rights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Lacking {
    pub(super) locale: Locale,
    pub(super) path: PagePath,
    /// The names of the missing rights.
    pub(super) rights: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<i64>,
}

impl Lacking {
    /// One right that is missing at a page.
    pub(super) fn at_page(page: &PageReading, right: &'static str) -> Self {
        Self {
            id: page.id,
            locale: page.locale.clone(),
            path: page.path.clone(),
            rights: vec![right],
        }
    }

    pub(super) fn place(&self) -> String {
        escaped(&format!("{}/{}", self.locale, self.path), PLACE)
    }
}

/// The refusal of a single write.
pub(super) fn denied(lacking: &Lacking) -> Failure {
    let rights = lacking.rights.join(" and ");
    let message = format!(
        "This key may not do this: it lacks {rights} at {}.",
        lacking.place()
    );
    Failure::new(Code::PermissionDenied, message)
        .hint("Nothing was sent. Tell the user to give the key this right there, or choose another place.")
        .detail("right", rights)
        .detail("lacking", json!([lacking]))
}

/// The refusal of a set, of which some changes could not be made, or not taken back.
pub(super) fn denied_set(lacking: &[Lacking]) -> Failure {
    let count = lacking.len();
    let pages = counted(count, "page", "pages");
    let named: Vec<&Lacking> = lacking.iter().take(NAMED).collect();
    let told = |one: &Lacking| format!("{} at {}", one.rights.join(" and "), one.place());
    let told: Vec<String> = lacking.iter().map(told).collect();
    let told = first_of(&told, IN_SENTENCE);
    Failure::new(
        Code::PermissionDenied,
        format!("This key may not make all changes of the set, or not take them back: it lacks rights at {pages}: {told}."),
    )
    .hint("Nothing was sent. details.lacking names the pages and the rights; leave these pages out, or tell the user to give the key these rights.")
    .detail("pages", count)
    .detail("lacking", json!(named))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Lacking, denied, denied_set};
    use crate::page::{Locale, PagePath};

    fn lacking(id: Option<i64>) -> Lacking {
        Lacking {
            id,
            locale: Locale::as_stored("en"),
            path: PagePath::as_stored("legal/a"),
            rights: vec!["write:pages"],
        }
    }

    #[test]
    fn a_refusal_names_the_place_and_the_right() {
        let failure = denied(&lacking(None));
        assert_eq!(
            failure.message,
            "This key may not do this: it lacks write:pages at en/legal/a."
        );
        assert_eq!(failure.details["right"], "write:pages");
        let expected = json!([{ "locale": "en", "path": "legal/a", "rights": ["write:pages"] }]);
        assert_eq!(failure.details["lacking"], expected);
    }

    #[test]
    fn a_set_s_refusal_counts_all_places_and_names_the_first() {
        let all: Vec<Lacking> = (0..30).map(|id| lacking(Some(id))).collect();
        let failure = denied_set(&all);
        assert_eq!(failure.details["pages"], 30);
        let told = "at 30 pages: write:pages at en/legal/a, write:pages at en/legal/a, write:pages at en/legal/a and 27 more.";
        assert!(failure.message.ends_with(told), "{}", failure.message);
        let named = failure.details["lacking"].as_array().unwrap();
        assert_eq!((named.len(), &named[1]["id"]), (20, &json!(1)));
    }
}
