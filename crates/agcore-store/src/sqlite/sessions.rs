//! The session store.

mod row;
mod run;
mod message;
mod event;
mod approval;
mod document;
mod list;
mod reports;
mod commit;
mod event_commit;
mod erasure;
mod pruning;
mod checkpoints;

use agcore_chat::{Actor, Timestamp, id};
use agcore_session::{
    Approval, ApprovalChange, ApprovalFilter, Commit, Committed, EventFilter, Hold, ListedRun, MessageFilter,
    NewSession, Pruned, Retention, Run, RunFilter, RunKey, RunListFilter, RunProgress, Session, SessionDocument,
    SessionError, SessionErrorKind, SessionEvents, SessionFilter, SessionReader, SessionRetention, SessionWriter,
    StoredCall, StoredEvent, StoredMessage,
};
use async_trait::async_trait;
use rusqlite::{Connection, named_params, params};
use serde_json::Value;

use crate::{
    error::{StoreError, StoreErrorKind},
    sql::{HoldForm, tables::read_session},
};

pub(super) use self::row::COLUMNS;
use super::{
    SqliteStore,
    rows::{execute, select_one},
    thread,
};

#[async_trait]
impl SessionReader for SqliteStore {
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        let key = [tenant, session].map(str::to_owned);
        self.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM sessions WHERE tenant = ?1 AND id = ?2");
            select_one(connection, "cannot read the session", &sql, key, |row| {
                read_session(row)
            })
        })
        .await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        let filter = filter.clone();
        self.read(move |connection| list::sessions(connection, &filter)).await
    }

    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError> {
        let [tenant, session] = [tenant, session].map(str::to_owned);
        self.read(move |connection| document::find(connection, &tenant, &session))
            .await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        let ([tenant, session], filter) = ([tenant, session].map(str::to_owned), filter.clone());
        self.read(move |connection| message::list(connection, &tenant, &session, &filter))
            .await
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        let ([tenant, session], filter) = ([tenant, session].map(str::to_owned), filter.clone());
        self.read(move |connection| event::list(connection, &tenant, &session, &filter))
            .await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        let ([tenant, session], filter) = ([tenant, session].map(str::to_owned), filter.clone());
        self.read(move |connection| run::list(connection, &tenant, &session, &filter))
            .await
    }

    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        let filter = filter.clone();
        self.read(move |connection| list::runs(connection, &filter)).await
    }

    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError> {
        let keys = runs
            .iter()
            .map(|run| [run.tenant, run.session, run.run].map(str::to_owned));
        let keys: Vec<_> = keys.collect();
        self.read(move |connection| keys.iter().map(|key| run::progress(connection, key)).collect())
            .await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        let [tenant, session, run] = [tenant, session, run].map(str::to_owned);
        self.read(move |connection| run::list_calls(connection, &tenant, &session, &run))
            .await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        let filter = filter.clone();
        self.read(move |connection| list::approvals(connection, &filter)).await
    }
}

#[async_trait]
impl SessionWriter for SqliteStore {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        session.check()?;
        let session = session.create(self.now());
        self.write(move |connection| insert(connection, session)).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        mut commit: Commit,
    ) -> Result<Committed, SessionError> {
        commit.check()?;
        let ([tenant, session], now) = ([tenant, session].map(str::to_owned), self.now());
        let clock = self.clock();
        if let Some(events) = event_commit::events_alone(&mut commit) {
            let mut part = SessionEvents::new((tenant, session), expected, events);
            part.fence = commit.fence;
            let write = move |connection: &Connection| event_commit::commit(connection, &part, now, &*clock);
            return self.write_checked(write).await;
        }
        self.write(move |connection| {
            let write = (expected, commit, now);
            commit::commit(connection, (&tenant, &session), write, &*clock)
        })
        .await
    }

    async fn commit_events(&self, batch: Vec<SessionEvents>) -> Vec<Result<Committed, SessionError>> {
        let (count, now, clock) = (batch.len(), self.now(), self.clock());
        // The batch comes back: strings that are freed by the thread that has created them do not block others.
        let write = move |connection: &Connection| {
            let results = event_commit::commit_all(connection, &batch, now, &*clock)?;
            Ok((results, batch))
        };
        match self.write_checked(write).await {
            Ok((results, _)) => results.into_iter().map(|result| Ok(result?)).collect(),
            Err(error) => vec![Err(error); count],
        }
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        let ([tenant, session], now) = ([tenant, session].map(str::to_owned), self.now().as_millis());
        let title = title.map(str::to_owned);
        self.write(move |connection| {
            let sql = "UPDATE sessions SET title = ?3, updated_at = max(updated_at, ?4) WHERE tenant = ?1 AND id = ?2
                       AND erased_at IS NULL";
            let params = params![tenant, session, title, now];
            match execute(connection, "cannot rename the session", sql, params)? {
                0 => Err(row::missing(&session)),
                _ => Ok(()),
            }
        })
        .await
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
        let ([tenant, session], now) = ([tenant, session].map(str::to_owned), self.now());
        self.write(move |connection| {
            let key = row::find_key(connection, &tenant, &session)?;
            let (approval, is_changed) = approval::change(connection, (key, &session), change, now)?;
            if is_changed {
                touch(connection, key, now)?;
            }
            Ok(approval)
        })
        .await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        self.take_hold(name, HoldForm::Alone).await
    }

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        self.take_hold(name, HoldForm::Shared).await
    }
}

