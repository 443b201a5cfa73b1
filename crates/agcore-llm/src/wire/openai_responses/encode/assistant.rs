//! Assistant messages: each block as the item it came as, or as what this API makes of it.
//!
//! The API is strict about its own items: reasoning must be followed by the item that it led to, and that item's id is
//! refused without the reasoning. So reasoning waits for its item, and where it cannot go (nothing follows, or the server
//! keeps nothing and it came without its encrypted form), what follows goes without ids.

use agcore_chat::{AssistantMessage, Block};
use serde::ser::SerializeSeq;
use serde_json::{Map, Value};

use super::{
    super::vendor,
    call::WrittenCall,
    context::{Context, refuse, refuse_name},
    own::{Filled, HostedItem},
    said::{OwnMessage, Plain, members},
};

/// Writes a message.
pub(super) fn write<'a, S: SerializeSeq>(
    context: &'a Context<'a>,
    at: usize,
    message: &'a AssistantMessage,
    items: &mut S,
) -> Result<(), S::Error> {
    refuse_name(message.name.as_deref())?;
    if message.function_call.is_some() {
        return Err(refuse(
            "calls in the legacy form",
            "rewrite `function_call` as a tool call",
        ));
    }
    let mut writer = Writer {
        context,
        at,
        items,
        plain: String::new(),
        held: Vec::new(),
        is_orphaned: false,
        refusal: message.refusal.as_deref().filter(|text| !text.is_empty()),
    };
    let mut blocks = &message.blocks[..];
    while !blocks.is_empty() {
        let count = writer.next(blocks)?;
        blocks = &blocks[count..];
    }
    if let Some(text) = writer.refusal.or_else(|| spoken(message)) {
        writer.say(text);
    }
    writer.flush()
}

/// The words of a spoken answer that has no text.
fn spoken(message: &AssistantMessage) -> Option<&str> {
    let transcript = message.audio.as_ref()?.get("transcript")?.as_str();
    transcript.filter(|_| message.text().is_empty())
}

struct Writer<'a, 'i, S> {
    context: &'a Context<'a>,
    /// The message's place.
    at: usize,
    items: &'i mut S,
    /// Text of the model that is not written yet.
    plain: String,
    /// Reasoning that waits for the item it led to.
    held: Vec<&'a Map<String, Value>>,
    /// Whether the reasoning that led here cannot go back.
    is_orphaned: bool,
    /// The message's refusal, until it is written.
    refusal: Option<&'a str>,
}

impl<'a, S: SerializeSeq> Writer<'a, '_, S> {
    /// Writes the first block, or the first few that are of one item; says how many.
    fn next(&mut self, blocks: &'a [Block]) -> Result<usize, S::Error> {
        if let Some((own, count)) = OwnMessage::first(blocks) {
            self.message(own)?;
            return Ok(count);
        }
        let Some(block) = blocks.first() else { return Ok(1) };
        match block {
            Block::Text(text) => match members(block).and_then(|own| own.get("phase")) {
                Some(phase) => self.phased(&text.text, Some(phase))?,
                None => self.say(&text.text),
            },
            Block::Refusal(part) => self.say(&part.refusal),
            Block::Reasoning(reasoning) => {
                if let Some(item) = vendor::own(reasoning.vendor.as_ref()) {
                    self.hold(item);
                }
            }
            Block::Call(call) => {
                let own = vendor::own(call.vendor.as_ref());
                self.begin_item(own.is_some())?;
                self.items.serialize_element(&WrittenCall {
                    context: self.context,
                    at: self.at,
                    call,
                    own,
                    with_id: !self.is_orphaned,
                })?;
            }
            Block::Hosted(item) => {
                if let Some(item) = vendor::own(Some(item)).filter(|_| !self.is_orphaned) {
                    self.begin_item(true)?;
                    self.items.serialize_element(&HostedItem(item))?;
                }
            }
            // A part that nobody here knows, of no message of this API: somebody else's.
            _ => {}
        }
        Ok(1)
    }

    fn message(&mut self, mut own: OwnMessage<'a>) -> Result<(), S::Error> {
        if own.has_refusal() {
            own.refusal = self.refusal.take();
        }
        if own.is_empty() {
            return Ok(());
        }
        if self.is_orphaned {
            let words: String = own.texts().chain(own.refusal).collect();
            return self.phased(&words, own.phase());
        }
        self.begin_item(true)?;
        self.items.serialize_element(&own)
    }

    /// Text that is no item of this API; texts in a row are one.
    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.drop_held();
            self.plain.push_str(text);
        }
    }

    fn phased(&mut self, text: &str, phase: Option<&Value>) -> Result<(), S::Error> {
        if text.is_empty() {
            return Ok(());
        }
        self.drop_held();
        self.flush()?;
        self.items.serialize_element(&Plain { text, phase })
    }

    fn hold(&mut self, item: &'a Map<String, Value>) {
        let is_sealed = item.get("encrypted_content").is_some_and(Value::is_string);
        self.is_orphaned = self.context.is_stateless && !is_sealed;
        if self.is_orphaned {
            self.held.clear();
        } else {
            self.held.push(item);
        }
    }

    /// What follows is not what the reasoning led to.
    fn drop_held(&mut self) {
        self.is_orphaned |= !self.held.is_empty();
        self.held.clear();
    }

    /// Writes what stands before an item.
    fn begin_item(&mut self, is_own: bool) -> Result<(), S::Error> {
        self.flush()?;
        if !is_own {
            self.drop_held();
        }
        for item in std::mem::take(&mut self.held) {
            self.items.serialize_element(&Filled(item))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), S::Error> {
        if self.plain.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.plain);
        self.items.serialize_element(&Plain {
            text: &text,
            phase: None,
        })
    }
}
