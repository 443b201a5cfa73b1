//! [`Body`]: the whole body, member by member in a fixed order.

use agcore_chat::{ChatRequest, StreamOptions};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};

use super::{super::settings::Settings, format, message::WrittenMessage, options, refusal::refuse, tools};

/// The body of a request.
pub(super) struct Body<'a> {
    pub(super) settings: &'a Settings,
    pub(super) request: &'a ChatRequest,
    pub(super) model: &'a str,
    pub(super) stream: bool,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        check(request)?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        map.serialize_entry("messages", &Messages(request))?;
        tools::write(request, &mut map)?;
        format::write(request, &mut map)?;
        write_think(request, &mut map)?;
        if request.logprobs == Some(true) {
            map.serialize_entry("logprobs", &true)?;
        }
        if let Some(count) = request.top_logprobs {
            map.serialize_entry("top_logprobs", &count)?;
        }
        // Streaming is what the server does unless told otherwise.
        map.serialize_entry("stream", &self.stream)?;
        self.settings
            .write(options::of(request)?, &request.extra_body, &mut map)?;
        map.end()
    }
}

struct Messages<'a>(&'a ChatRequest);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages = &self.0.messages;
        let written = |(at, message)| WrittenMessage {
            message,
            before: &messages[..at],
        };
        serializer.collect_seq(
            messages
                .iter()
                .enumerate()
                .map(|(at, message)| written((at, &**message))),
        )
    }
}

/// The levels of the API; its plain `true` is what a thinking model does anyway.
fn write_think<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let Some(effort) = request.reasoning_effort.as_deref() else {
        return Ok(());
    };
    if request.extra_body.get("think").is_some() {
        let message = "extra_body must not hold `think` beside reasoning_effort: set one of them";
        return Err(Error::custom(message));
    }
    match effort {
        "none" => map.serialize_entry("think", &false),
        "low" | "medium" | "high" | "max" => map.serialize_entry("think", effort),
        other => {
            let advice = "it knows none, low, medium, high and max";
            Err(refuse(&format!("the reasoning effort `{other}`"), advice))
        }
    }
}

/// Refuses parameters that ask for what the API cannot do; those that ask for what it does anyway are fine.
fn check<E: Error>(request: &ChatRequest) -> Result<(), E> {
    let is_plain = |options: &StreamOptions| options.include_usage != Some(false) && options.extra.is_empty();
    let refused = [
        ("n", request.n.is_some_and(|count| count != 1)),
        ("logit_bias", request.logit_bias.is_some()),
        ("modalities", request.modalities.iter().any(|form| form != "text")),
        ("verbosity", request.verbosity.is_some()),
        ("audio", request.audio.is_some()),
        ("prediction", request.prediction.is_some()),
        ("web_search_options", request.web_search_options.is_some()),
        ("service_tier", request.service_tier.is_some()),
        ("store", request.store == Some(true)),
        ("metadata", request.metadata.is_some()),
        ("user", request.user.is_some()),
        ("safety_identifier", request.safety_identifier.is_some()),
        ("prompt_cache_key", request.prompt_cache_key.is_some()),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some()),
        (
            "stream_options",
            request
                .stream_options
                .as_ref()
                .is_some_and(|options| !is_plain(options)),
        ),
    ];
    match refused.iter().find(|(_, is_refused)| *is_refused) {
        Some((name, _)) => Err(refuse(&format!("the parameter `{name}`"), "leave it out")),
        None => Ok(()),
    }
}
