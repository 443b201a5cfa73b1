//! Opens connections.

use std::time::Duration;

use sqlx::{
    Connection,
    postgres::{PgConnectOptions, PgConnection},
};
use tokio::time::timeout;

use crate::error::StoreError;
use {
    super::options::PostgresOptions,
    crate::postgres::{
        error::{cannot_connect, unreachable},
        url::ServerUrl,
    },
};

/// Opens a connection.
pub(in crate::postgres) async fn connect(
    options: &PostgresOptions,
    patience: Duration,
) -> Result<PgConnection, StoreError> {
    open(&options.server, &settings(options), patience).await
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
    let settings = settings(options).application_name(&name).options([
        ("tcp_keepalives_idle", "10"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "3"),
    ]);
    open(&options.server, &settings, patience).await
}

fn settings(options: &PostgresOptions) -> PgConnectOptions {
    let timeout = options.statement_timeout.as_millis().to_string();
    let server = options.server.connect_options();
    server.options([
        ("search_path", options.schema.as_str()),
        ("statement_timeout", timeout.as_str()),
        // What a process that was stopped has locked must not keep others waiting for longer than a lease.
        ("idle_in_transaction_session_timeout", "10000"),
        ("default_transaction_isolation", "read committed"),
    ])
}
