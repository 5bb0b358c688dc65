//! Holds what the routes and layers of one server share.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use parking_lot::RwLock;

use super::super::clients::registry::ClientRegistry;
use super::super::site::Sites;
use super::address::is_trusted;
use super::limits::HttpLimits;
use crate::config::ServeSettings;

/// What the routes and layers of one server share.
pub(super) struct HttpState {
    pub(super) sites: Arc<Sites>,
    pub(super) settings: RwLock<Arc<ServeSettings>>,
    pub(super) limits: HttpLimits,
    /// The named clients; `None` if callers need no name.
    pub(super) clients: Option<Arc<ClientRegistry>>,
    /// The address at which the server listens.
    pub(super) listening: SocketAddr,
}

impl HttpState {
    /// The settings in force.
    pub(super) fn settings(&self) -> Arc<ServeSettings> {
        Arc::clone(&self.settings.read())
    }

    /// Takes over other settings.
    pub(super) fn take_settings(&self, settings: ServeSettings) {
        if let Some(clients) = &self.clients {
            clients.take_person_limit(settings.person_limit);
        }
        *self.settings.write() = Arc::new(settings);
    }

    /// True if only this machine reaches it.
    pub(super) const fn is_on_loopback(&self) -> bool {
        self.listening.ip().is_loopback()
    }

    /// True if a trusted proxy connects from this address.
    pub(super) fn is_proxy(&self, peer: IpAddr) -> bool {
        is_trusted(peer.to_canonical(), &self.settings().trusted_proxies)
    }
}
