//! Lists and reports over sessions.

use agcore_chat::Actor;
use agcore_session::{
    ApprovalFilter, BillPlace, BilledMessage, CostEntry, RunKey, SessionError, SessionReports, SpendingFilter,
    StoredEvent,
};
use async_trait::async_trait;
use sqlx::postgres::PgRow;

use super::list::text_of;
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        query::{bind_all, number, numbered, statement},
        text::lookup,
    },
    sql::{
        Conditions, bill_order,
        row::SqlRow,
        tables::{read_event, read_message},
    },
};

/// The columns of a message, without its content.
const BILL: &str = "messages.seq, messages.id, role, visibility_mask::bigint AS visibility_mask, messages.run, \
     (cost * 1000000)::bigint AS cost, messages.currency, profile_version, messages.created_at, usage::text AS usage, \
     messages.metadata::text AS metadata, '' AS content";

/// Selects messages that may have model calls. The server cannot look into all metadata.
const IS_BILLED: &str = "usage IS NOT NULL OR cost IS NOT NULL OR strpos(messages.metadata::text, '\"bill\"') > 0";

#[async_trait]
impl SessionReports for PostgresStore {
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        let conditions = Conditions::approvals(filter);
        let sql = format!(
            "SELECT count(*) AS found FROM \
             (SELECT 1 FROM sessions JOIN approvals USING (session) WHERE {} LIMIT ${}) AS selected",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1,
        );
        let statement = bind_all(statement(sql), &conditions).bind(filter.limit.map(number));
        let counted = self.select("cannot count the approvals", statement, |row: &PgRow| {
            row.count("found")
        });
        Ok(counted.await?.pop().unwrap_or(0))
    }

    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        let sql = "SELECT asked.place, last.*
                   FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS asked (tenant, session_id, id, place)
                       JOIN sessions ON sessions.tenant = asked.tenant AND sessions.id = asked.session_id
                       JOIN LATERAL (
                           SELECT seq, run, kind, created_at, data::text AS data FROM events
                           WHERE events.session = sessions.session AND events.run = asked.id ORDER BY seq DESC LIMIT $4
                       ) AS last ON TRUE
                   ORDER BY asked.place, last.seq";
        let texts = |text: fn(&RunKey<'_>) -> Option<String>| runs.iter().map(text).collect::<Vec<_>>();
        let statement = sqlx::query(sql)
            .bind(texts(|run| lookup(run.tenant).map(str::to_owned)))
            .bind(texts(|run| lookup(run.session).map(str::to_owned)))
            .bind(texts(|run| lookup(run.run).map(str::to_owned)))
            .bind(number(count));
        let read = |row: &PgRow| Ok((place(row)?, read_event(row)?));
        let found = self.select("cannot read the events", statement, read).await?;
        Ok(by_place(
            runs.len(),
            found.into_iter().map(|(place, event)| (place, [event])),
        ))
    }

    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        let sql = format!(
            "WITH asked AS (
                 SELECT * FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS asked (session_id, run_id, parts, place))
             SELECT asked.place, sessions.id AS session_id, {BILL}
             FROM asked JOIN sessions ON sessions.tenant = $1 AND sessions.id = asked.session_id
                 JOIN messages ON messages.session = sessions.session AND messages.run = asked.run_id
             WHERE {IS_BILLED}
             UNION ALL
             SELECT asked.place, sessions.id AS session_id, {BILL}
             FROM asked JOIN sessions AS whole ON whole.tenant = $1 AND whole.id = asked.session_id
                 JOIN sessions ON sessions.part_of = whole.session AND starts_with(sessions.id, asked.parts)
                 JOIN messages ON messages.session = sessions.session
             WHERE {IS_BILLED}"
        );
        let texts = |text: fn(&BillPlace) -> Option<&str>| places.iter().map(text).collect::<Vec<_>>();
        let statement = statement(sql)
            .bind(lookup(tenant))
            .bind(texts(|place| lookup(&place.session)))
            .bind(texts(|place| lookup(&place.run)))
            .bind(texts(|place| place.parts.as_deref().and_then(lookup)));
        let read = |row: &PgRow| Ok((place(row)?, row.text("session_id")?, read_message(row)?));
        let mut found = self.select("cannot read the bills", statement, read).await?;
        found.sort_by(|(_, one, first), (_, other, second)| bill_order(one, first).cmp(&bill_order(other, second)));
        let calls = found.iter().map(|(place, _, message)| (*place, CostEntry::of(message)));
        Ok(by_place(places.len(), calls))
    }

    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        let mut filter = filter.clone();
        loop {
            let mut page = self.billed_messages(&filter).await?;
            let last = page.last().map(BilledMessage::place);
            page.retain(|message| !message.calls.is_empty());
            // Those without a call may fill a page.
            match last {
                Some(last) if page.is_empty() => filter.after = Some(last),
                _ => return Ok(page),
            }
        }
    }
}

impl PostgresStore {
    /// Returns a page of the messages that may have model calls.
    async fn billed_messages(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, StoreError> {
        let conditions = Conditions::spending(filter, IS_BILLED);
        let count = conditions.values().len();
        let sql = format!(
            "SELECT {BILL}, sessions.id AS session_id, sessions.tenant, sessions.\"user\", sessions.line, {} AS label
             FROM sessions JOIN messages USING (session) WHERE {}
             ORDER BY messages.created_at, sessions.id, messages.seq LIMIT ${}",
            text_of("sessions.metadata", count + 2),
            numbered(conditions.sql(), 1),
            count + 1,
        );
        let statement = bind_all(statement(sql), &conditions)
            .bind(filter.limit.map(number))
            .bind(filter.label.as_deref().and_then(lookup));
        let read = |row: &PgRow| {
            let mut owner = Actor::new(row.text("tenant")?, row.text("user")?);
            owner.line = row.optional_text("line")?.map(Into::into);
            let label = row.optional_text("label")?;
            Ok(BilledMessage::new(
                row.text("session_id")?,
                owner,
                label,
                &read_message(row)?,
            ))
        };
        self.select("cannot read the bills", statement, read).await
    }
}

/// Returns the place of what was asked for, from 0.
fn place(row: &PgRow) -> Result<usize, sqlx::Error> {
    let place = usize::try_from(row.count("place")?).unwrap_or(usize::MAX);
    Ok(place.saturating_sub(1))
}

/// Collects what was found by its place.
fn by_place<T>(places: usize, found: impl IntoIterator<Item = (usize, impl IntoIterator<Item = T>)>) -> Vec<Vec<T>> {
    let mut lists: Vec<Vec<T>> = std::iter::repeat_with(Vec::new).take(places).collect();
    for (place, items) in found {
        if let Some(list) = lists.get_mut(place) {
            list.extend(items);
        }
    }
    lists
}
