//! Models that call tools although none are offered.

use agcore_chat::{FaultKind, Text};

use super::context::Driver;
use crate::{
    error::{CycleError, CycleErrorKind},
    machine::{Cause, Outcome, Purpose},
};

/// The number of replies with such calls that a turn accepts. The model learns after each that there are no tools; one that
/// does not listen twice will not listen later.
const MAX_REPLIES: u32 = 3;

impl Driver<'_> {
    /// Counts the last reply if it calls a tool although none are offered. Returns the name of the tool once the turn should
    /// end because of that.
    pub(super) fn invented_tool(&mut self, purpose: Purpose) -> Option<Text> {
        let offers_tools = |driver: &Self| {
            let tools = driver.options.tools.as_ref();
            tools.is_some_and(|tools| !tools.definitions().is_empty())
        };
        let message = &self.response.as_ref()?.choices.first()?.message;
        let first = message.tool_calls().next()?;
        let answering = self.machine.expectation().map(|expectation| &expectation.tool);
        let is_answer = |name: &str| answering.is_some_and(|tool| *tool == *name);
        if purpose != Purpose::Reply || offers_tools(self) || message.tool_calls().any(|call| is_answer(&call.name)) {
            return None;
        }
        let name = Text::from(first.name.as_str());
        self.replies_with_invented_calls += 1;
        (self.replies_with_invented_calls >= MAX_REPLIES).then_some(name)
    }

    /// Ends a turn in which the model keeps calling a tool although none are offered.
    pub(super) async fn stop_inventing(&mut self, tool: &str) -> Result<(), CycleError> {
        let message = format!(
            "the model keeps calling the tool `{tool}`, but this turn offers no tools; register the tool, or use a model or a \
             prompt that answers without tools"
        );
        let kind = if self.typed.is_some() {
            CycleErrorKind::InvalidOutput
        } else {
            CycleErrorKind::LimitReached
        };
        self.error = Some(CycleError::new(kind, message.as_str()));
        let fault = if self.typed.is_some() {
            FaultKind::Malformed
        } else {
            FaultKind::Limit
        };
        self.absorb(Outcome::Stop(Cause::new(fault, message))).await
    }
}
