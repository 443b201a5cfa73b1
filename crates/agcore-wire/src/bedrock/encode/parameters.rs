//! The parameters of a request, including the reasoning effort. A parameter that the API does not have is an error.

use agcore_chat::{ChatRequest, JsonSchemaFormat, ResponseFormat, StopSequence, StreamOptions};
use serde_json::{Map, Value, json};

use super::model::{ThinkingRule, Traits};
use crate::{
    bedrock::vendor::{unsupported_parameter, unsupported_value},
    encode::{claude, closed_schema::closed},
};

/// The limit of generated tokens for a request that asks for thinking within a budget and sets none. Every model of Claude since
/// version 4 supports it.
const THINKING_LIMIT: u64 = 20_000;

const FORMAT: &str = "response_format";
const EFFORT: &str = "reasoning_effort";

/// The parameters that a request sets, and no others.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    /// The member `inferenceConfig`.
    pub(super) inference: Map<String, Value>,
    /// The member `outputConfig`.
    pub(super) output: Map<String, Value>,
    /// The member `additionalModelRequestFields`.
    pub(super) additional: Map<String, Value>,
    /// The member `requestMetadata`.
    pub(super) metadata: Map<String, Value>,
    /// The type of the member `serviceTier`.
    pub(super) service_tier: Option<&'static str>,
}

impl Parameters {
    pub(super) fn new(request: &ChatRequest, traits: Traits, model: &str) -> Result<Self, String> {
        check_supported(request)?;
        let mut limit = limit(request)?;
        let additional = thinking(request, traits, model, &mut limit)?;
        let mut inference = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                inference.insert(name.to_owned(), value);
            }
        };
        set("maxTokens", limit.map(Value::from));
        set(
            "temperature",
            within_one("temperature", request.temperature)?.map(Value::from),
        );
        set("topP", within_one("top_p", request.top_p)?.map(Value::from));
        set("stopSequences", stops(request));
        let metadata = request.metadata.iter().flatten();
        Ok(Self {
            inference,
            output: format(request, traits, model)?,
            additional,
            metadata: metadata
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect(),
            service_tier: service_tier(request)?,
        })
    }

    /// Returns whether a model of Claude is asked to think.
    pub(super) fn is_thinking(&self) -> bool {
        let kind = self
            .additional
            .get("thinking")
            .and_then(|thinking| thinking.get("type"));
        kind.is_some_and(|kind| kind != "disabled")
    }
}

/// Rejects parameters that the API does not have, unless they ask for what the API does anyway.
fn check_supported(request: &ChatRequest) -> Result<(), String> {
    let is_text = request.modalities.iter().all(|modality| modality == "text");
    let is_default = |options: &StreamOptions| options.include_usage != Some(false) && options.extra.is_empty();
    let is_default_stream = request.stream_options.as_ref().is_none_or(is_default);
    let unknown = [
        ("n", request.n.is_some_and(|n| n != 1)),
        ("presence_penalty", request.presence_penalty.is_some()),
        ("frequency_penalty", request.frequency_penalty.is_some()),
        ("logit_bias", request.logit_bias.is_some()),
        ("logprobs", request.logprobs == Some(true)),
        ("top_logprobs", request.top_logprobs.is_some()),
        ("seed", request.seed.is_some()),
        ("verbosity", request.verbosity.is_some()),
        ("modalities", !is_text),
        ("audio", request.audio.is_some()),
        ("prediction", request.prediction.is_some()),
        ("web_search_options", request.web_search_options.is_some()),
        ("store", request.store == Some(true)),
        ("user", request.user.is_some()),
        ("safety_identifier", request.safety_identifier.is_some()),
        ("prompt_cache_key", request.prompt_cache_key.is_some()),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some()),
        ("stream_options", !is_default_stream),
    ];
    match unknown.into_iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(unsupported_parameter(
            name,
            &format!("the parameter `{name}`"),
            "leave it out, or set what the model has in its place in `additionalModelRequestFields` of extra_body",
        )),
        None => Ok(()),
    }
}

fn limit(request: &ChatRequest) -> Result<Option<u64>, String> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err("max_tokens and max_completion_tokens differ: set only one of them".into());
    }
    Ok(request.token_limit())
}

fn within_one(name: &str, value: Option<f64>) -> Result<Option<f64>, String> {
    match value {
        // Not clamped, because the scale differs from that of other APIs.
        Some(number) if !(0.0..=1.0).contains(&number) => {
            let nearest = if number > 1.0 { "1" } else { "0" };
            let what = format!("the value {number} of `{name}`");
            Err(unsupported_value(name, nearest, &what, "set a value from 0 to 1"))
        }
        value => Ok(value),
    }
}

fn stops(request: &ChatRequest) -> Option<Value> {
    match request.stop.as_ref()? {
        StopSequence::One(stop) => Some(json!([stop])),
        StopSequence::Many(stops) => Some(stops.as_slice().into()),
    }
}

/// Returns the service tier under the name of the API.
fn service_tier(request: &ChatRequest) -> Result<Option<&'static str>, String> {
    Ok(match request.service_tier.as_deref() {
        None | Some("auto") => None,
        Some("default") => Some("default"),
        Some("flex") => Some("flex"),
        Some("priority") => Some("priority"),
        Some("reserved") => Some("reserved"),
        Some(other) => {
            let what = format!("the service tier `{other}`");
            let advice = "set auto, default, flex, priority or reserved";
            return Err(unsupported_value("service_tier", "", &what, advice));
        }
    })
}

