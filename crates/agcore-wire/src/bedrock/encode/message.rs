//! [`Conversation`]: the messages of a request as system blocks and alternating messages.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use agcore_chat::{AssistantMessage, Extra, InstructionMessage, Message, ToolMessage};

use super::{
    assistant,
    block::{BlockKind, EncodedBlock, MediaKind},
    content,
    list::{EncodedMessage, MessageList, MessageRole},
    media::DocumentNames,
    model::{CallIds, Traits},
};
use crate::{
    bedrock::{
        settings::Settings,
        vendor::{unsupported, unsupported_parameter},
    },
    encode::{call_ids::CallIdFormat, unique_call_ids::UniqueCallIds},
};

/// The call ids that the API accepts.
const ANY_ID: CallIdFormat = CallIdFormat {
    accepts: |id| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        (1..=64).contains(&id.len()) && id.bytes().all(is_allowed)
    },
    generate: |number| format!("call_{number:016x}"),
};

/// The call ids that Mistral's models accept.
const NINE: CallIdFormat = CallIdFormat {
    accepts: |id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
    generate: |number| {
        const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let digit = |place: u32| char::from(DIGITS[(number / 36_u64.pow(place) % 36) as usize]);
        (0..9).map(digit).collect()
    },
};

/// The content of a result that has none, which the API rejects.
const NO_OUTPUT: &str = "(no output)";

/// A conversation in the form of the API.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<EncodedBlock<'a>>,
    pub(super) messages: Vec<EncodedMessage<'a>>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(settings: &Settings, traits: Traits, messages: &'a [Arc<Message>]) -> Result<Self, String> {
        let ids = match traits.call_ids {
            CallIds::Any => UniqueCallIds::new(ANY_ID, messages),
            CallIds::Nine => UniqueCallIds::repeatable(NINE, messages),
        };
        let (mut system, mut list) = (Vec::new(), MessageList::new(traits.beside_results));
        let (mut names, mut open) = (DocumentNames::default(), OpenCalls::default());
        let leading = messages.iter().take_while(|message| message.is_instruction()).count();
        for (at, message) in messages.iter().enumerate() {
            match &**message {
                Message::Developer(message) | Message::System(message) if at < leading => {
                    system.extend(instructions(message)?);
                }
                Message::Developer(message) | Message::System(message) => {
                    list.push(MessageRole::User, later_instructions(instructions(message)?)?);
                }
                Message::User(message) => {
                    check(message.name.as_deref(), &message.extra)?;
                    let blocks = content::blocks(&message.content, message.marks.cache.as_ref(), &mut names)?;
                    list.push(MessageRole::User, with_text(blocks));
                }
                Message::Assistant(message) => {
                    open.replace(message);
                    let blocks = assistant::blocks(message, settings, traits, |id| ids.get(at, id))?;
                    list.push(MessageRole::Assistant, blocks);
                }
                Message::Tool(message) => {
                    open.answer(&message.tool_call_id)?;
                    let id = ids.get(at, &message.tool_call_id);
                    list.push_result(result(message, id, traits, &mut names)?);
                }
                other => {
                    return Err(unsupported(
                        &format!("messages of the role `{}`", other.role()),
                        "rewrite them as tool messages",
                    ));
                }
            }
        }
        if !traits.system && !system.is_empty() {
            list.prepend(std::mem::take(&mut system));
        }
        let messages = list.finish(traits.begins_with_assistant);
        if messages.is_empty() {
            return Err("there is nothing to answer: every message is empty or an instruction".into());
        }
        Ok(Self { system, messages })
    }

    /// Returns all blocks.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &EncodedBlock<'a>> {
        let messages = self.messages.iter().flat_map(|message| &message.content);
        self.system.iter().chain(messages)
    }

    /// Returns the names of the tools that were called.
    pub(super) fn called(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for block in self.blocks() {
            if let BlockKind::Call { name, .. } = &block.kind
                && !names.contains(&&**name)
            {
                names.push(name);
            }
        }
        names
    }

    /// Removes the cache points that the application has marked, for models that have none.
    pub(super) fn remove_marks(&mut self) {
        let messages = self.messages.iter_mut().flat_map(|message| &mut message.content);
        for block in self.system.iter_mut().chain(messages) {
            block.mark = None;
        }
    }
}

/// The calls of the latest assistant message that have no result yet.
#[derive(Default)]
struct OpenCalls<'a>(HashSet<&'a str>);

impl<'a> OpenCalls<'a> {
    fn replace(&mut self, message: &'a AssistantMessage) {
        self.0 = message.tool_calls().map(|call| call.id.as_str()).collect();
    }

    /// Notes the result of a call. The API refuses results without a call, and second ones.
    fn answer(&mut self, id: &str) -> Result<(), String> {
        if self.0.remove(id) {
            return Ok(());
        }
        Err(format!(
            "the result of the call `{}` belongs to no call of the latest assistant message, or is its second one: send one \
             result for each call, right behind it",
            id.escape_debug()
        ))
    }
}

/// Adds a text to documents that have none beside them, which the API rejects.
fn with_text(mut blocks: Vec<EncodedBlock<'_>>) -> Vec<EncodedBlock<'_>> {
    let has_document = blocks.iter().any(|block| block.is_media(MediaKind::Document));
    if has_document && !blocks.iter().any(EncodedBlock::is_text) {
        blocks.splice(0..0, EncodedBlock::text("Attached documents:"));
    }
    blocks
}

fn instructions(message: &InstructionMessage) -> Result<Vec<EncodedBlock<'_>>, String> {
    check(message.name.as_deref(), &message.extra)?;
    content::instructions(&message.content, message.marks.cache.as_ref())
}

/// Marks instructions in the middle of a conversation. They keep their place, because it has a meaning and because moving them
/// to the front would invalidate the prompt cache.
fn later_instructions(mut blocks: Vec<EncodedBlock<'_>>) -> Result<Vec<EncodedBlock<'_>>, String> {
    for block in &mut blocks {
        let BlockKind::Text(text) = &mut block.kind else {
            return Err(unsupported(
                "parts other than text in later instructions",
                "send them in a user message",
            ));
        };
        *text = format!("<system>\n{text}\n</system>").into();
    }
    Ok(blocks)
}

fn result<'a>(
    message: &'a ToolMessage,
    id: Cow<'a, str>,
    traits: Traits,
    names: &mut DocumentNames,
) -> Result<EncodedBlock<'a>, String> {
    // The name of the tool is left out: the call already contains it.
    check(None, &message.extra)?;
    let mut content = content::blocks(&message.content, None, names)?;
    if content.is_empty() {
        content.extend(EncodedBlock::text(NO_OUTPUT));
    }
    if content.iter().any(|block| block.is_media(MediaKind::Audio)) {
        return Err(unsupported("audio in tool results", "send it in a user message"));
    }
    let is_error = traits.result_status.then_some(message.marks.is_error);
    // Cache points are between the blocks of a message, not within one.
    for block in &mut content {
        block.mark = None;
    }
    let block = EncodedBlock::new(BlockKind::Result { id, content, is_error });
    Ok(block.with_cache(message.marks.cache.as_ref()))
}

fn check(name: Option<&str>, extra: &Extra) -> Result<(), String> {
    if name.is_some() {
        return Err(unsupported_parameter(
            "name",
            "the `name` of a participant",
            "leave it out, or put it into the text",
        ));
    }
    match extra.iter().next() {
        Some((member, _)) => Err(unsupported(
            &format!("the member `{member}` in messages"),
            "leave it out",
        )),
        None => Ok(()),
    }
}
