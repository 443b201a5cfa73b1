//! Chunks of a stream and whole replies. One visitor reads both, and emits deltas as it reads.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess},
};
use serde_json::Value;

use super::{
    call::{CallsSeed, FunctionPart},
    message::MessageParts,
    state::State,
    usage::{GroqMember, ParsedUsage},
};
use crate::{
    decode::lenient::{
        LenientCount, LenientStr, LenientString, MemberName, NonEmptyText, is_absent_error, is_blank, or_absent_list,
        or_absent_object, skip,
    },
    delta::{Place, ReplyDelta},
    openai_chat::vendor::{
        OBFUSCATION, REASONING, REASONING_CONTENT, REASONING_DETAILS, THINKING_BLOCKS, USAGE_BREAKDOWN, X_GROQ,
    },
};

/// The contents of a chunk apart from its deltas.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Whether it has an array of choices.
    pub(super) has_list: bool,
    /// Whether that array has elements.
    pub(super) has_choices: bool,
    /// The error in it or in one of its choices.
    pub(super) error: Option<Value>,
    /// Whether a choice has the finish reason `error`.
    pub(super) finished_with_error: bool,
    /// Whether its `object` is `error`, as vLLM sent it until 0.10.1.
    pub(super) is_error: bool,
    /// The usage in one of its choices, as Moonshot sends it.
    choice_usage: ParsedUsage,
}

/// The contents of the choices of a chunk.
#[derive(Debug, Clone, Copy)]
enum ChoiceContents<'de> {
    /// There are no choices.
    Nothing,
    /// A single choice with nothing but this text, borrowed from the input.
    OnlyText(&'de str),
    /// Anything else.
    Other,
}

impl<'de> ChoiceContents<'de> {
    /// Adds the contents of a choice.
    fn add(&mut self, delta: &MessageParts<'de>, message: &MessageParts<'de>) {
        *self = match (*self, delta.only_text()) {
            (Self::Nothing, Some(text)) if message.is_empty() => Self::OnlyText(text),
            _ => Self::Other,
        };
    }

    fn only_text(self) -> Option<&'de str> {
        match self {
            Self::OnlyText(text) => Some(text),
            Self::Nothing | Self::Other => None,
        }
    }
}

/// Reads a chunk and emits its deltas. Also returns its text if it contains nothing else.
///
/// The caller must discard the deltas if this returns an error.
pub(super) fn read<'de>(
    data: &'de [u8],
    state: &mut State,
    out: &mut Vec<ReplyDelta>,
) -> serde_json::Result<(Summary, Option<&'de str>)> {
    // Checking UTF-8 at once is faster than string by string. If it is invalid, reading bytes gives the position.
    match std::str::from_utf8(data) {
        Ok(text) => read_from(serde_json::Deserializer::from_str(text), state, out),
        Err(_) => read_from(serde_json::Deserializer::from_slice(data), state, out),
    }
}

fn read_from<'de, R: serde_json::de::Read<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
    state: &mut State,
    out: &mut Vec<ReplyDelta>,
) -> serde_json::Result<(Summary, Option<&'de str>)> {
    let summary = ChunkSeed { state, out }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(summary)
}

struct ChunkSeed<'a> {
    state: &'a mut State,
    out: &'a mut Vec<ReplyDelta>,
}

impl<'de> DeserializeSeed<'de> for ChunkSeed<'_> {
    type Value = (Summary, Option<&'de str>);
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for ChunkSeed<'_> {
    type Value = (Summary, Option<&'de str>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a chat completion or a chunk of one")
    }

    or_absent_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self { state, out } = self;
        let (mut summary, mut contents) = (Summary::default(), ChoiceContents::Nothing);
        let (begin, mut has_news) = (out.len(), false);
        let (mut usage, mut groq) = (ParsedUsage::default(), ParsedUsage::default());
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            match name.as_str() {
                "choices" => {
                    summary.has_list = map.next_value_seed(ChoicesSeed {
                        state,
                        out,
                        summary: &mut summary,
                        contents: &mut contents,
                    })?;
                }
                "id" => has_news |= fill(&mut map, &mut state.start.id)?,
                "model" => has_news |= fill(&mut map, &mut state.start.model)?,
                "system_fingerprint" => {
                    has_news |= fill(&mut map, &mut state.start.system_fingerprint)?;
                }
                "service_tier" => has_news |= fill(&mut map, &mut state.start.service_tier)?,
                "created" if state.start.created.is_none() => {
                    state.start.created = map.next_value::<LenientCount>()?.0;
                    has_news |= state.start.created.is_some();
                }
                "created" | OBFUSCATION => skip(&mut map)?,
                "object" => summary.is_error |= map.next_value::<LenientStr<'de>>()?.0 == "error",
                "usage" => usage = map.next_value()?,
                X_GROQ => {
                    let member = map.next_value::<GroqMember>()?;
                    groq = member.usage;
                    if !is_blank(&member.usage_breakdown) {
                        let value = serde_json::json!({ USAGE_BREAKDOWN: member.usage_breakdown });
                        let (place, name) = (Place::Response, X_GROQ.into());
                        out.push(ReplyDelta::Member { place, name, value });
                    }
                    note_error(&mut summary, member.error);
                }
                "error" => note_error(&mut summary, map.next_value()?),
                other => {
                    let place = Place::Response;
                    let member = state.member(place, other, &mut map)?;
                    out.extend(member.map(|(name, value)| ReplyDelta::Member { place, name, value }));
                }
            }
        }
        if summary.has_choices || has_news {
            state.emit_start(has_news, begin, out);
        }
        let usage = ParsedUsage(usage.0.or(summary.choice_usage.0.take()));
        let has_usage = usage.0.is_some() || groq.0.is_some();
        if has_usage {
            emit_usage(state, usage, groq, out);
        }
        // A single delta is the text: anything else in the chunk would have emitted another one.
        let is_only_text = out.len() == begin + 1 && !has_news && !has_usage && !summary.is_failure();
        Ok((summary, contents.only_text().filter(|_| is_only_text)))
    }
}

