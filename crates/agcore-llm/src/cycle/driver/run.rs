//! The loop: what the machine says next, until the turn ends or waits for a person.

use agcore_chat::{Answer, ChatResponse, Choice, PersonEvent, Question, QuestionId, QuestionKind, ToolOutcome};

use super::{
    state::{Driver, misuse},
    tools::RunningTools,
};
use crate::{
    cycle::{
        machine::{Begin, Cause, End, Machine, Misuse, Outcome, Purpose, Step},
        options::TurnInput,
        turn::{TurnOutcome, TurnReport},
    },
    error::LlmError,
};

impl Driver<'_> {
    /// Runs the turn; the value of a typed one is put into `output`.
    pub(in crate::cycle) async fn run(&mut self, input: TurnInput) -> Result<TurnOutcome, LlmError> {
        self.check_form(match &input {
            TurnInput::Begin(begin) => begin.expectation.is_some(),
            TurnInput::Resume(_) => self.machine.expectation().is_some(),
        })?;
        // A compaction by hand whose future was dropped.
        if self.sums_by_hand() {
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
                        // Rare, and its future is as large as all others together.
                        Box::pin(self.sum_up()).await?;
                    } else if !self.compact_if_due().await? {
                        self.call_model(purpose).await?;
                    }
                }
                Step::Check(_) => self.check_output().await?,
                Step::Shorten(_) => self.shorten().await?,
                Step::Run(work) if work.is_empty() => self.await_tool(&mut running).await?,
                Step::Run(work) => self.start_tools(work, &mut running).await?,
                Step::Wait(questions) => {
                    let questions: Vec<Question> = questions.into_iter().cloned().collect();
                    self.spend_time().await?;
                    self.tell(PersonEvent::Suspended(questions.clone())).await;
                    if *self.seq != self.machine.told() {
                        self.absorb(Outcome::Told(*self.seq)).await?;
                    }
                    return Ok(TurnOutcome::Suspended(questions));
                }
                Step::End(_) => return self.finish().await,
                Step::Idle => return Err(misuse(Misuse::NoTurn)),
            }
        }
    }

    async fn begin(&mut self, begin: Begin) -> Result<(), LlmError> {
        if self.machine.is_open() {
            self.check(&begin)?;
            self.absorb(Outcome::Stop(Cause::abandoned())).await?;
        }
        *self.seq = 0;
        self.tell_turn_end().await;
        self.absorb(Outcome::Begun(begin)).await?;
        *self.turn_end_owed = true;
        self.ask_for_turn().await
    }

    /// Whether a turn could begin if the open one were stopped: input that cannot be sent must not cost an open turn.
    fn check(&self, begin: &Begin) -> Result<(), LlmError> {
        let mut trial = self.machine.clone();
        let stopped = trial.absorb(Outcome::Stop(Cause::abandoned()));
        let begun = stopped.and_then(|_| trial.absorb(Outcome::Begun(begin.clone())));
        begun.map(drop).map_err(misuse)
    }

    async fn resume(&mut self, answers: Vec<(QuestionId, Answer)>) -> Result<(), LlmError> {
        if !self.machine.is_open() {
            return Err(misuse(Misuse::NoTurn));
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

    /// Whether a call that was running when the process died shall run again.
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

    async fn finish(&mut self) -> Result<TurnOutcome, LlmError> {
        self.spend_time().await?;
        self.tell_turn_end().await;
        let (usage, rounds) = (
            self.machine.turn_usage().cloned().unwrap_or_default(),
            self.machine.round(),
        );
        let Step::End(end) = self.machine.next() else {
            return Err(misuse(Misuse::NoTurn));
        };
        match end {
            End::Answered => {
                let response = self.response.take().unwrap_or_else(|| last_reply(self.machine));
                Ok(TurnOutcome::Finished(Box::new(TurnReport::new(
                    response, usage, rounds,
                ))))
            }
            End::Diverted { call, data } => Ok(TurnOutcome::Diverted {
                call: call.clone(),
                data: data.clone(),
            }),
            bad => {
                let fault = bad.fault();
                Err(self
                    .error
                    .take()
                    .or(fault.map(LlmError::from))
                    .unwrap_or_else(LlmError::cancelled))
            }
        }
    }
}

/// The last reply of the history, as a response of which nothing more is known.
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
