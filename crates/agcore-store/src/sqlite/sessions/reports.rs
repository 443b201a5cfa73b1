//! Lists and reports over sessions.

use agcore_chat::Actor;
use agcore_session::{
    ApprovalFilter, BillPlace, BilledMessage, CostEntry, EventFilter, RunKey, SessionError, SessionReports,
    SpendingFilter, StoredEvent,
};
use async_trait::async_trait;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::{event, list::approvals_of};
use crate::{
    error::StoreError,
    sql::{Conditions, Value, bill_order, tables::read_message},
    sqlite::{
        SqliteStore,
        rows::{limit, select, select_one},
    },
};

/// The columns of a message, without its content.
const BILL: &str = "messages.seq AS seq, messages.id AS id, role, visibility_mask, run, cost, messages.currency AS currency, \
     profile_version, messages.created_at AS created_at, usage, messages.metadata AS metadata, '' AS content";

/// Selects messages that may have model calls, without reading JSON.
const IS_BILLED: &str = "usage IS NOT NULL OR cost IS NOT NULL OR instr(messages.metadata, '\"bill\"') > 0";

#[async_trait]
impl SessionReports for SqliteStore {
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        let filter = filter.clone();
        self.read(move |connection| count(connection, &filter)).await
    }

    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        let keys = runs
            .iter()
            .map(|run| [run.tenant, run.session, run.run].map(str::to_owned));
        let keys: Vec<_> = keys.collect();
        let last = move |connection: &Connection, [tenant, session, run]: &[String; 3]| {
            let filter = EventFilter::new().with_run(&**run).with_last(count);
            event::list(connection, tenant, session, &filter)
        };
        self.read(move |connection| keys.iter().map(|key| last(connection, key)).collect())
            .await
    }

    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        let (tenant, places) = (tenant.to_owned(), places.to_vec());
        self.read(move |connection| places.iter().map(|place| bill(connection, &tenant, place)).collect())
            .await
    }

    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        let filter = filter.clone();
        self.read(move |connection| {
            let mut filter = filter;
            loop {
                let mut page = spending(connection, &filter)?;
                let last = page.last().map(BilledMessage::place);
                page.retain(|message| !message.calls.is_empty());
                // Those without a call may fill a page.
                match last {
                    Some(last) if page.is_empty() => filter.after = Some(last),
                    _ => break Ok(page),
                }
            }
        })
        .await
    }
}

fn count(connection: &Connection, filter: &ApprovalFilter) -> Result<u64, StoreError> {
    let conditions = Conditions::approvals(filter);
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {} WHERE {} LIMIT ?)",
        approvals_of(filter),
        conditions.sql()
    );
    let limit = Value::Integer(limit(filter.limit));
    let params = params_from_iter(conditions.values().iter().chain([&limit]));
    let counted = select_one(connection, "cannot count the approvals", &sql, params, |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(counted.unwrap_or(0).unsigned_abs())
}

/// Returns the model calls in a place.
fn bill(connection: &Connection, tenant: &str, place: &BillPlace) -> Result<Vec<CostEntry>, StoreError> {
    let sql = format!(
        "SELECT {BILL}, sessions.id AS session_id FROM sessions JOIN messages USING (session)
         WHERE sessions.tenant = ?1 AND sessions.id = ?2 AND run = ?3 AND ({IS_BILLED})
         UNION ALL
         SELECT {BILL}, sessions.id AS session_id
         FROM sessions AS whole JOIN sessions ON sessions.part_of = whole.session
             JOIN messages ON messages.session = sessions.session
         WHERE ?4 IS NOT NULL AND whole.tenant = ?1 AND whole.id = ?2
             AND substr(sessions.id, 1, length(?4)) = ?4 AND ({IS_BILLED})"
    );
    let params = params![tenant, place.session, place.run, place.parts];
    let read = |row: &Row<'_>| Ok((row.get::<_, String>("session_id")?, read_message(row)?));
    let mut messages = select(connection, "cannot read the bills", &sql, params, read)?;
    messages.sort_by(|(one, first), (other, second)| bill_order(one, first).cmp(&bill_order(other, second)));
    Ok(messages
        .iter()
        .flat_map(|(_, message)| CostEntry::of(message))
        .collect())
}

/// Returns a page of the messages that may have model calls.
fn spending(connection: &Connection, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, StoreError> {
    let conditions = Conditions::spending(filter, IS_BILLED);
    let sql = format!(
        "SELECT {BILL}, sessions.id AS session_id, sessions.tenant AS tenant, sessions.user AS user, sessions.line AS line,
             (SELECT value FROM json_each(sessions.metadata) WHERE key = ? AND type = 'text') AS label
         FROM sessions JOIN messages USING (session) WHERE {}
         ORDER BY messages.created_at, sessions.id, messages.seq LIMIT ?",
        conditions.sql()
    );
    let label = Value::Text(filter.label.clone().unwrap_or_default());
    let limit = Value::Integer(limit(filter.limit));
    let params = params_from_iter([&label].into_iter().chain(conditions.values()).chain([&limit]));
    let read = |row: &Row<'_>| {
        let mut owner = Actor::new(row.get::<_, String>("tenant")?, row.get::<_, String>("user")?);
        owner.line = row.get::<_, Option<String>>("line")?.map(Into::into);
        let label = row
            .get::<_, Option<String>>("label")?
            .filter(|_| filter.label.is_some());
        Ok(BilledMessage::new(
            row.get::<_, String>("session_id")?,
            owner,
            label,
            &read_message(row)?,
        ))
    };
    select(connection, "cannot read the bills", &sql, params, read)
}
