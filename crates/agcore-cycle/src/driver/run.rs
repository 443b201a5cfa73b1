//! The loop: executes the next step of the machine until the turn ends or waits for a person.

use agcore_chat::{Answer, ChatResponse, Choice, PersonEvent, Question, QuestionId, QuestionKind, ToolOutcome};

use super::{context::Driver, tools::RunningTools};
use crate::{
    error::CycleError,
    machine::{Begin, Cause, End, Machine, MachineError, Outcome, Purpose, Step},
    options::TurnInput,
    outcome::{TurnOutcome, TurnReport},
};

impl Driver<'_> {
    /// Runs the turn. [`take_value`](Self::take_value) returns the value of a typed one afterwards.
    pub(crate) async fn run(&mut self, input: TurnInput) -> Result<TurnOutcome, CycleError> {
        self.check_type(match &input {
            TurnInput::Begin(begin) => begin.expectation.is_some(),
            TurnInput::Resume(_) => self.machine.expectation().is_some(),
        })?;
        // The future of a requested compaction was dropped.
        if self.is_requested_summary() {
            self.absorb(Outcome::Stop(Cause::abandoned())).await?;
        }
        match input {
            TurnInput::Begin(begin) => self.begin(begin).await?,
            TurnInput::Resume(answers) => self.resume(answers).await?,
        }
        let mut running = RunningTools::default();
        loop {
            if self.options.token.is_cancelled() && self.machine.is_open() {
                running = RunningTools::default();
                self.absorb(Outcome::Stop(Cause::cancelled())).await?;
            }
            match self.machine.next() {
                Step::Call(plan) => {
                    let purpose = plan.purpose;
                    if purpose == Purpose::Summary {
                        // Boxed because it is rarely needed and as large as all other futures together.
                        Box::pin(self.summarize()).await?;
                    } else if !self.compact_if_due().await? {
                        self.call_model(purpose).await?;
                    }
                }
                Step::Check(_) => self.check_output().await?,
                Step::Shorten(_) => self.shorten().await?,
                Step::Run(work) if work.is_empty() => self.await_tool(&mut running).await?,
                Step::Run(work) => self.start_tools(work, &mut running).await?,
                Step::Wait(questions) => {
                    let questions = questions.into_iter().cloned().collect();
                    return self.suspend(questions).await;
                }
                Step::End(_) => return self.finish().await,
                Step::Idle => return Err(MachineError::NoTurn.into()),
            }
        }
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
        if !self.machine.is_open() {
            return Err(MachineError::NoTurn.into());
        }
        let uncertain: Vec<_> = self.machine.uncertain().cloned().collect();
        for call in uncertain {
            let outcome = ToolOutcome::Ask(self.uncertain_question(&call.id, &call.name));
            self.absorb(Outcome::Tool {
                call: call.id.into(),
                outcome,
                duration_us: 0,
            })
            .await?;
        }
        for (question, answer) in answers {
            if self.machine.answer_of(&question) != Some(&answer) {
                self.absorb(Outcome::Answer(question, answer)).await?;
            }
        }
        Ok(())
    }

    /// Asks whether a call that was running when the process died should run again.
    fn uncertain_question(&self, call: &str, name: &str) -> Question {
        let prompt = format!(
            "The tool `{name}` was running when the process stopped; it may or may not have taken effect. Run it again?"
        );
        let mut question = Question::new(call, 0, QuestionKind::Uncertain, prompt);
        let mut number = 1;
        loop {
            question.id = format!("{call}?uncertain{number}").into();
            if self.machine.answer_of(&question.id).is_none() {
                return question;
            }
            number += 1;
        }
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

    async fn finish(&mut self) -> Result<TurnOutcome, CycleError> {
        self.record_time().await?;
        self.notify_turn_end().await;
        let usage = self.machine.turn_usage().cloned().unwrap_or_default();
        let rounds = self.machine.round();
        let Step::End(end) = self.machine.next() else {
            return Err(MachineError::NoTurn.into());
        };
        match end {
            End::Answered => {
                let response = self.response.take().unwrap_or_else(|| last_reply(self.machine));
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
    async fn record_time(&mut self) -> Result<(), CycleError> {
        match self.spending.take_time() {
            Some(spent) => self.absorb(Outcome::Spent(spent)).await,
            None => Ok(()),
        }
    }
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
