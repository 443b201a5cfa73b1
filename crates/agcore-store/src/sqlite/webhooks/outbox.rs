//! Messages to webhooks about runs, which are stored with the statuses that cause them.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::RunStatus;
use agcore_webhook::{EventKind, EventKinds};
use rusqlite::{Connection, params};

use crate::{error::StoreError, sql::webhooks::storing, sqlite::rows::execute};

/// An expression for a random text.
pub(super) const RANDOM: &str = "lower(hex(randomblob(16)))";

static STORE: LazyLock<String> = LazyLock::new(|| storing(RANDOM, "?5", ["?1", "?2", "?3", "?4"], ""));

/// Stores the messages about a run that has got another status. Most statuses cause none.
pub(in crate::sqlite) fn notify(
    connection: &Connection,
    (session, run): (i64, &str),
    status: RunStatus,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(kind) = EventKind::of_run(status.as_str()) else {
        return Ok(());
    };
    let bit = EventKinds::from(kind).bits();
    let params = params![session, run, kind.as_str(), bit, now.as_millis()];
    execute(connection, "cannot store the messages to webhooks", &STORE, params).map(drop)
}
