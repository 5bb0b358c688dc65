//! Clients are told when a page changes, moves or is gone; nobody is asked while none subscribed.
#![expect(deprecated, reason = "protocols up to 2025-11-25 subscribe so")]

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ProtocolVersion, ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, Peer, RoleClient, RunningService,
    ServiceError, Subscription,
};
use rmcp::transport::StreamableHttpClientTransport;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use wikijs_gate::server::{Handler, Sites};

use crate::prelude::*;

const HOME: &str = "wikijs://en/home";
const DOCS: &str = "wikijs://en/docs";

/// A client that passes on which addresses it is told of.
#[derive(Debug, Clone)]
pub(crate) struct Listening(pub(crate) UnboundedSender<String>);

impl ClientHandler for Listening {
    async fn on_resource_updated(
        &self,
        told: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(told.uri);
    }
}

async fn listening(setup: Setup) -> (Served<Listening>, UnboundedReceiver<String>) {
    let (told, heard) = unbounded_channel();
    let served = setup
        .serve_to(Listening(told), ClientLifecycleMode::Initialize)
        .await;
    (served, heard)
}

pub(crate) async fn subscribe(client: &Peer<RoleClient>, uri: &str) -> Result<(), ServiceError> {
    client.subscribe(SubscribeRequestParams::new(uri)).await
}

async fn unsubscribe(client: &Peer<RoleClient>, uri: &str) {
    let request = UnsubscribeRequestParams::new(uri);
    client.unsubscribe(request).await.unwrap();
}

pub(crate) async fn next(heard: &mut UnboundedReceiver<String>) -> String {
    let told = tokio::time::timeout(Duration::from_secs(20), heard.recv());
    told.await.unwrap().unwrap()
}

pub(crate) fn rewrite(wiki: &DemoWiki, path: &str) {
    let id = id_of(wiki, path);
    wiki.with_store(|store| store.rewrite(id, |page| page.content.push_str("more\n")));
}

/// Waits until the wiki was asked so many times.
async fn asked(wiki: &DemoWiki, times: usize) {
    let enough = async {
        while wiki.requests().len() < times {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), enough).await;
    in_time.unwrap();
}

#[tokio::test]
async fn a_session_is_told_of_the_pages_that_it_subscribed_to_alone() {
    let wiki = sample_wiki().await;
    let (served, mut heard) = listening(Setup::reader(&wiki)).await;
    subscribe(&served.client, HOME).await.unwrap();
    rewrite(&wiki, "docs");
    rewrite(&wiki, "home");
    assert_eq!(next(&mut heard).await, HOME);
    subscribe(&served.client, DOCS).await.unwrap();
    unsubscribe(&served.client, HOME).await;
    rewrite(&wiki, "home");
    rewrite(&wiki, "docs");
    assert_eq!(next(&mut heard).await, DOCS);
    // As often as it changes.
    rewrite(&wiki, "docs");
    assert_eq!(next(&mut heard).await, DOCS);
    assert!(heard.is_empty());
}

#[tokio::test]
async fn a_page_is_one_subscription_however_its_address_is_spelled() {
    let wiki = sample_wiki().await;
    let mut setup = Setup::reader(&wiki);
    setup.watch.most_of_session = 2;
    let (served, mut heard) = listening(setup).await;
    let spelled = [
        "wikijs://en/%64ocs",
        "wikijs://en/docs#a",
        "wikijs://en/docs?b",
    ];
    for uri in [DOCS].iter().chain(&spelled) {
        subscribe(&served.client, uri).await.unwrap();
    }
    // They take one place of two.
    subscribe(&served.client, HOME).await.unwrap();
    rewrite(&wiki, "docs");
    assert_eq!(next(&mut heard).await, DOCS);
    rewrite(&wiki, "home");
    assert_eq!(next(&mut heard).await, HOME);
    // It ends under any of its spellings.
    unsubscribe(&served.client, spelled[0]).await;
    rewrite(&wiki, "docs");
    rewrite(&wiki, "home");
    assert_eq!(next(&mut heard).await, HOME);
    assert!(heard.is_empty());
}

#[tokio::test]
async fn a_page_that_is_moved_away_or_gone_is_told_and_told_again_when_it_is_back() {
    let wiki = sample_wiki().await;
    let (served, mut heard) = listening(Setup::reader(&wiki)).await;
    for uri in [HOME, DOCS] {
        subscribe(&served.client, uri).await.unwrap();
    }
    let gone = wiki.with_store(|store| {
        let id = store.page_at("en", "home").unwrap().id;
        store.remove(id).unwrap()
    });
    assert_eq!(next(&mut heard).await, HOME);
    wiki.with_store(|store| {
        let id = store.page_at("en", "docs").unwrap().id;
        store.rewrite(id, |page| "elsewhere".clone_into(&mut page.path));
    });
    assert_eq!(next(&mut heard).await, DOCS);
    wiki.with_store(|store| store.add(PageRow { id: 0, ..gone }));
    assert_eq!(next(&mut heard).await, HOME);
    assert!(heard.is_empty());
}

