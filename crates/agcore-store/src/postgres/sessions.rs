//! The session store.

mod row;
mod run;
mod call;
mod message;
mod event;
mod list;
mod reports;
mod approval;
mod document;
mod commit;
mod erasure;
mod pruning;
mod checkpoints;

use agcore_chat::{Actor, Timestamp, id};
use agcore_session::{
    Approval, ApprovalChange, ApprovalFilter, Commit, Committed, EventFilter, Hold, ListedRun, MessageFilter,
    NewSession, Pruned, Retention, Run, RunFilter, RunKey, RunListFilter, RunProgress, Session, SessionDocument,
    SessionError, SessionEvents, SessionFilter, SessionReader, SessionRetention, SessionWriter, StoredCall,
    StoredEvent, StoredMessage,
};
use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::Value;
use sqlx::{Row, postgres::PgRow};

use crate::error::{StoreError, StoreErrorKind};

pub(super) use self::row::{COLUMNS, KEY};
use super::{
    PostgresStore,
    connection::{statement::Statement, transaction::Transaction},
    error::{convert, unwritable},
    query::{bind_all, number, numbered, statement},
    text::{self, lookup},
};
use crate::sql::{
    Conditions, HoldForm,
    tables::{read_approval, read_call, read_document, read_event, read_message, read_run, read_session},
};

#[async_trait]
impl SessionReader for PostgresStore {
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        let attempt = "cannot read the session";
        let sql = concat!("SELECT ", COLUMNS!(), " FROM sessions WHERE tenant = $1 AND id = $2");
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(session));
        let row = self.statements().row(attempt, statement).await?;
        let session = row.as_ref().map(read_session).transpose();
        Ok(session.map_err(|error| convert(attempt, error))?)
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        let conditions = Conditions::sessions(filter);
        let sql = format!(
            concat!(
                "SELECT ",
                COLUMNS!(),
                " FROM sessions WHERE {} ORDER BY updated_at DESC, id DESC LIMIT ${}"
            ),
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1,
        );
        let statement = bind_all(statement(sql), &conditions).bind(filter.limit.map(number));
        Ok(self.select("cannot list the sessions", statement, read_session).await?)
    }

    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError> {
        let statement = document::selecting(tenant, session);
        let found = self
            .select("cannot read the document", statement, read_document)
            .await?;
        Ok(found.into_iter().next())
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        let statement = message::listing(tenant, session, filter);
        let mut messages = self.select("cannot read the messages", statement, read_message).await?;
        if filter.is_last {
            messages.reverse();
        }
        Ok(messages)
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        let statement = event::listing(tenant, session, filter);
        let mut events = self.select("cannot read the events", statement, read_event).await?;
        if filter.is_last {
            events.reverse();
        }
        Ok(events)
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        let statement = run::selecting(tenant, session, filter);
        let mut runs = self.select("cannot read the runs", statement, read_run).await?;
        runs.reverse();
        Ok(runs)
    }

    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        Ok(self.listed_runs(filter).await?)
    }

    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError> {
        let mut progress = vec![None; runs.len()];
        let statement = run::selecting_progress(runs);
        for (place, found) in self
            .select("cannot read the runs", statement, run::read_progress)
            .await?
        {
            if let Some(slot) = progress.get_mut(place) {
                *slot = Some(found);
            }
        }
        Ok(progress)
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        let from = concat!(
            " FROM tool_calls WHERE session = ",
            KEY!(),
            " AND run = $3 ORDER BY call"
        );
        let sql = format!("SELECT {}{from}", *call::COLUMNS);
        let statement = statement(sql)
            .bind(lookup(tenant))
            .bind(lookup(session))
            .bind(lookup(run));
        Ok(self.select("cannot read the tool calls", statement, read_call).await?)
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        let conditions = Conditions::approvals(filter);
        let sql = format!(
            "SELECT {}, sessions.id AS session_id FROM sessions JOIN approvals USING (session) WHERE {} \
             ORDER BY asked_at, sessions.id, approvals.id LIMIT ${}",
            *approval::COLUMNS,
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1,
        );
        let statement = bind_all(statement(sql), &conditions).bind(filter.limit.map(number));
        let read = |row: &PgRow| read_approval(row, row.try_get("session_id")?);
        Ok(self.select("cannot list the approvals", statement, read).await?)
    }
}

