//! Tool calls: `tool_use` blocks and the pieces of their arguments.

use agcore_chat::{Text, VendorData};
use serde_json::value::RawValue;

use super::block::StartedBlock;
use crate::{
    anthropic::vendor::CHOICE,
    decode::lenient::non_empty,
    delta::{CallFragment, ReplyDelta},
};

/// Returns the JSON text of a call's arguments. The empty object at the start of a streamed call is only a placeholder, so
/// it counts only if the block is complete.
pub(super) fn arguments(input: Option<&RawValue>, is_complete: bool) -> Option<Text> {
    let raw = input?.get();
    let is_empty = || raw.bytes().filter(|byte| !byte.is_ascii_whitespace()).eq(*b"{}");
    if raw == "null" || (!is_complete && is_empty()) {
        return None;
    }
    // Gateways send arguments that are not valid JSON as a string.
    let quoted: Option<String> = raw.starts_with('"').then(|| serde_json::from_str(raw).ok()).flatten();
    non_empty(quoted.map_or_else(|| raw.into(), Text::from))
}

/// Returns the delta for the start of a call.
pub(super) fn start(index: u32, mut block: StartedBlock, input: Option<Text>, vendor: &str) -> ReplyDelta {
    let data = block.take_members();
    delta(CallFragment {
        index: Some(index),
        id: non_empty(block.id),
        name: non_empty(block.name),
        input,
        vendor: (!data.is_empty()).then(|| VendorData::new(vendor, data)),
        ..CallFragment::default()
    })
}

/// Returns the delta for a piece of a call's arguments.
pub(super) fn piece(index: u32, input: Text, replaces_input: bool) -> ReplyDelta {
    delta(CallFragment {
        index: Some(index),
        input: Some(input),
        whole_input: replaces_input,
        ..CallFragment::default()
    })
}

fn delta(fragment: CallFragment) -> ReplyDelta {
    ReplyDelta::Call {
        choice: CHOICE,
        fragment: Box::new(fragment),
    }
}
