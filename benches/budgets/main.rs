//! Measures the budgets and fails on a missed one, whether it is known to be missed (`missed.rs`) or not.
//!
//! Two builds are measured: the packaged one (fat LTO, as `cargo bench` builds it) and, with `--readme FILE`, the one
//! that the README's command makes. The binary runs as a client would run it: a process, with a message a line on its
//! pipes. Times are compared with what the wiki itself takes for the same request in the same
//! run, so that a slow or busy machine can be told from a slow server; each is a median.
//!
//! ```text
//! cargo bench --bench budgets -- [--only NAME]… [--readme FILE] [--minutes N] [--json] [--write]
//! ```
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement that meets what it did not expect shall end there, and tell"
)]

mod added;
mod audit;
mod build;
mod calls;
mod client;
mod cluster;
mod code_lines;
mod crowd;
mod database;
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
mod missed;
#[path = "../../examples/large_wiki/pages.rs"]
mod pages;
mod preview;
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

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use figure::Figure;

/// Measures the budgets of wikijs-gate
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
    /// The binary that the README's command builds (`cargo build --release`), measured beside the packaged one
    #[arg(long, value_name = "FILE")]
    readme: Option<PathBuf>,
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
    /// Size of the binary, the README and the code
    Size,
    /// Size of the tools' definitions
    Definitions,
    /// Size of the preview of a set of 50 changes
    Preview,
    /// One line changed in a page of 2 MB
    Large,
    /// What writes ask of the wiki, and an edit beside the former binary (`just former`)
    Writes,
    /// The audit log of 100,000 and of 1,000,000 events, as the commands read it
    Audit,
    /// What PostgreSQL in place of files costs, and several servers on it; nothing where it is not installed
    Database,
    /// The pages of the review page, and when a browser has painted one
    Review,
    /// A wiki of 10,000 pages as files
    Files,
    /// The first build, and the unit tests behind a changed line; only where it is named, since it takes minutes
    Build,
    /// A wiki of 10,000 pages (`just heavy`); only where it is named, since it takes minutes
    Heavy,
    /// A mix of calls for minutes, nothing of which may grow (`just heavy`); only where it is named
    Soak,
}

impl Measurement {
    /// Whether it is measured only where it is named.
    fn is_by_name(self) -> bool {
        matches!(self, Self::Build | Self::Heavy | Self::Soak)
    }

    fn measure(self, arguments: &Arguments) -> Vec<Figure> {
        let readme = arguments.readme.as_deref();
        match self {
            Self::Start => start::measure(),
            Self::Memory => memory::measure(readme),
            Self::Added => added::measure(readme),
            Self::Rate => rate::measure(readme),
            Self::Http => http::measure(),
            Self::Crowd => crowd::measure(),
            Self::Sites => sites::measure(),
            Self::Flood => flood::measure(),
            Self::Size => size::measure(readme),
            Self::Definitions => definitions::measure(),
            Self::Preview => preview::measure(),
            Self::Large => large::measure(),
            Self::Writes => writes::measure(arguments.former.as_deref()),
            Self::Audit => audit::measure(),
            Self::Database => database::measure(),
            Self::Review => review::measure(),
            Self::Files => files::measure(),
            Self::Build => build::measure(),
            Self::Heavy => heavy::measure(),
            Self::Soak => soak::measure(arguments.minutes),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // What cargo builds is measured alike by any build of this program.
    let is_of_cargo = arguments.only == [Measurement::Build];
    if cfg!(debug_assertions) && !is_of_cargo {
        eprintln!("nothing measured: budgets are those of a release build (`cargo bench`)");
        // `cargo test --all-targets` comes here too, and has nothing to fail for.
        return ExitCode::from(if arguments.bench { 2 } else { 0 });
    }
    let mut figures = Vec::new();
    for name in Measurement::value_variants() {
        let is_wanted = match &arguments.only[..] {
            [] => !name.is_by_name(),
            only => only.contains(name),
        };
        if !is_wanted {
            continue;
        }
        let measured = name.measure(&arguments);
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
