//! The store of a trial.

use std::{env, sync::Arc};

use agcore_chat::SystemClock;
use agcore_session::SessionError;
use agcore_store::postgres::PostgresOptions;
use agcore_testkit::crash::{Database, Place, PostgresSchema};

use crate::support::Store;

/// Returns a schema on the server for tests, or reports that there is none.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the server is a matter of the machine, and tests report what they skip"
)]
pub(super) fn need_server() -> Option<PostgresSchema> {
    let url = env::var("AGCORE_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned());
    let schema = PostgresSchema::new(url);
    match block_on(try_open(&Place::in_schema(&schema))) {
        Ok(_) => Some(schema),
        Err(error) => {
            println!("skipped: postgres: {error}");
            None
        }
    }
}

pub(super) async fn open(place: &Place) -> Store {
    try_open(place).await.unwrap()
}

async fn try_open(place: &Place) -> Result<Store, SessionError> {
    let clock = Arc::new(SystemClock::new());
    let Database::Postgres { url, schema } = place.database() else {
        panic!("{place:?}");
    };
    let options = PostgresOptions::new(url)?
        .with_schema(schema.as_str())
        .with_pool_size(3);
    Ok(Arc::new(options.open(clock).await?))
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
