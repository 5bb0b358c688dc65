//! Measures the budgets of `ARCHITECTURE.md` and fails on a missed one.
//!
//! The release binary runs as a client would run it: a process, with a message a line on its
//! pipes. Times are compared with what the wiki itself takes for the same request in the same
//! run, so that a slow or busy machine can be told from a slow server; each is a median.
//!
//! ```text
//! cargo bench --bench budgets -- [--only NAME]… [--minutes N] [--json] [--write]
//! ```
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement that meets what it did not expect shall end there, and tell"
)]

mod added;
mod audit;
mod calls;
mod client;
mod crowd;
mod definitions;
mod figure;
mod files;
mod flood;
mod heavy;
mod hosted;
mod http;
mod instant;
mod large;
mod memory;
#[path = "../../examples/large_wiki/pages.rs"]
mod pages;
mod process;
mod rate;
mod report;
mod review;
#[path = "../../tests/it/script.rs"]
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "written for tests"
)]
mod script;
mod server;
mod sites;
mod size;
mod soak;
mod start;
mod stats;
mod watched;
mod wiki;
mod writes;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use figure::Figure;

/// Measures the budgets of wikijs-mcp
#[derive(Debug, Parser)]
struct Arguments {
    /// Measure only this; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<Measurement>,
    /// How long the soak takes
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: u32,
    /// The binary of before change sets, which `just former` builds
    #[arg(long, value_name = "FILE")]
    former: Option<PathBuf>,
    /// Write what was measured into docs/figures.md too
    #[arg(long)]
    write: bool,
    /// One JSON document for programs
    #[arg(long)]
    json: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// What can be measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Measurement {
    /// Start to the answer of `initialize`
    Start,
    /// Memory, idle and after many calls
    Memory,
    /// What is added to a call of the wiki
    Added,
    /// Calls a second
    Rate,
    /// The same two over HTTP
    Http,
    /// 200 clients at once over HTTP
    Crowd,
    /// 100 clients on two sites while others die and change
    Sites,
    /// Memory over time, under pipelined calls
    Flood,
    /// Size of the binary
    Size,
    /// Size of the tools' definitions
    Definitions,
    /// One line changed in a page of 2 MB
    Large,
    /// What writes ask of the wiki, and an edit beside the former binary (`just former`)
    Writes,
    /// The audit log of 100,000 events, as the commands read it
    Audit,
    /// The pages of the review page, and when a browser has painted one
    Review,
    /// A wiki of 10,000 pages as files
    Files,
    /// A wiki of 10,000 pages (`just heavy`); only where it is named, since it takes minutes
    Heavy,
    /// A mix of calls for minutes, nothing of which may grow (`just heavy`); only where it is named
    Soak,
}

impl Measurement {
    fn measure(self, minutes: u32, former: Option<&Path>) -> Vec<Figure> {
        match self {
            Self::Start => start::measure(),
            Self::Memory => memory::measure(),
            Self::Added => added::measure(),
            Self::Rate => rate::measure(),
            Self::Http => http::measure(),
            Self::Crowd => crowd::measure(),
            Self::Sites => sites::measure(),
            Self::Flood => flood::measure(),
            Self::Size => size::measure(),
            Self::Definitions => definitions::measure(),
            Self::Large => large::measure(),
            Self::Writes => writes::measure(former),
            Self::Audit => audit::measure(),
            Self::Review => review::measure(),
            Self::Files => files::measure(),
            Self::Heavy => heavy::measure(),
            Self::Soak => soak::measure(minutes),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("nothing measured: budgets are those of a release build (`cargo bench`)");
        // `cargo test --all-targets` comes here too, and has nothing to fail for.
        return ExitCode::from(if arguments.bench { 2 } else { 0 });
    }
    let mut figures = Vec::new();
    for name in Measurement::value_variants() {
        let is_wanted = match &arguments.only[..] {
            [] => !matches!(name, Measurement::Heavy | Measurement::Soak),
            only => only.contains(name),
        };
        if !is_wanted {
            continue;
        }
        let measured = name.measure(arguments.minutes, arguments.former.as_deref());
        if arguments.write {
            let name = name.to_possible_value().expect("none is skipped");
            report::write(name.get_name(), &measured);
        }
        figures.extend(measured);
    }
    if arguments.json {
        println!("{}", report::json(&figures));
    } else {
        print!("{}", report::table(&figures));
    }
    if figures.iter().all(Figure::is_kept) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
