//! Signing in by a link that works once. Opening it does nothing: its form does, so that whatever
//! looks at addresses ahead of a person uses nothing up.

use std::fmt;
use std::time::{Duration, Instant};

use maud::{Markup, html};
use parking_lot::Mutex;

use super::markup::{self, Frame, SiteLinks};
use crate::audit::ProposalId;
use crate::site::SiteName;

/// The name of the cookie where the page is reached without TLS.
const COOKIE: &str = "wikijs_review";
/// The name where it is reached by TLS: by it, browsers take the cookie from this host alone.
const SECURE_COOKIE: &str = "__Host-wikijs_review";
/// The most wrong links that are answered in a minute; a right one always works.
const WRONG_A_MINUTE: u32 = 20;

/// Links that were wrong lately.
#[derive(Debug, Default)]
pub(super) struct WrongLinks(Mutex<Option<(Instant, u32)>>);

impl WrongLinks {
    /// Counts one; whether there were too many of them.
    pub(super) fn count(&self) -> bool {
        let mut lately = self.0.lock();
        let now = Instant::now();
        let (since, count) = match *lately {
            Some((since, count)) if now.duration_since(since) < Duration::from_mins(1) => {
                (since, count.saturating_add(1))
            }
            _ => (now, 1),
        };
        *lately = Some((since, count));
        count > WRONG_A_MINUTE
    }
}

/// Asks whether to sign in.
pub(super) fn ask(name: &str, secret: &str, then: &str) -> Markup {
    let body = html! {
        main #main.narrow {
            h1 { "Review changes of the wiki" }
            p { "You are about to sign in as " strong { (name) } " in this browser." }
            form method="post" action="/review/sign-in" {
                input type="hidden" name="link" value=(secret);
                input type="hidden" name="then" value=(then);
                button.primary type="submit" autofocus { "Sign in" }
            }
            p.quiet {
                "The link works once. The session ends after twelve hours without use, and after "
                "seven days."
            }
        }
    };
    markup::page("Sign in", &Frame::default(), &body)
}

/// The ways to sign in.
pub(super) struct SignInWays {
    /// The name of an issuer.
    pub issuer: Option<String>,
    /// The page that somebody came for.
    pub then: SignInTarget,
    /// True if they sent a form, which did nothing.
    pub sent_form: bool,
}

/// Says that nobody is signed in, and how to.
pub(super) fn needed(ways: &SignInWays) -> Markup {
    let why = "This page shows nothing to whoever is not signed in.";
    how_to("Sign in to review changes", why, ways)
}

/// Says that a session is over, and how to begin another one.
pub(super) fn ended(ways: &SignInWays) -> Markup {
    let why = if ways.issuer.is_some() {
        "It ends after twelve hours without use, after seven days, after an hour if the issuer cannot \
         be asked about you again, and when the operator ends it. What was decided before stays \
         decided."
    } else {
        "It ends after twelve hours without use, after seven days, when the operator ends it or makes \
         another link, and when they take the right to review away. What was decided before stays \
         decided."
    };
    how_to("Your session has ended", why, ways)
}

/// Says that somebody is signed out, and where they sign out at the issuer.
pub(super) fn signed_out(issuer: &str, address: &str) -> Markup {
    let body = html! {
        main #main.narrow {
            h1 { "You are signed out here" }
            p { "At " (issuer) " you are still signed in: whoever uses this browser next may come in with it." }
            p { a.primary href=(address) rel="noreferrer" { "Sign out at " (issuer) ", too" } }
            p.quiet { a href="/review" { "Sign in again" } }
        }
    };
    markup::page("Signed out", &Frame::default(), &body)
}

/// Says that somebody is signed in, and goes on by itself: on a redirect from another site a browser
/// would leave the session's strict cookie at home.
pub(super) fn signed_in(name: &str, then: &str) -> Markup {
    let body = html! {
        main.narrow {
            p { "You are signed in as " strong { (name) } ". " a href=(then) { "Go on" } }
        }
        meta http-equiv="refresh" content=(format!("0; url={then}"));
    };
    markup::page("Signed in", &Frame::default(), &body)
}

/// Says why nobody is signed in, and how to sign in.
pub(super) fn how_to(title: &str, why: &str, ways: &SignInWays) -> Markup {
    let body = html! {
        main #main.narrow {
            h1 { (title) }
            p { (why) }
            @if ways.sent_form {
                p { "Nothing was decided by what you sent just now: open the set again once you are signed in." }
            }
            h2 { "How to sign in" }
            @if let Some(issuer) = &ways.issuer {
                p { a.button.primary href=(format!("{AT_ISSUER}?then={}", ways.then)) { "Sign in with " (issuer) } }
            }
            ul {
                li { "Operators run " code { "wikijs-gate review" } " in a terminal, which opens it." }
                li {
                    "Reviewers open the sign-in link that the operator made with "
                    code { "wikijs-gate token new NAME --reviewer" }
                    "; a new one is made with " code { "wikijs-gate token link NAME" } "."
                }
            }
        }
    };
    markup::page("Sign in", &Frame::default(), &body)
}

