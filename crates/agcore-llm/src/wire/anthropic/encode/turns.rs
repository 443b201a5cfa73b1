//! [`Conversation`]: messages as instructions and alternating turns.

use std::{borrow::Cow, sync::Arc};

use agcore_chat::{Extra, InstructionMessage, Message, ToolMessage};
use serde::Serialize;

use crate::wire::{call_ids::CallIdForm, unique_call_ids::UniqueCallIds};

use super::{
    super::settings::Settings,
    block::{Kind, WrittenBlock},
    content::{self, Owner},
    said,
};

/// The form of ids that the API takes.
const ID_FORM: CallIdForm = CallIdForm {
    fits: |id| {
        let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        !id.is_empty() && id.bytes().all(is_taken)
    },
    spell: |number| format!("call_{number:016x}"),
};

/// A conversation as the API has it.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<WrittenBlock<'a>>,
    pub(super) turns: Vec<Turn<'a>>,
    /// Whether it names files that the vendor holds.
    pub(super) names_files: bool,
}

/// One turn.
#[derive(Debug, Serialize)]
pub(super) struct Turn<'a> {
    role: TurnRole,
    content: Vec<WrittenBlock<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum TurnRole {
    User,
    Assistant,
    System,
}

impl<'a> Conversation<'a> {
    pub(super) fn of(settings: &Settings, messages: &'a [Arc<Message>]) -> Result<Self, String> {
        let ids = UniqueCallIds::new(ID_FORM, messages);
        let (mut system, mut turns) = (Vec::new(), Turns(Vec::new()));
        let leading = messages.iter().take_while(|message| message.is_instruction()).count();
        for (at, message) in messages.iter().enumerate() {
            match &**message {
                Message::Developer(message) | Message::System(message) if at < leading => {
                    system.extend(instructions(message)?);
                }
                Message::Developer(message) | Message::System(message) => {
                    let (role, blocks) = later(settings, instructions(message)?);
                    turns.push(role, blocks);
                }
                Message::User(message) => {
                    check(message.name.as_deref(), &message.extra)?;
                    turns.push(
                        TurnRole::User,
                        content::blocks(&message.content, message.marks.cache.as_ref(), Owner::User)?,
                    );
                }
                Message::Assistant(message) => {
                    let blocks = said::blocks(message, &settings.vendor, |id| ids.get(at, id))?;
                    turns.push(TurnRole::Assistant, blocks);
                }
                Message::Tool(message) => turns.push_result(result(message, ids.get(at, &message.tool_call_id))?),
                other => {
                    return Err(format!(
                        "the API takes no messages of the role `{}`: rewrite them as tool messages",
                        other.role()
                    ));
                }
            }
        }
        let turns = turns.0;
        if turns.is_empty() {
            return Err("there is nothing to answer: every message is an instruction or empty".into());
        }
        let names_files = turns
            .iter()
            .flat_map(|turn| &turn.content)
            .any(WrittenBlock::names_file);
        Ok(Self {
            system,
            turns,
            names_files,
        })
    }
}

/// Turns in which no two neighbours are of one role.
struct Turns<'a>(Vec<Turn<'a>>);

impl<'a> Turns<'a> {
    fn push(&mut self, role: TurnRole, blocks: Vec<WrittenBlock<'a>>) {
        if blocks.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => self.0.push(Turn { role, content: blocks }),
        }
    }

    /// Results stand before whatever else the user's turn holds.
    fn push_result(&mut self, result: WrittenBlock<'a>) {
        match self.0.last_mut() {
            Some(last) if last.role == TurnRole::User => {
                let is_result = |block: &WrittenBlock<'_>| matches!(block.kind, Kind::Result { .. });
                let at = last.content.iter().take_while(|block| is_result(block)).count();
                last.content.insert(at, result);
            }
            _ => self.push(TurnRole::User, vec![result]),
        }
    }
}

fn instructions(message: &InstructionMessage) -> Result<Vec<WrittenBlock<'_>>, String> {
    check(message.name.as_deref(), &message.extra)?;
    content::blocks(&message.content, message.marks.cache.as_ref(), Owner::Instruction)
}

/// Instructions in the middle: moving them to the front would change what was cached, and their place means something.
fn later<'a>(settings: &Settings, mut blocks: Vec<WrittenBlock<'a>>) -> (TurnRole, Vec<WrittenBlock<'a>>) {
    if settings.system_turns {
        return (TurnRole::System, blocks);
    }
    for block in &mut blocks {
        if let Kind::Text { text, .. } = &mut block.kind {
            *text = format!("<system>\n{text}\n</system>").into();
        }
    }
    (TurnRole::User, blocks)
}

fn result<'a>(message: &'a ToolMessage, id: Cow<'a, str>) -> Result<WrittenBlock<'a>, String> {
    // The tool's name only repeats what the call says.
    check(None, &message.extra)?;
    let content = content::blocks(&message.content, None, Owner::Tool)?;
    let block = WrittenBlock::new(Kind::Result {
        id,
        content,
        is_error: message.marks.is_error,
    });
    Ok(block.with_cache(message.marks.cache.as_ref()))
}

fn check(name: Option<&str>, extra: &Extra) -> Result<(), String> {
    if name.is_some() {
        return Err("the API does not take the `name` of a participant: leave it out, or tell it in the text".into());
    }
    match extra.iter().next() {
        Some((member, _)) => Err(format!("the API knows no member `{member}` of messages: leave it out")),
        None => Ok(()),
    }
}
