//! [`ChoiceState`]: the state of a choice so far, and the data held back until it ends.

use std::borrow::Cow;

use agcore_chat::{Text, VendorData};
use serde_json::{Map, Value};

use super::{
    call::Fragments,
    content::{Content, Part},
    emitted_text::EmittedText,
    message::{MessageParts, ReasoningParts},
    reasoning_details,
};
use crate::{
    delta::{CallFragment, Place, ReplyDelta, SealedBlock},
    openai_chat::vendor::{REASONING_DETAILS, REASONING_MEMBER, THINKING_BLOCKS},
};

/// The origin of a reply.
#[derive(Debug)]
pub(super) struct Source {
    /// The name with which vendor data is marked.
    pub(super) vendor: Cow<'static, str>,
    /// Whether the reply is a whole one, which is not a stream.
    pub(super) is_whole: bool,
    /// Whether to remember the members in which reasoning arrived.
    pub(super) remembers_members: bool,
}

/// The state of a choice so far.
#[derive(Debug, Default)]
pub(super) struct ChoiceState {
    pub(super) index: u32,
    pub(super) is_finished: bool,
    /// Whether the finish reason was the limit of tokens.
    pub(super) ended_in_length: bool,
    has_calls: bool,
    /// Whether readable reasoning arrived in a member of its own.
    has_plain_reasoning: bool,
    /// Whether emitted reasoning is not sealed yet.
    is_reasoning: bool,
    details: Vec<Value>,
    thinking: Vec<Value>,
    /// The member in which readable reasoning arrived, if it must be remembered.
    member: Option<&'static str>,
    audio: Map<String, Value>,
    pub(super) text: EmittedText,
    pub(super) reasoning: EmittedText,
}

impl ChoiceState {
    /// Returns the choice with this index, and creates it if necessary.
    pub(super) fn entry(choices: &mut Vec<Self>, index: u32) -> &mut Self {
        let at = choices
            .iter()
            .position(|choice| choice.index == index)
            .unwrap_or_else(|| {
                // Almost all replies have one choice.
                choices.reserve_exact(usize::from(choices.is_empty()));
                choices.push(Self {
                    index,
                    ..Self::default()
                });
                choices.len() - 1
            });
        &mut choices[at]
    }

    /// Removes what was emitted before from a message.
    pub(super) fn remove_emitted(&self, message: &mut MessageParts<'_>) {
        if let Content::Text(text, _) = &mut message.content {
            *text = self.text.remainder(text).into();
        }
        for reasoning in [&mut message.reasoning_content, &mut message.reasoning] {
            if let Some(text) = reasoning {
                *reasoning = Some(self.reasoning.remainder(text).into()).filter(|rest: &Text| !rest.is_empty());
            }
        }
        // Details and audio were appended piece by piece, so they are complete.
        if !self.details.is_empty() || !self.thinking.is_empty() || !self.text.is_empty() || !self.reasoning.is_empty()
        {
            message.details.clear();
            message.thinking.clear();
        }
        if !self.audio.is_empty() {
            message.audio = None;
        }
    }

    /// Emits reasoning. The text in details or thinking blocks counts only if there is no plain member with the text.
    pub(super) fn reasoning(&mut self, parts: ReasoningParts, source: &Source, out: &mut Vec<ReplyDelta>) {
        let choice = self.index;
        let ReasoningParts {
            plain,
            details,
            thinking,
        } = parts;
        self.has_plain_reasoning |= plain.is_some();
        let before = out.len();
        if let Some((member, text)) = plain {
            self.member = self.member.or(Some(member).filter(|_| source.remembers_members));
            out.push(ReplyDelta::Reasoning { choice, text });
        } else if !self.has_plain_reasoning {
            let readable = if details.is_empty() { &thinking } else { &details };
            let texts = readable
                .iter()
                .filter_map(reasoning_details::text)
                .filter(|text| !text.is_empty());
            out.extend(texts.map(|text| ReplyDelta::Reasoning {
                choice,
                text: text.into(),
            }));
        }
        self.is_reasoning |= out.len() > before;
        reasoning_details::append(&mut self.details, details);
        if source.is_whole {
            self.thinking.extend(thinking);
        } else {
            reasoning_details::append_thinking(&mut self.thinking, thinking);
        }
    }

