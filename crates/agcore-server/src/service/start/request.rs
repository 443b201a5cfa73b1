//! Requests for runs, from clients and from schedules.

pub(super) mod media;
mod context;

use agcore_agui::{InputLimits, RunAgentInput};
use agcore_chat::{Actor, Message};
use agcore_files::OriginFile;
use serde_json::Value;

use super::{NewRun, state::NewState};
use crate::{
    files::{Files, StoredFile},
    flows::FlowValues,
    problem::{Problem, ProblemCode},
    run::{RunBudget, RunInput},
    service::state::Service,
};

impl Service {
    /// Returns the limits of the input of a run.
    pub(crate) fn input_limits(&self) -> InputLimits {
        InputLimits::new().with_max_bytes(self.limits.max_body_bytes)
    }

    /// Returns the run that an actor asks for with a message.
    ///
    /// # Errors
    /// `invalid_request` if the input does not have the form of one, and `not_found` if it names a file that does not exist.
    pub(crate) async fn new_run(
        &self,
        actor: &Actor,
        agent: Option<String>,
        input: &RunAgentInput,
    ) -> Result<NewRun, Problem> {
        let message = message_of(input)?;
        media::check(&message, self.limits.media)?;
        let budget = budget_of(input)?;
        self.check_budget(actor, budget.as_ref()).await?;
        Ok(NewRun {
            actor: actor.clone(),
            thread: input.thread_id.clone(),
            run: input.run_id.clone(),
            agent,
            input: RunInput {
                tools: input.tools.clone(),
                parent: input.parent_run_id.clone(),
                budget,
                ..RunInput::message(context::add(message, &input.context)?)
            },
            state: NewState::of(input)?,
            values: FlowValues {
                job: given(input, "job"),
                variables: given(input, "variables"),
                state: input.state.clone(),
                files: self.files_of(actor, input).await?,
            },
        })
    }

    /// Returns the run of a client that sends its whole conversation with each message.
    ///
    /// # Errors
    /// `invalid_request` if a message has media that the server does not accept, and `agent_not_found`.
    pub(crate) fn run_of_conversation(
        &self,
        (actor, thread, run): (&Actor, String, String),
        agent: Option<String>,
        input: RunInput,
    ) -> Result<NewRun, Problem> {
        let messages = input.history.iter().flatten().chain(&input.message);
        for message in messages {
            media::check(message, self.limits.media)?;
        }
        Ok(NewRun {
            actor: actor.clone(),
            thread,
            run,
            agent,
            input,
            state: None,
            values: FlowValues::default(),
        })
    }

    /// Returns where files are kept.
    ///
    /// # Errors
    /// `not_found` if the server keeps no files.
    pub(crate) fn kept_files(&self) -> Result<&Files, Problem> {
        self.files
            .as_ref()
            .ok_or_else(|| Problem::new(ProblemCode::NotFound, "this server keeps no files"))
    }

    /// Returns the files of the user that `forwardedProps.files` names.
    ///
    /// # Errors
    /// `not_found` if there is none with an id.
    async fn files_of(&self, actor: &Actor, input: &RunAgentInput) -> Result<Vec<OriginFile>, Problem> {
        let Some(named) = given(input, "files") else {
            return Ok(Vec::new());
        };
        let ids: Vec<String> = serde_json::from_value(named)
            .map_err(|_| Problem::invalid("`forwardedProps.files` must be a list of the ids of files"))?;
        let known = self.kept_files()?.list(actor).await?;
        let find = |id: &String| {
            let file = known.iter().find(|file| file.id == *id);
            file.map(StoredFile::to_origin).ok_or_else(|| Problem::unknown("file"))
        };
        ids.iter().map(find).collect()
    }
}

/// Returns the agent that the input names.
///
/// # Errors
/// `invalid_request` if it is not a name.
pub(crate) fn agent_named(input: &RunAgentInput) -> Result<Option<String>, Problem> {
    match input.forwarded("agent") {
        None => Ok(None),
        Some(Value::String(agent)) => Ok(Some(agent.clone())),
        Some(_) => Err(Problem::invalid("`forwardedProps.agent` must be the name of an agent")),
    }
}

/// Returns the most that the run may use, if the input limits that.
///
/// # Errors
/// `invalid_request` if that is not a budget.
pub(super) fn budget_of(input: &RunAgentInput) -> Result<Option<RunBudget>, Problem> {
    given(input, "budget")
        .map(|budget| RunBudget::read(&budget))
        .transpose()
}

/// Returns a member of `forwardedProps`, unless it is `null`.
fn given(input: &RunAgentInput, name: &str) -> Option<Value> {
    input.forwarded(name).filter(|value| !value.is_null()).cloned()
}

/// Returns the newest message of the user. The server has the conversation before it.
fn message_of(input: &RunAgentInput) -> Result<Message, Problem> {
    let newest = input.newest_user_message().and_then(|message| message.message());
    newest.cloned().ok_or_else(|| {
        Problem::invalid("`messages` must end with a message of the user, or `resume` must have an answer")
    })
}
