//! A server that speaks TLS with a certificate of ours, and closes the connection.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

/// The authority that issued the certificates.
pub(crate) const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/wiki/tls/ca.pem");

/// Starts a server with one of the certificates of `tests/it/wiki/tls`; gives its port.
pub(crate) fn serve(certificate: &[u8]) -> u16 {
    let key = include_bytes!("tls/key.pem");
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate).unwrap()],
            PrivateKeyDer::from_pem_slice(key).unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            // Whoever likes the certificate sends a request; nobody gets an answer.
            let _ = Stream::new(&mut connection, &mut stream).read(&mut [0; 1024]);
        }
    });
    port
}
