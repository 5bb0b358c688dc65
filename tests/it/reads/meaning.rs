//! Search by meaning: what goes to the embeddings endpoint, what comes of it, and what holds where it is of no use.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use wikijs_gate::page::{Prefix, ReadRule};

use crate::prelude::*;

/// Words that mean the same, a line for each direction of the vectors.
const MEANINGS: [&[&str]; 4] = [
    &["holiday", "vacation", "leave"],
    &["car", "automobile", "vehicle"],
    &["invoice", "bill"],
    &["printer"],
];
const KEY: &str = "sesame-key";

/// How the endpoint answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// With vectors of so many numbers.
    Good(usize),
    /// Not at all.
    Silent,
    /// With this status.
    Status(u16),
    /// With one vector too few.
    TooFew,
    /// As to one text alone; of several, with a refusal.
    OneByOne,
    /// With vectors of different numbers.
    Mixed,
}

#[derive(Debug)]
struct Heard {
    way: Way,
    /// Each request: its model and texts, and its key.
    asked: Vec<(Value, String)>,
}

/// An endpoint that knows what some words mean.
struct Endpoint {
    address: String,
    heard: Arc<Mutex<Heard>>,
}

impl Endpoint {
    async fn start(way: Way) -> Self {
        let asked = Vec::new();
        let heard = Arc::new(Mutex::new(Heard { way, asked }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1/embeddings", listener.local_addr().unwrap());
        let routes = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&heard));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, heard }
    }

    /// A server that uses it.
    fn setup(&self, wiki: &DemoWiki) -> Setup {
        Setup::readonly(wiki)
            .indexed()
            .with("WIKI_EMBEDDINGS_URL", &self.address)
            .with("WIKI_EMBEDDINGS_MODEL", "m")
            .with_tables(&format!(
                "embeddings_key_command = [\"printf\", \"{KEY}\"]\n"
            ))
    }

    fn set(&self, way: Way) {
        self.heard.lock().way = way;
    }

    /// All texts that it got from servers with this model.
    fn texts(&self, model: &str) -> Vec<String> {
        let heard = self.heard.lock();
        let asked = heard
            .asked
            .iter()
            .filter(|(asked, _)| asked["model"] == model);
        let texts = asked.flat_map(|(asked, _)| asked["input"].as_array().unwrap());
        vec_of(texts.map(|text| text.as_str().unwrap().to_owned()))
    }
}

async fn answer(
    State(heard): State<Arc<Mutex<Heard>>>,
    headers: HeaderMap,
    body: String,
) -> (StatusCode, String) {
    let asked: Value = serde_json::from_str(&body).unwrap();
    let key = headers.get("authorization");
    let key = key.map_or("", |key| key.to_str().unwrap()).to_owned();
    let texts = asked["input"].as_array().unwrap().clone();
    let way = {
        let mut heard = heard.lock();
        heard.asked.push((asked, key));
        heard.way
    };
    let vector = |(at, text): (usize, &Value)| {
        let text = text.as_str().unwrap().to_lowercase();
        let numbers = match way {
            Way::Good(numbers) => numbers,
            Way::Mixed => 8 + at,
            _ => 8,
        };
        let mut vector = vec![0.01; numbers];
        for (number, words) in vector.iter_mut().zip(MEANINGS) {
            if words.iter().any(|word| text.contains(*word)) {
                *number = 1.0;
            }
        }
        json!({ "index": at, "embedding": vector })
    };
    let mut data: Vec<Value> = texts.iter().enumerate().map(vector).collect();
    match way {
        Way::Silent => std::future::pending().await,
        Way::Status(status) => {
            let told = json!({ "error": { "message": "sesame of the endpoint" } });
            return (StatusCode::from_u16(status).unwrap(), told.to_string());
        }
        Way::OneByOne if texts.len() > 1 => {
            return (StatusCode::BAD_REQUEST, json!({}).to_string());
        }
        Way::TooFew => drop(data.pop()),
        Way::Good(_) | Way::Mixed | Way::OneByOne => {}
    }
    // A client goes by the index, not by the order.
    data.reverse();
    (StatusCode::OK, json!({ "data": data }).to_string())
}

