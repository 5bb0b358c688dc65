//! `[oauth]`: the issuer that vouches for people, and which of their claims get which grant.

use std::path::Path;
use std::time::Duration;

use super::row::TableReader;
use super::schema::{self, ROLES};
use crate::audit::Role;
use crate::gates::{ClientConfirm, Grant};
use crate::oauth::{OauthScopes, OauthSettings, PersonGrant};
use crate::tools::{ToolSelection, Toolset, tools_of};

/// The most grants.
const MOST_GRANTS: usize = 200;

/// Reads `[oauth]`, if it is there.
pub(super) fn read(whole: &mut TableReader<'_>, file: &Path) -> Option<OauthSettings> {
    let mut own = whole.table("oauth", "sign-in")?;
    own.unknown(&schema::oauth(), "");
    let grants = grants(&mut own);
    let scopes = scopes(&mut own);
    own.needs(&["issuer", "audiences"]);
    let issuer = own.parsed("issuer", |issuer| {
        OauthSettings::issuer_url(issuer).map(|_| issuer.to_owned())
    });
    let audiences = own.list("audiences", filled);
    let groups_claim = own.parsed("groups_claim", filled);
    let client_id = own.parsed("review_client_id", filled);
    // A relative path starts at the file's directory, as those of settings do.
    let dir = file.parent().unwrap_or(Path::new(""));
    let mut path = |name| own.parsed(name, filled).map(|path| dir.join(path));
    let secret_file = path("review_secret_file");
    let key_file = path("review_key_file");
    if let (Some(id), Some(audiences)) = (&client_id, &audiences)
        && audiences.contains(id)
    {
        own.fault("audiences has the review page's client id, so that its id tokens would open /mcp; leave it out");
    }
    if (secret_file.is_some() || key_file.is_some()) && client_id.is_none() {
        own.fault("review_secret_file and review_key_file mean nothing without review_client_id");
    }
    if own.is_faulty() {
        return None;
    }
    Some(OauthSettings {
        issuer: issuer?,
        audiences: audiences?,
        scopes,
        groups_claim: groups_claim.unwrap_or_else(|| "groups".to_owned()),
        grants,
        review_client_id: client_id,
        review_secret_file: secret_file,
        review_key_file: key_file,
    })
}

fn scopes(own: &mut TableReader<'_>) -> OauthScopes {
    let usual = OauthScopes::default();
    let Some(mut scopes) = own.table("scopes", "scopes") else {
        return usual;
    };
    scopes.unknown(&schema::oauth(), "/properties/scopes");
    let mut scope = |name, usual| {
        let scope = scopes.read(name, |value| {
            let text = value.as_str().ok_or("must be a text in quotes")?;
            // RFC 6749, 3.3; none may end a header's quoted text.
            let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\');
            if text.chars().all(is_plain) {
                return Ok(text.to_owned());
            }
            Err("must be one scope without spaces, or empty".to_owned())
        });
        scope.unwrap_or(usual)
    };
    OauthScopes {
        read: scope("read", usual.read),
        write: scope("write", usual.write),
    }
}

fn grants(own: &mut TableReader<'_>) -> Vec<PersonGrant> {
    let grants = own.rows("grants", |row| Some(grant(row)));
    if grants.len() > MOST_GRANTS {
        own.fault(format!("there are more than {MOST_GRANTS} grants"));
    }
    grants
}

fn grant(row: &mut TableReader<'_>) -> PersonGrant {
    row.unknown(&schema::oauth(), "/properties/grants/items");
    let mut texts = |name| row.list(name, filled);
    let (groups, subjects) = (texts("groups"), texts("subjects"));
    let mut may = Grant {
        sites: texts("sites"),
        prefixes: texts("prefixes"),
        read_prefixes: texts("read_prefixes"),
        denied_read_prefixes: texts("denied_read_prefixes"),
        denied_read_tags: texts("denied_read_tags"),
        tools: texts("tools"),
        ..Grant::default()
    };
    let tools = may.tools.as_ref();
    let known = tools.map(|tools| ToolSelection::default().add(&tools.join(",")));
    if let Some(Err(fault)) = known {
        row.fault(format!("a grant's tools {fault}"));
    }
    let email_domains = row.list("email_domains", domain);
    let role = row.word("role", ROLES);
    let toolsets = row.list("toolsets", Toolset::parse_list);
    may.confirm = row.word("confirm", [("person", ClientConfirm::Person)]);
    let rate = row.number("rate", u32::MAX.into());
    may.rate = rate.and_then(|rate| u32::try_from(rate).ok());
    let mut flag = |name| row.flag(name);
    let (everybody, write) = (flag("everybody"), flag("write"));
    let decides_own = flag("decides_own");
    may.dry_run = flag("dry_run");
    may.may_apply_in_dry_run = flag("may_apply_in_dry_run");
    if let Some(sets) = toolsets {
        let sets: Vec<Toolset> = sets.into_iter().flatten().collect();
        let tools = tools_of(&sets).map(str::to_owned);
        may.tools.get_or_insert_default().extend(tools);
    }
    row.needs(&["role"]);
    let names_any = ["groups", "subjects", "email_domains"]
        .iter()
        .any(|name| row.has(name));
    let role = role.unwrap_or_default();
    may.read_only = role == Role::Agent && !write;
    let mut wrong = |is_wrong: bool, fault: &str| {
        if is_wrong {
            row.fault(fault);
        }
    };
    wrong(
        names_any == everybody,
        "a grant names groups, subjects or email_domains, or says everybody = true",
    );
    let (is_agent, is_reviewer) = (role == Role::Agent, role == Role::Reviewer);
    wrong(write && !is_agent, "write is for the role agent alone");
    let of_reviewers = "decides_own is for the role reviewer alone";
    wrong(decides_own && !is_reviewer, of_reviewers);
    let of_limits = [
        may.fits(role),
        may.narrowing(Duration::ZERO).map(drop),
        may.own_sites().map(drop),
    ];
    for fault in of_limits.into_iter().filter_map(Result::err) {
        let fault = fault.trim_start_matches("--");
        wrong(true, &format!("a grant: {fault}"));
    }
    PersonGrant {
        groups: groups.unwrap_or_default(),
        subjects: subjects.unwrap_or_default(),
        email_domains: email_domains.unwrap_or_default(),
        role,
        may,
        decides_own,
    }
}

fn filled(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("must be a text that is not empty".to_owned());
    }
    Ok(text.to_owned())
}

fn domain(text: &str) -> Result<String, String> {
    let is_domain = text.contains('.') && !text.contains(['@', ' ', '*']);
    is_domain
        .then(|| text.to_owned())
        .ok_or_else(|| format!("has {text:?}, which must be a domain such as example.com"))
}
