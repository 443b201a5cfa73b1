//! The parameters of a request, including the reasoning effort and `include`.

use agcore_chat::{ChatRequest, JsonSchemaFormat, ResponseFormat, schema};
use serde::{
    Serialize,
    ser::{Error, SerializeMap},
};
use serde_json::{Map, Value, json};

use crate::openai_responses::vendor::unsupported_parameter;

const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
const FORMAT: &str = "response_format";
const LOGPROBS: &str = "message.output_text.logprobs";

/// The prefixes of the names of models that reason.
const REASONING_MODELS: &[&str] = &["o1", "o3", "o4", "gpt-5", "gpt-oss", "codex"];

/// Writes every parameter that is set, except tools and streaming.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, model: &str, map: &mut S) -> Result<(), S::Error> {
    macro_rules! plain {
        ($($name:ident),+ $(,)?) => {
            $(plain(map, stringify!($name), request.$name.as_ref())?;)+
        };
    }
    check_supported(request)?;
    write_token_limit(request, map)?;
    plain!(temperature, top_p, top_logprobs);
    write_text(request, map)?;
    write_reasoning(request, map)?;
    plain!(
        service_tier,
        store,
        metadata,
        user,
        safety_identifier,
        prompt_cache_key,
        prompt_cache_retention,
    );
    write_include(request, model, map)
}

/// Writes a parameter that is sent unchanged.
fn plain<S: SerializeMap, T: Serialize>(map: &mut S, name: &str, value: Option<&T>) -> Result<(), S::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// Rejects parameters that the API does not have, unless they ask for what the API does anyway.
fn check_supported<E: Error>(request: &ChatRequest) -> Result<(), E> {
    let is_text = request.modalities.iter().all(|modality| modality == "text");
    let unknown = [
        ("n", request.n.is_some_and(|choices| choices != 1)),
        ("stop", request.stop.is_some()),
        ("presence_penalty", request.presence_penalty.is_some()),
        ("frequency_penalty", request.frequency_penalty.is_some()),
        ("logit_bias", request.logit_bias.is_some()),
        ("seed", request.seed.is_some()),
        ("modalities", !is_text),
        ("audio", request.audio.is_some()),
        ("prediction", request.prediction.is_some()),
    ];
    if let Some((name, _)) = unknown.iter().find(|(_, is_set)| *is_set) {
        let advice = "leave it out, or use the Chat Completions API";
        return Err(unsupported_parameter(name, &format!("the parameter `{name}`"), advice));
    }
    if request.web_search_options.is_some() {
        let advice = "use the hosted tool `web_search` instead";
        let name = "web_search_options";
        return Err(unsupported_parameter(
            name,
            "the parameter `web_search_options`",
            advice,
        ));
    }
    Ok(())
}

fn write_token_limit<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err(Error::custom(
            "max_tokens and max_completion_tokens differ: set only one of them",
        ));
    }
    plain(map, "max_output_tokens", request.token_limit().as_ref())
}

/// Writes `text`: the response format, the verbosity, and the members of `text` in `extra_body`.
fn write_text<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let format = request.response_format.as_ref().map(response_format).transpose()?;
    let verbosity = request.verbosity.as_deref().map(Value::from);
    let fields = [
        ("format", "response_format", format),
        ("verbosity", "verbosity", verbosity),
    ];
    write_merged(request, "text", fields, map)
}

/// Writes `reasoning`: the effort, and the members of `reasoning` in `extra_body`, such as `summary`.
fn write_reasoning<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let effort = request.reasoning_effort.as_deref().map(Value::from);
    write_merged(request, "reasoning", [("effort", "reasoning_effort", effort)], map)
}

