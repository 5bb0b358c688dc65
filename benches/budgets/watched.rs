//! A relay before a wiki that knows for how long requests were under way there.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// When requests were under way: from the last byte of one to the last byte of its answer.
type Busy = Arc<Mutex<Vec<(Instant, Instant)>>>;

/// The relay; it ends with the process.
pub(crate) struct Watched {
    port: u16,
    busy: Busy,
}

impl Watched {
    /// Stands before the wiki at an address (`http://host:port`).
    pub(crate) fn before(address: &str) -> Self {
        let wiki = address.strip_prefix("http://").expect("plain HTTP");
        let wiki = wiki.trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let busy = Busy::default();
        let seen = Arc::clone(&busy);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&wiki).expect("the wiki listens");
                relay(&client, &server, &seen);
            }
        });
        Self { port, busy }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// For how long at least one request was under way, from one time to another.
    pub(crate) fn busy_within(&self, from: Instant, to: Instant) -> Duration {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.sort();
        let (mut sum, mut until) = (Duration::ZERO, from);
        for (began, ended) in busy.iter() {
            let ended = (*ended).min(to);
            sum += ended.saturating_duration_since((*began).max(until));
            until = until.max(ended);
        }
        sum
    }
}

fn relay(client: &TcpStream, server: &TcpStream, busy: &Busy) {
    for stream in [client, server] {
        stream.set_nodelay(true).expect("a socket");
    }
    let asked = Arc::new(Mutex::new(None));
    let (mut from, mut to) = (clone(client), clone(server));
    let asking = Arc::clone(&asked);
    thread::spawn(move || {
        copy(&mut from, &mut to, || {
            *asking.lock().expect("it cannot panic") = Some(Instant::now());
        });
    });
    let (mut from, mut to, busy) = (clone(server), clone(client), Arc::clone(busy));
    thread::spawn(move || {
        copy(&mut from, &mut to, || {
            if let Some(began) = *asked.lock().expect("it cannot panic") {
                let mut busy = busy.lock().unwrap_or_else(PoisonError::into_inner);
                busy.push((began, Instant::now()));
            }
        });
    });
}

fn clone(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a descriptor")
}

fn copy(from: &mut TcpStream, to: &mut TcpStream, came: impl Fn()) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        came();
        if to
            .write_all(buffer.get(..read).expect("so much was read"))
            .is_err()
        {
            break;
        }
    }
    // Whoever has gone needs no more.
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
