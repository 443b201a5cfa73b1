//! [`PostgresSchema`]: a schema for the processes of a test.

use std::{
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
    time::SystemTime,
};

use agcore_chat::{Clock, SystemClock};

/// The name of a schema on a PostgreSQL server, which is dropped with this value.
///
/// Dropping it needs the program `psql`. Schemas that killed tests have left have the prefix `agcore_test_` and the second in which
/// they were made.
#[derive(Debug)]
pub struct PostgresSchema {
    url: String,
    name: String,
}

impl PostgresSchema {
    /// Chooses a name that no other test has. Nothing is created: a store does that when it opens the schema.
    pub fn new(url: impl Into<String>) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let now = SystemClock::new().now();
        let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self {
            url: url.into(),
            name: format!("agcore_test_{seconds}_{}_{number}", process::id()),
        }
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of the schema.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for PostgresSchema {
    fn drop(&mut self) {
        let drop = format!("drop schema if exists {} cascade", self.name);
        // Without the program, tests of the store remove the schema later.
        let _ = Command::new("psql").args([&self.url, "-qc", &drop]).output();
    }
}