/// Writes an object that consists of fields (the member, the name of the request's field, its value) and of the members
/// that `extra_body` has under the same name.
fn write_merged<S: SerializeMap, const N: usize>(
    request: &ChatRequest,
    name: &str,
    fields: [(&str, &str, Option<Value>); N],
    map: &mut S,
) -> Result<(), S::Error> {
    let mut object = Map::new();
    let extra = match request.extra_body.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::Object(members)) => Some(members),
        Some(_) => return Err(Error::custom(format_args!("`{name}` in extra_body must be an object"))),
    };
    for (member, field, value) in fields {
        let Some(value) = value else { continue };
        if extra.is_some_and(|members| members.contains_key(member)) {
            return Err(Error::custom(format_args!(
                "extra_body must not contain `{name}.{member}` together with {field}: set only one of them"
            )));
        }
        object.insert(member.to_owned(), value);
    }
    object.extend(extra.cloned().unwrap_or_default());
    if object.is_empty() {
        return Ok(());
    }
    map.serialize_entry(name, &object)
}

/// Returns the response format, whose members this API does not nest.
fn response_format<E: Error>(format: &ResponseFormat) -> Result<Value, E> {
    match format {
        ResponseFormat::Text => Ok(json!({"type": "text"})),
        ResponseFormat::JsonObject => Ok(json!({"type": "json_object"})),
        ResponseFormat::JsonSchema(format) => json_schema(format),
        ResponseFormat::Other(raw) => Ok(raw.clone()),
        other => {
            let what = format!("the response format {other:?}");
            Err(unsupported_parameter(FORMAT, &what, "leave it out"))
        }
    }
}

fn json_schema<E: Error>(format: &JsonSchemaFormat) -> Result<Value, E> {
    let Some(schema) = &format.schema else {
        let what = format!("the response format `{}` without a schema", format.name);
        return Err(unsupported_parameter(FORMAT, &what, "set one, or use `json_object`"));
    };
    let schema = if format.strict == Some(true) {
        let closed = schema::closed(schema).map_err(|error| {
            let what = format!("the schema of the response format `{}`", format.name);
            unsupported_parameter::<E>("strict", &what, &error.to_string())
        })?;
        closed.into_owned()
    } else {
        schema.clone()
    };
    let mut members = Map::new();
    members.insert("type".into(), "json_schema".into());
    members.insert("name".into(), format.name.as_str().into());
    if let Some(description) = &format.description {
        members.insert("description".into(), description.as_str().into());
    }
    members.insert("schema".into(), schema);
    if let Some(strict) = format.strict {
        members.insert("strict".into(), strict.into());
    }
    members.extend(format.extra.iter().map(|(name, value)| (name.clone(), value.clone())));
    Ok(Value::Object(members))
}

/// Writes `include`: the list in `extra_body`, and whatever else the request needs.
fn write_include<S: SerializeMap>(request: &ChatRequest, model: &str, map: &mut S) -> Result<(), S::Error> {
    let requested = request.extra_body.get("include");
    let mut list: Vec<&str> = match requested {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err(Error::custom("`include` in extra_body must be a list of names")),
    };
    let mut add = |name| {
        if !list.contains(&name) {
            list.push(name);
        }
    };
    // A list of the caller decides about reasoning, so an empty one turns it off.
    if requested.is_none() && needs_encrypted_reasoning(request, model) {
        add(ENCRYPTED_REASONING);
    }
    if request.logprobs == Some(true) {
        add(LOGPROBS);
    }
    if list.is_empty() {
        return Ok(());
    }
    map.serialize_entry("include", &list)
}

/// Returns whether to request encrypted reasoning, which can be sent back whether or not the server stores replies.
/// A model that does not reason rejects it, so either the request or the name of the model must show that it does.
fn needs_encrypted_reasoning(request: &ChatRequest, model: &str) -> bool {
    match request.reasoning_effort.as_deref() {
        Some(effort) => effort != "none",
        None => request.extra_body.get("reasoning").is_some() || is_reasoning_model(model),
    }
}

/// Returns whether the name of a model, without the prefix of a router, is that of a model that reasons.
fn is_reasoning_model(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    REASONING_MODELS.iter().any(|prefix| name.starts_with(prefix)) && !name.contains("-chat")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_reasoning_models_by_name() {
        for model in [
            "gpt-5-mini",
            "o3",
            "o4-mini-2025-04-16",
            "openai/gpt-5.1",
            "gpt-oss:20b",
            "ft:o4-mini:org",
        ] {
            assert!(is_reasoning_model(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-5-chat-latest", "my-deployment", "qwen3", ""] {
            assert!(!is_reasoning_model(model), "{model}");
        }
    }
}
