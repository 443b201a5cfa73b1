//! From a scenario to what the mock server replies.

use agcore_chat::{Block, Fault as Refusal, FaultKind, FinishReason, Usage};

use super::super::{
    answer::{Answer, Slicing},
    scenario::Scenario,
};
use crate::mock_server::{
    Answer as Said, ApiError, Chunking, Ending, Fault, Finish, Hold, Point, RecordedRequest, Reply, TokenUsage,
    ToolCall,
};

/// Past any event of a reply.
const LAST: usize = usize::MAX;

/// Where a whole body is in its middle.
const MIDDLE: Point = Point::AfterBytes(20);

/// What is sent for a request.
pub(super) fn reply(scenario: &Scenario, request: &RecordedRequest) -> Reply {
    let streamed = request.prompt().stream;
    match scenario {
        Scenario::Answer(answer) => answered(answer),
        Scenario::Echo => {
            let prompt = request.prompt();
            let last = prompt.turns.last().map(|turn| turn.text.as_str());
            answered(&Answer::text(last.unwrap_or_default()))
        }
        Scenario::Refuse(refusal) => Reply::error(error(refusal, request)),
        Scenario::FailAfter { text, fault } => begun(text).with_fault(Fault::error_event(LAST, error(fault, request))),
        Scenario::CutAfter { text } => {
            let point = if streamed { Point::BeforeEnd } else { MIDDLE };
            begun(text).with_fault(Fault::cut(point, Ending::Abrupt))
        }
        Scenario::HangUp => answered(&Answer::text("")).with_fault(Fault::cut(Point::BeforeHeaders, Ending::Abrupt)),
        Scenario::Garble { text } if streamed => begun(text).with_fault(Fault::extra_event(LAST, "{\"choices\":[{")),
        Scenario::Garble { text } => begun(text).with_fault(Fault::Malformed { at: 0 }),
        Scenario::Stall => answered(&Answer::text("")).with_fault(Fault::stall(Point::BeforeHeaders, Hold::Forever)),
        Scenario::StallAfter { text } => {
            let point = if streamed { Point::BeforeEnd } else { MIDDLE };
            begun(text).with_fault(Fault::stall(point, Hold::Forever))
        }
    }
}

/// An answer whose stream has neither finish reason nor end.
fn begun(text: &str) -> Reply {
    answered(&Answer::text(text))
        .with_fault(Fault::MissingFinish)
        .with_fault(Fault::MissingDone)
}

fn answered(answer: &Answer) -> Reply {
    let message = &answer.message;
    let mut said = message.blocks.iter().fold(Said::new(), |said, block| match block {
        Block::Text(text) => said.with_text(&text.text),
        Block::Reasoning(reasoning) => said.with_reasoning(&reasoning.text),
        Block::Call(call) => said.with_call(ToolCall::raw(&call.name, call.raw_input()).with_id(&call.id)),
        _ => said,
    });
    if let Some(refusal) = message.refusal_text() {
        said = said.with_refusal(refusal);
    }
    said = said.with_finish(finish(&answer.finish));
    said = match &answer.usage {
        Some(counts) => said.with_usage(usage(counts)),
        None => said.without_usage(),
    };
    match answer.slicing {
        Slicing::Usual => Reply::answer(said),
        Slicing::Odd => Reply::answer(said)
            .with_chunking(Chunking::Chars(7))
            .with_fault(Fault::SplitUtf8),
    }
}

fn finish(reason: &FinishReason) -> Finish {
    match reason {
        FinishReason::Stop => Finish::Stop,
        FinishReason::Length => Finish::Length,
        FinishReason::ToolCalls => Finish::ToolCalls,
        FinishReason::ContentFilter => Finish::ContentFilter,
        FinishReason::Refusal => Finish::Refusal,
        other => Finish::Other(other.to_string()),
    }
}

fn usage(counts: &Usage) -> TokenUsage {
    let mut usage = TokenUsage::new(
        counts.prompt_tokens.unwrap_or_default(),
        counts.completion_tokens.unwrap_or_default(),
    );
    usage.cached = counts.cached();
    usage.cache_write = counts.cache_write();
    usage.reasoning = counts.reasoning();
    usage
}

/// A refusal as OpenAI's API words it.
fn error(refusal: &Refusal, request: &RecordedRequest) -> ApiError {
    let status = ApiError::new(refusal.status.unwrap_or(500));
    let error = match refusal.kind {
        FaultKind::Quota => ApiError::quota(),
        FaultKind::ContextLength => ApiError::context_length(8192, 9000),
        FaultKind::NotFound => ApiError::model_not_found(&request.prompt().model),
        FaultKind::ContentFilter => status.with_code("content_filter"),
        FaultKind::InvalidToolCall => status.with_code("tool_use_failed"),
        _ => status,
    };
    let error = match &refusal.request_id {
        Some(id) => error.with_header(request.api().request_id_header(), id),
        None => error,
    };
    match refusal.retry_after {
        Some(wait) => error.with_retry_after(wait.as_secs().to_string()),
        None => error,
    }
}
