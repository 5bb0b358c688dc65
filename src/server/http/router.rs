//! The routes of a server, and the layers that a request to the protocol passes.

use std::future::{Ready, ready};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{MapRequestLayer, from_fn_with_state, map_request, map_request_with_state};
use axum::response::Response;
use axum::routing::{any, get};

use super::super::metrics::{self, ServerMetrics};
use super::body::BodyLimits;
use super::caller::Callers;
use super::health::{self, Readiness};
use super::mcp::{self, Mcp};
use super::page_host::{self, PageHost};
use super::refusal::{HttpRefusal, respond};
use super::resource::{self, METADATA};
use super::reviewers::Reviewers;
use super::state::HttpState;
use super::{body, caller, concurrency, origin, rate, refusal, sessions, token};
use crate::audit::Role;
use crate::review::{self, ReviewOrigin, Reviews};

/// The routes of a server.
///
/// # Errors
/// If the system gives no random numbers.
pub(super) fn router(state: &Arc<HttpState>, mcp: Mcp) -> Result<Router, getrandom::Error> {
    let readiness = (Arc::clone(state), Arc::new(Readiness::default()));
    let metrics = get(tell_metrics).with_state(readiness.clone());
    let page = review_page(state)?;
    let text = match &page {
        Some(_) => "there is nothing here; MCP is at /mcp, and people decide at /review\n",
        None => "there is nothing here; MCP is at /mcp\n",
    };
    let about_resource = get(resource::metadata).options(resource::metadata);
    let routes = Router::new()
        .route("/healthz", get(async || health::alive()))
        .route("/readyz", get(readyz).with_state(readiness))
        .route("/metrics", metrics)
        .route(METADATA, about_resource.clone())
        .route(&format!("{METADATA}/mcp"), about_resource.clone())
        .route(&format!("{METADATA}/mcp/{{site}}"), about_resource)
        .with_state(Arc::clone(state))
        .merge(protocol(state, mcp))
        .fallback(async move || nothing_here(text));
    Ok(match page {
        Some(page) => routes.merge(page),
        None => routes,
    })
}

/// The protocol, and the layers that a request to it passes, from top to bottom.
fn protocol(state: &Arc<HttpState>, mcp: Mcp) -> Router {
    let callers = Arc::new(Callers::new(Arc::clone(state)));
    let bodies = Arc::new(BodyLimits::new(&state.limits));
    let layers = (
        from_fn_with_state(Arc::clone(state), refusal::count),
        from_fn_with_state(Arc::clone(state), resource::challenge),
        check(state, origin::host),
        from_fn_with_state(Arc::clone(state), origin::origin),
        check(&bodies, body::length),
        map_request_with_state(callers, caller::client),
        check(&Arc::default(), rate::rate),
        map_request_with_state(Arc::clone(&mcp.sessions), sessions::session),
        check(&mcp.places, concurrency::concurrency),
        map_request_with_state(bodies, body::body),
    );
    Router::new()
        .route("/mcp", any(mcp::answer))
        .route("/mcp/{site}", any(mcp::answer))
        .with_state(Arc::new(mcp))
        .route_layer(layers)
}

type Checked = Result<Request, HttpRefusal>;

/// A layer that waits for nothing: it lets a request through, or refuses it.
fn check<S: Send + Sync + 'static>(
    state: &Arc<S>,
    check: fn(&S, Request) -> Checked,
) -> MapRequestLayer<
    impl FnMut(Request) -> Ready<Checked> + Clone + Send + Sync + 'static,
    (),
    (Request,),
> {
    let state = Arc::clone(state);
    map_request(move |request| ready(check(&state, request)))
}

/// The review page, where there are named clients.
fn review_page(state: &Arc<HttpState>) -> Result<Option<Router>, getrandom::Error> {
    let Some(clients) = &state.clients else {
        return Ok(None);
    };
    let reviewers = Reviewers::new(Arc::clone(state), Arc::clone(clients))?;
    let sign_ins = clients.sign_ins.clone();
    let reviews = Reviews::new(Arc::new(reviewers), sign_ins, ReviewOrigin::default());
    let host = PageHost::new(Arc::clone(state))?;
    let layer = from_fn_with_state(host, page_host::check);
    Ok(Some(review::router(Arc::new(reviews)).layer(layer)))
}

/// The answer at every other path, for a caller who probes the server or forgot the path.
fn nothing_here(text: &str) -> Response {
    let kind = "text/plain; charset=utf-8";
    respond(StatusCode::NOT_FOUND, kind, text.to_owned())
}

async fn readyz(
    State((state, readiness)): State<(Arc<HttpState>, Arc<Readiness>)>,
    request: Request,
) -> Response {
    let is_by_name = origin::check_source(&state, &request).is_ok();
    readiness.answer(&state, is_by_name).await
}

async fn tell_metrics(
    State((state, readiness)): State<(Arc<HttpState>, Arc<Readiness>)>,
    request: Request,
) -> Result<Response, HttpRefusal> {
    origin::check_origin(&state, request.headers())?;
    let client = token::authenticate(&state, request.headers()).await?;
    // Who asks each replica uses its address. A page of a browser has no token.
    if client.is_none() {
        origin::check_host(&state, &request)?;
    }
    let mut sites = state.sites.all().to_vec();
    if let Some(client) = client.filter(|client| client.role != Role::Metrics) {
        let refused = |message| Err(HttpRefusal::forbidden(message));
        if client.bond.is_some() {
            return refused("a delegate has tools and nothing else");
        }
        if client.person.is_some() {
            return refused("people have tools and the review page; metrics are for a client");
        }
        if !client.rights.narrowing.reads.is_open() {
            return refused("the metrics count pages that this client may not read");
        }
        // An agent learns nothing of sites that it does not see.
        if client.role == Role::Agent {
            sites.retain(|site| client.sees(site, &state.sites));
        }
    }
    let checks = readiness.checks(&state, &sites).await;
    let clients = state.clients.as_ref();
    let issuer = state.oauth().map(|(issuer, _)| issuer);
    let server = ServerMetrics {
        digest: state.sites.settings_digest(),
        people: clients.map_or(0, |clients| clients.people()),
        is_issuer_away: issuer.is_some_and(|issuer| issuer.fault().is_some()),
    };
    Ok(respond(
        StatusCode::OK,
        "text/plain; version=0.0.4; charset=utf-8",
        metrics::tell(&sites, &checks, &server).await,
    ))
}
