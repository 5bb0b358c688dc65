//! Lines of standard input: small ones unchanged, large ones without their arguments.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::super::quota::{self, MOST_BYTES, MessagePermit, MessageQuota};
use super::large_message::{MOST_BESIDE, Payload, Scan};
use crate::tools::ArgumentsRefusal;

/// Number of bytes read at once.
const CHUNK: usize = 8 * 1024;

/// The cargo of the last message, if it has one.
#[derive(Debug, Clone, Default)]
pub(in crate::server) struct PayloadSlot(Arc<Mutex<Option<Payload>>>);

impl PayloadSlot {
    fn put(&self, cargo: Option<Payload>) {
        *self.0.lock() = cargo;
    }

    /// Takes it, for that message.
    pub(in crate::server) fn take(&self) -> Option<Payload> {
        self.0.lock().take()
    }
}

/// Gives only whole lines. A large line comes by itself without its arguments; once it was read
/// completely, they are in the slot until more is read.
pub(in crate::server) struct LineFramer<R> {
    input: R,
    chunk: Box<[u8]>,
    /// Bytes that were read and not passed on yet.
    held: Vec<u8>,
    /// Number of these bytes, from the beginning, in whole lines, and below, of those passed on.
    whole: usize,
    given: usize,
    /// The cargo of these lines; with cargo they are a single line.
    cargo: Option<Payload>,
    large: Option<LargeLine>,
    /// Room for large lines, and the wait of the current one.
    room: Arc<MessageQuota>,
    waits: Option<BoxFuture<'static, Option<MessagePermit>>>,
    /// The slot in which the reader of messages finds the arguments of the last message.
    pub(in crate::server) slot: PayloadSlot,
    /// Cancelled when the input closes.
    pub(in crate::server) closed: CancellationToken,
}

impl<R: AsyncRead + Unpin> LineFramer<R> {
    pub(in crate::server) fn new(input: R) -> Self {
        Self {
            input,
            chunk: vec![0; CHUNK].into(),
            held: Vec::new(),
            whole: 0,
            given: 0,
            cargo: None,
            large: None,
            room: Arc::new(MessageQuota::new(
                quota::ALL_BYTES,
                quota::ALL_BYTES,
                1,
                quota::PATIENCE,
            )),
            waits: None,
            slot: PayloadSlot::default(),
            closed: CancellationToken::new(),
        }
    }

    /// Passes on as much as fits; returns whether there was anything.
    fn give(&mut self, to: &mut ReadBuf<'_>) -> bool {
        let left = self.held.get(self.given..self.whole).unwrap_or_default();
        let some = left.get(..to.remaining()).unwrap_or(left);
        if some.is_empty() {
            return false;
        }
        to.put_slice(some);
        self.given += some.len();
        if self.given == self.whole {
            self.slot.put(self.cargo.take());
        }
        true
    }

    /// Handles newly read bytes.
    fn take_in(&mut self, length: usize) {
        let bytes = self.chunk.get(..length).unwrap_or_default();
        let Some(large) = &mut self.large else {
            self.held.extend_from_slice(bytes);
            return;
        };
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            large.push(bytes);
            return;
        };
        let (last, next) = bytes.split_at(end);
        large.push(last);
        if let Some((line, cargo)) = self.large.take().and_then(LargeLine::lightened) {
            self.held = line;
            self.whole = self.held.len();
            self.cargo = Some(cargo);
        }
        self.held
            .extend_from_slice(next.get(1..).unwrap_or_default());
    }

    /// Looks for whole lines, once the earlier ones are passed on.
    fn look(&mut self) {
        if self.whole > 0 || self.large.is_some() || self.waits.is_some() {
            return;
        }
        match self.held.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => self.whole = end + 1,
            None if self.held.len() > MOST_BESIDE => {
                let room = Arc::clone(&self.room);
                // Its length is unknown, so it takes as much room as the largest.
                self.waits = Some(Box::pin(async move { room.take(MOST_BYTES, None).await }));
            }
            None => {}
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineFramer<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            if buffer.remaining() == 0 || this.give(buffer) {
                return Poll::Ready(Ok(()));
            }
            // The earlier line was read by now; if it was not a message, its cargo is dropped.
            this.slot.put(None);
            this.held.drain(..this.whole);
            (this.whole, this.given) = (0, 0);
            this.look();
            if this.whole > 0 {
                continue;
            }
            if let Some(waits) = &mut this.waits {
                let room = ready!(waits.as_mut().poll(context));
                this.waits = None;
                let line = std::mem::take(&mut this.held);
                this.large = Some(LargeLine::begun(line, room));
            }
            let mut space = ReadBuf::new(&mut this.chunk);
            let read = ready!(Pin::new(&mut this.input).poll_read(context, &mut space));
            let length = space.filled().len();
            if read.is_err() || length == 0 {
                this.closed.cancel();
                return Poll::Ready(read);
            }
            this.take_in(length);
            this.look();
        }
    }
}

/// A large line, as far as it has come.
struct LargeLine {
    line: Vec<u8>,
    scan: Scan,
    room: Option<MessagePermit>,
    /// The reason it is refused; its first bytes are kept to identify it.
    refused: Option<ArgumentsRefusal>,
}

