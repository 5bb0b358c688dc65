//! `wikijs-gate serve`: the server over standard input and output, or HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::signals::{HangUps, Signals};
use super::start::Start;
use crate::cli::prelude::*;
use crate::config::{CommandLineSettings, Layers, ServeSettings, Settings, address_of};
use crate::server::http::{HttpLimits, HttpServer, refused_start};
use crate::server::{
    Collector, Handler, ManySites, Reload, Site, Sites, Unasked, check_sites, serve_stdio,
    serve_tools_alone,
};
use crate::site::SiteName;
use crate::words::joined;
use crate::write::Timeouts;

/// Arguments of `serve`.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Arguments {
    /// Serve an embedded demo wiki in place of the configured one: writes on, each confirmed by
    /// its preview, all of it gone at the end
    #[cfg(feature = "demo")]
    #[arg(long, conflicts_with = "sites")]
    demo: bool,
    /// Listen for HTTP at this address, such as 127.0.0.1:8765, in place of standard input and
    /// output (`WIKI_SERVE_ADDRESS`)
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// Serve several sites of the settings file to one client over standard input and output: each
    /// tool once a site, as `docs_get_page_by_path`
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "http"
    )]
    sites: Vec<SiteName>,
}

/// The number of threads that calls run on. Many callers over HTTP need two, and one wiki is no
/// work for more. One client over standard input and output is answered sooner by one thread, which
/// never has to wake another.
pub(super) fn threads(arguments: &Arguments) -> usize {
    // A bad setting is reported when it is used.
    let listens = start::layers()
        .ok()
        .and_then(|layers| ServeSettings::read(&layers.source()).ok())
        .is_some_and(|serve| serve.address.is_some());
    if arguments.http.is_some() || listens && arguments.sites.is_empty() {
        2
    } else {
        1
    }
}

pub(super) async fn run(arguments: Arguments) -> CommandResult {
    // Comes first: reading the settings may take long, and a signal meanwhile must not end the
    // server.
    let hang_ups = HangUps::listen().map_err(Exit::failed)?;
    let http = arguments.http.as_deref().map(address_of).transpose();
    let http = http.map_err(|error| Exit::usage(format!("--http: {}", error.fault)))?;
    start::start_log(None)?;
    #[cfg(feature = "demo")]
    if arguments.demo {
        let demo = super::demo::Embedded::start().await.map_err(Exit::failed)?;
        let mut settings = demo.settings()?;
        let layers = start::layers()?;
        settings.serve = ServeSettings::read(&layers.source()).map_err(Exit::usage)?;
        settings.surface = crate::config::offered(&layers.source()).map_err(Exit::usage)?;
        return serve(vec![settings], None, start::given().clone(), http, hang_ups).await;
    }
    let given = CommandLineSettings {
        sites: arguments.sites,
        ..start::given().clone()
    };
    let layers = start::layers_by(&given)?;
    for site in &given.sites {
        if layers.at(Some(site)).is_none() {
            return Err(Exit::usage(format!("--sites: there is no site {site}")));
        }
    }
    if !given.sites.is_empty() {
        if given.site.is_some() {
            return Err(Exit::usage("--site and --sites cannot be combined"));
        }
        let settings = start::settings_of(&layers, true)?;
        return serve(settings, Some((layers, true)), given, None, hang_ups).await;
    }
    let listens = http.is_some()
        || ServeSettings::read(&layers.source()).is_ok_and(|serve| serve.address.is_some());
    // Over standard input and output there is one client, and one wiki.
    let is_of_all = listens && start::given().site.is_none();
    // A person at a terminal sees at once what is missing.
    let settings = if listens || print::is_typed() {
        start::settings_of(&layers, is_of_all)?
    } else {
        match start::settings_if_set(&layers)? {
            Start::Wiki(settings) => settings,
            Start::WithoutWiki(missing) => return serve_without_wiki(&layers, missing).await,
        }
    };
    serve(settings, Some((layers, is_of_all)), given, http, hang_ups).await
}

