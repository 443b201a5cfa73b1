//! [`State`]: the state of a decoder between chunks.

use std::borrow::Cow;

use agcore_chat::Usage;
use serde::de::MapAccess;
use serde_json::Value;

use super::{choice::ChoiceState, finish, message::MessageParts, usage};
use crate::{
    decode::{
        finish::{push_finish, push_missing_finish},
        lenient::{is_blank, skip},
    },
    delta::{Place, ReplyDelta, ReplyStart},
};

/// The members that arrive in pieces. Of all others, only the first occurrence is kept.
const IN_PIECES: &[&str] = &["logprobs", "annotations"];

/// A bound on the number of members that are remembered, above what any server sends.
const MAX_MEMBERS: usize = 64;

/// The state of a reply so far.
#[derive(Debug)]
pub(super) struct State {
    vendor: Cow<'static, str>,
    whole: bool,
    pub(super) start: ReplyStart,
    is_started: bool,
    choices: Vec<ChoiceState>,
    members: Vec<(Place, Box<str>)>,
    /// Whether usage was found at the top level, so that Groq's copy is ignored.
    pub(super) has_usage: bool,
    /// The usage that was emitted last, of a stream.
    usage: Option<Box<Usage>>,
}

impl State {
    pub(super) fn new(vendor: Cow<'static, str>) -> Self {
        Self {
            vendor,
            whole: false,
            start: ReplyStart::default(),
            is_started: false,
            choices: Vec::new(),
            members: Vec::new(),
            has_usage: false,
            usage: None,
        }
    }

    /// Returns the name with which vendor data is marked.
    pub(super) fn vendor(&self) -> &str {
        &self.vendor
    }

    /// Marks the reply as a whole one, which is not a stream.
    pub(super) fn set_whole(&mut self) {
        self.whole = true;
    }

    /// Returns whether the reply is a whole one, which is not a stream.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Inserts a start at index `at`, if there was none yet or more is known now.
    pub(super) fn emit_start(&mut self, has_news: bool, at: usize, out: &mut Vec<ReplyDelta>) {
        if has_news || !self.is_started {
            self.is_started = true;
            // A whole reply has a single start, so nothing needs the values again.
            let start = if self.whole {
                std::mem::take(&mut self.start)
            } else {
                self.start.clone()
            };
            out.insert(at, ReplyDelta::Start(Box::new(start)));
        }
    }

    /// Reads a member without a delta of its own, if it must be kept.
    pub(super) fn member<'de, A: MapAccess<'de>>(
        &mut self,
        place: Place,
        name: &str,
        map: &mut A,
    ) -> Result<Option<(Box<str>, Value)>, A::Error> {
        let in_pieces = IN_PIECES.contains(&name);
        if !in_pieces && (self.members.len() >= MAX_MEMBERS || self.is_known(place, name)) {
            return skip(map).map(|()| None);
        }
        let value: Value = map.next_value()?;
        if is_blank(&value) {
            return Ok(None);
        }
        if !in_pieces {
            self.members.push((place, name.into()));
        }
        Ok(Some((name.into(), value)))
    }

    fn is_known(&self, place: Place, name: &str) -> bool {
        let mut members = self.members.iter();
        members.any(|(known_place, known)| *known_place == place && **known == *name)
    }

    /// Completes usage with what was known before.
    pub(super) fn complete_usage(&mut self, mut usage: Box<Usage>) -> Box<Usage> {
        if let Some(before) = &self.usage {
            usage::fill_missing(&mut usage, before);
        }
        if !self.whole {
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
        } else if self.whole {
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
        if self.whole {
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

    fn emit_parts(&mut self, index: u32, parts: MessageParts<'_>, out: &mut Vec<ReplyDelta>) {
        let choice = ChoiceState::entry(&mut self.choices, index);
        choice.reasoning(parts.reasoning_content.or(parts.reasoning), parts.details, out);
        choice.content(&self.vendor, parts.content, out);
        if let Some(text) = parts.refusal {
            out.push(ReplyDelta::Refusal { choice: index, text });
        }
        choice.calls(&self.vendor, parts.calls, parts.function_call, out);
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
        choice.flush(&self.vendor, out);
        choice.is_finished = true;
        push_finish(index, finish::reason(word), word, out);
    }

    /// Ends every choice that has no finish reason.
    pub(super) fn finish_all(&mut self, out: &mut Vec<ReplyDelta>) {
        if self.choices.is_empty() {
            ChoiceState::entry(&mut self.choices, 0);
        }
        for choice in self.choices.iter_mut().filter(|choice| !choice.is_finished) {
            choice.flush(&self.vendor, out);
            choice.is_finished = true;
            push_missing_finish(choice.index, self.whole, out);
        }
    }

    /// Emits what was held back, when the reply ends early.
    pub(super) fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.choices
            .iter_mut()
            .for_each(|choice| choice.flush(&self.vendor, out));
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
