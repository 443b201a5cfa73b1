//! The same tests with a PostgreSQL server: this one starts the test program again.

use std::{
    env, process,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::SystemTime,
};

use agcore_chat::SystemClock;
use agcore_store::postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::runtime::{Builder, Runtime};

/// Set for the tests that this one starts, to the URL of the server.
const VARIABLE: &str = "AGCORE_SERVER_TEST_STORE";

/// Databases and schemas begin with this, followed by the second in which they were made and the process. The tests of agcore-store
/// remove what killed tests leave behind.
const PREFIX: &str = "agcore_test_";

/// The tests that always use a store of their own, and take long.
pub(crate) const OWN_STORES: &[&str] = &["lease_margin::", "pauses::"];

/// The runtime of the connections that are opened first: those of the tests end before the connections do.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
});

/// Returns the URL of the server, if the tests use one.
#[expect(clippy::disallowed_methods, reason = "set by the test that starts this one")]
pub(crate) fn url() -> Option<String> {
    env::var(VARIABLE).ok()
}

/// Runs a future beside the tests.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    drop(RUNTIME.spawn(future));
}

/// Opens a store with a schema of its own.
pub(crate) fn open(url: &str) -> Arc<PostgresStore> {
    open_named(url).0
}

/// Opens a store with a schema of its own, whose name is returned as well.
pub(crate) fn open_named(url: &str) -> (Arc<PostgresStore>, String) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let schema = format!("{PREFIX}{}_{}_{number}", seconds(), process::id());
    let options = PostgresOptions::new(url)
        .unwrap()
        .with_schema(&*schema)
        .with_pool_size(4);
    // A runtime cannot wait within another one.
    let opening = thread::spawn(|| RUNTIME.block_on(options.open(Arc::new(SystemClock::new()))));
    (Arc::new(opening.join().unwrap().unwrap()), schema)
}

/// Returns a URL with another database.
fn with_database(url: &str, database: &str) -> String {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (server, _) = address.rsplit_once('/').unwrap();
    format!("{server}/{database}?{parameters}")
}

/// Returns the time, for names.
#[expect(clippy::disallowed_methods, reason = "the names are unique, also among processes")]
fn seconds() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the server is a matter of the machine")]
async fn the_same_tests_pass_with_a_database_server() {
    let url = env::var("AGCORE_TEST_POSTGRES_URL");
    let url = url.unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned());
    let mut connection = match PgConnection::connect(&url).await {
        Ok(connection) => connection,
        Err(error) => return println!("skipped: postgres: {error}"),
    };
    // Hundreds of schemas would take minutes to drop.
    let database = format!("{PREFIX}{}_{}", seconds(), process::id());
    let create = AssertSqlSafe(format!("CREATE DATABASE {database} TEMPLATE template0 ENCODING UTF8"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    let url = with_database(&url, &database);
    let mut tests = process::Command::new(env::current_exe().unwrap());
    tests
        .args(
            ["postgres::", "shared::"]
                .iter()
                .chain(OWN_STORES)
                .flat_map(|module| ["--skip", module]),
        )
        .args(["--test-threads", "4"])
        .env(VARIABLE, &url)
        // The server is not killed: commits need not wait for its disk.
        .env("PGOPTIONS", "-c synchronous_commit=off");
    let ended = tests.output().unwrap();
    let mut used = PgConnection::connect(&url).await.unwrap();
    let schemas: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_namespace WHERE starts_with(nspname, $1)")
        .bind(PREFIX)
        .fetch_one(&mut used)
        .await
        .unwrap();
    used.close().await.unwrap();
    let drop = AssertSqlSafe(format!("DROP DATABASE {database} WITH (FORCE)"));
    sqlx::raw_sql(drop).execute(&mut connection).await.unwrap();
    assert!(schemas >= 30, "the tests use the server: {schemas}");
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success(),
        "{output}\n{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    assert!(output.contains("test result: ok"), "{output}");
}
