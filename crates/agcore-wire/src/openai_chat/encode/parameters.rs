//! The parameters of a request, except tools and streaming.

use std::collections::BTreeMap;

use agcore_chat::{ChatRequest, ResponseFormat};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use serde_json::{Value, json};

use super::{context::Context, schema};
use crate::dialect::{EffortRule, TokenLimit};

const FORMAT: &str = "response_format";
const EFFORT: &str = "reasoning_effort";

/// Writes every parameter that is set.
pub(super) fn write<S: SerializeMap>(
    context: &Context<'_>,
    request: &ChatRequest,
    map: &mut S,
) -> Result<(), S::Error> {
    macro_rules! plain {
        ($($name:ident),+ $(,)?) => {
            $(write_plain(context, map, stringify!($name), request.$name.as_ref())?;)+
        };
    }
    write_token_limit(context, request, map)?;
    plain!(temperature, top_p);
    // One answer is what every vendor gives anyway.
    let n = request.n.filter(|n| *n != 1 || context.dialect.accepts("n"));
    write_plain(context, map, "n", n.as_ref())?;
    plain!(stop, presence_penalty, frequency_penalty);
    let bias = request.logit_bias.as_ref().map(EncodedBias);
    write_plain(context, map, "logit_bias", bias.as_ref())?;
    plain!(logprobs, top_logprobs, seed,);
    write_format(context, request, map)?;
    write_effort(context, request, map)?;
    write_plain(
        context,
        map,
        "modalities",
        (!request.modalities.is_empty()).then_some(&request.modalities),
    )?;
    plain!(
        verbosity,
        audio,
        prediction,
        web_search_options,
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

/// Writes a parameter unchanged, under the vendor's name for it.
fn write_plain<S: SerializeMap, T: Serialize>(
    context: &Context<'_>,
    map: &mut S,
    name: &str,
    value: Option<&T>,
) -> Result<(), S::Error> {
    let Some(value) = value else { return Ok(()) };
    check(context, name)?;
    map.serialize_entry(context.dialect.name_of(name), value)
}

/// Logit biases, where whole numbers are written as integers: OpenAI and Groq document no others, and a server may reject
/// `-100.0`.
struct EncodedBias<'a>(&'a BTreeMap<String, f64>);

impl Serialize for EncodedBias<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = |bias: f64| match bias.fract() == 0.0 && bias.abs() <= f64::from(i32::MAX) {
            true => Value::from(bias as i64),
            false => Value::from(bias),
        };
        serializer.collect_map(self.0.iter().map(|(token, bias)| (token, number(*bias))))
    }
}

fn check<E: Error>(context: &Context<'_>, name: &str) -> Result<(), E> {
    if context.dialect.accepts(name) {
        return Ok(());
    }
    Err(context.refuse(
        name,
        &format!("the parameter `{name}`"),
        "leave it out, or add it to the dialect",
    ))
}

fn write_token_limit<S: SerializeMap>(
    context: &Context<'_>,
    request: &ChatRequest,
    map: &mut S,
) -> Result<(), S::Error> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err(Error::custom(
            "max_tokens and max_completion_tokens differ: set one of them",
        ));
    }
    let name = match context.dialect.token_limit {
        TokenLimit::MaxTokens => "max_tokens",
        TokenLimit::MaxCompletionTokens => "max_completion_tokens",
    };
    request
        .token_limit()
        .map_or(Ok(()), |limit| map.serialize_entry(name, &limit))
}

fn write_format<S: SerializeMap>(context: &Context<'_>, request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let Some(format) = &request.response_format else {
        return Ok(());
    };
    check(context, FORMAT)?;
    let formats = context.dialect.formats;
    match format {
        ResponseFormat::JsonObject if !formats.json_object => Err(context.refuse(
            FORMAT,
            "the response format `json_object`",
            "ask for JSON in the prompt",
        )),
        ResponseFormat::JsonSchema(_) if !formats.json_schema => {
            let advice = "use `json_object` and put the schema into the prompt, or define a tool with it";
            Err(context.refuse(FORMAT, "the response format `json_schema`", advice))
        }
        ResponseFormat::JsonSchema(format) => {
            let adapted = schema::adapt_format(context.dialect, format).map_err(Error::custom)?;
            map.serialize_entry(FORMAT, &json!({ "type": "json_schema", "json_schema": adapted }))
        }
        other => map.serialize_entry(FORMAT, other),
    }
}

fn write_effort<S: SerializeMap>(context: &Context<'_>, request: &ChatRequest, map: &mut S) -> Result<(), S::Error> {
    let Some(effort) = &request.reasoning_effort else {
        return Ok(());
    };
    let (name, value) = match context.dialect.effort {
        EffortRule::ThinkingSwitchOrMember if effort != "none" => return map.serialize_entry(EFFORT, effort),
        EffortRule::Member => return write_plain(context, map, EFFORT, Some(effort)),
        EffortRule::Object => ("reasoning", json!({ "effort": effort })),
        EffortRule::TemplateArgument => ("chat_template_kwargs", json!({ EFFORT: effort })),
        EffortRule::ThinkingSwitch | EffortRule::ThinkingSwitchOrMember if effort == "none" => {
            ("thinking", json!({ "type": "disabled" }))
        }
        EffortRule::EnableThinking if effort == "none" => ("enable_thinking", false.into()),
        EffortRule::ThinkingSwitch | EffortRule::ThinkingSwitchOrMember | EffortRule::EnableThinking => {
            let what = format!("the reasoning effort `{effort}`");
            return Err(context.refuse(EFFORT, &what, "it supports only `none`; enable thinking in extra_body"));
        }
        EffortRule::Refused => {
            return Err(context.refuse(EFFORT, "the parameter `reasoning_effort`", "leave it out"));
        }
    };
    if request.extra_body.get(name).is_some() {
        let message = format!("extra_body must not contain `{name}` if reasoning_effort is set: set one of them");
        return Err(Error::custom(message));
    }
    map.serialize_entry(name, &value)
}
