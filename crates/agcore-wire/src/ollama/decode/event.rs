//! One line of a reply.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess},
};
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    message::{Message, MessageSeed, push_members},
    state::State,
    usage::Counts,
};
use crate::{
    decode::lenient::{LenientCount, LenientText, MemberName, NonEmptyText, is_blank, skip},
    delta::{Place, ReplyDelta},
    ollama::vendor::CHOICE,
};

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A part of a reply.
    Part,
    /// The last line of a reply.
    Last,
    /// The last line of a reply in which there is nothing at all.
    Empty,
    /// An error instead of a part.
    Error,
    /// A line that belongs to no reply.
    Unknown,
}

/// Parses a line and emits its deltas. A line with an error may contain a last part of the reply, but does not end it.
pub(super) fn read(data: &[u8], state: &mut State, out: &mut Vec<ReplyDelta>) -> serde_json::Result<LineKind> {
    let mut deserializer = serde_json::Deserializer::from_slice(data);
    let line = LineSeed(state).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(line.push(state, out))
}

/// A line that is parsed but not emitted yet.
#[derive(Debug, Default)]
struct Line {
    has_new_start: bool,
    message: Message,
    is_done: bool,
    reason: Option<Text>,
    counts: Counts,
    logprobs: Value,
    members: Vec<(Box<str>, Value)>,
    has_error: bool,
    has_detail: bool,
}

impl Line {
    fn push(self, state: &mut State, out: &mut Vec<ReplyDelta>) -> LineKind {
        let is_part = self.message.is_present || self.is_done;
        // Gateways report an error as a string under `message` or `detail`.
        let is_flat_error = !is_part && (self.message.is_error_text || self.has_detail);
        if self.has_error || is_flat_error {
            if self.message.is_present {
                state.push_start(self.has_new_start, out);
                state.push_message(self.message, out);
            }
            return LineKind::Error;
        }
        let has_no_content = !self.message.is_present && self.reason.is_none() && self.counts.is_empty();
        if is_part && has_no_content && !state.is_started() {
            return LineKind::Empty;
        }
        if is_part {
            state.push_start(self.has_new_start, out);
        }
        state.push_message(self.message, out);
        if !is_blank(&self.logprobs) {
            out.push(ReplyDelta::Member {
                place: Place::Choice(CHOICE),
                name: "logprobs".into(),
                // The Chat Completions API has the same entries, but one level deeper.
                value: json!({ "content": self.logprobs }),
            });
        }
        push_members(Place::Response, self.members, out);
        match (self.is_done, is_part) {
            (true, _) => {
                state.finish(self.reason.as_deref(), &self.counts, out);
                LineKind::Last
            }
            (false, true) => LineKind::Part,
            (false, false) => LineKind::Unknown,
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
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            match name.as_str() {
                "message" => line.message = map.next_value_seed(MessageSeed(&mut state.members))?,
                "done" => line.is_done = map.next_value::<Value>()? == true,
                "done_reason" => line.reason = map.next_value::<NonEmptyText>()?.0,
                "model" if state.start.model.is_none() => {
                    state.start.model = map.next_value::<NonEmptyText>()?.0.map(|model| model.to_string());
                    line.has_new_start |= state.start.model.is_some();
                }
                "created_at" if state.start.created.is_none() => {
                    state.start.created = unix_seconds(&map.next_value::<LenientText>()?.0);
                    line.has_new_start |= state.start.created.is_some();
                }
                "model" | "created_at" => skip(&mut map)?,
                "error" => line.has_error = !is_blank(&map.next_value()?),
                "detail" => line.has_detail = !is_blank(&map.next_value()?),
                "logprobs" => line.logprobs = map.next_value()?,
                other => match line.counts.get_mut(other) {
                    Some(count) => *count = map.next_value::<LenientCount>()?.0,
                    None => {
                        let member = state.members.read(Place::Response, other, &mut map)?;
                        line.members.extend(member);
                    }
                },
            }
        }
        Ok(line)
    }
}

/// Converts a time (RFC 3339) to seconds since 1970.
fn unix_seconds(time: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(time, &Rfc3339).ok()?;
    time.unix_timestamp().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_times_with_any_offset_and_fraction() {
        let check = |time: &str, expected| assert_eq!(unix_seconds(time), expected, "{time}");
        check("2024-01-01T00:00:00Z", Some(1_704_067_200));
        check("2024-01-01T01:00:00.123456789+01:00", Some(1_704_067_200));
        check("0001-01-01T00:00:00Z", None);
        check("today", None);
    }
}
