//! Assistant messages as blocks.

use std::borrow::Cow;

use agcore_chat::{AssistantMessage, Block, CallInput, Reasoning, TextBlock, ToolCall, VendorData};
use serde_json::{Value, json, value::RawValue};

use super::{
    block::{BlockKind, EncodedBlock, Input, Members},
    content::mark_last,
};
use crate::{
    anthropic::vendor::{CACHE_CONTROL, SIGNATURE, STOP_REASON, own_members, unsupported, unsupported_parameter},
    encode::tool_names,
};

/// Returns the blocks of an assistant message for this vendor.
///
/// Reasoning and hosted items of other vendors are left out, and so are blank texts and thinking at the end, which the API
/// rejects.
pub(super) fn blocks<'a>(
    message: &'a AssistantMessage,
    vendor: &str,
    id_of: impl Fn(&'a str) -> Cow<'a, str>,
) -> Result<Vec<EncodedBlock<'a>>, String> {
    if message.name.is_some() {
        return Err(unsupported_parameter(
            "name",
            "the `name` of a participant",
            "leave it out, or put it into the text",
        ));
    }
    if message.function_call.is_some() {
        return Err(unsupported(
            "legacy function calls",
            "rewrite `function_call` as a tool call",
        ));
    }
    let mut blocks = Vec::with_capacity(message.blocks.len());
    for block in &message.blocks {
        let written = match block {
            Block::Text(text) => text_block(text, vendor),
            Block::Refusal(part) => EncodedBlock::text(&part.refusal, Members::None),
            Block::Reasoning(reasoning) => thinking(reasoning, vendor),
            Block::Call(call) => Some(call_block(call, vendor, id_of(&call.id))?),
            Block::Hosted(item) => own_members(Some(item), vendor).map(|raw| EncodedBlock::new(BlockKind::Raw(raw))),
            Block::Other(Value::Object(raw)) => Some(EncodedBlock::new(BlockKind::Raw(raw))),
            _ => {
                return Err(unsupported(
                    "a block of an assistant message that is not a JSON object",
                    "leave it out",
                ));
            }
        };
        blocks.extend(written);
    }
    let refusal_or_transcript = refusal(message, vendor).or_else(|| transcript(message));
    blocks.extend(refusal_or_transcript.and_then(|text| EncodedBlock::text(text, Members::None)));
    let end = blocks
        .iter()
        .rposition(|block| !block.is_thinking())
        .map_or(0, |last| last + 1);
    blocks.truncate(end);
    mark_last(&mut blocks, message.marks.cache.as_ref());
    Ok(blocks)
}

/// Returns the refusal, which is stored outside the blocks. The vendor's own explanation of a refusal does not come from the
/// model, and is not sent back.
fn refusal<'a>(message: &'a AssistantMessage, vendor: &str) -> Option<&'a str> {
    let is_explanation = |block: &Block| match block {
        Block::Text(text) => {
            own_members(text.vendor.as_ref(), vendor).is_some_and(|data| data.contains_key(STOP_REASON))
        }
        _ => false,
    };
    let refusal = message.refusal.as_deref().filter(|text| !text.is_empty())?;
    (!message.blocks.iter().any(is_explanation)).then_some(refusal)
}

/// Returns the transcript of an audio answer.
fn transcript(message: &AssistantMessage) -> Option<&str> {
    message.audio.as_ref()?.get("transcript")?.as_str()
}

fn members<'a>(data: Option<&'a VendorData>, vendor: &str) -> Members<'a> {
    own_members(data, vendor).map_or(Members::None, Members::Vendor)
}

fn text_block<'a>(block: &'a TextBlock, vendor: &str) -> Option<EncodedBlock<'a>> {
    let members = match members(block.vendor.as_ref(), vendor) {
        Members::None if !block.extra.is_empty() => Members::Extra(&block.extra),
        members => members,
    };
    let written = EncodedBlock::text(&block.text, members)?;
    Some(written.with_cache(block.marks.cache.as_ref()))
}

/// Returns a thinking block, which the API accepts only with its signature. Redacted thinking was stored as the whole
/// block.
fn thinking<'a>(reasoning: &'a Reasoning, vendor: &str) -> Option<EncodedBlock<'a>> {
    let data = own_members(reasoning.vendor.as_ref(), vendor)?;
    let kind = if data.contains_key("type") {
        BlockKind::Raw(data)
    } else if data.contains_key(SIGNATURE) {
        BlockKind::Thinking {
            text: &reasoning.text,
            members: Members::Vendor(data),
        }
    } else {
        return None;
    };
    Some(EncodedBlock::new(kind))
}

fn call_block<'a>(call: &'a ToolCall, vendor: &str, id: Cow<'a, str>) -> Result<EncodedBlock<'a>, String> {
    let block = EncodedBlock::new(BlockKind::Call {
        id,
        name: tool_names::of_call(&call.name),
        input: input(call)?,
        members: members(call.vendor.as_ref(), vendor),
    });
    Ok(block.with_raw_cache(call.extra.get(CACHE_CONTROL)))
}

/// Returns the arguments as an object, which the API requires. Arguments that are not an object are wrapped in one, so
/// that the model sees what it wrote.
fn input(call: &ToolCall) -> Result<Input<'_>, String> {
    match &call.input {
        CallInput::Text(text) => Ok(Input::Value(json!({ "input": text }))),
        CallInput::Arguments(raw) => Ok(match call.arguments() {
            Ok(arguments) if arguments.is_empty() => Input::Value(json!({})),
            Ok(_) => serde_json::from_str::<&RawValue>(raw)
                .map_or_else(|_| Input::Value(json!({ "invalid_json": raw })), Input::Raw),
            Err(_) => Input::Value(json!({ "invalid_json": raw })),
        }),
        _ => Err(unsupported(
            &format!("the input of the call `{}`", call.name),
            "leave the call out",
        )),
    }
}
