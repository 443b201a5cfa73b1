//! The parameters of a request, including the reasoning effort. A parameter that the API does not have is an error.

use agcore_chat::{ChatRequest, ResponseFormat, StopSequence, StreamOptions};
use serde_json::{Map, Value, json};

use super::model::{ANY_BUDGET, ThinkingRule, Traits};
use crate::gemini::{
    settings::{Settings, Thinking},
    vendor::{unsupported_parameter, unsupported_value},
};

/// The largest number of stop sequences.
const MAX_STOPS: usize = 5;

/// The budgets for efforts, which are those of the compatible endpoint (ai.google.dev, "OpenAI compatibility").
const BUDGETS: &[(&str, u64)] = &[("minimal", 1024), ("low", 1024), ("medium", 8192), ("high", 24_576)];

const FORMAT: &str = "response_format";
const EFFORT: &str = "reasoning_effort";

/// Returns `generationConfig`: the parameters that a request sets, and no others.
pub(super) fn generation_config(
    settings: &Settings,
    traits: Traits,
    request: &ChatRequest,
    model: &str,
    has_functions: bool,
) -> Result<Map<String, Value>, String> {
    check_supported(request)?;
    let mut config = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(name.to_owned(), value);
        }
    };
    set("maxOutputTokens", limit(request)?.map(Value::from));
    set("temperature", temperature(request)?.map(Value::from));
    set("topP", request.top_p.map(Value::from));
    set("stopSequences", stops(request)?);
    set("seed", seed(request)?.map(Value::from));
    set("candidateCount", request.n.filter(|count| *count != 1).map(Value::from));
    set("presencePenalty", request.presence_penalty.map(Value::from));
    set("frequencyPenalty", request.frequency_penalty.map(Value::from));
    set(
        "responseLogprobs",
        request.logprobs.filter(|logprobs| *logprobs).map(Value::from),
    );
    set("logprobs", request.top_logprobs.map(Value::from));
    let modalities: Vec<String> = request
        .modalities
        .iter()
        .map(|name| name.to_ascii_uppercase())
        .collect();
    set(
        "responseModalities",
        (!modalities.is_empty()).then(|| modalities.into()),
    );
    let (media_type, schema) = format(request, traits, model, has_functions)?;
    set("responseMimeType", media_type.map(Value::from));
    set("responseJsonSchema", schema.cloned());
    set("thinkingConfig", thinking(settings, traits, request, model)?);
    Ok(config)
}

/// Rejects parameters that the API does not have, unless they ask for what the API does anyway.
fn check_supported(request: &ChatRequest) -> Result<(), String> {
    let is_default = |options: &StreamOptions| options.include_usage != Some(false) && options.extra.is_empty();
    let advice = "leave it out";
    let unknown = [
        ("logit_bias", request.logit_bias.is_some(), advice),
        ("verbosity", request.verbosity.is_some(), advice),
        (
            "audio",
            request.audio.is_some(),
            "set `speechConfig` in the `generationConfig` of extra_body",
        ),
        ("prediction", request.prediction.is_some(), advice),
        (
            "web_search_options",
            request.web_search_options.is_some(),
            "use the hosted tool `{\"googleSearch\": {}}` instead",
        ),
        ("store", request.store == Some(true), advice),
        (
            "metadata",
            request.metadata.is_some(),
            "leave it out, or set `labels` in extra_body on Vertex AI",
        ),
        ("user", request.user.is_some(), advice),
        ("safety_identifier", request.safety_identifier.is_some(), advice),
        ("prompt_cache_key", request.prompt_cache_key.is_some(), advice),
        (
            "prompt_cache_retention",
            request.prompt_cache_retention.is_some(),
            advice,
        ),
        (
            "stream_options",
            request
                .stream_options
                .as_ref()
                .is_some_and(|options| !is_default(options)),
            advice,
        ),
    ];
    match unknown.into_iter().find(|(_, is_set, _)| *is_set) {
        Some((name, _, advice)) => Err(unsupported_parameter(name, &format!("the parameter `{name}`"), advice)),
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

fn temperature(request: &ChatRequest) -> Result<Option<f64>, String> {
    match request.temperature {
        Some(number) if !(0.0..=2.0).contains(&number) => {
            let nearest = if number > 2.0 { "2" } else { "0" };
            let what = format!("the temperature {number}");
            Err(unsupported_value(
                "temperature",
                nearest,
                &what,
                "set a value from 0 to 2",
            ))
        }
        value => Ok(value),
    }
}

fn stops(request: &ChatRequest) -> Result<Option<Value>, String> {
    match &request.stop {
        None => Ok(None),
        Some(StopSequence::One(stop)) => Ok(Some(json!([stop]))),
        Some(StopSequence::Many(stops)) if stops.len() > MAX_STOPS => {
            let what = format!("more than {MAX_STOPS} stop sequences");
            Err(unsupported_parameter("stop", &what, "leave some out"))
        }
        Some(StopSequence::Many(stops)) => Ok(Some(stops.as_slice().into())),
    }
}

fn seed(request: &ChatRequest) -> Result<Option<i32>, String> {
    let number = |seed: i64| {
        let what = format!("the seed {seed}");
        i32::try_from(seed).map_err(|_| unsupported_parameter("seed", &what, "set one that fits into 32 bits"))
    };
    request.seed.map(number).transpose()
}

/// Returns the service tier under the name of the API.
pub(super) fn service_tier(request: &ChatRequest) -> Result<Option<&'static str>, String> {
    match request.service_tier.as_deref() {
        None | Some("auto") => Ok(None),
        Some("default" | "standard") => Ok(Some("standard")),
        Some("flex") => Ok(Some("flex")),
        Some("priority") => Ok(Some("priority")),
        Some(other) => {
            let what = format!("the service tier `{other}`");
            Err(unsupported_value(
                "service_tier",
                "",
                &what,
                "set auto, default, flex or priority",
            ))
        }
    }
}

/// Returns the media type and the schema of the answer.
fn format<'a>(
    request: &'a ChatRequest,
    traits: Traits,
    model: &str,
    has_functions: bool,
) -> Result<(Option<&'static str>, Option<&'a Value>), String> {
    const JSON: &str = "application/json";
    let format = match &request.response_format {
        None | Some(ResponseFormat::Text) => return Ok((None, None)),
        Some(ResponseFormat::JsonObject) => (Some(JSON), None),
        Some(ResponseFormat::JsonSchema(format)) => (Some(JSON), format.schema.as_ref()),
        Some(_) => {
            let advice = "use `json_object` or `json_schema`, or set `generationConfig` in extra_body";
            return Err(unsupported_parameter(FORMAT, "this response format", advice));
        }
    };
    if has_functions && !traits.combines {
        // In the words of the server, so that what recognizes its refusal recognizes this one.
        let what = format!("JSON as the format together with tools for {model}");
        let advice =
            "function calling with a response mime type is unsupported before Gemini 3, so leave one of them out";
        return Err(unsupported_parameter(FORMAT, &what, advice));
    }
    Ok(format)
}

