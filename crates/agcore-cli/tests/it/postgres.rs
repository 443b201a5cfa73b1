//! A database on a PostgreSQL server, for tests that need one.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the server is a matter of the machine, and tests report what they skip"
)]

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
        let nanos = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let name = format!("agcore_test_cli_{}_{nanos}", process::id());
        let database = Self { name, server };
        let sql = format!("CREATE DATABASE {} TEMPLATE template0 ENCODING UTF8", database.name);
        match database.execute(&sql) {
            Ok(()) => Some(database),
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

    fn execute(&self, sql: &str) -> Result<(), String> {
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--quiet", "--command", sql, "--dbname", &self.server]);
        let output = command.output().map_err(|error| format!("psql: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropped = self.execute(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        if let Err(error) = dropped {
            println!("{error}");
        }
    }
}
