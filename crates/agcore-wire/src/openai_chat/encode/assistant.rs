//! [`EncodedAssistant`]: assistant messages with text, reasoning, calls, and the vendor data that must be sent back.

use std::borrow::Cow;

use agcore_chat::{AssistantMessage, Block, CallInput, ContentPart, Extra, FunctionCall, ToolCall};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::{
    content::EncodedText,
    context::{Context, belongs_to_vendor, vendor_data},
};
use crate::{
    dialect::ReasoningField,
    encode::tool_names,
    openai_chat::{
        decode::reasoning_details,
        vendor::{REASONING, REASONING_CONTENT, REASONING_DETAILS, REASONING_MEMBER, THINKING_BLOCKS},
    },
};

/// The lists in vendor data that are also known as members of an assistant message, in histories of other clients.
const VENDOR_LISTS: &[&str] = &[REASONING_DETAILS, THINKING_BLOCKS];

/// The JSON of an assistant message.
pub(super) struct EncodedAssistant<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) message: &'a AssistantMessage,
}

impl Serialize for EncodedAssistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (context, message) = (self.context, self.message);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        self.write_content(&mut map)?;
        self.write_reasoning(&mut map)?;
        if message.has_tool_calls() {
            map.serialize_entry("tool_calls", &EncodedCalls { context, message })?;
        }
        if context.dialect.content.refusals {
            write_some(
                "refusal",
                message.refusal.as_deref().filter(|text| !text.is_empty()),
                &mut map,
            )?;
            // The vendor keeps the audio itself.
            write_some("audio", message.audio.as_ref().and_then(audio_reference), &mut map)?;
        }
        context.write_name(message.name.as_deref(), &mut map)?;
        self.write_function_call(message.function_call.as_ref(), &mut map)?;
        for (name, value) in message.extra.iter().filter(|(name, _)| self.is_sent(name)) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn write_some<S: SerializeMap, T: Serialize>(name: &str, value: Option<T>, map: &mut S) -> Result<(), S::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(name, &value))
}

fn audio_reference(audio: &Value) -> Option<Value> {
    audio.get("id").map(|id| json!({ "id": id }))
}

