//! Reads what a verified token says about a person.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use url::Url;

use crate::page::plain_name;

/// The longest name, in characters.
const LONGEST_NAME: usize = 64;

/// The statements of a verified token about a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonClaims {
    /// The issuer; with the subject it is who the person is.
    pub issuer: String,
    /// The subject.
    pub subject: String,
    /// A name to show: it always has an `@`, so that it is no named client's.
    pub name: String,
    /// The e-mail address, if the issuer says that it is verified.
    pub email: Option<String>,
    /// True if there is an address that the issuer does not vouch for.
    pub has_unverified_email: bool,
    /// The groups.
    pub groups: Vec<String>,
    /// True if the issuer left the groups out, since there are too many.
    pub groups_left_out: bool,
    /// The scopes of the token. They and its times are of the token alone, and are kept nowhere.
    #[serde(skip)]
    pub scopes: Vec<String>,
    /// Time at which the token was made, or its end if it does not say.
    #[serde(skip, default = "never")]
    pub issued: OffsetDateTime,
    /// The token's end.
    #[serde(skip, default = "never")]
    pub expires: OffsetDateTime,
}

impl PersonClaims {
    /// The person of a token that was verified.
    pub(super) fn new(
        issuer: &str,
        subject: String,
        (made, expires): (OffsetDateTime, OffsetDateTime),
        claims: &Map<String, Value>,
        groups_claim: &str,
    ) -> Self {
        let text = |name: &str| claims.get(name)?.as_str().filter(|text| !text.is_empty());
        let is_verified = claims.get("email_verified") == Some(&Value::Bool(true));
        let email = text("email").filter(|_| is_verified);
        let shown = text("preferred_username").or(email).or(text("name"));
        let left_out = |source: &Value| source.get(groups_claim).is_some();
        Self {
            name: name(shown.unwrap_or(&subject), email, issuer),
            issuer: issuer.to_owned(),
            subject,
            email: email.map(str::to_owned),
            has_unverified_email: text("email").is_some() && !is_verified,
            groups: words(at(claims, groups_claim), false),
            groups_left_out: claims.get("_claim_names").is_some_and(left_out)
                || claims.get("hasgroups") == Some(&Value::Bool(true)),
            scopes: words(claims.get("scope").or_else(|| claims.get("scp")), true),
            issued: made,
            expires,
        }
    }

    /// True if the token has a scope; an empty one is always there. Some issuers ask for a scope with
    /// the address of its application, and name it in the token without.
    pub fn has_scope(&self, wanted: &str) -> bool {
        let bare = wanted.rsplit('/').next().unwrap_or(wanted);
        let mut own = self.scopes.iter();
        wanted.is_empty() || own.any(|own| own == wanted || own == bare)
    }
}

const fn never() -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH
}

/// The claim of a name, which may lead into objects by dots.
fn at<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    claims.get(name).or_else(|| {
        let mut steps = name.split('.');
        let first = claims.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.get(step))
    })
}

