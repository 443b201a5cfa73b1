//! Questions of runs whose client cannot answer them.

use agcore_agui::ResumeEntry;
use agcore_chat::{Question, QuestionKind};
use agcore_session::{Approval, ApprovalStatus};
use serde_json::json;

use super::GivenAnswers;
use crate::{
    problem::Problem,
    run::RunJob,
    service::{owned::OwnedRun, state::Service},
};

/// The explanation of a refusal, for the model.
const REFUSAL: &str =
    "the client of the user cannot ask for approvals, so this call was refused; explain that to the user";

impl Service {
    /// Refuses the questions of a run that waits: those with these ids, or else all that are open. Returns the run that continues
    /// it; `None` if there is no question. The same questions again are the same run.
    ///
    /// # Errors
    /// `already_answered` if a person was faster, and the errors of a start.
    pub(crate) async fn refuse(&self, job: &RunJob, ids: Option<&[String]>) -> Result<Option<OwnedRun>, Problem> {
        let own = self.own(&job.actor, &job.thread).await?;
        let is_meant = |approval: &Approval| match ids {
            Some(ids) => ids.contains(&approval.id),
            None => approval.status == ApprovalStatus::Open,
        };
        // Those that are closed as well, in the order of the store: others may refuse the same questions at this moment.
        let all = own.questions(|all| all).await?;
        let entries: Vec<ResumeEntry> = all
            .iter()
            .filter(|approval| is_meant(approval))
            .filter_map(refusal)
            .collect();
        if entries.is_empty() {
            return Ok(None);
        }
        let answers = GivenAnswers {
            refuses: true,
            ..GivenAnswers::of_entries(entries)
        };
        let run = self.new_id("run");
        let resumed = self.resume(&job.actor, &job.thread, &run, None, answers).await?;
        Ok(Some(resumed))
    }
}

/// Returns the refusal of a question; `None` if the client answers it, because the call is one of its tools.
fn refusal(approval: &Approval) -> Option<ResumeEntry> {
    let question: Question = serde_json::from_value(approval.question.clone()).ok()?;
    match question.kind {
        QuestionKind::Client => None,
        QuestionKind::Approval | QuestionKind::Uncertain => Some(ResumeEntry::resolved(
            &*approval.id,
            json!({"approved": false, "message": REFUSAL}),
        )),
        _ => Some(ResumeEntry::cancelled(&*approval.id)),
    }
}
