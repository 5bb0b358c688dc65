//! Reads and writes the W3C trace context, `traceparent` and `tracestate`; what is not of its form is ignored whole.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hex::is_hex;

/// The longest `traceparent` that is read: later versions may be longer than ours.
const MOST_PARENT: usize = 256;
/// The longest `tracestate` that is passed on, in bytes.
const MOST_STATE: usize = 512;
/// The most members of it.
const MOST_MEMBERS: usize = 32;
/// The flag of a trace that is collected.
const SAMPLED: u8 = 1;

/// The id of a trace, as 32 hex characters; never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceId(pub(super) u128);

/// A text that is no trace id.
#[derive(Debug, thiserror::Error)]
#[error("not 32 hex characters in lower case, or 0")]
pub struct NoTraceId;

/// The place of a caller in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The caller's own span; never 0.
    pub span: u64,
    pub(super) flags: u8,
    /// The entries that tracing systems on the way added, to be passed on as they are.
    pub(super) state: Option<Arc<str>>,
}

/// A place that is free for a span of this trace, or of a new one; `None` if the system gives no random
/// numbers.
pub(super) fn place_for_span(above: Option<&TraceContext>) -> Option<TraceContext> {
    let mut random = [0; 24];
    getrandom::fill(&mut random).ok()?;
    let (trace, span) = random.split_first_chunk::<16>()?;
    let span = u64::from_be_bytes(*span.first_chunk()?);
    // 0 is none; the chance is that of any other number.
    let new = TraceContext {
        trace: TraceId(u128::from_be_bytes(*trace).max(1)),
        span: span.max(1),
        flags: SAMPLED,
        state: None,
    };
    let above = above.cloned();
    Some(above.map_or(new.clone(), |above| TraceContext {
        span: new.span,
        ..above
    }))
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for TraceId {
    type Err = NoTraceId;

    fn from_str(text: &str) -> Result<Self, NoTraceId> {
        hex(text, 32)
            .filter(|id| *id != 0)
            .map(Self)
            .ok_or(NoTraceId)
    }
}

impl TryFrom<String> for TraceId {
    type Error = NoTraceId;

    fn try_from(text: String) -> Result<Self, NoTraceId> {
        text.parse()
    }
}

impl From<TraceId> for String {
    fn from(id: TraceId) -> Self {
        id.to_string()
    }
}

impl TraceContext {
    /// Reads what a caller sent. Without one `traceparent` that is valid there is none; a `tracestate`
    /// that is not valid is left out.
    pub fn read<'a>(
        mut parents: impl Iterator<Item = &'a str>,
        states: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let (parent, None) = (parents.next()?, parents.next()) else {
            return None;
        };
        let mut context = parse(parent)?;
        let mut state = String::new();
        for part in states {
            if state.len() + part.len() >= MOST_STATE {
                return Some(context);
            }
            let comma = if state.is_empty() { "" } else { "," };
            state.extend([comma, part]);
        }
        context.state = is_state(&state).then(|| state.into());
        Some(context)
    }

    /// The `tracestate` beside it.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// True if its trace is collected.
    pub(super) const fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

impl fmt::Display for TraceContext {
    /// As `traceparent`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace, span, flags, ..
        } = self;
        write!(f, "00-{trace}-{span:016x}-{flags:02x}")
    }
}

fn parse(parent: &str) -> Option<TraceContext> {
    if parent.len() > MOST_PARENT {
        return None;
    }
    let mut parts = parent.splitn(5, '-');
    let version = hex(parts.next()?, 2)?;
    let trace = parts.next()?.parse().ok()?;
    let span = u64::try_from(hex(parts.next()?, 16)?).ok()?;
    let flags = u8::try_from(hex(parts.next()?, 2)?).ok()?;
    // A later version may add parts; 255 is none.
    let is_valid = version < 255 && (version > 0 || parts.next().is_none()) && span != 0;
    is_valid.then_some(TraceContext {
        trace,
        span,
        flags: flags & SAMPLED,
        state: None,
    })
}

