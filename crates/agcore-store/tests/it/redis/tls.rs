//! TLS, with certificates of a private authority.

use std::{net::TcpListener, path::Path, process::Command, sync::Arc};

use agcore_memory::{MemoryItem, MemoryStore};
use agcore_store::{
    StoreErrorKind,
    redis::{ReconnectPolicy, RedisOptions},
};
use agcore_testkit::clock::ManualClock;

use super::{private_server::PrivateServer, server_or_return};

/// Makes an authority and a certificate for 127.0.0.1 in a directory.
fn make_certificates(directory: &Path) -> Result<(), String> {
    let openssl = |arguments: &str| {
        let output = Command::new("openssl")
            .current_dir(directory)
            .args(arguments.split(' '))
            .output();
        let output = output.map_err(|error| format!("the program openssl cannot be started: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("openssl failed: {}", String::from_utf8_lossy(&output.stderr))),
        }
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!(
        "req -x509 {key} -keyout ca.key -out ca.pem -subj /CN=authority -days 2"
    ))?;
    openssl(&format!(
        "req {key} -keyout server.key -out server.csr -subj /CN=server"
    ))?;
    std::fs::write(directory.join("names"), "subjectAltName=IP:127.0.0.1\n").map_err(|error| error.to_string())?;
    openssl("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 -extfile names")
}

fn start(certificates: &Path) -> Result<(PrivateServer, u16), String> {
    make_certificates(certificates)?;
    let path = |name: &str| certificates.join(name).display().to_string();
    // The port is free now; that another program takes it at once is unlikely.
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    drop(listener);
    let server = PrivateServer::start(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &path("server.pem"),
        "--tls-key-file",
        &path("server.key"),
        "--tls-ca-cert-file",
        &path("ca.pem"),
        "--tls-auth-clients",
        "no",
    ])?;
    Ok((server, port))
}

#[tokio::test]
async fn tls_is_used_and_certificates_are_verified() {
    let certificates = tempfile::tempdir().unwrap();
    let (_server, port) = server_or_return!(start(certificates.path()));
    let options = |url: String| {
        let options = RedisOptions::new(&url).unwrap();
        options.with_reconnect(ReconnectPolicy::new().with_attempts(3))
    };
    let clock = || Arc::new(ManualClock::new());
    let roots = std::fs::read(certificates.path().join("ca.pem")).unwrap();
    let trusting = options(format!("rediss://127.0.0.1:{port}")).with_root_certificates(roots.clone());
    let store = trusting.open(clock()).await.unwrap();
    store.save(MemoryItem::new("a", "")).await.unwrap();
    assert!(store.get("local", "a").await.unwrap().is_some());

    let untrusted = options(format!("rediss://127.0.0.1:{port}"))
        .open(clock())
        .await
        .unwrap_err();
    assert_eq!(untrusted.kind(), StoreErrorKind::Unavailable);
    assert!(
        untrusted
            .message()
            .contains("the TLS connection failed; check the certificate"),
        "{untrusted:?}"
    );
    let wrong_name = options(format!("rediss://localhost:{port}")).with_root_certificates(roots);
    let wrong_name = wrong_name.open(clock()).await.unwrap_err();
    assert!(
        wrong_name.message().contains("the TLS connection failed"),
        "{wrong_name:?}"
    );
    let plain = options(format!("redis://127.0.0.1:{port}"));
    let plain = plain
        .with_reconnect(ReconnectPolicy::new().with_attempts(1))
        .open(clock())
        .await;
    assert_eq!(plain.unwrap_err().kind(), StoreErrorKind::Unavailable);
    let unreadable = options(format!("rediss://127.0.0.1:{port}")).with_root_certificates("no certificate");
    unreadable.open(clock()).await.unwrap_err();
}
