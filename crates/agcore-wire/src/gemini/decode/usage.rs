//! Token counts, converted from the names of this API to those of [`Usage`].

use agcore_chat::{CompletionTokensDetails, Extra, PromptTokensDetails, Usage};
use serde_json::{Result, Value};

use crate::decode::{json::JsonReader, lenient::is_blank};

/// The latest token counts of a reply. A count that is zero is usually left out.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RawUsage {
    /// Includes cached tokens, but not the results of tools that the vendor runs.
    prompt: Option<u64>,
    cached: Option<u64>,
    /// Without thoughts.
    candidates: Option<u64>,
    thoughts: Option<u64>,
    tool_use: Option<u64>,
    total: Option<u64>,
    service_tier: Option<Box<str>>,
    /// Details by modality, and other members, as JSON text.
    members: Vec<(Box<str>, Box<str>)>,
}

impl RawUsage {
    /// Reads the counts of a chunk, which replace earlier ones. Counts that are missing in it are kept. Returns whether anything
    /// changed.
    pub(super) fn update(&mut self, json: &mut JsonReader<'_>) -> Result<bool> {
        let (mut members, mut has_changed) = (json.object("usage metadata")?, false);
        while let Some(name) = json.next_name(&mut members)? {
            let count = match &*name {
                "promptTokenCount" => &mut self.prompt,
                "cachedContentTokenCount" => &mut self.cached,
                "candidatesTokenCount" => &mut self.candidates,
                "thoughtsTokenCount" => &mut self.thoughts,
                "toolUsePromptTokenCount" => &mut self.tool_use,
                "totalTokenCount" => &mut self.total,
                other => {
                    has_changed |= self.update_member(other, json)?;
                    continue;
                }
            };
            let later = json.count()?.or(*count);
            has_changed |= *count != later;
            *count = later;
        }
        Ok(has_changed)
    }

    fn update_member(&mut self, name: &str, json: &mut JsonReader<'_>) -> Result<bool> {
        let known = self.members.iter_mut().find(|(known, _)| **known == *name);
        if known.as_ref().is_some_and(|(_, before)| json.skip_same(before)) {
            return Ok(false);
        }
        let raw = json.raw()?;
        match known {
            Some((_, before)) => *before = raw.into(),
            None => self.members.push((name.into(), raw.into())),
        }
        if name == "serviceTier" {
            self.service_tier = serde_json::from_str(raw).ok();
        }
        Ok(true)
    }

    /// Returns whether the length of the prompt is known.
    pub(super) fn has_prompt(&self) -> bool {
        self.prompt.is_some()
    }

    /// Returns whether the model generated nothing.
    pub(super) fn is_output_empty(&self) -> bool {
        self.candidates.unwrap_or(0) == 0
    }

    /// Returns the service tier that processed the request.
    pub(super) fn service_tier(&self) -> Option<&str> {
        self.service_tier.as_deref()
    }

    /// Returns the normalized usage, or `None` if there is no count.
    pub(super) fn normalized(&self) -> Option<Usage> {
        self.prompt.or(self.candidates).or(self.thoughts).or(self.total)?;
        let members: Vec<(&str, Value)> = self
            .members
            .iter()
            .filter_map(|(name, raw)| member(name, raw))
            .collect();
        let audio = |name: &str| {
            let (_, details) = members.iter().find(|(known, _)| *known == name)?;
            audio_tokens(details)
        };
        let (prompt_audio, output_audio) = (audio("promptTokensDetails"), audio("candidatesTokensDetails"));
        let mut extra = Extra::default();
        for (name, value) in members {
            extra.insert(name, value);
        }
        Some(Usage {
            prompt_tokens: self.input(),
            completion_tokens: self.output(),
            total_tokens: self.total,
            prompt_tokens_details: PromptTokensDetails {
                cached_tokens: self.cached,
                audio_tokens: prompt_audio,
                ..PromptTokensDetails::default()
            },
            completion_tokens_details: CompletionTokensDetails {
                reasoning_tokens: self.thoughts,
                audio_tokens: output_audio,
                ..CompletionTokensDetails::default()
            },
            cost: None,
            extra,
        })
    }

    fn input(&self) -> Option<u64> {
        let tool_use = self.tool_use.unwrap_or(0);
        self.prompt.map(|prompt| prompt.saturating_add(tool_use))
    }

    /// Returns all generated tokens. Without any count of them, the total shows whether there are none.
    fn output(&self) -> Option<u64> {
        match (self.candidates, self.thoughts) {
            (None, None) => self.total?.checked_sub(self.input()?),
            (candidates, thoughts) => Some(candidates.unwrap_or(0).saturating_add(thoughts.unwrap_or(0))),
        }
    }
}

fn member<'a>(name: &'a str, raw: &str) -> Option<(&'a str, Value)> {
    let value: Value = serde_json::from_str(raw).ok()?;
    (!is_blank(&value)).then_some((name, value))
}

/// Returns the count of the modality `AUDIO` in a list of details.
fn audio_tokens(details: &Value) -> Option<u64> {
    let is_audio = |entry: &&Value| entry.get("modality").is_some_and(|modality| modality == "AUDIO");
    details.as_array()?.iter().find(is_audio)?.get("tokenCount")?.as_u64()
}