impl LargeLine {
    fn begun(line: Vec<u8>, room: Option<MessagePermit>) -> Self {
        Self {
            scan: Scan::new(&line),
            line,
            refused: room.is_none().then_some(ArgumentsRefusal::NoRoom),
            room,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        // Also for a refused line: many clients write the id after the arguments.
        self.scan.feed(bytes);
        if self.refused.is_some() {
            return;
        }
        if self.line.len() + bytes.len() > MOST_BYTES {
            self.refused = Some(ArgumentsRefusal::TooLarge);
            self.room = None;
            self.line.truncate(MOST_BESIDE);
            self.line.shrink_to_fit();
            return;
        }
        self.line.extend_from_slice(bytes);
    }

    /// The short line that replaces this one, and the arguments taken out of it. `None` if the
    /// message asks for no answer.
    fn lightened(self) -> Option<(Vec<u8>, Payload)> {
        let Self {
            line,
            scan,
            room,
            refused,
        } = self;
        let (lightened, why) = match refused {
            None => (scan.lighten(line, room), ArgumentsRefusal::TooLarge),
            Some(why) => (Err(line), why),
        };
        let (mut line, cargo) = match lightened {
            Ok(lightened) => lightened,
            Err(line) => {
                tracing::warn!(?why, "a large message was not read");
                (scan.stub(&line)?, Payload::new(Err(why), None))
            }
        };
        line.push(b'\n');
        Some((line, cargo))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::{ArgumentsRefusal, LargeLine, LineFramer, MOST_BESIDE, MOST_BYTES};
    use crate::server::stdio::large_message::PayloadContent;

    /// Each line as it comes out, and what went with it.
    async fn read(input: Vec<u8>) -> Vec<(String, Option<PayloadContent>)> {
        let (mut to, from) = tokio::io::duplex(1_000);
        let sent = tokio::spawn(async move { to.write_all(&input).await });
        let lines = LineFramer::new(from);
        let slot = lines.slot.clone();
        let (mut lines, mut read) = (BufReader::new(lines), Vec::new());
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).await.expect("UTF-8") == 0 {
                sent.await.expect("no panic").expect("sent");
                return read;
            }
            read.push((line, slot.take().and_then(|cargo| cargo.take())));
        }
    }

    fn call(id: u8, arguments: &str) -> String {
        format!(
            "{{\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"n\",\"arguments\":{arguments}}}}}\n"
        )
    }

    #[tokio::test]
    async fn small_lines_pass_and_a_large_call_is_parted_from_its_arguments() {
        let large = format!("\"{}\"", "x".repeat(3 * MOST_BESIDE));
        let small = call(1, "{}");
        let input = [
            &*small,
            &small,
            &call(2, &large),
            &small,
            "\n",
            &call(3, &large),
        ]
        .concat();
        let read = read(input.into()).await;
        let lines: Vec<_> = read.iter().map(|(line, _)| line.as_str()).collect();
        let (second, third) = (call(2, "{}"), call(3, "{}"));
        assert_eq!(lines, [&*small, &small, &second, &small, "\n", &third]);
        for (place, (_, load)) in read.into_iter().enumerate() {
            match load {
                Some(Ok(json)) => assert_eq!(json, large.as_bytes()),
                Some(Err(_)) => panic!("{place}"),
                None => assert!(![2, 5].contains(&place)),
            }
        }
    }

    /// As the SDK for TypeScript writes a call.
    fn call_with_its_id_last(id: u8, argument: &str) -> String {
        format!(
            "{{\"method\":\"tools/call\",\"params\":{{\"name\":\"n\",\"arguments\":\"{argument}\"}},\"jsonrpc\":\"2.0\",\"id\":{id}}}\n"
        )
    }

    #[test]
    fn a_call_without_room_is_answered_though_its_id_comes_last() {
        let call = call_with_its_id_last(7, &"x".repeat(3 * MOST_BESIDE));
        let (first, rest) = call.trim_end().as_bytes().split_at(MOST_BESIDE + 1);
        let mut line = LargeLine::begun(first.to_vec(), None);
        for part in rest.chunks(1_000) {
            line.push(part);
        }
        let (line, cargo) = line.lightened().expect("somebody waits for the answer");
        let stub = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"n\"}}\n";
        assert_eq!(String::from_utf8(line).expect("UTF-8"), stub);
        assert!(matches!(cargo.take(), Some(Err(ArgumentsRefusal::NoRoom))));
    }

    #[tokio::test]
    async fn what_is_too_large_is_answered_where_somebody_waits_for_it() {
        let long = "x".repeat(MOST_BYTES);
        let input = [
            &*call(1, &format!("\"{long}\"")),
            &format!("{{\"method\":\"notifications/x\",\"x\":\"{long}\"}}\n"),
            &format!(
                "{{\"id\":2,\"method\":\"ping\",\"x\":\"{}\"}}\n",
                "x".repeat(2 * MOST_BESIDE)
            ),
            &call(3, "{}"),
            &call_with_its_id_last(4, &long),
        ];
        let read = read(input.concat().into()).await;
        let told: Vec<_> = read
            .iter()
            .map(|(line, load)| {
                (
                    line.trim_end(),
                    *load == Some(Err(ArgumentsRefusal::TooLarge)),
                )
            })
            .collect();
        let stub = "\"method\":\"tools/call\"";
        assert_eq!(
            told,
            [
                (
                    &*format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":1,{stub},\"params\":{{\"name\":\"n\"}}}}"
                    ),
                    true
                ),
                (&*format!("{{\"jsonrpc\":\"2.0\",\"id\":2,{stub}}}"), true),
                (call(3, "{}").trim_end(), false),
                (
                    &*format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":4,{stub},\"params\":{{\"name\":\"n\"}}}}"
                    ),
                    true
                ),
            ]
        );
    }
}
