//! Assistant messages as parts.

use agcore_chat::{AssistantMessage, Block, CallInput, Reasoning, TextBlock, ToolCall, VendorData};
use serde_json::{Map, Value, json, value::RawValue};

use super::part::{Arguments, EncodedPart, Members, PartKind};
use crate::{
    encode::tool_names,
    gemini::{
        settings::Settings,
        vendor::{ID, SIGNATURE, own_members, unsupported, unsupported_parameter},
    },
};

/// Returns the parts of an assistant message for this vendor.
///
/// Reasoning and items of other vendors are left out. Signatures are sent with the parts that they came with.
pub(super) fn parts<'a>(message: &'a AssistantMessage, settings: &Settings) -> Result<Vec<EncodedPart<'a>>, String> {
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
    let vendor = &*settings.vendor;
    let mut parts = Vec::with_capacity(message.blocks.len());
    let mut is_first_call = true;
    for block in &message.blocks {
        let part = match block {
            Block::Text(text) => text_part(text, vendor),
            Block::Refusal(part) => EncodedPart::text(&part.refusal, Members::None),
            Block::Reasoning(reasoning) => thought(reasoning, vendor),
            Block::Call(call) => {
                let needs_placeholder = std::mem::take(&mut is_first_call) && settings.placeholder_signatures;
                Some(call_part(call, vendor, needs_placeholder)?)
            }
            Block::Hosted(item) => own_members(Some(item), vendor).map(|raw| EncodedPart::new(PartKind::Raw(raw))),
            // A block of an unknown kind comes from another API.
            _ => None,
        };
        parts.extend(part);
    }
    let refusal = message.refusal.as_deref().filter(|text| !text.is_empty());
    let text = refusal.or_else(|| message.audio.as_ref()?.get("transcript")?.as_str());
    parts.extend(text.and_then(|text| EncodedPart::text(text, Members::None)));
    Ok(parts)
}

fn members<'a>(data: Option<&'a VendorData>, vendor: &str) -> Members<'a> {
    own_members(data, vendor)
        .filter(|members| !members.is_empty())
        .map_or(Members::None, Members::Vendor)
}

fn text_part<'a>(block: &'a TextBlock, vendor: &str) -> Option<EncodedPart<'a>> {
    EncodedPart::text(&block.text, members(block.vendor.as_ref(), vendor))
}

/// Returns a thought if it has a signature. The API does not need others.
fn thought<'a>(reasoning: &'a Reasoning, vendor: &str) -> Option<EncodedPart<'a>> {
    let data = own_members(reasoning.vendor.as_ref(), vendor)?;
    let part = EncodedPart::new(PartKind::Thought(&reasoning.text)).with(Members::Vendor(data));
    data.contains_key(SIGNATURE).then_some(part)
}

/// Returns the id that the vendor gave a call. The API refuses ids that it does not know.
pub(super) fn call_id<'a>(call: &'a ToolCall, vendor: &str) -> Option<&'a str> {
    own_members(call.vendor.as_ref(), vendor)?.get(ID)?.as_str()
}

fn call_part<'a>(call: &'a ToolCall, vendor: &str, needs_placeholder: bool) -> Result<EncodedPart<'a>, String> {
    let part = EncodedPart::new(PartKind::Call {
        id: call_id(call, vendor),
        name: tool_names::of_call(&call.name),
        arguments: arguments(call)?,
    });
    let is_signed = |data: &Map<String, Value>| data.contains_key(SIGNATURE);
    let is_unsigned = !own_members(call.vendor.as_ref(), vendor).is_some_and(is_signed);
    Ok(part.with(match needs_placeholder && is_unsigned {
        true => Members::Placeholder,
        false => members(call.vendor.as_ref(), vendor),
    }))
}

/// Returns the arguments as an object, which the API requires. Arguments that are not an object are wrapped in one, so that the
/// model sees what it wrote.
fn arguments(call: &ToolCall) -> Result<Arguments<'_>, String> {
    match &call.input {
        CallInput::Text(text) => Ok(Arguments::Value(json!({ "input": text }))),
        CallInput::Arguments(raw) => Ok(match call.arguments() {
            Ok(arguments) if arguments.is_empty() => Arguments::Value(json!({})),
            Ok(_) => serde_json::from_str::<&RawValue>(raw)
                .map_or_else(|_| Arguments::Value(json!({ "invalid_json": raw })), Arguments::Raw),
            Err(_) => Arguments::Value(json!({ "invalid_json": raw })),
        }),
        _ => Err(unsupported(
            &format!("the input of the call `{}`", call.name),
            "leave the call out",
        )),
    }
}
