//! Holds the settings of `[oauth]`, and finds the grant of a person.

use std::path::PathBuf;

use url::Url;

use super::claims::PersonClaims;
use crate::audit::Role;
use crate::gates::Grant;
use crate::page::Prefix;
use crate::wiki::is_safe_place;
use crate::words::words;

/// The settings of people's sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthSettings {
    /// The issuer, letter for letter as its document and its tokens name it.
    pub issuer: String,
    /// The audiences of which a token must name one.
    pub audiences: Vec<String>,
    /// The scopes that a token needs.
    pub scopes: OauthScopes,
    /// The claim that holds a person's groups; dots lead into objects.
    pub groups_claim: String,
    /// The grants; the first that matches holds.
    pub grants: Vec<PersonGrant>,
    /// The client id of the review page at the issuer.
    pub review_client_id: Option<String>,
    /// The file with the secret of that client.
    pub review_secret_file: Option<PathBuf>,
    /// The file with the secret that seals what is kept of people's sessions at the review page.
    pub review_key_file: Option<PathBuf>,
}

/// The scopes that a token needs; an empty one is not asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthScopes {
    /// For every call.
    pub read: String,
    /// For a tool that writes.
    pub write: String,
}

impl Default for OauthScopes {
    fn default() -> Self {
        Self {
            read: "wiki:read".to_owned(),
            write: "wiki:write".to_owned(),
        }
    }
}

/// The grant of the people who match all that it names; of a list, one member must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonGrant {
    /// Groups.
    pub groups: Vec<String>,
    /// Subjects, letter for letter.
    pub subjects: Vec<String>,
    /// Domains of verified e-mail addresses.
    pub email_domains: Vec<String>,
    /// The role.
    pub role: Role,
    /// The limits beyond the server's.
    pub may: Grant,
    /// True if a reviewer may decide on sets of their own clients.
    pub decides_own: bool,
}

words! {
    /// The reason why no grant holds for a person.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NoGrant: message {
        /// None matches.
        NoMatch = "no grant of this server is for this account; its operator adds one",
        /// The issuer left the groups out of the token.
        GroupsLeftOut = "the issuer left this account's groups out of the token, as it does with too many, so no grant by groups holds; let it send only the groups that this server needs",
        /// The issuer does not vouch for the e-mail address.
        EmailNotVerified = "the issuer does not say that this account's e-mail address is verified, so no grant by its domain holds",
    }
}

impl OauthSettings {
    /// The issuer's address.
    ///
    /// # Errors
    /// One fragment about the address.
    pub fn issuer_url(issuer: &str) -> Result<Url, String> {
        let fault = "must be an https address without a query, or an http address on loopback";
        let url = Url::parse(issuer).map_err(|_| fault.to_owned())?;
        is_safe_place(&url)
            .then_some(url)
            .ok_or_else(|| fault.to_owned())
    }

    /// True if a token is judged as by these other settings.
    pub fn judges_as(&self, other: &Self) -> bool {
        (&self.issuer, &self.audiences) == (&other.issuer, &other.audiences)
            && (&self.scopes, &self.groups_claim) == (&other.scopes, &other.groups_claim)
    }

    /// A warning for each grant that holds for nobody, and for each of their paths that probably matches no
    /// page.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut is_for_everybody = false;
        for grant in &self.grants {
            if is_for_everybody {
                warnings.push("a grant behind one for everybody never holds".to_owned());
            }
            is_for_everybody |= grant.is_for_everybody();
            let may = &grant.may;
            let lists = [&may.prefixes, &may.read_prefixes, &may.denied_read_prefixes];
            let prefixes = lists.into_iter().flatten().flatten();
            warnings.extend(prefixes.filter_map(|text| {
                let doubt = Prefix::parse(text).ok()?.doubt()?;
                Some(format!("a grant has {text:?}, {doubt}"))
            }));
        }
        warnings
    }

    /// True if everybody whom `other` lets in may do at least as much under these settings: the grants of
    /// `other` come first and in their order, since the first grant that matches holds.
    pub fn grants_all_of(&self, other: &Self) -> bool {
        self.judges_as(other) && self.grants.starts_with(&other.grants)
    }

    /// The grant of a person: the first that matches.
    ///
    /// # Errors
    /// [`NoGrant`].
    pub fn grant_for(&self, claims: &PersonClaims) -> Result<&PersonGrant, NoGrant> {
        if let Some(grant) = self.grants.iter().find(|grant| grant.matches(claims)) {
            return Ok(grant);
        }
        let any = |names: fn(&PersonGrant) -> bool| self.grants.iter().any(names);
        Err(
            if claims.groups_left_out && any(|it| !it.groups.is_empty()) {
                NoGrant::GroupsLeftOut
            } else if claims.has_unverified_email && any(|it| !it.email_domains.is_empty()) {
                NoGrant::EmailNotVerified
            } else {
                NoGrant::NoMatch
            },
        )
    }
}

impl PersonGrant {
    /// True if it names nobody, and so matches everybody.
    const fn is_for_everybody(&self) -> bool {
        self.groups.is_empty() && self.subjects.is_empty() && self.email_domains.is_empty()
    }

    fn matches(&self, claims: &PersonClaims) -> bool {
        let domain = || claims.email.as_ref()?.rsplit_once('@').map(|(_, it)| it);
        let is_of_domain = |own: &str| {
            let mut wanted = self.email_domains.iter();
            wanted.any(|wanted| wanted.eq_ignore_ascii_case(own))
        };
        (self.groups.is_empty() || self.groups.iter().any(|it| claims.groups.contains(it)))
            && (self.subjects.is_empty() || self.subjects.contains(&claims.subject))
            && (self.email_domains.is_empty() || domain().is_some_and(is_of_domain))
    }
}
