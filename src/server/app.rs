//! Holds the state that all connections of one server share.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::RwLock;
use serde_json::Value;
use tokio::sync::watch;

use crate::audit::{AuditLog, Keep, Pause, RunId};
use crate::config::{Indent, Settings, SettingsDiff};
use crate::error::{Code, Failure, Result};
use crate::gates::ClientLimits;
use crate::index::ContentIndex;
use crate::memory::MemoryMode;
use crate::mirror::{Mirror, MirrorFault, MirrorNews, MirrorSettings};
use crate::notice::{self, Progress};
use crate::notify::Notifier;
use crate::page::ReadRule;
use crate::review::WikiHandle;
use crate::tools::{Arguments, Registry, ToolContext, ToolDefinition, ToolKind};
use crate::watch::Watch;
use crate::wiki::{ApiKey, Sender, Wiki};
use crate::write::{Caller, Timeouts, WriteContext, Writer};

use super::call_metrics::Metrics;
use super::key_watch::KeyWatch;
use super::own_tools::{OwnTools, Unasked};

/// The state that all connections of one server share: the wiki, the way to write to it, the tools.
#[derive(Debug, Clone)]
pub struct App {
    /// The wiki.
    pub wiki: Arc<Wiki>,
    /// The door of every write.
    pub writer: Arc<Writer>,
    /// The context of writes, for tools and commands.
    pub desk: Arc<WriteContext>,
    /// The content index of the wiki's pages.
    pub index: Arc<ContentIndex>,
    /// The mirror of the wiki, if it is on; a caller's own key has none.
    pub mirror: Option<Arc<Mirror>>,
    /// The pages that clients watch.
    pub watch: Arc<Watch>,
    /// The server's metrics.
    pub metrics: Arc<Metrics>,
    /// The indentation of answers as text.
    pub(super) indent: Indent,
    registry: Arc<RwLock<Arc<Registry>>>,
    /// The operator's own tools.
    pub(super) own_tools: Arc<OwnTools>,
    /// Number of changes of the gates so far.
    gates: u64,
    /// The source of new keys; `None` for a caller's own key.
    pub(super) key_watch: Option<Arc<KeyWatch>>,
}

impl App {
    /// Builds a server; nothing is opened, sent or written yet.
    ///
    /// # Errors
    /// One sentence about what cannot be used.
    pub fn new(settings: Settings, patience: Timeouts) -> Result<Self, String> {
        let own_tools = OwnTools::new(settings.surface, settings.customs, None);
        let registry = own_tools.registry()?;
        let run = RunId::new().map_err(|error| error.to_string())?;
        let log_of = if settings.policy.authority.passes_pause() {
            AuditLog::for_operator
        } else {
            AuditLog::new
        };
        let audit = Arc::new(log_of(settings.store, &settings.wiki.name));
        if let Some(site) = settings.site {
            audit.of_site(site);
        }
        if let Some(anchors) = settings.anchors {
            audit.anchoring.set(anchors);
        }
        if !settings.notify.is_empty() {
            let review = settings.policy.review.clone();
            audit.notices.set(Notifier::new(settings.notify, review));
        }
        let (wiki, sender) = Sender::with_wiki(settings.wiki, &run.to_string())?;
        let policy = settings.policy.paused_by(audit.pauses.clone());
        let keep = settings.keep;
        let index = Arc::new(ContentIndex::new(Arc::clone(&wiki), settings.index));
        let desk = WriteContext::new(Arc::clone(&index), &audit, policy, patience, keep);
        desk.remember_by(settings.memory);
        let desk = Arc::new(desk);
        let mirror = mirror(settings.mirror, desk.audit());
        let writer = Writer::new(Arc::clone(&desk), sender);
        Ok(Self {
            index,
            mirror,
            watch: Arc::new(Watch::new(Arc::clone(&wiki), settings.watch)),
            wiki,
            writer: Arc::new(writer),
            desk,
            metrics: Arc::default(),
            indent: settings.indent,
            registry: Arc::new(RwLock::new(Arc::new(registry))),
            own_tools: Arc::new(own_tools),
            gates: 0,
            key_watch: Some(Arc::new(KeyWatch::new(settings.key_source))),
        })
    }

