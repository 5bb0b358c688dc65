//! Takes over changed settings while the server runs: whole, once they are on record, or not at
//! all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::app::{App, Renewed};
use super::http::HttpReload;
use super::mcp::many_sites::check_names;
use super::{Site, Sites, Unasked};
use crate::audit::{AuditEntry, AuditEvent, CallId};
use crate::blocking;
use crate::config::{CommandLineSettings, Layers, ServeSettings, Settings, SettingsDiff, Stamps};
use crate::site::SiteName;
use crate::words::separated;
use crate::write::Timeouts;

/// Time between two looks at the files.
const APART: Duration = Duration::from_secs(2);
/// The least time between two looks because it is asked for.
const ASKED_APART: Duration = Duration::from_millis(200);

/// Takes over changed settings of one server.
pub struct Reload {
    given: CommandLineSettings,
    /// All sites, or the one alone that the server was started for.
    is_of_all: bool,
    layers: Layers,
    stamps: Stamps,
    sites: Arc<Sites>,
    serve: Option<HttpReload>,
    /// The wiki of every site that was ever served.
    wikis: BTreeMap<SiteName, String>,
    /// True if the present settings could not be taken over.
    is_refused: bool,
    /// The warnings that the log has told since the start.
    warned: BTreeSet<String>,
}

/// Settings that were read and checked, of each site with its layers.
type LoadedSettings = Vec<(Layers, Settings)>;

impl Reload {
    /// The reload of a server that runs with these settings.
    pub fn new(
        given: CommandLineSettings,
        layers: Layers,
        sites: Arc<Sites>,
        is_of_all: bool,
    ) -> Self {
        Self {
            is_of_all,
            stamps: layers.stamps(&given),
            given,
            layers,
            wikis: wikis_by_site(&sites),
            sites,
            serve: None,
            is_refused: false,
            warned: BTreeSet::new(),
        }
    }

    /// The same, for a server over HTTP.
    #[must_use]
    pub fn serving(self, serve: HttpReload) -> Self {
        Self {
            serve: Some(serve),
            ..self
        }
    }

    /// Looks at the files from time to time, and whenever it is asked to; then it answers once it
    /// has looked.
    pub async fn run(mut self, mut asked: mpsc::Receiver<oneshot::Sender<()>>) {
        loop {
            let ask = tokio::select! {
                ask = asked.recv() => ask,
                () = tokio::time::sleep(APART) => None,
            };
            // A few looks at metadata, for which no thread is kept.
            let now = self.layers.stamps(&self.given);
            // What was refused may be good by now for a reason that no stamp shows. A command that
            // prints a key is not run for that again and again.
            let is_tried_again = self.is_refused && !self.layers.runs_command();
            if ask.is_some() || now != self.stamps || is_tried_again {
                self.look(now).await;
            }
            if let Err(fault) = self.sites.ask_again().await {
                tracing::error!("the operator's own queries are not offered: {fault}");
                self.sites.set_fault(Some(fault));
            }
            if let Some(ask) = ask {
                // Whoever asked may have left.
                let _ = ask.send(());
                tokio::time::sleep(ASKED_APART).await;
            }
        }
    }

    /// Takes over what there is now, or says why not.
    async fn look(&mut self, now: Stamps) {
        let given = self.given.clone();
        let read = blocking::run(move || Layers::load(&given)).await;
        let taken = match read {
            Some(Ok(layers)) => self.take(layers, &now).await,
            Some(Err(faults)) => Err(separated(&faults, "; ")),
            None => Err("they could not be read".to_owned()),
        };
        self.stamps = now;
        let was = self.sites.fault();
        if let Err(fault) = &taken
            && was.as_ref() != Some(fault)
        {
            tracing::error!("the settings in use stay: {fault}");
        }
        self.is_refused = taken.is_err();
        self.hold_writes(taken.as_ref().err()).await;
        self.sites.set_fault(taken.err());
    }

    /// Pauses the writes of each site for which settings that were not taken over close a gate that
    /// is open now; without such settings, ends these pauses.
    async fn hold_writes(&self, fault: Option<&String>) {
        let all = self.sites.all();
        let Some(fault) = fault else {
            for site in all.iter() {
                site.app().desk.audit().pauses.hold(None);
            }
            return;
        };
        let given = self.given.clone();
        let layers = blocking::run(move || Layers::load_in_part(&given)).await;
        // Of what cannot be read at all, nobody knows whether it closes anything.
        let Some(Some(layers)) = layers else { return };
        for site in all.iter() {
            let app = site.app();
            let closed = self.closed_gates(&layers, site, &app);
            // Agents read this: it says nothing of files and their contents.
            let why = (!closed.is_empty()).then(|| {
                let closed = closed.join(", ");
                format!("the settings file closes {closed}, and is not in force yet")
            });
            if app.desk.audit().pauses.hold(why.as_deref())
                && let Some(why) = why
            {
                let name = site.name().map_or("", SiteName::as_str);
                let why = format!("{why}: {fault}");
                tracing::error!(site = %name, "writes are paused: {why}");
                // Writes are paused whether or not that can be put on record.
                if let Err(error) = put_on_record(&app, "paused", why).await {
                    tracing::error!(site = %name, "the pause could not be put on record: {error}");
                }
            }
        }
    }

