//! [`State`]: the state of a decoder between chunks.

use std::borrow::Cow;

use agcore_chat::{FinishReason, Usage};
use serde_json::{Result, Value};

use super::{
    choice::{ChoiceState, Source},
    finish,
    member::Members,
    message::MessageParts,
    usage,
};
use crate::{
    decode::{
        finish::{push_finish, push_missing_finish},
        json::JsonReader,
    },
    delta::{Place, ReplyDelta, ReplyStart},
};

/// The state of a reply so far.
#[derive(Debug)]
pub(super) struct State {
    source: Source,
    pub(super) start: ReplyStart,
    is_started: bool,
    choices: Vec<ChoiceState>,
    members: Members,
    /// Whether usage was found at the top level, so that Groq's copy is ignored.
    pub(super) has_usage: bool,
    /// The usage that was emitted last, of a stream.
    usage: Option<Box<Usage>>,
}

impl State {
    pub(super) fn new(vendor: Cow<'static, str>, remembers_members: bool) -> Self {
        Self {
            source: Source {
                vendor,
                is_whole: false,
                remembers_members,
            },
            start: ReplyStart::default(),
            is_started: false,
            choices: Vec::new(),
            members: Members::default(),
            has_usage: false,
            usage: None,
        }
    }

    /// Returns the name with which vendor data is marked.
    pub(super) fn vendor(&self) -> &str {
        &self.source.vendor
    }

    /// Marks the reply as a whole one, which is not a stream.
    pub(super) fn set_whole(&mut self) {
        self.source.is_whole = true;
    }

    /// Returns whether the reply is a whole one, which is not a stream.
    pub(super) fn is_whole(&self) -> bool {
        self.source.is_whole
    }

    /// Inserts a start at index `at`, if there was none yet or more is known now.
    pub(super) fn emit_start(&mut self, has_news: bool, at: usize, out: &mut Vec<ReplyDelta>) {
        if has_news || !self.is_started {
            self.is_started = true;
            // A whole reply has a single start, so nothing needs the values again.
            let start = if self.source.is_whole {
                std::mem::take(&mut self.start)
            } else {
                self.start.clone()
            };
            out.insert(at, ReplyDelta::Start(Box::new(start)));
        }
    }

    /// Reads a member without a delta of its own, if it must be kept. Returns the new part of its value.
    pub(super) fn member(
        &mut self,
        place: Place,
        name: &str,
        json: &mut JsonReader<'_>,
    ) -> Result<Option<(Box<str>, Value)>> {
        self.members.read(place, name, self.source.is_whole, json)
    }

    /// Completes usage with what was known before.
    pub(super) fn complete_usage(&mut self, mut usage: Box<Usage>) -> Box<Usage> {
        if let Some(before) = &self.usage {
            usage::fill_missing(&mut usage, before);
        }
        if !self.source.is_whole {
            self.usage = Some(usage.clone());
        }
        usage
    }

    /// Emits the delta or the message of a choice, which usually has only one of them. In a stream, a message contains the
    /// whole reply so far: some servers send it at the end, some with each delta.
    pub(super) fn emit_choice(
        &mut self,
        index: u32,
        delta: MessageParts<'_>,
        mut message: MessageParts<'_>,
        out: &mut Vec<ReplyDelta>,
    ) {
        let begin = out.len();
        if message.is_empty() {
            self.emit_parts(index, delta, out);
            self.remember_text(&out[begin..]);
        } else if self.source.is_whole {
            self.emit_parts(index, message, out);
        } else {
            self.emit_parts(index, delta, out);
            self.remember_text(&out[begin..]);
            let begin = out.len();
            ChoiceState::entry(&mut self.choices, index).remove_emitted(&mut message);
            self.emit_parts(index, message, out);
            self.remember_text(&out[begin..]);
        }
    }

    /// Remembers the texts that a stream emitted, to recognize them in a message.
    pub(super) fn remember_text(&mut self, deltas: &[ReplyDelta]) {
        if self.source.is_whole {
            return;
        }
        for delta in deltas {
            match delta {
                ReplyDelta::Text { choice, text } => ChoiceState::entry(&mut self.choices, *choice).text.push(text),
                ReplyDelta::Reasoning { choice, text } => {
                    ChoiceState::entry(&mut self.choices, *choice).reasoning.push(text);
                }
                _ => {}
            }
        }
    }

    fn emit_parts(&mut self, index: u32, mut parts: MessageParts<'_>, out: &mut Vec<ReplyDelta>) {
        let choice = ChoiceState::entry(&mut self.choices, index);
        choice.reasoning(parts.take_reasoning(), &self.source, out);
        choice.content(&self.source.vendor, parts.content, out);
        if let Some(text) = parts.refusal {
            out.push(ReplyDelta::Refusal { choice: index, text });
        }
        choice.calls(&self.source.vendor, parts.calls, parts.function_call, out);
        choice.append_audio(parts.audio);
        let place = Place::Message(index);
        out.extend(
            parts
                .members
                .into_iter()
                .map(|(name, value)| ReplyDelta::Member { place, name, value }),
        );
    }

    /// Ends a choice.
    pub(super) fn finish(&mut self, index: u32, word: &str, out: &mut Vec<ReplyDelta>) {
        let choice = ChoiceState::entry(&mut self.choices, index);
        choice.flush(&self.source.vendor, out);
        choice.is_finished = true;
        let reason = finish::reason(word);
        choice.ended_in_length |= reason == FinishReason::Length;
        push_finish(index, reason, word, out);
    }

    /// Returns whether the reply, up to now, ended because of the limit of tokens.
    pub(super) fn ended_in_length(&self) -> bool {
        self.is_finished() && self.choices.iter().any(|choice| choice.ended_in_length)
    }

    /// Returns whether there was any choice.
    pub(super) fn has_choices(&self) -> bool {
        !self.choices.is_empty()
    }

    /// Ends every choice that has no finish reason. One that has started has stopped, in a stream as in a whole reply.
    pub(super) fn finish_all(&mut self, out: &mut Vec<ReplyDelta>) {
        let has_started = self.source.is_whole || self.has_choices();
        if self.choices.is_empty() {
            ChoiceState::entry(&mut self.choices, 0);
        }
        for choice in self.choices.iter_mut().filter(|choice| !choice.is_finished) {
            choice.flush(&self.source.vendor, out);
            choice.is_finished = true;
            push_missing_finish(choice.index, has_started, out);
        }
    }

    /// Emits what was held back, when the reply ends early.
    pub(super) fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.choices
            .iter_mut()
            .for_each(|choice| choice.flush(&self.source.vendor, out));
    }

    /// Returns whether the reply may end: whether the choice with index 0 is finished, or all choices if there is none with
    /// that index. The missing finish reason of another choice shows that it is incomplete.
    pub(super) fn is_finished(&self) -> bool {
        match self.choices.iter().find(|choice| choice.index == 0) {
            Some(first) => first.is_finished,
            None => !self.choices.is_empty() && self.choices.iter().all(|choice| choice.is_finished),
        }
    }
}
