//! Encryption between a process and its database.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, UnixStream};
use tokio_rustls::TlsAcceptor;

use super::cluster::SHARED;
use crate::store::postgres::{Database, PostgresStore};
use crate::store::{Blobs as _, DatabaseAddress, StoreError, StoreResult};

/// The answer of a server to a request for encryption.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TlsOffer {
    Encryption,
    AsAuthority,
    None,
}

/// A way to the shared server that encrypts as one would; gives its port and its certificate in PEM.
async fn server(names: &[&str], offer: TlsOffer) -> (u16, String) {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut form = rcgen::CertificateParams::new(names).unwrap();
    if offer == TlsOffer::AsAuthority {
        form.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    }
    let pair = rcgen::KeyPair::generate().unwrap();
    let made = form.self_signed(&pair).unwrap();
    let (certificate, pem) = (made.der().clone(), made.pem());
    let key = PrivateKeyDer::try_from(pair.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut asked = [0; 8];
                client.read_exact(&mut asked).await.unwrap();
                assert_eq!(asked, [0, 0, 0, 8, 4, 210, 22, 47]);
                if offer == TlsOffer::None {
                    client.write_all(b"N").await.unwrap();
                    return;
                }
                client.write_all(b"S").await.unwrap();
                // A client that does not trust us ends it.
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                let socket = SHARED.directory().join(".s.PGSQL.5432");
                let mut server = UnixStream::connect(socket).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (port, pem)
}

async fn asked(port: u16, authority: String) -> StoreResult<u64> {
    tokio::task::spawn_blocking(move || {
        let (schema, dir) = (SHARED.schema(), tempfile::tempdir().unwrap());
        let file = dir.path().join("authority");
        std::fs::write(&file, authority).unwrap();
        let file = file.to_str().unwrap();
        let text = format!("postgres://postgres@127.0.0.1:{port}/postgres?schema={schema}");
        let address = DatabaseAddress::parse(&format!("{text}&sslrootcert={file}")).unwrap();
        let database = Database::new(address, None).unwrap();
        PostgresStore::new(Arc::new(database), "docs").put_blob("a", b"x")
    })
    .await
    .unwrap()
}

#[track_caller]
fn says(asked: StoreResult<u64>, fault: &str) {
    let is_said = matches!(asked, Err(StoreError::NotReady(why)) if why.starts_with(fault));
    assert!(is_said, "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_server_is_trusted_by_its_certificate_alone() {
    let (port, certificate) = server(&["127.0.0.1"], TlsOffer::Encryption).await;
    let (_, unknown) = server(&["127.0.0.1"], TlsOffer::Encryption).await;
    assert_eq!(asked(port, unknown.clone() + &certificate).await, Ok(1));
    says(asked(port, unknown).await, "has a certificate");
    let (port, of_other_name) = server(&["db.example.com"], TlsOffer::Encryption).await;
    says(asked(port, of_other_name).await, "has a certificate");
    let (port, own) = server(&["127.0.0.1"], TlsOffer::AsAuthority).await;
    says(
        asked(port, own).await,
        "shows the certificate of an authority",
    );
    let (port, certificate) = server(&["127.0.0.1"], TlsOffer::None).await;
    says(asked(port, certificate).await, "does not encrypt");
}
