//! Models grants: limits of a caller beyond the server's, in one list of words for all who call.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::narrowing::ClientLimits;
use crate::audit::Role;
use crate::page::{Prefix, ReadRule};
use crate::site::SiteName;

/// The time before an end at which it is announced.
const NOTICE: time::Duration = time::Duration::days(14);

/// True if an end is still to come and is to be announced: within 14 days from now.
pub fn ends_soon(end: OffsetDateTime, now: OffsetDateTime) -> bool {
    let left = end - now;
    left.is_positive() && left <= NOTICE
}

/// The limits of a caller beyond the server's, in the words of `token new`. The default takes
/// nothing away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Grant {
    /// The only sites that it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sites: Option<Vec<String>>,
    /// It is offered no tool that writes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// The only tools that it is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The only prefixes below which it writes, or decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<Vec<String>>,
    /// The only prefixes below which it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_prefixes: Option<Vec<String>>,
    /// The prefixes below which it does not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied_read_prefixes: Option<Vec<String>>,
    /// The tags with which it reads no page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied_read_tags: Option<Vec<String>>,
    /// Its writes end as previews.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// `person`: a person says yes to each of its writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<ClientConfirm>,
    /// A reviewer may apply what waits although the server is in a dry run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_apply_in_dry_run: bool,
    /// The most requests a minute that it may send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// The time at which it ends, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// The confirmation of a client's writes, where that is its own rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientConfirm {
    /// By a person.
    Person,
}

impl Grant {
    /// Its limits for reading and writing; `thinking` is the time that a person has.
    ///
    /// # Errors
    /// One sentence about a word that cannot be meant.
    pub fn narrowing(&self, thinking: Duration) -> Result<ClientLimits, String> {
        if self.rate == Some(0) {
            return Err("a rate is at least 1 a minute".to_owned());
        }
        Ok(ClientLimits {
            is_read_only: self.read_only,
            is_dry_run: self.dry_run,
            person: self.confirm.map(|ClientConfirm::Person| thinking),
            prefixes: prefixes(self.prefixes.as_deref())?,
            reads: self.reads()?,
        })
    }

    /// The only sites that it sees.
    ///
    /// # Errors
    /// One sentence about what is no name of a site.
    pub fn own_sites(&self) -> Result<Option<Vec<SiteName>>, String> {
        let names = self.sites.as_ref();
        let names = names.map(|names| names.iter().map(|name| name.parse()).collect());
        names.transpose()
    }

    /// The time at which it ends, if it does.
    ///
    /// # Errors
    /// One sentence.
    pub fn ends(&self) -> Result<Option<OffsetDateTime>, String> {
        let date = |text: &String| {
            OffsetDateTime::parse(text, &Rfc3339)
                .map_err(|_| "expires must be a time in RFC 3339".to_owned())
        };
        self.expires.as_ref().map(date).transpose()
    }

    /// The grant of a delegate that asks for this one: what its maker may do, too, and no more.
    ///
    /// The sites are the maker's; a delegate is bound to the one on which it was made besides.
    ///
    /// # Errors
    /// One sentence about a word that cannot be meant.
    pub fn within(&self, maker: &Self) -> Result<Self, String> {
        // Every member is named here, so that a new one is intersected, too.
        let Self {
            sites: _,
            read_only,
            tools,
            prefixes,
            read_prefixes,
            denied_read_prefixes,
            denied_read_tags,
            dry_run,
            confirm,
            may_apply_in_dry_run,
            rate,
            expires,
        } = self;
        let expires = match (self.ends()?, maker.ends()?) {
            (Some(own), Some(end)) if end < own => &maker.expires,
            (Some(_), _) => expires,
            (None, _) => &maker.expires,
        };
        Ok(Self {
            sites: maker.sites.clone(),
            read_only: *read_only || maker.read_only,
            tools: common(tools.as_ref(), maker.tools.as_ref()),
            prefixes: meeting(prefixes.as_deref(), maker.prefixes.as_deref())?,
            read_prefixes: meeting(read_prefixes.as_deref(), maker.read_prefixes.as_deref())?,
            denied_read_prefixes: both(
                denied_read_prefixes.as_ref(),
                maker.denied_read_prefixes.as_ref(),
            ),
            denied_read_tags: both(denied_read_tags.as_ref(), maker.denied_read_tags.as_ref()),
            dry_run: *dry_run || maker.dry_run,
            confirm: confirm.or(maker.confirm),
            may_apply_in_dry_run: *may_apply_in_dry_run && maker.may_apply_in_dry_run,
            rate: rate.iter().chain(&maker.rate).min().copied(),
            expires: expires.clone(),
        })
    }

