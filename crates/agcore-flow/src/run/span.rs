//! The spans of a run and of its nodes, following OpenTelemetry's conventions for workflows.

use agcore_trace::{attribute, operation};
use tracing::{Span, field::Empty};

use super::outcome::FlowOutcome;
use crate::error::FlowError;

/// Creates the span of a run in this process. It contains the spans of its nodes.
pub(super) fn run(flow: &str) -> Span {
    tracing::info_span!(
        "invoke_workflow",
        otel.name = format!("invoke_workflow {flow}").trim_end(),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = operation::INVOKE_WORKFLOW,
        gen_ai.workflow.name = flow,
    )
}

/// Creates the span of a visit of a node, with all its attempts.
pub(super) fn node(name: &str, visit: u32) -> Span {
    tracing::info_span!(
        "flow_node",
        otel.name = format!("flow_node {name}").trim_end(),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        agcore.flow.node = name,
        agcore.flow.visit = i64::from(visit),
    )
}

/// Records how a run ended. One that waits for people has not failed.
pub(super) fn ended<S>(span: &Span, result: &Result<FlowOutcome<S>, FlowError>) {
    if let Err(error) = result {
        failed(span, error);
    }
}

/// Records the error of a run or a node.
pub(super) fn failed(span: &Span, error: &FlowError) {
    span.record(attribute::ERROR_TYPE, error.fault().kind.to_string());
    span.record(attribute::OTEL_STATUS_CODE, "ERROR");
}
