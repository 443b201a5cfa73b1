//! [`InventedCalls`]: models that call tools although none are offered.

use agcore_chat::{ChatResponse, FaultKind, Text};

use super::environment::Scene;
use crate::{
    error::{CycleError, CycleErrorKind},
    machine::{Cause, Purpose},
};

/// The number of replies with such calls that a turn accepts. The model learns after each that there are no tools; one that
/// does not listen twice will not listen later.
const MAX_REPLIES: u32 = 3;

/// The number of replies with calls although no tools were offered.
#[derive(Default)]
pub(super) struct InventedCalls(u32);

impl InventedCalls {
    /// Counts a reply if it calls a tool although none are offered. Returns the name of the tool once the turn should end
    /// because of that.
    pub(super) fn count(&mut self, scene: Scene<'_>, reply: Option<&ChatResponse>, purpose: Purpose) -> Option<Text> {
        let message = &reply?.choices.first()?.message;
        let first = message.tool_calls().next()?;
        let answering = scene.machine.expectation().map(|expectation| &expectation.tool);
        let is_answer = |name: &str| answering.is_some_and(|tool| *tool == *name);
        let tools = scene.environment.options.tools.as_ref();
        let offers_tools = || tools.is_some_and(|tools| !tools.definitions().is_empty());
        if purpose != Purpose::Reply || offers_tools() || message.tool_calls().any(|call| is_answer(&call.name)) {
            return None;
        }
        self.0 += 1;
        (self.0 >= MAX_REPLIES).then(|| Text::from(first.name.as_str()))
    }

    /// Returns the error, and what the machine learns, of a turn in which the model keeps calling a tool.
    pub(super) fn end(tool: &str, is_typed: bool) -> (CycleError, Cause) {
        let message = format!(
            "the model keeps calling the tool `{tool}`, but this turn offers no tools; register the tool, or use a model or a \
             prompt that answers without tools"
        );
        let (kind, fault) = if is_typed {
            (CycleErrorKind::InvalidOutput, FaultKind::Malformed)
        } else {
            (CycleErrorKind::LimitReached, FaultKind::Limit)
        };
        (CycleError::new(kind, message.as_str()), Cause::new(fault, message))
    }
}