    /// Checks that a client of this role can be granted this.
    ///
    /// # Errors
    /// One sentence about the first word that means nothing to the role.
    pub fn fits(&self, role: Role) -> Result<(), String> {
        // Every member is named here, so that a new one is given a role or two.
        let Self {
            sites,
            read_only,
            tools,
            prefixes,
            read_prefixes,
            denied_read_prefixes: denied_prefixes,
            denied_read_tags: denied_tags,
            dry_run,
            confirm,
            may_apply_in_dry_run,
            rate,
            expires: _,
        } = self;
        let (agent, reviewer) = (role == Role::Agent, role == Role::Reviewer);
        let reads = agent || reviewer;
        let words = [
            ("sites", sites.is_some(), role != Role::Metrics),
            ("read-only", *read_only, agent),
            ("tools", tools.is_some(), agent),
            ("prefixes", prefixes.is_some(), reads),
            ("read-prefixes", read_prefixes.is_some(), reads),
            ("denied-read-prefixes", denied_prefixes.is_some(), reads),
            ("denied-read-tags", denied_tags.is_some(), reads),
            ("dry-run", *dry_run, agent),
            ("confirm", confirm.is_some(), agent),
            ("may-apply-in-dry-run", *may_apply_in_dry_run, reviewer),
            ("rate", rate.is_some(), agent),
        ];
        let unfit = words.iter().find(|(_, is_there, fits)| *is_there && !fits);
        unfit.map_or(Ok(()), |(word, ..)| {
            let role = role.as_str();
            Err(format!(
                "--{word} means nothing to a client of the role {role}"
            ))
        })
    }

    /// The rule for what it lets a client read.
    fn reads(&self) -> Result<ReadRule, String> {
        let tags = self.denied_read_tags.as_deref().unwrap_or_default();
        if tags.iter().any(|tag| tag.trim().is_empty()) {
            return Err("a denied tag must not be empty".to_owned());
        }
        Ok(ReadRule::new(
            prefixes(self.read_prefixes.as_deref())?,
            prefixes(self.denied_read_prefixes.as_deref())?.unwrap_or_default(),
            tags,
        ))
    }
}

/// The words that are in both lists; a list that is not there has all.
fn common(one: Option<&Vec<String>>, other: Option<&Vec<String>>) -> Option<Vec<String>> {
    let (Some(one), Some(other)) = (one, other) else {
        return one.or(other).cloned();
    };
    let both = one.iter().filter(|word| other.contains(word));
    Some(both.cloned().collect())
}

/// The words that are in one of both lists.
fn both(one: Option<&Vec<String>>, other: Option<&Vec<String>>) -> Option<Vec<String>> {
    let (Some(one), Some(other)) = (one, other) else {
        return one.or(other).cloned();
    };
    let more = other.iter().filter(|word| !one.contains(word));
    Some(one.iter().chain(more).cloned().collect())
}

/// Prefixes below which a place lies if it lies below one of each list; a list that is not there
/// holds everywhere.
fn meeting(
    one: Option<&[String]>,
    other: Option<&[String]>,
) -> Result<Option<Vec<String>>, String> {
    Ok(match (prefixes(one)?, prefixes(other)?) {
        (None, None) => None,
        (Some(all), None) | (None, Some(all)) => Some(all.iter().map(Prefix::to_string).collect()),
        (Some(one), Some(other)) => {
            let met = one
                .iter()
                .flat_map(|one| other.iter().filter_map(|other| one.and(other)));
            let met: Vec<Prefix> = met.collect();
            let lies_in =
                |one: &Prefix, other: &Prefix| one != other && one.and(other).as_ref() == Some(one);
            let widest = met
                .iter()
                .filter(|one| !met.iter().any(|other| lies_in(one, other)));
            let mut widest: Vec<String> = widest.map(Prefix::to_string).collect();
            widest.sort_unstable();
            widest.dedup();
            Some(widest)
        }
    })
}

fn prefixes(texts: Option<&[String]>) -> Result<Option<Vec<Prefix>>, String> {
    let parsed = texts.map(|texts| texts.iter().map(|text| Prefix::parse(text)).collect());
    parsed
        .transpose()
        .map_err(|fault: String| format!("a prefix {fault}"))
}

#[cfg(test)]
mod tests {
    mod family;

    use time::{Duration, OffsetDateTime};

    use super::{Grant, ends_soon};
    use crate::audit::Role;
    use crate::page::{Locale, PagePath, Prefix, ReadScope};

