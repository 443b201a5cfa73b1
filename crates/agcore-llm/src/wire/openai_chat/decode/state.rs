//! [`State`]: what a decoder must remember from one chunk to the next.

use std::borrow::Cow;

use agcore_chat::Usage;
use serde::de::MapAccess;
use serde_json::Value;

use super::{choice::ChoiceState, finish, said::Said, usage};
use crate::{
    delta::{Place, ReplyDelta, ReplyStart},
    wire::lenient::{says_nothing, skip},
};

/// Members of chunks that come over and over in pieces; of all others the first occurrence is kept.
const IN_PIECES: &[&str] = &["logprobs", "annotations"];

/// More members than any server sends; a bound on what is remembered.
const MOST_MEMBERS: usize = 64;

/// What was seen of a reply so far.
#[derive(Debug)]
pub(super) struct State {
    vendor: Cow<'static, str>,
    whole: bool,
    pub(super) start: ReplyStart,
    is_started: bool,
    choices: Vec<ChoiceState>,
    members: Vec<(Place, Box<str>)>,
    /// Whether usage stood at the top level: then Groq's copy does not count.
    pub(super) has_usage: bool,
    /// The usage that was told last, of a stream.
    usage: Option<Box<Usage>>,
    /// What the choices of the chunk that is being read have said.
    pub(super) heard: Heard,
}

/// What the choices of a chunk say.
#[derive(Debug, Clone, Copy)]
pub(super) enum Heard {
    /// There was no choice yet.
    Nothing,
    /// One, and it said only a text that stands at this address.
    OnlyText(usize),
    /// Anything else.
    Other,
}

