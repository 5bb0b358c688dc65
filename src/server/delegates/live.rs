//! A delegate as the server takes it: with what its grant and its maker's both allow.

use std::sync::Arc;
use std::time::Duration;

use super::super::clients::client::STDIO;
use super::super::clients::client_record::{Bond, CallerRights, ClientRecord};
use super::delegate::{DelegateBasis, DelegateRecord};
use crate::audit::{ClientId, Role};
use crate::gates::Grant;
use crate::site::SiteName;

/// A delegate and its maker, as they are now.
#[derive(Debug)]
pub(in crate::server) struct LiveDelegate {
    pub(in crate::server) line: Arc<DelegateRecord>,
    /// As the server takes it; `None` if its maker is not there.
    known: Option<Arc<ClientRecord>>,
}

impl LiveDelegate {
    /// A delegate among these clients.
    pub(in crate::server) fn of<'a>(
        line: Arc<DelegateRecord>,
        clients: impl IntoIterator<Item = &'a Arc<ClientRecord>>,
        bounds: Option<&str>,
        thinking: Duration,
    ) -> Result<Self, String> {
        let is_maker =
            |it: &&Arc<ClientRecord>| Some(it.id) == line.client.parent && it.role == Role::Agent;
        let maker = match &line.by {
            DelegateBasis::Token(_) => clients.into_iter().find(is_maker).map(Arc::clone),
            DelegateBasis::Bounds(own) if bounds == Some(own) => {
                let site = line.site()?;
                line.client
                    .parent
                    .map(|id| Arc::new(stdio_client(id, site)))
            }
            DelegateBasis::Bounds(_) => None,
        };
        let known = maker.map(|maker| known(&line, &maker, thinking));
        let known = known.transpose()?;
        Ok(Self {
            known: known.map(Arc::new),
            line,
        })
    }

    /// The delegate, if it and its maker may call at this moment.
    pub(in crate::server) fn standing(&self) -> Option<&Arc<ClientRecord>> {
        let known = self.known.as_ref()?;
        let maker = &known.bond.as_ref()?.maker;
        let is_of_maker = match &self.line.by {
            DelegateBasis::Token(by) => maker.backs(&by.to_lowercase()),
            DelegateBasis::Bounds(_) => true,
        };
        (is_of_maker && self.line.end_reason().is_none()).then_some(known)
    }

    /// True if it was made over stdio and lasts, but the settings or the key of this server are not those of then.
    pub(in crate::server) fn is_out_of_bounds(&self) -> bool {
        let is_bounded = matches!(self.line.by, DelegateBasis::Bounds(_));
        is_bounded && self.known.is_none() && self.line.end_reason().is_none()
    }
}

/// The id of the user of this process as a client over stdio: the sessions of one user are one client.
pub(in crate::server) fn user_over_stdio() -> ClientId {
    let user = rustix::process::geteuid().as_raw();
    ClientId::derived(&format!("{STDIO} {user}"))
}

/// The client of a connection over stdio, as its delegates' maker. What bounds it are the settings.
pub(in crate::server) fn stdio_client(id: ClientId, site: Option<SiteName>) -> ClientRecord {
    ClientRecord {
        id,
        name: STDIO.to_owned(),
        role: Role::Agent,
        identity: format!("{STDIO}#{id}"),
        sha256: None,
        old: None,
        expires: None,
        sites: site.map(|site| vec![site]),
        rights: CallerRights::default(),
        may: Grant::default(),
        bond: None,
        person: None,
    }
}

/// A delegate of this maker with what both may.
fn known(
    line: &DelegateRecord,
    maker: &Arc<ClientRecord>,
    thinking: Duration,
) -> Result<ClientRecord, String> {
    let both = line.client.granted(line.client.may.within(&maker.may)?);
    Ok(ClientRecord {
        bond: Some(Bond {
            maker: Arc::clone(maker),
            site: line.site()?,
            task: line.task.as_str().into(),
        }),
        ..both.checked_whole(thinking)?
    })
}

#[cfg(test)]
mod tests;
