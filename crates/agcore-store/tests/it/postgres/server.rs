//! The server that the tests use, and what they leave on it.

use std::{
    env, process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use agcore_store::postgres::PostgresOptions;
use sqlx::{
    AssertSqlSafe, Connection,
    postgres::{PgConnectOptions, PgConnection},
};

use super::pooler;

/// Names of schemas and databases of tests begin with this, followed by the second since 1970 in which they were made.
const PREFIX: &str = "agcore_test_";

/// The time after which the schemas and databases of killed tests are removed.
const LEFTOVERS: Duration = Duration::from_secs(2 * 3600);

/// The number of them that one test removes.
const LEFTOVERS_AT_ONCE: usize = 4;

/// Returns the URL of the server. Without TLS, because each connection would wait twice for an acknowledgement that comes 40 ms
/// late.
#[expect(clippy::disallowed_methods, reason = "the server is a matter of the machine")]
pub(crate) fn url() -> String {
    env::var("AGCORE_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned())
}

/// Returns the URL with another database.
pub(crate) fn url_of(database: &str) -> String {
    let mut url = url::Url::parse(&url()).unwrap();
    url.set_path(database);
    url.into()
}

/// Returns the URL with another address.
pub(crate) fn url_at(address: std::net::SocketAddr) -> String {
    let mut url = url::Url::parse(&url()).unwrap();
    url.set_host(Some(&address.ip().to_string())).unwrap();
    url.set_port(Some(address.port())).unwrap();
    url.into()
}

/// Returns why there is no server.
pub(crate) async fn missing() -> Option<String> {
    match connect(&url()).await {
        Ok(mut connection) => {
            remove_leftovers(&mut connection).await;
            None
        }
        Err(error) => Some(format!("postgres: {error}")),
    }
}

/// Ends a test if there is no server.
macro_rules! need_server {
    () => {
        if let Some(reason) = crate::postgres::server::missing().await {
            println!("skipped: {reason}");
            return;
        }
    };
}

pub(crate) use need_server;

/// Creates the extension pgvector in the database of the tests, if the server has it.
pub(crate) async fn create_vector_extension() {
    // Others may be creating it as well.
    let sql = "DO $$ BEGIN
                   PERFORM pg_advisory_xact_lock(hashtext('agcore pgvector'));
                   IF EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector') THEN
                       CREATE EXTENSION IF NOT EXISTS vector;
                   END IF;
               END $$";
    admin(sql).await;
}

/// Opens a connection whose statements end after five minutes: what a killed test has locked must not keep others waiting for ever.
async fn connect(url: &str) -> Result<PgConnection, sqlx::Error> {
    let options: PgConnectOptions = url.parse()?;
    PgConnection::connect_with(&options.options([("statement_timeout", "300s")])).await
}

/// Executes statements as an administrator.
pub(crate) async fn admin(sql: &str) {
    admin_of(&url(), sql).await;
}

/// Executes statements as an administrator of a database.
pub(crate) async fn admin_of(url: &str, sql: &str) {
    let mut connection = connect(url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await
        .unwrap();
}

/// Names that are unique on the server, of schemas and databases that are dropped at the end.
#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<Vec<String>>);

/// Empty schemas that tests use one after the other, because the tables take longer to create than most tests. Each is locked by the
/// process of a test for as long as this is kept.
#[derive(Debug, Default)]
pub(crate) struct Schemas(Mutex<Vec<PgConnection>>);

impl Schemas {
    /// Takes an empty schema, whose tables may exist. Returns its name.
    pub(crate) async fn take(&self) -> String {
        let mut connection = connect(&url()).await.unwrap();
        // Other tables are in other schemas.
        let tables = hash(include_str!("../../../migrations/postgres/0001.sql"));
        for number in 0.. {
            let schema = format!("agcore_reused_{tables:08x}_{number}");
            let lock = sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtextextended($1, 0))").bind(&schema);
            if lock.fetch_one(&mut connection).await.unwrap() {
                clear(&mut connection, &schema).await;
                let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                taken.push(connection);
                return schema;
            }
        }
        unreachable!("one of them is free")
    }

    /// Returns options with an empty schema and few connections.
    pub(crate) async fn options(&self) -> PostgresOptions {
        options_of(&url(), &self.take().await)
    }
}

/// Deletes all rows of a schema, without the rules of its tables.
async fn clear(connection: &mut PgConnection, schema: &str) {
    let sql = format!(
        "DO $$ DECLARE name text; BEGIN
             PERFORM set_config('session_replication_role', 'replica', true);
             FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                 WHERE schemaname = '{schema}' AND tablename <> 'agcore_versions'
             LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
         END $$"
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

/// Returns a hash of a text that stays the same (FNV-1a).
fn hash(text: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, mix)
}

impl Names {
    /// Returns a new name.
    pub(crate) fn name(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}_{}_{number}", seconds(), process::id());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        name
    }

    /// Returns the only name.
    pub(crate) fn only(&self) -> String {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(names.len(), 1);
        names[0].clone()
    }

    /// Returns options with a schema of its own and few connections.
    pub(crate) fn options(&self) -> PostgresOptions {
        self.options_at(&url())
    }

    /// Returns options for another URL, with a schema of its own and few connections.
    pub(crate) fn options_at(&self, url: &str) -> PostgresOptions {
        options_of(url, &self.name())
    }
}

/// Returns options for a schema. The connections have its name, by which the server can list them.
pub(crate) fn options_of(url: &str, schema: &str) -> PostgresOptions {
    let mut url = url::Url::parse(url).unwrap();
    if let Some(pooler) = pooler::port() {
        let direct = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(pooler)).unwrap();
        url.query_pairs_mut().append_pair("direct", &direct);
    }
    url.query_pairs_mut().append_pair("application_name", schema);
    let options = PostgresOptions::new(url.as_str()).unwrap();
    options.with_schema(schema).with_pool_size(4)
}

impl Drop for Names {
    fn drop(&mut self) {
        let names = std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
        // A runtime cannot wait within another one.
        let dropping = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                if let Ok(mut connection) = connect(&url()).await {
                    for name in names {
                        remove(&mut connection, &name).await;
                    }
                }
            });
        });
        let _ = dropping.join();
    }
}

/// Drops the schema or the database of this name.
async fn remove(connection: &mut PgConnection, name: &str) {
    for sql in [
        format!("DROP SCHEMA IF EXISTS {name} CASCADE"),
        format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
    ] {
        // Another process may be removing it as well.
        let _ = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *connection).await;
    }
}

/// Removes a few of the schemas and databases that killed tests have left behind, unless another test does: there may be thousands, and
/// each takes up to a second.
async fn remove_leftovers(connection: &mut PgConnection) {
    let lock = sqlx::query_scalar("SELECT pg_try_advisory_lock(hashtextextended('agcore leftovers', 0))");
    if !lock.fetch_one(&mut *connection).await.unwrap_or(false) {
        return;
    }
    let sql = "SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname, $1)
               UNION ALL SELECT datname::text FROM pg_database WHERE starts_with(datname, $1)";
    let names: Vec<String> = sqlx::query_scalar(sql)
        .bind(PREFIX)
        .fetch_all(&mut *connection)
        .await
        .unwrap();
    let made = |name: &str| name.strip_prefix(PREFIX)?.split('_').next()?.parse().ok();
    let is_left = |name: &&String| made(name).is_some_and(|made: u64| made + LEFTOVERS.as_secs() < seconds());
    for name in names.iter().filter(is_left).take(LEFTOVERS_AT_ONCE) {
        remove(connection, name).await;
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the age of a schema is compared between processes"
)]
fn seconds() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}
