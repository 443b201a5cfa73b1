//! The loop: executes the next step of the machine until the turn ends or waits for a person.

use agcore_chat::{
    Answer, ChatResponse, Choice, PersonEvent, Question, QuestionId, QuestionKind, ToolCall, ToolOutcome,
};
use serde_json::Value;

use super::{context::Driver, running::RunningTools};
use crate::{
    error::{CycleError, CycleErrorKind},
    machine::{Begin, Cause, End, Machine, MachineError, Outcome, Purpose, Step},
    options::{PauseFlag, TurnInput},
    outcome::{TurnOutcome, TurnReport},
    recorder::RecordedReply,
};

impl Driver<'_> {
    /// Runs the turn. [`take_value`](Self::take_value) returns the value of a typed one afterwards.
    pub(crate) async fn run(&mut self, input: TurnInput) -> Result<TurnOutcome, CycleError> {
        if self.prepare(&input).await? {
            return self.finish().await;
        }
        self.name_reply(RecordedReply::Last);
        match input {
            TurnInput::Begin(begin) => self.begin(begin).await?,
            TurnInput::Resume(answers) => self.resume(answers).await?,
        }
        let mut running = RunningTools::default();
        loop {
            if self.machine.is_open() && self.options.token.is_cancelled() {
                running = RunningTools::default();
                self.started.clear();
                self.spending.resume();
                self.absorb(Outcome::Stop(Cause::cancelled())).await?;
            }
            match self.machine.next() {
                Step::Call(_) if self.is_pause_requested() => return self.pause().await,
                Step::Call(plan) => {
                    let purpose = plan.purpose;
                    // Calls that were settled before they began are still known to their executor.
                    running.clear();
                    self.spending.resume();
                    if purpose == Purpose::Summary {
                        // Boxed because it is rarely needed and as large as all other futures together.
                        Box::pin(self.summarize()).await?;
                    } else if !self.compact_if_due().await? {
                        self.call_model(purpose).await?;
                    }
                }
                Step::Check(_) => self.check_output().await?,
                Step::Shorten(_) => self.shorten().await?,
                Step::Run(_) if !self.started.is_empty() => {
                    let started = std::mem::take(&mut self.started);
                    self.events.drained().await;
                    self.execute(started, &mut running).await?;
                }
                Step::Run(mut work) => {
                    work.retain(|work| !running.is_waiting(work.call.id.as_str()));
                    if work.is_empty() {
                        self.await_tool(&mut running).await?;
                    } else {
                        self.start_tools(work, &mut running).await?;
                    }
                }
                Step::Wait(questions) => {
                    let questions = questions.into_iter().cloned().collect();
                    return self.suspend(questions).await;
                }
                Step::End(_) => {
                    running.clear();
                    return self.finish().await;
                }
                Step::Idle => return Err(MachineError::NoTurn.into()),
            }
        }
    }

    /// Settles what earlier runs have left. Returns whether that ended the turn that was to be resumed.
    async fn prepare(&mut self, input: &TurnInput) -> Result<bool, CycleError> {
        let was_open = self.machine.is_open();
        self.absorb_unrecorded().await?;
        let is_over = was_open && !self.machine.is_open();
        if is_over && matches!(input, TurnInput::Resume(answers) if answers.is_empty()) {
            // The turn was dropped while its end was recorded.
            return Ok(true);
        }
        self.check_type(match input {
            TurnInput::Begin(begin) => begin.expectation.is_some(),
            TurnInput::Resume(_) => self.machine.expectation().is_some(),
        })?;
        self.set_limits().await?;
        // The future of a requested compaction was dropped.
        if self.is_requested_summary() {
            self.absorb(Outcome::Stop(Cause::abandoned())).await?;
        }
        Ok(false)
    }

    async fn begin(&mut self, begin: Begin) -> Result<(), CycleError> {
        if self.machine.is_open() {
            self.check(&begin)?;
            self.absorb(Outcome::Stop(Cause::abandoned())).await?;
        }
        self.events.restart();
        self.notify_turn_end().await;
        self.absorb(Outcome::TurnStarted(begin)).await?;
        *self.turn_end_pending = true;
        self.ask_for_turn().await
    }

    /// Checks that a turn could start if the open one were stopped: input that cannot be sent must not cost an open turn.
    fn check(&self, begin: &Begin) -> Result<(), CycleError> {
        let mut trial = self.machine.clone();
        trial.absorb(Outcome::Stop(Cause::abandoned()))?;
        trial.absorb(Outcome::TurnStarted(begin.clone()))?;
        Ok(())
    }

    async fn resume(&mut self, answers: Vec<(QuestionId, Answer)>) -> Result<(), CycleError> {
        let answers = self.new_answers(answers)?;
        let uncertain: Vec<_> = self
            .machine
            .uncertain()
            .map(|call| self.settle_uncertain(call))
            .collect();
        for outcome in uncertain {
            self.stage(outcome)?;
        }
        for (question, answer) in answers {
            self.stage(Outcome::Answer(question, answer))?;
        }
        self.commit().await
    }

    /// Decides what becomes of a call that was running when the process died: it runs again if its tool allows that, else a
    /// person decides.
    fn settle_uncertain(&self, call: &ToolCall) -> Outcome {
        let tools = self.options.tools.as_ref();
        if tools.is_some_and(|tools| tools.is_repeatable(call)) {
            return Outcome::Redo(call.id.as_str().into());
        }
        let question = uncertain_question(call);
        Outcome::tool(question.call_id.clone(), ToolOutcome::ask(question))
    }

    /// Returns the answers without those that were given before. If one of them cannot be used, none is.
    fn new_answers(&self, answers: Vec<(QuestionId, Answer)>) -> Result<Vec<(QuestionId, Answer)>, CycleError> {
        let mut new: Vec<(QuestionId, Answer)> = Vec::with_capacity(answers.len());
        let (mut repeats_open_turn, mut repeated) = (answers.is_empty(), None);
        for (question, answer) in answers {
            let twice = new.iter().find(|(id, _)| *id == question).map(|(_, answer)| answer);
            match self.machine.answer_of(&question).or(twice) {
                Some(known) if *known != answer => return Err(MachineError::AlreadyAnswered(question).into()),
                Some(_) => {
                    repeats_open_turn |= self.machine.is_answered_in_open_turn(&question);
                    repeated = Some(question);
                }
                None if !self.machine.is_open() => return Err(MachineError::NoTurn.into()),
                None if self.machine.questions().any(|open| open.id == question) => new.push((question, answer)),
                None => return Err(MachineError::UnknownQuestion(question).into()),
            }
        }
        match repeated {
            Some(question) if new.is_empty() && !repeats_open_turn => {
                let message =
                    format!("the question `{question}` was answered like this before, and its turn has ended");
                Err(CycleError::new(CycleErrorKind::AlreadyAnswered, message))
            }
            _ if !self.machine.is_open() => Err(MachineError::NoTurn.into()),
            _ => Ok(new),
        }
    }

    /// Makes the limits of the settings those of the machine.
    pub(super) async fn set_limits(&mut self) -> Result<(), CycleError> {
        if *self.machine.limits() == self.settings.limits {
            return Ok(());
        }
        self.absorb(Outcome::Limits(self.settings.limits.clone())).await
    }

    async fn suspend(&mut self, questions: Vec<Question>) -> Result<TurnOutcome, CycleError> {
        self.record_time().await?;
        self.send(PersonEvent::Suspended(questions.clone())).await;
        let count = self.events.count();
        if count != self.machine.events_sent() {
            self.absorb(Outcome::EventsSent(count)).await?;
        }
        Ok(TurnOutcome::Suspended(questions))
    }

    fn is_pause_requested(&self) -> bool {
        self.options.pause.as_ref().is_some_and(PauseFlag::is_requested)
    }

    async fn pause(&mut self) -> Result<TurnOutcome, CycleError> {
        self.record_time().await?;
        Ok(TurnOutcome::Paused)
    }

    async fn finish(&mut self) -> Result<TurnOutcome, CycleError> {
        // The turn has ended, and that was recorded. The rest of its time can be recorded with the next turn.
        if let Err(error) = self.record_time().await {
            tracing::warn!(%error, "the time of a turn was not recorded yet");
        }
        self.notify_turn_end().await;
        let usage = self.machine.turn_usage().cloned().unwrap_or_default();
        let rounds = self.machine.round();
        let Step::End(end) = self.machine.next() else {
            return Err(MachineError::NoTurn.into());
        };
        match end {
            End::Answered => {
                let response = match self.response.take() {
                    Some(response) => *response,
                    None => last_reply(self.machine),
                };
                let report = TurnReport::new(response, usage, rounds);
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

    /// Counts the time since something was counted last.
    pub(super) async fn record_time(&mut self) -> Result<(), CycleError> {
        match self.spending.take_time() {
            Some(spent) => self.absorb(Outcome::Spent(spent)).await,
            None => Ok(()),
        }
    }
}

/// Asks whether a call that was running when the process died should run again.
fn uncertain_question(call: &ToolCall) -> Question {
    let prompt = format!(
        "The tool `{}` was running when the process stopped; it may or may not have taken effect. Run it again?",
        call.name
    );
    let input = call.raw_input();
    let arguments = serde_json::from_str(input).unwrap_or_else(|_| Value::from(input));
    let mut question = Question::new(call.id.as_str(), 0, QuestionKind::Uncertain, prompt)
        .with_tool(call.name.as_str())
        .with_arguments(arguments);
    question.id = format!("{}?uncertain", call.id).into();
    question
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
