//! What the model said, as blocks.

use std::borrow::Cow;

use agcore_chat::{AssistantMessage, Block, CallInput, Reasoning, TextBlock, ToolCall, VendorData};
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    block::{Input, Kind, Members, WrittenBlock},
    content::mark_last,
};

/// A call must have a name; one without was never run, and its result says so.
const NO_NAME: &str = "unknown_tool";

/// The blocks of a reply for this vendor. Other vendors' reasoning and items stay here; blank texts and thinking at the
/// end, which the API refuses, do not go out.
pub(super) fn blocks<'a>(
    message: &'a AssistantMessage,
    vendor: &str,
    id_of: impl Fn(&'a str) -> Cow<'a, str>,
) -> Result<Vec<WrittenBlock<'a>>, String> {
    if message.name.is_some() {
        return Err("the API does not take the `name` of a participant: leave it out, or tell it in the text".into());
    }
    if message.function_call.is_some() {
        return Err("the API takes no calls in the legacy form: rewrite `function_call` as a tool call".into());
    }
    let mut blocks = Vec::with_capacity(message.blocks.len());
    for block in &message.blocks {
        let written = match block {
            Block::Text(text) => text_block(text, vendor),
            Block::Refusal(part) => WrittenBlock::text(&part.refusal, Members::None),
            Block::Reasoning(reasoning) => thinking(reasoning, vendor),
            Block::Call(call) => Some(call_block(call, vendor, id_of(&call.id))?),
            Block::Hosted(item) => own(Some(item), vendor).map(|raw| WrittenBlock::new(Kind::Raw(raw))),
            Block::Other(Value::Object(raw)) => Some(WrittenBlock::new(Kind::Raw(raw))),
            _ => return Err("a block of a reply has no form that the API takes: leave it out".into()),
        };
        blocks.extend(written);
    }
    blocks.extend(unspoken(message).and_then(|text| WrittenBlock::text(text, Members::None)));
    let end = blocks
        .iter()
        .rposition(|block| !block.is_thinking())
        .map_or(0, |last| last + 1);
    blocks.truncate(end);
    mark_last(&mut blocks, message.marks.cache.as_ref());
    Ok(blocks)
}

/// A refusal or the words of a spoken answer, where they stand beside the blocks.
fn unspoken(message: &AssistantMessage) -> Option<&str> {
    let transcript = || message.audio.as_ref()?.get("transcript")?.as_str();
    message
        .refusal
        .as_deref()
        .filter(|text| !text.is_empty())
        .or_else(transcript)
}

/// What this vendor made.
fn own<'a>(data: Option<&'a VendorData>, vendor: &str) -> Option<&'a Map<String, Value>> {
    data.filter(|data| data.vendor == vendor)?.data.as_object()
}

fn members<'a>(data: Option<&'a VendorData>, vendor: &str) -> Members<'a> {
    own(data, vendor).map_or(Members::None, Members::Vendor)
}

fn text_block<'a>(block: &'a TextBlock, vendor: &str) -> Option<WrittenBlock<'a>> {
    let members = match members(block.vendor.as_ref(), vendor) {
        Members::None if !block.extra.is_empty() => Members::Extra(&block.extra),
        members => members,
    };
    let written = WrittenBlock::text(&block.text, members)?;
    Some(written.with_cache(block.marks.cache.as_ref()))
}

/// Thinking needs its signature, so that only what the vendor made goes back; sealed thinking is a block of its own.
fn thinking<'a>(reasoning: &'a Reasoning, vendor: &str) -> Option<WrittenBlock<'a>> {
    let data = own(reasoning.vendor.as_ref(), vendor)?;
    let kind = if data.contains_key("type") {
        Kind::Raw(data)
    } else if data.contains_key("signature") {
        Kind::Thinking {
            text: &reasoning.text,
            members: Members::Vendor(data),
        }
    } else {
        return None;
    };
    Some(WrittenBlock::new(kind))
}

fn call_block<'a>(call: &'a ToolCall, vendor: &str, id: Cow<'a, str>) -> Result<WrittenBlock<'a>, String> {
    Ok(WrittenBlock::new(Kind::Call {
        id,
        name: if call.name.is_empty() { NO_NAME } else { &call.name },
        input: input(call)?,
        members: members(call.vendor.as_ref(), vendor),
    }))
}

/// The API wants an object. Arguments that are none are wrapped, so that the model sees what it wrote.
fn input(call: &ToolCall) -> Result<Input<'_>, String> {
    match &call.input {
        CallInput::Text(text) => Ok(Input::Made(json!({ "input": text }))),
        CallInput::Arguments(raw) => Ok(match call.arguments() {
            Ok(arguments) if arguments.is_empty() => Input::Made(json!({})),
            Ok(_) => serde_json::from_str::<&RawValue>(raw)
                .map_or_else(|_| Input::Made(json!({ "invalid_json": raw })), Input::Raw),
            Err(_) => Input::Made(json!({ "invalid_json": raw })),
        }),
        _ => Err(format!(
            "the input of the call `{}` has no form that the API takes: leave it out",
            call.name
        )),
    }
}
