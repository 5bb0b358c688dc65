//! Signs people in by authorization code with PKCE, and asks about them again by refresh token.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::{Issuer, OauthSettings, PersonClaims, TokenFault};

/// The scopes that are asked for where the issuer names them among its own.
const IF_SUPPORTED: [&str; 2] = ["groups", "offline_access"];

/// The secrets of one sign-in; only the browser that began it has them.
#[derive(Serialize, Deserialize)]
pub struct CodeSecrets {
    /// Comes back in the issuer's answer.
    pub state: String,
    /// Comes back in the id token.
    pub nonce: String,
    /// Proves to the issuer that whoever redeems the code began the sign-in.
    pub verifier: String,
}

/// The review page as a client of the issuer.
#[derive(Debug)]
pub struct PageClient {
    /// The issuer.
    pub issuer: Arc<Issuer>,
    /// The settings of people's sign-in.
    pub settings: Arc<OauthSettings>,
    /// The client id.
    pub id: String,
    /// The client secret; a public client has none.
    pub secret: Option<SecretString>,
}

/// The issuer's word about a person.
#[derive(Debug)]
pub struct IssuedTokens {
    /// The claims of the id token.
    pub claims: IssuedClaims,
    /// The token to ask again with.
    pub refresh: Option<SecretString>,
}

/// A person's claims, as far as the issuer sent them.
#[derive(Debug)]
pub enum IssuedClaims {
    /// Those of its id token.
    Of(Box<PersonClaims>),
    /// It sent no id token when it was asked again.
    None,
    /// Its id token cannot be verified at this moment.
    Unverified,
}

/// The reason why the issuer vouches for nobody. None repeats anything that the issuer said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodeFault {
    /// The issuer cannot be asked now, or does not take this server's request.
    #[error("the issuer does not answer as it should: {0}")]
    Away(String),
    /// The issuer says no, or what it sent does not count.
    #[error("the issuer does not vouch for this sign-in: {0}")]
    Refused(String),
}

/// A good answer of the token endpoint.
#[derive(Deserialize)]
struct TokenAnswer {
    id_token: Option<String>,
    refresh_token: Option<String>,
}

/// A bad one.
#[derive(Deserialize)]
struct TokenError {
    error: String,
}

impl CodeSecrets {
    /// New ones.
    ///
    /// # Errors
    /// If the system gives no random numbers.
    pub fn new() -> Result<Self, getrandom::Error> {
        let random = || {
            let mut bits = [0_u8; 32];
            getrandom::fill(&mut bits)?;
            Ok(URL_SAFE_NO_PAD.encode(bits))
        };
        Ok(Self {
            state: random()?,
            nonce: random()?,
            verifier: random()?,
        })
    }
}

