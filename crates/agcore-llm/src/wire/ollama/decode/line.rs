//! One line: a visitor that tells deltas as it reads.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess},
};
use serde_json::{Value, json};

use super::{
    created,
    message::SaidSeed,
    said::Said,
    state::{State, tell_members},
    usage::Counts,
};
use crate::{
    delta::{Place, ReplyDelta},
    wire::lenient::{FilledText, LooseCount, LooseText, Name, says_nothing, skip},
};

/// What a line says beside its deltas.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Whether it is part of a reply.
    pub(super) is_part: bool,
    /// Whether it is the last one.
    pub(super) is_done: bool,
    /// Whether it tells an error instead.
    pub(super) is_error: bool,
}

/// Reads a line and tells its deltas. A line with an error tells what it says, but no end.
pub(super) fn read(data: &[u8], state: &mut State, out: &mut Vec<ReplyDelta>) -> serde_json::Result<Summary> {
    let mut deserializer = serde_json::Deserializer::from_slice(data);
    let line = LineSeed(state).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(line.tell(state, out))
}

/// A line as it was read.
#[derive(Debug, Default)]
struct Line {
    has_news: bool,
    said: Said,
    is_done: bool,
    reason: Option<Text>,
    counts: Counts,
    logprobs: Value,
    members: Vec<(Box<str>, Value)>,
    has_error: bool,
    has_detail: bool,
}

impl Line {
    fn tell(self, state: &mut State, out: &mut Vec<ReplyDelta>) -> Summary {
        let is_part = self.said.is_there || self.is_done;
        // Gateways tell an error flat, as a text under `message` or `detail`.
        let is_flat = !is_part && (self.said.is_words || self.has_detail);
        if self.has_error || is_flat {
            // What the line says beside the error is what the reply came to.
            if self.said.is_there {
                state.tell_start(self.has_news, out);
                state.say(self.said, out);
            }
            return Summary {
                is_error: true,
                ..Summary::default()
            };
        }
        if is_part {
            state.tell_start(self.has_news, out);
        }
        state.say(self.said, out);
        if !says_nothing(&self.logprobs) {
            out.push(ReplyDelta::Member {
                place: Place::Choice(0),
                name: "logprobs".into(),
                // The entries are those of the Chat Completions API, which has them one level deeper.
                value: json!({ "content": self.logprobs }),
            });
        }
        tell_members(Place::Response, self.members, out);
        if self.is_done {
            state.finish(self.reason.as_deref(), &self.counts, out);
        }
        Summary {
            is_part,
            is_done: self.is_done,
            is_error: false,
        }
    }
}

struct LineSeed<'a>(&'a mut State);

impl<'de> DeserializeSeed<'de> for LineSeed<'_> {
    type Value = Line;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Line, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> de::Visitor<'de> for LineSeed<'_> {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a chat reply or a part of one")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
        let (state, mut line) = (self.0, Line::default());
        while let Some(name) = map.next_key::<Name<'de>>()? {
            match name.as_str() {
                "message" => line.said = map.next_value_seed(SaidSeed(state))?,
                "done" => line.is_done = map.next_value::<Value>()? == true,
                "done_reason" => line.reason = map.next_value::<FilledText>()?.0,
                "model" if state.start.model.is_none() => {
                    state.start.model = map.next_value::<FilledText>()?.0.map(|model| model.to_string());
                    line.has_news |= state.start.model.is_some();
                }
                "created_at" if state.start.created.is_none() => {
                    state.start.created = created::seconds(&map.next_value::<LooseText>()?.0);
                    line.has_news |= state.start.created.is_some();
                }
                "model" | "created_at" => skip(&mut map)?,
                "error" => line.has_error = !says_nothing(&map.next_value()?),
                "detail" => line.has_detail = !says_nothing(&map.next_value()?),
                "logprobs" => line.logprobs = map.next_value()?,
                other => match line.counts.place(other) {
                    Some(place) => *place = map.next_value::<LooseCount>()?.0,
                    None => line.members.extend(state.member(Place::Response, other, &mut map)?),
                },
            }
        }
        Ok(line)
    }
}
