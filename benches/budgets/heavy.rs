//! A wiki of 10,000 pages and 50 MB: how long the content index takes with default settings, what
//! of the wiki's time that takes, and how quick the server is then.
//!
//! A real Wiki.js that was filled by `examples/large_wiki` is measured where `HEAVY_WIKI_URL` is
//! its address and `HEAVY_WIKI_KEY` a key that may manage pages; else it is the embedded one.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use wikijs_gate::demo::{DemoOptions, DemoWiki};

use crate::client::{Client, one_by_one};
use crate::figure::{Figure, Unit};
use crate::pages;
use crate::process::Memory;
use crate::server::{Server, message};
use crate::stats::{median, megabytes, milliseconds};
use crate::watched::Watched;

const PAGES: usize = 10_000;
const TURNS: usize = 40;
/// What the server may take, of what the wiki itself takes for the same.
const RATIO: f64 = 1.5;
/// How often it is looked how far the index is.
const LOOK: Duration = Duration::from_millis(500);
/// Words of every kind: on few pages and on most, in each script, several, and beginnings.
const QUERIES: [&str; 8] = [
    "term00042",
    "backup restore",
    "datenbank",
    "会议记录",
    "東京",
    "deplo",
    "request",
    "zertifikat prüfung",
];

/// Where the pages are.
struct Large {
    address: String,
    key: String,
    /// The embedded wiki, where it is that.
    embedded: Option<(Runtime, DemoWiki)>,
}

impl Large {
    fn open() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place of the measurement that is told something so"
        )]
        let given = |name: &str| std::env::var(name).ok();
        if let (Some(address), Some(key)) = (given("HEAVY_WIKI_URL"), given("HEAVY_WIKI_KEY")) {
            return Self {
                address,
                key,
                embedded: None,
            };
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a thread");
        let wiki = runtime
            .block_on(DemoWiki::start(DemoOptions::empty()))
            .expect("the embedded wiki starts");
        // As in the real one: a search is of one locale unless it names another.
        pages::plant(&wiki, PAGES, Some("en"));
        Self {
            address: wiki.address(),
            key: wiki.keys().admin.clone(),
            embedded: Some((runtime, wiki)),
        }
    }
}

pub(crate) fn measure() -> Vec<Figure> {
    let wiki = Large::open();
    let watched = Watched::before(&wiki.address);
    let mut server = Server::start(&watched.address(), &wiki.key).ready();
    let mut figures = filled(&mut server, &watched);
    figures.push(Figure::at_most(
        "10,000 pages: warm search of content, median",
        Unit::Milliseconds,
        searches(&mut server),
        20.0,
    ));
    // What the index keeps up to date is not to help here.
    drop(server);
    let off = [("WIKI_INDEX", "off")];
    let mut server = Server::start_with(&wiki.address, &wiki.key, &off).ready();
    figures.extend(questions(&mut server, &wiki));
    figures
}

/// How long the index takes, and what it takes of the wiki and of the memory.
fn filled(server: &mut Server, watched: &Watched) -> Vec<Figure> {
    let (mut resident, mut anonymous) = (0, 0);
    let mut look = |server: &Server| {
        let Memory {
            resident: all,
            anonymous: own,
        } = server.memory();
        resident = resident.max(all);
        anonymous = anonymous.max(own);
    };
    let began = Instant::now();
    let mut first = None;
    loop {
        let answer = call(server, "wikijs_search_pages", &content("term00001"));
        first.get_or_insert_with(|| began.elapsed());
        look(server);
        // A complete index needs no word.
        if answer.pointer("/index/complete") != Some(&Value::Bool(false)) {
            break;
        }
        sleep(LOOK);
    }
    let ended = Instant::now();
    let took = ended - began;
    let busy = watched.busy_within(began, ended).as_secs_f64() / took.as_secs_f64();
    vec![
        Figure::at_most(
            "10,000 pages: until all are indexed",
            Unit::Seconds,
            took.as_secs_f64(),
            60.0,
        ),
        Figure::at_most(
            "10,000 pages: share of the wiki's time meanwhile",
            Unit::Percent,
            busy * 100.0,
            50.0,
        ),
        Figure::at_most(
            "10,000 pages: the first search",
            Unit::Seconds,
            first.unwrap_or_default().as_secs_f64(),
            11.0,
        ),
        Figure::at_most(
            "10,000 pages: resident memory, highest",
            Unit::Megabytes,
            megabytes(resident),
            96.0,
        ),
        Figure::at_most(
            "10,000 pages: anonymous memory, highest",
            Unit::Megabytes,
            megabytes(anonymous),
            80.0,
        ),
    ]
}

fn searches(server: &mut Server) -> f64 {
    let searches = (0..TURNS * QUERIES.len()).map(|turn| {
        let query = QUERIES.get(turn % QUERIES.len()).expect("one of them");
        let began = Instant::now();
        let found = call(server, "wikijs_search_pages", &content(query));
        let took = milliseconds(began.elapsed());
        let hits = found.pointer("/hits").and_then(Value::as_array);
        assert!(
            hits.is_some_and(|hits| !hits.is_empty()),
            "{query} was not found"
        );
        took
    });
    median(searches.collect())
}

