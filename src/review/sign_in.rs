//! Signing in by a link that works once. Opening it does nothing: its form does, so that whatever
//! looks at addresses ahead of a person uses nothing up.

use std::time::{Duration, Instant};

use maud::{Markup, html};
use parking_lot::Mutex;

use super::markup::{self, Frame};

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
    markup::page("Sign in", &Frame::none(), &body)
}

/// Says that nobody is signed in, and how to.
pub(super) fn needed() -> Markup {
    let why = "This page shows nothing to whoever is not signed in.";
    how_to("Sign in to review changes", why)
}

/// Says that a session is over, and how to begin another one.
pub(super) fn ended() -> Markup {
    let why = "It ends after twelve hours without use, after seven days, when the server is started \
               anew, when the operator makes another link, and when they take the right to review \
               away. What was decided before stays decided.";
    how_to("Your session has ended", why)
}

fn how_to(title: &str, why: &str) -> Markup {
    let body = html! {
        main #main.narrow {
            h1 { (title) }
            p { (why) }
            h2 { "How to sign in" }
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
    markup::page("Sign in", &Frame::none(), &body)
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
    use super::{WRONG_A_MINUTE, WrongLinks, cookie, no_cookie};

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
