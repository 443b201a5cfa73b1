//! The parameters of a request.

use agcore_chat::{ChatRequest, JsonSchemaFormat, ResponseFormat};
use serde::{
    Serialize,
    ser::{Error, SerializeMap},
};
use serde_json::{Map, Value, json};

use super::context::refuse;
use crate::wire::closed_schema;

/// Writes every parameter that is set, tools and streaming aside.
pub(super) fn write<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    macro_rules! plain {
        ($($name:ident),+ $(,)?) => {
            $(plain(map, stringify!($name), request.$name.as_ref())?;)+
        };
    }
    refuse_unknown(request)?;
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
    Ok(())
}

/// A parameter that goes as it is.
fn plain<S: SerializeMap, T: Serialize>(map: &mut S, name: &str, value: Option<&T>) -> Result<(), S::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// Refuses parameters that this API does not have, unless they say what happens anyway.
fn refuse_unknown<E: Error>(request: &ChatRequest) -> Result<(), E> {
    let texts_only = request.modalities.iter().all(|form| form == "text");
    let unknown = [
        ("n", request.n.is_some_and(|answers| answers != 1)),
        ("stop", request.stop.is_some()),
        ("presence_penalty", request.presence_penalty.is_some()),
        ("frequency_penalty", request.frequency_penalty.is_some()),
        ("logit_bias", request.logit_bias.is_some()),
        ("seed", request.seed.is_some()),
        ("modalities", !texts_only),
        ("audio", request.audio.is_some()),
        ("prediction", request.prediction.is_some()),
    ];
    if let Some((name, _)) = unknown.iter().find(|(_, is_set)| *is_set) {
        let advice = "leave it out, or ask by the Chat Completions API";
        return Err(refuse(&format!("the parameter `{name}`"), advice));
    }
    if request.web_search_options.is_some() {
        let advice = "offer the hosted tool `web_search` instead";
        return Err(refuse("the parameter `web_search_options`", advice));
    }
    Ok(())
}

fn write_token_limit<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err(Error::custom(
            "max_tokens and max_completion_tokens differ: set one of them",
        ));
    }
    plain(map, "max_output_tokens", request.token_limit().as_ref())
}

/// Writes `text`: the answer's form and length, and what else the caller put there.
fn write_text<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let format = request.response_format.as_ref().map(format).transpose()?;
    let verbosity = request.verbosity.as_deref().map(Value::from);
    let fields = [
        ("format", "response_format", format),
        ("verbosity", "verbosity", verbosity),
    ];
    write_merged(request, "text", fields, map)
}

/// Writes `reasoning`: the effort, and what else the caller put there, such as `summary`.
fn write_reasoning<S: SerializeMap>(request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let effort = request.reasoning_effort.as_deref().map(Value::from);
    write_merged(request, "reasoning", [("effort", "reasoning_effort", effort)], map)
}

/// Writes an object of fields (member, name of the request's field, value) and of the members that `extra_body` has for
/// it.
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
            let why = format!("extra_body must not hold `{name}.{member}` beside {field}: set one of them");
            return Err(Error::custom(why));
        }
        object.insert(member.to_owned(), value);
    }
    object.extend(extra.cloned().unwrap_or_default());
    if object.is_empty() {
        return Ok(());
    }
    map.serialize_entry(name, &object)
}

/// The answer's form, flat as this API has it.
fn format<E: Error>(format: &ResponseFormat) -> Result<Value, E> {
    match format {
        ResponseFormat::Text => Ok(json!({"type": "text"})),
        ResponseFormat::JsonObject => Ok(json!({"type": "json_object"})),
        ResponseFormat::JsonSchema(format) => schema_format(format),
        ResponseFormat::Other(raw) => Ok(raw.clone()),
        other => Err(refuse(&format!("the answer's form {other:?}"), "leave it out")),
    }
}

fn schema_format<E: Error>(format: &JsonSchemaFormat) -> Result<Value, E> {
    let Some(schema) = &format.schema else {
        let what = format!("the answer's form `{}` without a schema", format.name);
        return Err(refuse(&what, "give it one, or ask for `json_object`"));
    };
    let schema = if format.strict == Some(true) {
        let adapted = closed_schema::adapt(schema);
        adapted
            .map_err(|fault| {
                refuse::<E>(
                    &format!("the schema of the answer's form `{}`", format.name),
                    &fault.to_string(),
                )
            })?
            .into_owned()
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
