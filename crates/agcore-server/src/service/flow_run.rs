//! Executing the runs of flows.

pub(super) mod end;

use std::{error::Error, sync::Arc};

use agcore_agent::{AgentError, TurnLog};
use agcore_chat::{Fault, FaultKind, Message, Question};
use agcore_flow::{Checkpoints, FlowError, FlowErrorKind};
use agcore_flow_files::{FileFlow, FileFlowRun, FlowResult, StoredContext};
use agcore_session::{
    ApprovalChange, Commit, MessageMetadata, MessageRole, NewApproval, NewMessage, Run, RunChange, RunStatus,
    SessionError, SessionErrorKind, SessionState, Visibility, title_of,
};
use serde_json::{Map, Value};

use super::{
    agents::AgentEntry,
    executor::{Attempt, is_temporary},
    state::Service,
};
use crate::{
    flows::{Face, FlowInput, FlowPlace, FlowQuestion, FlowSetup, ServedFlow, SetupSessions},
    log::{FlowObserver, LogInput, RecordingCheckpoints, RunLog, Stages, suspended},
    run::RunInput,
};

/// The parts of a run of a flow.
struct Parts {
    flow: FileFlow,
    stages: Arc<Stages>,
    observer: Arc<FlowObserver>,
    checkpoints: Checkpoints,
    input: FlowInput,
}

impl Service {
    /// Runs a flow, from its beginning or from its last checkpoint.
    pub(super) async fn run_flow(
        &self,
        log: &Arc<RunLog>,
        flow: &ServedFlow,
        input: RunInput,
    ) -> Result<Attempt, SessionError> {
        let busy = self.busy_of(&input);
        let (Some(store), Some(flow_input)) = (self.checkpoints.clone(), input.flow) else {
            let fault = Fault::new(FaultKind::InvalidRequest, "the input of the run is not that of a flow");
            return self.end(log, RunStatus::Failed, LogInput::Failed(fault)).await;
        };
        let place = flow_input.place.clone();
        let place = place.unwrap_or_else(|| FlowPlace::beginning(&log.job.run));
        let is_chat = flow_input.request.as_ref().is_none_or(|request| request.job.is_none());
        let is_chat = is_chat && !self.is_job(log, &place).await?;
        let face = Face::new(flow.file(), is_chat);
        if !self.has_started(log).await? {
            if log.feed.is_cancel_requested() {
                return self.cancel_flow(log, &place, busy).await;
            }
            self.begin_flow(log, &face, &flow_input, input.message.as_ref()).await?;
        }
        // What an earlier attempt has added is not added again.
        log.flush().await?;
        let stages = Arc::new(Stages::new(Arc::clone(log), face, &place));
        let observer = Arc::new(FlowObserver::new(Arc::clone(&stages), &place));
        let built = self.build_flow(log, flow, &stages).await?;
        let Ok(built) = built.inspect_err(|error| tracing::error!(?error, "a flow cannot be built")) else {
            let fault = Fault::new(
                FaultKind::InvalidRequest,
                "the flow cannot be built; the log of the server has the reason",
            );
            return self.end_flow(log, &observer, Err(fault)).await;
        };
        let (tenant, thread) = log.job.session();
        let parts = Parts {
            flow: built,
            checkpoints: Checkpoints::new(
                Arc::new(RecordingCheckpoints::new(log.fence(store), Arc::clone(log))),
                tenant,
                thread,
                &*place.run,
            ),
            stages,
            observer,
            input: flow_input,
        };
        self.run_parts(log, parts).await
    }

    async fn run_parts(&self, log: &Arc<RunLog>, parts: Parts) -> Result<Attempt, SessionError> {
        let observer = &parts.observer;
        // What the process before did not show any more.
        parts.stages.catch_up_all().await?;
        let records = match parts.checkpoints.records().await {
            Ok(records) => records,
            Err(error) => return self.flow_failed(log, observer, &error).await,
        };
        records.iter().for_each(|record| observer.finished(record));
        let result = match self.drive_flow(log, &parts, true).await {
            Some(Err(error)) if is_answered(&error, &parts) => self.drive_flow(log, &parts, false).await,
            result => result,
        };
        let Some(result) = result else {
            log.flush().await?;
            return Ok(Attempt::Parked);
        };
        parts.stages.catch_up_all().await?;
        match result {
            Ok(result) if result.is_suspended() => self.suspend_flow(log, observer, &result).await,
            Ok(result) => self.end_flow(log, observer, Ok(result)).await,
            Err(error) => self.flow_failed(log, observer, &error).await,
        }
    }

