//! Assistant messages: text, reasoning and calls, and what the vendor wants back with them.

use std::borrow::Cow;

use agcore_chat::{AssistantMessage, Block, CallInput, ContentPart, Extra, FunctionCall, ToolCall, VendorData};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::{
    super::decode::details::{self, REASONING_DETAILS},
    content::WrittenText,
    context::Context,
};
use crate::dialect::ReasoningField;

/// A call must have a name; one without was never run, and its result says so.
const NO_NAME: &str = "unknown_tool";

/// An assistant message as it is written.
pub(super) struct WrittenAssistant<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) message: &'a AssistantMessage,
}

impl Serialize for WrittenAssistant<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (context, message) = (self.context, self.message);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        self.write_content(&mut map)?;
        self.write_reasoning(&mut map)?;
        if message.has_tool_calls() {
            map.serialize_entry("tool_calls", &WrittenCalls { context, message })?;
        }
        if context.dialect.content.refusals {
            write_some(
                "refusal",
                message.refusal.as_deref().filter(|text| !text.is_empty()),
                &mut map,
            )?;
            // The vendor holds the sound itself.
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

impl WrittenAssistant<'_> {
    /// Most other members are notes of an earlier reply, which no vendor takes back.
    fn is_sent(&self, member: &str) -> bool {
        self.context.dialect.content.assistant_members.contains(&member)
    }

    fn write_content<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        let (message, rule) = (self.message, self.context.dialect);
        let thinking = matches!(rule.reasoning.field, ReasoningField::ThinkingParts) && self.has_own_reasoning();
        let mut parts = message.blocks.iter().filter(|block| is_content(block));
        let is_several = parts.next().is_some() && parts.next().is_some();
        let is_plain = message.blocks.iter().all(|block| match block {
            Block::Refusal(_) => !rule.content.refusals,
            Block::Text(_) => true,
            other => !is_content(other),
        });
        if thinking || (rule.content.arrays && (is_several || !is_plain)) {
            return map.serialize_entry(
                "content",
                &WrittenBlocks {
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
        match self.instead_of_text() {
            Some(words) => map.serialize_entry("content", words),
            None if message.has_tool_calls() || message.function_call.is_some() || self.has_refusal() => {
                map.serialize_entry("content", &())
            }
            None => map.serialize_entry("content", ""),
        }
    }

    /// The visible text; refusals are a part of it for a vendor that has no others.
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

    /// What a vendor without the members `refusal` and `audio` gets in their place.
    fn instead_of_text(&self) -> Option<&str> {
        if self.context.dialect.content.refusals {
            return None;
        }
        let transcript = || self.message.audio.as_ref()?.get("transcript")?.as_str();
        self.message.refusal_text().or_else(transcript)
    }

    /// Reasoning is for who made it; where nobody is named, for whoever takes it.
    fn own_reasoning(&self) -> impl Iterator<Item = &str> {
        self.message.blocks.iter().filter_map(|block| match block {
            Block::Reasoning(reasoning) if is_of(self.context, reasoning.vendor.as_ref()) => {
                Some(reasoning.text.as_str())
            }
            _ => None,
        })
    }

    fn has_own_reasoning(&self) -> bool {
        self.own_reasoning().any(|text| !text.is_empty())
    }

    fn write_reasoning<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        let rule = self.context.dialect.reasoning;
        if let ReasoningField::Member(name) = rule.field {
            let is_required = rule.required_with_calls && self.context.is_thinking && self.message.has_tool_calls();
            if is_required || self.has_own_reasoning() {
                map.serialize_entry(name, &Joined(|| self.own_reasoning()))?;
            }
        }
        let mut list = Vec::new();
        for block in &self.message.blocks {
            let Block::Reasoning(reasoning) = block else {
                continue;
            };
            let data =
                vendor_data(self.context, reasoning.vendor.as_ref()).and_then(|data| data.get(REASONING_DETAILS));
            details::append(&mut list, data.and_then(Value::as_array).into_iter().flatten().cloned());
        }
        if list.is_empty() {
            Ok(())
        } else {
            map.serialize_entry(REASONING_DETAILS, &list)
        }
    }

    fn write_function_call<S: SerializeMap>(&self, call: Option<&FunctionCall>, map: &mut S) -> Result<(), S::Error> {
        match call {
            Some(_) if !self.context.dialect.content.legacy_functions => Err(self
                .context
                .refuse("calls in the legacy form", "rewrite `function_call` as a tool call")),
            call => write_some("function_call", call, map),
        }
    }
}

fn is_of(context: &Context<'_>, vendor: Option<&VendorData>) -> bool {
    vendor.is_none_or(|data| data.vendor == context.dialect.name)
}

/// What this vendor wants back; the data of others stays here.
fn vendor_data<'a>(context: &Context<'_>, vendor: Option<&'a VendorData>) -> Option<&'a Value> {
    vendor
        .filter(|data| data.vendor == context.dialect.name)
        .map(|data| &data.data)
}

fn is_content(block: &Block) -> bool {
    matches!(block, Block::Text(_) | Block::Refusal(_) | Block::Other(_))
}

/// Texts one after the other as one string, written without joining them first where there is but one.
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

/// The blocks as parts.
struct WrittenBlocks<'a> {
    context: &'a Context<'a>,
    message: &'a AssistantMessage,
    /// Whether reasoning is among them.
    thinking: bool,
}