    #[test]
    fn an_end_is_told_in_its_last_14_days() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let soon = |left| ends_soon(now + left, now);
        assert!(soon(Duration::days(14)) && soon(Duration::SECOND));
        assert!(!soon(Duration::days(14) + Duration::SECOND));
        assert!(!soon(Duration::ZERO) && !soon(-Duration::SECOND));
    }

    #[test]
    fn each_role_takes_only_the_words_that_mean_something_to_it() {
        let word = |member: &str, value: &str| -> Grant {
            serde_json::from_str(&format!("{{\"{member}\": {value}}}")).expect("a grant")
        };
        let all = Role::Agent;
        let roles = [all, Role::Reviewer, Role::Auditor, Role::Metrics];
        for (member, value, fitting) in [
            ("readOnly", "true", "agent"),
            ("tools", "[]", "agent"),
            ("prefixes", "[\"a\"]", "agent reviewer"),
            ("readPrefixes", "[\"a\"]", "agent reviewer"),
            ("deniedReadPrefixes", "[\"a\"]", "agent reviewer"),
            ("deniedReadTags", "[\"a\"]", "agent reviewer"),
            ("dryRun", "true", "agent"),
            ("confirm", "\"person\"", "agent"),
            ("mayApplyInDryRun", "true", "reviewer"),
            ("rate", "1", "agent"),
            (
                "expires",
                "\"2030-01-01T00:00:00Z\"",
                "agent reviewer auditor metrics",
            ),
        ] {
            let grant = word(member, value);
            let fits = roles.iter().filter(|role| grant.fits(**role).is_ok());
            let fits: Vec<&str> = fits.map(|role| role.as_str()).collect();
            assert_eq!(fits.join(" "), fitting, "{member}");
        }
    }

    #[test]
    fn a_grant_narrows_by_each_of_its_words_and_leaves_out_what_it_does_not_say() {
        let thinking = std::time::Duration::from_secs(9);
        let grant: Grant = serde_json::from_value(serde_json::json!({
            "readOnly": true, "prefixes": ["docs"], "dryRun": true, "confirm": "person",
            "deniedReadPrefixes": ["secret"], "expires": "2030-01-01T00:00:00Z",
        }))
        .expect("a grant");
        let narrowing = grant.narrowing(thinking).expect("it means something");
        assert!(narrowing.is_read_only && narrowing.is_dry_run);
        assert_eq!(narrowing.person, Some(thinking));
        let docs = Prefix::parse("docs").expect("a prefix");
        assert_eq!(narrowing.prefixes, Some(vec![docs]));
        let reads = ReadScope::default().narrowed_by(&narrowing.reads);
        let en = Locale::as_stored("en");
        assert!(!reads.admits_place(&en, &PagePath::as_stored("secret/a")));
        assert!(reads.admits_place(&en, &PagePath::as_stored("docs/a")));
        let ends = grant
            .ends()
            .expect("a time")
            .map(OffsetDateTime::unix_timestamp);
        assert_eq!(ends, Some(1_893_456_000));

        let open = Grant::default();
        let narrowing = open.narrowing(thinking).expect("nothing");
        assert!(!narrowing.is_read_only && !narrowing.is_dry_run);
        assert_eq!((narrowing.person, narrowing.prefixes), (None, None));
        assert_eq!(
            serde_json::to_value(&open).expect("JSON"),
            serde_json::json!({})
        );
        let told = serde_json::to_value(&grant).expect("JSON");
        assert_eq!(told["readOnly"], true);
    }

    #[test]
    fn a_word_that_cannot_be_meant_is_a_fault() {
        for (grant, fault) in [
            (r#"{"rate": 0}"#, "a rate is at least 1"),
            (r#"{"prefixes": [""]}"#, "a prefix"),
            (r#"{"deniedReadPrefixes": ["a//b"]}"#, "a prefix"),
            (r#"{"deniedReadTags": [" "]}"#, "a denied tag"),
        ] {
            let grant: Grant = serde_json::from_str(grant).expect("a grant");
            let told = grant.narrowing(std::time::Duration::ZERO).unwrap_err();
            assert!(told.contains(fault), "{told}");
        }
        let one: Grant = serde_json::from_str(r#"{"rate": 1}"#).expect("a grant");
        assert!(one.narrowing(std::time::Duration::ZERO).is_ok());
        let late: Grant = serde_json::from_str(r#"{"expires": "soon"}"#).expect("a grant");
        assert!(late.ends().is_err());
    }
}
