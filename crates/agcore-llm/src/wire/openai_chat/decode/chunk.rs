//! Chunks of a stream and whole replies: one visitor for both that tells deltas as it reads.

use std::fmt;

use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess},
};
use serde_json::Value;

use super::{
    message::SaidSeed,
    said::Said,
    state::{Heard, State},
    usage::{Counted, GroqMember},
};
use crate::{
    delta::{Place, ReplyDelta},
    wire::lenient::{FilledText, LooseCount, LooseStr, LooseString, Name, is_no_error, or_no_list, or_no_object, skip},
};

/// What a chunk says beside its deltas.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Whether it has a list of choices.
    pub(super) has_list: bool,
    /// Whether there is something in it.
    pub(super) has_choices: bool,
    /// The error in it or in one of its choices.
    pub(super) error: Option<Value>,
    /// Whether a choice finished with the word `error`.
    pub(super) finished_with_error: bool,
    /// Whether it calls itself an error, as vLLM wrote it until 0.10.1.
    pub(super) is_error: bool,
    /// The usage in one of its choices, as Moonshot sends it.
    choice_usage: Counted,
    /// The address of its text, when it says nothing else at all.
    pub(super) only_text: Option<usize>,
}

/// Reads a chunk and tells its deltas. After an error in it the deltas told for it are void.
pub(super) fn read(data: &[u8], state: &mut State, out: &mut Vec<ReplyDelta>) -> serde_json::Result<Summary> {
    // Checked as a whole it costs less than string by string; where it is none, the place of the fault is found that way.
    match std::str::from_utf8(data) {
        Ok(text) => read_from(serde_json::Deserializer::from_str(text), state, out),
        Err(_) => read_from(serde_json::Deserializer::from_slice(data), state, out),
    }
}

fn read_from<'de, R: serde_json::de::Read<'de>>(
    mut deserializer: serde_json::Deserializer<R>,
    state: &mut State,
    out: &mut Vec<ReplyDelta>,
) -> serde_json::Result<Summary> {
    let summary = ChunkSeed { state, out }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(summary)
}

struct ChunkSeed<'a> {
    state: &'a mut State,
    out: &'a mut Vec<ReplyDelta>,
}

impl<'de> DeserializeSeed<'de> for ChunkSeed<'_> {
    type Value = Summary;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Summary, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for ChunkSeed<'_> {
    type Value = Summary;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a chat completion or a chunk of one")
    }

    or_no_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Summary, A::Error> {
        let Self { state, out } = self;
        let mut summary = Summary::default();
        let (begin, mut has_news) = (out.len(), false);
        let (mut usage, mut groq) = (Counted::default(), Counted::default());
        state.heard = Heard::Nothing;
        while let Some(name) = map.next_key::<Name<'de>>()? {
            match name.as_str() {
                "choices" => {
                    summary.has_list = map.next_value_seed(ChoicesSeed {
                        state,
                        out,
                        summary: &mut summary,
                    })?;
                }
                "id" => has_news |= known(&mut map, &mut state.start.id)?,
                "model" => has_news |= known(&mut map, &mut state.start.model)?,
                "system_fingerprint" => {
                    has_news |= known(&mut map, &mut state.start.system_fingerprint)?;
                }
                "service_tier" => has_news |= known(&mut map, &mut state.start.service_tier)?,
                "created" if state.start.created.is_none() => {
                    state.start.created = map.next_value::<LooseCount>()?.0;
                    has_news |= state.start.created.is_some();
                }
                "created" | "obfuscation" => skip(&mut map)?,
                "object" => summary.is_error |= map.next_value::<LooseStr<'de>>()?.0 == "error",
                "usage" => usage = map.next_value()?,
                "x_groq" => {
                    let member = map.next_value::<GroqMember>()?;
                    groq = member.usage;
                    note_error(&mut summary, member.error);
                }
                "error" => note_error(&mut summary, map.next_value()?),
                other => {
                    let place = Place::Response;
                    let member = state.member(place, other, &mut map)?;
                    out.extend(member.map(|(name, value)| ReplyDelta::Member { place, name, value }));
                }
            }
        }
        let usage = if usage.0.is_some() {
            usage
        } else {
            std::mem::take(&mut summary.choice_usage)
        };
        if summary.has_choices || has_news {
            state.tell_start(has_news, begin, out);
        }
        if usage.0.is_some() || groq.0.is_some() {
            tell_usage(state, usage, groq, out);
        } else if out.len() == begin + 1 && !has_news {
            // The one delta is the text; members that were told of, or remembered, would be others.
            summary.only_text = state.heard.only_text().filter(|_| summary.is_plain());
        }
        Ok(summary)
    }
}