async fn sample() -> DemoWiki {
    wiki_of(&[
        (
            "hr/time-off",
            "# Rules\n\nEvery vacation is asked for in March. <!-- comment-text -->\n",
        ),
        (
            "fleet",
            "# Fleet\n\nThe automobile stands in the yard.\n\n## Wash\n\nWeekly.\n",
        ),
        (
            "office",
            "# Office\n\nThe printer is on floor two. Form 4711 orders toner.\n",
        ),
        ("secret/plan", "# Plan\n\nNo more vacation, hidden-text.\n"),
    ])
    .await
}

async fn search(served: &Served, query: &str) -> Value {
    let arguments = json!({ "query": query, "in": "content" });
    served.checked(SEARCH, arguments).await.unwrap()
}

/// Searches until all sections have their vectors.
async fn settled(served: &Served, query: &str) -> Value {
    let all = async {
        loop {
            let answer = search(served, query).await;
            if answer["meaning"].is_null() {
                return answer;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all)
        .await
        .unwrap()
}

/// Searches until the answer says why meaning is not used.
async fn refused(served: &Served, query: &str, why: &str) -> Value {
    let all = async {
        loop {
            let answer = search(served, query).await;
            let told = answer["meaning"].as_str().unwrap_or_default();
            if told.contains(why) {
                return answer;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all)
        .await
        .unwrap()
}

fn paths(answer: &Value) -> Vec<&str> {
    members(answer, "hits", "path")
}

#[tokio::test]
async fn a_page_is_found_by_what_it_means_and_only_what_readers_may_see_is_sent() {
    let wiki = sample().await;
    wiki.with_page(PageRow {
        tags: vec!["hr/pay".to_owned()],
        ..page("pay", "The holiday bonus, hidden-text.")
    });
    let bounded = |setup: Setup| {
        setup
            .with("WIKI_DENIED_READ_PATH_PREFIXES", "secret")
            .with("WIKI_DENIED_READ_TAGS", "hr/*")
    };
    let words = bounded(Setup::readonly(&wiki).indexed()).serve().await;
    assert_eq!(search(&words, "holiday").await["hits"], json!([]));
    let endpoint = Endpoint::start(Way::Good(8)).await;
    let served = bounded(endpoint.setup(&wiki)).serve().await;
    let answer = settled(&served, "holiday").await;
    assert_eq!(paths(&answer)[0], "hr/time-off");
    answer["hits"][0].shows(json!({
        "section": "heading:h1[0]",
        "snippet": "Every vacation is asked for in March.",
        "foundIn": ["meaning"],
    }));
    assert_eq!(answer["meaning"], Value::Null);
    // Exact words win, whatever is near.
    let answer = search(&served, "form 4711").await;
    assert_eq!(paths(&answer)[0], "office");
    assert_eq!(answer["hits"][0]["foundIn"], json!(["content", "meaning"]));
    let texts = endpoint.texts("m");
    assert!(
        texts.contains(&"Page fleet\nFleet\nThe automobile stands in the yard.".to_owned()),
        "{texts:?}"
    );
    for text in &texts {
        for hidden in ["hidden-text", "comment-text", "bonus", "Plan"] {
            assert!(!text.contains(hidden), "{text}");
        }
    }
    assert!(
        endpoint
            .heard
            .lock()
            .asked
            .iter()
            .all(|(_, key)| key == "Bearer sesame-key")
    );
    assert!(!format!("{:?}", served.app.index.settings).contains(KEY));
    // A page that is hidden from now on is found no more.
    let id = id_of(&wiki, "hr/time-off");
    wiki.with_store(|store| drop(store.remove(id)));
    served.app.index.outdated();
    assert!(!paths(&search(&served, "holiday").await).contains(&"hr/time-off"));
    // Of related pages it is a reason beside others.
    let of = json!({ "relatedTo": id_of(&wiki, "fleet") });
    let related = served.checked(SEARCH, of).await.unwrap();
    says(&related["hits"][0]["reasons"][0], "near in meaning");
}

#[tokio::test]
async fn an_endpoint_that_is_of_no_use_leaves_the_words_and_the_answer_says_so() {
    let wiki = sample().await;
    for (way, why) in [
        (Way::Status(500), "it answered 500"),
        (Way::Status(400), "it answered 400"),
        (Way::Status(302), "it answered 302"),
        (Way::TooFew, "another number of vectors"),
        (Way::Silent, "does not answer in time"),
    ] {
        let endpoint = Endpoint::start(way).await;
        let served = endpoint.setup(&wiki).serve().await;
        let answer = refused(&served, "printer", why).await;
        assert_eq!(paths(&answer), ["office"], "{way:?}");
        begins_alone(&answer);
    }
    let endpoint = Endpoint::start(Way::Mixed).await;
    let served = endpoint.setup(&wiki).serve().await;
    let answer = refused(&served, "printer", "different numbers of dimensions").await;
    assert_eq!(paths(&answer), ["office"]);
    // Nobody listens.
    let away = endpoint
        .setup(&wiki)
        .with("WIKI_EMBEDDINGS_URL", "http://127.0.0.1:1/v1/embeddings");
    let served = away.serve().await;
    let answer = refused(&served, "printer", "it cannot be reached").await;
    assert_eq!(paths(&answer), ["office"]);
    begins_alone(&answer);
}

fn begins_alone(answer: &Value) {
    let part = "Searched by words alone: the embeddings endpoint";
    says(&answer["meaning"], part);
    lacks(&answer["meaning"], "sesame");
    lacks(&answer["meaning"], "127.0.0.1");
}

#[tokio::test]
async fn vectors_of_another_length_are_never_compared() {
    let wiki = sample().await;
    let endpoint = Endpoint::start(Way::Good(8)).await;
    let served = endpoint.setup(&wiki).serve().await;
    settled(&served, "holiday").await;
    endpoint.set(Way::Good(6));
    let answer = refused(
        &served,
        "printer",
        "have 6 numbers, and those in the index 8",
    )
    .await;
    assert_eq!(paths(&answer), ["office"]);
}

/// A server whose index lies on the disk.
fn on_disk(endpoint: &Endpoint, wiki: &DemoWiki, dir: &TempDir) -> Setup {
    endpoint
        .setup(wiki)
        .with("WIKI_INDEX", "disk")
        .with("WIKI_INDEX_DIR", dir.path().to_str().unwrap())
}

#[tokio::test]
async fn each_model_has_vectors_of_its_own_which_a_restart_keeps() {
    let (wiki, dir) = (sample().await, TempDir::new().unwrap());
    let endpoint = Endpoint::start(Way::Good(8)).await;
    let server = |model| on_disk(&endpoint, &wiki, &dir).with("WIKI_EMBEDDINGS_MODEL", model);
    let first = server("m").serve().await;
    settled(&first, "holiday").await;
    let sections = endpoint.texts("m");
    let sections = sections.iter().filter(|text| *text != "holiday").count();
    assert_eq!(sections, 5);
    // Another model has other numbers, and both servers go on beside each other.
    endpoint.set(Way::Good(5));
    let second = server("n").serve().await;
    assert!(paths(&settled(&second, "holiday").await).contains(&"hr/time-off"));
    assert_eq!(
        endpoint
            .texts("n")
            .iter()
            .filter(|text| *text != "holiday")
            .count(),
        5
    );
    endpoint.set(Way::Good(8));
    assert!(paths(&settled(&first, "holiday").await).contains(&"hr/time-off"));
    drop((first, second));
    let again = server("m").serve().await;
    assert!(paths(&settled(&again, "holiday").await).contains(&"hr/time-off"));
    assert_eq!(
        endpoint
            .texts("m")
            .iter()
            .filter(|text| *text != "holiday")
            .count(),
        5
    );
}

#[tokio::test]
async fn so_many_texts_go_in_a_day_across_restarts() {
    let (wiki, dir) = (sample().await, TempDir::new().unwrap());
    let endpoint = Endpoint::start(Way::Good(8)).await;
    let setup = || on_disk(&endpoint, &wiki, &dir).with("WIKI_EMBEDDINGS_PER_DAY", "3");
    for _ in 0..2 {
        let served = setup().serve().await;
        let answer = refused(&served, "printer", "Searched by words alone: the 3 texts").await;
        assert_eq!(paths(&answer), ["office"]);
        assert!(endpoint.texts("m").len() <= 3);
    }
}

#[tokio::test]
async fn what_is_left_of_a_day_goes_to_sections_and_the_answer_says_why_others_lack_theirs() {
    let wiki = sample().await;
    let endpoint = Endpoint::start(Way::Good(8)).await;
    // Of five sections four: a whole batch is more than that.
    let setup = endpoint.setup(&wiki).with("WIKI_EMBEDDINGS_PER_DAY", "5");
    let served = setup.with("WIKI_INDEX", "memory").serve().await;
    refused(&served, "printer", "texts of this day are used up").await;
    let asked = endpoint.texts("m").into_iter();
    assert!(asked.filter(|text| text != "printer").count() > 0);
}

#[tokio::test]
async fn what_was_given_text_by_text_before_the_day_ran_out_is_not_asked_for_again() {
    let (wiki, dir) = (sample().await, TempDir::new().unwrap());
    let endpoint = Endpoint::start(Way::OneByOne).await;
    let of_a_day = |texts| on_disk(&endpoint, &wiki, &dir).with("WIKI_EMBEDDINGS_PER_DAY", texts);
    // Five are refused together, and some of them then given.
    let served = of_a_day("9").serve().await;
    refused(&served, "printer", "texts of this day are used up").await;
    drop(served);
    let served = of_a_day("100").serve().await;
    settled(&served, "printer").await;
    let heard = endpoint.heard.lock();
    let inputs = { heard.asked.iter() }.map(|(asked, _)| asked["input"].as_array().unwrap());
    let alone = inputs.filter(|texts| texts.len() == 1 && texts[0] != "printer");
    let mut alone = vec_of(alone.map(|texts| texts[0].to_string()));
    assert_eq!(alone.len(), 5, "{alone:?}");
    alone.sort();
    alone.dedup();
    assert_eq!(alone.len(), 5, "{alone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_sections_have_no_vectors_is_logged_once_while_it_lasts() {
    let (wiki, dir) = (sample().await, TempDir::new().unwrap());
    let endpoint = Endpoint::start(Way::Good(8)).await;
    let (address, key) = (wiki.address(), wiki.keys().admin.clone());
    let run = tokio::task::spawn_blocking(move || {
        let more = [
            ("WIKI_EMBEDDINGS_URL", &*endpoint.address),
            ("WIKI_EMBEDDINGS_MODEL", "m"),
            ("WIKI_EMBEDDINGS_PER_DAY", "1"),
        ];
        let mut program = Program::writing(&address, &key, dir.path(), &more);
        let search = json!({ "query": "printer" });
        program.call(SEARCH, &search);
        // Before it, no page may be indexed yet.
        program.logged("are not found by meaning yet: the 1 texts of this day are used up");
        for _ in 0..20 {
            program.call(SEARCH, &search);
        }
        let again = program.stopped().stderr;
        let again = again.iter().filter(|line| line.contains("by meaning yet"));
        assert_eq!(again.count(), 0);
    });
    run.await.unwrap();
}

#[tokio::test]
async fn a_narrower_client_finds_by_meaning_only_what_it_may_read() {
    let wiki = sample().await;
    let endpoint = Endpoint::start(Way::Good(8)).await;
    let served = endpoint.setup(&wiki).serve().await;
    assert!(paths(&settled(&served, "holiday").await).contains(&"secret/plan"));
    let asked = endpoint.texts("m").len();
    let hr = vec![Prefix::parse("hr").unwrap()];
    let narrower = served.app.within(&ReadRule::new(Some(hr), Vec::new(), &[]));
    narrower.index.ready(|_, _| {}).await.unwrap();
    let near = narrower.index.near("holiday", |_, _| true, 10).await;
    let near = near.unwrap();
    let found = vec_of(near.pages.iter().map(|near| near.page.path.as_str()));
    assert_eq!(found, ["hr/time-off"]);
    // The sections were sent once.
    assert_eq!(endpoint.texts("m").len(), asked + 1);
    // What another key may read of a page is not known.
    let other = served.app.for_key(wikijs_gate::wiki::ApiKey::new(
        wiki.keys().reader.clone().into(),
    ));
    let other = other.unwrap();
    other.index.ready(|_, _| {}).await.unwrap();
    let told = other.index.near("holiday", |_, _| true, 10).await;
    says(&told.unwrap_err(), "the server's own key alone");
}
