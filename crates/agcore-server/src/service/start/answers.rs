//! Answers to the questions of runs that wait for a person.

use agcore_agui::{AnswerError, ResumeEntry, RunAgentInput};
use agcore_chat::{Actor, Question, ToolDefinition, ToolMessage};
use agcore_session::{Approval, ApprovalStatus, Run, RunFilter, RunStatus};

use super::{
    NewRun, continuation,
    request::budget_of,
    results::{self, CallResult},
    state::NewState,
};
use crate::{
    flows::{FlowAnswer, FlowInput, FlowPlace, FlowQuestion, FlowValues},
    problem::{Problem, ProblemCode},
    run::{GivenAnswer, RunBudget, RunInput, RunNote},
    service::{
        owned::OwnedRun,
        state::{Service, check_id},
    },
};

impl Service {
    /// Starts a run that continues a suspended turn with answers. The same answers again are the same run, whatever its id. A run
    /// that would have the id of one that it continues gets another one.
    ///
    /// # Errors
    /// `not_found` if there is no such question, `already_answered` if it is not open any more, and the errors of a start.
    pub(crate) async fn resume(
        &self,
        actor: &Actor,
        thread: &str,
        run: &str,
        agent: Option<String>,
        answers: GivenAnswers,
    ) -> Result<OwnedRun, Problem> {
        check_id("run", run)?;
        let lock = self.admission.of(actor, thread);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(actor, thread).await?;
        let own = self.own(actor, thread).await?;
        let approvals = own.questions(|all| all).await?;
        let (given, is_open) = Given::to(&approvals, &answers)?;
        self.check_media(&given.answers)?;
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
        if let Some(earlier) = last_answered_by(&runs, &input).filter(|_| !is_open) {
            return Ok(own.with_run(&earlier.id));
        }
        if !is_open {
            let detail = "the question was answered before, or its turn has ended; read the history of the thread";
            return Err(Problem::new(ProblemCode::AlreadyAnswered, detail));
        }
        let run = match answers.entries.is_empty() {
            true => run.to_owned(),
            false => continuation::id_for(&own, run, &mut input, (&approvals, &runs)).await?,
        };
        if let Some(flow) = &mut input.flow {
            flow.place = Some(place_of(flow, &runs)?);
        }
        let waiting = runs.iter().rev().find(|run| run.status == RunStatus::Interrupted);
        let before = waiting.or(runs.last()).and_then(RunInput::of).unwrap_or_default();
        let agent = agent.or(Some(before.agent).filter(|agent| !agent.is_empty()));
        self.check_edits(agent.as_deref(), &input, &approvals)?;
        input.tools = results::tools(answers.tools, before.tools, &approvals);
        input.budget = RunBudget::continued(before.budget, answers.budget)?;
        self.check_budget(actor, input.budget.as_ref()).await?;
        input.note = answers.note;
        input.refuses = answers.refuses;
        self.start_locked(NewRun {
            actor: actor.clone(),
            thread: thread.to_owned(),
            run,
            agent,
            input,
            state: answers.state,
            values: FlowValues::default(),
        })
        .await
    }
}

/// The answers and results with which a client continues a run, and its tools.
#[derive(Debug, Default)]
pub(crate) struct GivenAnswers {
    /// Answers to questions.
    pub(crate) entries: Vec<ResumeEntry>,
    /// Results of calls that the client has run.
    pub(crate) results: Vec<CallResult>,
    /// The tools that the client offers.
    pub(crate) tools: Vec<ToolDefinition>,
    /// The state that the client has sent.
    pub(crate) state: Option<NewState>,
    /// The most that the run may use from now on, with what the runs before it have used.
    pub(crate) budget: Option<RunBudget>,
    /// The data that the client gets back with the answer.
    pub(crate) note: Option<RunNote>,
    /// Whether questions for people are refused from now on.
    pub(crate) refuses: bool,
}