/// The page to which a sign-in leads: one of our own sets or the queue, of a site where there are several.
/// As text it is the set's id and `@` with the site's name, each where there is one.
#[derive(Debug, Default)]
pub(super) struct SignInTarget {
    pub set: Option<ProposalId>,
    pub site: Option<SiteName>,
}

impl SignInTarget {
    /// Reads one. It comes from anybody's address, so what is wrong in it counts as not given.
    pub(super) fn read(text: &str) -> Self {
        let (set, site) = text.split_once('@').unwrap_or((text, ""));
        Self {
            set: set.parse().ok(),
            site: site.parse().ok(),
        }
    }

    /// Its address.
    pub(super) fn address(&self) -> String {
        let links = SiteLinks(self.site.as_ref());
        self.set
            .map_or_else(|| links.to("/review"), |id| links.set(id))
    }
}

impl fmt::Display for SignInTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(set) = self.set {
            write!(f, "{set}")?;
        }
        self.site
            .as_ref()
            .map_or(Ok(()), |site| write!(f, "@{site}"))
    }
}

/// The address that leads to the issuer.
pub(crate) const AT_ISSUER: &str = "/review/sign-in/issuer";
/// The address to which the issuer leads back.
pub(super) const BACK: &str = "/review/signed-in";
/// Seconds for which a sign-in that has begun may take.
const BEGUN: u32 = 600;

/// The name of the cookie of a sign-in that has begun.
pub(super) const fn begun_name(is_secure: bool) -> &'static str {
    if is_secure {
        "__Host-wikijs_sign_in"
    } else {
        "wikijs_sign_in"
    }
}

/// The `Set-Cookie` value of a sign-in that has begun; an empty one removes it. It comes along when the
/// issuer leads a browser back, as a strict one would not.
pub(super) fn begun(value: &str, is_secure: bool) -> String {
    let name = begun_name(is_secure);
    let (path, secure) = if is_secure {
        ("/", "; Secure")
    } else {
        (BACK, "")
    };
    let age = if value.is_empty() { 0 } else { BEGUN };
    format!("{name}={value}; Path={path}; HttpOnly; SameSite=Lax{secure}; Max-Age={age}")
}

/// The name of a session's cookie.
pub(super) const fn cookie_name(is_secure: bool) -> &'static str {
    if is_secure { SECURE_COOKIE } else { COOKIE }
}

/// The `Set-Cookie` value of a session.
pub(super) fn cookie(value: &str, is_secure: bool) -> String {
    let name = cookie_name(is_secure);
    let (path, secure) = if is_secure {
        ("/", "; Secure")
    } else {
        ("/review", "")
    };
    format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}")
}

/// The `Set-Cookie` value that removes the cookie.
pub(super) fn no_cookie(is_secure: bool) -> String {
    format!("{}; Max-Age=0", cookie("", is_secure))
}

#[cfg(test)]
mod tests {
    use super::{SignInTarget, WRONG_A_MINUTE, WrongLinks, cookie, no_cookie};

    #[test]
    fn a_sign_in_leads_to_one_of_our_pages_at_its_site() {
        for (text, address) in [
            ("", "/review"),
            ("0123456789abcdef", "/review/sets/0123456789abcdef"),
            (
                "0123456789abcdef@docs",
                "/review/sets/0123456789abcdef?site=docs",
            ),
            ("@docs", "/review?site=docs"),
        ] {
            let target = SignInTarget::read(text);
            assert_eq!(
                (target.to_string(), target.address()),
                (text.to_owned(), address.to_owned())
            );
        }
        for wrong in [
            "//evil.example",
            "x@//evil",
            "@a b",
            "https://evil.example/@",
            "\"><b>@<b>",
        ] {
            assert_eq!(SignInTarget::read(wrong).address(), "/review", "{wrong}");
        }
    }

    #[test]
    fn by_tls_the_cookie_is_of_this_host_alone() {
        assert_eq!(
            cookie("x", true),
            "__Host-wikijs_review=x; Path=/; HttpOnly; SameSite=Strict; Secure"
        );
        assert_eq!(
            no_cookie(false),
            "wikijs_review=; Path=/review; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }

    #[test]
    fn wrong_links_are_bounded_in_a_minute() {
        let wrong = WrongLinks::default();
        for _ in 0..WRONG_A_MINUTE {
            assert!(!wrong.count());
        }
        assert!(wrong.count());
    }
}
