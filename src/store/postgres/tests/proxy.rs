//! A way to the database that cuts, slows or swallows what goes over it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

/// The fate of the bytes that are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// It arrives.
    Open,
    /// So many bytes arrive, then the connection is cut. The next connection is open.
    CutAfter(usize),
    /// It arrives byte by byte.
    Slow,
    /// It is lost, and nobody is told.
    Lost,
    /// Connections are closed at once.
    Closed,
}

#[derive(Debug, Clone, Copy)]
struct Ways {
    to_server: Way,
    to_client: Way,
}

#[derive(Debug)]
pub(super) struct ChaosProxy {
    port: u16,
    ways: Arc<Mutex<Ways>>,
    socket: Arc<Mutex<PathBuf>>,
}

impl ChaosProxy {
    /// Before the socket in a directory. Its threads end with the process.
    pub(super) fn start(directory: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let socket = Arc::new(Mutex::new(socket_in(directory)));
        let ways = Arc::new(Mutex::new(Ways {
            to_server: Way::Open,
            to_client: Way::Open,
        }));
        let proxy = Self {
            port,
            ways: Arc::clone(&ways),
            socket: Arc::clone(&socket),
        };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let socket = socket.lock().clone();
                pass(&client, &socket, &ways);
            }
        });
        proxy
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Leads to the socket in another directory from now on.
    pub(super) fn lead_to(&self, directory: &Path) {
        *self.socket.lock() = socket_in(directory);
    }

    pub(super) fn set(&self, to_server: Way, to_client: Way) {
        *self.ways.lock() = Ways {
            to_server,
            to_client,
        };
    }

    /// True if everything arrives: what was to be cut has been.
    pub(super) fn is_open(&self) -> bool {
        let ways = *self.ways.lock();
        ways.to_server == Way::Open && ways.to_client == Way::Open
    }
}

fn socket_in(directory: &Path) -> PathBuf {
    directory.join(".s.PGSQL.5432")
}

fn pass(client: &TcpStream, socket: &PathBuf, ways: &Arc<Mutex<Ways>>) {
    if ways.lock().to_server == Way::Closed {
        return;
    }
    let Ok(server) = UnixStream::connect(socket) else {
        return;
    };
    client.set_nodelay(true).unwrap();
    let cut = {
        let (client, server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        move || {
            // Either may be closed already.
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    };
    let cut_too = {
        let (client, server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        move || {
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    };
    let (from_client, to_client) = (client.try_clone().unwrap(), client.try_clone().unwrap());
    let (from_server, to_server) = (server.try_clone().unwrap(), server);
    let (there, back) = (Arc::clone(ways), Arc::clone(ways));
    thread::spawn(move || {
        copy(from_client, to_server, &there, |ways| &mut ways.to_server);
        cut();
    });
    thread::spawn(move || {
        copy(from_server, to_client, &back, |ways| &mut ways.to_client);
        cut_too();
    });
}

fn copy(
    mut from: impl Read,
    mut to: impl Write,
    ways: &Mutex<Ways>,
    way: impl Fn(&mut Ways) -> &mut Way,
) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..count];
        let now = *way(&mut ways.lock());
        let sent = match now {
            Way::Open => to.write_all(bytes),
            Way::Slow => bytes.chunks(1).try_for_each(|byte| to.write_all(byte)),
            Way::Lost => Ok(()),
            Way::Closed => return,
            Way::CutAfter(left) if left < count => {
                // It may be closed already.
                let _ = to.write_all(&bytes[..left]);
                *way(&mut ways.lock()) = Way::Open;
                return;
            }
            Way::CutAfter(left) => {
                *way(&mut ways.lock()) = Way::CutAfter(left - count);
                to.write_all(bytes)
            }
        };
        if sent.is_err() {
            return;
        }
    }
}
