//! [`Driver`]: does what the machine says, and tells it what happened. One for whole and streamed turns.

mod model;
mod tools;

use std::sync::Arc;

use agcore_chat::{
    ChatResponse, Choice, Clock, EventKind, PersonEvent, Question, QuestionId, QuestionKind, StreamEvent,
    ToolOutcome,
};

use self::tools::RunningTools;
use super::{
    machine::{Begin, Cause, End, Machine, Misuse, Outcome, Step},
    observer::Observer,
    options::{CycleSettings, TurnInput, TurnOptions},
    turn::{TurnOutcome, TurnReport},
};
use crate::{
    error::{LlmError, LlmErrorKind},
    hooks::{HookContext, Hooks},
    provider::LlmProvider,
};

pub(super) struct Driver<'a> {
    provider: &'a dyn LlmProvider,
    clock: &'a dyn Clock,
    hooks: &'a Hooks,
    settings: &'a CycleSettings,
    machine: &'a mut Machine,
    options: TurnOptions,
    observer: Option<&'a Observer>,
    /// Counts the events.
    seq: u64,
    /// The last reply.
    response: Option<ChatResponse>,
    /// What the machine knows as a fault, in full.
    error: Option<LlmError>,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        provider: &'a dyn LlmProvider,
        clock: &'a dyn Clock,
        hooks: &'a Hooks,
        settings: &'a CycleSettings,
        machine: &'a mut Machine,
        options: TurnOptions,
        observer: Option<&'a Observer>,
    ) -> Self {
        Self { provider, clock, hooks, settings, machine, options, observer, seq: 0, response: None, error: None }
    }

    pub(super) async fn run(mut self, input: TurnInput) -> Result<TurnOutcome, LlmError> {
        match input {
            TurnInput::Begin(begin) => self.begin(begin).await?,
            TurnInput::Resume(answers) => self.resume(answers).await?,
        }
        let mut running = RunningTools::default();
        loop {
            match self.machine.next() {
                Step::Call(plan) => {
                    let (purpose, messages) = (plan.purpose, plan.messages());
                    self.call_model(purpose, messages).await?;
                }
                Step::Run(work) if work.is_empty() => self.await_tool(&mut running).await?,
                Step::Run(work) => self.start_tools(work, &mut running).await?,
                Step::Wait(questions) => {
                    let questions: Vec<Question> = questions.into_iter().cloned().collect();
                    self.tell(PersonEvent::Suspended(questions.clone())).await;
                    return Ok(TurnOutcome::Suspended(questions));
                }
                Step::End(_) => return self.finish().await,
                Step::Idle => return Err(misuse(Misuse::NoTurn)),
            }
        }
    }

    async fn begin(&mut self, begin: Begin) -> Result<(), LlmError> {
        if self.machine.is_open() {
            self.absorb(Outcome::Stop(Cause::abandoned())).await?;
            self.tell_turn_end().await;
            self.seq = 0;
        }
        self.absorb(Outcome::Begun(begin)).await?;
        if let Err(reason) = self.hooks.turn_start(&self.context()).await {
            self.absorb(Outcome::Stop(Cause::hook_blocked(reason))).await?;
        }
        Ok(())
    }

    async fn resume(&mut self, answers: Vec<(QuestionId, agcore_chat::Answer)>) -> Result<(), LlmError> {
        if !self.machine.is_open() {
            return Err(misuse(Misuse::NoTurn));
        }
        let uncertain: Vec<_> = self.machine.uncertain().cloned().collect();
        for call in uncertain {
            let outcome = ToolOutcome::Ask(self.uncertain_question(&call.id, &call.name));
            self.absorb(Outcome::Tool { call: call.id.into(), outcome, duration_us: 0 }).await?;
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
        self.tell_turn_end().await;
        let (usage, rounds) = (self.machine.turn_usage().cloned().unwrap_or_default(), self.machine.round());
        let Step::End(end) = self.machine.next() else { return Err(misuse(Misuse::NoTurn)) };
        match end {
            End::Answered => {
                let response = self.response.take().unwrap_or_else(|| last_reply(self.machine));
                Ok(TurnOutcome::Finished(TurnReport::new(response, usage, rounds)))
            }
            End::Diverted { call, data } => Ok(TurnOutcome::Diverted { call: call.clone(), data: data.clone() }),
            bad => {
                let fault = bad.fault();
                Err(self.error.take().or(fault.map(LlmError::from)).unwrap_or_else(LlmError::cancelled))
            }
        }
    }

    async fn tell_turn_end(&self) {
        if self.hooks.is_empty() {
            return;
        }
        let fault = match self.machine.next() {
            Step::End(end) => end.fault(),
            _ => None,
        };
        let context = HookContext { error: fault.as_ref(), response: self.response.as_ref(), ..self.context() };
        self.hooks.turn_end(&context).await;
    }

    /// Tells the machine, and observers what it changed.
    async fn absorb(&mut self, outcome: Outcome) -> Result<(), LlmError> {
        // Events of a round belong to the round in which they happened, not to the next.
        let (turn, round) = (self.machine.turn_index(), self.machine.round());
        let begins = matches!(outcome, Outcome::Begun(_));
        let changes = self.machine.absorb(outcome).map_err(misuse)?;
        let (turn, round) = if begins { (self.machine.turn_index(), 0) } else { (turn, round) };
        for event in changes.events {
            self.push(turn, round, event);
        }
        self.room().await;
        Ok(())
    }

    async fn tell(&mut self, event: impl Into<EventKind>) {
        if self.observer.is_some() {
            self.push(self.machine.turn_index(), self.machine.round(), event.into());
            self.room().await;
        }
    }

    fn push(&mut self, turn: u32, round: u32, kind: EventKind) {
        if let Some(observer) = self.observer {
            observer.push(StreamEvent::new(self.seq, Arc::clone(&self.settings.agent), turn, round, kind));
            self.seq += 1;
        }
    }

    async fn room(&self) {
        if let Some(observer) = self.observer {
            observer.room().await;
        }
    }

    fn context(&self) -> HookContext<'a> {
        HookContext {
            agent: &self.settings.agent,
            turn: self.machine.turn_index(),
            round: self.machine.round(),
            ..HookContext::default()
        }
    }
}

/// The last reply of the history, as a response of which nothing more is known.
fn last_reply(machine: &Machine) -> ChatResponse {
    let message = machine.history().last().and_then(|message| message.as_assistant()).cloned().unwrap_or_default();
    ChatResponse { choices: vec![Choice { message, ..Choice::default() }], ..ChatResponse::default() }
}

/// The driver and the machine disagree, or the caller's input does not fit the state.
fn misuse(misuse: Misuse) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, misuse.to_string()).with_source(misuse)
}
