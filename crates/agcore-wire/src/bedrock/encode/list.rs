//! [`MessageList`]: messages of alternating roles, with the results of tools where the API and the model expect them.

use serde::Serialize;

use super::{
    block::{self, EncodedBlock, MediaKind},
    model::Beside,
};

/// The text of messages that only keep others apart. The API rejects blank ones.
const PLACEHOLDER: &str = ".";

/// A message in the form of the API.
#[derive(Debug, Serialize)]
pub(super) struct EncodedMessage<'a> {
    role: MessageRole,
    #[serde(serialize_with = "write_content")]
    pub(super) content: Vec<EncodedBlock<'a>>,
}

fn write_content<S: serde::Serializer>(content: &[EncodedBlock<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    block::write_list(content, serializer)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MessageRole {
    User,
    Assistant,
}

impl EncodedMessage<'_> {
    pub(super) fn is_assistant(&self) -> bool {
        self.role == MessageRole::Assistant
    }

    fn has_results(&self) -> bool {
        self.content.iter().any(EncodedBlock::is_result)
    }

    fn placeholder(role: MessageRole) -> Self {
        Self {
            role,
            content: EncodedBlock::text(PLACEHOLDER).into_iter().collect(),
        }
    }
}

/// Messages in order. Consecutive ones of the same role are merged, as the API requires.
#[derive(Debug)]
pub(super) struct MessageList<'a> {
    messages: Vec<EncodedMessage<'a>>,
    beside_results: Beside,
}

impl<'a> MessageList<'a> {
    pub(super) fn new(beside_results: Beside) -> Self {
        Self {
            messages: Vec::new(),
            beside_results,
        }
    }

    /// Adds blocks, if there are any: the API refuses messages without content.
    pub(super) fn push(&mut self, role: MessageRole, blocks: Vec<EncodedBlock<'a>>) {
        if blocks.is_empty() {
            return;
        }
        let fits = self.fits_beside_results(&blocks);
        match self.messages.last_mut() {
            Some(last) if last.role == role && (fits || !last.has_results()) => last.content.extend(blocks),
            last => {
                let needs_placeholder = last.is_some_and(|last| last.role == role);
                if needs_placeholder {
                    self.messages.push(EncodedMessage::placeholder(MessageRole::Assistant));
                }
                self.messages.push(EncodedMessage { role, content: blocks });
            }
        }
    }

    /// Adds the result of a tool to the message behind the calls, before everything in it that is not a result.
    pub(super) fn push_result(&mut self, result: EncodedBlock<'a>) {
        let calls = self.messages.iter().rposition(EncodedMessage::is_assistant);
        let at = calls.map_or(0, |calls| calls + 1);
        let needs_own = match self.messages.get(at) {
            None => true,
            Some(next) => !next.has_results() && !self.fits_beside_results(&next.content),
        };
        if needs_own {
            let is_followed = at < self.messages.len();
            let content = vec![result];
            let message = EncodedMessage {
                role: MessageRole::User,
                content,
            };
            self.messages.insert(at, message);
            if is_followed {
                self.messages
                    .insert(at + 1, EncodedMessage::placeholder(MessageRole::Assistant));
            }
        } else if let Some(next) = self.messages.get_mut(at) {
            let place = next.content.iter().take_while(|block| block.is_result()).count();
            next.content.insert(place, result);
        }
    }

    /// Adds instructions to the first message of the user, for models without system instructions.
    pub(super) fn prepend(&mut self, mut blocks: Vec<EncodedBlock<'a>>) {
        match self.messages.first_mut() {
            Some(first) if !first.is_assistant() && !first.has_results() => {
                blocks.append(&mut first.content);
                first.content = blocks;
            }
            _ => self.messages.insert(
                0,
                EncodedMessage {
                    role: MessageRole::User,
                    content: blocks,
                },
            ),
        }
    }

    /// Returns the messages. Most models require that the first one is the user's.
    pub(super) fn finish(mut self, begins_with_assistant: bool) -> Vec<EncodedMessage<'a>> {
        if !begins_with_assistant && self.messages.first().is_some_and(EncodedMessage::is_assistant) {
            self.messages.insert(0, EncodedMessage::placeholder(MessageRole::User));
        }
        self.messages
    }

    /// Returns whether the model accepts these blocks in a message with results of tools.
    fn fits_beside_results(&self, blocks: &[EncodedBlock<'_>]) -> bool {
        match self.beside_results {
            Beside::Everything => true,
            Beside::TextAndImages => !blocks
                .iter()
                .any(|block| block.is_media(MediaKind::Document) || block.is_media(MediaKind::Video)),
            Beside::Nothing => false,
        }
    }
}