/// A number of exactly this many hex characters in lower case.
fn hex(text: &str, length: usize) -> Option<u128> {
    let is_it = is_hex(text, length);
    u128::from_str_radix(text, 16).ok().filter(|_| is_it)
}

fn is_state(text: &str) -> bool {
    let is_key = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-*/@".contains(c);
    let is_value = |c: char| matches!(c, ' '..='~') && c != '=';
    let is_member = |member: &str| {
        member.split_once('=').is_some_and(|(key, value)| {
            !key.is_empty() && key.chars().all(is_key) && value.chars().all(is_value)
        })
    };
    let members = text
        .split(',')
        .map(|member| member.trim_matches([' ', '\t']));
    let members: Vec<&str> = members.filter(|member| !member.is_empty()).collect();
    (1..=MOST_MEMBERS).contains(&members.len()) && members.into_iter().all(is_member)
}

#[cfg(test)]
mod tests {
    use super::TraceContext;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn read(parent: &str) -> Option<TraceContext> {
        TraceContext::read(std::iter::once(parent), std::iter::empty())
    }

    #[test]
    fn a_parent_is_read_strictly_and_written_as_it_was() {
        let read_back = read(PARENT).expect("valid").to_string();
        assert_eq!(read_back, PARENT);
        // Flags that nobody here knows are not passed on.
        for (flags, kept) in [("00", "00"), ("03", "01"), ("fe", "00")] {
            let context = read(&PARENT.replace("-01", &format!("-{flags}"))).expect("valid");
            assert!(context.to_string().ends_with(&format!("-{kept}")));
        }
        let later = PARENT.replacen("00", "cc", 1);
        for later in [
            later.clone(),
            format!("{later}-"),
            format!("{later}-what=ever"),
        ] {
            assert_eq!(read(&later).expect("valid").to_string(), PARENT, "{later}");
        }
        for wrong in [
            String::new(),
            PARENT.to_uppercase(),
            PARENT.replacen("00", "ff", 1),
            PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            PARENT.replace("00f067aa0ba902b7", &"0".repeat(16)),
            PARENT.replace("4bf9", "+bf9"),
            PARENT.replace("4bf9", "4bf"),
            PARENT.replace("-01", "-1"),
            PARENT.replace("-01", "-0x"),
            PARENT.replace("-01", ""),
            format!("{PARENT}-"),
            format!("{PARENT}-more"),
            format!(" {PARENT}"),
            PARENT.replace('-', "_"),
            format!("{later}-{}", "x".repeat(300)),
            format!("{later}x"),
            "é".repeat(28),
        ] {
            assert_eq!(read(&wrong), None, "{wrong}");
        }
        let twice = TraceContext::read([PARENT, PARENT].into_iter(), std::iter::empty());
        assert_eq!(twice, None);
    }

    #[test]
    fn a_state_that_is_not_valid_is_left_out_alone() {
        let state = |states: &[&str]| {
            let context = TraceContext::read(std::iter::once(PARENT), states.iter().copied());
            context.expect("valid").state
        };
        let joined = "rojo=00f067aa0ba902b7,congo@x/y=t61 rc";
        assert_eq!(state(&[joined]).as_deref(), Some(joined));
        let parts = state(&["rojo=00f067aa0ba902b7", "congo@x/y=t61 rc"]);
        assert_eq!(parts.as_deref(), Some(joined));
        let (long, many) = (format!("a={}", "x".repeat(511)), vec!["a=b"; 33].join(","));
        assert_eq!(state(&["a=b,, ,c=d"]).as_deref(), Some("a=b,, ,c=d"));
        for wrong in [
            "", ",", "a", "=b", "A=b", "a=b=c", "a=\u{7f}", "a=ä", &*long, &*many,
        ] {
            assert_eq!(state(&[wrong]), None, "{wrong}");
        }
        assert_eq!(state(&[&*"a=b,".repeat(100), &long]), None);
    }
}
