//! [`Parameters`]: the parameters of a request, including the reasoning effort. A parameter that the API does not have is
//! an error.

use std::collections::BTreeMap;

use agcore_chat::{ChatRequest, StopSequence, StreamOptions};
use serde::{Serialize, ser::SerializeMap};
use serde_json::{Value, json};

use super::schema;
use crate::{
    anthropic::{
        settings::{Settings, Thinking},
        vendor::{unsupported_parameter, unsupported_value},
    },
    encode::claude,
};

/// The default limit of generated tokens. Every model since Claude 4 supports it, and a whole reply of this length arrives
/// within ten minutes.
const DEFAULT_LIMIT: u64 = 20_000;

/// The default limit for the models of Claude 3, which is all that they support.
const CLAUDE_3_LIMIT: u64 = 4096;

/// The parameters that a request sets.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    pub(super) max_tokens: u64,
    temperature: Option<f64>,
    top_p: Option<f64>,
    stop: Vec<&'a str>,
    effort: Option<Effort<'a>>,
    /// The response format.
    format: Option<Value>,
    user: Option<&'a str>,
    tier: Option<&'static str>,
}

impl<'a> Parameters<'a> {
    pub(super) fn new(settings: &Settings, request: &'a ChatRequest, model: &str) -> Result<Self, String> {
        check_supported(request)?;
        let max_tokens = limit(settings, request, model)?;
        let effort = request.reasoning_effort.as_deref();
        let effort = effort.map(|effort| Effort::new(effort, settings.thinking, model, max_tokens));
        let format = request.response_format.as_ref().map(schema::response_format);
        Ok(Self {
            max_tokens,
            temperature: within_one("temperature", request.temperature)?,
            top_p: within_one("top_p", request.top_p)?,
            stop: match &request.stop {
                None => Vec::new(),
                Some(StopSequence::One(stop)) => vec![stop],
                Some(StopSequence::Many(stops)) => stops.iter().map(String::as_str).collect(),
            },
            effort: effort.transpose()?,
            format: format.transpose()?.flatten(),
            user: user(request)?,
            tier: request.service_tier.as_deref().map(tier).transpose()?,
        })
    }

    /// Returns the members that are written under another name than the request's field has.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let names = [
            ("stop_sequences", !self.stop.is_empty()),
            ("thinking", self.effort.is_some()),
            ("output_config", self.has_output_config()),
        ];
        names
            .into_iter()
            .filter_map(|(name, is_written)| is_written.then_some(name))
    }

    fn has_output_config(&self) -> bool {
        self.format.is_some() || self.effort.as_ref().is_some_and(|effort| effort.level.is_some())
    }

    /// Writes all parameters except `max_tokens`.
    pub(super) fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        #[derive(Serialize)]
        struct OutputConfig<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            effort: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            format: Option<&'a Value>,
        }
        entry("thinking", self.effort.as_ref().map(|effort| &effort.thinking), map)?;
        let config = self.has_output_config().then(|| OutputConfig {
            effort: self.effort.as_ref().and_then(|effort| effort.level),
            format: self.format.as_ref(),
        });
        entry("output_config", config, map)?;
        entry("temperature", self.temperature, map)?;
        entry("top_p", self.top_p, map)?;
        entry("stop_sequences", (!self.stop.is_empty()).then_some(&self.stop), map)?;
        let metadata = self.user.map(|user| BTreeMap::from([("user_id", user)]));
        entry("metadata", metadata, map)?;
        entry("service_tier", self.tier, map)
    }
}

fn entry<S: SerializeMap, T: Serialize>(name: &str, value: Option<T>, map: &mut S) -> Result<(), S::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, &value))
}

/// Rejects parameters that the API does not have, unless they ask for what the API does anyway.
fn check_supported(request: &ChatRequest) -> Result<(), String> {
    let is_text = request.modalities.iter().all(|modality| modality == "text");
    let is_default_stream = |options: &StreamOptions| {
        let default = StreamOptions {
            include_usage: options.include_usage,
            ..StreamOptions::default()
        };
        *options == default && options.include_usage != Some(false)
    };
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
        ("prompt_cache_key", request.prompt_cache_key.is_some()),
        ("prompt_cache_retention", request.prompt_cache_retention.is_some()),
        (
            "stream_options",
            request
                .stream_options
                .as_ref()
                .is_some_and(|options| !is_default_stream(options)),
        ),
    ];
    match unknown.into_iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(unsupported_parameter(
            name,
            &format!("the parameter `{name}`"),
            "leave it out",
        )),
        None => Ok(()),
    }
}

fn limit(settings: &Settings, request: &ChatRequest, model: &str) -> Result<u64, String> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err("max_tokens and max_completion_tokens differ: set only one of them".into());
    }
    Ok(request
        .token_limit()
        .unwrap_or_else(|| default_token_limit(settings, model)))
}

/// Returns the limit for requests that set none.
pub(in crate::anthropic) fn default_token_limit(settings: &Settings, model: &str) -> u64 {
    let is_claude_3 = model.contains("claude-3") && !model.contains("claude-3-7") && !model.contains("claude-3.7");
    let default = || if is_claude_3 { CLAUDE_3_LIMIT } else { DEFAULT_LIMIT };
    settings.default_max_tokens.unwrap_or_else(default)
}

