//! Typed output: how a request asks for it, and checking what comes.

use agcore_chat::{ChatRequest, TextEvent};
use serde_json::Value;

use super::state::Driver;
use crate::{
    machine::{End, Outcome, Purpose, Step, Verdict},
    typed::{Ask, Form, OutputError, OutputMode, Progress},
};
use agcore_llm::{LlmError, LlmErrorKind};

/// A value while it is written, told to observers.
pub(super) struct Writing {
    progress: Progress,
    /// The answering tool, when the value is its arguments.
    tool: Option<String>,
    /// The place of its first call.
    call: Option<usize>,
}

impl Driver<'_> {
    /// A typed turn goes on with its type only, and another without.
    pub(super) fn check_form(&self, is_typed: bool) -> Result<(), LlmError> {
        let words = match (&self.form, is_typed) {
            (None, true) => "the turn asks for typed output: run it, and go on with it, by `run_typed`",
            (Some(_), false) => "the turn was begun without typed output: go on with it by `resume`",
            _ => return Ok(()),
        };
        Err(LlmError::new(LlmErrorKind::InvalidRequest, words))
    }

    /// Asks for typed output in a request that has all else, where the turn does.
    pub(super) fn ask_for_output(&self, request: &mut ChatRequest) {
        if let (Some(form), Some(expectation)) = (&self.form, self.machine.expectation()) {
            let ask = Ask {
                mode: expectation.mode,
                tool: &expectation.tool,
                capabilities: &self.provider.info().capabilities,
            };
            form.ask(ask, request);
        }
    }

    /// Another way of asking, where the provider refused this one and none was demanded.
    pub(super) fn other_mode(&self, error: &LlmError) -> Option<OutputMode> {
        self.form.as_ref().filter(|form| form.mode.is_none())?;
        let mode = self.machine.expectation()?.mode;
        if Form::is_refused_by(error) {
            mode.next(&self.provider.info().capabilities)
        } else {
            None
        }
    }

    /// Checks the answer that the machine waits for.
    pub(super) async fn check_output(&mut self) -> Result<(), LlmError> {
        let (Some(form), Step::Check(draft)) = (&self.form, self.machine.next()) else {
            return self.check_form(true);
        };
        let judged = form.judge(draft.reply, draft.call, draft.is_cut);
        let text = match (draft.call, &judged) {
            (_, Ok(_)) => String::new(),
            (Some(call), _) => call.raw_input().to_owned(),
            (None, _) => draft.reply.text().into_owned(),
        };
        match judged {
            Ok(value) => {
                self.output = Some(value);
                self.absorb(Outcome::Verdict(Verdict::Accepted)).await
            }
            Err(faults) => {
                self.absorb(Outcome::Verdict(Verdict::Rejected(faults.clone()))).await?;
                if let Step::End(End::Failed(fault)) = self.machine.next() {
                    let error = LlmError::from(fault.clone()).with_partial(self.response.clone());
                    self.error = Some(error.with_source(OutputError::new(faults, text)));
                }
                Ok(())
            }
        }
    }

    /// What tells observers of the value while it is written; none where nobody watches.
    pub(super) fn writing(&self, purpose: Purpose) -> Option<Writing> {
        self.observer
            .filter(|_| purpose != Purpose::Summary && self.form.is_some())?;
        let expectation = self.machine.expectation()?;
        Some(Writing {
            progress: Progress::default(),
            tool: expectation.answering_tool().map(str::to_owned),
            call: None,
        })
    }

    /// Tells the value as far as it is there.
    pub(super) async fn tell_part(&mut self, part: Option<Value>) {
        let part = part.zip(self.form.as_ref());
        if let Some(part) = part.and_then(|(part, form)| form.unwrapped_part(part)) {
            self.tell(TextEvent::PartialObject(part)).await;
        }
    }
}

impl Writing {
    /// Takes what observers are told; `call` is the place of the call that it belongs to.
    pub(super) fn push(&mut self, event: &TextEvent, call: Option<usize>) -> Option<Value> {
        match (event, &self.tool) {
            (TextEvent::Text(text), None) => self.progress.push(text),
            (TextEvent::ToolArguments { name, arguments, .. }, Some(tool)) if **name == **tool => {
                let is_first = call.is_some() && *self.call.get_or_insert(call?) == call?;
                if is_first { self.progress.push(arguments) } else { None }
            }
            _ => None,
        }
    }

    /// The value, where it was not told as it is.
    pub(super) fn rest(&mut self) -> Option<Value> {
        self.progress.change()
    }
}
