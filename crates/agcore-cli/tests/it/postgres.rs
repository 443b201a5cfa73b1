//! A database on a PostgreSQL server, for tests that need one.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the server is a matter of the machine, and tests report what they skip"
)]

#[cfg(unix)]
pub(crate) mod server;
#[cfg(unix)]
pub(crate) mod pooler;

use std::{
    env,
    process::{self, Command},
    time::SystemTime,
};

/// A database of its own, dropped at the end.
pub(crate) struct Database {
    name: String,
    server: String,
}

impl Database {
    /// Creates a database. Returns `None`, and says so, if there is no server or no `psql`.
    pub(crate) fn create() -> Option<Self> {
        let server = env::var("AGCORE_TEST_POSTGRES_URL")
            .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned());
        Self::create_on(server)
    }

    /// Creates a database on the server at a URL. Returns `None`, and says so, if there is no server or no `psql`.
    pub(crate) fn create_on(server: String) -> Option<Self> {
        let nanos = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let name = format!("agcore_test_cli_{}_{nanos}", process::id());
        let database = Self { name, server };
        let sql = format!("CREATE DATABASE {} TEMPLATE template0 ENCODING UTF8", database.name);
        match execute(&database.server, &sql) {
            Ok(_) => Some(database),
            Err(reason) => {
                println!("skipped: postgres: {reason}");
                None
            }
        }
    }

    /// Returns the URL of the database.
    pub(crate) fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    /// Ends all connections to the database, as the end of a server process does. Returns their number.
    pub(crate) fn cut_connections(&self) -> usize {
        self.cut("true")
    }

    /// Ends the connections on which leases are renewed. Returns their number.
    ///
    /// The last statement of such a connection has renewed leases, or has asked for requests to cancel their runs: a worker does one
    /// of both several times a second, as long as it has runs, and on no other connection.
    pub(crate) fn cut_renewals(&self) -> usize {
        self.cut("query LIKE '%unnest($1::text[], $2::text[], $3::text[], $4::bigint[]%lease_until%'")
    }

    fn cut(&self, which: &str) -> usize {
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND {which}",
            self.name
        );
        // The connection of this statement leads to another database, so that it does not end itself.
        execute(&self.server, &sql).unwrap().lines().count()
    }

    /// Executes statements. Returns the rows of the last one, with columns that are separated by `|`.
    pub(crate) fn query(&self, sql: &str) -> String {
        execute(&self.url(), sql).unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropped = execute(
            &self.server,
            &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
        );
        if let Err(error) = dropped {
            println!("{error}");
        }
    }
}

fn execute(url: &str, sql: &str) -> Result<String, String> {
    let mut command = Command::new("psql");
    command.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"]);
    let output = command.args(["--command", sql, "--dbname", url]).output();
    let output = output.map_err(|error| format!("psql: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
