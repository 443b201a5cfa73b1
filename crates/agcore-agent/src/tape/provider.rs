//! [`TapeProvider`]: a provider that answers from a tape.

use std::sync::Arc;

use agcore_chat::{ChatResponse, FaultKind, FinishReason};
use agcore_cycle::{
    RecordedFailure,
    machine::{Failure, MediaRefusal, Reply},
};
use agcore_llm::{Call, LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ProviderRoute, ReplyStream, provider_fn};

use super::{Next, RecordedCall, Tape};

/// Answers from a tape. It describes itself like the provider that it replaces, because the agent loop depends on that.
#[derive(Debug)]
pub(crate) struct TapeProvider {
    tape: Arc<Tape>,
    replaced: Arc<dyn LlmProvider>,
}

impl TapeProvider {
    pub(crate) fn new(tape: Arc<Tape>, replaced: Arc<dyn LlmProvider>) -> Self {
        Self { tape, replaced }
    }
}

impl LlmProvider for TapeProvider {
    fn open(&self, call: Call) -> ReplyStream {
        let tape = Arc::clone(&self.tape);
        provider_fn(move |call: Call| {
            let tape = Arc::clone(&tape);
            async move { answer(&tape, &call) }
        })
        .open(call)
    }

    fn info(&self) -> &ProviderInfo {
        self.replaced.info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.replaced.visit_routes(model, visit);
    }
}

fn answer(tape: &Tape, call: &Call) -> Result<ChatResponse, LlmError> {
    match tape.call(&call.request.messages) {
        Next::Answer(RecordedCall::Reply { reply, .. } | RecordedCall::Summary(reply)) => Ok(response(reply)),
        Next::Answer(RecordedCall::Failure(failure)) => Err(error(&failure).with_source(RecordedFailure)),
        Next::Answer(RecordedCall::MediaRefused(refused)) => Err(refusal(&refused)),
        Next::Answer(RecordedCall::Recast(_)) => Err(LlmError::new(
            LlmErrorKind::InvalidRequest,
            "the provider refused this way of asking for typed output",
        )
        .with_source(RecordedFailure)),
        Next::Stopped => Err(LlmError::cancelled()),
        Next::Different(problem) => Err(LlmError::new(LlmErrorKind::InvalidRequest, problem)),
    }
}

fn response(reply: Reply) -> ChatResponse {
    let message = Arc::unwrap_or_clone(reply.message);
    let finish = reply.finish.unwrap_or(match message.has_tool_calls() {
        true => FinishReason::ToolCalls,
        false => FinishReason::Stop,
    });
    let mut response = ChatResponse::from_message(message, finish);
    response.usage = reply.usage;
    response
}

/// Returns an error to which the agent loop reacts as it did to the recorded one.
fn error(failure: &Failure) -> LlmError {
    let fault = &failure.fault;
    let kind = match fault.kind {
        FaultKind::Cancelled => LlmErrorKind::Cancelled,
        FaultKind::ContextLength => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        FaultKind::ContentFilter => LlmErrorKind::ContentFilter,
        FaultKind::InvalidRequest => LlmErrorKind::InvalidRequest,
        _ => LlmErrorKind::Unknown,
    };
    LlmError::new(kind, fault.message.clone())
}

/// Returns the error after which the agent loop left out media, as it did when this was recorded.
fn refusal(refusal: &MediaRefusal) -> LlmError {
    // Without the status, which is part of the message.
    LlmError::new(refusal.fault.kind.into(), refusal.fault.message.clone())
}
