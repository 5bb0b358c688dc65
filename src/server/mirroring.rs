//! Looks at the wiki of a site for its mirror, as long as the site is served, and tells people what others
//! did there.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::app::App;
use crate::mirror::{MirrorNews, MirrorSettings};
use crate::notify::NotifyEvent;

/// People are told of an author who changed more pages than this within an hour.
const MANY: usize = 50;
/// They are told of the same author once in this time.
const TOLD_AGAIN: Duration = Duration::from_hours(1);
/// The most ids that a notice names.
const MOST_NAMED: usize = 20;

/// Looks again and again, under the settings in force, until there is no app any more.
pub(super) async fn keep_looking(app: impl Fn() -> Option<Arc<App>>) {
    let (mut failed, mut clocks_apart) = (None, false);
    let mut told: HashMap<String, Instant> = HashMap::new();
    loop {
        let Some(app) = app() else { return };
        let mut apart = MirrorSettings::APART;
        if let Some(mirror) = &app.mirror {
            apart = mirror.settings.apart;
            if mirror.is_due().await {
                match Box::pin(app.look_for_mirror(Duration::ZERO)).await {
                    Ok(news) => {
                        failed = None;
                        // It is said once, not at every look.
                        if news.clocks_apart && !clocks_apart {
                            tracing::warn!(
                                "the clocks of this machine and of the wiki are more than a day apart: the mirror notes the later time of pages, and counts days by the earlier"
                            );
                        }
                        clocks_apart = news.clocks_apart;
                        told.retain(|_, at| at.elapsed() < TOLD_AGAIN);
                        tell(&app, news, &mut told).await;
                    }
                    // So is this.
                    Err(fault) if failed.as_ref() == Some(&fault) => {}
                    Err(fault) => {
                        tracing::warn!(error = %fault, "the mirror could not be brought up to date");
                        failed = Some(fault);
                    }
                }
            }
        }
        // Only the site itself keeps its app.
        drop(app);
        tokio::time::sleep(apart).await;
    }
}

async fn tell(app: &App, news: MirrorNews, told: &mut HashMap<String, Instant>) {
    let (kept, hidden, went_back) = (news.kept, news.hidden, news.went_back);
    tracing::debug!(kept, hidden, "the mirror is up to date");
    let ids = by_others(app, &news).await;
    if went_back || !ids.is_empty() {
        let pages = ids.len();
        tracing::warn!(pages, went_back, "others deleted pages; the bin has them");
        app.desk.audit().notices.tell(&NotifyEvent::Deleted {
            pages,
            ids: ids.into_iter().take(MOST_NAMED).collect(),
            went_back,
        });
    }
    for (author, pages) in news.changed_by {
        if pages > MANY
            && let Entry::Vacant(untold) = told.entry(author.clone())
        {
            untold.insert(Instant::now());
            let notice = NotifyEvent::ManyChanged { author, pages };
            app.desk.audit().notices.tell(&notice);
        }
    }
}

/// The ids of the pages that are gone, but for those that went through this server, by its record.
async fn by_others(app: &App, news: &MirrorNews) -> Vec<i64> {
    let last_seen = news.gone.iter().filter_map(|page| page.gone.as_ref());
    let Some(since) = last_seen.map(|gone| gone.last_seen.instant()).min() else {
        return Vec::new();
    };
    let own = app.desk.audit().writes.deleted_since(since).await;
    // A record that cannot be read hides no deletion.
    let own: HashSet<i64> = own.into_iter().flatten().map(|one| one.id).collect();
    let gone = news.gone.iter().map(|page| page.id);
    gone.filter(|id| !own.contains(id)).collect()
}
