//! [`ReplyDelta`]: an increment of a reply, the same for every API, streamed or not.

use std::sync::Arc;

use agcore_chat::{Block, ChatResponse, Choice, Extra, FinishReason, ResponseMetadata, Text, Usage, VendorData};
use serde_json::Value;

/// An increment of a reply.
///
/// Visible text and reasoning are appended to the block that is open. Tool calls are assembled by [`Fold`](crate::Fold),
/// whatever the order of their fragments.
///
/// ```
/// use agcore_wire::{CallFragment, Fold, ReplyDelta};
///
/// let fragment = |fragment| ReplyDelta::Call { choice: 0, fragment: Box::new(fragment) };
/// let mut fold = Fold::new();
/// fold.push(&ReplyDelta::Text { choice: 0, text: "Let me look.".into() });
/// fold.push(&fragment(CallFragment {
///     id: Some("call_1".into()),
///     name: Some("weather".into()),
///     ..CallFragment::default()
/// }));
/// for input in [r#"{"city": "#, r#""Oslo"}"#] {
///     fold.push(&fragment(CallFragment { input: Some(input.into()), ..CallFragment::default() }));
/// }
///
/// let message = fold.response().message().unwrap().clone();
/// assert_eq!(message.text(), "Let me look.");
/// let call = message.tool_calls().next().unwrap();
/// assert_eq!((call.name.as_str(), call.raw_input()), ("weather", r#"{"city": "Oslo"}"#));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReplyDelta {
    /// Metadata of the reply. Emitted before any other delta, and again when more is known.
    Start(Box<ReplyStart>),
    /// More visible text.
    Text {
        /// The index of the choice.
        choice: u32,
        /// The text.
        text: Text,
    },
    /// More reasoning.
    Reasoning {
        /// The index of the choice.
        choice: u32,
        /// The text.
        text: Text,
    },
    /// More of a refusal.
    Refusal {
        /// The index of the choice.
        choice: u32,
        /// The text.
        text: Text,
    },
    /// A fragment of a tool call.
    Call {
        /// The index of the choice.
        choice: u32,
        /// The fragment.
        fragment: Box<CallFragment>,
    },
    /// Vendor data for the open block, which closes it. If no block of that kind is open, an empty one is created.
    Seal {
        /// The index of the choice.
        choice: u32,
        /// The kind of block.
        block: SealedBlock,
        /// Data that must be sent back to the vendor with the block.
        vendor: Box<VendorData>,
    },
    /// Closes the open block; the next text or reasoning begins a new one.
    BlockEnd {
        /// The index of the choice.
        choice: u32,
    },
    /// The item that the following deltas belong to, whatever order the server sends items in. At the start it is the one at
    /// position 0. The last block of the item is open again.
    Item {
        /// The index of the choice.
        choice: u32,
        /// The position among the items of the choice.
        position: u32,
    },
    /// Moves an item to another position; the items between the two move by one position towards the old one. Emitted at the
    /// end of a reply whose items the API expects back in another order than the server sent them in.
    Move {
        /// The index of the choice.
        choice: u32,
        /// The position of the item.
        from: u32,
        /// Its new position.
        to: u32,
    },
    /// A whole block other than text, reasoning or a call: a hosted item or an unknown part. If the open block is a call, it
    /// replaces the call, which the vendor has run.
    Block {
        /// The index of the choice.
        choice: u32,
        /// The block.
        block: Box<Block>,
    },
    /// The token usage so far. Replaces an earlier one.
    Usage(Box<Usage>),
    /// The reason a choice ended. Only the first one counts.
    Finish {
        /// The index of the choice.
        choice: u32,
        /// The reason; an unknown one keeps the server's word.
        reason: FinishReason,
    },
    /// The server started the reply over, so everything received so far is void. A provider reports this as
    /// `agcore_llm::Notice::Restarted`.
    Restart,
    /// A member without a delta of its own, which is kept in the response.
    Member {
        /// The object that had the member.
        place: Place,
        /// The name.
        name: Box<str>,
        /// The value. Arrays of the same member are concatenated, where entries with the same `id` or `index` replace each
        /// other; objects are merged, other values are replaced.
        value: Value,
    },
}

/// The metadata of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplyStart {
    /// The server's id of the reply.
    pub id: Option<String>,
    /// The server's name of the model.
    pub model: Option<String>,
    /// The time at which the reply was created, in seconds since 1970.
    pub created: Option<u64>,
    /// The server's fingerprint of its configuration.
    pub system_fingerprint: Option<String>,
    /// The service tier that was used.
    pub service_tier: Option<String>,
    /// Useful headers of the HTTP reply, as [`response_metadata`](crate::response_metadata) returns them. Set by providers;
    /// decoders leave it out.
    pub metadata: Option<ResponseMetadata>,
}

/// A fragment of a tool call. Members that are `None` or empty add nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallFragment {
    /// The index of the call as assigned by the server.
    pub index: Option<u32>,
    /// The id of the call.
    pub id: Option<Text>,
    /// The name of the tool, or a piece of it.
    pub name: Option<Text>,
    /// More JSON text of the arguments, or more of the input of a custom tool.
    pub input: Option<Text>,
    /// Whether `input` is complete and replaces what was received before.
    pub whole_input: bool,
    /// Whether the tool is a custom tool.
    pub custom: bool,
    /// Data that must be sent back to the vendor with the call.
    pub vendor: Option<VendorData>,
    /// Members of the call that have no field.
    pub extra: Extra,
    /// Members of its `function` or `custom` object that have no field.
    pub inner: Extra,
}

/// The kind of block that a [`ReplyDelta::Seal`] closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealedBlock {
    /// Reasoning.
    Reasoning,
    /// Visible text.
    Text,
}

/// The object that had the member of a [`ReplyDelta::Member`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The reply itself.
    Response,
    /// The choice with this index.
    Choice(u32),
    /// The message or delta of the choice with this index.
    Message(u32),
}

/// Converts a response to deltas; folding them results in the same response.
///
/// `answered_by` is left out because a provider reports it separately (as `agcore_llm::Notice::AnsweredBy`), and so are the
/// marks of the message, which belong to the application.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_wire::{Fold, deltas_from_response};
///
/// let response = ChatResponse::from_text("Hello");
/// let mut fold = Fold::new();
/// deltas_from_response(response.clone()).into_iter().for_each(|delta| fold.push_owned(delta));
/// assert_eq!(fold.response(), response);
/// ```
pub fn deltas_from_response(response: ChatResponse) -> Vec<ReplyDelta> {
    let mut deltas = vec![ReplyDelta::Start(Box::new(ReplyStart {
        id: response.id,
        model: response.model,
        created: response.created,
        system_fingerprint: response.system_fingerprint,
        service_tier: response.service_tier,
        metadata: response.metadata,
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
        // An empty choice is a choice, too.
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