    /// Runs the nodes of a flow. Returns `None` if it is left to the next process.
    async fn drive_flow(
        &self,
        log: &Arc<RunLog>,
        parts: &Parts,
        has_answers: bool,
    ) -> Option<Result<FlowResult, FlowError>> {
        let mut run: FileFlowRun = match &parts.input.request {
            Some(request) => {
                let request = request.clone().with_conversation(&*log.job.thread);
                let user = log.job.actor.user.as_str();
                parts
                    .flow
                    .start(request.with_user(user))
                    .with_checkpoints(parts.checkpoints.clone())
            }
            None => parts.flow.resume(parts.checkpoints.clone()),
        };
        for given in parts.input.answers.iter().filter(|_| has_answers) {
            run = run.with_answer(&*given.interrupt, given.answer.clone());
        }
        let observer = Arc::clone(&parts.observer);
        let mut run = run.with_token(log.token.clone());
        if let Some(check) = log.stop_check() {
            run = run.with_stop_check(check);
        }
        let run = run.with_observer(move |event| observer.observe(event));
        log.begin_flushing();
        let result = tokio::select! {
            biased;
            () = log.parked.cancelled() => None,
            result = run.into_future() => Some(result),
        };
        log.end_flushing();
        result
    }

    /// Builds a flow for the actor of a run. The inner error is that of the flow.
    async fn build_flow(
        &self,
        log: &RunLog,
        flow: &ServedFlow,
        stages: &Arc<Stages>,
    ) -> Result<Result<FileFlow, FlowError>, SessionError> {
        let actor = log.job.actor.clone();
        let (tenant, thread) = log.job.session();
        // Its parts are billed like the thread, which was created with the settings of that time.
        let session = self.store().get_session(tenant, thread).await?;
        let sessions = SetupSessions {
            store: Arc::clone(&log.store),
            log: Arc::clone(stages) as Arc<dyn TurnLog>,
            biller: self.biller.clone(),
            billing: session.and_then(|session| session.billing),
            budget: log.budget(),
            stop_check: log.stop_check(),
        };
        let profile = self.known_user(&actor).await?;
        Ok(flow.build(&FlowSetup {
            profile,
            context: StoredContext::new(Arc::clone(&log.store), actor.tenant.as_str()),
            clock: Arc::clone(&self.clock),
            sessions: Some(sessions),
            actor,
        }))
    }

    async fn has_started(&self, log: &RunLog) -> Result<bool, SessionError> {
        let run = self.stored_run(&log.job, &log.job.run).await?;
        Ok(run.is_some_and(|run| run.status != RunStatus::Queued))
    }

    /// Returns whether the run with which a flow began was that of a job.
    async fn is_job(&self, log: &RunLog, place: &FlowPlace) -> Result<bool, SessionError> {
        if place.run == log.job.run {
            return Ok(false);
        }
        let first: Option<Run> = self.stored_run(&log.job, &place.run).await?;
        let input = first.and_then(|run| serde_json::from_value::<RunInput>(run.input?).ok());
        let request = input.and_then(|input| input.flow?.request);
        Ok(request.is_some_and(|request| request.job.is_some()))
    }

    /// Stores that a flow begins or continues, with the request or the answers.
    async fn begin_flow(
        &self,
        log: &RunLog,
        face: &Face,
        input: &FlowInput,
        message: Option<&Message>,
    ) -> Result<(), SessionError> {
        let run = &*log.job.run;
        let mut commit = Commit::new()
            .with_run(RunChange::new(run, RunStatus::Running))
            .with_state(SessionState::running());
        if let Some(message) = message {
            let text = message.own_text().into_owned();
            commit.title = Some(self.title_of_flow(log, face, &text).await?);
            let row = NewMessage::new(format!("{run}:request"), MessageRole::User, text);
            let row = row.with_metadata(MessageMetadata::UserInput { data: Map::new() });
            let row = row.with_visibility(face.request_visibility()).with_run(run);
            commit = commit.with_message(row);
            commit.approvals = self.withdrawals(log).await?;
            commit.runs.extend(self.withdrawn_runs(log).await?);
        }
        let by = &log.job.actor;
        for given in &input.answers {
            let answer = ApprovalChange::answer(&*given.question, given.answer.clone(), by.clone());
            commit = commit.with_approval(answer);
        }
        log.append_commit(commit, Vec::new()).await
    }

