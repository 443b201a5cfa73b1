//! Samples of parameters.

use agcore_chat::{JsonSchemaFormat, ResponseFormat, StreamOptions};
use serde_json::json;

use super::Sample;

/// The samples that are named after a field that is sent unchanged.
pub(super) const PLAIN: &[&str] = &[
    "temperature",
    "top_p",
    "n",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "seed",
    "verbosity",
    "modalities",
    "audio",
    "prediction",
    "web_search_options",
    "service_tier",
    "store",
    "metadata",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
];

macro_rules! sample {
    ($name:literal, $request:ident => $set:expr) => {
        Sample {
            name: $name,
            set: |$request| {
                $set;
            },
        }
    };
}

pub(super) const SAMPLES: &[Sample] = &[
    Sample {
        name: "plain",
        set: |_| {},
    },
    sample!("max_tokens", request => request.max_tokens = Some(100)),
    sample!("max_completion_tokens", request => request.max_completion_tokens = Some(100)),
    sample!("temperature", request => request.temperature = Some(1.0)),
    sample!("top_p", request => request.top_p = Some(0.5)),
    sample!("n", request => request.n = Some(2)),
    sample!("stop", request => request.stop = Some("END".into())),
    sample!("stop: several", request => request.stop = Some(["END", "\n\n"].into_iter().collect())),
    sample!("presence_penalty", request => request.presence_penalty = Some(-0.5)),
    sample!("frequency_penalty", request => request.frequency_penalty = Some(0.5)),
    sample!("logit_bias", request => request.logit_bias = Some([("50256".to_owned(), -100.0)].into())),
    sample!("logprobs", request => request.logprobs = Some(true)),
    sample!("top_logprobs", request => request.top_logprobs = Some(3)),
    sample!("seed", request => request.seed = Some(7)),
    sample!("effort: none", request => request.reasoning_effort = Some("none".to_owned())),
    sample!("effort: high", request => request.reasoning_effort = Some("high".to_owned())),
    sample!("verbosity", request => request.verbosity = Some("low".to_owned())),
    sample!("modalities", request => request.modalities = vec!["text".to_owned(), "audio".to_owned()]),
    sample!("audio", request => request.audio = Some(json!({"voice": "alloy", "format": "wav"}))),
    sample!("prediction", request => request.prediction = Some(json!({"type": "content", "content": "fn main() {}"}))),
    sample!("web_search_options", request => {
        let place = json!({"type": "approximate", "approximate": {"country": "NO", "city": "Oslo"}});
        request.web_search_options = Some(json!({"search_context_size": "low", "user_location": place}));
    }),
    sample!("service_tier", request => request.service_tier = Some("auto".to_owned())),
    sample!("store", request => request.store = Some(false)),
    sample!("metadata", request => request.metadata = Some([("job".to_owned(), "1".to_owned())].into())),
    sample!("user", request => request.user = Some("u-1".to_owned())),
    sample!("safety_identifier", request => request.safety_identifier = Some("s-1".to_owned())),
    sample!("prompt_cache_key", request => request.prompt_cache_key = Some("k-1".to_owned())),
    sample!("prompt_cache_retention", request => request.prompt_cache_retention = Some("24h".to_owned())),
    sample!("usage of streams", request => {
        request.stream_options = Some(StreamOptions { include_usage: Some(true), ..StreamOptions::default() });
    }),
    sample!("format: text", request => request.response_format = Some(ResponseFormat::Text)),
    sample!("format: object", request => request.response_format = Some(ResponseFormat::JsonObject)),
    sample!("format: open schema", request => {
        request.response_format = Some(ResponseFormat::JsonSchema(JsonSchemaFormat {
            name: "weather".to_owned(),
            description: Some("The weather of a day.".to_owned()),
            schema: Some(json!({"type": "object", "properties": {"sky": {"type": "string"}}})),
            ..JsonSchemaFormat::default()
        }));
    }),
    sample!("format: schema", request => {
        let sky = json!({"type": "string", "enum": ["clear", "cloudy"]});
        let schema = json!({"type": "object", "properties": {"sky": sky}, "required": ["sky"]});
        request.response_format = Some(ResponseFormat::json_schema("weather", schema));
    }),
];