    /// The same server under changed settings. Calls under way keep this one. What sessions read
    /// stays known; previews end where the gates changed, and approvals do not count there.
    ///
    /// # Errors
    /// One sentence about what cannot be used.
    pub(super) fn renewed(
        &self,
        settings: Settings,
        changes: &SettingsDiff,
    ) -> Result<Renewed, String> {
        let known = Some(&*self.own_tools);
        let own_tools = OwnTools::new(settings.surface, settings.customs, known);
        let registry = own_tools.registry()?;
        let key = settings.wiki.key.clone();
        let is_new_key = self.wiki.key().digest() != key.digest();
        let has_new_wiki = changes.of_wiki || is_new_key;
        let wiki = if has_new_wiki {
            Arc::new(self.wiki.renewed(settings.wiki)?)
        } else {
            Arc::clone(&self.wiki)
        };
        let index = if has_new_wiki || changes.of_index {
            Arc::new(ContentIndex::new(Arc::clone(&wiki), settings.index))
        } else {
            Arc::clone(&self.index)
        };
        // The new key may not see what the old one could.
        let gone = is_new_key.then(|| (Arc::clone(&self.index), self.wiki.pinned()));
        let policy = self.desk.policy().continued_as(settings.policy);
        let notifier = Notifier::new(settings.notify, policy.review.clone());
        let (keep, memory) = (settings.keep, settings.memory);
        let writer = self.writer.renewed(&index, policy, changes.of_gates);
        let mirror = mirror(settings.mirror, self.desk.audit());
        let app = Arc::new(Self {
            desk: Arc::clone(writer.desk()),
            writer: Arc::new(writer),
            watch: if has_new_wiki {
                Arc::new(self.watch.for_key(Arc::clone(&wiki)))
            } else {
                Arc::clone(&self.watch)
            },
            index,
            mirror,
            wiki,
            metrics: Arc::clone(&self.metrics),
            indent: settings.indent,
            registry: Arc::new(RwLock::new(Arc::new(registry))),
            own_tools: Arc::new(own_tools),
            gates: self.gates + u64::from(changes.of_gates),
            key_watch: Some(Arc::new(KeyWatch::new(settings.key_source))),
        });
        Ok(Renewed {
            app,
            notifier,
            keep,
            memory,
            gone,
        })
    }

    /// The app of a caller's own key, after the server's changed: the caller's sessions go on with what they
    /// know.
    pub(super) fn followed_by(&self, fresh: Self) -> Self {
        let policy = fresh.desk.policy().clone();
        let gates_changed = self.gates != fresh.gates;
        let writer = self.writer.renewed(&fresh.index, policy, gates_changed);
        Self {
            desk: Arc::clone(writer.desk()),
            writer: Arc::new(writer),
            ..fresh
        }
    }

    /// The same server for a caller's own key: index, remembered reads and previews are separate;
    /// tools, log and metrics are shared.
    ///
    /// # Errors
    /// One sentence about the key.
    pub fn for_key(&self, key: ApiKey) -> Result<Self, String> {
        Ok(Self {
            key_watch: None,
            mirror: None,
            ..self.apart(self.wiki.with_key(key)?, |index| self.writer.for_key(index))
        })
    }

    /// The same server with the same key, for callers who may read only within a rule. What a session read
    /// stays known when its bounds change.
    #[must_use]
    pub fn within(&self, rule: &ReadRule) -> Self {
        let policy = self.desk.policy().clone();
        let writer = |index: &_| self.writer.renewed(index, policy, false);
        self.apart(self.wiki.within(rule), writer)
    }

    /// Makes the handle for a reviewer's decisions: the same wiki and log, limited to what the
    /// reviewer may read, under the policy for reviewers.
    pub(super) fn bench_for(
        &self,
        narrowing: &ClientLimits,
        may_apply_in_dry_run: bool,
    ) -> WikiHandle {
        let wiki = if narrowing.reads.is_open() {
            Arc::clone(&self.wiki)
        } else {
            Arc::new(self.wiki.within(&narrowing.reads))
        };
        let index = Arc::new(self.index.for_key(Arc::clone(&wiki)));
        let writer = &self.writer;
        let writer = writer.for_reviewer(&index, narrowing, may_apply_in_dry_run);
        WikiHandle {
            desk: Arc::clone(writer.desk()),
            writer: Arc::new(writer),
            mirror: self.mirror.clone(),
            wiki,
        }
    }

