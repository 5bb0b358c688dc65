//! Takes a new key of the wiki into use.

use super::app::App;
use super::key_watch::{KeyWatch, Why};

impl App {
    /// Takes a new key if its file has changed.
    pub(super) async fn look_at_key(&self) {
        if let Some(watch) = &self.key_watch
            && watch.is_changed()
        {
            self.renew(watch, self.wiki.generation(), Why::Changed)
                .await;
        }
    }

    /// Takes a new key if there is one, after the wiki rejected the key of a generation; returns
    /// whether another one is in use now.
    pub(super) async fn replace_rejected(&self, generation: u64) -> bool {
        match &self.key_watch {
            Some(watch) => self.renew(watch, generation, Why::Rejected).await,
            None => false,
        }
    }

    /// Reads the key again because the operator asks for it (SIGHUP), and logs the result.
    pub async fn reread_key(&self) {
        let Some(watch) = self.key_watch.as_ref() else {
            return;
        };
        if !watch.source.can_change() {
            let name = watch.source.name();
            tracing::info!("SIGHUP: {name} holds the key itself; a new one takes a restart");
            return;
        }
        let is_new = self.renew(watch, self.wiki.generation(), Why::Asked).await;
        if !is_new && watch.fault().is_none() {
            tracing::info!("SIGHUP: the key is the same as before");
        }
        // So the log shows immediately what the wiki takes the key for.
        self.wiki.standing().await;
    }

    async fn renew(&self, watch: &KeyWatch, generation: u64, why: Why) -> bool {
        if !watch.source.can_change() {
            return false;
        }
        let _turn = watch.turn.lock().await;
        // Another call already took a new key.
        if self.wiki.generation() != generation {
            return true;
        }
        if !watch.is_due(why) {
            return false;
        }
        let Some(key) = watch.read(why).await else {
            return false;
        };
        let old = self.wiki.pinned();
        if key.digest() == old.key().digest() {
            return false;
        }
        if let Err(fault) = self.wiki.take_key(key) {
            tracing::error!("the key in use stays: {fault}");
            return false;
        }
        // The new key may not see what the old one could.
        self.index.forget_key(&old).await;
        tracing::info!(
            "a new key of the wiki is in use, from {}",
            watch.source.name()
        );
        true
    }
}
