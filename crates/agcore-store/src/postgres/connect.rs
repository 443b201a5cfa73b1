//! Opens connections.

use std::time::Duration;

use agcore_memory::MemoryError;
use sqlx::{
    Connection,
    postgres::{PgConnectOptions, PgConnection},
};
use tokio::time::timeout;

use super::{
    error::{cannot_connect, unreachable},
    options::PostgresOptions,
};

/// Opens a connection.
pub(super) async fn connect(options: &PostgresOptions, patience: Duration) -> Result<PgConnection, MemoryError> {
    let settings = settings(options);
    match timeout(patience, PgConnection::connect_with(&settings)).await {
        Ok(connected) => connected.map_err(|error| cannot_connect(&options.server, error)),
        Err(_) => Err(unreachable(&options.server)),
    }
}

fn settings(options: &PostgresOptions) -> PgConnectOptions {
    let timeout = options.statement_timeout.as_millis().to_string();
    let server = options.server.connect_options();
    server.options([
        ("search_path", options.schema.as_str()),
        ("statement_timeout", timeout.as_str()),
        ("default_transaction_isolation", "read committed"),
    ])
}
