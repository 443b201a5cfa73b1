//! Creates and migrates the tables.

use sqlx::{Connection, Error, postgres::PgConnection};

use super::error::convert;
use crate::error::{StoreError, StoreErrorKind};

/// The migrations. The first one creates version 1.
const MIGRATIONS: &[&str] = &[include_str!("../../migrations/postgres/0001.sql")];

/// The newest version.
pub(super) const NEWEST: i32 = MIGRATIONS.len() as i32;

/// The contents of a schema.
enum Contents {
    /// It does not exist.
    Missing,
    /// It exists, and has no tables.
    Empty,
    /// It has tables, but not ours.
    Foreign,
    /// It has tables of a development version before the first release, whose versions were numbered differently.
    Unreleased,
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
            apply(&mut transaction, MIGRATIONS, schema, &contents)
                .await
                .map_err(failed)?;
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
                      EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'agcore_versions'),
                      EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'agcore_migrations')
               FROM pg_namespace AS n WHERE nspname = $1";
    let found: Option<(i64, bool, bool)> = sqlx::query_as(sql)
        .bind(schema)
        .fetch_optional(&mut *connection)
        .await?;
    Ok(match found {
        None => Contents::Missing,
        Some((0, ..)) => Contents::Empty,
        Some((_, true, _)) => {
            let newest = sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM agcore_versions");
            Contents::Ours {
                version: newest.fetch_one(connection).await?,
            }
        }
        Some((_, false, true)) => Contents::Unreleased,
        Some((_, false, false)) => Contents::Foreign,
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
        Contents::Unreleased => Err(
            "a development version before the first release has written it, which cannot be migrated; use another schema, \
             or drop this one"
                .to_owned(),
        ),
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

async fn apply(
    connection: &mut PgConnection,
    migrations: &[&'static str],
    schema: &str,
    contents: &Contents,
) -> Result<(), Error> {
    let version = match contents {
        Contents::Ours { version } => *version,
        Contents::Missing => {
            // The name was checked, and a statement of this kind has no parameters.
            let create = sqlx::AssertSqlSafe(format!("CREATE SCHEMA \"{schema}\""));
            sqlx::raw_sql(create).execute(&mut *connection).await?;
            0
        }
        Contents::Empty | Contents::Foreign | Contents::Unreleased => 0,
    };
    // A migration takes as long as it takes.
    sqlx::raw_sql("SET LOCAL statement_timeout = 0")
        .execute(&mut *connection)
        .await?;
    let versions = "CREATE TABLE IF NOT EXISTS agcore_versions
                    (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())";
    sqlx::raw_sql(versions).execute(&mut *connection).await?;
    for (number, migration) in (1_i32..).zip(migrations).skip(done(version)) {
        sqlx::raw_sql(*migration).execute(&mut *connection).await?;
        let record = sqlx::query("INSERT INTO agcore_versions (version) VALUES ($1)");
        record.bind(number).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Returns the number of migrations that were applied.
fn done(version: i32) -> usize {
    usize::try_from(version).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    const SECOND: &str =
        "ALTER TABLE journal_streams ADD label text NOT NULL DEFAULT 'none'; CREATE TABLE labels (label text)";

    /// Connects to the server of the tests, with a schema that does not exist.
    #[expect(clippy::disallowed_methods, reason = "the server is a matter of the machine")]
    async fn connect() -> Option<(PgConnection, String)> {
        let url = env::var("AGCORE_TEST_POSTGRES_URL");
        let url = url.unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned());
        let schema = format!("agcore_test_migrations_{}", process::id());
        let mut connection = PgConnection::connect(&url).await.ok()?;
        run(
            &mut connection,
            format!("DROP SCHEMA IF EXISTS {schema} CASCADE; SET search_path TO {schema}"),
        )
        .await;
        Some((connection, schema))
    }

    async fn run(connection: &mut PgConnection, sql: String) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(connection)
            .await
            .unwrap();
    }

    /// Applies migrations in a transaction, as [`migrate`] does.
    async fn apply_all(connection: &mut PgConnection, migrations: &[&'static str], schema: &str) -> Result<(), Error> {
        let mut transaction = connection.begin().await?;
        let before = contents(&mut transaction, schema).await?;
        apply(&mut transaction, migrations, schema, &before).await?;
        transaction.commit().await
    }

    #[tokio::test]
    async fn a_second_version_keeps_the_data() {
        let Some((mut connection, schema)) = connect().await else {
            println!("skipped: postgres: no server");
            return;
        };
        let connection = &mut connection;
        apply_all(connection, MIGRATIONS, &schema).await.unwrap();
        let insert = "INSERT INTO journal_streams (name, last_seq) VALUES ('notes', 7); CREATE TABLE labels (x text)";
        run(connection, insert.to_owned()).await;
        // A migration that fails changes nothing.
        let both = [MIGRATIONS[0], SECOND];
        apply_all(connection, &both, &schema).await.unwrap_err();
        let Contents::Ours { version: 1 } = contents(connection, &schema).await.unwrap() else {
            panic!("the failed migration has left a version");
        };
        run(connection, "DROP TABLE labels".to_owned()).await;
        apply_all(connection, &both, &schema).await.unwrap();
        let row = sqlx::query_as("SELECT name, last_seq, label FROM journal_streams");
        let row: (String, i64, String) = row.fetch_one(&mut *connection).await.unwrap();
        assert_eq!(row, ("notes".to_owned(), 7, "none".to_owned()));
        // A program that knows version 1 only refuses version 2.
        let reason = check(&contents(connection, &schema).await.unwrap()).unwrap_err();
        assert!(reason.contains("it has version 2, but this program knows versions up to 1"));
        run(connection, format!("DROP SCHEMA {schema} CASCADE")).await;
    }
}