    pub(super) fn content(&mut self, vendor: &str, content: Content<'_>, out: &mut Vec<ReplyDelta>) {
        match content {
            Content::None => {}
            Content::Text(text, _) => self.text(vendor, text, out),
            Content::Parts(parts) => parts.into_iter().for_each(|part| self.part(vendor, part, out)),
        }
    }

    fn part(&mut self, vendor: &str, part: Part, out: &mut Vec<ReplyDelta>) {
        let choice = self.index;
        match part {
            Part::Text(text) => self.text(vendor, text, out),
            Part::Reasoning(text) if text.is_empty() => {}
            Part::Reasoning(text) => {
                self.is_reasoning = true;
                out.push(ReplyDelta::Reasoning { choice, text });
            }
            Part::Refusal(text) => out.push(ReplyDelta::Refusal { choice, text }),
            Part::Other(raw) => {
                out.push(ReplyDelta::Block {
                    choice,
                    block: Box::new(agcore_chat::Block::Other(raw)),
                });
            }
        }
    }

    fn text(&mut self, vendor: &str, text: Text, out: &mut Vec<ReplyDelta>) {
        if !text.is_empty() {
            self.seal(vendor, out);
            out.push(ReplyDelta::Text {
                choice: self.index,
                text,
            });
        }
    }

    /// Emits calls. The legacy form counts only if there are no other calls.
    pub(super) fn calls(
        &mut self,
        vendor: &str,
        calls: Fragments,
        legacy: Option<Box<CallFragment>>,
        out: &mut Vec<ReplyDelta>,
    ) {
        self.has_calls |= !calls.is_empty();
        let legacy = legacy.filter(|_| !self.has_calls);
        for fragment in calls.into_iter().chain(legacy) {
            self.seal(vendor, out);
            out.push(ReplyDelta::Call {
                choice: self.index,
                fragment,
            });
        }
    }

    /// Adds a piece of audio. Data and transcript are appended, other members are set.
    pub(super) fn append_audio(&mut self, audio: Option<Value>) {
        let Some(Value::Object(pieces)) = audio else {
            return;
        };
        for (name, value) in pieces {
            match (self.audio.get_mut(&name), value) {
                (Some(Value::String(text)), Value::String(more)) if name == "data" || name == "transcript" => {
                    text.push_str(&more);
                }
                (_, value) => {
                    self.audio.insert(name, value);
                }
            }
        }
    }

    /// Closes the reasoning with its details. Without any, it is still marked with its vendor, so that no other vendor
    /// receives it.
    fn seal(&mut self, vendor: &str, out: &mut Vec<ReplyDelta>) {
        let is_reasoning = std::mem::take(&mut self.is_reasoning);
        let (details, thinking) = (std::mem::take(&mut self.details), std::mem::take(&mut self.thinking));
        if details.is_empty() && thinking.is_empty() && !is_reasoning {
            return;
        }
        let lists = [(REASONING_DETAILS, details), (THINKING_BLOCKS, thinking)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        let mut members: Map<String, Value> = lists.map(|(name, list)| (name.to_owned(), list.into())).collect();
        if let Some(member) = self.member {
            members.insert(REASONING_MEMBER.to_owned(), member.into());
        }
        let data = if members.is_empty() {
            Value::Null
        } else {
            members.into()
        };
        let vendor = Box::new(VendorData::new(vendor, data));
        out.push(ReplyDelta::Seal {
            choice: self.index,
            block: SealedBlock::Reasoning,
            vendor,
        });
    }

    pub(super) fn flush(&mut self, vendor: &str, out: &mut Vec<ReplyDelta>) {
        self.seal(vendor, out);
        if !self.audio.is_empty() {
            let value = Value::Object(std::mem::take(&mut self.audio));
            out.push(ReplyDelta::Member {
                place: Place::Message(self.index),
                name: "audio".into(),
                value,
            });
        }
    }
}
