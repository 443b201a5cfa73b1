//! Answers to the questions of runs that wait for a person.

use agcore_agui::ResumeEntry;
use agcore_chat::{Actor, Question};
use agcore_memory::session::{ApprovalFilter, ApprovalStatus, Run, RunFilter};

use super::{
    start::{NewRun, StartedRun},
    state::{Service, check_id},
};
use crate::{
    problem::{Problem, ProblemCode},
    run::{GivenAnswer, RunInput, RunJob},
};

impl Service {
    /// Starts a run that continues a suspended turn with answers. The same answers again are the same run, whatever its id.
    ///
    /// # Errors
    /// `not_found` if there is no such question, `already_answered` if it is not open any more, and the errors of a start.
    pub(crate) async fn resume(
        &self,
        actor: &Actor,
        thread: &str,
        run: &str,
        agent: Option<String>,
        entries: &[ResumeEntry],
    ) -> Result<StartedRun, Problem> {
        check_id("run", run)?;
        let lock = self.admission.of(actor, thread);
        let _guard = lock.lock().await;
        self.session(actor, thread).await?;
        let filter = ApprovalFilter::owned_by(actor.clone()).with_session(thread);
        let approvals = self.store.approvals(&filter).await?;
        let mut answers = Vec::new();
        let mut is_open = true;
        for entry in entries {
            let found = approvals.iter().find(|approval| approval.id == entry.interrupt_id);
            let approval = found.ok_or_else(|| Problem::unknown("question"))?;
            is_open &= approval.status == ApprovalStatus::Open;
            let question: Question = serde_json::from_value(approval.question.clone()).map_err(|error| {
                tracing::error!(%error, "a stored question cannot be read");
                Problem::new(ProblemCode::Internal, "the question cannot be read")
            })?;
            answers.push(GivenAnswer {
                question: question.id.clone(),
                answer: entry
                    .to_answer(question.kind)
                    .map_err(|error| Problem::invalid(error.to_string()))?,
            });
        }
        // Only answers to questions that are closed may be those of a run that is over.
        let filter = match is_open {
            true => RunFilter::new().open(),
            false => RunFilter::new(),
        };
        let runs = self.store.runs(&actor.tenant, thread, &filter).await?;
        if let Some(earlier) = runs.iter().find(|earlier| is_answered_by(earlier, &answers)) {
            let job = RunJob::new(actor.clone(), thread, &*earlier.id);
            return Ok(StartedRun { job });
        }
        if !is_open {
            let detail = "the question was answered before, or its turn has ended; read the history of the thread";
            return Err(Problem::new(ProblemCode::AlreadyAnswered, detail));
        }
        let agent = agent.or_else(|| runs.iter().rev().find_map(agent_of_run));
        let input = RunInput {
            agent: String::new(),
            message: None,
            answers,
        };
        self.start_locked(NewRun {
            actor: actor.clone(),
            thread: thread.to_owned(),
            run: run.to_owned(),
            agent,
            input,
        })
        .await
    }
}

fn agent_of_run(run: &Run) -> Option<String> {
    Some(run.input.as_ref()?.get("agent")?.as_str()?.to_owned())
}

fn is_answered_by(run: &Run, answers: &[GivenAnswer]) -> bool {
    let input = run
        .input
        .clone()
        .and_then(|input| serde_json::from_value::<RunInput>(input).ok());
    input.is_some_and(|input| !answers.is_empty() && input.answers == answers)
}
