//! [`ReplyDelta`]: what a decoder reads out of a reply, piece by piece, the same for every wire, whole or streamed.

use std::sync::Arc;

use agcore_chat::{Block, ChatResponse, Choice, Extra, FinishReason, Text, Usage, VendorData};
use serde_json::Value;

/// One increment of a reply.
///
/// Visible text, reasoning and refusals append to the block that is open; calls are assembled by
/// [`Fold`](crate::fold::Fold), whatever order their fragments come in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReplyDelta {
    /// What is known of the whole reply; once, before anything else, and again when more becomes known.
    Start(Box<ReplyStart>),
    /// More visible text.
    Text {
        /// The choice it belongs to.
        choice: u32,
        /// The text.
        text: Text,
    },
    /// More reasoning.
    Reasoning {
        /// The choice it belongs to.
        choice: u32,
        /// The text.
        text: Text,
    },
    /// More of a refusal.
    Refusal {
        /// The choice it belongs to.
        choice: u32,
        /// The text.
        text: Text,
    },
    /// A fragment of a tool call.
    Call {
        /// The choice it belongs to.
        choice: u32,
        /// The fragment.
        fragment: Box<CallFragment>,
    },
    /// Vendor data for the block that is open (opened empty when there is none of that kind), which closes it.
    Seal {
        /// The choice it belongs to.
        choice: u32,
        /// Which kind of block.
        block: SealedBlock,
        /// What the vendor wants back with it.
        vendor: Box<VendorData>,
    },
    /// The open block ends; the next text or reasoning begins a new one.
    BlockEnd {
        /// The choice it belongs to.
        choice: u32,
    },
    /// A whole block that is no text, reasoning or call: a hosted item, a part nobody knows.
    Block {
        /// The choice it belongs to.
        choice: u32,
        /// The block.
        block: Box<Block>,
    },
    /// Tokens used so far; a later one replaces an earlier one.
    Usage(Box<Usage>),
    /// Why a choice stopped; the first reason stands.
    Finish {
        /// The choice it belongs to.
        choice: u32,
        /// The reason, with the server's own words kept.
        reason: FinishReason,
    },
    /// The server begins anew: what came so far is void. A provider tells it as
    /// [`Notice::Restarted`](crate::reply::Notice::Restarted).
    Restart,
    /// A member that has no place above, kept for the response.
    Member {
        /// Where it stood.
        place: Place,
        /// Its name.
        name: Box<str>,
        /// Its value; arrays of one member append, other values replace.
        value: Value,
    },
}

/// What is known of a reply as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplyStart {
    /// The server's id of the reply.
    pub id: Option<String>,
    /// The model, as the server names it.
    pub model: Option<String>,
    /// When the reply was begun, seconds since 1970.
    pub created: Option<u64>,
    /// The server's fingerprint of its own configuration.
    pub system_fingerprint: Option<String>,
    /// The service class that is used.
    pub service_tier: Option<String>,
}

/// A fragment of a tool call. What is `None` or empty says nothing new.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallFragment {
    /// The call's place, as the server counts.
    pub index: Option<u32>,
    /// The call's id.
    pub id: Option<Text>,
    /// The tool's name, or a piece of it.
    pub name: Option<Text>,
    /// More of the arguments' JSON text, or of a custom tool's input.
    pub input: Option<Text>,
    /// Whether `input` is the whole of it: it replaces what came before.
    pub whole_input: bool,
    /// Whether the call is of a custom tool.
    pub custom: bool,
    /// What the vendor wants back with the call.
    pub vendor: Option<VendorData>,
    /// Members of the call that have no field.
    pub extra: Extra,
    /// Members inside its `function` or `custom` object that have no field.
    pub inner: Extra,
}

/// Which kind of block a [`ReplyDelta::Seal`] is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealedBlock {
    /// Reasoning.
    Reasoning,
    /// Visible text.
    Text,
}

/// Where a [`ReplyDelta::Member`] stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// At the top of the reply.
    Response,
    /// In a choice.
    Choice(u32),
    /// In a choice's message or delta.
    Message(u32),
}

