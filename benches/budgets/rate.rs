//! Calls a second: one client that does not wait for answers, a wiki that answers at once.

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::calls;
use crate::client::{Client, at_once};
use crate::figure::{Budget, Figure, Unit};
use crate::instant::InstantWiki;
use crate::process::BINARY;
use crate::server::Server;
use crate::stats::median;
use crate::wiki::Wiki;

const ROUNDS: usize = 5;
const CALLS: u16 = 20_000;
/// How many calls the client has under way.
const WINDOW: usize = 64;
/// How many requests are under way at the wiki, through the server as without it.
const LANES: usize = 8;
/// The budget, and how many the wiki itself answered on the machine that it was set on: on a
/// slower one both answer fewer.
const LEAST: f64 = 10_000.0;
const WIKI_THERE: f64 = 64_000.0;
/// How many calls the processors' time is the mean of.
const WORKED: u16 = 12_000;

/// Measures the packaged build and, where it is given, the README's, which has to reach two thirds of it.
pub(crate) fn measure(readme: Option<&Path>) -> Vec<Figure> {
    let demo = Wiki::start();
    let wiki = InstantWiki::like(&demo);
    let packaged = Rates::of(Path::new(BINARY), &demo, &wiki);
    let least = LEAST * (packaged.own / WIKI_THERE).min(1.0);
    let two_thirds = packaged.through * 2.0 / 3.0;
    let mut figures = vec![packaged.figure("calls a second, pipelined", least)];
    if let Some(readme) = readme {
        let rates = Rates::of(readme, &demo, &wiki);
        figures.push(rates.figure("README's build: calls a second, pipelined", two_thirds));
        figures.push(work(
            "README's build: processors' time of a call",
            readme,
            &demo,
        ));
    }
    figures.insert(
        1,
        work("processors' time of a call", Path::new(BINARY), &demo),
    );
    figures
}

/// The time, of kernel and program, that processors work in the server for a call of `wikijs_list_tags`, many of
/// which are under way.
fn work(what: &'static str, binary: &Path, demo: &Wiki) -> Figure {
    let mut server = Server::start_of(binary, &demo.address(), demo.key(), &[]).ready();
    let mut tags = |count: u16| {
        let call = |id| calls::call(id, "wikijs_list_tags", &json!({}));
        server.pipeline(count.into(), WINDOW, call);
        server.worked()
    };
    let before = tags(WINDOW.try_into().unwrap_or(u16::MAX));
    let worked = (tags(WORKED) - before) / f64::from(WORKED);
    Figure::at_most(what, Unit::Milliseconds, worked, 0.130)
}

/// Calls a second through a build, and of the wiki itself: medians.
struct Rates {
    through: f64,
    own: f64,
}

impl Rates {
    fn of(binary: &Path, demo: &Wiki, wiki: &InstantWiki) -> Self {
        let (key, page) = (demo.key(), demo.page());
        let runtime = at_once();
        let direct = Client::new(wiki.address(), key, page);
        let mut server = Server::start_of(binary, wiki.address(), key, &[]).ready();
        let (mut through, mut own) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            through.push(rate(|| {
                server.pipeline(CALLS.into(), WINDOW, |id| calls::page(id, page));
            }));
            own.push(rate(|| {
                runtime.block_on(direct.ask_often(CALLS.into(), LANES));
            }));
        }
        Self {
            through: median(through),
            own: median(own),
        }
    }

    fn figure(&self, what: &'static str, least: f64) -> Figure {
        Figure {
            what,
            unit: Unit::PerSecond,
            measured: self.through,
            budget: Budget::AtLeast(least),
            wiki: Some(self.own),
        }
    }
}

fn rate(calls: impl FnOnce()) -> f64 {
    let began = Instant::now();
    calls();
    f64::from(CALLS) / began.elapsed().as_secs_f64()
}
