//! The loop: executes the next step of the machine until the turn ends or waits for a person.

use agcore_chat::{Answer, ChatResponse, Choice, FaultKind, PersonEvent, Question, QuestionId};

use super::{
    answers::{new_answers, settle_uncertain},
    compaction::is_requested_summary,
    context::Driver,
    hooks::{run_hooks, stopped},
    spending::Refusal,
};
use crate::{
    error::{CycleError, CycleErrorKind},
    hooks::{HookContext, HookStop},
    machine::{Begin, Cause, End, Machine, MachineError, Outcome, Purpose, Step},
    options::TurnInput,
    outcome::{TurnOutcome, TurnReport},
    recorder::RecordedReply,
};

impl Driver<'_> {
    /// Runs the turn. [`take_value`](Self::take_value) returns the value of a typed one afterwards.
    pub(crate) async fn run(&mut self, input: TurnInput) -> Result<TurnOutcome, CycleError> {
        if self.prepare(&input).await? {
            return self.finish().await;
        }
        match input {
            TurnInput::Begin(begin) => self.begin(begin).await?,
            TurnInput::Resume(answers) => self.resume(answers).await?,
        }
        loop {
            if self.record.machine().is_open() && self.environment.options.token.is_cancelled() {
                self.stop_tools(&HookStop::Cancelled).await?;
            }
            match self.record.machine().next() {
                Step::Call(_) if self.environment.is_pause_requested() => {
                    self.record_time().await?;
                    return Ok(TurnOutcome::Paused);
                }
                Step::Call(plan) => {
                    let purpose = plan.purpose;
                    // Calls that were settled before they began are still known to their executor.
                    self.tools.clear();
                    self.model.spending.resume();
                    if purpose == Purpose::Summary {
                        // Boxed because it is rarely needed and as large as all other futures together.
                        Box::pin(self.summarize()).await?;
                    } else if !self.compact_if_due().await? {
                        self.call_model(purpose).await?;
                    }
                }
                Step::Check(_) => self.check_output().await?,
                Step::Shorten(_) => {
                    let scene = self.record.scene(&self.environment, self.typed.as_deref());
                    let provider = self.environment.provider.info();
                    let compaction = self.compactor.after_overflow(&scene.request_parts(), provider);
                    self.record.absorb(compaction).await?;
                }
                Step::Run(_) if self.tools.has_started() => {
                    let started = self.tools.take_started();
                    self.execute(started).await?;
                }
                Step::Run(mut work) => {
                    work.retain(|work| !self.tools.is_waiting(work.call.id.as_str()));
                    if work.is_empty() {
                        self.await_tool().await?;
                    } else {
                        self.start_tools(work).await?;
                    }
                }
                Step::Wait(questions) => {
                    let questions = questions.into_iter().cloned().collect();
                    return self.suspend(questions).await;
                }
                Step::End(_) => {
                    self.tools.clear();
                    return self.finish().await;
                }
                Step::Idle => return Err(MachineError::NoTurn.into()),
            }
        }
    }

    /// Settles what earlier runs have left. Returns whether that ended the turn that was to be resumed.
    async fn prepare(&mut self, input: &TurnInput) -> Result<bool, CycleError> {
        let was_open = self.record.machine().is_open();
        self.record.absorb_unrecorded().await?;
        let is_over = was_open && !self.record.machine().is_open();
        if is_over && matches!(input, TurnInput::Resume(answers) if answers.is_empty()) {
            // The turn was dropped while its end was recorded.
            return Ok(true);
        }
        let is_typed = match input {
            TurnInput::Begin(begin) => begin.expectation.is_some(),
            TurnInput::Resume(_) => self.record.machine().expectation().is_some(),
        };
        check_type(self.typed.is_some(), is_typed)?;
        self.record.set_limits(&self.environment.settings.limits).await?;
        // The future of a requested compaction was dropped.
        if is_requested_summary(self.record.machine()) {
            self.record.absorb(Outcome::Stop(Cause::abandoned())).await?;
        }
        self.record.name_reply(RecordedReply::Last);
        Ok(false)
    }

    async fn begin(&mut self, begin: Begin) -> Result<(), CycleError> {
        if self.record.machine().is_open() {
            check_begin(self.record.machine(), &begin)?;
            self.record.absorb(Outcome::Stop(Cause::abandoned())).await?;
        }
        self.record.restart_events();
        self.notify_turn_end().await;
        self.record.absorb(Outcome::TurnStarted(begin)).await?;
        *self.turn_end_pending = true;
        let machine = self.record.machine();
        let left = self.model.spending.time_left(machine, Purpose::Reply);
        let Err(stop) = self.environment.ask_for_turn(machine, left).await else {
            return Ok(());
        };
        self.record.absorb(stopped(&stop)).await?;
        // The machine may let the model wrap up, but not in a turn that was not allowed to start.
        match stop {
            HookStop::OutOfTime(limit) if self.record.machine().is_open() => {
                let cause = Cause::new(FaultKind::Limit, Refusal::Limit(limit).message());
                self.record.absorb(Outcome::Stop(cause)).await
            }
            _ => Ok(()),
        }
    }

    async fn resume(&mut self, answers: Vec<(QuestionId, Answer)>) -> Result<(), CycleError> {
        let machine = self.record.machine();
        let answers = new_answers(machine, answers)?;
        let tools = self.environment.options.tools.as_ref();
        let uncertain = machine.uncertain().map(|call| settle_uncertain(tools, call));
        for outcome in uncertain.collect::<Vec<_>>() {
            self.record.stage(outcome)?;
        }
        for (question, answer) in answers {
            self.record.stage(Outcome::Answer(question, answer))?;
        }
        self.record.commit().await
    }

    /// Notifies the hooks that the turn has ended, unless they know.
    async fn notify_turn_end(&mut self) {
        let (environment, machine) = (&self.environment, self.record.machine());
        if !std::mem::take(self.turn_end_pending) || environment.hooks.is_empty() {
            return;
        }
        run_hooks(async {
            let fault = match machine.next() {
                Step::End(end) => end.fault(),
                _ => None,
            };
            let context = HookContext {
                error: fault.as_ref(),
                response: self.model.response.as_deref(),
                ..environment.context(machine)
            };
            let bounds = environment.bounds(self.model.spending.time_left_of_turn(machine));
            environment.hooks.turn_end(&context, &bounds).await;
        })
        .await;
    }

    /// Checks the answer that the machine waits for.
    async fn check_output(&mut self) -> Result<(), CycleError> {
        let (Some(typed), Step::Check(draft)) = (&mut self.typed, self.record.machine().next()) else {
            return check_type(self.typed.is_some(), true);
        };
        let (verdict, rejected) = typed.check(&draft);
        self.record.absorb(Outcome::Verdict(verdict)).await?;
        if let (Some(rejected), Step::End(End::Failed(fault))) = (rejected, self.record.machine().next()) {
            let error = CycleError::new(CycleErrorKind::InvalidOutput, fault.message.clone());
            let partial = self.model.response.as_deref().cloned();
            self.error = Some(error.with_partial(partial).with_source(rejected));
        }
        Ok(())
    }

    async fn suspend(&mut self, questions: Vec<Question>) -> Result<TurnOutcome, CycleError> {
        self.record_time().await?;
        let scene = self.record.scene(&self.environment, self.typed.as_deref());
        scene.send(PersonEvent::Suspended(questions.clone())).await;
        let count = self.record.events().count();
        if count != self.record.machine().events_sent() {
            self.record.absorb(Outcome::EventsSent(count)).await?;
        }
        Ok(TurnOutcome::Suspended(questions))
    }

    async fn finish(&mut self) -> Result<TurnOutcome, CycleError> {
        // The turn has ended, and that was recorded. The rest of its time can be recorded with the next turn.
        if let Err(error) = self.record_time().await {
            tracing::warn!(%error, "the time of a turn was not recorded yet");
        }
        self.notify_turn_end().await;
        let machine = self.record.machine();
        let usage = machine.turn_usage().cloned().unwrap_or_default();
        let rounds = machine.round();
        let Step::End(end) = machine.next() else {
            return Err(MachineError::NoTurn.into());
        };
        match end {
            End::Answered => {
                let response = match self.model.response.take() {
                    Some(response) => *response,
                    None => last_reply(machine),
                };
                let report = TurnReport::new(response, usage, rounds).with_tokens_saved(self.compactor.saved());
                Ok(TurnOutcome::Finished(Box::new(report)))
            }
            End::Diverted { call, data } => Ok(TurnOutcome::Diverted {
                call: call.clone(),
                data: data.clone(),
            }),
            failed => {
                let fault = failed.fault();
                let error = self.error.take().or(fault.map(CycleError::from));
                Err(error.unwrap_or_else(CycleError::cancelled))
            }
        }
    }

    /// Records the time that has passed since the last count.
    pub(super) async fn record_time(&mut self) -> Result<(), CycleError> {
        match self.model.spending.take_time() {
            Some(spent) => self.record.absorb(Outcome::Spent(spent)).await,
            None => Ok(()),
        }
    }
}

