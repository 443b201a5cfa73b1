//! Executing runs.

mod run_end;
mod run_state;

use std::{borrow::Cow, error::Error as _, pin::pin, sync::Arc, time::Duration};

use agcore_agent::{AgentError, AgentErrorKind, AgentSession, AgentTurn, session_spent};
use agcore_chat::{Fault, FaultKind};
use agcore_cycle::Spent;
use agcore_session::{MessageFilter, RunStatus, SessionError};
use agcore_trace::TraceContext;
use tracing::{Instrument, Span};

use super::{agents::Work, hold::is_held, quotas::RunAllowance, state::Service};
use crate::{
    flows::{FlowInput, FlowPlace},
    log::{LogInput, RunLog, Stages},
    run::{RunInput, RunJob, RunTrace},
    telemetry::span,
};

/// The pause after the store has failed: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// The end of an attempt to execute a run.
pub(super) enum Attempt {
    /// The run is over, or waits for a person.
    Ended,
    /// The run is left to the next process.
    Parked,
    /// An earlier run of the thread waits for a person.
    Held,
    /// The store failed. The run continues when it works again.
    Retry,
    /// The run has ended like this, but the store failed. Only its end is left to be stored.
    EndLater(RunStatus, Box<LogInput>),
}

/// The state in which this process has left a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The run is over, or waits for a person.
    Ended,
    /// Another process continues it.
    Parked,
    /// Another process may have it: the lease has expired.
    Lost,
    /// An earlier run of the thread waits for a person.
    Held,
}

impl Service {
    /// Executes a run for as long as this process can.
    pub(super) async fn execute(self: &Arc<Self>, log: &Arc<RunLog>) -> Left {
        let mut allowance = None;
        let left = self.attempt_all(log, &mut allowance).await;
        log.set_budget(None);
        // Also if the run is lost: if another process has opened an allowance for it, this does nothing.
        if let Some(allowance) = allowance {
            self.close_allowance(allowance).await;
        }
        left
    }

    /// Executes a run with an allowance that its attempts share, which the first one opens.
    async fn attempt_all(self: &Arc<Self>, log: &Arc<RunLog>, allowance: &mut Option<RunAllowance>) -> Left {
        let mut pause = PAUSES.0;
        let (mut end, mut trace) = (None, None);
        loop {
            let (attempt, span) = tokio::select! {
                biased;
                // First, so that nothing begins after that moment.
                () = log.lost() => return Left::Lost,
                attempt = self.attempt_in_span(log, allowance, end.take(), &mut trace) => attempt,
            };
            if let Attempt::EndLater(status, entry) = &attempt {
                end = Some((*status, LogInput::clone(entry)));
            }
            match attempt {
                Attempt::Ended => {
                    span::ended(&span, log.feed.outcome());
                    self.metrics.run_ended(log.feed.outcome());
                    return Left::Ended;
                }
                Attempt::Parked => return Left::Parked,
                Attempt::Held => return Left::Held,
                Attempt::Retry | Attempt::EndLater(..) => {
                    let is_held = tokio::select! {
                        () = log.lost() => false,
                        is_held = self.is_still_held(log) => is_held,
                    };
                    if !is_held {
                        return Left::Lost;
                    }
                    tokio::select! {
                        () = log.parked.cancelled() => {}
                        () = log.lost() => return Left::Lost,
                        () = self.clock.sleep(pause) => {}
                    }
                    pause = (pause * 2).min(PAUSES.1);
                }
            }
        }
    }

    /// Makes an attempt in a span, which is returned. If the run has ended and only its end is left, `end` is stored.
    async fn attempt_in_span(
        &self,
        log: &Arc<RunLog>,
        allowance: &mut Option<RunAllowance>,
        end: Option<(RunStatus, LogInput)>,
        trace: &mut Option<TraceContext>,
    ) -> (Attempt, Span) {
        let input = match end.is_some() || log.parked.is_cancelled() || log.feed.is_over() {
            true => Ok(None),
            false => self.input_of(log).await,
        };
        // The input knows of which trace the span is a part. It is needed before the span is entered.
        if let Ok(Some(input)) = &input {
            *trace = input.trace.as_ref().and_then(RunTrace::context);
        }
        let span = span::run(&log.job, trace.as_ref());
        let attempt = async {
            match end {
                // Its model must not be asked again.
                Some((status, entry)) => self.end_again(log, status, entry).await,
                None => self.attempt(log, input, allowance).await,
            }
        };
        let attempt = attempt.instrument(span.clone()).await;
        (attempt, span)
    }

