//! [`Members`]: the members that have no delta of their own.
//!
//! Some servers repeat a member in every chunk, some send it again when they know more, and some send it in pieces. What is
//! new about a member is passed on, and the fold [joins](crate::fold::join) it to what was there before.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

use serde_json::{Map, Result, Value};

use crate::{
    decode::{json::JsonReader, lenient::is_blank},
    delta::Place,
    fold::join::{self, CONCATENATED},
};

/// A bound on the number of members that are remembered, above what any server sends.
const MAX_MEMBERS: usize = 64;

/// The members read so far.
#[derive(Debug, Default)]
pub(super) struct Members(Vec<Member>);

#[derive(Debug)]
struct Member {
    place: Place,
    name: Box<str>,
    /// The hash of the JSON that was read last, to skip repetitions. 0 in a whole reply.
    hash: u64,
    /// The value so far. `null` in a whole reply, which has no repetitions.
    value: Value,
}

impl Members {
    /// Reads a member, and returns the new part of its value.
    pub(super) fn read(
        &mut self,
        place: Place,
        name: &str,
        is_whole: bool,
        json: &mut JsonReader<'_>,
    ) -> Result<Option<(Box<str>, Value)>> {
        if CONCATENATED.contains(&name) {
            let value = json.value()?;
            return Ok((!is_blank(&value)).then(|| (name.into(), value)));
        }
        let is_full = self.0.len() >= MAX_MEMBERS;
        let is_same = |member: &Member| member.place == place && *member.name == *name;
        let at = self.0.iter().position(is_same);
        let known = at.and_then(|at| self.0.get_mut(at));
        if (known.is_none() && is_full) || (known.is_some() && is_whole) {
            return json.skip().map(|()| None);
        }
        let raw = json.raw()?;
        // The usual values of members that are not used.
        if matches!(raw, "null" | "[]" | "{}" | "\"\"") {
            return Ok(None);
        }
        // A whole reply has no repetitions.
        let hash = if is_whole { 0 } else { hash(raw) };
        if known.as_ref().is_some_and(|known| known.hash == hash) {
            return Ok(None);
        }
        let value = json.parse(raw)?;
        if is_blank(&value) {
            return Ok(None);
        }
        let Some(known) = known else {
            let remembered = if is_whole { Value::Null } else { value.clone() };
            self.0.push(Member {
                place,
                name: name.into(),
                hash,
                value: remembered,
            });
            return Ok(Some((name.into(), value)));
        };
        known.hash = hash;
        // A single value is kept as it came first: some servers change ids and the like from chunk to chunk.
        let is_list_or_object = value.is_array() || value.is_object();
        let Some(news) = news(&known.value, value).filter(|_| is_list_or_object) else {
            return Ok(None);
        };
        join::join(&mut known.value, &news);
        Ok(Some((name.into(), news)))
    }
}

fn hash(json: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    hasher.finish()
}

/// Returns the new part of `more`: joined to `before`, it has the same effect as all of `more`.
fn news(before: &Value, more: Value) -> Option<Value> {
    match (before, more) {
        (_, Value::Null) => None,
        (before, more) if *before == more => None,
        (Value::Array(before), Value::Array(more)) => {
            let more = new_entries(before, more);
            (!more.is_empty()).then_some(Value::Array(more))
        }
        (Value::Object(before), Value::Object(more)) => {
            let new = more.into_iter().filter_map(|(name, value)| {
                let value = match before.get(&name) {
                    Some(before) => news(before, value)?,
                    None => value,
                };
                Some((name, value))
            });
            let members: Map<String, Value> = new.collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
        (_, more) => Some(more),
    }
}

/// Returns the entries of a list that are new: the end of a list that has grown, entries that replace others, and entries
/// that are not there yet.
fn new_entries(before: &[Value], mut more: Vec<Value>) -> Vec<Value> {
    if more.starts_with(before) {
        return more.split_off(before.len());
    }
    // Numbers are data, such as tokens, and may repeat.
    more.retain(|entry| entry.is_number() || !before.contains(entry));
    more
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(before: Value, more: Value, expected: Option<Value>, joined: Value) {
        let found = news(&before, more);
        assert_eq!(found, expected);
        let mut value = before;
        if let Some(news) = &found {
            join::join(&mut value, news);
        }
        assert_eq!(value, joined);
    }

    #[test]
    fn a_repetition_is_no_news() {
        for value in [json!("a"), json!(["a", "b"]), json!({"a": [1, {"b": 2}]})] {
            check(value.clone(), value.clone(), None, value.clone());
            check(value.clone(), Value::Null, None, value);
        }
    }

    #[test]
    fn a_list_that_has_grown_is_not_doubled() {
        check(json!(["a"]), json!(["a", "b"]), Some(json!(["b"])), json!(["a", "b"]));
        check(
            json!(["a", "b"]),
            json!(["a", "c"]),
            Some(json!(["c"])),
            json!(["a", "b", "c"]),
        );
        check(
            json!({"l": [1]}),
            json!({"l": [1, 2]}),
            Some(json!({"l": [2]})),
            json!({"l": [1, 2]}),
        );
        // Pieces of data are not taken for repetitions.
        check(json!([7, 8]), json!([8]), Some(json!([8])), json!([7, 8, 8]));
    }

    #[test]
    fn an_entry_with_the_same_index_is_replaced() {
        let running = json!([{"index": 0, "type": "search", "results": []}]);
        let done = json!([{"index": 0, "output": "x", "results": [1]}]);
        let joined = json!([{"index": 0, "type": "search", "results": [1], "output": "x"}]);
        check(running, done.clone(), Some(done), joined);
    }

    #[test]
    fn two_images_with_the_same_index_are_two() {
        let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}, "index": 0});
        let second = json!([image("b")]);
        check(
            json!([image("a")]),
            second.clone(),
            Some(second),
            json!([image("a"), image("b")]),
        );
    }

    #[test]
    fn other_values_are_replaced() {
        check(json!({"n": 1}), json!({"n": 2}), Some(json!({"n": 2})), json!({"n": 2}));
        check(json!("a"), json!("b"), Some(json!("b")), json!("b"));
    }
}