#[tokio::test]
async fn nothing_is_asked_of_the_wiki_before_or_after_anybody_is_subscribed() {
    let wiki = sample_wiki().await;
    let (served, _heard) = listening(Setup::reader(&wiki)).await;
    assert!(served.app.watch.is_idle());
    wiki.clear_requests();
    subscribe(&served.client, HOME).await.unwrap();
    asked(&wiki, 5).await;
    let seen = wiki.requests();
    assert!(seen.iter().all(|seen| seen.fields == ["pages.list"]));
    unsubscribe(&served.client, HOME).await;
    let idle = async {
        while !served.app.watch.is_idle() {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), idle).await;
    in_time.unwrap();
}

#[tokio::test]
async fn all_sessions_of_one_key_are_served_by_one_look() {
    let wiki = sample_wiki().await;
    let mut setup = Setup::reader(&wiki);
    setup.watch.apart = Duration::from_hours(1);
    let (app, _, _dir) = setup.app();
    let mut clients = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let handler = Handler::alone(Sites::only(Arc::clone(&app)), SessionId::new(name));
        tokio::spawn(async move { serve_server(handler, theirs).await.unwrap().waiting().await });
        let (told, heard) = unbounded_channel();
        let client = Listening(told)
            .serve_with_lifecycle(ours, ClientLifecycleMode::Initialize)
            .await
            .unwrap();
        subscribe(&client, HOME).await.unwrap();
        clients.push((client, heard));
    }
    rewrite(&wiki, "home");
    wiki.clear_requests();
    // As if something had been written: the next look is an hour away.
    app.watch.written();
    for (_, heard) in &mut clients {
        assert_eq!(next(heard).await, HOME);
    }
    assert_eq!(wiki.requests().len(), 1);
}

#[tokio::test]
async fn over_http_a_session_is_told_on_its_stream() {
    let wiki = sample_wiki().await;
    let server = Setup::reader(&wiki).host().await;
    let (client, mut heard) = over_http(&server).await;
    subscribe(&client, HOME).await.unwrap();
    rewrite(&wiki, "home");
    assert_eq!(next(&mut heard).await, HOME);
}

async fn over_http(
    server: &Hosted,
) -> (
    RunningService<RoleClient, Listening>,
    UnboundedReceiver<String>,
) {
    let (told, heard) = unbounded_channel();
    let address = format!("http://{}/mcp", server.address);
    let transport = StreamableHttpClientTransport::from_uri(address);
    let client = Listening(told)
        .serve_with_lifecycle(transport, ClientLifecycleMode::Initialize)
        .await
        .unwrap();
    (client, heard)
}

#[tokio::test]
async fn a_write_through_this_server_is_told_long_before_the_next_look() {
    let wiki = sample_wiki().await;
    let mut setup = Setup::editor(&wiki);
    setup.watch = WATCHFUL.but(|pace| pace.apart = Duration::from_hours(1));
    let (served, mut heard) = listening(setup).await;
    subscribe(&served.client, HOME).await.unwrap();
    let change = json!({ "id": id_of(&wiki, "home"), "title": "Home again" });
    served.confirmed(UPDATE, change).await.unwrap();
    assert_eq!(next(&mut heard).await, HOME);
}

#[tokio::test]
async fn subscriptions_end_with_their_session() {
    let wiki = sample_wiki().await;
    let setup = Setup::reader(&wiki);
    let (served, _heard) = listening(setup).await;
    subscribe(&served.client, HOME).await.unwrap();
    let app = served.app;
    assert_eq!(app.watch.pages(), 1);
    served.client.cancel().await.unwrap();
    let ended = async {
        while app.watch.pages() > 0 {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), ended).await;
    in_time.unwrap();
}

#[tokio::test]
async fn what_cannot_be_subscribed_to_is_refused() {
    let wiki = sample_wiki().await;
    let mut setup = Setup::reader(&wiki);
    setup.watch.most_of_session = 2;
    let (served, _heard) = listening(setup).await;
    for uri in [
        "wikijs://en/none",
        "wikijs://status",
        "https://example.org/",
    ] {
        let refused = subscribe(&served.client, uri).await.unwrap_err();
        let ServiceError::McpError(error) = refused else {
            panic!("{refused}")
        };
        assert_eq!(error.code.0, -32_002, "{uri}");
    }
    for uri in [HOME, DOCS, HOME] {
        subscribe(&served.client, uri).await.unwrap();
    }
    let full = subscribe(&served.client, "wikijs://de/docs").await;
    assert!(full.unwrap_err().to_string().contains("unsubscribe"));
    unsubscribe(&served.client, DOCS).await;
    subscribe(&served.client, "wikijs://en/docs/configuration")
        .await
        .unwrap();
}