/// Returns `thinkingConfig` for the reasoning effort, in the form that the model accepts.
fn thinking(settings: &Settings, traits: Traits, request: &ChatRequest, model: &str) -> Result<Option<Value>, String> {
    let Some(effort) = request.reasoning_effort.as_deref() else {
        return Ok(None);
    };
    let rule = match (settings.thinking, traits.thinking) {
        (Thinking::ByModel, rule) => rule,
        (Thinking::Level, rule @ ThinkingRule::Level { .. }) => rule,
        (Thinking::Level, _) => ThinkingRule::Level { has_minimal: true },
        (Thinking::Budget, rule @ ThinkingRule::Budget { .. }) => rule,
        (Thinking::Budget, _) => ANY_BUDGET,
    };
    let refused = |nearest: &str, expected: &str| {
        let what = format!("the reasoning effort `{effort}` for {model}");
        Err(unsupported_value(EFFORT, nearest, &what, expected))
    };
    let mut config = match rule {
        ThinkingRule::Never if effort == "none" => return Ok(None),
        ThinkingRule::Never => return refused("none", "the model does not think, so leave it out"),
        ThinkingRule::Budget { can_be_off: true, .. } if effort == "none" => {
            return Ok(Some(json!({"thinkingBudget": 0})));
        }
        ThinkingRule::Budget { min, max, .. } => {
            let listed = BUDGETS
                .iter()
                .find(|(name, _)| *name == effort)
                .map(|(_, budget)| *budget);
            let budget = match effort {
                "xhigh" | "max" => Some(max),
                _ => listed,
            };
            let Some(budget) = budget else {
                let nearest = if effort == "none" { "minimal" } else { "" };
                return refused(nearest, "set minimal, low, medium, high, xhigh or max");
            };
            json!({"thinkingBudget": budget.clamp(min, max)})
        }
        ThinkingRule::Level { has_minimal } => {
            let lowest = if has_minimal { "minimal" } else { "low" };
            match effort {
                "low" | "medium" | "high" => {}
                "minimal" if has_minimal => {}
                "none" | "minimal" => return refused(lowest, "the model always thinks, so set low, medium or high"),
                "xhigh" | "max" => return refused("high", "set low, medium or high"),
                _ => return refused("", "set low, medium or high"),
            }
            json!({"thinkingLevel": effort.to_ascii_uppercase()})
        }
    };
    if settings.thoughts {
        config["includeThoughts"] = true.into();
    }
    Ok(Some(config))
}
