//! Chunks of a stream and whole replies. The same functions read both, and emit deltas as they read.

use serde_json::{Result, Value, json};

use super::{
    call::{self, FunctionPart},
    content,
    message::MessageParts,
    state::State,
    usage::{GroqMember, ParsedUsage},
};
use crate::{
    decode::{
        json::JsonReader,
        lenient::{is_absent_error, is_blank},
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
) -> Result<(Summary, Option<&'de str>)> {
    let mut json = JsonReader::from_bytes(data)?;
    let summary = read_chunk(&mut json, state, out)?;
    json.end()?;
    Ok(summary)
}

fn read_chunk<'de>(
    json: &mut JsonReader<'de>,
    state: &mut State,
    out: &mut Vec<ReplyDelta>,
) -> Result<(Summary, Option<&'de str>)> {
    let (mut summary, mut contents) = (Summary::default(), ChoiceContents::Nothing);
    let (begin, mut has_news) = (out.len(), false);
    let (mut usage, mut groq) = (ParsedUsage::default(), ParsedUsage::default());
    let mut chunk = json.object("a chat completion or a chunk of one")?;
    while let Some(name) = json.next_name(&mut chunk)? {
        match &*name {
            "choices" => {
                let mut choices = json.list("an array of choices")?;
                summary.has_list = !choices.is_absent();
                while json.next_item(&mut choices)? {
                    read_choice(json, state, &mut summary, &mut contents, out)?;
                    summary.has_choices = true;
                }
            }
            "id" => has_news |= fill(json, &mut state.start.id)?,
            "model" => has_news |= fill(json, &mut state.start.model)?,
            "system_fingerprint" => has_news |= fill(json, &mut state.start.system_fingerprint)?,
            "service_tier" => has_news |= fill(json, &mut state.start.service_tier)?,
            "created" if state.start.created.is_none() => {
                state.start.created = json.count()?;
                has_news |= state.start.created.is_some();
            }
            "created" | OBFUSCATION => json.skip()?,
            "object" => summary.is_error |= json.str()? == "error",
            "usage" => usage = ParsedUsage::read(json)?,
            X_GROQ => {
                let member = GroqMember::read(json)?;
                groq = member.usage;
                if !is_blank(&member.usage_breakdown) {
                    let value = json!({ USAGE_BREAKDOWN: member.usage_breakdown });
                    let (place, name) = (Place::Response, X_GROQ.into());
                    out.push(ReplyDelta::Member { place, name, value });
                }
                note_error(&mut summary, member.error);
            }
            "error" => note_error(&mut summary, json.value()?),
            other => {
                let place = Place::Response;
                let member = state.member(place, other, json)?;
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

impl Summary {
    /// Returns whether it reports a failure.
    fn is_failure(&self) -> bool {
        self.error.is_some() || self.finished_with_error || self.is_error
    }
}

/// Reads a member of the start unless it is known already. Returns whether it is known now and was not before.
fn fill(json: &mut JsonReader<'_>, place: &mut Option<String>) -> Result<bool> {
    if place.is_some() {
        return json.skip().map(|()| false);
    }
    *place = json.non_empty_string()?;
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

fn read_choice<'de>(
    json: &mut JsonReader<'de>,
    state: &mut State,
    summary: &mut Summary,
    contents: &mut ChoiceContents<'de>,
    out: &mut Vec<ReplyDelta>,
) -> Result<()> {
    let (mut index, mut finish, mut members) = (0, None, Vec::new());
    let (mut delta, mut message) = (MessageParts::default(), MessageParts::default());
    let mut choice = json.object("a choice")?;
    if choice.is_absent() {
        return Ok(());
    }
    while let Some(name) = json.next_name(&mut choice)? {
        match &*name {
            "index" => {
                let count = json.count()?;
                index = count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
            }
            "delta" => delta = read_message(json, state, index)?,
            "message" => message = read_message(json, state, index)?,
            "finish_reason" => finish = json.text()?,
            "error" => note_error(summary, json.value()?),
            "usage" => summary.choice_usage = ParsedUsage::read(json)?,
            other => members.extend(state.member(Place::Choice(index), other, json)?),
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

/// Reads a delta or message. `choice` is the index of the choice, or 0 while it is unknown.
fn read_message<'de>(json: &mut JsonReader<'de>, state: &mut State, choice: u32) -> Result<MessageParts<'de>> {
    let mut parts = MessageParts::default();
    let mut message = json.object("a message or delta")?;
    while let Some(name) = json.next_name(&mut message)? {
        match &*name {
            "role" => json.skip()?,
            "content" => parts.content = content::read(json)?,
            "refusal" => parts.refusal = json.text()?,
            REASONING_CONTENT => parts.reasoning_content = json.text()?,
            REASONING => parts.reasoning = json.text()?,
            REASONING_DETAILS => parts.details = list(json.value()?),
            THINKING_BLOCKS => parts.thinking = list(json.value()?),
            "tool_calls" => parts.calls = call::read_list(json, state.vendor(), state.is_whole())?,
            "function_call" => parts.function_call = FunctionPart::read(json)?.legacy().map(Box::new),
            "audio" => parts.audio = Some(json.value()?).filter(|audio| !audio.is_null()),
            other => parts.members.extend(state.member(Place::Message(choice), other, json)?),
        }
    }
    Ok(parts)
}

/// Returns the entries of a list. Some servers send a single entry without one.
fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(entries) => entries,
        other if is_blank(&other) => Vec::new(),
        single => vec![single],
    }
}
