//! A large wiki to try clients and the content index on: the embedded demo wiki with generated
//! pages. Prints its address and keys as JSON, and serves until it is ended.
//!
//! ```text
//! cargo run --example large_wiki -- --pages 10000
//! ```
//!
//! With `--sql` it writes statements that put the same pages into a real Wiki.js on `PostgreSQL`, in the place
//! of all that it holds; then the wiki's tree has to be made anew (`mutation { pages { rebuildTree {
//! responseResult { succeeded } } } }` with a key for full access):
//!
//! ```text
//! cargo run --release --example large_wiki -- --pages 10000 --sql | psql --quiet wiki
//! ```
#![expect(
    clippy::print_stdout,
    reason = "what it prints is what it is started for"
)]

mod pages;
mod sql;

use std::io::{BufWriter, Write as _};

use clap::Parser;
use serde_json::json;
use wikijs_gate::demo::{DemoOptions, DemoWiki};

/// Serves a large wiki
#[derive(Debug, Parser)]
struct Arguments {
    /// How many pages it has, of 5 kB each
    #[arg(long, default_value_t = 10_000)]
    pages: usize,
    /// Write statements for a real wiki's database instead; they drop what it holds
    #[arg(long)]
    sql: bool,
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: std::net::SocketAddr,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    if arguments.sql {
        let mut out = BufWriter::new(std::io::stdout().lock());
        sql::write(&mut out, arguments.pages)?;
        return out.flush();
    }
    let options = DemoOptions {
        address: arguments.listen,
        ..DemoOptions::empty()
    };
    let wiki = DemoWiki::start(options).await?;
    let bytes = pages::plant(&wiki, arguments.pages, None);
    let told = json!({
        "address": wiki.address(),
        "pages": arguments.pages,
        "bytes": bytes,
        "keys": wiki.keys(),
    });
    println!("{told}");
    wiki.wait().await
}
