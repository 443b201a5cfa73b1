//! Assistant messages as blocks.

use std::borrow::Cow;

use agcore_chat::{AssistantMessage, Block, CallInput, Reasoning, ToolCall};
use serde_json::{json, value::RawValue};

use super::{
    block::{BlockKind, EncodedBlock, Input},
    content::mark_last,
    model::Traits,
};
use crate::{
    bedrock::{
        settings::Settings,
        vendor::{REDACTED, SIGNATURE, own_members, unsupported, unsupported_parameter},
    },
    encode::tool_names,
};

/// Returns the blocks of an assistant message for this vendor and model.
///
/// Reasoning and items of other vendors are left out, and so are blank texts and reasoning at the end, which the API rejects.
pub(super) fn blocks<'a>(
    message: &'a AssistantMessage,
    settings: &Settings,
    traits: Traits,
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
    let vendor = &*settings.vendor;
    let mut blocks = Vec::with_capacity(message.blocks.len());
    for block in &message.blocks {
        let written = match block {
            Block::Text(text) => {
                EncodedBlock::text(&text.text).map(|block| block.with_cache(text.marks.cache.as_ref()))
            }
            Block::Refusal(part) => EncodedBlock::text(&part.refusal),
            Block::Reasoning(reasoning) => traits.seals.then(|| sealed(reasoning, vendor)).flatten(),
            Block::Call(call) => Some(call_block(call, id_of(&call.id))?),
            Block::Hosted(item) => own_members(Some(item), vendor).map(|raw| EncodedBlock::new(BlockKind::Raw(raw))),
            // A block of an unknown kind comes from another API.
            _ => None,
        };
        blocks.extend(written);
    }
    let refusal = message.refusal.as_deref().filter(|text| !text.is_empty());
    let text = refusal.or_else(|| message.audio.as_ref()?.get("transcript")?.as_str());
    blocks.extend(text.and_then(EncodedBlock::text));
    let end = blocks
        .iter()
        .rposition(|block| !block.is_reasoning())
        .map_or(0, |last| last + 1);
    blocks.truncate(end);
    mark_last(&mut blocks, message.marks.cache.as_ref());
    Ok(blocks)
}

/// Returns reasoning if this vendor has signed or encrypted it. A signature may come without text; then the text is empty.
fn sealed<'a>(reasoning: &'a Reasoning, vendor: &str) -> Option<EncodedBlock<'a>> {
    let data = own_members(reasoning.vendor.as_ref(), vendor)?;
    let text = &*reasoning.text;
    let signature = data
        .get(SIGNATURE)
        .map(|signature| BlockKind::Reasoning { text, signature });
    let kind = signature.or_else(|| data.get(REDACTED).map(BlockKind::Redacted))?;
    Some(EncodedBlock::new(kind))
}

fn call_block<'a>(call: &'a ToolCall, id: Cow<'a, str>) -> Result<EncodedBlock<'a>, String> {
    Ok(EncodedBlock::new(BlockKind::Call {
        id,
        name: tool_names::of_call(&call.name),
        input: input(call)?,
    }))
}

/// Returns the arguments as an object, which models require. Arguments that are not an object are wrapped in one, so that the
/// model sees what it wrote.
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