#[tokio::test]
async fn no_owner_can_subscribe_to_more_than_its_share_in_all_its_sessions() {
    let (wiki, names) = (sample_wiki().await, Names::new());
    let own = names.add("own", wikijs_gate::server::http::Grant::default());
    let mut setup = Setup::reader(&wiki).naming(&names);
    setup.watch.most_of_owner = 1;
    let server = setup.host().await;
    let message = |uri: &str| {
        json!({ "jsonrpc": "2.0", "id": 7, "method": "resources/subscribe",
        "params": { "uri": uri } })
    };
    let (one, other) = (server.open(&own).await, server.open(&own).await);
    let first = server.post(&one, &message(HOME)).await.message();
    assert!(first.get("error").is_none(), "{first}");
    let second = server.post(&other, &message(DOCS)).await.message();
    assert_eq!(second["error"]["code"], -32_600, "{second}");
    // Nobody can be told without a session.
    let refused = server.post(&own, &message(HOME)).await.message();
    assert_eq!(refused["error"]["code"], -32_600, "{refused}");
    // The place is free when the session has ended.
    assert!(server.send("DELETE", "/mcp", &one, "").await.status < 300);
    loop {
        let second = server.post(&other, &message(DOCS)).await.message();
        if second.get("error").is_none() {
            break;
        }
    }
}

pub(crate) const MODERN: fn() -> ClientLifecycleMode = || ClientLifecycleMode::Discover {
    preferred_versions: vec![ProtocolVersion::V_2026_07_28],
};

async fn told(subscription: &mut Subscription) -> String {
    let next = tokio::time::timeout(Duration::from_secs(20), subscription.next());
    match next.await.unwrap().unwrap().unwrap() {
        ServerNotification::ResourceUpdatedNotification(told) => told.params.uri,
        other => panic!("{other:?}"),
    }
}

fn filter(uris: &[&str]) -> SubscriptionFilter {
    SubscriptionFilter::builder()
        .resource_subscriptions(uris.iter().copied())
        .build()
}

#[tokio::test]
async fn from_2026_07_28_on_one_request_listens_for_all_its_addresses() {
    let wiki = sample_wiki().await;
    let setup = Setup::reader(&wiki);
    let served = setup.serve_to((), MODERN()).await;
    check_listening(&wiki, &served.client).await;
    let ended = async {
        while served.app.watch.pages() > 0 {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), ended).await;
    in_time.unwrap();
}

#[tokio::test]
async fn over_http_such_a_request_is_told_in_its_own_answer() {
    let wiki = sample_wiki().await;
    let server = Setup::reader(&wiki).host().await;
    let address = format!("http://{}/mcp", server.address);
    let transport = StreamableHttpClientTransport::from_uri(address);
    let client = ().serve_with_lifecycle(transport, MODERN()).await.unwrap();
    check_listening(&wiki, &client).await;
}

async fn check_listening(wiki: &DemoWiki, client: &Peer<RoleClient>) {
    let wanted = filter(&[HOME, DOCS, "wikijs://guide", "https://example.org/"]);
    let mut subscription = client.listen(wanted).await.unwrap();
    let acknowledged = subscription.acknowledged().resource_subscriptions.clone();
    assert_eq!(acknowledged.unwrap(), [HOME, DOCS]);
    rewrite(wiki, "home");
    assert_eq!(told(&mut subscription).await, HOME);
    rewrite(wiki, "docs");
    assert_eq!(told(&mut subscription).await, DOCS);
    subscription.cancel().await.unwrap();
}

#[tokio::test]
async fn a_page_that_is_gone_already_is_told_at_once_to_a_request_that_listens() {
    let wiki = sample_wiki().await;
    let setup = Setup::reader(&wiki);
    let served = setup.serve_to((), MODERN()).await;
    let wanted = filter(&["wikijs://en/none", HOME]);
    let mut subscription = served.client.listen(wanted).await.unwrap();
    assert_eq!(told(&mut subscription).await, "wikijs://en/none");
    rewrite(&wiki, "home");
    assert_eq!(told(&mut subscription).await, HOME);
}

#[tokio::test]
async fn a_server_ends_at_once_though_somebody_listens() {
    let wiki = sample_wiki().await;
    let server = Setup::reader(&wiki).host().await;
    let address = format!("http://{}/mcp", server.address);
    let transport = StreamableHttpClientTransport::from_uri(address);
    let client = ().serve_with_lifecycle(transport, MODERN()).await.unwrap();
    let _listening = client.listen(filter(&[HOME])).await.unwrap();
    server.stop.cancel();
    // Much less than calls under way are given.
    let ended = tokio::time::timeout(Duration::from_secs(8), server.ended).await;
    ended.unwrap().unwrap();
}

#[tokio::test]
async fn requests_that_listen_leave_room_for_others() {
    let wiki = sample_wiki().await;
    let setup = Setup::reader(&wiki);
    let served = setup.serve_to((), MODERN()).await;
    let mut listening = Vec::new();
    for _ in 0..8 {
        listening.push(served.client.listen(filter(&[HOME])).await.unwrap());
    }
    let mut more = served.client.listen(filter(&[HOME])).await.unwrap();
    assert!(more.next().await.is_err());
    served.call(TAGS, json!({})).await.unwrap();
    drop(listening);
}
