//! Splits large messages: the protocol gets what it needs, and only a tool reads the rest.
//!
//! The protocol's reader builds several trees of a message: a few megabytes become hundreds. So of
//! a large call it gets everything but the arguments. These travel beside the message unchanged,
//! and are read without blocking other calls. Any other large message is refused, since only calls
//! can need so many bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::quota::MessagePermit;
use crate::tools::ArgumentsRefusal;

/// The most bytes of a message without a call's arguments. Larger ones are read outside of the
/// threads that all calls share.
pub(in crate::server) const MOST_BESIDE: usize = 64 * 1024;
/// A refusal repeats a message's id only up to this length, in bytes.
const MOST_ID: usize = 256;
/// The arguments that the protocol gets in place of the real ones.
const NOTHING: &[u8] = b"{}";

/// The arguments of a call, beside its message.
#[derive(Debug, Clone)]
pub(in crate::server) struct Payload {
    load: Arc<Mutex<Option<PayloadContent>>>,
    /// Held as long as the call is under way.
    _room: Option<Arc<MessagePermit>>,
}

/// The load of a message: arguments in JSON, or the reason why they were not read.
pub(in crate::server) type PayloadContent = Result<Vec<u8>, ArgumentsRefusal>;

impl Payload {
    pub(in crate::server) fn new(load: PayloadContent, room: Option<MessagePermit>) -> Self {
        Self {
            load: Arc::new(Mutex::new(Some(load))),
            _room: room.map(Arc::new),
        }
    }

    /// Takes it, once.
    pub(in crate::server) fn take(&self) -> Option<PayloadContent> {
        self.load.lock().take()
    }
}

/// The members of a message that decide how it is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MessageMember {
    Id,
    Method,
    Params,
    Name,
    Arguments,
}

impl MessageMember {
    fn of_message(key: &[u8]) -> Option<Self> {
        match key {
            b"id" => Some(Self::Id),
            b"method" => Some(Self::Method),
            b"params" => Some(Self::Params),
            _ => None,
        }
    }

    fn of_params(key: &[u8]) -> Option<Self> {
        match key {
            b"name" => Some(Self::Name),
            b"arguments" => Some(Self::Arguments),
            _ => None,
        }
    }
}

/// The lexical context of a byte in a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    /// Between strings.
    #[default]
    Nothing,
    String,
    /// After a backslash in a string.
    Escape,
}

/// Finds the members of a message in its bytes, part by part as they arrive, without keeping the
/// bytes. The result for invalid JSON is arbitrary; the later reader reports the error.
#[derive(Debug, Default)]
pub(in crate::server) struct Scan {
    at: usize,
    depth: usize,
    within: Within,
    /// True if the object at depth 2 is the message's `params`.
    is_params: bool,
    /// True if the next string is the name of a member.
    is_key_next: bool,
    /// The name of the member that is being read, as long as it may be one of ours.
    key: Vec<u8>,
    is_key: bool,
    /// The member whose value is being read, in the message and in its `params`.
    open: [Option<MessageMember>; 2],
    /// The positions of these members' values.
    found: BTreeMap<MessageMember, Range<usize>>,
    /// The message's id without surrounding space, up to the length that a refusal repeats: it may
    /// come after the part of a refused message that is kept.
    id: Vec<u8>,
}

/// Longer than every member name that is searched for.
const MOST_KEY: usize = 16;

impl Scan {
    /// A scan of the first bytes of a message.
    pub(in crate::server) fn new(bytes: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.feed(bytes);
        scan
    }