/// Checks that a turn which asks for typed output runs with its type, and any other turn without one.
fn check_type(has_type: bool, is_typed: bool) -> Result<(), CycleError> {
    let message = match (has_type, is_typed) {
        (false, true) => "the turn asks for typed output; resume it with `.typed::<T>()`",
        (true, false) => "the turn started without typed output; resume it without a type",
        _ => return Ok(()),
    };
    Err(CycleError::new(CycleErrorKind::InvalidInput, message))
}

/// Checks that a turn could start if the open one were stopped: input that cannot be sent must not cost an open turn.
fn check_begin(machine: &Machine, begin: &Begin) -> Result<(), CycleError> {
    let mut trial = machine.clone();
    trial.absorb(Outcome::Stop(Cause::abandoned()))?;
    trial.absorb(Outcome::TurnStarted(begin.clone()))?;
    Ok(())
}

/// Returns the last reply of the history as a response; nothing else is known about it.
fn last_reply(machine: &Machine) -> ChatResponse {
    let mut newest = machine.history().iter().rev();
    let message = newest
        .find_map(|message| message.as_assistant())
        .cloned()
        .unwrap_or_default();
    ChatResponse {
        choices: vec![Choice {
            message,
            ..Choice::default()
        }],
        ..ChatResponse::default()
    }
}
