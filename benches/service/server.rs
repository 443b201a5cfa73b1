//! The server to measure, with SQLite and a model in its process.

use std::{io::Write as _, path::Path, sync::Arc};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::SystemClock;
use agcore_server::{Limits, Server};
use agcore_store::sqlite::SqliteOptions;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{Fallible, model::PlannedModel};

/// Serves an agent until the process ends. Everything is as in `agcore serve`, except that one user may have many streams and runs.
pub(crate) async fn serve(database: &Path) -> Fallible {
    let clock = Arc::new(SystemClock::new());
    let store = SqliteOptions::new(database).with_readers(1).open(clock).await?;
    let bundle = AgentBuilder::new().with_provider(PlannedModel::new()).build()?;
    let limits = Limits::new()
        .with_max_streams_per_user(8192)
        .with_max_runs_per_user(8192)
        .with_max_runs(8192);
    let server = Server::builder()
        .with_agent("writer", bundle, AgentSpec::new("writer", "Write."))
        .with_store(Arc::new(store))
        .with_limits(limits)
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    Ok(server.serve(listener, CancellationToken::new()).await?)
}
