//! [`SessionReader`]: the reading half of stores of sessions.

use std::fmt::Debug;

use async_trait::async_trait;

use super::writer::StoreLayer;
use crate::{
    checkpoint::RunKey,
    error::SessionError,
    session::{
        Session,
        approval::Approval,
        call::StoredCall,
        document::SessionDocument,
        event::StoredEvent,
        filter::{ApprovalFilter, EventFilter, ListedRun, MessageFilter, RunFilter, RunListFilter, SessionFilter},
        message::StoredMessage,
        run::{Run, RunProgress},
    },
};

/// Reads sessions with their messages, events, runs, tool calls and approvals.
///
/// A session that does not exist has nothing: reading it is not an error. Dropping the future of a read has no effect.
#[async_trait]
pub trait SessionReader: Send + Sync + Debug {
    /// Returns a session, or `None` if there is none with this id.
    ///
    /// # Errors
    /// When the storage fails.
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError>;

    /// Returns the sessions that a filter selects, those changed last first. Sessions that were changed at the same time come
    /// in descending order of their ids.
    ///
    /// # Errors
    /// When the storage fails.
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError>;

    /// Returns the document of a session, or `None` if it has none.
    ///
    /// # Errors
    /// When the storage fails or the document cannot be read.
    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError>;

    /// Returns the messages that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or a message cannot be read.
    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError>;

    /// Returns the events that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or an event cannot be read.
    async fn events(&self, tenant: &str, session: &str, filter: &EventFilter)
    -> Result<Vec<StoredEvent>, SessionError>;

    /// Returns the runs that a filter selects, in the order in which they were first stored.
    ///
    /// # Errors
    /// When the storage fails or a run cannot be read.
    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError>;

    /// Returns the runs that a filter selects from all sessions of an owner, the newest first.
    ///
    /// # Errors
    /// When the storage fails or a run cannot be read.
    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError>;

    /// Returns the progress of runs of any tenants, in the order in which they are named; `None` for a run that does not exist.
    /// A program that follows many runs reads the events only of those that have new ones.
    ///
    /// # Errors
    /// When the storage fails.
    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError>;

    /// Returns the tool calls of a run that were started, in the order in which they started.
    ///
    /// # Errors
    /// When the storage fails or a call cannot be read.
    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError>;

    /// Returns the approvals that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or an approval cannot be read.
    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError>;
}

#[async_trait]
impl<L> SessionReader for L
where
    L: StoreLayer<Inner: SessionReader> + Send + Sync + Debug + ?Sized,
{
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        self.inner().get_session(tenant, session).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        self.inner().sessions(filter).await
    }

    async fn document(&self, tenant: &str, session: &str) -> Result<Option<SessionDocument>, SessionError> {
        self.inner().document(tenant, session).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        self.inner().messages(tenant, session, filter).await
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        self.inner().events(tenant, session, filter).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        self.inner().runs(tenant, session, filter).await
    }

    async fn run_list(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, SessionError> {
        self.inner().run_list(filter).await
    }

    async fn progress(&self, runs: &[RunKey<'_>]) -> Result<Vec<Option<RunProgress>>, SessionError> {
        self.inner().progress(runs).await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        self.inner().calls(tenant, session, run).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        self.inner().approvals(filter).await
    }
}
