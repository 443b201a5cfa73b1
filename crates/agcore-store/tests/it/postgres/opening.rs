//! Opening: refusals, and two processes at once.

use std::{sync::Arc, time::Duration};

use agcore_memory::{MemoryErrorKind, MemoryItem, MemoryStore};
use agcore_session::RunAdministration as _;
use agcore_store::{
    StoreError, StoreErrorKind,
    postgres::{PostgresOptions, PostgresStore},
};
use agcore_testkit::clock::ManualClock;
use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::server::{Names, admin, admin_of, need_server, options_of, url, url_at, url_of};

async fn open(options: PostgresOptions) -> Result<PostgresStore, StoreError> {
    options.open(Arc::new(ManualClock::new())).await
}

/// Checks kind and message of the error.
async fn check(options: PostgresOptions, kind: StoreErrorKind, expected: &str) {
    let error = open(options).await.unwrap_err();
    assert_eq!(error.kind(), kind, "{error:?}");
    assert!(error.message().contains(expected), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn data_survives_reopening() {
    need_server!();
    let names = Names::default();
    let options = names.options();
    let store = open(options.clone()).await.unwrap();
    store.save(MemoryItem::new("a", "text")).await.unwrap();
    store.close().await;
    let store = open(options).await.unwrap();
    assert_eq!(store.get("local", "a").await.unwrap().unwrap().content, "text");
    let clone = store.clone();
    store.close().await;
    let error = clone.get("local", "a").await.unwrap_err();
    assert!(error.message().contains("the store is closed"), "{error:?}");
}

#[tokio::test]
async fn many_processes_can_open_a_new_schema_at_once() {
    need_server!();
    let names = Names::default();
    let options = names.options();
    for opened in join_all((0..8).map(|_| open(options.clone()))).await {
        opened.unwrap();
    }
}

#[tokio::test]
async fn schemas_are_independent() {
    need_server!();
    let names = Names::default();
    let (one, other) = (
        open(names.options()).await.unwrap(),
        open(names.options()).await.unwrap(),
    );
    one.save(MemoryItem::new("a", "")).await.unwrap();
    assert_eq!(other.get("local", "a").await.unwrap(), None);
}

#[tokio::test]
async fn servers_that_refuse_are_reported() {
    need_server!();
    let mut stranger = url::Url::parse(&url()).unwrap();
    stranger.set_username("nobody'%20here").unwrap();
    stranger.set_password(Some("hunter2")).unwrap();
    let stranger = PostgresOptions::new(stranger.as_str()).unwrap();
    check(
        stranger,
        StoreErrorKind::Storage,
        "does not let in the user `nobody' here`",
    )
    .await;
    let missing = PostgresOptions::new(&url_of("no such database")).unwrap();
    check(
        missing,
        StoreErrorKind::Storage,
        "the database `no such database` does not exist",
    )
    .await;
}

#[tokio::test]
async fn a_wrong_password_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "postgres://ann:hunter2@{}/app?sslmode=disable",
        listener.local_addr().unwrap()
    );
    let server = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        let length = socket.read_u32().await.unwrap() as usize;
        socket.read_exact(&mut vec![0; length - 4]).await.unwrap();
        let fields = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user \"ann\"\0\0";
        socket.write_u8(b'E').await.unwrap();
        socket.write_u32(fields.len() as u32 + 4).await.unwrap();
        socket.write_all(fields).await.unwrap();
    };
    let options = PostgresOptions::new(&url).unwrap();
    assert!(!format!("{options:?}").contains("hunter2"));
    let refused = check(
        options,
        StoreErrorKind::Storage,
        "does not let in the user `ann`; check user and password",
    );
    tokio::join!(server, refused);
}

#[tokio::test]
async fn servers_that_cannot_be_reached_are_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let silent = PostgresOptions::new(&url_at(address)).unwrap();
    let silent = silent.with_acquire_timeout(Duration::from_millis(50));
    check(silent.clone(), StoreErrorKind::Unavailable, "does not answer").await;
    drop(listener);
    check(silent, StoreErrorKind::Unavailable, "nothing accepts connections there").await;
    let unknown = PostgresOptions::new("postgres://ann:hunter2@host.invalid/app").unwrap();
    check(unknown, StoreErrorKind::Unavailable, "check host, port and network").await;
}

