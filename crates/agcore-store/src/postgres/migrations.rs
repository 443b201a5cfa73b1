//! Creates and migrates the tables.

use sqlx::{Connection, Error, postgres::PgConnection};

use super::error::convert;
use crate::error::{StoreError, StoreErrorKind};

/// The migrations. The first one creates version 1.
const MIGRATIONS: [&str; 6] = [
    include_str!("../../migrations/postgres/0001.sql"),
    include_str!("../../migrations/postgres/0002.sql"),
    include_str!("../../migrations/postgres/0003.sql"),
    include_str!("../../migrations/postgres/0004.sql"),
    include_str!("../../migrations/postgres/0005.sql"),
    include_str!("../../migrations/postgres/0006.sql"),
];

/// The contents of a schema.
enum Contents {
    /// It does not exist.
    Missing,
    /// It exists, and has no tables.
    Empty,
    /// It has tables, but not ours.
    Foreign,
    /// It has our tables.
    Ours { version: i32 },
}

/// Creates the tables, or migrates those of an older version.
pub(super) async fn migrate(connection: &mut PgConnection, schema: &str) -> Result<(), StoreError> {
    let attempt = format!("cannot open the schema `{schema}`");
    let failed = |error| convert(&attempt, error);
    let refused = |reason: String| StoreError::new(StoreErrorKind::Storage, format!("{attempt}: {reason}"));
    let encoding: String = sqlx::query_scalar("SELECT current_setting('server_encoding')")
        .fetch_one(&mut *connection)
        .await
        .map_err(failed)?;
    if encoding != "UTF8" {
        return Err(refused(format!(
            "the database has the encoding {encoding}; use one that was created with ENCODING 'UTF8'"
        )));
    }
    let mut contents = contents(connection, schema).await.map_err(failed)?;
    if !is_current(&contents) {
        // Only if there is something to do, because a lock takes a transaction.
        let mut transaction = connection.begin().await.map_err(failed)?;
        lock(&mut transaction, schema).await.map_err(failed)?;
        contents = self::contents(&mut transaction, schema).await.map_err(failed)?;
        if check(&contents).is_ok() {
            apply(&mut transaction, schema, &contents).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
    }
    check(&contents).map_err(refused)
}

/// Waits for other processes that create or migrate the same tables.
async fn lock(connection: &mut PgConnection, schema: &str) -> Result<(), Error> {
    let lock = sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('agcore ' || $1, 0))");
    lock.bind(schema).execute(connection).await.map(drop)
}

async fn contents(connection: &mut PgConnection, schema: &str) -> Result<Contents, Error> {
    let sql =
        "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = n.oid AND relkind IN ('r', 'p', 'v', 'm', 'f')),
                      EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'agcore_migrations')
               FROM pg_namespace AS n WHERE nspname = $1";
    let found: Option<(i64, bool)> = sqlx::query_as(sql)
        .bind(schema)
        .fetch_optional(&mut *connection)
        .await?;
    Ok(match found {
        None => Contents::Missing,
        Some((0, _)) => Contents::Empty,
        Some((_, false)) => Contents::Foreign,
        Some((_, true)) => {
            let newest = sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM agcore_migrations");
            Contents::Ours {
                version: newest.fetch_one(connection).await?,
            }
        }
    })
}

/// Checks that the schema is one of this version of agcore or an older one.
///
/// # Errors
/// The reason why it must not be touched.
fn check(contents: &Contents) -> Result<(), String> {
    let newest = MIGRATIONS.len();
    match contents {
        Contents::Foreign => Err("it contains tables of another program; use another schema".to_owned()),
        Contents::Ours { version } if done(*version) > newest => Err(format!(
            "it has version {version}, but this program knows versions up to {newest}; update the program"
        )),
        Contents::Missing | Contents::Empty | Contents::Ours { .. } => Ok(()),
    }
}

/// Returns whether there is nothing to migrate.
fn is_current(contents: &Contents) -> bool {
    matches!(contents, Contents::Ours { version } if done(*version) >= MIGRATIONS.len())
}

async fn apply(connection: &mut PgConnection, schema: &str, contents: &Contents) -> Result<(), Error> {
    let version = match contents {
        Contents::Ours { version } => *version,
        Contents::Missing => {
            // The name was checked, and a statement of this kind has no parameters.
            let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA \"{schema}\""));
            sqlx::raw_sql(create).execute(&mut *connection).await?;
            0
        }
        Contents::Empty | Contents::Foreign => 0,
    };
    // A migration takes as long as it takes.
    sqlx::raw_sql("SET LOCAL statement_timeout = 0")
        .execute(&mut *connection)
        .await?;
    let versions = "CREATE TABLE IF NOT EXISTS agcore_migrations
                    (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())";
    sqlx::raw_sql(versions).execute(&mut *connection).await?;
    for (number, migration) in (1_i32..).zip(MIGRATIONS).skip(done(version)) {
        sqlx::raw_sql(migration).execute(&mut *connection).await?;
        let record = sqlx::query("INSERT INTO agcore_migrations (version) VALUES ($1)");
        record.bind(number).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Returns the number of migrations that were applied.
fn done(version: i32) -> usize {
    usize::try_from(version).unwrap_or(0)
}