#[async_trait]
impl SessionWriter for PostgresStore {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        session.check()?;
        let mut session = session.create(self.now());
        let attempt = "cannot create the session";
        let created = match session.part_of.clone() {
            None => self.statements().execute(attempt, inserting(&session, None)?).await?,
            Some(named) => {
                let mut transaction = self.statements().begin(attempt).await?;
                let created = insert_part(&mut transaction, &named, &mut session).await;
                transaction.end(attempt, created).await?
            }
        };
        match created {
            0 => Err(StoreError::new(
                StoreErrorKind::AlreadyExists,
                format!("there is a session `{}` already", session.id),
            )
            .into()),
            _ => Ok(session),
        }
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        commit.check()?;
        let attempt = "cannot commit to the session";
        let mut transaction = self.statements().begin(attempt).await?;
        let committed = commit::commit(&mut transaction, (tenant, session), expected, commit, self.now()).await;
        Ok(transaction.end(attempt, committed).await?)
    }

    async fn commit_events(&self, batch: Vec<SessionEvents>) -> Vec<Result<Committed, SessionError>> {
        // Each part locks its session, so a transaction of all parts would wait for every other writer, and could deadlock.
        let commits = batch.into_iter().map(|part| async move {
            let mut commit = Commit::new();
            (commit.events, commit.fence) = (part.events, part.fence);
            self.commit(&part.tenant, &part.session, part.expected, commit).await
        });
        join_all(commits).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        let sql = "UPDATE sessions SET title = $3, updated_at = greatest(updated_at, $4)
                   WHERE tenant = $1 AND id = $2 AND erased_at IS NULL";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(session));
        let statement = statement.bind(title.map(text::encode)).bind(self.now().as_millis());
        match self
            .statements()
            .execute("cannot rename the session", statement)
            .await?
        {
            0 => Err(row::missing(session).into()),
            _ => Ok(()),
        }
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        let change = ApprovalChange::answer(question, answer, by.clone());
        change.check()?;
        let attempt = "cannot write the answer";
        let mut transaction = self.statements().begin(attempt).await?;
        let answered = apply(&mut transaction, (tenant, session), change, self.now()).await;
        Ok(transaction.end(attempt, answered).await?)
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        id::check(name)?;
        Ok(self.0.holds.take(name, HoldForm::Alone, self.now()).await?)
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        id::check(name)?;
        Ok(self.0.holds.take(name, HoldForm::Shared, self.now()).await?)
    }
}

#[async_trait]
impl SessionRetention for PostgresStore {
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        let statement = sqlx::query("DELETE FROM sessions WHERE tenant = $1 AND id = $2");
        let statement = statement.bind(lookup(tenant)).bind(lookup(session));
        let deleted = self
            .statements()
            .execute("cannot delete the session", statement)
            .await?;
        Ok(deleted > 0)
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        Ok(self.erase_one(tenant, session).await?)
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        Ok(self.erase_sessions_of(owner).await?)
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        Ok(self.prune_old(retention, limit).await?)
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        Ok(self.count_old(retention).await?)
    }
}

impl PostgresStore {
    /// Runs a statement and reads its rows.
    pub(super) async fn select<T>(
        &self,
        attempt: &str,
        statement: Statement<'_>,
        read: impl Fn(&PgRow) -> Result<T, sqlx::Error>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.statements().rows(attempt, statement).await?;
        let read = rows.iter().map(read).collect::<Result<_, _>>();
        read.map_err(|error| convert(attempt, error))
    }
}

/// Returns the statement that creates a session. It changes no row if there is one with this id.
fn inserting(session: &Session, whole: Option<i64>) -> Result<Statement<'_>, StoreError> {
    let sql = "INSERT INTO sessions
               (tenant, id, \"user\", line, status, currency, country, origin_session, origin_message, created_at,
                updated_at, stream, title, metadata, part_of)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13::json, $14)
               ON CONFLICT (tenant, id) DO NOTHING";
    let metadata = serde_json::to_string(&session.metadata);
    let metadata = metadata.map_err(|error| unwritable("the metadata", error))?;
    let (billing, origin) = (session.billing.as_ref(), session.origin.as_ref());
    Ok(sqlx::query(sql)
        .bind(&*session.owner.tenant)
        .bind(&session.id)
        .bind(&*session.owner.user)
        .bind(session.owner.line.as_deref())
        .bind(session.status.as_str())
        .bind(billing.map(|billing| &billing.currency))
        .bind(billing.and_then(|billing| billing.country.as_ref()))
        .bind(origin.map(|origin| &origin.session))
        .bind(origin.map(|origin| origin.message))
        .bind(session.created_at.as_millis())
        .bind(session.stream())
        .bind(session.title.as_deref().map(text::encode))
        .bind(metadata)
        .bind(whole))
}

/// Creates a part of the named session, or of the session that contains the named one. Returns the number of rows that were
/// inserted.
async fn insert_part(transaction: &mut Transaction<'_>, named: &str, session: &mut Session) -> Result<u64, StoreError> {
    let (key, id) = row::lock_whole(transaction, named, &session.owner).await?;
    session.part_of = Some(id);
    transaction
        .execute("cannot create the session", inserting(session, Some(key))?)
        .await
}

/// Changes an approval without the records of its session.
async fn apply(
    transaction: &mut Transaction<'_>,
    (tenant, session): (&str, &str),
    change: ApprovalChange,
    now: Timestamp,
) -> Result<Approval, StoreError> {
    let key = row::lock(transaction, tenant, session).await?.key;
    let (approval, is_changed) = approval::change(transaction, (key, session), change, now).await?;
    if is_changed {
        let sql = "UPDATE sessions SET updated_at = greatest(updated_at, $2) WHERE session = $1";
        let touch = sqlx::query(sql).bind(key).bind(now.as_millis());
        transaction.execute("cannot write the session", touch).await?;
    }
    Ok(approval)
}