#[tokio::test]
async fn unusable_schemas_are_refused() {
    need_server!();
    let names = Names::default();
    let (foreign, newer) = (names.name(), names.name());
    admin(&format!("CREATE SCHEMA {foreign}; CREATE TABLE {foreign}.t (x int)")).await;
    check(
        options_of(&url(), &foreign),
        StoreErrorKind::Storage,
        "tables of another program",
    )
    .await;
    open(options_of(&url(), &newer)).await.unwrap();
    admin(&format!("INSERT INTO {newer}.agcore_versions VALUES (99)")).await;
    let expected = "it has version 99, but this program knows versions up to 1";
    check(options_of(&url(), &newer), StoreErrorKind::Storage, expected).await;
    let unreleased = names.name();
    admin(&format!(
        "CREATE SCHEMA {unreleased}; CREATE TABLE {unreleased}.agcore_migrations (version int)"
    ))
    .await;
    let expected = "use another schema, or drop this one";
    check(options_of(&url(), &unreleased), StoreErrorKind::Storage, expected).await;
    for schema in ["", "Upper", "a b", "1a", "pg_x", "a\"b", &"x".repeat(64)] {
        let options = PostgresOptions::new(&url()).unwrap().with_schema(schema);
        check(options, StoreErrorKind::InvalidInput, "is not acceptable").await;
    }
}

#[tokio::test]
async fn databases_need_the_right_encoding() {
    need_server!();
    let names = Names::default();
    let name = names.name();
    admin(&format!(
        "CREATE DATABASE {name} ENCODING SQL_ASCII TEMPLATE template0 LOCALE 'C'"
    ))
    .await;
    check(
        options_of(&url_of(&name), "agcore"),
        StoreErrorKind::Storage,
        "the encoding SQL_ASCII",
    )
    .await;
}

#[tokio::test]
async fn a_read_only_database_can_be_read() {
    need_server!();
    let names = Names::default();
    let name = names.name();
    admin(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING UTF8")).await;
    let url = url_of(&name);
    open(options_of(&url, "agcore")).await.unwrap().close().await;
    admin(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
    let store = open(options_of(&url, "agcore")).await.unwrap();
    assert_eq!(store.get("local", "a").await.unwrap(), None);
    let error = store.save(MemoryItem::new("a", "")).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Unavailable);
    assert!(error.message().contains("the database is read-only"), "{error:?}");
    check(
        options_of(&url, "other"),
        StoreErrorKind::Unavailable,
        "the database is read-only",
    )
    .await;
    store.close().await;
}

#[tokio::test]
async fn a_user_without_privileges_gets_the_reason() {
    need_server!();
    let names = Names::default();
    let name = names.name();
    admin(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING UTF8; ")).await;
    admin_of(&url_of(&name), &format!("CREATE ROLE {name} LOGIN")).await;
    let mut url = url::Url::parse(&url_of(&name)).unwrap();
    url.set_username(&name).unwrap();
    check(
        options_of(url.as_str(), "agcore"),
        StoreErrorKind::Storage,
        "grant it CREATE on the database",
    )
    .await;
    admin(&format!("DROP ROLE {name}")).await;
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn connections_can_be_encrypted() {
    need_server!();
    let names = Names::default();
    let encrypted = |schema: &str, mode: &str| {
        let mut url = url::Url::parse(&url()).unwrap();
        url.query_pairs_mut().append_pair("sslmode", mode);
        options_of(url.as_str(), schema)
    };
    let schema = names.name();
    let store = match open(encrypted(&schema, "require")).await {
        Ok(store) => store,
        Err(error) => {
            assert!(
                format!("{error:?}").contains("server does not support TLS"),
                "{error:?}"
            );
            println!("skipped: postgres: the server does not support TLS");
            return;
        }
    };
    store.save(MemoryItem::new("a", "")).await.unwrap();
    let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1";
    let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(&url()).await.unwrap();
    let is_encrypted: Option<bool> = sqlx::query_scalar(sql)
        .bind(&schema)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(is_encrypted, Some(true));
    // The certificate of a test server is self-signed.
    check(
        encrypted(&schema, "verify-full"),
        StoreErrorKind::Storage,
        "check the certificates",
    )
    .await;
}

#[tokio::test]
async fn an_open_store_notices_that_a_newer_version_has_changed_the_tables() {
    need_server!();
    let names = Names::default();
    let name = names.name();
    let store = open(options_of(&url(), &name)).await.unwrap();
    assert!(!store.is_outdated().await.unwrap());
    admin(&format!("INSERT INTO {name}.agcore_versions (version) VALUES (2)")).await;
    assert!(store.is_outdated().await.unwrap());
    // It still works, but a process that starts now must be of the newer version.
    store.save(MemoryItem::new("a", "text")).await.unwrap();
    check(options_of(&url(), &name), StoreErrorKind::Storage, "update the program").await;
}
