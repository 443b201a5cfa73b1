//! The span of a call: its name and the attributes that are known before anything is sent.
//!
//! For the names of the attributes see <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/>.

use std::sync::Arc;

use agcore_chat::{Actor, ChatRequest, ResponseFormat, StopSequence};
use agcore_trace::{TraceContext, attribute, integer, operation, record_list};
use tracing::{Span, field::Empty};

use crate::provider::{Call, CallOperation, ProviderInfo};

/// Creates the span of a call, which is disabled if no subscriber is interested.
pub(super) fn for_call(call: &Call, info: &ProviderInfo) -> Span {
    let request = &*call.request;
    let model = match request.model.as_str() {
        "" => &*info.model,
        model => model,
    };
    let operation_name = match call.operation {
        CallOperation::Chat => operation::CHAT,
        CallOperation::Embeddings => operation::EMBEDDINGS,
        CallOperation::Rerank => "rerank",
        CallOperation::ImageGeneration => "image_generation",
        CallOperation::Speech => "speech",
        CallOperation::Transcription => "transcription",
        CallOperation::VideoGeneration => "video_generation",
    };
    let span = tracing::info_span!(
        "chat",
        otel.name = format!("{operation_name} {model}").trim_end(),
        otel.kind = "client",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.operation.name = operation_name,
        gen_ai.provider.name = conventional_name(&info.name),
        gen_ai.request.model = model,
        gen_ai.request.stream = call.stream,
        gen_ai.request.choice.count = request.n.filter(|n| *n != 1).map(i64::from),
        gen_ai.request.seed = request.seed,
        gen_ai.request.max_tokens = request.token_limit().map(integer),
        gen_ai.request.temperature = request.temperature,
        gen_ai.request.top_p = request.top_p,
        gen_ai.request.frequency_penalty = request.frequency_penalty,
        gen_ai.request.presence_penalty = request.presence_penalty,
        gen_ai.request.stop_sequences = Empty,
        gen_ai.output.type = output_type(request),
        gen_ai.conversation.id = call.trace.as_deref(),
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.response.time_to_first_chunk = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        gen_ai.usage.reasoning.output_tokens = Empty,
        enduser.id = Empty,
        gen_ai.system_instructions = Empty,
        gen_ai.tool.definitions = Empty,
        gen_ai.input.messages = Empty,
        gen_ai.output.messages = Empty,
        agcore.attempts = Empty,
        agcore.answered_by = Empty,
        agcore.key = Empty,
    );
    if let Some(stop) = request.stop.as_ref().filter(|_| !span.is_disabled()) {
        record_list(&span, attribute::REQUEST_STOP_SEQUENCES, &sequences(stop));
    }
    span
}

/// Adds the headers by which the trace continues at the server. A request that has them already keeps them.
pub(super) fn add_headers(call: &mut Call, context: &TraceContext) {
    let headers = &call.request.extra_headers;
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("traceparent")) {
        return;
    }
    let headers = &mut Arc::make_mut(&mut call.request).extra_headers;
    headers.push(("traceparent".to_owned(), context.traceparent()));
    if let Some(state) = context.tracestate() {
        headers.push(("tracestate".to_owned(), state.to_owned()));
    }
}

/// Records the user on whose behalf the call is made, unless the program has no users.
pub(super) fn record_user(span: &Span, call: &Call) {
    let actor = call.actor();
    if *actor != Actor::LOCAL {
        span.record(attribute::ENDUSER_ID, actor.user.as_str());
    }
}

fn sequences(stop: &StopSequence) -> Vec<&str> {
    match stop {
        StopSequence::One(one) => vec![one],
        StopSequence::Many(many) => many.iter().map(String::as_str).collect(),
    }
}

fn output_type(request: &ChatRequest) -> Option<&'static str> {
    match request.response_format.as_ref()? {
        ResponseFormat::Text => Some("text"),
        _ => Some("json"),
    }
}

/// Returns the name of a vendor in the conventions; other names stay as they are.
fn conventional_name(provider: &str) -> &str {
    match provider {
        "azure" => "azure.ai.openai",
        "gemini" | "gemini-native" => "gcp.gemini",
        "bedrock" => "aws.bedrock",
        "mistral" => "mistral_ai",
        "moonshot" => "moonshot_ai",
        "openai-responses" => "openai",
        "ollama-native" => "ollama",
        "xai" => "x_ai",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_keeps_its_own_context() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context = TraceContext::parse(parent).unwrap().with_tracestate("a=1");
        let mut call = Call::new(ChatRequest::default());
        let shared = Arc::clone(&call.request);
        add_headers(&mut call, &context);
        let expected = [("traceparent", parent), ("tracestate", "a=1")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(call.request.extra_headers, expected);
        assert!(
            shared.extra_headers.is_empty(),
            "another attempt or recording shares the request"
        );
        add_headers(&mut call, &TraceContext::new([1; 16], [1; 8], false).unwrap());
        assert_eq!(call.request.extra_headers, expected);
    }
}
