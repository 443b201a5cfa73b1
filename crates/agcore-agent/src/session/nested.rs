//! Sessions of agents that work for another session, whose stream has their records.

use std::sync::Arc;

use agcore_chat::Actor;

use super::{AgentSession, SessionParts};
use crate::{
    agent::Agent,
    bundle::RuntimeBundle,
    durable::{Continued, Folded, Report, SessionLog},
    error::AgentError,
    turn::Lineage,
};

/// Whose work a session does.
pub(crate) struct NestedPlace {
    /// The id of the session for which it works.
    pub(crate) session: Arc<str>,
    pub(crate) actor: Arc<Actor>,
    pub(crate) lineage: Lineage,
    /// Where its events go, unless they are only observed.
    pub(crate) report: Option<Report>,
}

impl NestedPlace {
    /// Opens the session at this place as it was after its last write; a new one if there was none.
    ///
    /// # Errors
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails, [`InvalidState`](crate::AgentErrorKind::InvalidState) if a
    /// record is damaged.
    pub(crate) async fn open(
        mut self,
        parent: &Arc<dyn SessionLog>,
        bundle: RuntimeBundle,
        agent: Arc<dyn Agent>,
    ) -> Result<AgentSession, AgentError> {
        let limits = &bundle.config().limits;
        let folded = parent.read_nested(&self.lineage.path, limits).await?;
        let writer = bundle.new_id();
        let writer = writer.rsplit('-').next().unwrap_or_default().to_owned();
        let continued = Continued {
            machine: &folded.machine,
            tools: &folded.tools,
            run_state: &folded.run_state,
            limits,
            has_state: folded.has_state,
            reply: None,
            run: None,
        };
        let path = self.lineage.path.clone();
        let recorder = Arc::clone(parent).nested(path, folded.end, self.report.take(), writer, &continued);
        let parts = self.parts(folded, &bundle);
        Ok(AgentSession::with_parts(bundle, agent, parts, Some(recorder)))
    }

    /// Returns the parts of a session at this place with this state.
    pub(crate) fn parts(self, folded: Folded, bundle: &RuntimeBundle) -> SessionParts {
        let has_run_state = folded.machine.is_open();
        SessionParts {
            id: format!("{}/{}", self.session, self.lineage.path).into(),
            actor: self.actor,
            machine: folded.machine,
            tools: folded.tools,
            run_state: has_run_state.then_some(folded.run_state),
            created: bundle.parts().clock.now(),
            agent: folded.agent,
            lineage: self.lineage,
        }
    }
}
