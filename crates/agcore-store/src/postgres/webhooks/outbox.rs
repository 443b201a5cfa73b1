//! Messages to webhooks about runs, which are stored with the statuses that cause them.

use std::sync::LazyLock;

use agcore_session::RunStatus;
use agcore_webhook::{EventKind, EventKinds};

use crate::{
    error::StoreError,
    postgres::{connection::transaction::Transaction, query::NOW},
    sql::webhooks::storing,
};

/// An expression for a random text.
pub(super) const RANDOM: &str = "replace(gen_random_uuid()::text, '-', '')";

/// A webhook that another transaction is deleting is waited for: a message to it could not be stored.
static STORE: LazyLock<String> =
    LazyLock::new(|| storing(RANDOM, NOW, ["$1", "$2", "$3", "$4"], "FOR KEY SHARE OF webhooks"));

/// Stores the messages about a run that has got another status. Most statuses cause none.
pub(in crate::postgres) async fn notify(
    transaction: &mut Transaction<'_>,
    (session, run): (i64, &str),
    status: RunStatus,
) -> Result<(), StoreError> {
    let Some(kind) = EventKind::of_run(status.as_str()) else {
        return Ok(());
    };
    let sql: &'static str = &STORE;
    let statement = sqlx::query(sql)
        .bind(session)
        .bind(run)
        .bind(kind.as_str())
        .bind(i64::from(EventKinds::from(kind).bits()));
    let stored = transaction
        .execute("cannot store the messages to webhooks", statement)
        .await;
    stored.map(drop)
}