impl Heard {
    /// The address of the text, when there was nothing else.
    pub(super) fn only_text(self) -> Option<usize> {
        match self {
            Self::OnlyText(address) => Some(address),
            Self::Nothing | Self::Other => None,
        }
    }
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
            heard: Heard::Nothing,
        }
    }

    /// Under which name data that the vendor wants back is kept.
    pub(super) fn vendor(&self) -> &str {
        &self.vendor
    }

    /// Says that a whole reply is read, and no stream.
    pub(super) fn read_whole(&mut self) {
        self.whole = true;
    }

    /// Whether a whole reply is read, and no stream.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Puts a start before the deltas from `at` on, when there is none yet or more is known now.
    pub(super) fn tell_start(&mut self, has_news: bool, at: usize, out: &mut Vec<ReplyDelta>) {
        if has_news || !self.is_started {
            self.is_started = true;
            // A whole reply is read once: nothing asks again what is known.
            let start = if self.whole {
                std::mem::take(&mut self.start)
            } else {
                self.start.clone()
            };
            out.insert(at, ReplyDelta::Start(Box::new(start)));
        }
    }

    /// Reads a member that has no place of its own, if it is to be kept.
    pub(super) fn member<'de, A: MapAccess<'de>>(
        &mut self,
        place: Place,
        name: &str,
        map: &mut A,
    ) -> Result<Option<(Box<str>, Value)>, A::Error> {
        let in_pieces = IN_PIECES.contains(&name);
        if !in_pieces && (self.members.len() >= MOST_MEMBERS || self.is_known(place, name)) {
            return skip(map).map(|()| None);
        }
        let value: Value = map.next_value()?;
        if says_nothing(&value) {
            return Ok(None);
        }
        if !in_pieces {
            self.members.push((place, name.into()));
        }
        Ok(Some((name.into(), value)))
    }

    fn is_known(&self, place: Place, name: &str) -> bool {
        let mut members = self.members.iter();
        members.any(|(seen, known)| *seen == place && **known == *name)
    }

    /// The usage, with what else is known by now.
    pub(super) fn add_known(&mut self, mut usage: Box<Usage>) -> Box<Usage> {
        if let Some(before) = &self.usage {
            usage::keep_known(&mut usage, before);
        }
        if !self.whole {
            self.usage = Some(usage.clone());
        }
        usage
    }

    /// Tells what a choice says in a delta, or in a message: mostly it has one of them. In a stream a message is all that was
    /// said so far; some servers end with it, some send it beside each delta.
    pub(super) fn say(&mut self, index: u32, delta: Said, mut message: Said, out: &mut Vec<ReplyDelta>) {
        self.heard = match (self.heard, delta.only_text()) {
            (Heard::Nothing, Some(address)) if message.says_nothing() => Heard::OnlyText(address),
            _ => Heard::Other,
        };
        let begin = out.len();
        if message.says_nothing() {
            self.tell(index, delta, out);
            self.remember(&out[begin..]);
        } else if self.whole {
            self.tell(index, message, out);
        } else {
            self.tell(index, delta, out);
            self.remember(&out[begin..]);
            let begin = out.len();
            ChoiceState::of(&mut self.choices, index).take_told_from(&mut message);
            self.tell(index, message, out);
            self.remember(&out[begin..]);
        }
    }

    /// Remembers what a stream told, to know it again in a message.
    pub(super) fn remember(&mut self, told: &[ReplyDelta]) {
        if self.whole {
            return;
        }
        for delta in told {
            match delta {
                ReplyDelta::Text { choice, text } => ChoiceState::of(&mut self.choices, *choice).text.push(text),
                ReplyDelta::Reasoning { choice, text } => {
                    ChoiceState::of(&mut self.choices, *choice).reasoning.push(text);
                }
                _ => {}
            }
        }
    }

    fn tell(&mut self, index: u32, said: Said, out: &mut Vec<ReplyDelta>) {
        let choice = ChoiceState::of(&mut self.choices, index);
        choice.reason(said.reasoning_content.or(said.reasoning), said.details, out);
        choice.content(&self.vendor, said.content, out);
        if let Some(text) = said.refusal {
            out.push(ReplyDelta::Refusal { choice: index, text });
        }
        choice.calls(&self.vendor, said.calls, said.function_call, out);
        choice.hear(said.audio);
        let place = Place::Message(index);
        out.extend(
            said.members
                .into_iter()
                .map(|(name, value)| ReplyDelta::Member { place, name, value }),
        );
    }

    /// A choice ends.
    pub(super) fn finish(&mut self, index: u32, word: &str, out: &mut Vec<ReplyDelta>) {
        let choice = ChoiceState::of(&mut self.choices, index);
        choice.flush(&self.vendor, out);
        choice.is_finished = true;
        let reason = finish::reason(word);
        if reason.as_str() != word {
            // OpenRouter's name for a vendor's own word.
            let (place, name) = (Place::Choice(index), "native_finish_reason".into());
            out.push(ReplyDelta::Member {
                place,
                name,
                value: word.into(),
            });
        }
        out.push(ReplyDelta::Finish { choice: index, reason });
    }

    /// Ends every choice that is still open: a whole reply has stopped, a stream with a terminal marker has ended for a
    /// reason that nobody told.
    pub(super) fn finish_all(&mut self, out: &mut Vec<ReplyDelta>) {
        if self.choices.is_empty() {
            ChoiceState::of(&mut self.choices, 0);
        }
        for choice in self.choices.iter_mut().filter(|choice| !choice.is_finished) {
            choice.flush(&self.vendor, out);
            choice.is_finished = true;
            let reason = if self.whole {
                agcore_chat::FinishReason::Stop
            } else {
                finish::unknown()
            };
            out.push(ReplyDelta::Finish {
                choice: choice.index,
                reason,
            });
        }
    }

    /// Tells what was held back, when the reply ends in the middle.
    pub(super) fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        self.choices
            .iter_mut()
            .for_each(|choice| choice.flush(&self.vendor, out));
    }

    /// Whether the answer has ended: the first choice, where there is one of that number. Of another one that has not, the
    /// missing finish reason tells.
    pub(super) fn is_finished(&self) -> bool {
        match self.choices.iter().find(|choice| choice.index == 0) {
            Some(first) => first.is_finished,
            None => !self.choices.is_empty() && self.choices.iter().all(|choice| choice.is_finished),
        }
    }
}
