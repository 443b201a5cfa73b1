//! Machine-readable output of a single turn: `--output-format json` and `stream-json`.

use std::{io, sync::Arc};

use agcore::{
    StreamEvent,
    chat::{FinishReason, UsageTracker},
    llm::{SystemClock, TurnOutcome},
    tools::{Approver, AuditSink},
};
use agcore_args::OutputFormat;
use agcore_stream_json::{Detail, ErrorInfo, Init, LineStream, RunEnd, Status};
use agcore_terminal::render::Render;
use serde_json::Value;

use crate::{
    exit::{Failure, FailureKind},
    prices::Prices,
};

/// Machine-readable output: one result, or a line for each event. Clones share the state.
#[derive(Debug, Clone)]
pub(crate) struct Output(LineStream);

impl Output {
    /// Creates the output for a format, or returns `None` if it is for people. Partial messages are included on request.
    pub(crate) fn new(format: OutputFormat, is_partial: bool) -> Option<Self> {
        let detail = match (format, is_partial) {
            (OutputFormat::Text, _) => return None,
            (OutputFormat::Json, _) => Detail::Result,
            (OutputFormat::StreamJson, false) => Detail::Whole,
            (OutputFormat::StreamJson, true) => Detail::Partial,
        };
        let clock = Arc::new(SystemClock::new());
        Some(Self(LineStream::to_writer(detail, clock, io::stdout())))
    }

    /// Writes the settings of the session. Costs that the server does not report are estimated with these prices.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn init(&self, session: &str, init: Init, prices: Option<Prices>) -> io::Result<()> {
        if let Some(prices) = prices {
            let price_table = prices.source.clone();
            self.0.estimate_costs(price_table, move |provider, model, usage| {
                prices.cost(provider, model, usage)
            });
        }
        self.0.init(session, init)
    }

    /// Notes the value that the answer is, for the result.
    pub(crate) fn value(&self, value: Value) {
        self.0.value(value);
    }

    /// Wraps an approver, whose questions and answers are written.
    pub(crate) fn approver(&self, approver: Arc<dyn Approver>) -> Arc<dyn Approver> {
        Arc::new(self.0.approver(approver))
    }

    /// Returns a sink that records how calls ended, which their events do not contain.
    pub(crate) fn audit(&self) -> Arc<dyn AuditSink> {
        Arc::new(self.0.audit())
    }

    /// Writes the result, unless it was written or another thread is blocked while it writes.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn finish(&self, ended: Result<(), &Failure>) -> io::Result<()> {
        self.0.finish(ended.err().map_or_else(RunEnd::ok, end))
    }
}

#[cfg(feature = "flow")]
impl Output {
    /// Writes an event of a flow.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn flow_event(&self, event: &agcore::flow::FlowEvent) -> io::Result<()> {
        self.0.flow_event(event)
    }

    /// Writes the answer of a flow as a message, and notes how the flow ended for the result.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn flow_result(&self, result: &agcore::flow::FlowResult) -> io::Result<()> {
        self.0
            .flow_ended(result.answer.as_deref(), &result.state, &result.interrupts)
    }
}

impl Render for Output {
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        self.0.event(event)
    }

    fn turn_cancelled(&mut self) {
        self.0.turn_cancelled();
    }

    fn turn_ended(&mut self, outcome: Option<&TurnOutcome>, session: &UsageTracker) {
        let reason = outcome.and_then(|outcome| outcome.report()?.response.finish_reason());
        self.0.turn_ended(reason.map(FinishReason::as_str), session);
    }
}

/// Returns the end of a run that failed.
fn end(failure: &Failure) -> RunEnd {
    let error = ErrorInfo::new(failure.error_kind(), failure.to_string());
    let exit_code = failure.kind().exit_code();
    let status = match failure.kind() {
        FailureKind::Limit => return RunEnd::limited(exit_code, error),
        FailureKind::Incomplete => Status::Incomplete,
        FailureKind::Denied => Status::Denied,
        FailureKind::Suspended => Status::Suspended,
        FailureKind::Cancelled | FailureKind::Terminated => Status::Interrupted,
        FailureKind::Task
        | FailureKind::Usage
        | FailureKind::Key
        | FailureKind::Unreachable
        | FailureKind::Panic
        | FailureKind::OutputClosed => Status::Error,
    };
    RunEnd::failed(status, exit_code, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_exit_code_agree() {
        let error = |kind: FailureKind| ErrorInfo::new(Failure::new(kind, "why").error_kind(), "why");
        let check = |kind, status, exit_code| {
            let expected = RunEnd::failed(status, exit_code, error(kind));
            assert_eq!(end(&Failure::new(kind, "why")), expected);
        };
        check(FailureKind::Task, Status::Error, 1);
        check(FailureKind::Key, Status::Error, 3);
        check(FailureKind::Incomplete, Status::Incomplete, 5);
        check(FailureKind::Suspended, Status::Suspended, 8);
        check(FailureKind::Panic, Status::Error, 101);
        check(FailureKind::Cancelled, Status::Interrupted, 130);
        check(FailureKind::Terminated, Status::Interrupted, 143);
        let limit = end(&Failure::new(FailureKind::Limit, "why"));
        assert_eq!(limit, RunEnd::limited(7, error(FailureKind::Limit)));
    }
}