    /// The gates of a site that are open now and closed by these layers.
    fn closed_gates(&self, layers: &Layers, site: &Site, app: &App) -> Vec<&'static str> {
        let new = layers.at(site.name());
        let is_served = |new: &Layers| !self.is_of_all || new.has_address();
        let Some(new) = new.filter(is_served) else {
            return vec!["the site"];
        };
        let mut closed = new.stricter_gates((app.desk.policy(), &app.own_tools.surface));
        let Some(serve) = &self.serve else {
            return closed;
        };
        if let Ok(new) = ServeSettings::read(&new.source()) {
            closed.extend(serve.closed_by(&new));
        }
        if serve.is_narrowed_by(new.source().tables().oauth.as_ref()) {
            closed.push("oauth");
        }
        closed
    }

    async fn take(&mut self, layers: Layers, now: &Stamps) -> Result<(), String> {
        let of_all = self.is_of_all;
        if !of_all && layers.site() != self.layers.site() {
            // A client must never find another wiki in its session.
            return Err("they mean another site now, which takes a restart".to_owned());
        }
        if layers.lack_their_sites() {
            return Err("none of the sites that are served is there".to_owned());
        }
        let to_read = layers.clone();
        // Reading may run the command of a key.
        let read = blocking::run(move || read_every(&to_read, of_all)).await;
        let read = read.ok_or_else(|| "they could not be read".to_owned())??;
        let mut made = Vec::new();
        let mut serve = None;
        let mut warnings = BTreeSet::new();
        for (new, settings) in read {
            warnings.extend(settings.warnings.iter().cloned());
            serve.get_or_insert_with(|| settings.serve.clone());
            made.push(self.made(&new, settings, now)?);
        }
        if let (Some(taker), Some(serve)) = (&self.serve, &serve) {
            taker.check(serve)?;
        }
        for one in &made {
            one.ask_schema().await?;
            if let (Some(name), false) = (one.site.name(), self.given.sites.is_empty()) {
                check_names(name, &one.app())?;
            }
        }
        for one in &made {
            one.put_on_record().await?;
        }
        self.put_into_force(made, layers.default_site().cloned());
        self.wikis.extend(wikis_by_site(&self.sites));
        if let (Some(taker), Some(serve)) = (&self.serve, serve) {
            taker.take(serve);
        }
        for warning in warnings.difference(&self.warned) {
            tracing::warn!("{warning}");
        }
        self.warned = warnings;
        self.layers = layers;
        Ok(())
    }

    /// Prepares the update of one site.
    fn made(&self, new: &Layers, settings: Settings, now: &Stamps) -> Result<SiteUpdate, String> {
        let all = self.sites.all();
        let site = all.iter().find(|site| site.name() == new.site());
        let old = wikis(&self.layers, self.is_of_all);
        let old = old.iter().find(|old| old.site() == new.site());
        if let (Some(site), Some(old)) = (site, old) {
            if let Some(why) = new.needs_restart(old) {
                return Err(why);
            }
            let mut changes = new.changes_since(old);
            changes.add_files(new, &self.stamps, now);
            changes.add_gates(site.app().desk.policy(), &settings.policy);
            // Where only lines moved, refusals name the new ones.
            let is_other = *site.app().desk.policy() != settings.policy;
            let renewed = (is_other || !changes.names.is_empty())
                .then(|| site.app().renewed(settings, &changes))
                .transpose()?;
            return Ok(SiteUpdate {
                site: Arc::clone(site),
                renewed,
                changes,
            });
        }
        let name = settings.site.clone();
        let known = name.as_ref().and_then(|name| self.wikis.get(name));
        if !self.given.sites.is_empty() && known.is_some_and(|wiki| *wiki != settings.wiki.name) {
            // Its tools were offered before: a client must never find another wiki behind them.
            return Err(
                "a site that was served comes back with another wiki, which takes a restart"
                    .to_owned(),
            );
        }
        let app = App::new(settings, Timeouts::default())?;
        if let Some(place) = app.desk.audit().upkeep.writable_by_others().first() {
            return Err(format!("others may write {}", place.display()));
        }
        let mut changes = SettingsDiff::default();
        let word = name.as_ref().map(|name| format!("sites.{name}"));
        let word = word.unwrap_or_else(|| "base_url".to_owned());
        changes.names.insert(word);
        Ok(SiteUpdate {
            site: Site::new(name, app),
            renewed: None,
            changes,
        })
    }

    /// Replaces what changed. Calls under way go on as they began.
    fn put_into_force(&self, made: Vec<SiteUpdate>, default: Option<SiteName>) {
        let old = self.sites.all();
        let kept: Vec<Arc<Site>> = made.iter().map(|one| Arc::clone(&one.site)).collect();
        let is_kept = |site: &Arc<Site>| kept.iter().any(|one| Arc::ptr_eq(one, site));
        for site in old.iter().filter(|site| !is_kept(site)) {
            let name = site.name().map_or("", SiteName::as_str);
            tracing::info!(site = %name, "a site is not served any more; its record stays");
            let site = Arc::clone(site);
            // Its writes under way are settled and recorded.
            tokio::spawn(async move { site.app().writer.finish().await });
        }
        self.sites.set(kept.clone(), default);
        for one in made {
            match one.renewed {
                Some(renewed) => one.site.take(&renewed.into_force()),
                None => one.site.begin(),
            }
        }
    }
}

