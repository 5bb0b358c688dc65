//! What a key is taken for by the wiki: every answer to one that is none says so, whatever the
//! tool, and so do `/readyz` and the metrics.

use rmcp::model::ReadResourceRequestParams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wikijs_gate::error::Failure;
use wikijs_gate::server::http::HttpLimits;
use wikijs_gate::tools::{Registry, Tool, ToolContext, ToolKind, Toolset};

use crate::prelude::*;

const GUEST: &str = "The wiki treats this key as a guest's: ";

/// Every read tool, with arguments that a guest is answered.
fn reads(id: i64) -> Vec<(&'static str, Value)> {
    vec![
        (SEARCH, json!({ "query": "install" })),
        (LIST, json!({ "limit": 5 })),
        (BY_PATH, json!({ "path": "releases/2-4", "view": "text" })),
        (BY_ID, json!({ "id": id })),
        (BY_ID, json!({ "ids": [id, id] })),
        (TREE, json!({ "path": "docs" })),
        (TAGS, json!({})),
    ]
}

/// How often the wiki was asked whose key it is.
fn questions(wiki: &DemoWiki) -> usize {
    let seen = wiki.requests();
    let is_question = |seen: &&SeenRequest| seen.fields == ["users.profile"];
    seen.iter().filter(is_question).count()
}

#[tokio::test]
async fn every_answer_to_a_key_that_is_none_begins_with_saying_so() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "releases/2-4");
    for (key, why) in [
        ("garbage".to_owned(), "it does not know the key."),
        ("e30.e30.forged".to_owned(), "it does not know the key."),
        (wiki.expired_key(), "it expired at "),
    ] {
        let served = Setup::at(&wiki.address(), &key).serve().await;
        for (tool, arguments) in reads(id) {
            let Ok(answer) = served.call(tool, arguments).await else {
                // What is refused to guests says so by its code.
                assert!(why.starts_with("it expired"), "{tool}");
                continue;
            };
            let (first, hint) = answer.as_object().unwrap().iter().next().unwrap();
            assert_eq!(first, "hint", "{tool}");
            let hint = hint.as_str().unwrap();
            assert!(hint.starts_with(&format!("{GUEST}{why}")), "{hint}");
        }
        let missing = json!({ "path": "no/such/page" });
        let error = served.call(BY_PATH, missing).await;
        let error = error.unwrap_err();
        let told = error["hint"].as_str().unwrap();
        assert!(
            error["code"] == "KEY_REJECTED" || told.starts_with(GUEST),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_good_key_is_asked_about_once_and_its_answers_say_nothing() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "releases/2-4");
    let served = Setup::reader(&wiki).serve().await;
    for _ in 0..3 {
        for (tool, arguments) in reads(id) {
            let answer = served.call(tool, arguments).await.unwrap();
            let told = answer["hint"].as_str().unwrap_or_default();
            assert!(!told.contains("guest"), "{tool}: {told}");
        }
    }
    assert_eq!(questions(&wiki), 1);
    wiki.clear_requests();
    served.call(TAGS, json!({})).await.unwrap();
    assert_eq!(questions(&wiki), 0);
    assert!(!wiki.requests().is_empty());
}

#[tokio::test]
async fn calls_at_once_ask_whose_key_it_is_once() {
    let (wiki, served) = sample(|wiki| Setup::at(&wiki.address(), "garbage")).await;
    let calls = (0..20).map(|_| served.call(TAGS, json!({})));
    for answer in futures_util::future::join_all(calls).await {
        assert!(answer.unwrap()["hint"].as_str().unwrap().starts_with(GUEST));
    }
    assert_eq!(questions(&wiki), 1);
}

/// A tool that knows nothing of keys.
struct Later;

#[derive(Debug, Deserialize, JsonSchema, garde::Validate)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Debug, Serialize, JsonSchema)]
struct Answer {
    number: i64,
}

impl Tool for Later {
    const NAME: &'static str = "wikijs_later";
    const DESCRIPTION: &'static str = "A tool that was written after all others.";
    const ANSWER: &'static str = "{}";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Nothing;
    type Output = Answer;

    async fn run(_context: ToolContext, _input: Nothing) -> Result<Answer, Failure> {
        Ok(Answer { number: 7 })
    }
}

#[tokio::test]
async fn a_tool_of_later_says_it_as_well() {
    let (_wiki, served) = sample(|wiki| Setup::at(&wiki.address(), "garbage")).await;
    let mut registry = Registry::default();
    registry.add::<Later>(Toolset::Pages).unwrap();
    served.app.offer(registry);
    let answer = served.call("wikijs_later", json!({})).await.unwrap();
    assert_eq!(answer["number"], 7);
    begins(&answer["hint"], GUEST);
}

#[tokio::test]
async fn resources_say_it_beside_what_they_hold() {
    let wiki = sample_wiki().await;
    for (key, is_said) in [("garbage", true), (wiki.keys().readonly.as_str(), false)] {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let listed = served.client.list_resources(None).await.unwrap();
        let listed = serde_json::to_value(listed).unwrap();
        let told = listed["_meta"]["hint"].as_str().unwrap_or_default();
        assert_eq!(told.starts_with(GUEST), is_said, "{told}");
        if !is_said {
            let page = ReadResourceRequestParams::new("wikijs://en/docs");
            let page = served.client.read_resource(page).await.unwrap();
            assert!(
                serde_json::to_value(page).unwrap()["_meta"]
                    .get("hint")
                    .is_none()
            );
        }
    }
}

