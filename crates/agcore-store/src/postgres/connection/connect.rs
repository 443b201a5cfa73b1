//! Opens connections.

use std::time::Duration;

use sqlx::{
    Connection, Row,
    postgres::{PgConnectOptions, PgConnection},
};
use tokio::time::timeout;

use super::{
    options::PostgresOptions,
    unreachable::{cannot_connect, unreachable},
    url::ServerUrl,
};
use crate::{error::StoreError, postgres::error::convert};

/// Opens a connection for statements, through the pooler if there is one.
pub(in crate::postgres) async fn connect(
    options: &PostgresOptions,
    patience: Duration,
) -> Result<PgConnection, StoreError> {
    if !options.server.is_pooled() {
        return connect_directly(options, patience).await;
    }
    // Poolers refuse most settings of connections. Transactions begin with them, see [`begin`].
    let settings = options.server.connect_options();
    let settings = settings.extra_float_digits(None).statement_cache_capacity(0);
    open(&options.server, &settings, patience).await
}

/// Opens a connection to the server itself.
pub(in crate::postgres) async fn connect_directly(
    options: &PostgresOptions,
    patience: Duration,
) -> Result<PgConnection, StoreError> {
    let server = options.server.direct();
    open(&server, &settings(&server, options), patience).await
}

/// Checks that the pooler leads to the database that is reached directly. Otherwise, locks would be those of another one.
pub(in crate::postgres) async fn check_pooler(
    options: &PostgresOptions,
    direct: &mut PgConnection,
) -> Result<(), StoreError> {
    const ATTEMPT: &str = "cannot compare the databases behind the pooler and the parameter `direct`";
    // Of two servers, one may be a copy of the other.
    const PLACE: &str = "SELECT oid::text || ' ' || extract(epoch FROM pg_postmaster_start_time())::text
                         FROM pg_database WHERE datname = current_database()";
    let mut pooled = connect(options, options.acquire_timeout).await?;
    let mut places = Vec::new();
    for connection in [direct, &mut pooled] {
        let row = sqlx::raw_sql(PLACE).fetch_one(connection).await;
        let place = row.and_then(|row| row.try_get::<String, _>(0));
        places.push(place.map_err(|error| convert(ATTEMPT, error))?);
    }
    let _ = pooled.close().await;
    if places[0] == places[1] {
        return Ok(());
    }
    Err(StoreError::invalid(
        "the pooler leads to another database than the parameter `direct` of the URL; check both addresses and the name of the database",
    ))
}

/// Returns the statements with which transactions begin.
pub(in crate::postgres) fn begin(options: &PostgresOptions) -> String {
    if !options.server.is_pooled() {
        return "BEGIN".to_owned();
    }
    // The transaction before may have been that of another program. The name of the schema was checked.
    let mut begin = "BEGIN ISOLATION LEVEL READ COMMITTED".to_owned();
    for (name, value) in parameters(options) {
        begin.push_str(&format!("; SET LOCAL {name} = '{value}'"));
    }
    begin
}

/// Returns the parameters of the server that statements rely on.
fn parameters(options: &PostgresOptions) -> [(&'static str, String); 3] {
    [
        ("search_path", options.schema.clone()),
        ("statement_timeout", options.statement_timeout.as_millis().to_string()),
        // What a process that was stopped has locked must not keep others waiting for longer than a lease.
        ("idle_in_transaction_session_timeout", "10000".to_owned()),
    ]
}

async fn open(server: &ServerUrl, settings: &PgConnectOptions, patience: Duration) -> Result<PgConnection, StoreError> {
    match timeout(patience, PgConnection::connect_with(settings)).await {
        Ok(connected) => connected.map_err(|error| cannot_connect(server, error)),
        Err(_) => Err(unreachable(server)),
    }
}

/// Opens a connection for locks, which ends soon after its process or its machine.
pub(in crate::postgres) async fn connect_to_hold(
    options: &PostgresOptions,
    patience: Duration,
) -> Result<PgConnection, StoreError> {
    // Names of connections are short and of ASCII only.
    let program: String = options
        .program
        .chars()
        .filter(|char| matches!(char, ' '..='~'))
        .take(40)
        .collect();
    let name = format!("{program} ({})", std::process::id());
    let server = options.server.direct();
    let settings = settings(&server, options).application_name(&name).options([
        ("tcp_keepalives_idle", "10"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "3"),
    ]);
    open(&server, &settings, patience).await
}

/// Returns how connections to the server itself are opened.
pub(in crate::postgres) fn direct_settings(options: &PostgresOptions) -> PgConnectOptions {
    settings(&options.server.direct(), options)
}

fn settings(server: &ServerUrl, options: &PostgresOptions) -> PgConnectOptions {
    let isolation = ("default_transaction_isolation", "read committed".to_owned());
    server
        .connect_options()
        .options(parameters(options).into_iter().chain([isolation]))
}