/// What the server is asked, and what the wiki itself is asked for the same.
fn questions(server: &mut Server, wiki: &Large) -> Vec<Figure> {
    let listed = call(
        server,
        "wikijs_list_pages",
        &json!({ "limit": 100, "fields": ["title"] }),
    );
    let titles: Vec<(i64, String)> = listed
        .pointer("/pages")
        .and_then(Value::as_array)
        .expect("pages")
        .iter()
        .filter_map(|page| {
            let title = page.pointer("/title")?.as_str()?;
            Some((page.pointer("/id")?.as_i64()?, title.to_owned()))
        })
        .collect();
    let ask = |query: &str| Client::graphql(&wiki.address, &wiki.key, &json!({ "query": query }));
    let list = |arguments: &str| {
        let query = include_str!("../../graphql/page_list.graphql");
        let (_, fields) = query.rsplit_once(") {").expect("fields");
        ask(&format!("{{ pages {{ list({arguments}) {{{fields}"))
    };
    // A page has two tags and one row at least, and one page more tells whether there are more.
    let fifty = [list("limit: 153, orderBy: ID")];
    let tagged = [list("tags: [\"even3\"], orderBy: ID")];
    let tags = [ask("{ pages { tags { tag title } } }")];
    let counts = [ask("{ pages { tags { tag title } list { tags } } }")];
    let list_of = |arguments: Value| move |_: usize| ("wikijs_list_pages", arguments.clone());
    let compare = &mut |what,
                        limit,
                        call_of: &dyn Fn(usize) -> (&'static str, Value),
                        own: &dyn Fn(usize) -> Vec<Client>| {
        compared(server, what, limit, call_of, own)
    };
    let tagged_pages = list_of(json!({ "limit": 50, "tags": ["even3"] }));
    let of_title = |turn: usize| titles.get(turn % titles.len()).expect("a title").clone();
    let mut figures = vec![
        compare(
            "10,000 pages: a listing of 50, median",
            RATIO,
            &list_of(json!({ "limit": 50 })),
            &|_| fifty.to_vec(),
        ),
        compare(
            "10,000 pages: a listing by tag, median",
            RATIO,
            &tagged_pages,
            &|_| tagged.to_vec(),
        ),
        compare(
            "10,000 pages: tags and their counts, median; the wiki with counts",
            RATIO,
            &|_| ("wikijs_list_tags", json!({})),
            &|_| counts.to_vec(),
        ),
        compare(
            "10,000 pages: a page by its title, median",
            RATIO,
            &|turn| {
                let title = of_title(turn).1;
                let page = json!({ "path": title, "maxBytes": 256 });
                ("wikijs_get_page_by_path", page)
            },
            &|turn| {
                let (id, title) = of_title(turn);
                let title = json!(title);
                let search =
                    format!("{{ pages {{ search(query: {title}) {{ results {{ id }} }} }} }}");
                vec![ask(&search), Client::new(&wiki.address, &wiki.key, id)]
            },
        ),
    ];
    // That is less than the tool answers. A real wiki is no quicker with it; the embedded one, which has
    // its tags at hand, is.
    if wiki.embedded.is_none() {
        figures.push(compare(
            "10,000 pages: tags and their counts, median; the wiki without counts",
            RATIO,
            &|_| ("wikijs_list_tags", json!({})),
            &|_| tags.to_vec(),
        ));
    }
    figures
}

/// The median of a call and of what the wiki itself is asked for the same, turn by turn; the first
/// turn counts for neither.
fn compared(
    server: &mut Server,
    what: &'static str,
    ratio: f64,
    call_of: &dyn Fn(usize) -> (&'static str, Value),
    own: &dyn Fn(usize) -> Vec<Client>,
) -> Figure {
    let runtime = one_by_one();
    let (mut through, mut direct) = (Vec::new(), Vec::new());
    let warm = own(0);
    for turn in 0..=TURNS {
        let (tool, arguments) = call_of(turn);
        let began = Instant::now();
        call(server, tool, &arguments);
        through.push(milliseconds(began.elapsed()));
        // Connections that are open already, as the server's are.
        let clients = own(turn);
        let clients = clients
            .iter()
            .enumerate()
            .map(|(at, client)| match warm.get(at) {
                Some(open) => client.over(open),
                None => client.clone(),
            });
        let clients: Vec<Client> = clients.collect();
        let began = Instant::now();
        for client in &clients {
            runtime.block_on(client.ask());
        }
        direct.push(milliseconds(began.elapsed()));
    }
    let own = median(direct.split_off(1));
    Figure::at_most(
        what,
        Unit::Milliseconds,
        median(through.split_off(1)),
        own * ratio,
    )
    .beside(own)
}

fn content(query: &str) -> Value {
    json!({ "query": query, "in": "content" })
}

fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    server.send(&message(1, "tools/call", &params));
    let mut result = server.result();
    let answer = result.get_mut("structuredContent");
    answer.expect("a structured answer").take()
}