#[tokio::test]
async fn a_key_that_has_just_expired_is_rejected_by_every_tool() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "releases/2-4");
    let served = Setup::at(&wiki.address(), &wiki.just_expired_key())
        .serve()
        .await;
    let mut calls = reads(id);
    calls.retain(|(_, arguments)| arguments.get("ids").is_none());
    calls.push((HISTORY, json!({ "id": id })));
    calls.push((
        CREATE,
        json!({ "path": "docs/new", "title": "t", "content": "c" }),
    ));
    calls.push((UPDATE, json!({ "id": id, "title": "t" })));
    calls.push((DELETE, json!({ "id": id })));
    for (tool, arguments) in calls {
        let error = fails(&served, tool, arguments, "KEY_REJECTED").await;
        assert!(error["details"]["expiredAt"].is_string(), "{tool}: {error}");
    }
}

#[tokio::test]
async fn a_wiki_that_does_not_say_whose_key_it_is_is_not_asked_by_each_call() {
    let (wiki, served) =
        sample(|wiki| Setup::readonly(wiki).with("WIKI_HTTP_MAX_RETRIES", "0")).await;
    let tags = async |served: &Served| served.call(TAGS, json!({})).await;
    wiki.set_api_disabled(true);
    for _ in 0..3 {
        assert_eq!(tags(&served).await.unwrap_err()["code"], "API_DISABLED");
    }
    wiki.set_api_disabled(false);
    // What refused every request is over as soon as one is answered.
    assert!(tags(&served).await.unwrap().get("hint").is_none());
    assert_eq!(questions(&wiki), 1);
}

/// `/readyz` asked as if nothing had been heard of the wiki for a while.
async fn hosted(setup: Setup) -> Hosted {
    let limits = HttpLimits {
        reached: Duration::ZERO,
        asked: Duration::from_secs(5),
        ..LIMITS()
    };
    setup.host_within(limits).await
}

async fn ready(server: &Hosted) -> Value {
    let answer = server.get("/readyz").await;
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer.status == 200, body["ready"] == true);
    body
}

async fn standing(server: &Hosted) -> String {
    let metrics = server.get("/metrics").await.body;
    let line = metrics
        .lines()
        .find(|line| line.starts_with("wikijs_gate_key_standing") && line.ends_with(" 1"));
    let (_, label) = line.unwrap().split_once('"').unwrap();
    label.split_once('"').unwrap().0.to_owned()
}

#[tokio::test]
async fn readiness_and_metrics_say_what_is_wrong_with_the_key() {
    let wiki = sample_wiki().await;
    let day = Duration::from_hours(24);
    for (key, told, word) in [
        (wiki.key_for(day), "ok", "good"),
        (
            "garbage".to_owned(),
            "the wiki does not know this key",
            "guest",
        ),
        (wiki.expired_key(), "the key expired at ", "expired"),
        (wiki.just_expired_key(), "the key expired at ", "expired"),
        (
            wiki.keys().revoked.clone(),
            "the wiki says that the key is invalid or was revoked",
            "revoked",
        ),
    ] {
        let server = hosted(Setup::at(&wiki.address(), &key)).await;
        // Whoever asks for the metrics has the wiki asked.
        assert_eq!(standing(&server).await, word);
        let body = ready(&server).await;
        let seen = body["checks"]["wiki"].as_str().unwrap();
        assert!(seen.starts_with(told), "{word}: {seen}");
        assert_eq!(standing(&server).await, word);
    }
    let server = hosted(Setup::at(&wiki.address(), &wiki.key_for(day))).await;
    assert_eq!(ready(&server).await["key"]["expiresIn"], "23 hours");
    let metrics = server.get("/metrics").await.body;
    let left = metrics
        .lines()
        .find_map(|line| line.strip_prefix("wikijs_gate_key_days_left "));
    let left: f64 = left.unwrap().parse().unwrap();
    assert!((0.99..=1.0).contains(&left), "{left}");
    wiki.set_api_disabled(true);
    let off = "API access is switched off in the wiki";
    assert_eq!(ready(&server).await["checks"]["wiki"], off);
    assert_eq!(standing(&server).await, "api_disabled");
    wiki.set_api_disabled(false);
    assert_eq!(ready(&server).await["ready"], true);
}

#[tokio::test]
async fn a_wiki_that_failed_to_answer_a_call_is_not_taken_for_reached() {
    let wiki = sample_wiki().await;
    let setup = Setup::readonly(&wiki).with("WIKI_HTTP_MAX_RETRIES", "0");
    let server = setup.host().await;
    assert_eq!(ready(&server).await["ready"], true);
    wiki.shutdown().await;
    let nobody = Caller::default();
    let tags = server.call(&nobody, TAGS, json!({}));
    assert_eq!(tags.await.unwrap_err()["code"], "WIKI_UNAVAILABLE");
    let gone = "it does not answer: no connection to the wiki could be opened";
    assert_eq!(ready(&server).await["checks"]["wiki"], gone);
}
