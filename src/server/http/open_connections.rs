//! Counts open connections, and decides which one goes when there are too many.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The open connections of one listener.
///
/// A connection that has not sent the head of a request yet goes before one that has: whoever only
/// opens connections keeps nobody out. One peer holds at most half of them; a trusted proxy, which
/// brings many callers, may hold all.
#[derive(Debug)]
pub(super) struct OpenConnections {
    most: usize,
    all: Mutex<ConnectionTable>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    made: u64,
    /// By their numbers, the oldest first.
    open: BTreeMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    /// Its peer; `None` for a proxy.
    peer: Option<IpAddr>,
    has_sent_head: Arc<AtomicBool>,
    gives_way: CancellationToken,
}

/// The place of one connection, for as long as it is open.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    number: u64,
    connections: Arc<OpenConnections>,
    has_sent_head: Arc<AtomicBool>,
    gives_way: CancellationToken,
}

impl OpenConnections {
    /// At most so many at a time.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            all: Mutex::default(),
        })
    }

    /// A place for a connection of this peer, `None` for a proxy; none if nothing gives way to it.
    pub(super) fn take(self: &Arc<Self>, peer: Option<IpAddr>) -> Option<ConnectionPlace> {
        let mut all = self.all.lock();
        if let Some(peer) = peer {
            let own = all.open.values().filter(|open| open.peer == Some(peer));
            if own.count() >= (self.most / 2).max(1) {
                all.make_room(|open| open.peer == Some(peer))?;
            }
        }
        if all.open.len() >= self.most {
            all.make_room(|_| true)?;
        }
        let number = all.made;
        all.made += 1;
        let (has_sent_head, gives_way) = (Arc::default(), CancellationToken::new());
        let open = OpenConnection {
            peer,
            has_sent_head: Arc::clone(&has_sent_head),
            gives_way: gives_way.clone(),
        };
        all.open.insert(number, open);
        Some(ConnectionPlace {
            number,
            connections: Arc::clone(self),
            has_sent_head,
            gives_way,
        })
    }
}

impl ConnectionTable {
    /// Ends the oldest of these connections that has sent no head; `None` if each of them has.
    fn make_room(&mut self, is_meant: impl Fn(&OpenConnection) -> bool) -> Option<()> {
        let mut open = self.open.iter();
        let (number, _) =
            open.find(|(_, open)| is_meant(open) && !open.has_sent_head.load(Ordering::Acquire))?;
        let number = *number;
        let gone = self.open.remove(&number)?;
        gone.gives_way.cancel();
        Some(())
    }
}

impl ConnectionPlace {
    /// The flag to set when the connection has sent the head of a request.
    pub(super) fn head_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_sent_head)
    }

    /// Waits until the connection gives way to another one.
    pub(super) async fn gives_way(&self) {
        self.gives_way.cancelled().await;
        if self.has_sent_head.load(Ordering::Acquire) {
            // Its head came at the last moment: it is served all the same.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.connections.all.lock().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::atomic::Ordering;

    use super::{ConnectionPlace, OpenConnections};

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn sends_head(place: &ConnectionPlace) {
        place.head_flag().store(true, Ordering::Release);
    }

    fn is_ended(place: &ConnectionPlace) -> bool {
        place.gives_way.is_cancelled()
    }

    #[test]
    fn the_oldest_without_a_head_gives_way_and_one_with_a_head_never() {
        let all = OpenConnections::new(4);
        let places: Vec<_> = (1..=4)
            .map(|n| all.take(Some(peer(n))).expect("a place"))
            .collect();
        let [first, second, third, fourth] = &*places else {
            panic!("four");
        };
        sends_head(first);
        let fifth = all.take(Some(peer(5))).expect("a place");
        assert!(is_ended(second) && !is_ended(first) && !is_ended(third));
        for place in [third, fourth, &fifth] {
            sends_head(place);
        }
        assert!(all.take(Some(peer(6))).is_none());
        drop(fifth);
        assert!(all.take(Some(peer(6))).is_some());
    }

    #[test]
    fn one_peer_has_half_of_them_and_a_proxy_all() {
        let all = OpenConnections::new(4);
        let own: Vec<_> = (0..2)
            .map(|_| all.take(Some(peer(1))).expect("a place"))
            .collect();
        let other = all.take(Some(peer(2))).expect("a place");
        // Beyond its share, a peer's own connections give way, although there is room.
        let third = all.take(Some(peer(1))).expect("a place");
        assert!(own.first().is_some_and(is_ended) && !is_ended(&other));
        own.iter().chain([&third]).for_each(sends_head);
        assert!(all.take(Some(peer(1))).is_none());
        drop((own, other, third));
        let proxied: Vec<_> = (0..4).map_while(|_| all.take(None)).collect();
        assert_eq!(proxied.len(), 4);
    }
}