    async fn attempt(
        &self,
        log: &Arc<RunLog>,
        input: Result<Option<RunInput>, SessionError>,
        allowance: &mut Option<RunAllowance>,
    ) -> Attempt {
        if log.parked.is_cancelled() {
            return Attempt::Parked;
        }
        if log.feed.is_over() {
            return Attempt::Ended;
        }
        let input = match self.ready_input(log, input).await {
            Ok(Ok(input)) => input,
            Ok(Err(attempt)) => return attempt,
            Err(error) => return self.failed(log, &error).await,
        };
        match self.hold_of(log).await {
            Ok(hold) => log.set_hold(Some(hold)),
            Err(error) if is_held(&error) => return self.wait_for_session(log, &error).await,
            Err(error) => return self.failed(log, &error.into()).await,
        }
        let opened = self.open_allowance(log, input.budget.as_ref(), allowance).await;
        let attempt = match opened.map_err(AgentError::from) {
            // On the heap: the futures of all runs that wait would be as large.
            Ok(allowance) => Box::pin(self.run_turn(log, input, allowance)).await,
            Err(error) => Err(error),
        };
        let attempt = match attempt {
            Ok(attempt) => attempt,
            Err(error) => self.failed(log, &error).await,
        };
        log.set_hold(None);
        attempt
    }

    /// Ends a run whose attempt has failed, unless it can continue later.
    async fn failed(&self, log: &Arc<RunLog>, error: &AgentError) -> Attempt {
        // Another process has the run: that it cannot be written here is no failure.
        if is_temporary(error) || !self.is_still_held(log).await {
            tracing::warn!(run = log.job.run, ?error, "a run waits for the database");
            return Attempt::Retry;
        }
        self.fail(log, error).await
    }

    /// Leaves a run for later whose session another program drives, unless it was cancelled.
    async fn wait_for_session(&self, log: &Arc<RunLog>, error: &SessionError) -> Attempt {
        if log.token.is_cancelled() {
            return self.end_stored(log, RunStatus::Cancelled, LogInput::Cancelled).await;
        }
        tracing::info!(run = log.job.run, ?error, "a run waits for its session");
        Attempt::Retry
    }

    /// Returns the input of a run that can be executed now, or else the end of the attempt. The session is not held meanwhile: a
    /// message that waits for an answer must not keep anyone from cancelling the question.
    async fn ready_input(
        &self,
        log: &Arc<RunLog>,
        input: Result<Option<RunInput>, SessionError>,
    ) -> Result<Result<RunInput, Attempt>, AgentError> {
        let Some(input) = input? else {
            // It may be unknown whether the end was written.
            log.flush().await?;
            return Ok(Err(Attempt::Ended));
        };
        Ok(match self.has_to_wait(log, &input).await? {
            true => Err(Attempt::Held),
            false => Ok(input),
        })
    }

    /// Runs the turn of a run, from its beginning or from where it was.
    async fn run_turn(
        &self,
        log: &Arc<RunLog>,
        input: RunInput,
        allowance: &RunAllowance,
    ) -> Result<Attempt, AgentError> {
        let Ok(entry) = self.agents.choose(Some(&input.agent)) else {
            let fault = Fault::new(FaultKind::NotFound, "the agent of the run does not exist any more");
            return Ok(self.end(log, RunStatus::Failed, LogInput::Failed(fault)).await?);
        };
        let agent = match &entry.work {
            Work::Agent(agent) => agent,
            Work::Flow(flow) => {
                if input.has_state {
                    run_state::report(log).await?;
                }
                allowance.count_before(spent_by_flow(log, input.flow.as_ref())).await?;
                return Ok(self.run_flow(log, flow, input).await?);
            }
        };
        let agent = match input.has_state {
            true => Cow::Owned(run_state::share(agent, &input.tools, log).await?),
            false => Cow::Borrowed(&**agent),
        };
        let agent = agent.with_client_tools(&input.tools)?;
        let sessions = self.sessions_of(&agent, log);
        let spec = self.personal(&agent.spec, &log.job.actor).await?;
        let session = sessions.open(&log.job.thread, spec).await?;
        let Some((turn, continues)) = self.turn_of(log, &session, input).await? else {
            return Ok(self.end(log, RunStatus::Cancelled, LogInput::Cancelled).await?);
        };
        allowance
            .count_before(async {
                match continues {
                    true => session.turn_spent().await,
                    false => Ok(Spent::new()),
                }
            })
            .await?;
        let result = self.drive(log, turn.with_run(&*log.job.run)).await;
        // What the session writes must be finished or dropped before anything else is written.
        drop(session);
        log.flush().await?;
        match result {
            None => Ok(Attempt::Parked),
            Some(_) if log.feed.is_over() => Ok(Attempt::Ended),
            Some(Err(error)) => Err(error),
            // The turn was suspended, but that could not be stored.
            Some(Ok(())) => Ok(Attempt::Retry),
        }
    }

