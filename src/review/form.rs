//! Parses the members of a form or of a query string.

use std::borrow::Cow;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::StatusCode;

use super::reply::{BrowserResponse, trouble};

/// The most bytes of a form: a set has at most 1,200 changes, each of which may be left out.
const MOST_BYTES: usize = 64 * 1024;
/// The most members.
const MOST_MEMBERS: usize = 2_000;
/// The time limit for a form to arrive.
const ARRIVING: Duration = Duration::from_secs(10);

/// The members of a form or of an address, in order.
#[derive(Default)]
pub(super) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// The form that a body holds.
    ///
    /// # Errors
    /// The response that says so, where it is too large or too slow.
    pub(super) async fn read(body: Body) -> Result<Self, BrowserResponse> {
        let not_taken = |status, what| trouble(status, "Not taken", what, "Nothing was decided.");
        let reading = to_bytes(body, MOST_BYTES);
        let bytes = tokio::time::timeout(ARRIVING, reading)
            .await
            .map_err(|_| not_taken(StatusCode::REQUEST_TIMEOUT, "The form took too long."))?
            .map_err(|_| not_taken(StatusCode::PAYLOAD_TOO_LARGE, "The form is too large."))?;
        Ok(Self::parse(&bytes))
    }

    /// The members that an address names behind its question mark.
    pub(super) fn of_query(query: Option<&str>) -> Self {
        Self::parse(query.unwrap_or_default().as_bytes())
    }

    fn parse(bytes: &[u8]) -> Self {
        let members = url::form_urlencoded::parse(bytes).take(MOST_MEMBERS);
        let owned = |(name, value): (Cow<str>, Cow<str>)| (name.into_owned(), value.into_owned());
        Self(members.map(owned).collect())
    }

    /// The first member of a name; nothing where there is none.
    pub(super) fn text<'a>(&'a self, name: &'a str) -> &'a str {
        self.all(name).next().unwrap_or_default()
    }

    /// All members of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let of_name = self.0.iter().filter(move |(own, _)| own == name);
        of_name.map(|(_, value)| value.as_str())
    }

    /// A number; none where there is none, or no number.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.text(name).trim().replace([',', ' '], "").parse().ok()
    }

    /// All numbers of a name, each once, in order.
    pub(super) fn numbers(&self, name: &str) -> Vec<usize> {
        let mut numbers: Vec<usize> = self
            .all(name)
            .filter_map(|text| text.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::FormFields;

    #[test]
    fn members_are_read_as_browsers_write_them() {
        let form = FormFields::of_query(Some(
            "why=a+b%26c&leave_out=3&leave_out=1&leave_out=3&unseen=1%2C200&x=",
        ));
        assert_eq!(form.text("why"), "a b&c");
        assert_eq!(form.numbers("leave_out"), [1, 3]);
        assert_eq!(form.number("unseen"), Some(1_200));
        assert_eq!((form.text("x"), form.text("y")), ("", ""));
        assert_eq!(form.number("y"), None);
        assert_eq!(FormFields::of_query(None).text("why"), "");
    }
}
