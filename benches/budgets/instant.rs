//! A wiki that answers at once: the same bytes to every request, computed by nobody.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::thread;

use tokio::net::{TcpListener, TcpStream};

use crate::client::{Client, one_by_one};
use crate::wiki::Wiki;

/// A running wiki; it lives as long as the process.
pub(crate) struct InstantWiki {
    address: String,
}

impl InstantWiki {
    /// Starts one that answers with what another wiki says of its page.
    pub(crate) fn like(wiki: &Wiki) -> Self {
        let client = Client::new(&wiki.address(), wiki.key(), wiki.page());
        Self::start(&one_by_one().block_on(client.ask()))
    }

    /// Starts it with its one answer, on a thread of its own.
    fn start(body: &[u8]) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let answer: Arc<[u8]> = [head.as_bytes(), body].concat().into();
        let runtime = one_by_one();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            runtime.block_on(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&answer)));
                }
            });
        });
        Self {
            address: format!("http://{address}"),
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

/// Answers one connection until it is closed.
async fn serve(stream: TcpStream, answer: Arc<[u8]>) {
    let _ = stream.set_nodelay(true);
    let mut request = Vec::with_capacity(1 << 14);
    loop {
        while let Some(length) = length(&request) {
            request.drain(..length);
            if write(&stream, &answer).await.is_err() {
                return;
            }
        }
        if stream.readable().await.is_err() {
            return;
        }
        match stream.try_read_buf(&mut request) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

/// How long the first request is, if all of it has come.
fn length(request: &[u8]) -> Option<usize> {
    const LENGTH: &str = "content-length:";
    let head = request.windows(4).position(|four| four == b"\r\n\r\n")?;
    let lines = str::from_utf8(request.get(..head)?).ok()?;
    let body: usize = lines
        .lines()
        .find_map(|line| line.strip_prefix(LENGTH)?.trim().parse().ok())
        .unwrap_or_default();
    let whole = head + 4 + body;
    (request.len() >= whole).then_some(whole)
}

async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