    fn apart(&self, wiki: Wiki, writer: impl FnOnce(&Arc<ContentIndex>) -> Writer) -> Self {
        let wiki = Arc::new(wiki);
        let index = Arc::new(self.index.for_key(Arc::clone(&wiki)));
        let writer = Arc::new(writer(&index));
        Self {
            desk: Arc::clone(writer.desk()),
            writer,
            index,
            watch: Arc::new(self.watch.for_key(Arc::clone(&wiki))),
            wiki,
            ..self.clone()
        }
    }

    /// The tools as they are now.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read())
    }

    /// Calls a tool, which reports its progress; `None` if no tool of that name is offered. If the
    /// wiki rejects the key and there is a new one, a read is repeated with the new key. Every
    /// answer to an unknown key says that the key is unknown.
    pub async fn call(
        &self,
        name: &str,
        caller: Caller,
        progress: watch::Sender<Progress>,
        arguments: Arguments,
    ) -> Option<Result<Value>> {
        self.look_at_key().await;
        let generation = self.wiki.generation();
        let again = self
            .may_read_again(name)
            .then(|| (caller.clone(), progress.clone(), arguments.clone()));
        let mut answer = self.call_once(name, caller, progress, arguments).await?;
        if matches!(&answer, Err(failure) if failure.code == Code::KeyRejected)
            && self.wiki.generation() != generation
            && let Some((caller, progress, arguments)) = again
        {
            answer = self.call_once(name, caller, progress, arguments).await?;
        }
        Some(self.with_guests_hint(answer).await)
    }

    /// Looks at the wiki for its mirror, once other looks have ended: nothing if they do not in time, or
    /// without a mirror.
    ///
    /// # Errors
    /// Why it ended early.
    pub async fn look_for_mirror(&self, wait: Duration) -> Result<MirrorNews, MirrorFault> {
        match &self.mirror {
            Some(mirror) => mirror.look(&self.wiki, &self.index, wait).await,
            None => Ok(MirrorNews::default()),
        }
    }

    /// An operator's pause of all writes, if there is one.
    pub fn paused(&self) -> Option<Pause> {
        self.desk.audit().pauses.look()
    }

    /// The reason the key that its file or command gives now is not in use, if it is not.
    pub fn key_fault(&self) -> Option<String> {
        self.key_watch.as_ref().and_then(|watch| watch.fault())
    }

    /// True if a call may be repeated with another key: it only reads, and the key can change.
    fn may_read_again(&self, name: &str) -> bool {
        let is_read = |tool: &ToolDefinition| tool.kind == ToolKind::Read;
        self.takes_new_keys() && self.registry().find(name).is_some_and(is_read)
    }

    /// True if the key can change while the server runs.
    fn takes_new_keys(&self) -> bool {
        let watch = self.key_watch.as_ref();
        watch.is_some_and(|watch| watch.source.can_change())
    }

    /// Adds a hint to every answer if the wiki treats the key as a guest's.
    async fn with_guests_hint(&self, answer: Result<Value>) -> Result<Value> {
        let hinted = |hint: String, own: &str| match own {
            "" => hint,
            own => format!("{hint} {own}"),
        };
        match answer {
            Ok(Value::Object(mut members)) => {
                if let Some(hint) = self.wiki.guests_hint().await {
                    let own = members.shift_remove("hint");
                    let own = own.as_ref().and_then(Value::as_str).unwrap_or_default();
                    // The hint comes first, so that the rest is not mistaken for everything.
                    members.shift_insert(0, "hint".to_owned(), hinted(hint, own).into());
                }
                Ok(Value::Object(members))
            }
            Err(failure) if may_be_a_guests(failure.code) => {
                Err(match self.wiki.guests_hint().await {
                    Some(hint) => {
                        let hint = hinted(hint, &failure.hint);
                        failure.hint(hint)
                    }
                    None => failure,
                })
            }
            answer => answer,
        }
    }

    async fn call_once(
        &self,
        name: &str,
        caller: Caller,
        progress: watch::Sender<Progress>,
        arguments: Arguments,
    ) -> Option<Result<Value>> {
        let counter = progress.clone();
        let context = ToolContext {
            wiki: Arc::clone(&self.wiki),
            writer: Arc::clone(&self.writer),
            desk: Arc::clone(&self.desk),
            index: Arc::clone(&self.index),
            mirror: self.mirror.clone(),
            caller,
            progress,
        };
        let registry = self.registry();
        // The registry catches panics of a tool; this catches all others.
        let call = notice::counted_by(counter, async {
            Some(registry.call(name, context, arguments)?.await)
        });
        let call = AssertUnwindSafe(call);
        let answer = call.catch_unwind().await;
        if registry.find(name).is_some_and(ToolDefinition::can_write) {
            // Whatever the outcome, watchers of the written page must see it.
            self.watch.written();
        }
        let Ok(answer) = answer else {
            let broke_off = Failure::new(Code::InternalError, "The call broke off.");
            return Some(Err(broke_off));
        };
        Some(match answer? {
            Ok(value) => Ok(value),
            Err(failure) => Err(self.explained(failure).await),
        })
    }

    /// Adds to a failure what the key has to do with it. For a rejected key the index is dropped,
    /// and a new key is looked for.
    pub(super) async fn explained(&self, failure: Failure) -> Failure {
        let generation = self.wiki.generation();
        let failure = self.advised(self.wiki.explained(failure).await);
        if failure.code != Code::KeyRejected {
            return failure;
        }
        // Nobody may see any more what the key once could read.
        self.index.forget().await;
        if self.replace_rejected(generation).await {
            return failure.hint("A new key is in use now. Call again.");
        }
        failure
    }

    /// Adds for a rejected key whether a new one needs a restart.
    fn advised(&self, failure: Failure) -> Failure {
        if self.takes_new_keys() && failure.code == Code::KeyRejected {
            let hint = format!("{} A new key is used without a restart.", failure.hint);
            return failure.hint(hint);
        }
        failure
    }

    /// Asks the wiki for its schema where the operator's own queries need it, and offers them.
    ///
    /// # Errors
    /// Why they are not offered.
    pub async fn ask_schema(&self) -> Result<(), Unasked> {
        if let Some(registry) = self.own_tools.ask(&self.wiki).await? {
            self.offer(registry);
        }
        Ok(())
    }

    /// Offers other tools from now on.
    pub fn offer(&self, registry: Registry) {
        *self.registry.write() = Arc::new(registry);
    }
}

