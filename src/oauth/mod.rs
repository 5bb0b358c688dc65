//! People's sign-in: the issuer that vouches for them, the tokens that it signs, and which of their
//! claims get which grant. Knows neither requests nor sessions.

mod claims;
mod code;
mod discovery;
mod issuer;
mod jwt;
mod keys;
mod settings;
mod token_fault;
mod verify;

pub use claims::PersonClaims;
pub use code::{CodeFault, CodeSecrets, IssuedClaims, IssuedTokens, PageClient};
pub use discovery::IssuerDocument;
pub use issuer::{Issuer, IssuerTimes};
pub use settings::{NoGrant, OauthScopes, OauthSettings, PersonGrant};
pub use token_fault::TokenFault;
pub use verify::is_of_issuer;
