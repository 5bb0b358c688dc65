//! Makes a client of a person who signed in: their claims, and the grant that holds for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use time::format_description::well_known::Rfc3339;

use super::client_record::{ClientRecord, LackedScopes, SignedInPerson};
use crate::audit::{ClientId, PersonId, Role};
use crate::gates::Grant;
use crate::oauth::{NoGrant, OauthScopes, OauthSettings, PersonClaims, PersonGrant};

/// The most people who are known at a time; whoever's token ends first is forgotten first.
const MOST_PEOPLE: usize = 4096;

/// The id of a person's client: the same for the same issuer and subject, whatever their name.
fn client_id(claims: &PersonClaims) -> ClientId {
    // An issuer is an address, and has no line break.
    ClientId::derived(&format!("{}\n{}", claims.issuer, claims.subject))
}

/// The client of a person with a grant.
///
/// # Errors
/// One sentence about the grant.
fn record(
    claims: &PersonClaims,
    grant: &PersonGrant,
    thinking: Duration,
) -> Result<ClientRecord, String> {
    let person = PersonId {
        issuer: claims.issuer.clone(),
        subject: claims.subject.clone(),
    };
    let id = client_id(claims);
    let may = Grant {
        expires: claims.expires.format(&Rfc3339).ok(),
        ..grant.may.clone()
    };
    // A person may be called otherwise tomorrow, and owns the same things then.
    let named = (&*claims.name, format!("person#{id}"));
    Ok(ClientRecord {
        expires: Some(claims.expires),
        person: Some(SignedInPerson {
            id: person,
            decides_own: grant.decides_own,
            lacks: LackedScopes::default(),
        }),
        ..ClientRecord::new(id, named, grant.role, (may, thinking))?
    })
}

/// The client of a person at the review page, for as long as their claims count.
///
/// # Errors
/// [`NoGrant`].
pub(in crate::server) fn person_at_page(
    claims: &PersonClaims,
    settings: &OauthSettings,
    thinking: Duration,
) -> Result<ClientRecord, NoGrant> {
    let grant = settings.grant_for(claims)?;
    record(claims, grant, thinking).map_err(|fault| unusable(&fault))
}

/// The fault of a grant, although they were checked when the settings were read.
fn unusable(fault: &str) -> NoGrant {
    tracing::error!("a grant of [[oauth.grants]] cannot be used: {fault}");
    NoGrant::NoMatch
}

/// The client of a person for a call: no more than the scopes of its token allow.
fn scoped(
    claims: &PersonClaims,
    grant: &PersonGrant,
    (scopes, thinking): (&OauthScopes, Duration),
) -> Result<ClientRecord, String> {
    let may_write = grant.role == Role::Agent && !grant.may.read_only;
    let lacks = LackedScopes {
        read: !claims.has_scope(&scopes.read),
        write: may_write && !claims.has_scope(&scopes.write),
    };
    let mut grant = grant.clone();
    grant.may.read_only |= lacks.write;
    let mut client = record(claims, &grant, thinking)?;
    if let Some(person) = &mut client.person {
        person.lacks = lacks;
    }
    Ok(client)
}

/// The people whose tokens came, until these end, with all that they were granted. They are the
/// makers of their delegates.
#[derive(Debug, Default)]
pub(in crate::server) struct PresentPeople(HashMap<ClientId, PresentPerson>);

#[derive(Debug)]
struct PresentPerson {
    claims: PersonClaims,
    /// `None` if their latest token was refused: an older one brings nothing back.
    client: Option<Arc<ClientRecord>>,
}

impl PresentPeople {
    /// Lets a person in: their client for this call.
    ///
    /// # Errors
    /// [`NoGrant`].
    pub(in crate::server) fn admit(
        &mut self,
        claims: PersonClaims,
        settings: &OauthSettings,
        thinking: Duration,
    ) -> Result<Arc<ClientRecord>, NoGrant> {
        let id = client_id(&claims);
        let before = self.0.get(&id).map(|before| &before.claims);
        let is_latest = before.is_none_or(|before| before.issued <= claims.issued);
        let is_news = is_latest && before != Some(&claims);
        let grant = match (settings.grant_for(&claims), before) {
            (Ok(grant), _) => grant,
            (Err(none), Some(before)) if is_latest => {
                // It stays known until the tokens of before have ended.
                let expires = before.expires.max(claims.expires);
                let claims = PersonClaims { expires, ..claims };
                let client = None;
                self.0.insert(id, PresentPerson { claims, client });
                return Err(none);
            }
            (Err(none), _) => return Err(none),
        };
        let call = scoped(&claims, grant, (&settings.scopes, thinking))
            .map_err(|fault| unusable(&fault))?;
        // One that may not even read is refused, and stands for nobody.
        if is_news && claims.has_scope(&settings.scopes.read) {
            let client = record(&claims, grant, thinking).map_err(|fault| unusable(&fault))?;
            let client = Some(Arc::new(client));
            self.make_room();
            self.0.insert(id, PresentPerson { claims, client });
        }
        Ok(Arc::new(call))
    }