impl EncodedAssistant<'_> {
    /// Returns whether a member without a field is sent. Most are annotations of a reply, which vendors do not accept.
    fn is_sent(&self, member: &str) -> bool {
        // The lists of a decoded reply are on its blocks, and written from there.
        let is_written = |list: &&str| self.vendor_lists(list).next().is_some();
        self.context.dialect.content.assistant_members.contains(&member)
            && !VENDOR_LISTS.iter().filter(|list| **list == member).any(is_written)
    }

    /// Returns the lists with this name in the data of the reasoning, for the vendor that created them.
    fn vendor_lists(&self, name: &str) -> impl Iterator<Item = &Vec<Value>> {
        let blocks = self.message.blocks.iter();
        let data = blocks.filter_map(|block| match block {
            Block::Reasoning(reasoning) => vendor_data(self.context, reasoning.vendor.as_ref()),
            _ => None,
        });
        data.filter_map(move |data| data.get(name)?.as_array())
    }

    fn write_content<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        let (message, rule) = (self.message, self.context.dialect);
        let thinking = matches!(rule.reasoning.field, ReasoningField::ThinkingParts) && self.has_reasoning();
        let mut parts = message.blocks.iter().filter(|block| is_content(block));
        let has_several = parts.next().is_some() && parts.next().is_some();
        let is_plain = message.blocks.iter().all(|block| match block {
            Block::Refusal(_) => !rule.content.refusals,
            Block::Text(_) => true,
            other => !is_content(other),
        });
        if thinking || (rule.content.arrays && (has_several || !is_plain)) {
            return map.serialize_entry(
                "content",
                &EncodedBlocks {
                    context: self.context,
                    message,
                    thinking,
                },
            );
        }
        let text = self.text();
        if !text.is_empty() {
            return map.serialize_entry("content", &text);
        }
        match self.fallback_text() {
            Some(text) => map.serialize_entry("content", text),
            None if message.has_tool_calls() || message.function_call.is_some() || self.has_refusal() => {
                map.serialize_entry("content", &())
            }
            None => map.serialize_entry("content", ""),
        }
    }

    /// Returns the visible text. It includes refusals if the vendor has no other place for them.
    fn text(&self) -> Cow<'_, str> {
        let is_refusal = |block: &Block| matches!(block, Block::Refusal(_));
        if self.context.dialect.content.refusals || !self.message.blocks.iter().any(is_refusal) {
            return self.message.text();
        }
        let texts = self.message.blocks.iter().filter_map(|block| match block {
            Block::Text(block) => Some(block.text.as_str()),
            Block::Refusal(part) => Some(part.refusal.as_str()),
            _ => None,
        });
        Cow::Owned(texts.collect())
    }

    fn has_refusal(&self) -> bool {
        self.context.dialect.content.refusals && self.message.refusal_text().is_some()
    }

    /// Returns the text for a vendor that does not support the members `refusal` and `audio`.
    fn fallback_text(&self) -> Option<&str> {
        if self.context.dialect.content.refusals {
            return None;
        }
        let transcript = || self.message.audio.as_ref()?.get("transcript")?.as_str();
        self.message.refusal_text().or_else(transcript)
    }

    /// Returns the reasoning that may be sent to this vendor: its own, and reasoning of unknown origin.
    fn reasoning(&self) -> impl Iterator<Item = &str> {
        self.message.blocks.iter().filter_map(|block| match block {
            Block::Reasoning(reasoning) if belongs_to_vendor(self.context, reasoning.vendor.as_ref()) => {
                Some(reasoning.text.as_str())
            }
            _ => None,
        })
    }

    fn has_reasoning(&self) -> bool {
        self.reasoning().any(|text| !text.is_empty())
    }

    fn write_reasoning<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        let rule = self.context.dialect.reasoning;
        if let ReasoningField::Member(name) = rule.field {
            let is_required = rule.required_with_calls && self.context.is_thinking && self.message.has_tool_calls();
            if is_required || self.has_reasoning() {
                map.serialize_entry(name, &Joined(|| self.reasoning()))?;
            }
        }
        if rule.field == ReasoningField::AsReceived
            && self.message.has_tool_calls()
            && let Some(name) = self.received_member()
        {
            map.serialize_entry(name, &Joined(|| self.reasoning()))?;
        }
        let mut details = Vec::new();
        for list in self.vendor_lists(REASONING_DETAILS) {
            reasoning_details::append(&mut details, list.iter().cloned());
        }
        if !details.is_empty() {
            map.serialize_entry(REASONING_DETAILS, &details)?;
        }
        // Gateways send them, but no vendor of its own models takes them.
        let thinking: Vec<&Value> = self.vendor_lists(THINKING_BLOCKS).flatten().collect();
        if thinking.is_empty()
            || !self
                .context
                .dialect
                .content
                .assistant_members
                .contains(&THINKING_BLOCKS)
        {
            Ok(())
        } else {
            map.serialize_entry(THINKING_BLOCKS, &thinking)
        }
    }

    /// Returns the member in which the reasoning arrived, or the usual one if its origin is unknown.
    fn received_member(&self) -> Option<&'static str> {
        self.message.blocks.iter().find_map(|block| {
            let Block::Reasoning(reasoning) = block else {
                return None;
            };
            if reasoning.text.is_empty() {
                return None;
            }
            if reasoning.vendor.is_none() {
                return Some(REASONING_CONTENT);
            }
            let name = vendor_data(self.context, reasoning.vendor.as_ref())?
                .get(REASONING_MEMBER)?
                .as_str()?;
            [REASONING_CONTENT, REASONING].into_iter().find(|known| *known == name)
        })
    }

    fn write_function_call<S: SerializeMap>(&self, call: Option<&FunctionCall>, map: &mut S) -> Result<(), S::Error> {
        match call {
            Some(_) if !self.context.dialect.content.legacy_functions => {
                Err(self
                    .context
                    .refuse("messages", "`function_call`", "rewrite it as a tool call"))
            }
            call => {
                let call = call.map(|call| FunctionCall {
                    name: tool_names::of_call(&call.name).into_owned(),
                    ..call.clone()
                });
                write_some("function_call", call, map)
            }
        }
    }
}

fn is_content(block: &Block) -> bool {
    matches!(block, Block::Text(_) | Block::Refusal(_) | Block::Other(_))
}

/// The concatenation of texts. A single one is written without a copy.
struct Joined<F>(F);