/// Returns `outputConfig` for the format of the answer.
fn format(request: &ChatRequest, traits: Traits, model: &str) -> Result<Map<String, Value>, String> {
    match &request.response_format {
        None | Some(ResponseFormat::Text) => Ok(Map::new()),
        Some(ResponseFormat::JsonSchema(format)) if traits.schemas => json_schema(format),
        Some(ResponseFormat::JsonSchema(_)) => {
            let what = format!("a schema as the response format for {model}");
            Err(unsupported_parameter(
                FORMAT,
                &what,
                "ask for JSON in the prompt, or let the model call a tool",
            ))
        }
        Some(_) => Err(unsupported_parameter(
            FORMAT,
            "a response format without a schema",
            "use `json_schema`, or ask for JSON in the prompt",
        )),
    }
}

/// Returns the format with its schema, which the API expects as JSON text.
fn json_schema(format: &JsonSchemaFormat) -> Result<Map<String, Value>, String> {
    let name = &format.name;
    let missing = || format!("the response format `{name}` has no schema: set one");
    let schema = closed(format.schema.as_ref().ok_or_else(missing)?).map_err(|error| {
        unsupported_parameter(FORMAT, &format!("the schema of the response format `{name}`"), &error)
    })?;
    let mut json_schema = json!({"schema": schema.to_string(), "name": name});
    if let Some(description) = &format.description {
        json_schema["description"] = description.as_str().into();
    }
    let text = json!({"type": "json_schema", "structure": {"jsonSchema": json_schema}});
    Ok(Map::from_iter([("textFormat".to_owned(), text)]))
}

/// Returns the additional members for the reasoning effort, in the form that the model accepts. A budget of Claude is a share of
/// the token limit, so that the limit is set then.
fn thinking(
    request: &ChatRequest,
    traits: Traits,
    model: &str,
    limit: &mut Option<u64>,
) -> Result<Map<String, Value>, String> {
    let Some(effort) = request.reasoning_effort.as_deref() else {
        return Ok(Map::new());
    };
    let refused = |nearest: &str, advice: &str| {
        let what = format!("the reasoning effort `{effort}` for {model}");
        Err(unsupported_value(EFFORT, nearest, &what, advice))
    };
    let member = |name: &str, value: Value| Map::from_iter([(name.to_owned(), value)]);
    Ok(match (traits.thinking, effort) {
        (ThinkingRule::Never, "none") => Map::new(),
        (ThinkingRule::Never, _) => {
            let advice = "leave it out, or set what the model expects in `additionalModelRequestFields` of extra_body";
            return refused("none", advice);
        }
        (ThinkingRule::Claude, "none") => member("thinking", json!({"type": "disabled"})),
        (ThinkingRule::Claude, _) => return claude_thinking(effort, model, limit),
        (ThinkingRule::Nova, "none") => member("reasoningConfig", json!({"type": "disabled"})),
        (ThinkingRule::Nova, "low" | "medium" | "high") => member(
            "reasoningConfig",
            json!({"type": "enabled", "maxReasoningEffort": effort}),
        ),
        (ThinkingRule::OpenAi, "low" | "medium" | "high") => member("reasoning_effort", effort.into()),
        (ThinkingRule::Qwen, "low" | "high") => member("reasoning_config", effort.into()),
        (ThinkingRule::Qwen, _) => {
            let nearest = if matches!(effort, "none" | "minimal") {
                "low"
            } else {
                "high"
            };
            return refused(nearest, "set low or high");
        }
        (_, "none" | "minimal") => return refused("low", "set low, medium or high"),
        (_, "xhigh" | "max") => return refused("high", "set low, medium or high"),
        _ => return refused("", "set low, medium or high"),
    })
}

fn claude_thinking(effort: &str, model: &str, limit: &mut Option<u64>) -> Result<Map<String, Value>, String> {
    let refused = |nearest: &str, advice: &str| {
        let what = format!("the reasoning effort `{effort}` for {model}");
        Err(unsupported_value(EFFORT, nearest, &what, advice))
    };
    let Some(percent) = claude::percent_of_limit(effort) else {
        let nearest = if effort == "minimal" { "low" } else { "" };
        return refused(nearest, "set none, low, medium, high, xhigh or max");
    };
    if !claude::supports_only_budgets(model) {
        let thinking = ("thinking".to_owned(), json!({"type": "adaptive"}));
        let config = ("output_config".to_owned(), json!({"effort": effort}));
        return Ok(Map::from_iter([thinking, config]));
    }
    let max_tokens = *limit.get_or_insert(THINKING_LIMIT);
    let Some(budget) = claude::budget(percent, max_tokens) else {
        let advice = format!(
            "raise the token limit {max_tokens}, because thinking needs more than {} tokens, or set the effort to none",
            claude::MIN_BUDGET
        );
        return refused("none", &advice);
    };
    let thinking = json!({"type": "enabled", "budget_tokens": budget});
    Ok(Map::from_iter([("thinking".to_owned(), thinking)]))
}
