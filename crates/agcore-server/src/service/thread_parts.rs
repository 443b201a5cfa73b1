//! The parts of a thread: its questions, and the sessions in which the agents of flows work.

use std::collections::BTreeSet;

use agcore_session::{
    ApprovalChange, ApprovalFilter, ApprovalStatus, MessageFilter, MessageMetadata, MessageRole, NewMessage, RunFilter,
    RunStatus, SessionError, SessionFilter,
};

use super::state::Service;
use crate::{flows::FlowPlace, log::RunLog};

/// The number of newest messages among which calls without a result are looked for.
const RECENT: u64 = 500;

impl Service {
    /// Returns the parts of a thread: the sessions in which the agents of its flows work or have worked. Those of older versions
    /// are known by their runs only.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn parts_of(&self, tenant: &str, thread: &str) -> Result<BTreeSet<String>, SessionError> {
        let filter = SessionFilter::new(tenant).with_part_of(thread).with_erased();
        let parts = self.store().sessions(&filter).await?;
        let runs = self.store().runs(tenant, thread, &RunFilter::new()).await?;
        let outcomes = runs.into_iter().filter_map(|run| run.outcome);
        let places = outcomes.filter_map(|outcome| serde_json::from_value::<FlowPlace>(outcome).ok());
        let mut ids: BTreeSet<String> = places.flat_map(|place| place.stages.into_keys()).collect();
        ids.extend(parts.into_iter().map(|part| part.id));
        for log in self.active.of_thread(tenant, thread) {
            ids.extend(log.feed.sources().into_keys());
        }
        Ok(ids)
    }

    /// Returns the ids of the questions of a thread that wait for an answer.
    pub(super) async fn open_questions(&self, log: &RunLog) -> Result<Vec<String>, SessionError> {
        let (_, thread) = log.job.session();
        let filter = ApprovalFilter::owned_by(log.job.actor.clone())
            .with_session(thread)
            .with_status(ApprovalStatus::Open);
        let open = self.store().approvals(&filter).await?;
        Ok(open.into_iter().map(|approval| approval.id).collect())
    }

    /// Withdraws the questions of a thread.
    pub(super) async fn withdrawals(&self, log: &RunLog) -> Result<Vec<ApprovalChange>, SessionError> {
        let open = self.open_questions(log).await?;
        Ok(open.into_iter().map(ApprovalChange::withdraw).collect())
    }

    /// Returns results for the calls of a run that have none, because the run ends.
    pub(super) async fn closing_results(
        &self,
        log: &RunLog,
        status: RunStatus,
    ) -> Result<Vec<NewMessage>, SessionError> {
        // What is pending may contain results.
        log.flush().await?;
        let (tenant, thread) = log.job.session();
        let filter = MessageFilter::new().with_last(RECENT);
        let messages = self.store().messages(tenant, thread, &filter).await?;
        let mut open: Vec<(String, NewMessage)> = Vec::new();
        for message in messages {
            match message.metadata {
                Some(MessageMetadata::ToolCall { call_id, name, .. })
                    if message.run.as_deref() == Some(&*log.job.run) =>
                {
                    let reason = match status {
                        RunStatus::Cancelled => "the run was cancelled",
                        _ => "the run failed before the call ended",
                    };
                    let result = MessageMetadata::ToolResult {
                        call_id: call_id.clone(),
                        name,
                        is_error: true,
                    };
                    let row = NewMessage::new(format!("{}:closed", message.id), MessageRole::Tool, reason);
                    let row = row.with_metadata(result).with_visibility(message.visibility);
                    open.push((call_id, row.with_run(&*log.job.run)));
                }
                Some(MessageMetadata::ToolResult { call_id, .. }) => {
                    if let Some(index) = open.iter().position(|(open, _)| *open == call_id) {
                        open.remove(index);
                    }
                }
                _ => {}
            }
        }
        Ok(open.into_iter().map(|(_, row)| row).collect())
    }
}
