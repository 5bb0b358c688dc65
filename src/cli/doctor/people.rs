//! Checks people's sign-in: whether the issuer answers, and whether anybody has a grant.

use std::collections::BTreeSet;

use super::finding::DoctorFinding;
use crate::cli::start;
use crate::config::ServeSettings;
use crate::oauth::{Issuer, IssuerTimes};
use crate::site::SiteName;

/// Findings about `[oauth]`.
pub(super) async fn found(settings: &ServeSettings) -> Vec<DoctorFinding> {
    let Some(oauth) = &settings.oauth else {
        return Vec::new();
    };
    let issuer = Issuer::new(oauth, &settings.issuer_network, IssuerTimes::default());
    let fault = match issuer {
        Ok(issuer) => issuer.look().await,
        Err(fault) => Some(fault),
    };
    let name = &oauth.issuer;
    let mut found = vec![match fault {
        None => DoctorFinding::good(format!("the issuer {name} answers, and has keys")),
        Some(fault) => DoctorFinding::wrong(
            format!("the issuer {name} is away: {fault}"),
            "Correct oauth.issuer, or look at the issuer and the way to it; until then nobody new signs in.",
        ),
    }];
    if oauth.grants.is_empty() {
        let todo = "Add [[oauth.grants]] with groups, subjects or email_domains, and a role.";
        found.push(DoctorFinding::warning(
            "there are no grants, so nobody signs in",
            todo,
        ));
    }
    let Ok(layers) = start::layers() else {
        return found;
    };
    if layers.lack_a_default() && oauth.grants.iter().any(|grant| grant.may.sites.is_none()) {
        let seen =
            "a grant without sites opens the wiki that /mcp means, and the settings file has none";
        let todo = "Name sites in [[oauth.grants]], or set default_site.";
        found.push(DoctorFinding::warning(seen, todo));
    }
    // A site that was taken out or is misspelt opens nothing, and nobody is told.
    let is_there = |name: &str| {
        let site = name.parse::<SiteName>().ok();
        site.is_some_and(|site| layers.at(Some(&site)).is_some())
    };
    let named = oauth
        .grants
        .iter()
        .filter_map(|grant| grant.may.sites.as_ref());
    let missing: BTreeSet<&String> = named.flatten().filter(|name| !is_there(name)).collect();
    found.extend(missing.into_iter().map(|name| {
        let seen = format!("a grant names the site {name}, which the settings file does not have");
        DoctorFinding::warning(seen, "Correct sites in [[oauth.grants]], or add the site.")
    }));
    found
}