/// An app under changed settings that are not in force yet.
#[derive(Debug)]
pub(super) struct Renewed {
    pub(super) app: Arc<App>,
    notifier: Notifier,
    keep: Keep,
    memory: MemoryMode,
    /// The index of a key that is not used any more.
    gone: Option<(Arc<ContentIndex>, Wiki)>,
}

impl Renewed {
    /// Puts the settings into force.
    pub(super) fn into_force(self) -> Arc<App> {
        self.app.desk.audit().notices.set(self.notifier);
        self.app.desk.keep(self.keep);
        self.app.desk.remember_by(self.memory);
        if let Some((index, old)) = self.gone {
            tokio::spawn(async move { index.forget_key(&old).await });
        }
        self.app.desk.begin_recovery();
        self.app
    }
}

/// The mirror of a wiki, in a store beside its record.
fn mirror(settings: Option<MirrorSettings>, audit: &AuditLog) -> Option<Arc<Mirror>> {
    settings.map(|settings| Arc::new(Mirror::new(audit.mirror_store(), settings)))
}

/// True if a known key might have got another answer. Failures for a missing right were explained
/// before.
const fn may_be_a_guests(code: Code) -> bool {
    matches!(
        code,
        Code::PageNotFound | Code::AmbiguousPage | Code::VersionNotFound
    )
}