impl<'a, F: Fn() -> I, I: Iterator<Item = &'a str>> Serialize for Joined<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut texts = (self.0)();
        match (texts.next(), texts.next()) {
            (None, _) => serializer.serialize_str(""),
            (Some(only), None) => serializer.serialize_str(only),
            _ => serializer.serialize_str(&(self.0)().collect::<String>()),
        }
    }
}

/// The JSON of blocks as content parts.
struct EncodedBlocks<'a> {
    context: &'a Context<'a>,
    message: &'a AssistantMessage,
    /// Whether to include reasoning.
    thinking: bool,
}

impl Serialize for EncodedBlocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_included = |block: &&Block| match block {
            Block::Reasoning(reasoning) => {
                self.thinking
                    && !reasoning.text.is_empty()
                    && belongs_to_vendor(self.context, reasoning.vendor.as_ref())
            }
            // Several vendors reject empty texts.
            Block::Text(text) => !text.text.is_empty(),
            other => is_content(other),
        };
        let refusals = self.context.dialect.content.refusals;
        let encoded = |block| EncodedBlock { block, refusals };
        serializer.collect_seq(self.message.blocks.iter().filter(is_included).map(encoded))
    }
}

struct EncodedBlock<'a> {
    block: &'a Block,
    /// Whether the vendor supports refusal parts; otherwise refusals become text.
    refusals: bool,
}

impl Serialize for EncodedBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let no_extra = Extra::new();
        let plain = |text| EncodedText {
            text,
            extra: &no_extra,
            cache: None,
        };
        match self.block {
            Block::Text(block) => EncodedText {
                extra: &block.extra,
                ..plain(&block.text)
            }
            .serialize(serializer),
            Block::Reasoning(reasoning) => {
                let text = plain(&reasoning.text);
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("type", "thinking")?;
                map.serialize_entry("thinking", &[text])?;
                map.end()
            }
            Block::Refusal(part) if self.refusals => ContentPart::Refusal(part.clone()).serialize(serializer),
            Block::Refusal(part) => plain(&part.refusal).serialize(serializer),
            Block::Other(raw) => raw.serialize(serializer),
            _ => serializer.serialize_unit(),
        }
    }
}

struct EncodedCalls<'a> {
    context: &'a Context<'a>,
    message: &'a AssistantMessage,
}

impl Serialize for EncodedCalls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        serializer.collect_seq(self.message.tool_calls().map(|call| EncodedCall { context, call }))
    }
}

struct EncodedCall<'a> {
    context: &'a Context<'a>,
    call: &'a ToolCall,
}

impl Serialize for EncodedCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, call } = self;
        let is_custom = matches!(call.input, CallInput::Text(_)) && context.dialect.tools.custom;
        let kind = if is_custom { "custom" } else { "function" };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", context.call_ids.get(&call.id))?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry(
            kind,
            &EncodedInput {
                context,
                call,
                is_custom,
            },
        )?;
        if let Some(Value::Object(members)) = vendor_data(context, call.vendor.as_ref()) {
            members
                .iter()
                .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        }
        map.end()
    }
}

/// The JSON of the inner object of a call.
struct EncodedInput<'a> {
    context: &'a Context<'a>,
    call: &'a ToolCall,
    is_custom: bool,
}

impl Serialize for EncodedInput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("name", &tool_names::of_call(&self.call.name))?;
        match &self.call.input {
            CallInput::Text(text) if self.is_custom => map.serialize_entry("input", text)?,
            CallInput::Text(text) => {
                map.serialize_entry("arguments", &json!({ "input": text }).to_string())?;
            }
            CallInput::Arguments(raw) if raw.trim().is_empty() => {
                map.serialize_entry("arguments", "{}")?;
            }
            CallInput::Arguments(raw) if self.must_wrap() => {
                map.serialize_entry("arguments", &json!({ "invalid_json": raw }).to_string())?;
            }
            CallInput::Arguments(raw) => map.serialize_entry("arguments", raw)?,
            other => {
                return Err(self.context.refuse(
                    "messages",
                    &format!("the call input {other:?}"),
                    "leave the call out",
                ));
            }
        }
        map.end()
    }
}

impl EncodedInput<'_> {
    /// Returns whether the arguments must be wrapped in valid JSON. Servers that parse arguments reject the whole request if
    /// they are invalid; wrapped, the model sees what it generated.
    fn must_wrap(&self) -> bool {
        self.context.dialect.tools.parsed_arguments && self.call.check_arguments().is_err()
    }
}