    /// Returns the turn with which a run begins or continues, and whether it continues; `None` if it was cancelled before that.
    async fn turn_of(
        &self,
        log: &Arc<RunLog>,
        session: &AgentSession,
        input: RunInput,
    ) -> Result<Option<(AgentTurn, bool)>, AgentError> {
        let is_open = session.is_interrupted().await || session.is_suspended().await;
        let (tenant, thread) = log.job.session();
        if let Some(message) = input.message {
            let newest = self
                .store()
                .messages(tenant, thread, &MessageFilter::new().with_last(1))
                .await?;
            let is_recorded = newest.last().and_then(|message| message.run.as_deref()) == Some(&*log.job.run);
            if is_recorded && is_open {
                return Ok(Some((session.resume([]), true)));
            }
            if log.feed.is_cancel_requested() {
                return Ok(None);
            }
            if is_open {
                // Its end is not part of this run.
                log.append(self.withdrawn_runs(log).await?, Vec::new()).await?;
                session.abandon_turn().await?;
                session.save().await?;
            }
            let turn = match input.history {
                None => session.turn(message),
                Some(mut messages) => {
                    messages.push(message);
                    session.turn(messages)
                }
            };
            return Ok(Some((turn, false)));
        }
        let questions = session.questions().await;
        let is_answer = |id| questions.iter().any(|question| question.id == id);
        let is_new = input.answers.iter().any(|given| is_answer(given.question.clone()));
        let continued = match is_new {
            true => self.continued_runs(log).await?,
            false => Vec::new(),
        };
        if !continued.is_empty() {
            log.append(continued, Vec::new()).await?;
        }
        log.set_known_results(input.answers.iter().filter_map(|given| given.known_call.clone()));
        if is_new && log.feed.is_cancel_requested() {
            return Ok(None);
        }
        let answers = input.answers.into_iter().map(|given| (given.question, given.answer));
        Ok(Some((session.resume(answers.filter(|_| is_new)), true)))
    }

    /// Runs a turn and takes its events. Returns `None` if the turn is left to the next process.
    async fn drive(&self, log: &Arc<RunLog>, turn: AgentTurn) -> Option<Result<(), AgentError>> {
        log.begin_flushing();
        let mut events = turn.with_token(log.token.clone()).stream_with_sub_agents();
        let mut parked = pin!(log.parked.cancelled());
        let result = loop {
            let event = tokio::select! {
                biased;
                () = &mut parked => break None,
                event = events.next() => event,
            };
            match event {
                Some(event) => log.preview(event),
                None => break Some(events.finish().await.map(drop)),
            }
        };
        log.end_flushing();
        result
    }

    /// Returns the place in a trace at which a run has started. `None` also if the store fails.
    pub(super) async fn trace_of(&self, job: &RunJob) -> Option<TraceContext> {
        let run = self.stored_run(job, &job.run).await.ok()??;
        let input: RunInput = serde_json::from_value(run.input?).ok()?;
        input.trace?.context()
    }

    /// Returns the input of a run, unless the run is over.
    pub(super) async fn input_of(&self, log: &RunLog) -> Result<Option<RunInput>, SessionError> {
        let found = self.stored_run(&log.job, &log.job.run).await?;
        let run = found.filter(|run| !run.status.is_over());
        let input = run.and_then(|run| run.input);
        Ok(input.and_then(|input| serde_json::from_value(input).ok()))
    }
}

/// Returns what a flow has spent so far, with the runs before that it continues, according to its records.
async fn spent_by_flow(log: &RunLog, input: Option<&FlowInput>) -> Result<Spent, AgentError> {
    let place = input.and_then(|input| input.place.clone());
    let place = place.unwrap_or_else(|| FlowPlace::beginning(&log.job.run));
    let mut spent = Spent::new();
    for session in Stages::sessions_of(log, &place).keys() {
        spent.add(&session_spent(&*log.store, &log.job.actor.tenant, session).await?);
    }
    Ok(spent)
}

/// Returns whether the run can continue when the store works again, or when no other program drives its session.
pub(super) fn is_temporary(error: &AgentError) -> bool {
    // The loop keeps the error of the store as a source of its own.
    let cause = error.cycle_error().and_then(|error| error.source());
    let fault = cause.and_then(|cause| cause.downcast_ref::<Fault>());
    match error.kind() {
        AgentErrorKind::Unavailable | AgentErrorKind::Held => true,
        // A turn that was continued elsewhere is not this one's to repeat.
        AgentErrorKind::Conflict => error.cycle_error().is_none(),
        AgentErrorKind::Storage => error.is_retryable() || fault.is_some_and(Fault::is_retryable),
        _ => false,
    }
}
