//! Encodes the end of a run.

use agcore_chat::{FinishReason, Text};
use serde_json::{Value, json};

use super::{Encoder, Phase, calls::CallError, replies::TextEnd, subagents::SubagentEnd};
use crate::{
    event::{AguiEvent, EventType, RUN_CANCELED},
    input::{Interrupt, Run, RunEnd},
};

/// The code of calls, messages and sub-agents that end because their run failed.
const RUN_FAILED: &str = "RUN_FAILED";

impl Encoder {
    pub(super) fn ended(&mut self, run: &Run, out: &mut Vec<AguiEvent>) {
        match run {
            // The start is handled before.
            Run::Started { .. } => {}
            Run::Finished(end) => {
                self.calls.announce_all(&self.scope, out);
                self.end_open(&TextEnd::partial(), SubagentEnd::Done, None, out);
                let mut event = self.finished().with("result", end.result.clone());
                if !end.pending_tool_calls.is_empty() {
                    let pending: Vec<Value> = end.pending_tool_calls.iter().map(|id| self.wire_call(id)).collect();
                    event = event.with("outcome", json!({"type": "success", "pendingToolCallIds": pending}));
                }
                out.push(self.with_usage(event, end));
            }
            Run::Cancelled(end) => {
                let error = CallError {
                    code: RUN_CANCELED,
                    message: "the run was cancelled",
                };
                let CallError { code, message } = error;
                let failed = SubagentEnd::Failed { code, message };
                self.end_open(&TextEnd::partial(), failed, Some(error), out);
                let event = self.finished().with("outcome", json!({"type": "cancelled"}));
                out.push(self.with_usage(event, end));
            }
            Run::Failed { message, code, end } => {
                let code = code.as_deref();
                let error = CallError {
                    code: code.unwrap_or(RUN_FAILED),
                    message,
                };
                let failed = SubagentEnd::Failed {
                    code: error.code,
                    message,
                };
                self.end_open(&TextEnd::failed(error.code, message), failed, Some(error), out);
                let event = AguiEvent::new(EventType::RunError)
                    .with("message", message.as_str())
                    .with("code", code);
                out.push(self.with_usage(self.scope.mark(event), end));
            }
        }
        self.phase = Phase::Ended;
    }

    pub(super) fn interrupted(&mut self, interrupts: &[Interrupt], out: &mut Vec<AguiEvent>) {
        let ids: Vec<Value> = interrupts
            .iter()
            .map(|interrupt| interrupt.id.as_str().into())
            .collect();
        self.calls.announce_all(&self.scope, out);
        self.end_open(&TextEnd::partial(), SubagentEnd::Suspended(&ids), None, out);
        let interrupts: Vec<Value> = interrupts.iter().map(|interrupt| self.interrupt(interrupt)).collect();
        let event = self
            .finished()
            .with("outcome", json!({"type": "interrupt", "interrupts": interrupts}));
        out.push(self.with_usage(event, &RunEnd::new()));
        self.phase = Phase::Ended;
    }

    /// Ends all open messages, sub-agents and steps, and calls if there is an error for them.
    pub(super) fn end_open(
        &mut self,
        text: &TextEnd,
        subagents: SubagentEnd<'_>,
        calls: Option<CallError<'_>>,
        out: &mut Vec<AguiEvent>,
    ) {
        self.replies.end_all(None, text, self.settings.usage, out);
        if let Some(error) = calls {
            self.calls
                .fail_open(|owner| owner.is_some(), error, &mut self.ids, &self.scope, out);
        }
        self.subagents.leave_all(subagents, &self.scope, out);
        if let Some(error) = calls {
            self.calls
                .fail_open(|owner| owner.is_none(), error, &mut self.ids, &self.scope, out);
        }
        out.extend(self.steps.finish_all(&self.scope));
    }

    fn finished(&self) -> AguiEvent {
        AguiEvent::new(EventType::RunFinished)
            .with("threadId", self.scope.thread.as_str())
            .with("runId", self.scope.run.as_str())
            .with_own("finishReason", self.cut_off.as_ref().map(FinishReason::as_str))
    }

    fn with_usage(&self, event: AguiEvent, end: &RunEnd) -> AguiEvent {
        self.usage
            .add_to(event, end.usage.as_ref(), end.cost.as_ref(), self.settings.usage)
    }

    fn interrupt(&self, interrupt: &Interrupt) -> Value {
        let mut interrupt = interrupt.clone();
        if let Some(call) = &interrupt.tool_call_id {
            interrupt.tool_call_id = self.calls.wire_id(None, call).cloned().or(Some(call.clone()));
        }
        interrupt.to_value()
    }

    fn wire_call(&self, call: &Text) -> Value {
        self.calls.wire_id(None, call).unwrap_or(call).as_str().into()
    }
}
