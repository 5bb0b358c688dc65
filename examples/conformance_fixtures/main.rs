//! What the scenarios of the protocol's conformance suite ask of a server, on our HTTP stack.
//! Test-only: `tests/conformance/run` starts it with the address to listen at.
#![expect(
    deprecated,
    reason = "sampling, logging and subscriptions are in the scenarios of 2025-11-25"
)]

mod ask;
mod fixtures;
mod handler;
mod rounds;
mod tasks;

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use wikijs_gate::config::{Layers, Settings};
use wikijs_gate::server::http::{HttpLimits, HttpServer};
use wikijs_gate::server::{App, Sites};
use wikijs_gate::write::Timeouts;

use crate::handler::{Handler, Shared};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("no address")?;
    // Nothing asks the wiki.
    let settings = Settings::read(&Layers::default().source())?;
    let (serve, shared) = (settings.serve.clone(), Arc::new(Shared::new()?));
    let app = Arc::new(App::new(settings, Timeouts::default())?);
    let handler = move || Handler::new(Arc::clone(&shared));
    let listener = TcpListener::bind(address).await?;
    HttpServer::answering(
        Sites::only(app),
        handler,
        serve,
        HttpLimits::default(),
        listener,
    )?
    .run(CancellationToken::new())
    .await;
    Ok(())
}
