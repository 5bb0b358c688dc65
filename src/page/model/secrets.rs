//! Keys and tokens in a text, recognized by their form. Their text is never shown.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regex::{Regex, RegexSet};

use super::super::select::position::lines_of;

/// The kind of a secret in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretKind {
    /// Its name, as people call it.
    pub name: &'static str,
    /// True if it is a private key or opens this wiki: nobody means to publish that.
    pub is_grave: bool,
}

/// A secret that stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret {
    /// Its kind.
    pub kind: SecretKind,
    /// Its line, from 1.
    pub line: usize,
}

/// The forms that are known: of makers whose tokens cannot be taken for anything else, a line each
/// with its name, behind a `!` if it is grave. Bounds of words are those of ASCII: with those of
/// Unicode one letter beyond it would send the whole text to the slowest engine.
static FORMS: LazyLock<Vec<(SecretKind, &str)>> = LazyLock::new(|| {
    let lines = include_str!("lists/secrets.txt").lines();
    let forms = lines.filter_map(|line| line.split_once('\t'));
    let forms = forms.map(|(name, form)| {
        let grave = name.strip_prefix('!');
        let kind = SecretKind {
            name: grave.unwrap_or(name),
            is_grave: grave.is_some(),
        };
        (kind, form)
    });
    forms.collect()
});
const JWT: &str = "API key of Wiki.js";
/// Examples from the issuers' own documentation.
const EXAMPLES: [&str; 2] = ["EXAMPLE", "example"];
/// The shortest secret of ours that is looked for to the letter, in bytes: shorter ones stand in
/// texts by chance.
const SHORTEST: usize = 12;

/// The `regex` crate takes linear time, whatever the text is.
static SET: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(FORMS.iter().map(|(_, form)| form)).ok());
static EACH: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    let each = FORMS.iter().map(|(_, form)| Regex::new(form).ok());
    each.collect()
});

/// The secrets in a text, in its order: those of a known form, and `own` to the letter.
pub fn secrets(text: &str, own: &[&str]) -> Vec<Secret> {
    let mut found: Vec<(usize, SecretKind)> = Vec::new();
    let matched = SET.as_ref().map(|set| set.matches(text));
    for index in matched.iter().flatten() {
        let (Some((kind, _)), Some(Some(form))) = (FORMS.get(index), EACH.get(index)) else {
            continue;
        };
        let places = form.find_iter(text).filter(|found| {
            let text = found.as_str();
            !EXAMPLES.iter().any(|example| text.ends_with(example))
                && (kind.name != JWT || is_of_wiki(text))
        });
        found.extend(places.map(|found| (found.start(), *kind)));
    }
    for secret in own.iter().filter(|own| own.len() >= SHORTEST) {
        let kind = SecretKind {
            name: "secret of this server",
            is_grave: true,
        };
        let places = text.match_indices(secret);
        found.extend(places.map(|(at, _)| (at, kind)));
    }
    found.sort_unstable();
    let mut line_of = lines_of(text);
    let placed = found.into_iter().map(|(at, kind)| Secret {
        kind,
        line: line_of(at),
    });
    placed.collect()
}

/// True if a JSON web token says that Wiki.js issued it (W4).
fn is_of_wiki(token: &str) -> bool {
    let claims = token.split('.').nth(1);
    let claims = claims.and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
    claims.is_some_and(|claims| String::from_utf8_lossy(&claims).contains("urn:wiki.js"))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::{EACH, FORMS, SET, secrets};

    fn found(text: &str) -> Vec<(&'static str, usize)> {
        let found = secrets(text, &["the operator's own"]).into_iter();
        found.map(|one| (one.kind.name, one.line)).collect()
    }

    fn key_of_wiki(claims: &str) -> String {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let head = part(r#"{"alg":"RS256","typ":"JWT"}"#);
        format!("{head}.{}.{}", part(claims), "x".repeat(64))
    }

    #[test]
    fn every_form_can_be_read() {
        assert!(SET.is_some());
        assert!(EACH.iter().all(Option::is_some));
        assert_eq!((FORMS.len(), EACH.len()), (24, 24));
    }

    #[test]
    fn secrets_of_known_makers_are_found_with_their_lines() {
        let x = |count: usize| "x1".repeat(count).chars().take(count).collect::<String>();
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
        for (text, name) in [
            (
                format!("-----BEGIN PRIVATE KEY-----\n{body}\n"),
                "private key",
            ),
            (
                format!("-----BEGIN OPENSSH PRIVATE KEY-----\n    {body}"),
                "private key",
            ),
            (
                format!("> -----BEGIN RSA PRIVATE KEY-----\n> {body}"),
                "private key",
            ),
            (
                format!("\"-----BEGIN EC PRIVATE KEY-----\\n{body}\""),
                "private key",
            ),
            (
                format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{body}"),
                "private key",
            ),
            (format!("wjs_{}", x(43)), "token of wikijs-gate"),
            (format!("wjl_{}", x(43)), "token of wikijs-gate"),
            ("AKIAABCDEFGHIJKLMNOP".to_owned(), "AWS access key"),
            (format!("ghp_{}", x(36)), "GitHub token"),
            (format!("`glpat-{}`", x(20)), "GitLab token"),
            (format!("xoxb-123456789012-{}", x(12)), "Slack token"),
            (format!("sk_live_{}", x(24)), "Stripe key"),
            (format!("AIza{}", x(35)), "Google API key"),
            (format!("sk-ant-api03-{}", x(60)), "Anthropic key"),
            (format!("token=npm_{}", x(36)), "npm token"),
            ("the operator's own".to_owned(), "secret of this server"),
            (
                key_of_wiki(r#"{"api":1,"grp":1,"aud":"urn:wiki.js","iss":"urn:wiki.js"}"#),
                "API key of Wiki.js",
            ),
        ] {
            assert_eq!(found(&format!("one\ntwo {text}\n")), [(name, 2)], "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_secret_is_none() {
        for text in [
            "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n",
            "The file begins with `-----BEGIN RSA PRIVATE KEY-----`.",
            "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfV",
            "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfV",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxx and ghp_YOUR_TOKEN",
            "sk-learn-and-other-long-words-that-are-joined-by-hyphens",
            "wjs_ is how tokens begin",
            "a hash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            &key_of_wiki(r#"{"sub":"1","iss":"https://accounts.example"}"#),
            "the operator's",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
