//! Verifies tokens of an issuer: access tokens for the protocol, id tokens for the review page.

use std::sync::Arc;

use time::OffsetDateTime;

use super::jwt::SignedJwt;
use super::{Issuer, OauthSettings, PersonClaims, TokenFault};

/// The difference of clocks that is put up with, in seconds.
const LEEWAY: i64 = 30;
/// The longest that a token may still count, in seconds: two days.
const LONGEST: i64 = 48 * 60 * 60;
/// The algorithms that any key can have.
const ALGORITHMS: [&str; 10] = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "Ed25519",
];

impl Issuer {
    /// Verifies an access token for one of the audiences.
    ///
    /// # Errors
    /// [`TokenFault`].
    pub async fn verify_access(
        self: &Arc<Self>,
        token: &str,
        settings: &OauthSettings,
    ) -> Result<PersonClaims, TokenFault> {
        let jwt = SignedJwt::parse(token)?;
        let is_for = |jwt: &SignedJwt<'_>| settings.audiences.iter().any(|one| jwt.is_for(one));
        self.verify(jwt, settings, &["jwt", "at+jwt"], is_for).await
    }

    /// Verifies an id token for the client of the review page: one that answers a sign-in with this nonce, or one
    /// that came with a refresh token's answer, which may lack it.
    ///
    /// # Errors
    /// [`TokenFault`].
    pub async fn verify_id(
        self: &Arc<Self>,
        token: &str,
        (client_id, nonce): (&str, Option<&str>),
        settings: &OauthSettings,
    ) -> Result<PersonClaims, TokenFault> {
        let jwt = SignedJwt::parse(token)?;
        if nonce.is_some() && jwt.text("nonce") != nonce {
            return Err(TokenFault::Nonce);
        }
        // It was made at the client's request.
        let is_for = |jwt: &SignedJwt<'_>| {
            jwt.is_for(client_id) && jwt.text("azp").is_none_or(|party| party == client_id)
        };
        self.verify(jwt, settings, &["jwt"], is_for).await
    }

    async fn verify(
        self: &Arc<Self>,
        jwt: SignedJwt<'_>,
        settings: &OauthSettings,
        kinds: &[&str],
        is_for: impl Fn(&SignedJwt<'_>) -> bool,
    ) -> Result<PersonClaims, TokenFault> {
        if !ALGORITHMS.contains(&&*jwt.header.alg) {
            return Err(TokenFault::Algorithm);
        }
        // No key is fetched for what can be no token for this server.
        if jwt.text("iss") != Some(&settings.issuer) {
            return Err(TokenFault::Issuer);
        }
        if !is_for(&jwt) {
            return Err(TokenFault::Audience);
        }
        self.check(&jwt).await?;
        let kind = jwt.header.typ.as_deref().unwrap_or("JWT").to_lowercase();
        let kind = kind.strip_prefix("application/").unwrap_or(&kind);
        if !kinds.contains(&kind) {
            return Err(TokenFault::Kind);
        }
        if jwt.claims.contains_key("cnf") {
            return Err(TokenFault::Bound);
        }
        let times = check_times(&jwt, OffsetDateTime::now_utc())?;
        let subject = jwt
            .text("sub")
            .filter(|subject| (1..=255).contains(&subject.len()));
        let subject = subject.ok_or(TokenFault::NoSubject)?.to_owned();
        let (issuer, groups) = (&settings.issuer, &settings.groups_claim);
        Ok(PersonClaims::new(
            issuer,
            subject,
            times,
            &jwt.claims,
            groups,
        ))
    }
}

/// True if a text is a token that says it is this issuer's.
pub fn is_of_issuer(text: &str, issuer: &str) -> bool {
    SignedJwt::parse(text).is_ok_and(|jwt| jwt.text("iss") == Some(issuer))
}

/// Checks a token's times; returns when it was made, or its end if it does not say, and its end.
fn check_times(
    jwt: &SignedJwt<'_>,
    now: OffsetDateTime,
) -> Result<(OffsetDateTime, OffsetDateTime), TokenFault> {
    let now = now.unix_timestamp();
    let end = jwt.time("exp")?.ok_or(TokenFault::NoEnd)?;
    if end <= now.saturating_sub(LEEWAY) {
        return Err(TokenFault::Expired);
    }
    let is_to_come = |time: Option<i64>| time.is_some_and(|time| time > now.saturating_add(LEEWAY));
    let made = jwt.time("iat")?;
    if is_to_come(jwt.time("nbf")?) || is_to_come(made) {
        return Err(TokenFault::NotYet);
    }
    if end > now.saturating_add(LONGEST) {
        return Err(TokenFault::NoEnd);
    }
    let at = |time| OffsetDateTime::from_unix_timestamp(time).ok();
    let end = at(end.saturating_add(LEEWAY)).ok_or(TokenFault::NoEnd)?;
    Ok((made.and_then(at).unwrap_or(end), end))
}
