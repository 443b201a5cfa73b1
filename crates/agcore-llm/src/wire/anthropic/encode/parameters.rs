//! [`Parameters`]: the parameters of a request in the API's words. One that it does not have is an error.

use std::collections::BTreeMap;

use agcore_chat::{ChatRequest, JsonSchemaFormat, ResponseFormat, StopSequence, StreamOptions};
use serde::{Serialize, ser::SerializeMap};
use serde_json::{Value, json};

use super::{super::settings::Settings, effort::Effort, schema};

/// The limit of generated tokens where nobody sets one: below what any model since Claude 4 may generate, and what a
/// whole reply brings within ten minutes.
const USUAL_LIMIT: u64 = 20_000;

/// What the models of Claude 3 may generate.
const OLDER_LIMIT: u64 = 4096;

/// The parameters that are set.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    pub(super) max_tokens: u64,
    temperature: Option<f64>,
    top_p: Option<f64>,
    stop: Vec<&'a str>,
    effort: Option<Effort<'a>>,
    /// The answer's form.
    format: Option<Value>,
    user: Option<&'a str>,
    tier: Option<&'static str>,
}

impl<'a> Parameters<'a> {
    pub(super) fn of(settings: &Settings, request: &'a ChatRequest, model: &str) -> Result<Self, String> {
        check_unknown(request)?;
        let max_tokens = limit(settings, request, model)?;
        let effort = request.reasoning_effort.as_deref();
        let effort = effort.map(|effort| Effort::of(effort, settings.thinking, model, max_tokens));
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
            format: request.response_format.as_ref().map(format).transpose()?.flatten(),
            user: user(request)?,
            tier: request.service_tier.as_deref().map(tier).transpose()?,
        })
    }

    /// The names that are written beside those of a request's own fields.
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
        self.format.is_some() || self.effort.as_ref().is_some_and(|effort| effort.effort.is_some())
    }

    /// Writes what bears on the prompt's tokens.
    pub(super) fn write_shared<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        #[derive(Serialize)]
        struct OutputConfig<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            effort: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            format: Option<&'a Value>,
        }
        entry("thinking", self.effort.as_ref().map(|effort| &effort.thinking), map)?;
        if self.has_output_config() {
            let config = OutputConfig {
                effort: self.effort.as_ref().and_then(|effort| effort.effort),
                format: self.format.as_ref(),
            };
            map.serialize_entry("output_config", &config)?;
        }
        Ok(())
    }

    /// Writes what bears on the answer only, the limit aside.
    pub(super) fn write_answer<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        entry("temperature", self.temperature, map)?;
        entry("top_p", self.top_p, map)?;
        entry("stop_sequences", (!self.stop.is_empty()).then_some(&self.stop), map)?;
        entry(
            "metadata",
            self.user.map(|user| BTreeMap::from([("user_id", user)])),
            map,
        )?;
        entry("service_tier", self.tier, map)
    }
}

fn entry<S: SerializeMap, T: Serialize>(name: &str, value: Option<T>, map: &mut S) -> Result<(), S::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, &value))
}

/// Refuses what the API has no word for, unless it asks for what the API does anyway.
fn check_unknown(request: &ChatRequest) -> Result<(), String> {
    let is_text = request.modalities.iter().all(|modality| modality == "text");
    let usual_stream = |options: &StreamOptions| {
        let usual = StreamOptions {
            include_usage: options.include_usage,
            ..StreamOptions::default()
        };
        *options == usual && options.include_usage != Some(false)
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
                .is_some_and(|options| !usual_stream(options)),
        ),
    ];
    match unknown.into_iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(format!("the API does not take the parameter `{name}`: leave it out")),
        None => Ok(()),
    }
}

fn limit(settings: &Settings, request: &ChatRequest, model: &str) -> Result<u64, String> {
    if let (Some(all), Some(visible)) = (request.max_completion_tokens, request.max_tokens)
        && all != visible
    {
        return Err("max_tokens and max_completion_tokens differ: set one of them".into());
    }
    let is_older = model.contains("claude-3") && !model.contains("claude-3-7") && !model.contains("claude-3.7");
    let usual = || if is_older { OLDER_LIMIT } else { USUAL_LIMIT };
    Ok(request
        .token_limit()
        .or(settings.default_max_tokens)
        .unwrap_or_else(usual))
}

fn within_one(name: &str, value: Option<f64>) -> Result<Option<f64>, String> {
    match value {
        Some(number) if !(0.0..=1.0).contains(&number) => Err(format!(
            "the API takes a `{name}` from 0 to 1, not {number}: it is another scale than elsewhere, so it is not cut"
        )),
        value => Ok(value),
    }
}

fn format(format: &ResponseFormat) -> Result<Option<Value>, String> {
    match format {
        ResponseFormat::Text => Ok(None),
        ResponseFormat::JsonSchema(format) => schema_format(format).map(Some),
        ResponseFormat::Other(raw @ Value::Object(_)) => Ok(Some(raw.clone())),
        _ => Err(
            "the API does not take the answer's form `json_object`: give a schema, or ask for JSON in the prompt"
                .into(),
        ),
    }
}

/// A schema is all that the API knows of a form: its name only repeats it, its description goes into the schema, and it is
/// kept to always.
fn schema_format(format: &JsonSchemaFormat) -> Result<Value, String> {
    let name = &format.name;
    let schema = format
        .schema
        .as_ref()
        .ok_or_else(|| format!("the answer's form `{name}` has no schema: set one"))?;
    let mut schema = schema::closed(schema)
        .map_err(|why| format!("the API does not take the schema of the answer's form `{name}`: {why}"))?;
    if let (Some(description), Value::Object(members)) = (&format.description, &mut schema) {
        members
            .entry("description")
            .or_insert_with(|| description.as_str().into());
    }
    Ok(json!({"type": "json_schema", "schema": schema}))
}

/// The end user, under whichever name it is told.
fn user(request: &ChatRequest) -> Result<Option<&str>, String> {
    let metadata = request.metadata.iter().flatten();
    if let Some((name, _)) = metadata.clone().find(|(name, _)| *name != "user_id") {
        return Err(format!(
            "the API takes `user_id` only in `metadata`, not `{name}`: leave it out"
        ));
    }
    let told = [request.user.as_deref(), request.safety_identifier.as_deref()];
    let mut told = metadata.map(|(_, id)| id.as_str()).chain(told.into_iter().flatten());
    let first = told.next();
    if told.any(|other| Some(other) != first) {
        return Err("`user`, `safety_identifier` and `metadata.user_id` differ: set one of them".into());
    }
    Ok(first)
}

fn tier(tier: &str) -> Result<&'static str, String> {
    match tier {
        "auto" => Ok("auto"),
        "default" | "standard_only" => Ok("standard_only"),
        other => Err(format!(
            "the API has no service tier `{other}`: it knows auto and default"
        )),
    }
}