fn within_one(name: &str, value: Option<f64>) -> Result<Option<f64>, String> {
    match value {
        // Not clamped, because the scale differs from that of other APIs.
        Some(number) if !(0.0..=1.0).contains(&number) => {
            let nearest = if number > 1.0 { "1" } else { "0" };
            let message = format!("invalid `{name}` {number}: the Messages API expects a value from 0 to 1");
            Err(unsupported_value(name, nearest, &message))
        }
        value => Ok(value),
    }
}

/// Returns the id of the end user, whichever field sets it.
fn user(request: &ChatRequest) -> Result<Option<&str>, String> {
    let metadata = request.metadata.iter().flatten();
    if let Some((name, _)) = metadata.clone().find(|(name, _)| *name != "user_id") {
        let message = format!("the Messages API supports only `user_id` in `metadata`, not `{name}`: leave it out");
        return Err(unsupported_value("metadata", "", &message));
    }
    let fields = [request.user.as_deref(), request.safety_identifier.as_deref()];
    let mut ids = metadata.map(|(_, id)| id.as_str()).chain(fields.into_iter().flatten());
    let first = ids.next();
    if ids.any(|other| Some(other) != first) {
        return Err("`user`, `safety_identifier` and `metadata.user_id` differ: set only one of them".into());
    }
    Ok(first)
}

fn tier(tier: &str) -> Result<&'static str, String> {
    match tier {
        "auto" => Ok("auto"),
        "default" | "standard_only" => Ok("standard_only"),
        other => {
            let message = format!("unsupported service tier `{other}`: expected auto or default");
            Err(unsupported_value("service_tier", "", &message))
        }
    }
}

/// The reasoning effort in the form that the model supports.
///
/// According to the vendor's pages on adaptive thinking, extended thinking and effort, models up to Claude 4.5 think within
/// a budget of tokens, while later ones decide for themselves and reject a budget.
#[derive(Debug, PartialEq)]
struct Effort<'a> {
    /// The member `thinking`.
    thinking: Value,
    /// The member `effort` of `output_config`.
    level: Option<&'a str>,
}

impl<'a> Effort<'a> {
    /// Converts a reasoning effort. A budget is a share of `max_tokens`.
    fn new(effort: &'a str, form: Thinking, model: &str, max_tokens: u64) -> Result<Self, String> {
        if effort == "none" {
            return Ok(Self {
                thinking: json!({"type": "disabled"}),
                level: None,
            });
        }
        let Some(percent) = claude::percent_of_limit(effort) else {
            let nearest = if effort == "minimal" { "low" } else { "" };
            let message =
                format!("unsupported reasoning effort `{effort}`: expected none, low, medium, high, xhigh or max");
            return Err(unsupported_value("reasoning_effort", nearest, &message));
        };
        let has_budget = match form {
            Thinking::ByModel => claude::supports_only_budgets(model),
            Thinking::Adaptive => false,
            Thinking::Budget => true,
        };
        if !has_budget {
            return Ok(Self {
                thinking: json!({"type": "adaptive"}),
                level: Some(effort),
            });
        }
        let Some(budget) = claude::budget(percent, max_tokens) else {
            let message = format!(
                "the token limit {max_tokens} is too low for thinking, which needs more than {} tokens: raise \
                 the limit, or set the reasoning effort to none",
                claude::MIN_BUDGET
            );
            return Err(unsupported_value("reasoning_effort", "none", &message));
        };
        Ok(Self {
            thinking: json!({"type": "enabled", "budget_tokens": budget}),
            level: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(effort: &str, model: &str, max_tokens: u64, thinking: Value, level: Option<&str>) {
        let found = Effort::new(effort, Thinking::ByModel, model, max_tokens).unwrap();
        assert_eq!(found, Effort { thinking, level }, "{model}");
    }

    #[test]
    fn newer_models_think_adaptively() {
        for model in [
            "claude-opus-4-6",
            "claude-opus-4-8-20260528",
            "claude-sonnet-5",
            "glm-5",
        ] {
            check("low", model, 100, json!({"type": "adaptive"}), Some("low"));
        }
    }

    #[test]
    fn older_models_get_a_share_of_the_limit() {
        let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
        for model in [
            "claude-sonnet-4-5",
            "claude-opus-4@20250514",
            "anthropic/claude-3.7-sonnet",
        ] {
            check("medium", model, 10_000, budget(5000), None);
        }
        check("low", "claude-haiku-4-5", 2000, budget(1024), None);
        check("max", "claude-haiku-4-5", 1025, budget(1024), None);
        let error = Effort::new("high", Thinking::Budget, "m", 1024).unwrap_err();
        assert!(error.contains("raise the limit"), "{error}");
    }

    #[test]
    fn none_disables_thinking_and_unknown_efforts_are_rejected() {
        check("none", "claude-sonnet-5", 1, json!({"type": "disabled"}), None);
        check("none", "claude-haiku-4-5", 1, json!({"type": "disabled"}), None);
        let error = Effort::new("minimal", Thinking::ByModel, "m", 9).unwrap_err();
        assert!(error.contains("`minimal`"), "{error}");
    }
}
