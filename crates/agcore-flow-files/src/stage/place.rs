//! [`Place`]: where the session of a stage is kept. [`Progress`]: how far it got.

use std::sync::Arc;

use agcore_agent::{AgentSession, AgentSpec, RuntimeBundle, SessionState, StoredSessions};
use agcore_chat::{Message, Question};
use agcore_flow::{NodeContext, NodeError};

use super::agents::Agents;

/// The name of the metadata of sessions in which the agents of flows work; the value is the node.
///
/// A list of conversations leaves these sessions out, as `agcore sessions list` does.
pub const NODE_METADATA: &str = "flow_node";

/// Where the session of a stage is kept.
pub(super) enum Place<'a> {
    /// In the store of the bundle, under an id that is the same after a restart: no reply is requested twice, and no call with a
    /// result runs twice.
    Stored {
        sessions: Box<StoredSessions>,
        id: String,
        /// The session to which the run of the flow belongs.
        run_session: Option<&'a str>,
    },
    /// In the process; in the checkpoints while it waits for a person.
    Process {
        bundle: Box<RuntimeBundle>,
        context: &'a NodeContext,
    },
}

/// The progress of a session.
pub(super) enum Progress {
    New,
    /// Its process died in the middle of a turn.
    Interrupted,
    Suspended(Vec<Question>),
    /// Its turn has ended, and what came of it was not saved.
    Ended,
}

impl<'a> Place<'a> {
    pub(super) fn new(agents: &'a Agents, context: &'a NodeContext) -> Self {
        let bundle = match context.stop_check() {
            Some(check) => agents.bundle.with_stop_check(check.clone()),
            None => agents.bundle.clone(),
        };
        let sessions = bundle.stored_sessions();
        match (sessions, context.durable_id()) {
            (Ok(sessions), Some(id)) => {
                let sessions = sessions.with_actor(Arc::clone(&agents.actor));
                Self::Stored {
                    sessions: Box::new(sessions.with_metadata(NODE_METADATA, context.node())),
                    id,
                    run_session: context.session(),
                }
            }
            _ => Self::Process {
                bundle: Box::new(bundle),
                context,
            },
        }
    }

    /// Opens the session, or begins it with the messages before the first turn.
    pub(super) async fn open(&self, agent: AgentSpec, conversation: Vec<Message>) -> Result<AgentSession, NodeError> {
        match self {
            Self::Stored {
                sessions,
                id,
                run_session,
            } => {
                if sessions.get(id).await?.is_some() {
                    return Ok(sessions.open(id, agent).await?);
                }
                let mut sessions = StoredSessions::clone(sessions);
                // The checkpoints of the run may be in another store.
                if let Some(whole) = run_session
                    && sessions.get(whole).await?.is_some()
                {
                    sessions = sessions.with_part_of(*whole);
                }
                begin(sessions.create(id.as_str(), agent).await?, conversation).await
            }
            Self::Process { bundle, context } => match context.saved::<SessionState>().await? {
                Some(saved) => Ok(bundle.restore(saved, agent)?),
                None => {
                    let id = format!("{}-{}", context.node(), context.visit());
                    begin(bundle.session(id, agent), conversation).await
                }
            },
        }
    }

    /// Keeps a session that waits for a person.
    pub(super) async fn keep(&self, session: &AgentSession) -> Result<(), NodeError> {
        if let Self::Process { context, .. } = self {
            context.save(&session.export().await).await?;
        }
        Ok(())
    }
}

async fn begin(session: AgentSession, conversation: Vec<Message>) -> Result<AgentSession, NodeError> {
    if !conversation.is_empty() {
        session
            .set_messages(conversation.into_iter().map(Arc::new).collect())
            .await?;
        session.save().await?;
    }
    Ok(session)
}

impl Progress {
    /// Returns how far a session got that began with a number of messages.
    pub(super) async fn of(session: &AgentSession, earlier: usize) -> Self {
        let questions = session.questions().await;
        if !questions.is_empty() {
            return Self::Suspended(questions);
        }
        if session.is_interrupted().await {
            return Self::Interrupted;
        }
        match session.messages().await.len() > earlier {
            true => Self::Ended,
            false => Self::New,
        }
    }
}
