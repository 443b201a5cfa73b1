//! Assistant messages: each block as the item that it was received as, or else as plain text or a call.
//!
//! The API is strict about its own items. Reasoning must be followed by the item that it led to, and that item is rejected
//! with its id but without the reasoning. So reasoning is held back until its item is written. If it cannot be sent (because
//! nothing follows, or because the server stores nothing and the reasoning came without its encrypted form), the items
//! after it are sent without ids.

use agcore_chat::{AssistantMessage, Block};
use serde::ser::SerializeSeq;
use serde_json::{Map, Value};

use super::{
    context::Context,
    item::{EncodedCall, HostedItem, MessageItem, PlainMessage, WithoutNulls, text_members},
};
use crate::openai_responses::vendor::{check_name, own_members, unsupported};

/// Writes the assistant message at the index `at`.
pub(super) fn write<'a, S: SerializeSeq>(
    context: &'a Context<'a>,
    at: usize,
    message: &'a AssistantMessage,
    items: &mut S,
) -> Result<(), S::Error> {
    check_name(message.name.as_deref())?;
    if message.function_call.is_some() {
        return Err(unsupported(
            "legacy function calls",
            "rewrite `function_call` as a tool call",
        ));
    }
    let mut writer = ItemWriter {
        context,
        at,
        items,
        text: String::new(),
        reasoning: Vec::new(),
        is_reasoning_dropped: false,
        refusal: message.refusal.as_deref().filter(|text| !text.is_empty()),
    };
    let mut blocks = &message.blocks[..];
    while !blocks.is_empty() {
        let count = writer.write_next(blocks)?;
        blocks = &blocks[count..];
    }
    if let Some(text) = writer.refusal.or_else(|| transcript(message)) {
        writer.push_text(text);
    }
    writer.flush_text()
}

/// Returns the transcript of an audio answer that has no text.
fn transcript(message: &AssistantMessage) -> Option<&str> {
    let transcript = message.audio.as_ref()?.get("transcript")?.as_str();
    transcript.filter(|_| message.text().is_empty())
}

struct ItemWriter<'a, 'i, S> {
    context: &'a Context<'a>,
    /// The index of the message.
    at: usize,
    items: &'i mut S,
    /// Text that belongs to no item and is not written yet.
    text: String,
    /// Reasoning items that are held back until the item that they led to.
    reasoning: Vec<&'a Map<String, Value>>,
    /// Whether reasoning was left out, so that the items after it must be sent without ids.
    is_reasoning_dropped: bool,
    /// The refusal of the message, until it is written.
    refusal: Option<&'a str>,
}

impl<'a, S: SerializeSeq> ItemWriter<'a, '_, S> {
    /// Writes the first block, or several blocks that belong to one item. Returns their number.
    fn write_next(&mut self, blocks: &'a [Block]) -> Result<usize, S::Error> {
        if let Some((item, count)) = MessageItem::first(blocks) {
            self.write_message(item)?;
            return Ok(count);
        }
        let Some(block) = blocks.first() else { return Ok(1) };
        match block {
            Block::Text(text) => match text_members(block).and_then(|members| members.get("phase")) {
                Some(phase) => self.write_plain(&text.text, Some(phase))?,
                None => self.push_text(&text.text),
            },
            Block::Refusal(part) => self.push_text(&part.refusal),
            Block::Reasoning(reasoning) => {
                if let Some(item) = own_members(reasoning.vendor.as_ref()) {
                    self.hold_reasoning(item);
                }
            }
            Block::Call(call) => {
                let members = own_members(call.vendor.as_ref());
                self.start_item(members.is_some())?;
                self.items.serialize_element(&EncodedCall {
                    context: self.context,
                    at: self.at,
                    call,
                    members,
                    with_id: !self.is_reasoning_dropped,
                })?;
            }
            Block::Hosted(item) => {
                if let Some(item) = own_members(Some(item)).filter(|_| !self.is_reasoning_dropped) {
                    self.start_item(true)?;
                    self.items.serialize_element(&HostedItem(item))?;
                }
            }
            // A block of an unknown kind outside of a message item comes from another API, so it is left out.
            _ => {}
        }
        Ok(1)
    }

    fn write_message(&mut self, mut item: MessageItem<'a>) -> Result<(), S::Error> {
        if item.has_refusal() {
            item.refusal = self.refusal.take();
        }
        if item.is_empty() {
            return Ok(());
        }
        if self.is_reasoning_dropped {
            let text: String = item.texts().chain(item.refusal).collect();
            return self.write_plain(&text, item.phase());
        }
        self.start_item(true)?;
        self.items.serialize_element(&item)
    }

    /// Adds text that belongs to no item. Consecutive texts are joined.
    fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.drop_reasoning();
            self.text.push_str(text);
        }
    }

    fn write_plain(&mut self, text: &str, phase: Option<&Value>) -> Result<(), S::Error> {
        if text.is_empty() {
            return Ok(());
        }
        self.drop_reasoning();
        self.flush_text()?;
        self.items.serialize_element(&PlainMessage { text, phase })
    }

    fn hold_reasoning(&mut self, item: &'a Map<String, Value>) {
        let is_encrypted = item.get("encrypted_content").is_some_and(Value::is_string);
        self.is_reasoning_dropped = self.context.is_stateless && !is_encrypted;
        if self.is_reasoning_dropped {
            self.reasoning.clear();
        } else {
            self.reasoning.push(item);
        }
    }

    /// Discards the reasoning that is held back, because what follows is not the item that it led to.
    fn drop_reasoning(&mut self) {
        self.is_reasoning_dropped |= !self.reasoning.is_empty();
        self.reasoning.clear();
    }

    /// Writes everything that comes before an item. `is_own` states whether the item is one of this API.
    fn start_item(&mut self, is_own: bool) -> Result<(), S::Error> {
        self.flush_text()?;
        if !is_own {
            self.drop_reasoning();
        }
        for item in std::mem::take(&mut self.reasoning) {
            self.items.serialize_element(&WithoutNulls(item))?;
        }
        Ok(())
    }

    fn flush_text(&mut self) -> Result<(), S::Error> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        self.items.serialize_element(&PlainMessage {
            text: &text,
            phase: None,
        })
    }
}
