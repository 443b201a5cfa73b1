//! Typed output in the loop: checking answers, and the value while it is written.

use agcore_chat::TextEvent;
use serde_json::Value;

use super::{context::Driver, typed_turn::PartialValue};
use crate::{
    error::{CycleError, CycleErrorKind},
    machine::{End, Outcome, Purpose, Step},
};

impl Driver<'_> {
    /// Checks that a turn which asks for typed output runs with its type, and any other turn without one.
    pub(super) fn check_type(&self, is_typed: bool) -> Result<(), CycleError> {
        let message = match (&self.typed, is_typed) {
            (None, true) => "the turn asks for typed output; resume it with `.typed::<T>()`",
            (Some(_), false) => "the turn started without typed output; resume it without a type",
            _ => return Ok(()),
        };
        Err(CycleError::new(CycleErrorKind::InvalidInput, message))
    }

    /// Checks the answer that the machine waits for.
    pub(super) async fn check_output(&mut self) -> Result<(), CycleError> {
        let (Some(typed), Step::Check(draft)) = (&mut self.typed, self.machine.next()) else {
            return self.check_type(true);
        };
        let (verdict, rejected) = typed.check(&draft);
        self.absorb(Outcome::Verdict(verdict)).await?;
        if let (Some(rejected), Step::End(End::Failed(fault))) = (rejected, self.machine.next()) {
            let error = CycleError::new(CycleErrorKind::InvalidOutput, fault.message.clone());
            self.error = Some(
                error
                    .with_partial(self.response.as_deref().cloned())
                    .with_source(rejected),
            );
        }
        Ok(())
    }

    /// Returns a collector for the value that the model writes, if anybody watches.
    pub(super) fn partial_value(&self, purpose: Purpose) -> Option<Box<PartialValue>> {
        let is_wanted = self.events.is_observed() && purpose != Purpose::Summary && self.typed.is_some();
        is_wanted.then_some(())?;
        self.machine
            .expectation()
            .map(|expectation| Box::new(PartialValue::new(expectation)))
    }

    /// Queues the part of the value that is complete.
    pub(super) fn push_partial(&mut self, part: Option<Value>) {
        let part = part.zip(self.typed.as_ref());
        if let Some(part) = part.and_then(|(part, typed)| typed.partial(part)) {
            self.events.push_current(self.machine, TextEvent::PartialObject(part));
        }
    }
}
