//! A large wiki to try clients and the content index on: the embedded demo wiki with generated
//! pages. Prints its address and keys as JSON, and serves until it is ended.
//!
//! ```text
//! cargo run --example large_wiki -- --pages 10000
//! ```
#![expect(
    clippy::print_stdout,
    reason = "what it prints is what it is started for"
)]

mod pages;

use clap::Parser;
use serde_json::json;
use wikijs_mcp::demo::{DemoOptions, DemoWiki};

/// Serves a large wiki
#[derive(Debug, Parser)]
struct Arguments {
    /// How many pages it has, of 5 kB each
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: std::net::SocketAddr,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let options = DemoOptions {
        address: arguments.listen,
        ..DemoOptions::empty()
    };
    let wiki = DemoWiki::start(options).await?;
    let bytes = pages::plant(&wiki, arguments.pages);
    let told = json!({
        "address": wiki.address(),
        "pages": arguments.pages,
        "bytes": bytes,
        "keys": wiki.keys(),
    });
    println!("{told}");
    wiki.wait().await
}
