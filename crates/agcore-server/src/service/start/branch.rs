//! Branches of threads.

use std::sync::Arc;

use agcore_agent::{AgentError, AgentErrorKind};
use agcore_chat::Actor;
use agcore_session::{DocumentChange, MessageFilter, Session};

use super::{AGENT, agent_of};
use crate::{
    problem::{Problem, ProblemCode},
    service::{
        agents::Work,
        owned::OwnedThread,
        state::{Service, check_id},
    },
};

/// The end of the part of a thread that a branch has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BranchPoint {
    /// The branch has all messages.
    End,
    /// It has those up to this one, the last of a turn.
    After(String),
    /// It has those before this one, the first of a turn.
    Before(String),
}

impl Service {
    /// Creates a thread that continues from a message of another one, with the state that this has now.
    ///
    /// # Errors
    /// `not_found` if the user has no such thread or message, `agent_mismatch` if a flow has the thread, `thread_exists`, and
    /// `invalid_request` if the message is in the middle of a turn.
    pub(crate) async fn branch(
        &self,
        actor: &Actor,
        thread: &str,
        id: String,
        point: &BranchPoint,
    ) -> Result<Session, Problem> {
        check_id("thread", &id)?;
        let own = self.own(actor, thread).await?;
        let entry = self.agents.choose(agent_of(own.session()))?;
        let Work::Agent(agent) = &entry.work else {
            let detail = "the thread belongs to a flow, whose threads have no branches; start a new thread";
            return Err(Problem::new(ProblemCode::AgentMismatch, detail));
        };
        let lock = self.admission.of(actor, &id);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(actor, &id).await?;
        if self.hooks.reserve(&id) || self.find_own(actor, &id).await?.is_some() {
            let detail = "a thread with this id exists, or may exist later; choose another id";
            return Err(Problem::new(ProblemCode::ThreadExists, detail));
        }
        let last = last_message(&own, point).await?;
        let sessions = agent.bundle.stored_sessions_in(Arc::clone(self.store()));
        let mut sessions = sessions.with_actor(actor.clone()).with_metadata(AGENT, &*entry.name);
        if let Some(billing) = self.new_billing(actor).await? {
            sessions = sessions.with_billing(billing);
        }
        let spec = self.personal(&agent.spec, actor).await?;
        let branch = sessions.branch(thread, spec).with_id(&*id);
        let branch = match last {
            Some(last) => branch.at(last),
            None => branch,
        };
        drop(branch.await.map_err(refused)?);
        let branch = self.own(actor, &id).await?;
        if let Some(document) = own.document().await? {
            branch.change_document(&DocumentChange::new(document.value)).await?;
        }
        Ok(branch.session().clone())
    }
}

/// Returns the number of the last message of a branch; `None` if it has all.
async fn last_message(own: &OwnedThread<'_>, point: &BranchPoint) -> Result<Option<u64>, Problem> {
    let (BranchPoint::After(id) | BranchPoint::Before(id)) = point else {
        return Ok(None);
    };
    let messages = own.messages(&MessageFilter::new()).await?;
    let found = messages.iter().find(|message| message.id == *id);
    let number = found.ok_or_else(|| Problem::unknown("message"))?.seq.unsigned_abs();
    Ok(Some(match point {
        BranchPoint::Before(_) => number.saturating_sub(1),
        _ => number,
    }))
}

fn refused(error: AgentError) -> Problem {
    match error.kind() {
        AgentErrorKind::NotFound => Problem::unknown("thread"),
        AgentErrorKind::InvalidInput => Problem::invalid(error.message()),
        AgentErrorKind::Held => Problem::new(
            ProblemCode::SessionBusy,
            "the thread is in use by another program; try again when its turn has ended",
        ),
        AgentErrorKind::Storage | AgentErrorKind::Unavailable | AgentErrorKind::Conflict => {
            tracing::warn!(?error, "a branch was not created");
            Problem::new(
                ProblemCode::StoreUnavailable,
                "the database cannot be used at the moment; try again later",
            )
        }
        _ => {
            tracing::error!(?error, "a branch was not created");
            Problem::new(
                ProblemCode::Internal,
                "the branch was not created; the log of the server has the reason",
            )
        }
    }
}
