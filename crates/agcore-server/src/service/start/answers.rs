//! Answers to the questions of runs that wait for a person.

use agcore_agui::{AnswerError, ResumeEntry};
use agcore_chat::{Actor, Question};
use agcore_session::{Approval, ApprovalStatus, Run, RunFilter, RunStatus};

use super::NewRun;
use crate::{
    flows::{FlowAnswer, FlowInput, FlowPlace, FlowQuestion, FlowValues},
    problem::{Problem, ProblemCode},
    run::{GivenAnswer, RunInput},
    service::{
        owned::OwnedRun,
        state::{Service, check_id},
    },
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
    ) -> Result<OwnedRun, Problem> {
        check_id("run", run)?;
        let lock = self.admission.of(actor, thread);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(actor, thread).await?;
        let own = self.own(actor, thread).await?;
        let approvals = own.questions(|all| all).await?;
        let mut given = Given::default();
        let mut is_open = true;
        for entry in entries {
            let found = approvals.iter().find(|approval| approval.id == entry.interrupt_id);
            let approval = found.ok_or_else(|| Problem::unknown("question"))?;
            is_open &= approval.status == ApprovalStatus::Open;
            given.add(approval, entry)?;
        }
        // Only answers to questions that are closed may be those of a run that is over.
        let filter = match is_open {
            true => RunFilter::new().open(),
            false => RunFilter::new(),
        };
        let runs = own.runs(&filter).await?;
        let mut input = given.into_input();
        if let Some(earlier) = runs.iter().find(|earlier| is_answered_by(earlier, &input)) {
            return Ok(own.with_run(&earlier.id));
        }
        if !is_open {
            let detail = "the question was answered before, or its turn has ended; read the history of the thread";
            return Err(Problem::new(ProblemCode::AlreadyAnswered, detail));
        }
        if let Some(flow) = &mut input.flow {
            flow.place = Some(place_of(flow, &runs)?);
        }
        let agent = agent.or_else(|| runs.iter().rev().find_map(agent_of_run));
        self.start_locked(NewRun {
            actor: actor.clone(),
            thread: thread.to_owned(),
            run: run.to_owned(),
            agent,
            input,
            values: FlowValues::default(),
        })
        .await
    }
}

/// The answers of a client.
#[derive(Default)]
struct Given {
    answers: Vec<GivenAnswer>,
    flow: Vec<FlowAnswer>,
    /// The run to which the checkpoints of the flow belong.
    run: Option<String>,
}

impl Given {
    /// # Errors
    /// `invalid_request` if the answer does not fit the question, or the questions are not those of one run.
    fn add(&mut self, approval: &Approval, entry: &ResumeEntry) -> Result<(), Problem> {
        let question: Question = serde_json::from_value(approval.question.clone()).map_err(|error| {
            tracing::error!(%error, "a stored question cannot be read");
            Problem::new(ProblemCode::Internal, "the question cannot be read")
        })?;
        let invalid = |error: AnswerError| Problem::invalid(error.to_string());
        match FlowQuestion::of(&question) {
            None => self.answers.push(GivenAnswer {
                question: question.id.clone(),
                answer: entry.to_answer(question.kind).map_err(invalid)?,
            }),
            Some(flow) => {
                let run = self.run.get_or_insert_with(|| flow.run.clone());
                let is_same = *run == flow.run;
                self.flow.push(flow.answer(&question, entry).map_err(invalid)?);
                if !is_same {
                    let detail = "the answers belong to different runs; answer the questions of one run at a time";
                    return Err(Problem::invalid(detail));
                }
            }
        }
        if self.flow.is_empty() || self.answers.is_empty() {
            return Ok(());
        }
        Err(Problem::invalid(
            "the answers belong to an agent and to a flow; answer one of them at a time",
        ))
    }

    fn into_input(self) -> RunInput {
        match self.run {
            None => RunInput::answering(self.answers),
            Some(run) => RunInput::continuing(FlowInput::answering(FlowPlace::beginning(&run), self.flow)),
        }
    }
}

/// Returns the place at which a flow waits for answers.
///
/// # Errors
/// `already_answered` if it does not wait any more.
fn place_of(flow: &FlowInput, runs: &[Run]) -> Result<FlowPlace, Problem> {
    let asking = flow.place.as_ref().map(|place| &place.run);
    let waiting = runs.iter().rev().filter(|run| run.status == RunStatus::Interrupted);
    let mut places = waiting.filter_map(|run| serde_json::from_value::<FlowPlace>(run.outcome.clone()?).ok());
    places.find(|place| Some(&place.run) == asking).ok_or_else(|| {
        let detail = "the flow does not wait for this answer any more; read the history of the thread";
        Problem::new(ProblemCode::AlreadyAnswered, detail)
    })
}

fn agent_of_run(run: &Run) -> Option<String> {
    Some(run.input.as_ref()?.get("agent")?.as_str()?.to_owned())
}

fn is_answered_by(run: &Run, input: &RunInput) -> bool {
    let earlier = run
        .input
        .clone()
        .and_then(|input| serde_json::from_value::<RunInput>(input).ok());
    earlier.is_some_and(|earlier| input.answers_like(&earlier))
}
