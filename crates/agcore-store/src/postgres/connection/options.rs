//! [`PostgresOptions`]: how a server is used.

use std::time::Duration;

use agcore_memory::EvictionConfig;

use super::url::ServerUrl;
use crate::error::StoreError;

/// Options for opening a [`PostgresStore`](crate::postgres::PostgresStore).
///
/// ```no_run
/// # async fn open(clock: std::sync::Arc<dyn agcore_chat::Clock>) -> Result<(), agcore_store::StoreError> {
/// use agcore_store::postgres::PostgresOptions;
///
/// let store = PostgresOptions::new("postgres://ann:secret@db.example/app?sslmode=verify-full")?
///     .with_schema("assistant")
///     .with_pool_size(16)
///     .open(clock)
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// [`Debug`] does not print the password.
#[derive(Debug, Clone)]
#[must_use]
pub struct PostgresOptions {
    pub(in crate::postgres) server: ServerUrl,
    pub(in crate::postgres) schema: String,
    pub(in crate::postgres) pool_size: u32,
    pub(in crate::postgres) acquire_timeout: Duration,
    pub(in crate::postgres) statement_timeout: Duration,
    pub(in crate::postgres) eviction: EvictionConfig,
    pub(in crate::postgres) program: String,
}

impl PostgresOptions {
    /// Uses the server at a URL such as `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the schema `agcore`, at most 8
    /// connections, 10 s to wait for a connection and 30 s for a statement.
    ///
    /// Without a host, the URL means `localhost`, without a port 5432, without a database one that is named like the user.
    /// Special characters are percent-encoded. Parameters are `sslmode` (with `sslrootcert`, `sslcert` and `sslkey`),
    /// `application_name`, and `host`, `port`, `user`, `password` and `dbname`, which replace a part of the URL: the
    /// directory of a Unix domain socket is written `postgres:///DATABASE?host=/run/postgresql&user=USER`. If the address is that
    /// of a pooler that works by transaction, `direct=HOST:PORT` is the address of the server behind it.
    ///
    /// With `sslmode=prefer`, which is the default, connections are encrypted if the server supports it, but it is not
    /// verified that it is the right server; use `verify-full` for that. `allow` is the same as `disable`. Without the
    /// feature `tls`, modes that require TLS are refused, and `prefer` does not encrypt.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::StoreErrorKind::InvalidInput) if the URL is not usable. The error quotes no part of
    /// it.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        Ok(Self {
            server: ServerUrl::parse(url)?,
            schema: "agcore".to_owned(),
            pool_size: 8,
            acquire_timeout: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            eviction: EvictionConfig::default(),
            program: "a program".to_owned(),
        })
    }

    /// Sets the schema that contains the tables, so that several applications can share a database. It is created if it does
    /// not exist. Names consist of 1 to 63 lower-case letters, digits and `_`, and do not begin with a digit or `pg_`.
    pub fn with_schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// Sets the maximum number of connections, at least 1.
    pub fn with_pool_size(mut self, connections: u32) -> Self {
        self.pool_size = connections.max(1);
        self
    }

    /// Sets how long an operation waits for a connection: until one in use becomes free, or until a new one is open. After
    /// that, it fails with [`Unavailable`](crate::StoreErrorKind::Unavailable).
    pub fn with_acquire_timeout(mut self, timeout: Duration) -> Self {
        self.acquire_timeout = timeout;
        self
    }

    /// Sets how long the server works on a statement, including the time that it waits for locks. After that, the operation
    /// fails with [`Unavailable`](crate::StoreErrorKind::Unavailable). If the server does not answer at all, it fails
    /// after twice this time.
    pub fn with_statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout.max(Duration::from_millis(1));
        self
    }

    /// Sets the eviction policies.
    pub fn with_eviction(mut self, eviction: EvictionConfig) -> Self {
        self.eviction = eviction;
        self
    }

    /// Uses the server itself, although the address of the URL is that of a pooler: for renewals of leases, which must not wait for
    /// what others do. Takes at most two connections.
    pub fn directly(mut self) -> Self {
        self.server = self.server.direct();
        self.pool_size = self.pool_size.min(2);
        self
    }

    /// Sets the name of the program, such as `agcore serve`. Others see it with the id of the process when they want to continue a
    /// session that is in use here. A session that is in use takes one more connection, for all of them together.
    pub fn with_program(mut self, name: impl Into<String>) -> Self {
        self.program = name.into();
        self
    }

    pub(in crate::postgres) fn check(&self) -> Result<(), StoreError> {
        self.eviction.check()?;
        let is_allowed = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '_');
        let schema = &self.schema;
        let is_name = schema.chars().all(is_allowed) && !schema.starts_with(|first: char| first.is_ascii_digit());
        if is_name && (1..=63).contains(&schema.len()) && !schema.starts_with("pg_") {
            return Ok(());
        }
        Err(StoreError::invalid(format!(
            "the schema {schema:?} is not acceptable; use up to 63 lower-case letters, digits and _, not beginning with a \
             digit or pg_"
        )))
    }
}