impl PageClient {
    /// The address at the issuer where a person signs in; the issuer leads them `back`.
    ///
    /// # Errors
    /// [`CodeFault::Away`].
    pub async fn sign_in_at(&self, secrets: &CodeSecrets, back: &str) -> Result<Url, CodeFault> {
        let document = self.issuer.document().await;
        let document = document.map_err(|fault| CodeFault::Away(fault.message().to_owned()))?;
        let url = document.authorization_endpoint.clone();
        let mut url = url.ok_or_else(|| CodeFault::Away("it names no sign-in page".to_owned()))?;
        let supported = IF_SUPPORTED.into_iter();
        let supported =
            supported.filter(|it| document.scopes_supported.iter().any(|own| own == it));
        let scopes: Vec<&str> = ["openid", "profile", "email"]
            .into_iter()
            .chain(supported)
            .collect();
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(secrets.verifier.as_bytes()));
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.id)
            .append_pair("redirect_uri", back)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", &secrets.state)
            .append_pair("nonce", &secrets.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(url)
    }

    /// Checks who sent an answer to a browser (RFC 9207).
    ///
    /// # Errors
    /// [`CodeFault`].
    pub async fn check_sender(&self, named: Option<&str>) -> Result<(), CodeFault> {
        let document = self.issuer.document().await;
        let document = document.map_err(|fault| CodeFault::Away(fault.message().to_owned()))?;
        let is_needed = document.authorization_response_iss_parameter_supported;
        let is_it = named.map_or(!is_needed, |named| named == self.settings.issuer);
        let fault = "the answer comes from another issuer";
        is_it
            .then_some(())
            .ok_or_else(|| CodeFault::Refused(fault.to_owned()))
    }

    /// Redeems a code.
    ///
    /// # Errors
    /// [`CodeFault`].
    pub async fn redeem(
        &self,
        code: &str,
        secrets: &CodeSecrets,
        back: &str,
    ) -> Result<IssuedTokens, CodeFault> {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", back),
            ("code_verifier", &secrets.verifier),
        ];
        let answer = self.ask(&form).await?;
        let token = answer.id_token.as_deref();
        let token = token.ok_or_else(|| CodeFault::Refused("it sent no id token".to_owned()))?;
        let own = (&*self.id, Some(&*secrets.nonce));
        let claims = self.issuer.verify_id(token, own, &self.settings).await;
        let claims = claims.map_err(|fault| CodeFault::Refused(fault.message().to_owned()))?;
        Ok(IssuedTokens {
            claims: IssuedClaims::Of(Box::new(claims)),
            refresh: answer.refresh_token.map(Into::into),
        })
    }

    /// Asks about a person again.
    ///
    /// # Errors
    /// [`CodeFault`].
    pub async fn ask_again(&self, refresh: &SecretString) -> Result<IssuedTokens, CodeFault> {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.expose_secret()),
        ];
        let answer = self.ask(&form).await?;
        let claims = match answer.id_token.as_deref() {
            None => IssuedClaims::None,
            Some(token) => {
                let renewed = (&*self.id, None);
                match self.issuer.verify_id(token, renewed, &self.settings).await {
                    Ok(claims) => IssuedClaims::Of(Box::new(claims)),
                    // Its keys are to be had again in a minute.
                    Err(TokenFault::IssuerAway | TokenFault::UnknownKey) => {
                        IssuedClaims::Unverified
                    }
                    Err(fault) => return Err(CodeFault::Refused(fault.message().to_owned())),
                }
            }
        };
        Ok(IssuedTokens {
            claims,
            refresh: answer.refresh_token.map(Into::into),
        })
    }

    /// The address at the issuer where a person signs out there, too.
    pub async fn sign_out_at(&self) -> Option<Url> {
        let document = self.issuer.document().await.ok()?;
        let mut url = document.end_session_endpoint.clone()?;
        url.query_pairs_mut().append_pair("client_id", &self.id);
        Some(url)
    }

    /// Takes a refresh token back, where the issuer has an address for that.
    ///
    /// # Errors
    /// [`CodeFault::Away`].
    pub async fn revoke(&self, refresh: &SecretString) -> Result<(), CodeFault> {
        let document = self.issuer.document().await;
        let document = document.map_err(|fault| CodeFault::Away(fault.message().to_owned()))?;
        let Some(url) = &document.revocation_endpoint else {
            return Ok(());
        };
        let form = [
            ("token", refresh.expose_secret()),
            ("token_type_hint", "refresh_token"),
        ];
        let (status, _) = self.post(url, &form).await?;
        let refused = || CodeFault::Away(format!("it answered {}", status.as_u16()));
        status.is_success().then_some(()).ok_or_else(refused)
    }

    /// Asks the token endpoint.
    async fn ask(&self, form: &[(&str, &str)]) -> Result<TokenAnswer, CodeFault> {
        let away = |fault: &str| CodeFault::Away(fault.to_owned());
        let document = self.issuer.document().await;
        let document = document.map_err(|fault| away(fault.message()))?;
        let url = document.token_endpoint.as_ref();
        let url = url.ok_or_else(|| away("it names no token endpoint"))?;
        let (status, body) = self.post(url, form).await?;
        if status == StatusCode::OK {
            let answer = serde_json::from_slice(&body);
            return answer.map_err(|_| away("its answer cannot be read"));
        }
        let error = serde_json::from_slice::<TokenError>(&body);
        Err(match error.as_ref().map(|it| &*it.error) {
            Ok("invalid_grant") => {
                let fault = "it was used before, is over, or was taken back";
                CodeFault::Refused(fault.to_owned())
            }
            Ok("invalid_client" | "unauthorized_client") => away(
                "it does not take the page for its client; look at oauth.review_client_id and oauth.review_secret_file, and at how the client is registered there",
            ),
            _ => away(&format!("it answered {}", status.as_u16())),
        })
    }

    /// Sends a form, as this client.
    async fn post(
        &self,
        url: &Url,
        form: &[(&str, &str)],
    ) -> Result<(StatusCode, Vec<u8>), CodeFault> {
        // A public client says only which one it is.
        let own = self.secret.is_none().then_some(("client_id", &*self.id));
        let body: String = Serializer::new(String::new())
            .extend_pairs(form.iter().copied().chain(own))
            .finish();
        let http = &self.issuer.http;
        let request = http.post(url).header(ACCEPT, "application/json");
        let request = match &self.secret {
            // RFC 6749, 2.3.1: each part is encoded as in a form.
            Some(secret) => {
                let part = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                request.basic_auth(part(&self.id), Some(part(secret.expose_secret())))
            }
            None => request,
        };
        let request = request
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        http.send(request).await.map_err(CodeFault::Away)
    }
}
