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

/// The forms that are known: of makers whose tokens cannot be taken for anything else, each
/// with its name and whether it is grave. Bounds of words are those of ASCII: with those of Unicode
/// one letter beyond it would send the whole text to the slowest engine.
const FORMS: [(&str, bool, &str); 24] = [
    (
        "private key",
        true,
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\n|\\r|[A-Za-z-]+: [^\n]*\n|[>|*#])*[A-Za-z0-9+/=]{32}",
    ),
    ("private key (PuTTY)", true, r"PuTTY-User-Key-File-[0-9]: "),
    (
        "private key (age)",
        true,
        r"(?-u:\b)AGE-SECRET-KEY-1[0-9A-Z]{58}",
    ),
    (
        "token of wikijs-gate",
        true,
        r"(?-u:\b)wj[sl]_[A-Za-z0-9_-]{43}",
    ),
    (
        "AWS access key",
        false,
        r"(?-u:\b)(?:AKIA|ASIA)[A-Z2-7]{16}(?-u:\b)",
    ),
    (
        "GitHub token",
        false,
        r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60})",
    ),
    (
        "GitLab token",
        false,
        r"(?-u:\b)gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20}",
    ),
    (
        "Slack token",
        false,
        r"(?-u:\b)xox[abeoprs]-[0-9]{8,}-[A-Za-z0-9-]{10}",
    ),
    (
        "Slack webhook",
        false,
        r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20}",
    ),
    ("Stripe key", false, r"(?-u:\b)[rs]k_live_[A-Za-z0-9]{20}"),
    ("Google API key", false, r"(?-u:\b)AIza[A-Za-z0-9_-]{35}"),
    (
        "Google OAuth secret",
        false,
        r"(?-u:\b)GOCSPX-[A-Za-z0-9_-]{28}",
    ),
    (
        "OpenAI key",
        false,
        r"(?-u:\b)sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})",
    ),
    (
        "Anthropic key",
        false,
        r"(?-u:\b)sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{40}",
    ),
    (
        "Hugging Face token",
        false,
        r"(?-u:\b)hf_[A-Za-z]{34}(?-u:\b)",
    ),
    ("npm token", false, r"(?-u:\b)npm_[A-Za-z0-9]{36}(?-u:\b)"),
    (
        "PyPI token",
        false,
        r"(?-u:\b)pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50}",
    ),
    ("Docker token", false, r"(?-u:\b)dckr_pat_[A-Za-z0-9_-]{20}"),
    (
        "SendGrid key",
        false,
        r"(?-u:\b)SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    ),
    (
        "DigitalOcean token",
        false,
        r"(?-u:\b)do[opr]_v1_[a-f0-9]{64}",
    ),
    (
        "Azure storage key",
        false,
        r"AccountKey=[A-Za-z0-9+/]{86}==",
    ),
    ("Vault token", false, r"(?-u:\b)hv[sb]\.[A-Za-z0-9_-]{24}"),
    (
        "Shopify token",
        false,
        r"(?-u:\b)shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    ),
    // Decoded first: only those of Wiki.js count.
    (
        JWT,
        true,
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}",
    ),
];
const JWT: &str = "API key of Wiki.js";
/// Examples from the issuers' own documentation.
const EXAMPLES: [&str; 2] = ["EXAMPLE", "example"];
/// The shortest secret of ours that is looked for to the letter, in bytes: shorter ones stand in
/// texts by chance.
const SHORTEST: usize = 12;

/// The `regex` crate takes linear time, whatever the text is.
static SET: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(FORMS.map(|(_, _, form)| form)).ok());
static EACH: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    let each = FORMS.iter().map(|(_, _, form)| Regex::new(form).ok());
    each.collect()
});

/// The secrets in a text, in its order: those of a known form, and `own` to the letter.
#[must_use]
pub fn secrets(text: &str, own: &[&str]) -> Vec<Secret> {
    let mut found: Vec<(usize, SecretKind)> = Vec::new();
    let matched = SET.as_ref().map(|set| set.matches(text));
    for index in matched.iter().flatten() {
        let (Some((name, is_grave, _)), Some(Some(form))) = (FORMS.get(index), EACH.get(index))
        else {
            continue;
        };
        let kind = SecretKind {
            name,
            is_grave: *is_grave,
        };
        let places = form.find_iter(text).filter(|found| {
            let text = found.as_str();
            !EXAMPLES.iter().any(|example| text.ends_with(example))
                && (*name != JWT || is_of_wiki(text))
        });
        found.extend(places.map(|found| (found.start(), kind)));
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
        assert_eq!(EACH.len(), FORMS.len());
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
