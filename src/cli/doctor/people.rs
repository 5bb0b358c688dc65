//! Checks people's sign-in: whether the issuer answers, and whether anybody has a grant.

use super::finding::DoctorFinding;
use crate::config::ServeSettings;
use crate::oauth::{Issuer, IssuerTimes};

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
    found
}
