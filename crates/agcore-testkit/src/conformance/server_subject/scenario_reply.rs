//! The replies with which the mock server plays a scenario.

use agcore_chat::{Block, Fault as ChatFault, FaultKind, FinishReason, Usage};

use crate::{
    conformance::{
        answer::{Answer, Slicing},
        scenario::Scenario,
    },
    mock_server::{
        Answer as MockAnswer, ApiError, Chunking, Ending, Fault, Finish, Hold, Point, RecordedRequest, Reply,
        TokenUsage, ToolCall,
    },
};

/// A position after all events of a reply.
const LAST: usize = usize::MAX;

/// A point in the middle of a single body.
const MIDDLE: Point = Point::AfterBytes(20);

/// Creates the reply to a request.
pub(super) fn scenario_reply(scenario: &Scenario, request: &RecordedRequest) -> Reply {
    let streamed = request.prompt().stream;
    match scenario {
        Scenario::Answer(answer) => answer_reply(answer),
        Scenario::Echo => {
            let prompt = request.prompt();
            let last = prompt.turns.last().map(|turn| turn.text.as_str());
            answer_reply(&Answer::text(last.unwrap_or_default()))
        }
        Scenario::Refuse(fault) => Reply::error(api_error(fault, request)),
        Scenario::FailAfter { text, fault } => {
            unfinished(text).with_fault(Fault::error_event(LAST, api_error(fault, request)))
        }
        Scenario::CutAfter { text } => {
            let point = if streamed { Point::BeforeEnd } else { MIDDLE };
            unfinished(text).with_fault(Fault::cut(point, Ending::Abrupt))
        }
        Scenario::HangUp => {
            answer_reply(&Answer::text("")).with_fault(Fault::cut(Point::BeforeHeaders, Ending::Abrupt))
        }
        Scenario::Garble { text } if streamed => {
            unfinished(text).with_fault(Fault::extra_event(LAST, "{\"choices\":[{"))
        }
        Scenario::Garble { text } => unfinished(text).with_fault(Fault::Malformed { at: 0 }),
        Scenario::Stall => {
            answer_reply(&Answer::text("")).with_fault(Fault::stall(Point::BeforeHeaders, Hold::Forever))
        }
        Scenario::StallAfter { text } => {
            let point = if streamed { Point::BeforeEnd } else { MIDDLE };
            unfinished(text).with_fault(Fault::stall(point, Hold::Forever))
        }
    }
}

/// Creates an answer whose stream has neither a finish reason nor a terminal marker.
fn unfinished(text: &str) -> Reply {
    answer_reply(&Answer::text(text))
        .with_fault(Fault::MissingFinish)
        .with_fault(Fault::MissingDone)
}

fn answer_reply(answer: &Answer) -> Reply {
    let message = &answer.message;
    let blocks = message.blocks.iter();
    let mut mock = blocks.fold(MockAnswer::new(), |mock, block| match block {
        Block::Text(text) => mock.with_text(&text.text),
        Block::Reasoning(reasoning) => mock.with_reasoning(&reasoning.text),
        Block::Call(call) => mock.with_call(ToolCall::raw(&call.name, call.raw_input()).with_id(&call.id)),
        _ => mock,
    });
    if let Some(refusal) = message.refusal_text() {
        mock = mock.with_refusal(refusal);
    }
    mock = mock.with_finish(finish(&answer.finish));
    mock = match &answer.usage {
        Some(counts) => mock.with_usage(usage(counts)),
        None => mock.without_usage(),
    };
    match answer.slicing {
        Slicing::Usual => Reply::answer(mock),
        Slicing::Odd => Reply::answer(mock)
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

/// Creates the error response for a fault, with the error codes of OpenAI's API.
fn api_error(fault: &ChatFault, request: &RecordedRequest) -> ApiError {
    let status = ApiError::new(fault.status.unwrap_or(500));
    let error = match fault.kind {
        FaultKind::Quota => ApiError::quota(),
        FaultKind::ContextLength => ApiError::context_length(8192, 9000),
        FaultKind::NotFound => ApiError::model_not_found(&request.prompt().model),
        FaultKind::ContentFilter => status.with_code("content_filter"),
        FaultKind::InvalidToolCall => status.with_code("tool_use_failed"),
        _ => status,
    };
    let error = match &fault.request_id {
        Some(id) => error.with_header(request.api().request_id_header(), id),
        None => error,
    };
    match fault.retry_after {
        Some(wait) => error.with_retry_after(wait.as_secs().to_string()),
        None => error,
    }
}