    /// Takes over other settings: whoever has no grant any more is gone, and everybody until their next
    /// call if tokens are judged otherwise.
    pub(in crate::server) fn follow(
        &mut self,
        before: Option<&OauthSettings>,
        settings: Option<&OauthSettings>,
        thinking: Duration,
    ) {
        let judged = before.zip(settings);
        if judged.is_some_and(|(before, now)| !now.judges_as(before)) {
            self.0.clear();
        }
        self.0.retain(|_, person| {
            let settings = settings.filter(|it| it.issuer == person.claims.issuer);
            let grant = settings.and_then(|it| it.grant_for(&person.claims).ok());
            let client = grant.and_then(|grant| record(&person.claims, grant, thinking).ok());
            let stays = client.is_some() || person.client.is_none() && settings.is_some();
            person.client = client.map(Arc::new);
            stays
        });
    }

    /// The clients of all whose tokens have not ended.
    pub(in crate::server) fn clients(&self) -> impl Iterator<Item = &Arc<ClientRecord>> {
        let all = self.0.values().filter_map(|person| person.client.as_ref());
        all.filter(|client| !client.has_ended())
    }

    fn make_room(&mut self) {
        if self.0.len() >= MOST_PEOPLE {
            let all = self.0.iter();
            let first = all.min_by_key(|(_, person)| person.claims.expires);
            if let Some(first) = first.map(|(id, _)| *id) {
                self.0.remove(&first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use time::OffsetDateTime;

    use super::{MOST_PEOPLE, PresentPeople};
    use crate::audit::Role;
    use crate::gates::Grant;
    use crate::oauth::{NoGrant, OauthScopes, OauthSettings, PersonClaims, PersonGrant};

    fn settings() -> OauthSettings {
        let grant = |group: &str, read_only| PersonGrant {
            groups: vec![group.to_owned()],
            subjects: Vec::new(),
            email_domains: Vec::new(),
            role: Role::Agent,
            may: Grant {
                read_only,
                ..Grant::default()
            },
            decides_own: false,
        };
        OauthSettings {
            issuer: "https://id.example".to_owned(),
            audiences: Vec::new(),
            scopes: OauthScopes::default(),
            groups_claim: "groups".to_owned(),
            grants: vec![grant("writers", false), grant("readers", true)],
            review_client_id: None,
            review_secret_file: None,
            review_key_file: None,
        }
    }

    fn claims(subject: &str, group: &str, minutes: i64) -> PersonClaims {
        PersonClaims {
            issuer: settings().issuer,
            subject: subject.to_owned(),
            name: format!("{subject}@x"),
            email: None,
            has_unverified_email: false,
            groups: vec![group.to_owned()],
            groups_left_out: false,
            scopes: vec!["wiki:read".to_owned()],
            issued: OffsetDateTime::UNIX_EPOCH + time::Duration::minutes(minutes),
            expires: OffsetDateTime::now_utc() + time::Duration::minutes(minutes),
        }
    }

    #[test]
    fn the_newest_token_says_what_a_person_may() {
        let (mut people, settings) = (PresentPeople::default(), settings());
        let admit = |people: &mut PresentPeople, group, minutes| {
            people.admit(claims("ada", group, minutes), &settings, Duration::ZERO)
        };
        let may_write = |people: &PresentPeople| {
            let mut all = people.clients();
            all.next().map(|client| !client.may.read_only)
        };
        // The scope for writes bounds the call and not the person.
        let call = admit(&mut people, "writers", 5).unwrap();
        assert!(call.may.read_only && call.person.as_ref().unwrap().lacks.write);
        assert_eq!(may_write(&people), Some(true));
        admit(&mut people, "readers", 6).unwrap();
        assert_eq!(may_write(&people), Some(false));
        // A token of before brings nothing back.
        admit(&mut people, "writers", 5).unwrap();
        assert_eq!(may_write(&people), Some(false));
        assert_eq!(admit(&mut people, "none", 5).err(), Some(NoGrant::NoMatch));
        assert!(may_write(&people).is_some());
        // One that was made later counts, though it ends earlier.
        let newest = PersonClaims {
            expires: OffsetDateTime::now_utc() + time::Duration::minutes(1),
            ..claims("ada", "none", 7)
        };
        let refused = people.admit(newest, &settings, Duration::ZERO);
        assert_eq!(refused.err(), Some(NoGrant::NoMatch));
        assert_eq!(may_write(&people), None);
        // Nor does an older one bring anything back, also after other settings.
        for _ in 0..2 {
            admit(&mut people, "writers", 5).unwrap();
            assert_eq!(may_write(&people), None);
            people.follow(Some(&settings), Some(&settings), Duration::ZERO);
        }
    }

    #[test]
    fn people_are_bounded_and_whoever_ends_first_is_forgotten_first() {
        let (mut people, settings) = (PresentPeople::default(), settings());
        for number in 0..=MOST_PEOPLE {
            let minutes = i64::try_from(number).unwrap() + 1;
            let claims = claims(&format!("s{number}"), "readers", minutes);
            people.admit(claims, &settings, Duration::ZERO).unwrap();
        }
        assert_eq!(people.clients().count(), MOST_PEOPLE);
        assert!(people.clients().all(|client| client.name != "s0@x"));
        people.follow(Some(&settings), None, Duration::ZERO);
        assert_eq!(people.clients().count(), 0);
    }
}