    /// Reads on.
    pub(in crate::server) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let was_in_id = self.is_in_id();
            let is_space = self.within == Within::Nothing && byte.is_ascii_whitespace();
            match self.within {
                Within::Nothing => self.between(*byte),
                Within::String | Within::Escape => self.in_string(*byte),
            }
            if !was_in_id && self.is_in_id() {
                // Of two ids the second counts.
                self.id.clear();
            } else if was_in_id && self.is_in_id() && !is_space && self.id.len() <= MOST_ID {
                self.id.push(*byte);
            }
            self.at += 1;
        }
    }

    fn in_string(&mut self, byte: u8) {
        self.within = match (self.within, byte) {
            (Within::String, b'"') => {
                self.within = Within::Nothing;
                return;
            }
            (Within::String, b'\\') => Within::Escape,
            _ => Within::String,
        };
        if self.is_key && self.key.len() < MOST_KEY {
            self.key.push(byte);
        }
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.within = Within::String;
                self.is_key = self.is_watched() && self.is_key_next;
                self.key.clear();
            }
            b'{' | b'[' => {
                self.depth += 1;
                let is_object = byte == b'{';
                self.is_params |= is_object
                    && self.depth == 2
                    && self.open.first() == Some(&Some(MessageMember::Params));
                self.is_key_next = is_object && self.is_watched();
            }
            b'}' | b']' => {
                self.close();
                self.is_params &= self.depth != 2;
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.is_watched() && self.is_key_next => {
                self.is_key_next = false;
                let member = if self.depth == 1 {
                    MessageMember::of_message(&self.key)
                } else {
                    MessageMember::of_params(&self.key)
                };
                let level = self.depth - 1;
                if let Some(open) = self.open.get_mut(level) {
                    *open = member;
                }
                let from = self.at + 1;
                if let Some(member) = member {
                    self.found.insert(member, from..from);
                }
            }
            b',' if self.is_watched() => {
                self.close();
                self.is_key_next = true;
            }
            _ => {}
        }
    }

    /// True if the value of the message's id is being read.
    fn is_in_id(&self) -> bool {
        self.open.first() == Some(&Some(MessageMember::Id))
    }

    /// True if the object at this depth is the message or its `params`.
    const fn is_watched(&self) -> bool {
        self.depth == 1 || (self.depth == 2 && self.is_params)
    }

    /// The value of the member at this depth ends here.
    fn close(&mut self) {
        if !self.is_watched() {
            return;
        }
        let level = self.depth - 1;
        let member = self.open.get_mut(level).and_then(Option::take);
        let to = self.at;
        if let Some(found) = member.and_then(|member| self.found.get_mut(&member)) {
            found.end = to;
        }
    }

    fn is_call(&self, message: &[u8]) -> bool {
        value(message, self.found.get(&MessageMember::Method)) == Some(b"\"tools/call\"")
    }

    /// A request with only the id and, for a call, the tool; `None` if the message expects no
    /// answer. The beginning of the message is enough.
    pub(in crate::server) fn stub(&self, message: &[u8]) -> Option<Vec<u8>> {
        let id = self.found.get(&MessageMember::Id);
        let is_whole = id.is_some_and(|id| !id.is_empty());
        if !is_whole || self.id.is_empty() {
            return None;
        }
        // An id that is too long to repeat is answered without an id.
        let id = if self.id.len() <= MOST_ID {
            &*self.id
        } else {
            NOTHING
        };
        let mut stub = [
            br#"{"jsonrpc":"2.0","id":"#,
            id,
            br#","method":"tools/call""#,
        ]
        .concat();
        if let Some(name) = value(message, self.found.get(&MessageMember::Name))
            && self.is_call(message)
            && name.len() <= MOST_ID
        {
            stub.extend_from_slice(&[br#","params":{"name":"#, name, b"}"].concat());
        }
        stub.push(b'}');
        Some(stub)
    }

    /// Splits the arguments off a call's message.
    ///
    /// # Errors
    /// The message, if it is not a call, or is still large without its arguments.
    pub(in crate::server) fn lighten(
        &self,
        mut message: Vec<u8>,
        room: Option<MessagePermit>,
    ) -> Result<(Vec<u8>, Payload), Vec<u8>> {
        let arguments = self.found.get(&MessageMember::Arguments).cloned();
        let beside = arguments.filter(|_| self.is_call(&message)).and_then(|at| {
            let (before, behind) = (message.get(..at.start)?, message.get(at.end..)?);
            let is_little = before.len() + behind.len() <= MOST_BESIDE;
            (is_little && at.start < at.end).then(|| ([before, NOTHING, behind].concat(), at))
        });
        let Some((light, at)) = beside else {
            return Err(message);
        };
        message.truncate(at.end);
        message.drain(..at.start);
        Ok((light, Payload::new(Ok(message), room)))
    }
}

/// The bytes of a value, of the message that was scanned or the beginning of it.
fn value<'a>(message: &'a [u8], at: Option<&Range<usize>>) -> Option<&'a [u8]> {
    let bytes = message.get(at?.clone())?.trim_ascii();
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{MOST_BESIDE, Scan};

    fn parts(message: &str) -> Option<(String, String)> {
        let scan = Scan::new(message.as_bytes());
        let (light, cargo) = scan.lighten(message.into(), None).ok()?;
        let Some(Ok(arguments)) = cargo.take() else {
            return None;
        };
        assert!(cargo.take().is_none());
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Some((text(light), text(arguments)))
    }

    #[test]
    fn a_call_is_parted_from_its_arguments() {
        let call = r#"{"id":1, "params": {"name":"n","_meta":{"arguments":[1]}, "arguments" : {"a":"}\",{","arguments":{}} , "x":[{"arguments":1}]},"method":"tools/call"}"#;
        let (light, arguments) = parts(call).expect("a call");
        assert_eq!(
            light,
            r#"{"id":1, "params": {"name":"n","_meta":{"arguments":[1]}, "arguments" :{}, "x":[{"arguments":1}]},"method":"tools/call"}"#
        );
        assert_eq!(arguments.trim(), r#"{"a":"}\",{","arguments":{}}"#);
        // However its bytes are split.
        let mut scan = Scan::default();
        for byte in call.bytes() {
            scan.feed(&[byte]);
        }
        let (again, _) = scan.lighten(call.into(), None).expect("a call");
        assert_eq!(again, light.as_bytes());
    }

    #[test]
    fn nothing_but_a_call_of_little_else_is_parted() {
        let long = "x".repeat(MOST_BESIDE);
        for other in [
            r#"{"id":1,"method":"ping","params":{"arguments":{}}}"#,
            r#"{"id":1,"method":"tools/call","arguments":{}}"#,
            r#"{"id":1,"method":"tools/call","params":[{"arguments":{}}]}"#,
            r#"[{"id":1,"method":"tools/call","params":{"arguments":{}}}]"#,
            r#"{"id":1,"method":"tools/call","params":{"arguments":"#,
            &format!(r#"{{"id":"{long}","method":"tools/call","params":{{"arguments":{{}}}}}}"#),
            "",
            "\u{0}",
            "]]]}}}:,\"",
        ] {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn what_goes_no_further_is_answered_by_its_id_where_that_can_be_repeated() {
        let stub = |message: &str| {
            let stub = Scan::new(message.as_bytes()).stub(message.as_bytes());
            stub.map(|stub| String::from_utf8(stub).expect("UTF-8"))
        };
        let cut = r#"{"id":"a","method":"tools/call","params":{"name":"n","arguments":{"a":"#;
        assert_eq!(
            stub(cut).as_deref(),
            Some(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"n"}}"#)
        );
        assert_eq!(
            stub(r#"{"method":"ping","id":7,"params":{}}"#).as_deref(),
            Some(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#)
        );
        // Only the first bytes are kept; the id may come later.
        let call =
            r#"{"method":"tools/call","params":{"name":"n","arguments":{"id":1}},"id": "a b\"" }"#;
        let kept = call.as_bytes().split_at(50).0;
        let stub_of_kept = Scan::new(call.as_bytes()).stub(kept).expect("a stub");
        assert_eq!(
            stub_of_kept,
            br#"{"jsonrpc":"2.0","id":"a b\"","method":"tools/call","params":{"name":"n"}}"#
        );
        let long = format!(r#"{{"id":"{}","method":"ping"}}"#, "x".repeat(300));
        assert_eq!(
            stub(&long).as_deref(),
            Some(r#"{"jsonrpc":"2.0","id":{},"method":"tools/call"}"#)
        );
        assert_eq!(stub(r#"{"method":"notifications/x"}"#), None);
    }
}