impl GivenAnswers {
    /// Takes the answers from an input. The results are those with which the conversation of the client ends.
    ///
    /// # Errors
    /// `invalid_request` or `body_too_large` if its state is not acceptable.
    pub(crate) fn take_from(input: &mut RunAgentInput) -> Result<Self, Problem> {
        Ok(Self {
            entries: std::mem::take(&mut input.resume),
            results: input.newest_tool_results().into_iter().map(CallResult::new).collect(),
            tools: input.tools.clone(),
            state: NewState::of(input)?,
            budget: budget_of(input)?,
            ..Self::default()
        })
    }

    /// Takes the results of calls that a client has run, with the tools that it offers.
    pub(crate) fn of_results(results: &[ToolMessage], tools: Vec<ToolDefinition>, note: Option<RunNote>) -> Self {
        Self {
            results: results.iter().map(CallResult::new).collect(),
            tools,
            note,
            ..Self::default()
        }
    }

    /// Returns the id of a call without a result, if there are results of other calls that wait. Results of calls that do not wait
    /// any more are those of an earlier request.
    pub(crate) fn missing_call(&self, approvals: &[Approval]) -> Option<String> {
        results::missing(approvals, &self.results)
    }

    /// Takes answers to questions.
    pub(crate) fn of_entries(entries: Vec<ResumeEntry>) -> Self {
        Self {
            entries,
            ..Self::default()
        }
    }

    /// Returns whether the input begins a run of its own.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.results.is_empty()
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
    /// Returns what a client has answered to questions, and whether all of these are open.
    ///
    /// # Errors
    /// `not_found` if there is no such question, and `invalid_request` if an answer does not fit.
    fn to(approvals: &[Approval], answers: &GivenAnswers) -> Result<(Self, bool), Problem> {
        let mut given = Self::default();
        let mut is_open = true;
        for entry in &answers.entries {
            let found = approvals.iter().find(|approval| approval.id == entry.interrupt_id);
            let approval = found.ok_or_else(|| Problem::unknown("question"))?;
            is_open &= approval.status == ApprovalStatus::Open;
            given.add(approval, entry)?;
        }
        if !answers.results.is_empty() {
            is_open &= given.add_results(approvals, &answers.results)?;
        }
        Ok((given, is_open))
    }

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
                known_call: None,
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

    /// Adds results of calls that the client has run. Returns whether a question that they answer is open, or there is none.
    ///
    /// # Errors
    /// `not_found` if the results answer no question, and there are no other answers.
    fn add_results(&mut self, approvals: &[Approval], results: &[CallResult]) -> Result<bool, Problem> {
        let (answers, is_open) = results::answers(approvals, results);
        let is_alone = self.answers.is_empty() && self.flow.is_empty();
        match (answers.is_empty(), is_alone) {
            (true, true) => {
                let detail = "no call of a tool of the client waits for these results; read the history of the thread";
                Err(Problem::new(ProblemCode::NotFound, detail))
            }
            // The conversation of a client has the results of other calls as well.
            (true, false) => Ok(true),
            (false, true) => {
                self.answers = answers;
                Ok(is_open)
            }
            (false, false) if is_open => {
                let is_new = |given: &GivenAnswer| self.answers.iter().all(|known| known.question != given.question);
                let new: Vec<GivenAnswer> = answers.into_iter().filter(is_new).collect();
                self.answers.extend(new);
                Ok(true)
            }
            (false, false) => Ok(true),
        }
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

fn is_answered_by(run: &Run, input: &RunInput) -> bool {
    RunInput::of(run).is_some_and(|earlier| input.answers_like(&earlier))
}

/// Returns the last of the runs that have got the answers of an input, if each was given before: a client that has sent the results
/// of its calls one after the other sends them again together.
fn last_answered_by<'r>(runs: &'r [Run], input: &RunInput) -> Option<&'r Run> {
    let earlier: Vec<(&Run, Vec<GivenAnswer>)> = runs
        .iter()
        .filter_map(|run| Some((run, RunInput::of(run)?.answers)))
        .filter(|(_, given)| given.iter().any(|given| input.answers.contains(given)))
        .collect();
    let is_known = |answer| earlier.iter().any(|(_, given)| given.contains(answer));
    let last = earlier.last().map(|(run, _)| *run);
    last.filter(|_| input.answers.iter().all(is_known))
}