/// The texts of a list, or of one text, which may be words with spaces between.
fn words(value: Option<&Value>, by_spaces: bool) -> Vec<String> {
    match value {
        Some(Value::Array(all)) => all
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Some(Value::String(text)) if by_spaces => {
            text.split_whitespace().map(str::to_owned).collect()
        }
        Some(Value::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// A name without what could be taken for other parts of a record, or what nobody sees, and with an `@`: an
/// address if the issuer says that it is verified, else the issuer's host behind what is often the person's own
/// choice. An address that does not fit is none: its beginning would be another one.
fn name(shown: &str, verified: Option<&str>, issuer: &str) -> String {
    let fits = |email: &str| email.contains('@') && email.chars().count() <= LONGEST_NAME;
    let is_address = verified.is_some_and(|email| email == shown && fits(email));
    let signs = if is_address { "-_.+@" } else { "-_.+" };
    let plain = plain_name(shown, LONGEST_NAME, signs);
    if is_address && plain.contains('@') {
        return plain;
    }
    let url = Url::parse(issuer).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    format!(
        "{plain}@{}",
        host.trim_matches(['[', ']']).replace(':', "-")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use time::OffsetDateTime;

    use super::PersonClaims;

    fn person(claims: &serde_json::Value, groups: &str) -> PersonClaims {
        let claims = claims.as_object().expect("claims");
        let now = OffsetDateTime::UNIX_EPOCH;
        PersonClaims::new(
            "https://id.example/r",
            "s-1".to_owned(),
            (now, now),
            claims,
            groups,
        )
    }

    #[test]
    fn a_name_is_never_one_that_a_named_client_could_have() {
        for (claims, name) in [
            (json!({ "preferred_username": "ci" }), "ci@id.example"),
            (
                json!({ "preferred_username": "a/key:b\n" }),
                "a-key-b-@id.example",
            ),
            (
                json!({ "preferred_username": "ada@x.org" }),
                "ada-x.org@id.example",
            ),
            (
                json!({ "preferred_username": "ada@x.org", "email": "ada@x.org", "email_verified": true }),
                "ada@x.org",
            ),
            (json!({ "email": "ada@x.org" }), "s-1@id.example"),
            (
                json!({ "email": "ada@x.org", "email_verified": true }),
                "ada@x.org",
            ),
            (json!({ "name": "Ada L" }), "Ada-L@id.example"),
            // Letters that show nothing are not in it, so that no two people are shown alike.
            (
                json!({ "preferred_username": "a\u{3164}d\u{ffa0}a" }),
                "a-d-a@id.example",
            ),
        ] {
            assert_eq!(person(&claims, "groups").name, name, "{claims}");
        }
    }

    #[test]
    fn the_beginning_of_an_address_is_not_taken_for_another_one() {
        let address = format!("{}@corp.example.evil.org", "x".repeat(51));
        let claims = json!({ "email": address, "email_verified": true });
        let name = person(&claims, "groups").name;
        assert_eq!(name, format!("{}-corp.example@id.example", "x".repeat(51)));
    }

    #[test]
    fn groups_are_found_wherever_the_issuer_puts_them() {
        for (claim, claims) in [
            ("groups", json!({ "groups": ["a", "b"] })),
            (
                "realm_access.roles",
                json!({ "realm_access": { "roles": ["a", "b"] } }),
            ),
            ("https://x/g.s", json!({ "https://x/g.s": ["a", "b"] })),
        ] {
            assert_eq!(person(&claims, claim).groups, ["a", "b"], "{claim}");
        }
        for left_out in [
            json!({ "_claim_names": { "groups": "src1" } }),
            json!({ "hasgroups": true }),
        ] {
            assert!(person(&left_out, "groups").groups_left_out, "{left_out}");
        }
        assert!(!person(&json!({ "groups": [] }), "groups").groups_left_out);
    }

    #[test]
    fn an_address_counts_only_if_it_is_verified_in_so_many_words() {
        for (verified, counts) in [
            (json!(true), true),
            (json!("true"), false),
            (json!(1), false),
        ] {
            let claims = json!({ "email": "a@x.org", "email_verified": verified });
            let person = person(&claims, "groups");
            assert_eq!(
                (person.email.is_some(), person.has_unverified_email),
                (counts, !counts)
            );
        }
    }

    #[test]
    fn scopes_are_words_or_a_list_and_may_lack_their_application() {
        for scopes in [
            json!({ "scope": "openid wiki.read" }),
            json!({ "scp": "wiki.read" }),
            json!({ "scp": ["wiki.read"] }),
        ] {
            let person = person(&scopes, "groups");
            assert!(person.has_scope("wiki.read") && person.has_scope("api://gate/wiki.read"));
            assert!(person.has_scope("") && !person.has_scope("wiki.write"));
        }
    }
}