/// The wiki of each site.
fn wikis_by_site(sites: &Sites) -> BTreeMap<SiteName, String> {
    let all = sites.all();
    let named = all
        .iter()
        .filter_map(|site| Some((site.name()?.clone(), site)));
    named
        .map(|(name, site)| (name, site.app().desk.audit().wiki().to_owned()))
        .collect()
}

/// The update of one site, made ready.
struct SiteUpdate {
    site: Arc<Site>,
    /// Its app under changed settings, if they changed.
    renewed: Option<Renewed>,
    changes: SettingsDiff,
}

impl SiteUpdate {
    /// The app that is to answer calls.
    fn app(&self) -> Arc<App> {
        match &self.renewed {
            Some(renewed) => Arc::clone(&renewed.app),
            None => self.site.app(),
        }
    }

    /// Asks the wiki for its schema where the operator's own queries need it. Where the wiki does
    /// not answer, they wait for it.
    async fn ask_schema(&self) -> Result<(), String> {
        if self.changes.names.is_empty() {
            return Ok(());
        }
        match self.app().ask_schema().await {
            Err(Unasked::Wrong(fault)) => Err(fault),
            Ok(()) | Err(Unasked::Waits(_)) => Ok(()),
        }
    }

    /// Puts on record which settings change. A server that writes takes over nothing that is not
    /// on record.
    async fn put_on_record(&self) -> Result<(), String> {
        let names = separated(&self.changes.names, ", ");
        if names.is_empty() {
            return Ok(());
        }
        let app = self.site.app();
        let may_write = app.desk.may_write() || self.app().desk.may_write();
        let recorded = put_on_record(&app, "taken", format!("changed: {names}")).await;
        if let (Err(error), true) = (&recorded, may_write) {
            return Err(format!("they could not be put on record: {error}"));
        }
        let site = self.site.name().map_or("", SiteName::as_str);
        tracing::info!(site, changed = %names, "other settings are in force");
        Ok(())
    }
}

/// The layers of the wikis that a server serves.
fn wikis(layers: &Layers, of_all: bool) -> Vec<Layers> {
    let every = if of_all { layers.every() } else { Vec::new() };
    if every.is_empty() {
        vec![layers.clone()]
    } else {
        every
    }
}

fn read_every(layers: &Layers, of_all: bool) -> Result<LoadedSettings, String> {
    let read = Settings::load_these(layers, of_all);
    let read = read.map_err(|faults| separated(&faults, "; "))?;
    let wikis = wikis(layers, of_all);
    let read = read.into_iter().filter_map(|settings| {
        let of = wikis
            .iter()
            .find(|of| of.site() == settings.site.as_ref())?;
        Some((of.clone(), settings))
    });
    Ok(read.collect())
}

/// Puts on record what became of the settings.
async fn put_on_record(app: &App, decision: &str, reason: String) -> Result<(), String> {
    let call = CallId::new().map_err(|error| error.to_string())?;
    let entry = AuditEntry {
        gate: Some("settings".to_owned()),
        decision: Some(decision.to_owned()),
        reason: Some(reason),
        ..AuditEntry::new(call, AuditEvent::Settings)
    };
    let recorded = app.desk.audit().record(entry).await;
    recorded.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