impl Summary {
    /// Returns whether it reports a failure.
    fn is_failure(&self) -> bool {
        self.error.is_some() || self.finished_with_error || self.is_error
    }
}

/// Reads a member of the start unless it is known already. Returns whether it is known now and was not before.
fn fill<'de, A: MapAccess<'de>>(map: &mut A, place: &mut Option<String>) -> Result<bool, A::Error> {
    if place.is_some() {
        return skip(map).map(|()| false);
    }
    *place = map.next_value::<LenientString>()?.0;
    Ok(place.is_some())
}

/// Emits usage. Groq's copy counts only if there is no usage at the top level.
fn emit_usage(
    state: &mut State,
    ParsedUsage(top): ParsedUsage,
    ParsedUsage(groq): ParsedUsage,
    out: &mut Vec<ReplyDelta>,
) {
    state.has_usage |= top.is_some();
    let usage = top.or_else(|| groq.filter(|_| !state.has_usage));
    out.extend(usage.map(|usage| ReplyDelta::Usage(state.complete_usage(usage))));
}

fn note_error(summary: &mut Summary, error: Value) {
    if !is_absent_error(&error) {
        summary.error.get_or_insert(error);
    }
}

/// Reads the choices. Returns whether there is an array of them.
struct ChoicesSeed<'a, 'de> {
    state: &'a mut State,
    out: &'a mut Vec<ReplyDelta>,
    summary: &'a mut Summary,
    contents: &'a mut ChoiceContents<'de>,
}

impl<'de> DeserializeSeed<'de> for ChoicesSeed<'_, 'de> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for ChoicesSeed<'_, 'de> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of choices")
    }

    or_absent_list!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let Self {
            state,
            out,
            summary,
            contents,
        } = self;
        loop {
            let seed = ChoiceSeed {
                state,
                out,
                summary,
                contents,
            };
            if seq.next_element_seed(seed)?.is_none() {
                break;
            }
            summary.has_choices = true;
        }
        Ok(true)
    }
}

struct ChoiceSeed<'a, 'de> {
    state: &'a mut State,
    out: &'a mut Vec<ReplyDelta>,
    summary: &'a mut Summary,
    contents: &'a mut ChoiceContents<'de>,
}

impl<'de> DeserializeSeed<'de> for ChoiceSeed<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for ChoiceSeed<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a choice")
    }

    or_absent_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self {
            state,
            out,
            summary,
            contents,
        } = self;
        let (mut index, mut finish, mut members) = (0, None, Vec::new());
        let (mut delta, mut message) = (MessageParts::default(), MessageParts::default());
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            match name.as_str() {
                "index" => {
                    let count = map.next_value::<LenientCount>()?.0;
                    index = count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
                }
                "delta" => delta = map.next_value_seed(MessageSeed { state, choice: index })?,
                "message" => message = map.next_value_seed(MessageSeed { state, choice: index })?,
                "finish_reason" => finish = map.next_value::<NonEmptyText>()?.0,
                "error" => note_error(summary, map.next_value()?),
                "usage" => summary.choice_usage = map.next_value()?,
                other => members.extend(state.member(Place::Choice(index), other, &mut map)?),
            }
        }
        contents.add(&delta, &message);
        state.emit_choice(index, delta, message, out);
        let place = Place::Choice(index);
        out.extend(
            members
                .into_iter()
                .map(|(name, value)| ReplyDelta::Member { place, name, value }),
        );
        match finish {
            // An error object, if there is one, has the kind of failure.
            Some(word) if word == "error" => summary.finished_with_error = true,
            Some(word) => state.finish(index, &word, out),
            None => {}
        }
        Ok(())
    }
}

/// Reads a delta or message.
struct MessageSeed<'a> {
    state: &'a mut State,
    /// The index of the choice, or 0 while it is unknown.
    choice: u32,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = MessageParts<'de>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for MessageSeed<'_> {
    type Value = MessageParts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message or delta")
    }

    or_absent_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut parts = MessageParts::default();
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            match name.as_str() {
                "role" => skip(&mut map)?,
                "content" => parts.content = map.next_value()?,
                "refusal" => parts.refusal = non_empty(&mut map)?,
                REASONING_CONTENT => parts.reasoning_content = non_empty(&mut map)?,
                REASONING => parts.reasoning = non_empty(&mut map)?,
                REASONING_DETAILS => parts.details = list(map.next_value()?),
                THINKING_BLOCKS => parts.thinking = list(map.next_value()?),
                "tool_calls" => {
                    let seed = CallsSeed {
                        vendor: self.state.vendor(),
                        whole: self.state.is_whole(),
                    };
                    parts.calls = map.next_value_seed(seed)?;
                }
                "function_call" => {
                    parts.function_call = map.next_value::<FunctionPart>()?.legacy().map(Box::new);
                }
                "audio" => parts.audio = map.next_value()?,
                other => {
                    let member = self.state.member(Place::Message(self.choice), other, &mut map)?;
                    parts.members.extend(member);
                }
            }
        }
        Ok(parts)
    }
}

/// Returns the entries of a list. Some servers send a single entry without one.
fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(entries) => entries,
        other if is_blank(&other) => Vec::new(),
        single => vec![single],
    }
}

fn non_empty<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Text>, A::Error> {
    Ok(map.next_value::<NonEmptyText>()?.0)
}
