//! A delegate as the server takes it: with what its grant and its maker's both allow.

use std::sync::Arc;
use std::time::{Duration, Instant};

use time::OffsetDateTime;

use super::super::clients::client_record::{Bond, ClientRecord};
use super::super::clients::secret::is_same;
use super::delegate::{DelegateEndReason, DelegateRecord};
use crate::audit::Role;
use crate::site::SiteName;

/// The most that a clock may be behind the time of a delegate's making.
const SLACK: time::Duration = time::Duration::minutes(5);

/// A delegate and its maker, as their files have them now.
#[derive(Debug)]
pub(in crate::server) struct LiveDelegate {
    pub(in crate::server) line: DelegateRecord,
    made: OffsetDateTime,
    end: OffsetDateTime,
    /// Time at which it ends, by a clock that nobody sets.
    pub(in crate::server) until: Instant,
    /// As the server takes it; `None` if its maker is not there.
    known: Option<Arc<ClientRecord>>,
}

/// The reason a delegate is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum DelegateRefusal {
    /// It has ended for good.
    For(DelegateEndReason),
    /// The clock says that it was not made yet.
    Clock,
}

impl LiveDelegate {
    /// A delegate among these clients. `known_until` is what an earlier reading of the same line
    /// made of its end; a clock that is set back lengthens no life.
    pub(in crate::server) fn of(
        line: DelegateRecord,
        clients: &[Arc<ClientRecord>],
        thinking: Duration,
        known_until: Option<Instant>,
    ) -> Result<Self, String> {
        let (made, end) = line.span()?;
        let maker = clients
            .iter()
            .find(|client| Some(client.id) == line.parent() && client.role == Role::Agent);
        let known = maker
            .map(|maker| known(&line, maker, thinking))
            .transpose()?;
        let left = end - OffsetDateTime::now_utc();
        let left = left.min(super::delegate::LONGEST);
        let left = Duration::try_from(left).unwrap_or(Duration::ZERO);
        let now = Instant::now();
        let until = now.checked_add(left).unwrap_or(now);
        Ok(Self {
            made,
            end,
            until: known_until.map_or(until, |known| known.min(until)),
            known: known.map(Arc::new),
            line,
        })
    }

    /// True if a token with this digest is its own.
    pub(in crate::server) fn is_of(&self, digest: &str) -> bool {
        let own = self.line.client.digest();
        own.is_some_and(|own| is_same(&own.to_lowercase(), digest))
    }

    /// The delegate, if it and its maker are there at this moment.
    pub(in crate::server) fn standing(&self) -> Result<&Arc<ClientRecord>, DelegateRefusal> {
        self.standing_at(OffsetDateTime::now_utc(), Instant::now())
    }

    fn standing_at(
        &self,
        now: OffsetDateTime,
        at: Instant,
    ) -> Result<&Arc<ClientRecord>, DelegateRefusal> {
        if let Some(ended) = &self.line.ended {
            return Err(DelegateRefusal::For(ended.why));
        }
        if now >= self.end || at >= self.until {
            return Err(DelegateRefusal::For(DelegateEndReason::TimeUp));
        }
        if now < self.made - SLACK {
            return Err(DelegateRefusal::Clock);
        }
        let maker_gone = DelegateRefusal::For(DelegateEndReason::MakerGone);
        let known = self.known.as_ref().ok_or(maker_gone)?;
        let bond = known.bond.as_ref().ok_or(maker_gone)?;
        match bond.maker.takes(&self.line.by.to_lowercase()) {
            Some(Ok(())) => Ok(known),
            _ => Err(maker_gone),
        }
    }
}

/// A delegate of this maker with what both may.
fn known(
    line: &DelegateRecord,
    maker: &Arc<ClientRecord>,
    thinking: Duration,
) -> Result<ClientRecord, String> {
    let both = line.client.granted(line.client.may.within(&maker.may)?);
    let site = line.site.as_deref().map(str::parse::<SiteName>);
    Ok(ClientRecord {
        bond: Some(Bond {
            maker: Arc::clone(maker),
            site: site.transpose()?,
            task: line.task.as_str().into(),
        }),
        ..both.checked_whole(thinking)?
    })
}

#[cfg(test)]
mod tests;
