//! Starting and stopping the demo wiki.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::http::router;
use super::state::Shared;
use crate::demo::{Keys, seed};

/// The content of a new wiki.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Seed {
    /// A team's handbook of some twenty pages in two locales.
    #[default]
    Sample,
    /// Nothing.
    Empty,
}

/// The options for starting a wiki.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemoOptions {
    /// The address to listen on; port 0 takes any free one.
    pub address: SocketAddr,
    /// Its content.
    pub seed: Seed,
}

impl Default for DemoOptions {
    /// Any free port of 127.0.0.1, the sample pages.
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            seed: Seed::Sample,
        }
    }
}

impl DemoOptions {
    /// The same without any page.
    pub fn empty() -> Self {
        Self {
            seed: Seed::Empty,
            ..Self::default()
        }
    }
}

/// A running demo wiki. Dropping it stops it.
pub struct DemoWiki {
    address: SocketAddr,
    keys: Keys,
    #[cfg(feature = "testing")]
    pub(super) shared: Arc<Shared>,
    stop: CancellationToken,
    server: JoinHandle<io::Result<()>>,
}

impl std::fmt::Debug for DemoWiki {
    /// The address alone: keys and pages have no place in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DemoWiki")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl DemoWiki {
    /// Starts a wiki. It answers as soon as this returns.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn start(options: DemoOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        if options.seed == Seed::Sample {
            seed::plant(&mut shared.store());
        }
        let keys = shared.keyring().issue_all();
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let service = axum::serve(listener, router(Arc::clone(&shared)));
        let server = tokio::spawn(async move { service.with_graceful_shutdown(stopped).await });
        Ok(Self {
            address,
            keys,
            #[cfg(feature = "testing")]
            shared,
            stop,
            server,
        })
    }

    /// The wiki's address, such as `http://127.0.0.1:40123`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The keys that every demo wiki has.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Waits until the wiki ends, which it does by itself only on an error.
    ///
    /// # Errors
    /// The server failed.
    pub async fn wait(mut self) -> io::Result<()> {
        match (&mut self.server).await {
            Ok(ended) => ended,
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Stops the wiki: no new connections, open requests are answered, open
    /// connections without one are closed.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        // However the server ends, it is over.
        let _ended = (&mut self.server).await;
    }
}

impl Drop for DemoWiki {
    fn drop(&mut self) {
        self.stop.cancel();
        self.server.abort();
    }
}
