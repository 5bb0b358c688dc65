//! Verifies tokens of an issuer: access tokens for the protocol, id tokens for the review page.

use std::sync::Arc;

use time::OffsetDateTime;

use super::claims::PersonClaims;
use super::issuer::Issuer;
use super::jwt::SignedJwt;
use super::settings::OauthSettings;

/// The difference of clocks that is put up with, in seconds.
const LEEWAY: i64 = 30;
/// The longest that a token may still count, in seconds: two days.
const LONGEST: i64 = 48 * 60 * 60;
/// The algorithms that any key can have.
const ALGORITHMS: [&str; 10] = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "Ed25519",
];

/// The reason why a token does not count. None repeats anything of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// It is larger than any real one.
    #[error("the token is larger than 16 kB")]
    TooLarge,
    /// It is no signed token.
    #[error("this is no signed token (JWT) of the issuer")]
    Malformed,
    /// Its head asks for an extension.
    #[error("the token's head has crit, which is not supported")]
    Critical,
    /// Its key is not for its algorithm, or nothing is.
    #[error("the token's algorithm is not one of its key's")]
    Algorithm,
    /// No key of the issuer has its id.
    #[error("the token is signed with a key that is not in the issuer's key set")]
    UnknownKey,
    /// The signature is wrong.
    #[error("the token's signature is wrong")]
    Signature,
    /// It is another issuer's.
    #[error("the token is of another issuer")]
    Issuer,
    /// It was made for somebody else.
    #[error("the token was made for another audience; ask the issuer for one for this server")]
    Audience,
    /// It is another kind of token.
    #[error("this kind of token (typ) does not count here")]
    Kind,
    /// Its time is up.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come.
    #[error("the token does not count yet")]
    NotYet,
    /// It says no end, or one too far away.
    #[error("the token must end within two days")]
    NoEnd,
    /// It names nobody.
    #[error("the token names no subject")]
    NoSubject,
    /// Its client has to prove that it holds a key.
    #[error("the token is bound to a key of its client (cnf), which is not supported")]
    Bound,
    /// It belongs to another sign-in.
    #[error("the token belongs to another sign-in")]
    Nonce,
    /// No key set could be fetched, and none is recent enough.
    #[error("the issuer does not answer, so that nobody's token can be verified")]
    IssuerAway,
}

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

    /// Verifies an id token that answers a sign-in with this nonce, for the client of the review page.
    ///
    /// # Errors
    /// [`TokenFault`].
    pub async fn verify_id(
        self: &Arc<Self>,
        token: &str,
        (client_id, nonce): (&str, &str),
        settings: &OauthSettings,
    ) -> Result<PersonClaims, TokenFault> {
        let jwt = SignedJwt::parse(token)?;
        if jwt.text("nonce") != Some(nonce) {
            return Err(TokenFault::Nonce);
        }
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
        let expires = check_times(&jwt, OffsetDateTime::now_utc())?;
        let subject = jwt
            .text("sub")
            .filter(|subject| (1..=255).contains(&subject.len()));
        let subject = subject.ok_or(TokenFault::NoSubject)?.to_owned();
        let (issuer, groups) = (&settings.issuer, &settings.groups_claim);
        Ok(PersonClaims::new(
            issuer,
            subject,
            expires,
            &jwt.claims,
            groups,
        ))
    }
}

/// Checks a token's times; returns its end.
fn check_times(jwt: &SignedJwt<'_>, now: OffsetDateTime) -> Result<OffsetDateTime, TokenFault> {
    let now = now.unix_timestamp();
    let end = jwt.time("exp")?.ok_or(TokenFault::NoEnd)?;
    if end <= now.saturating_sub(LEEWAY) {
        return Err(TokenFault::Expired);
    }
    let is_to_come = |time: Option<i64>| time.is_some_and(|time| time > now.saturating_add(LEEWAY));
    if is_to_come(jwt.time("nbf")?) || is_to_come(jwt.time("iat")?) {
        return Err(TokenFault::NotYet);
    }
    if end > now.saturating_add(LONGEST) {
        return Err(TokenFault::NoEnd);
    }
    let end = end.saturating_add(LEEWAY);
    OffsetDateTime::from_unix_timestamp(end).map_err(|_| TokenFault::NoEnd)
}
