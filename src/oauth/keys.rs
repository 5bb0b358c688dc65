//! Holds the key set of an issuer, and checks signatures against it by `ring`.
//!
//! The algorithm of a signature is one that the key itself allows: a head that names another, or
//! `none`, or one with a shared secret, finds no key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;

use super::jwt::SignedJwt;
use super::token_fault::TokenFault;

/// The keys of an issuer.
#[derive(Debug)]
pub(super) struct KeySet(Vec<VerifyingKey>);

/// A public key for signatures.
#[derive(Debug)]
struct VerifyingKey {
    id: Option<String>,
    /// The only algorithm that it is for, if its issuer says so.
    only: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug)]
enum KeyMaterial {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// The way to check a signature.
enum SignatureCheck<'a> {
    Rsa(&'a RsaParameters),
    Other(&'static dyn VerificationAlgorithm),
}

/// A key as the set has it.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    used_for: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// The keys of a set that can check signatures; others are passed over. The bound of an answer bounds
    /// their number.
    pub(super) fn parse(json: &[u8]) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        struct JwkSet {
            keys: Vec<Value>,
        }
        let set: JwkSet = serde_json::from_slice(json).map_err(|_| "its key set is no key set")?;
        let keys = set.keys.into_iter();
        let keys = keys.filter_map(|key| VerifyingKey::new(serde_json::from_value(key).ok()?));
        let keys: Vec<VerifyingKey> = keys.collect();
        if keys.is_empty() {
            return Err("its key set has no key that can be used");
        }
        Ok(Self(keys))
    }

    /// Checks a token's signature.
    pub(super) fn check(&self, jwt: &SignedJwt<'_>) -> Result<(), TokenFault> {
        let algorithm = &*jwt.header.alg;
        let id = jwt.header.kid.as_deref();
        let named = self.0.iter();
        let named: Vec<&VerifyingKey> = named
            .filter(|key| id.is_none() || key.id.as_deref() == id)
            .collect();
        if named.is_empty() {
            return Err(TokenFault::UnknownKey);
        }
        let fitting = named
            .into_iter()
            .filter_map(|key| key.check(algorithm).map(|it| (key, it)));
        let fitting: Vec<_> = fitting.collect();
        match fitting.len() {
            0 => Err(TokenFault::Algorithm),
            // A token that names no key says nothing where there are several.
            2.. if id.is_none() => Err(TokenFault::UnknownKey),
            _ => fitting
                .iter()
                .any(|(key, check)| key.made(check, jwt))
                .then_some(())
                .ok_or(TokenFault::Signature),
        }
    }
}

impl VerifyingKey {
    fn new(jwk: Jwk) -> Option<Self> {
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let point = |size| {
            let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
            (x.len() == size && y.len() == size).then(|| [&[4], &*x, &*y].concat())
        };
        let number = |text| {
            let bytes: Vec<u8> = bytes(text)?;
            Some(bytes.into_iter().skip_while(|byte| *byte == 0).collect())
        };
        let is_to_verify = |all: &Vec<String>| all.iter().any(|one| one == "verify");
        if jwk.used_for.as_deref().is_some_and(|used| used != "sig")
            || !jwk.key_ops.as_ref().is_none_or(is_to_verify)
        {
            return None;
        }
        let material = match (&*jwk.kty, jwk.crv.as_deref()) {
            ("RSA", _) => KeyMaterial::Rsa {
                modulus: number(&jwk.n)?,
                exponent: number(&jwk.e)?,
            },
            ("EC", Some("P-256")) => KeyMaterial::P256(point(32)?),
            ("EC", Some("P-384")) => KeyMaterial::P384(point(48)?),
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(bytes(&jwk.x)?),
            _ => return None,
        };
        Some(Self {
            id: jwk.kid,
            only: jwk.alg,
            material,
        })
    }

    /// The way to check a signature of this algorithm, if the key is for it.
    fn check(&self, algorithm: &str) -> Option<SignatureCheck<'static>> {
        if self.only.as_ref().is_some_and(|only| only != algorithm) {
            return None;
        }
        Some(match (&self.material, algorithm) {
            (KeyMaterial::Rsa { .. }, "RS256") => SignatureCheck::Rsa(&RSA_PKCS1_2048_8192_SHA256),
            (KeyMaterial::Rsa { .. }, "RS384") => SignatureCheck::Rsa(&RSA_PKCS1_2048_8192_SHA384),
            (KeyMaterial::Rsa { .. }, "RS512") => SignatureCheck::Rsa(&RSA_PKCS1_2048_8192_SHA512),
            (KeyMaterial::Rsa { .. }, "PS256") => SignatureCheck::Rsa(&RSA_PSS_2048_8192_SHA256),
            (KeyMaterial::Rsa { .. }, "PS384") => SignatureCheck::Rsa(&RSA_PSS_2048_8192_SHA384),
            (KeyMaterial::Rsa { .. }, "PS512") => SignatureCheck::Rsa(&RSA_PSS_2048_8192_SHA512),
            (KeyMaterial::P256(_), "ES256") => SignatureCheck::Other(&ECDSA_P256_SHA256_FIXED),
            (KeyMaterial::P384(_), "ES384") => SignatureCheck::Other(&ECDSA_P384_SHA384_FIXED),
            (KeyMaterial::Ed25519(_), "EdDSA" | "Ed25519") => SignatureCheck::Other(&ED25519),
            _ => return None,
        })
    }

    /// True if this key made the signature of a token.
    fn made(&self, check: &SignatureCheck<'_>, jwt: &SignedJwt<'_>) -> bool {
        let (message, signature) = (jwt.message.as_bytes(), &*jwt.signature);
        let verified = match (&self.material, check) {
            (KeyMaterial::Rsa { modulus, exponent }, SignatureCheck::Rsa(parameters)) => {
                let (n, e) = (modulus, exponent);
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (
                KeyMaterial::P256(key) | KeyMaterial::P384(key) | KeyMaterial::Ed25519(key),
                SignatureCheck::Other(algorithm),
            ) => UnparsedPublicKey::new(*algorithm, key).verify(message, signature),
            _ => return false,
        };
        verified.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::KeySet;

    #[test]
    fn every_key_of_a_large_set_counts() {
        let key = |number: usize| {
            let (id, x) = (format!("k{number}"), "A".repeat(43));
            json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": x })
        };
        let keys: Vec<_> = (0..300).map(key).collect();
        let set = KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).expect("a set");
        assert_eq!(set.0.len(), 300);
    }
}