/// Lists the tools for a registry, or for somebody who only looks; each call says what to set.
async fn serve_without_wiki(layers: &Layers, missing: Vec<&'static str>) -> CommandResult {
    let (tools, _) = start::tools_of(layers)?;
    let names = joined(&missing, "and");
    tracing::warn!("serving no wiki but the list of tools, since this is missing: {names}");
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(Exit::failed)?;
    serve_tools_alone(tools, missing, start::given().clone(), stop)
        .await
        .map_err(Exit::failed)?;
    Ok(signals.exit().unwrap_or(Exit::Done))
}

/// Serves wikis. `layers` is where their settings are read from again, and whether several
/// wikis are served (all, or those of `--sites`).
async fn serve(
    settings: Vec<Settings>,
    layers: Option<(Layers, bool)>,
    given: CommandLineSettings,
    http: Option<SocketAddr>,
    mut hang_ups: HangUps,
) -> CommandResult {
    for warning in settings.iter().flat_map(|settings| &settings.warnings) {
        tracing::warn!("{warning}");
    }
    #[cfg(feature = "postgres")]
    start::warn_of_failover(&settings);
    let stop = CancellationToken::new();
    let signals = Signals::listen(stop.clone()).map_err(Exit::failed)?;
    let serve = settings.first().map(|settings| settings.serve.clone());
    let serve = serve.ok_or_else(|| Exit::failed("there is no wiki to serve"))?;
    let collector = serve.collector.clone().map(|to| Collector::begin(*to));
    let collector = collector.transpose().map_err(Exit::failed)?.flatten();
    let mut all = Vec::new();
    for settings in settings {
        let name = settings.site.clone();
        let app = App::new(settings, Timeouts::default()).map_err(Exit::usage)?;
        start::check_audit_dir(app.desk.audit())?;
        match app.ask_schema().await {
            Ok(()) => {}
            Err(Unasked::Waits(why)) => {
                tracing::warn!("custom queries are not offered until the wiki answers: {why}");
            }
            Err(Unasked::Wrong(why)) => return Err(Exit::usage(why)),
        }
        all.push(Site::new(name, app));
    }
    let default = layers
        .as_ref()
        .and_then(|(layers, _)| layers.default_site().cloned());
    let has_many = !given.sites.is_empty();
    if has_many {
        check_sites(&all).map_err(Exit::usage)?;
    }
    let sites = Sites::new(all, default);
    let (ask, asks) = mpsc::channel(1);
    let reload = layers.map(|(layers, is_of_all)| {
        let sites = Arc::clone(&sites);
        Reload::new(given, layers, sites, is_of_all)
    });
    let asked = Arc::clone(&sites);
    tokio::spawn(async move {
        loop {
            hang_ups.next().await;
            // One that is asked for already will see what is there now.
            let _ = ask.try_send(oneshot::channel().0);
            for site in asked.all().iter() {
                site.app().reread_key().await;
            }
        }
    });
    let watching = Arc::clone(&sites);
    tokio::spawn(async move { watching.watch_key_ends().await });
    match http.or(serve.address.filter(|_| !has_many)) {
        None => {
            if print::is_typed() {
                print::note("waiting for an MCP client on standard input; Ctrl-C ends this");
            }
            if let Some(reload) = reload {
                tokio::spawn(reload.run(asks));
            }
            let own = Arc::clone(&sites);
            signals.at_end(move || own.close());
            let served = if has_many {
                serve_stdio(sites, ManySites::new, stop).await
            } else {
                serve_stdio(sites, Handler::alone, stop).await
            };
            served.map_err(Exit::failed)?;
        }
        Some(address) => {
            if let Some(why) = refused_start(&serve, address) {
                return Err(Exit::usage(why));
            }
            let listener = TcpListener::bind(address).await.map_err(|error| {
                Exit::failed(format!("{address} cannot be listened at: {error}"))
            })?;
            let server = HttpServer::new(sites, serve, HttpLimits::default(), listener)
                .map_err(Exit::usage)?;
            if let Some(reload) = reload {
                tokio::spawn(reload.serving(server.settings_taker()).run(asks));
            }
            tracing::info!(address = %server.address(), "serving MCP over HTTP at /mcp");
            server.run(stop).await;
        }
    }
    if let Some(collector) = collector {
        collector.finish().await;
    }
    Ok(signals.exit().unwrap_or(Exit::Done))
}