    /// Returns the title of a thread that a flow begins: what users see of the request, else the name of the flow.
    async fn title_of_flow(&self, log: &RunLog, face: &Face, text: &str) -> Result<String, SessionError> {
        let input = self.input_of(log).await?;
        let entry = input.and_then(|input| self.agents.get(&input.agent));
        let name = entry.map_or("", AgentEntry::title);
        let is_visible = face.request_visibility().includes(Visibility::HISTORY);
        Ok(title_of(if is_visible { text } else { "" }, name))
    }

    /// Stores the questions for which a flow waits.
    async fn suspend_flow(
        &self,
        log: &RunLog,
        observer: &FlowObserver,
        result: &FlowResult,
    ) -> Result<Attempt, SessionError> {
        let (run, place) = (&*log.job.run, observer.place());
        let open = self.open_questions(log).await?;
        let questions: Vec<Question> = result
            .interrupts
            .iter()
            .map(|interrupt| FlowQuestion::ask(&place.run, interrupt))
            .collect();
        let change = RunChange::new(run, RunStatus::Interrupted).with_outcome(to_json(&place)?);
        let call = questions
            .iter()
            .map(|question| &*question.call_id)
            .find(|call| !call.is_empty());
        let state = call.map_or(SessionState::pending(), SessionState::waiting_for);
        let mut commit = Commit::new().with_run(change).with_state(state);
        for question in &questions {
            if open.iter().any(|id| **id == *question.id.0) {
                continue;
            }
            let mut new = NewApproval::new(question.id.to_string(), run, to_json(question)?);
            new.call_id = Some(question.call_id.to_string()).filter(|call| !call.is_empty());
            commit = commit.with_approval(ApprovalChange::Ask(new));
        }
        let end = LogInput::Report(Box::new(suspended(&questions)));
        log.append_commit(commit, vec![end]).await?;
        Ok(Attempt::Ended)
    }

    async fn flow_failed(
        &self,
        log: &RunLog,
        observer: &FlowObserver,
        error: &FlowError,
    ) -> Result<Attempt, SessionError> {
        if can_retry(error) && !log.token.is_cancelled() {
            tracing::warn!(run = log.job.run, ?error, "a flow waits for the database");
            observer.abandon(&error.fault());
            return Ok(Attempt::Retry);
        }
        // Another process may have the run: the flow has not failed, but was stopped here.
        if !self.is_still_held(log).await {
            tracing::warn!(run = log.job.run, ?error, "a flow continues elsewhere");
            observer.abandon(&error.fault());
            return Ok(Attempt::Retry);
        }
        tracing::warn!(run = log.job.run, ?error, "a flow has failed");
        self.end_flow(log, observer, Err(fault_of(error))).await
    }
}

/// Returns whether the answers of a run were applied already, by a process that ended then.
fn is_answered(error: &FlowError, parts: &Parts) -> bool {
    let has_answers = !parts.input.answers.is_empty();
    has_answers && error.kind() == FlowErrorKind::InvalidInput && !parts.observer.has_started()
}

/// Returns whether the flow can continue when the store works again.
fn can_retry(error: &FlowError) -> bool {
    if error.kind() == FlowErrorKind::Storage {
        return error.is_recoverable();
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<AgentError>() {
            return is_temporary(error);
        }
        if let Some(error) = error.downcast_ref::<SessionError>() {
            return error.is_recoverable();
        }
        cause = error.source();
    }
    false
}

/// Returns the error of a flow for clients: that of the agent, if one has failed.
fn fault_of(error: &FlowError) -> Fault {
    let own = error.fault();
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<AgentError>() {
            let fault = error.fault();
            let message = format!("{}: {}", own.message, fault.message);
            return Fault::new(fault.kind, message).with_retryable(fault.is_retryable());
        }
        cause = error.source();
    }
    own
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<Value, SessionError> {
    serde_json::to_value(value).map_err(|error| {
        SessionError::with_source(
            SessionErrorKind::Serialization,
            "the state of a flow cannot be written as JSON",
            error,
        )
    })
}
