//! An issuer on loopback: a document, a key set, and tokens of any kind, good and bad.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaKeyPair,
    RsaPublicKeyComponents,
};
use time::OffsetDateTime;
use tokio::net::TcpListener;

use crate::prelude::*;

/// The audience of the tokens.
pub(crate) const AUDIENCE: &str = "https://gate.example.com/mcp";

/// A key pair of an issuer.
pub(crate) struct IssuerKey {
    id: String,
    pair: Pair,
}

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl IssuerKey {
    /// A new key of an algorithm, under an id.
    pub(crate) fn new(id: &str, algorithm: &str) -> Self {
        let random = SystemRandom::new();
        let ecdsa = |algorithm: &'static EcdsaSigningAlgorithm| {
            let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
            EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap()
        };
        let pair = match algorithm {
            "ES256" => Pair::P256(ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING)),
            "ES384" => Pair::P384(ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING)),
            "EdDSA" => {
                let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
                Pair::Ed25519(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap())
            }
            _ => {
                // Made for these tests, and used for nothing else.
                let pem = include_str!("issuer_rsa.pem").lines();
                let body: String = pem.filter(|line| !line.starts_with('-')).collect();
                let pkcs8 = STANDARD.decode(body).unwrap();
                Pair::Rsa(Box::new(RsaKeyPair::from_pkcs8(&pkcs8).unwrap()))
            }
        };
        Self {
            id: id.to_owned(),
            pair,
        }
    }

    /// The public part, as a key set has it.
    pub(crate) fn public(&self) -> Value {
        let point = |name: &str, point: &[u8]| {
            let (x, y) = point[1..].split_at(point.len() / 2);
            json!({ "kty": "EC", "crv": name, "x": base64(x), "y": base64(y) })
        };
        let mut key = match &self.pair {
            Pair::P256(pair) => point("P-256", pair.public_key().as_ref()),
            Pair::P384(pair) => point("P-384", pair.public_key().as_ref()),
            Pair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": base64(pair.public_key()) })
            }
            Pair::Rsa(pair) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public_key());
                json!({ "kty": "RSA", "n": base64(public.n), "e": base64(public.e) })
            }
        };
        key["kid"] = json!(self.id);
        key["use"] = json!("sig");
        key
    }

    /// Claims that this key signed with an algorithm.
    pub(crate) fn signed(&self, algorithm: &str, claims: &Value) -> String {
        let header = json!({ "alg": algorithm, "kid": self.id, "typ": "at+jwt" });
        jwt(&header, claims, |message| self.sign(algorithm, message))
    }

    pub(crate) fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::P256(pair) | Pair::P384(pair) => {
                pair.sign(&random, message).unwrap().as_ref().to_vec()
            }
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let padding: &dyn ring::signature::RsaEncoding = match algorithm {
                    "RS384" => &RSA_PKCS1_SHA384,
                    "RS512" => &RSA_PKCS1_SHA512,
                    "PS256" => &RSA_PSS_SHA256,
                    "PS384" => &RSA_PSS_SHA384,
                    "PS512" => &RSA_PSS_SHA512,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(padding, &random, message, &mut signature)
                    .unwrap();
                signature
            }
        }
    }
}

/// A token of these parts; `sign` gives the signature of the first two.
pub(crate) fn jwt(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let message = format!(
        "{}.{}",
        base64(header.to_string()),
        base64(claims.to_string())
    );
    let signature = base64(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

/// What an issuer answers, and how often it was asked.
pub(crate) struct IssuerAnswers {
    pub(crate) document: Mutex<Value>,
    pub(crate) keys: Mutex<Value>,
    /// Number of times that its keys were fetched.
    pub(crate) fetched: AtomicUsize,
    pub(crate) is_away: AtomicBool,
}

/// An issuer that is served.
pub(crate) struct TestIssuer {
    pub(crate) url: String,
    pub(crate) key: IssuerKey,
    pub(crate) answers: Arc<IssuerAnswers>,
}

async fn document(State(answers): State<Arc<IssuerAnswers>>) -> Response {
    let document = answers.document.lock().clone();
    if answers.is_away.load(Ordering::Relaxed) {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    if let Some(to) = document["redirect"].as_str() {
        return (StatusCode::FOUND, [(LOCATION, to.to_owned())]).into_response();
    }
    document.to_string().into_response()
}

async fn keys(State(answers): State<Arc<IssuerAnswers>>) -> String {
    answers.fetched.fetch_add(1, Ordering::Relaxed);
    answers.keys.lock().to_string()
}

impl TestIssuer {
    /// An issuer with one key for ES256.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/realms/main", listener.local_addr().unwrap());
        let key = IssuerKey::new("first", "ES256");
        let answers = Arc::new(IssuerAnswers {
            document: Mutex::new(json!({ "issuer": url, "jwks_uri": format!("{url}/keys") })),
            keys: Mutex::new(json!({ "keys": [key.public()] })),
            fetched: AtomicUsize::new(0),
            is_away: AtomicBool::new(false),
        });
        let routes = Router::new()
            .route(
                "/realms/main/.well-known/openid-configuration",
                get(document),
            )
            .route("/realms/main/keys", get(keys))
            .with_state(Arc::clone(&answers));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { url, key, answers }
    }

    /// Its table of settings; `grants` stands below it.
    pub(crate) fn table(&self, grants: &str) -> String {
        format!(
            "[oauth]\nissuer = {:?}\naudiences = [{AUDIENCE:?}]\n{grants}",
            self.url
        )
    }

    /// What a token says; `other` replaces some of it, and `null` takes it away.
    pub(crate) fn claims(&self, other: Value) -> Value {
        let now = OffsetDateTime::now_utc().unix_timestamp();
        let mut claims = json!({
            "iss": self.url, "aud": AUDIENCE, "sub": "s-ada", "iat": now, "exp": now + 300,
            "scope": "openid wiki:read wiki:write", "preferred_username": "ada",
            "groups": ["docs-team"],
        });
        let Value::Object(other) = other else {
            panic!("no claims: {other}");
        };
        for (name, value) in other {
            claims[name] = value;
        }
        claims
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        claims
    }

    /// An access token, good but for what `other` says.
    pub(crate) fn token(&self, other: Value) -> String {
        self.key.signed("ES256", &self.claims(other))
    }

    /// An access token with another head.
    pub(crate) fn headed(&self, header: Value) -> String {
        let mut whole = json!({ "alg": "ES256", "kid": self.key.id, "typ": "JWT" });
        let Value::Object(header) = header else {
            panic!("no head: {header}");
        };
        for (name, value) in header {
            whole[name] = value;
        }
        whole
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        jwt(&whole, &self.claims(json!({})), |message| {
            self.key.sign("ES256", message)
        })
    }

    /// A caller with an access token.
    pub(crate) fn caller(&self, other: Value) -> Caller {
        bearer(&self.token(other))
    }
}

/// A caller with a bearer.
pub(crate) fn bearer(token: &str) -> Caller {
    Caller::default().with("authorization", &format!("Bearer {token}"))
}
