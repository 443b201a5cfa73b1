//! The parameters of a request: the options of the model, the response format and the reasoning effort.

use agcore_chat::{ChatRequest, ResponseFormat, StopSequence, StreamOptions};
use serde::ser::{Error, SerializeMap};
use serde_json::{Map, Value};

use crate::ollama::vendor::{unsupported_parameter, unsupported_value};

const FORMAT: &str = "format";

/// Writes the parameters that are not among the [`options`].
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    write_format(request, map)?;
    write_think(request, map)?;
    if request.logprobs == Some(true) {
        map.serialize_entry("logprobs", &true)?;
    }
    if let Some(count) = request.top_logprobs {
        map.serialize_entry("top_logprobs", &count)?;
    }
    Ok(())
}

/// Returns the options that the request's fields set, under the names of the API.
pub(super) fn options<E: Error>(request: &ChatRequest) -> Result<Map<String, Value>, E> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err(E::custom(
            "max_tokens and max_completion_tokens differ: set only one of them",
        ));
    }
    let options: [(&str, Option<Value>); 7] = [
        ("num_predict", request.token_limit().map(Value::from)),
        ("temperature", request.temperature.map(Value::from)),
        ("top_p", request.top_p.map(Value::from)),
        ("stop", request.stop.as_ref().map(stop_list)),
        ("presence_penalty", request.presence_penalty.map(Value::from)),
        ("frequency_penalty", request.frequency_penalty.map(Value::from)),
        ("seed", request.seed.map(Value::from)),
    ];
    let set = options
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(set.collect())
}

/// Returns the stop sequences as a list, the only form that the API accepts.
fn stop_list(stop: &StopSequence) -> Value {
    match stop {
        StopSequence::One(stop) => vec![stop.as_str()].into(),
        StopSequence::Many(stops) => stops.as_slice().into(),
    }
}

/// Writes `format`: the word `json`, or a schema, which the server always enforces.
fn write_format<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let Some(format) = &request.response_format else {
        return Ok(());
    };
    if request.extra_body.get(FORMAT).is_some() {
        let message = "extra_body must not contain `format` together with response_format: set only one of them";
        return Err(Error::custom(message));
    }
    match format {
        ResponseFormat::Text => Ok(()),
        ResponseFormat::JsonObject => map.serialize_entry(FORMAT, "json"),
        ResponseFormat::JsonSchema(format) => match &format.schema {
            Some(schema) => map.serialize_entry(FORMAT, schema),
            None => map.serialize_entry(FORMAT, "json"),
        },
        _ => Err(unsupported_parameter(
            "response_format",
            "this response format",
            "use `json_object` or `json_schema`, or set `format` in extra_body",
        )),
    }
}

/// Writes `think`. A plain `true` is not needed, because models that can think do so by default.
fn write_think<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let Some(effort) = request.reasoning_effort.as_deref() else {
        return Ok(());
    };
    if request.extra_body.get("think").is_some() {
        let message = "extra_body must not contain `think` together with reasoning_effort: set only one of them";
        return Err(Error::custom(message));
    }
    match effort {
        "none" => map.serialize_entry("think", &false),
        "low" | "medium" | "high" | "max" => map.serialize_entry("think", effort),
        other => {
            let nearest = match other {
                "minimal" => "low",
                "xhigh" => "high",
                _ => "",
            };
            let what = format!("the reasoning effort `{other}`");
            let advice = "use none, low, medium, high or max";
            Err(unsupported_value("reasoning_effort", nearest, &what, advice))
        }
    }
}

/// Rejects parameters that the API does not have, unless they ask for what the API does anyway.
pub(super) fn check_supported<E: Error>(request: &ChatRequest) -> Result<(), E> {
    let is_default = |options: &StreamOptions| options.include_usage != Some(false) && options.extra.is_empty();
    let unknown = [
        ("n", request.n.is_some_and(|count| count != 1)),
        ("logit_bias", request.logit_bias.is_some()),
        (
            "modalities",
            request.modalities.iter().any(|modality| modality != "text"),
        ),
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
                .is_some_and(|options| !is_default(options)),
        ),
    ];
    match unknown.iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(unsupported_parameter(
            name,
            &format!("the parameter `{name}`"),
            "leave it out",
        )),
        None => Ok(()),
    }
}
