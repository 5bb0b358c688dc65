//! Reads certificates with their private keys: the server's own, and those shown to the wiki.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, RootCertStore, ServerConfig};
use sha2::{Digest as _, Sha256};

use super::file_trust::is_open_to_others;
use super::network::read;
use super::parse::{SettingError, SettingsSource};
use crate::hex;
use crate::wiki::ClientCertificate;

/// The settings of the server's own certificate.
pub(super) const SERVER: [&str; 2] = ["WIKI_SERVE_CERT_FILE", "WIKI_SERVE_KEY_FILE"];
/// The settings of the certificate for the wiki.
pub(super) const CLIENT: [&str; 2] = ["WIKI_CLIENT_CERT_FILE", "WIKI_CLIENT_KEY_FILE"];

/// The time before the end of a certificate from which a warning says so.
const SOON: Duration = Duration::from_hours(14 * 24);

/// The TLS of a server: its certificate and key, ready for use.
#[derive(Clone)]
pub struct ServerTls {
    /// The configuration of each connection.
    pub config: Arc<ServerConfig>,
    digest: String,
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerTls({})", self.digest)
    }
}

/// A certificate and its key in PEM, each of the other.
struct CheckedPair {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    pem: Vec<u8>,
    /// Of the whole text, so that two pairs can be told apart and neither shows.
    digest: String,
}

/// The server's TLS, if it has one of its own.
pub(super) fn server(source: &SettingsSource<'_>) -> Result<Option<ServerTls>, SettingError> {
    let Some(pair) = pair(source, SERVER)? else {
        return Ok(None);
    };
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            let builder = builder.with_no_client_auth();
            builder.with_single_cert(pair.chain, pair.key)
        });
    let mut config =
        config.map_err(|_| SettingError::new(SERVER[0], "cannot be used with this key"))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(ServerTls {
        config: Arc::new(config),
        digest: pair.digest,
    }))
}

/// The certificate that is shown to the wiki, if there is one.
pub(super) fn client(
    source: &SettingsSource<'_>,
) -> Result<Option<ClientCertificate>, SettingError> {
    let pair = pair(source, CLIENT)?;
    let made = pair.map(|pair| {
        ClientCertificate::new(&pair.pem, pair.digest)
            .ok_or_else(|| SettingError::new(CLIENT[0], "cannot be used with this key"))
    });
    made.transpose()
}

/// Warnings about the certificates of these settings that are out of their time, or soon will be.
pub(super) fn warnings(source: &SettingsSource<'_>) -> Vec<String> {
    let now = UnixTime::now();
    let warning = |name: &'static str| {
        let (pem, _) = read(name, &source.filled(name).ok()??).ok()?;
        let leaf = CertificateDer::from_pem_slice(&pem).ok()?;
        Some(format!(
            "{name} names a certificate that {}",
            doubt(&leaf, now)?
        ))
    };
    [SERVER[0], CLIENT[0]]
        .into_iter()
        .filter_map(warning)
        .collect()
}

/// The reason why a certificate does not count at a time, or soon will not.
fn doubt(leaf: &CertificateDer<'_>, now: UnixTime) -> Option<&'static str> {
    let mut roots = RootCertStore::empty();
    roots.add(leaf.clone().into_owned()).ok()?;
    let provider = Arc::new(default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    let verifier = verifier.build().ok()?;
    let name = ServerName::try_from("localhost").ok()?;
    // Of all that is checked, the times come first; what else is wrong is not asked here.
    let fault_at = |time| match verifier.verify_server_cert(leaf, &[], &name, &[], time) {
        Err(Error::InvalidCertificate(fault)) => Some(fault),
        _ => None,
    };
    let soon = Duration::from_secs(now.as_secs()).saturating_add(SOON);
    let soon = UnixTime::since_unix_epoch(soon);
    match (fault_at(now), fault_at(soon)) {
        (Some(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }), _) => {
            Some("does not count yet; look at this machine's clock, then at the certificate")
        }
        (Some(CertificateError::Expired | CertificateError::ExpiredContext { .. }), _) => {
            Some("has expired, so that it is refused; have it renewed")
        }
        (_, Some(CertificateError::Expired | CertificateError::ExpiredContext { .. })) => {
            Some("expires within 14 days; have it renewed")
        }
        _ => None,
    }
}

/// The certificate and key that two settings name: both or none.
fn pair(
    source: &SettingsSource<'_>,
    [of_certificate, of_key]: [&'static str; 2],
) -> Result<Option<CheckedPair>, SettingError> {
    let (certificate, key) = match (source.filled(of_certificate)?, source.filled(of_key)?) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => {
            let fault = format!("needs the certificate's key: set {of_key}, too");
            return Err(SettingError::new(of_certificate, fault));
        }
        (None, Some(_)) => {
            let fault = format!("needs the key's certificate: set {of_certificate}, too");
            return Err(SettingError::new(of_key, fault));
        }
    };
    let (mut pem, _) = read(of_certificate, &certificate)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| {
        let fault = "names a file that holds no certificate in PEM (-----BEGIN CERTIFICATE-----)";
        SettingError::new(of_certificate, fault)
    })?;
    let (secret, metadata) = read(of_key, &key)?;
    if is_open_to_others(&metadata) {
        let fault = "names a file that may be read by others than its owner; take that away with chmod 600, and get another certificate";
        return Err(SettingError::new(of_key, fault));
    }
    let key = PrivateKeyDer::from_pem_slice(&secret).map_err(|_| {
        let fault = "names a file that holds no private key in PEM without a passphrase (-----BEGIN PRIVATE KEY-----)";
        SettingError::new(of_key, fault)
    })?;
    // Also refuses a key that is not the certificate's.
    CertifiedKey::from_der(chain.clone(), key.clone_key(), &default_provider()).map_err(|_| {
        let fault = format!("names a file whose key is not that of {of_certificate}");
        SettingError::new(of_key, fault)
    })?;
    pem.push(b'\n');
    pem.extend_from_slice(&secret);
    Ok(Some(CheckedPair {
        chain,
        key,
        digest: hex::encode(&Sha256::digest(&pem)),
        pem,
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, UnixTime};

    use super::doubt;

    #[test]
    fn a_certificate_is_doubted_out_of_its_time_and_two_weeks_before() {
        let pem = include_bytes!("../../tests/it/wiki/tls/expired.pem");
        let leaf = CertificateDer::from_pem_slice(pem).unwrap();
        // It counted in 2020.
        let (begin, day) = (1_577_836_800, 24 * 60 * 60);
        for (days, part) in [
            (-1, Some("does not count yet")),
            (1, None),
            (351, None),
            (353, Some("expires within 14 days")),
            (367, Some("has expired")),
        ] {
            let at = u64::try_from(begin + days * day).unwrap();
            let now = UnixTime::since_unix_epoch(Duration::from_secs(at));
            let said = doubt(&leaf, now);
            let is_it = said.map_or(part.is_none(), |said| said.starts_with(part.unwrap_or("-")));
            assert!(is_it, "{days}: {said:?}");
        }
    }
}
