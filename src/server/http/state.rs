//! Holds what the routes and layers of one server share.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use parking_lot::RwLock;

use super::super::clients::registry::ClientRegistry;
use super::super::site::Sites;
use super::address::is_trusted;
use super::limits::HttpLimits;
use super::seal::{self, Seal};
use crate::config::ServeSettings;
use crate::oauth::{Issuer, IssuerTimes, OauthSettings};

/// What the routes and layers of one server share.
pub(super) struct HttpState {
    pub(super) sites: Arc<Sites>,
    pub(super) settings: RwLock<Arc<ServeSettings>>,
    pub(super) limits: HttpLimits,
    /// The named clients; `None` if callers need no name.
    pub(super) clients: Option<Arc<ClientRegistry>>,
    /// The issuer that vouches for people.
    pub(super) issuer: RwLock<Option<Arc<Issuer>>>,
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
        // It was made once already, to check the settings.
        let new = issuer(&settings, self.limits.issuer).unwrap_or_else(|fault| {
            tracing::error!("nobody signs in: {fault}");
            None
        });
        let mut now = self.issuer.write();
        if let (Some(old), Some(new)) = (&*now, &new) {
            new.adopt(old);
        }
        *now = new;
        drop(now);
        let settings = Arc::new(settings);
        let before = std::mem::replace(&mut *self.settings.write(), Arc::clone(&settings));
        if let Some(clients) = &self.clients {
            clients.take_settings(&before, &settings);
        }
    }

    /// The issuer and the settings of people's sign-in.
    pub(super) fn oauth(&self) -> Option<(Arc<Issuer>, Arc<OauthSettings>)> {
        let settings = self.settings().oauth.clone()?;
        Some((self.issuer.read().clone()?, settings))
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

/// The issuer of these settings, if people sign in.
///
/// # Errors
/// One sentence about its address, a file of the review page, or this system's certificate authorities.
pub(super) fn issuer(
    settings: &ServeSettings,
    times: IssuerTimes,
) -> Result<Option<Arc<Issuer>>, String> {
    let oauth = settings.oauth.as_deref();
    if let Some(oauth) = oauth {
        let stands_in = "0".repeat(64).into();
        let checked = seal::page_secret(oauth).and(Seal::of_settings(oauth, &stands_in).map(drop));
        checked.map_err(|fault| format!("[oauth] cannot be used: {fault}"))?;
    }
    let issuer = oauth.map(|oauth| Issuer::new(oauth, &settings.issuer_network, times));
    let issuer = issuer.transpose();
    issuer.map_err(|fault| format!("[oauth] cannot be used: {fault}"))
}