impl Serialize for WrittenBlocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_written = |block: &&Block| match block {
            Block::Reasoning(reasoning) => {
                self.thinking && !reasoning.text.is_empty() && is_of(self.context, reasoning.vendor.as_ref())
            }
            // Empty texts are refused by several vendors.
            Block::Text(text) => !text.text.is_empty(),
            other => is_content(other),
        };
        let refusals = self.context.dialect.content.refusals;
        let written = |block| WrittenBlock { block, refusals };
        serializer.collect_seq(self.message.blocks.iter().filter(is_written).map(written))
    }
}

struct WrittenBlock<'a> {
    block: &'a Block,
    /// Whether the vendor has parts for refusals; else they are text.
    refusals: bool,
}

impl Serialize for WrittenBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let none = Extra::new();
        let plain = |text| WrittenText {
            text,
            extra: &none,
            cache: None,
        };
        match self.block {
            Block::Text(block) => WrittenText {
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

struct WrittenCalls<'a> {
    context: &'a Context<'a>,
    message: &'a AssistantMessage,
}

impl Serialize for WrittenCalls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let context = self.context;
        serializer.collect_seq(self.message.tool_calls().map(|call| WrittenCall { context, call }))
    }
}

struct WrittenCall<'a> {
    context: &'a Context<'a>,
    call: &'a ToolCall,
}

impl Serialize for WrittenCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, call } = self;
        let is_custom = matches!(call.input, CallInput::Text(_)) && context.dialect.tools.custom;
        let kind = if is_custom { "custom" } else { "function" };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", context.call_ids.get(&call.id))?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry(
            kind,
            &WrittenInput {
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

/// A call's inner object.
struct WrittenInput<'a> {
    context: &'a Context<'a>,
    call: &'a ToolCall,
    is_custom: bool,
}

impl Serialize for WrittenInput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(
            "name",
            if self.call.name.is_empty() {
                NO_NAME
            } else {
                &self.call.name
            },
        )?;
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
                return Err(self
                    .context
                    .refuse(&format!("the call input {other:?}"), "leave the call out"));
            }
        }
        map.end()
    }
}

impl WrittenInput<'_> {
    /// Servers that parse arguments would refuse the whole request for one bad call; the model sees what it wrote.
    fn must_wrap(&self) -> bool {
        self.context.dialect.tools.parsed_arguments && self.call.check_arguments().is_err()
    }
}
