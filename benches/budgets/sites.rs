//! Four wikis on one server over HTTP, 100 clients on two of them: what their calls wait while the
//! third dies under calls, the fourth comes and goes, a key is replaced, and the settings file is
//! broken and mended.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use tempfile::TempDir;

use crate::calls;
use crate::client::{Client, at_once};
use crate::crowd::latencies;
use crate::figure::{Figure, Unit};
use crate::hosted::Hosted;
use crate::stats::{median, percentile};
use crate::wiki::Wiki;

/// How many clients each of the two sites has that nothing happens to.
const CLIENTS: usize = 50;
/// How many call the site that dies.
const CALLERS: usize = 10;
const ROUNDS: usize = 5;
/// How long one takes: longer than it takes a server to see changed settings.
const ROUND: Duration = Duration::from_secs(3);
/// How many times as long as before a call may take.
const MOST: f64 = 1.5;

pub(crate) fn measure() -> Vec<Figure> {
    let runtime = at_once();
    let (first, second, third, fourth) =
        (Wiki::start(), Wiki::start(), Wiki::start(), Wiki::start());
    let dir = TempDir::new().expect("a directory");
    let config = dir.path().join("config.toml");
    let key = dir.path().join("key");
    put(&key, second.key());
    let own_key = |wiki: &Wiki| format!("api_token = {:?}", wiki.key());
    let of_second = format!("api_token_file = \"{}\"", key.display());
    let tables = [
        site("second", &second.address(), &of_second),
        site("third", &third.address(), &own_key(&third)),
    ]
    .concat();
    let with = |more: &str| put(&config, &format!("{tables}{more}"));
    with("");
    let named = config.to_str().expect("UTF-8");
    let settings = [
        ("WIKI_CONFIG", named),
        ("WIKI_LOG", "off"),
        ("WIKI_HTTP_TIMEOUT_MS", "2000"),
    ];
    let server = Hosted::start(&first.address(), first.key(), &settings);
    let sessions = |place, count, page| {
        let ask = calls::page(1, page);
        runtime.block_on(server.sessions_at(place, count, &ask))
    };
    let mut clients = sessions("", CLIENTS, first.page());
    clients.extend(sessions("/second", CLIENTS, second.page()));
    let callers = sessions("/third", CALLERS, third.page());
    let is_over = Arc::new(AtomicBool::new(false));
    for caller in callers {
        let is_over = Arc::clone(&is_over);
        runtime.spawn(call_on(caller, is_over));
    }
    let round = || {
        let (began, mut times) = (Instant::now(), Vec::new());
        while began.elapsed() < ROUND {
            times.extend(runtime.block_on(latencies(&clients)));
        }
        percentile(times, 99)
    };
    round();
    let before: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    let of_fourth = site("fourth", &fourth.address(), &own_key(&fourth));
    let changed = [
        of_fourth.as_str(),
        "[sites.broken]\nbase_url = 7\n",
        "",
        of_fourth.as_str(),
        "",
    ];
    drop(third);
    let keys = [second.admin(), second.key()];
    let during: Vec<f64> = (0..ROUNDS)
        .map(|number| {
            with(changed.get(number).copied().unwrap_or_default());
            put(
                &key,
                keys.get(number % keys.len()).copied().unwrap_or_default(),
            );
            round()
        })
        .collect();
    is_over.store(true, Ordering::Relaxed);
    let (before, during) = (median(before), median(during));
    vec![
        Figure::at_most(
            "sites: p99 of 100 clients while others die and change",
            Unit::Milliseconds,
            during,
            before * MOST,
        )
        .beside(before),
    ]
}

/// Calls until it is over, whatever comes back.
async fn call_on(caller: Client, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        caller.try_ask(Method::POST).await;
    }
}

fn site(name: &str, address: &str, key: &str) -> String {
    format!("[sites.{name}]\nbase_url = {address:?}\n{key}\n")
}

/// Puts a file there in one step.
fn put(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).expect("a file");
    fs::set_permissions(&new, Permissions::from_mode(0o600)).expect("its rights");
    fs::rename(&new, path).expect("its place");
}