#[async_trait]
impl SessionRetention for SqliteStore {
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        let key = [tenant, session].map(str::to_owned);
        self.write(move |connection| {
            let sql = "DELETE FROM sessions WHERE tenant = ?1 AND id = ?2";
            Ok(execute(connection, "cannot delete the session", sql, key)? > 0)
        })
        .await
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        let ([tenant, session], now) = ([tenant, session].map(str::to_owned), self.now());
        let erase = move |connection: &Connection| erasure::erase(connection, &tenant, &session, now);
        let erased = self.write::<_, StoreError>(erase).await?;
        self.truncate_log().await?;
        Ok(erased)
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        let erased = self.erase_sessions_of(owner).await?;
        self.truncate_log().await?;
        Ok(erased)
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        Ok(self.prune_old(retention, limit).await?)
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        Ok(self.count_old(retention).await?)
    }
}

impl SqliteStore {
    async fn take_hold(&self, name: &str, form: HoldForm) -> Result<Hold, SessionError> {
        id::check(name)?;
        let (holds, now) = (self.0.holds.clone(), self.now());
        // What another thread does is microseconds of work, so that this one does it itself.
        match holds.take(name, form, now) {
            Err(error) if error.kind() == StoreErrorKind::Session(SessionErrorKind::Held) => {
                let name = name.to_owned();
                Ok(thread::run("agcore-sqlite-hold", move || holds.take_patiently(&name, form, now)).await?)
            }
            taken => Ok(taken?),
        }
    }
}

fn insert(connection: &Connection, mut session: Session) -> Result<Session, StoreError> {
    let mut whole = None;
    if let Some(named) = &session.part_of {
        let (key, id) = row::find_whole(connection, named, &session.owner)?;
        (whole, session.part_of) = (Some(key), Some(id));
    }
    let sql = "INSERT INTO sessions
               (tenant, id, user, line, status, currency, country, origin_session, origin_message, created_at, updated_at,
                stream, title, metadata, part_of)
               VALUES (:tenant, :id, :user, :line, :status, :currency, :country, :origin_session, :origin_message, :now,
                       :now, :stream, :title, :metadata, :part_of)
               ON CONFLICT (tenant, id) DO NOTHING";
    let (billing, origin) = (session.billing.as_ref(), session.origin.as_ref());
    let params = named_params! {
        ":tenant": &*session.owner.tenant,
        ":id": session.id,
        ":user": &*session.owner.user,
        ":line": session.owner.line.as_deref(),
        ":status": session.status.as_str(),
        ":currency": billing.map(|billing| &billing.currency),
        ":country": billing.and_then(|billing| billing.country.as_ref()),
        ":origin_session": origin.map(|origin| &origin.session),
        ":origin_message": origin.map(|origin| origin.message),
        ":now": session.created_at.as_millis(),
        ":stream": session.stream(),
        ":title": session.title,
        ":metadata": Value::Object(session.metadata.clone()).to_string(),
        ":part_of": whole,
    };
    match execute(connection, "cannot create the session", sql, params)? {
        0 => Err(StoreError::new(
            StoreErrorKind::AlreadyExists,
            format!("there is a session `{}` already", session.id),
        )),
        _ => Ok(session),
    }
}

/// Sets the time of the last change.
fn touch(connection: &Connection, key: i64, now: Timestamp) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET updated_at = max(updated_at, ?2) WHERE session = ?1";
    execute(
        connection,
        "cannot write the session",
        sql,
        params![key, now.as_millis()],
    )
    .map(drop)
}