/// A whole response as the deltas that fold to it.
///
/// Who answered is no delta but a [notice](crate::reply::Notice::AnsweredBy); marks of the message, which are of the
/// application and never of a model, are left out.
pub fn deltas_of(response: ChatResponse) -> Vec<ReplyDelta> {
    let mut deltas = vec![ReplyDelta::Start(Box::new(ReplyStart {
        id: response.id,
        model: response.model,
        created: response.created,
        system_fingerprint: response.system_fingerprint,
        service_tier: response.service_tier,
    }))];
    response
        .choices
        .into_iter()
        .for_each(|choice| choice_deltas(choice, &mut deltas));
    deltas.extend(members(Place::Response, &response.extra));
    deltas.extend(response.usage.map(|usage| ReplyDelta::Usage(Box::new(usage))));
    deltas
}

fn choice_deltas(choice: Choice, deltas: &mut Vec<ReplyDelta>) {
    let (index, message, before) = (choice.index, choice.message, deltas.len());
    let (place, outer) = (Place::Message(index), Place::Choice(index));
    deltas.extend(
        message
            .blocks
            .into_iter()
            .enumerate()
            .flat_map(|(at, block)| block_deltas(index, at, block)),
    );
    deltas.extend(message.refusal.map(|text| ReplyDelta::Refusal {
        choice: index,
        text: text.into(),
    }));
    deltas.extend(message.name.map(|name| member(place, "name", name.into())));
    let function_call = message
        .function_call
        .map(|call| serde_json::to_value(call).unwrap_or_default());
    deltas.extend(function_call.map(|call| member(place, "function_call", call)));
    deltas.extend(message.audio.map(|audio| member(place, "audio", audio)));
    deltas.extend(
        message
            .annotations
            .map(|annotations| member(place, "annotations", annotations)),
    );
    deltas.extend(members(place, &message.extra));
    deltas.extend(choice.logprobs.map(|logprobs| member(outer, "logprobs", logprobs)));
    deltas.extend(members(outer, &choice.extra));
    deltas.extend(
        choice
            .finish_reason
            .map(|reason| ReplyDelta::Finish { choice: index, reason }),
    );
    if deltas.len() == before {
        // Says that there is a choice, if nothing else.
        deltas.push(ReplyDelta::BlockEnd { choice: index });
    }
}

fn member(place: Place, name: &str, value: Value) -> ReplyDelta {
    ReplyDelta::Member {
        place,
        name: name.into(),
        value,
    }
}

fn members(place: Place, extra: &Extra) -> impl Iterator<Item = ReplyDelta> {
    extra
        .iter()
        .map(move |(name, value)| member(place, name, value.clone()))
}

fn block_deltas(choice: u32, at: usize, block: Block) -> Vec<ReplyDelta> {
    let seal = |block, vendor: Option<VendorData>| match vendor {
        Some(vendor) => ReplyDelta::Seal {
            choice,
            block,
            vendor: Box::new(vendor),
        },
        None => ReplyDelta::BlockEnd { choice },
    };
    match block {
        Block::Text(block) if block.marks.is_empty() && block.extra.is_empty() => {
            vec![
                ReplyDelta::Text {
                    choice,
                    text: block.text.into(),
                },
                seal(SealedBlock::Text, block.vendor),
            ]
        }
        Block::Reasoning(block) => {
            vec![
                ReplyDelta::Reasoning {
                    choice,
                    text: block.text.into(),
                },
                seal(SealedBlock::Reasoning, block.vendor),
            ]
        }
        Block::Call(call) => {
            let call = Arc::unwrap_or_clone(call);
            let fragment = CallFragment {
                index: u32::try_from(at).ok(),
                id: Some(call.id.as_str().into()),
                name: Some(call.name.as_str().into()),
                input: Some(call.raw_input().into()),
                whole_input: true,
                custom: matches!(call.input, agcore_chat::CallInput::Text(_)),
                vendor: call.vendor,
                extra: call.extra,
                inner: call.inner,
            };
            vec![ReplyDelta::Call {
                choice,
                fragment: Box::new(fragment),
            }]
        }
        other => vec![ReplyDelta::Block {
            choice,
            block: Box::new(other),
        }],
    }
}