impl Summary {
    /// Whether it tells of no failure.
    fn is_plain(&self) -> bool {
        self.error.is_none() && !self.finished_with_error && !self.is_error
    }
}

/// Reads a member of the start, if it is not known yet; says whether it is new.
fn known<'de, A: MapAccess<'de>>(map: &mut A, place: &mut Option<String>) -> Result<bool, A::Error> {
    if place.is_some() {
        return skip(map).map(|()| false);
    }
    *place = map.next_value::<LooseString>()?.0;
    Ok(place.is_some())
}

/// The last usage with anything in it counts; Groq's copy only where there is no other.
fn tell_usage(state: &mut State, Counted(top): Counted, Counted(groq): Counted, out: &mut Vec<ReplyDelta>) {
    state.has_usage |= top.is_some();
    let usage = top.or_else(|| groq.filter(|_| !state.has_usage));
    out.extend(usage.map(|usage| ReplyDelta::Usage(state.add_known(usage))));
}

fn note_error(summary: &mut Summary, error: Value) {
    if !is_no_error(&error) {
        summary.error.get_or_insert(error);
    }
}

/// Reads the choices; gives whether there is a list of them.
struct ChoicesSeed<'a> {
    state: &'a mut State,
    out: &'a mut Vec<ReplyDelta>,
    summary: &'a mut Summary,
}

impl<'de> DeserializeSeed<'de> for ChoicesSeed<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for ChoicesSeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    or_no_list!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let Self { state, out, summary } = self;
        while seq.next_element_seed(ChoiceSeed { state, out, summary })?.is_some() {
            summary.has_choices = true;
        }
        Ok(true)
    }
}

struct ChoiceSeed<'a> {
    state: &'a mut State,
    out: &'a mut Vec<ReplyDelta>,
    summary: &'a mut Summary,
}

impl<'de> DeserializeSeed<'de> for ChoiceSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for ChoiceSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a choice")
    }

    or_no_object!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { state, out, summary } = self;
        let (mut index, mut finish, mut members) = (0, None, Vec::new());
        let (mut delta, mut message) = (Said::default(), Said::default());
        while let Some(name) = map.next_key::<Name<'de>>()? {
            match name.as_str() {
                "index" => {
                    let count = map.next_value::<LooseCount>()?.0;
                    index = count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
                }
                "delta" => delta = map.next_value_seed(SaidSeed { state, choice: index })?,
                "message" => message = map.next_value_seed(SaidSeed { state, choice: index })?,
                "finish_reason" => finish = map.next_value::<FilledText>()?.0,
                "error" => note_error(summary, map.next_value()?),
                "usage" => summary.choice_usage = map.next_value()?,
                other => members.extend(state.member(Place::Choice(index), other, &mut map)?),
            }
        }
        state.say(index, delta, message, out);
        let place = Place::Choice(index);
        out.extend(
            members
                .into_iter()
                .map(|(name, value)| ReplyDelta::Member { place, name, value }),
        );
        match finish {
            // The kind of failure is told by an error object, if there is one.
            Some(word) if word == "error" => summary.finished_with_error = true,
            Some(word) => state.finish(index, &word, out),
            None => {}
        }
        Ok(())
    }
}
