//! [`Conversation`]: the messages of a request as system blocks and alternating messages.

use std::{borrow::Cow, sync::Arc};

use agcore_chat::{Extra, InstructionMessage, Message, ToolMessage};
use serde::Serialize;

use super::{
    assistant,
    block::{BlockKind, EncodedBlock},
    content::{self, Owner},
};
use crate::{
    anthropic::{
        settings::Settings,
        vendor::{unsupported, unsupported_parameter},
    },
    encode::{call_ids::CallIdFormat, unique_call_ids::UniqueCallIds},
};

/// The call ids that the API accepts.
const ID_FORMAT: CallIdFormat = CallIdFormat {
    accepts: |id| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        !id.is_empty() && id.bytes().all(is_allowed)
    },
    generate: |number| format!("call_{number:016x}"),
};

/// A conversation in the form of the API.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<EncodedBlock<'a>>,
    pub(super) messages: Vec<EncodedMessage<'a>>,
    /// Whether it refers to files that were uploaded to the vendor.
    pub(super) has_uploaded_files: bool,
}

/// A message in the form of the API.
#[derive(Debug, Serialize)]
pub(super) struct EncodedMessage<'a> {
    role: MessageRole,
    pub(super) content: Vec<EncodedBlock<'a>>,
}

impl EncodedMessage<'_> {
    pub(super) fn is_assistant(&self) -> bool {
        self.role == MessageRole::Assistant
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum MessageRole {
    User,
    Assistant,
    System,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(settings: &Settings, messages: &'a [Arc<Message>]) -> Result<Self, String> {
        let ids = UniqueCallIds::new(ID_FORMAT, messages);
        let (mut system, mut written) = (Vec::new(), MessageList::default());
        let leading = messages.iter().take_while(|message| message.is_instruction()).count();
        for (at, message) in messages.iter().enumerate() {
            match &**message {
                Message::Developer(message) | Message::System(message) if at < leading => {
                    system.extend(instructions(message)?);
                }
                Message::Developer(message) | Message::System(message) => {
                    let (role, blocks) = later_instructions(settings, instructions(message)?)?;
                    written.push(role, blocks);
                }
                Message::User(message) => {
                    check(message.name.as_deref(), &message.extra)?;
                    written.push(
                        MessageRole::User,
                        content::blocks(&message.content, message.marks.cache.as_ref(), Owner::User)?,
                    );
                }
                Message::Assistant(message) => {
                    let blocks = assistant::blocks(message, &settings.vendor, |id| ids.get(at, id))?;
                    written.push(MessageRole::Assistant, blocks);
                }
                Message::Tool(message) => written.push_result(result(message, ids.get(at, &message.tool_call_id))?),
                other => {
                    return Err(unsupported(
                        &format!("messages of the role `{}`", other.role()),
                        "rewrite them as tool messages",
                    ));
                }
            }
        }
        let messages = written.0;
        if messages.is_empty() {
            return Err("there is nothing to answer: every message is empty or an instruction".into());
        }
        let has_uploaded_files = messages
            .iter()
            .flat_map(|message| &message.content)
            .any(EncodedBlock::has_uploaded_file);
        Ok(Self {
            system,
            messages,
            has_uploaded_files,
        })
    }
}

/// Messages with alternating roles: consecutive ones with the same role are merged.
#[derive(Default)]
struct MessageList<'a>(Vec<EncodedMessage<'a>>);

impl<'a> MessageList<'a> {
    fn push(&mut self, role: MessageRole, blocks: Vec<EncodedBlock<'a>>) {
        if blocks.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => self.0.push(EncodedMessage { role, content: blocks }),
        }
    }

    /// Adds a tool result to the user message, before everything in it that is not a result.
    fn push_result(&mut self, result: EncodedBlock<'a>) {
        match self.0.last_mut() {
            Some(last) if last.role == MessageRole::User => {
                let is_result = |block: &EncodedBlock<'_>| matches!(block.kind, BlockKind::Result { .. });
                let at = last.content.iter().take_while(|block| is_result(block)).count();
                last.content.insert(at, result);
            }
            _ => self.push(MessageRole::User, vec![result]),
        }
    }
}

fn instructions(message: &InstructionMessage) -> Result<Vec<EncodedBlock<'_>>, String> {
    check(message.name.as_deref(), &message.extra)?;
    content::blocks(&message.content, message.marks.cache.as_ref(), Owner::Instruction)
}

/// Returns instructions in the middle of a conversation with their role. They keep their place, because it has a meaning
/// and because moving them to the front would invalidate the prompt cache.
fn later_instructions<'a>(
    settings: &Settings,
    mut blocks: Vec<EncodedBlock<'a>>,
) -> Result<(MessageRole, Vec<EncodedBlock<'a>>), String> {
    if settings.system_turns {
        return Ok((MessageRole::System, blocks));
    }
    for block in &mut blocks {
        let BlockKind::Text { text, .. } = &mut block.kind else {
            return Err(unsupported(
                "parts other than text in later instructions of this model",
                "enable `with_system_turns`, or send them in a user message",
            ));
        };
        *text = format!("<system>\n{text}\n</system>").into();
    }
    Ok((MessageRole::User, blocks))
}

fn result<'a>(message: &'a ToolMessage, id: Cow<'a, str>) -> Result<EncodedBlock<'a>, String> {
    // The name of the tool is left out: the call already contains it.
    check(None, &message.extra)?;
    let content = content::blocks(&message.content, None, Owner::Tool)?;
    let block = EncodedBlock::new(BlockKind::Result {
        id,
        content,
        is_error: message.marks.is_error,
    });
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
