//! The span of a turn, following OpenTelemetry's conventions for agents.
//!
//! Attribute names: <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/>.

use agcore_cycle::TurnReport;
use agcore_trace::{attribute, integer, operation};
use tracing::{Span, field::Empty};

use super::live::LiveSession;
use crate::{agent::Agent, error::AgentError};

/// Creates the span of a turn that this agent answers. It contains the calls of models and tools.
pub(super) fn turn(session: &LiveSession, agent: &dyn Agent) -> Span {
    let info = session.bundle.parts().provider.info();
    tracing::info_span!(
        "invoke_agent",
        otel.name = format!("invoke_agent {}", agent.name()).trim_end(),
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = operation::INVOKE_AGENT,
        gen_ai.agent.name = agent.name(),
        gen_ai.conversation.id = &*session.id,
        gen_ai.request.model = &*info.model,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
    )
}

/// Records how the turn ended. A suspended turn is not a failure.
pub(super) fn record(span: &Span, outcome: Result<Option<&TurnReport>, &AgentError>) {
    match outcome {
        Ok(None) => {}
        Ok(Some(report)) => {
            let usage = &report.usage.usage;
            if let Some(tokens) = usage.prompt_tokens {
                span.record(attribute::USAGE_INPUT_TOKENS, integer(tokens));
            }
            if let Some(tokens) = usage.completion_tokens {
                span.record(attribute::USAGE_OUTPUT_TOKENS, integer(tokens));
            }
        }
        Err(error) => {
            span.record(attribute::ERROR_TYPE, error.fault().kind.to_string());
            span.record(attribute::OTEL_STATUS_CODE, "ERROR");
        }
    }
}
