//! [`Members`]: members of chunks that are kept in the response, joined over all chunks.
//!
//! Some repeat in every chunk (`safetyRatings`), some come once at the end (`groundingMetadata`), and some in pieces
//! (`logprobsResult`, `citationMetadata`).

use serde_json::{Map, Value};

use crate::{
    decode::lenient::is_blank,
    delta::{Place, ReplyDelta},
};

/// The members whose lists are pieces, and never repeated.
const PIECES: &[&str] = &["logprobsResult"];

/// Returns whether the lists of a member are pieces, so that it counts again when it is repeated.
pub(super) fn is_piece(name: &str) -> bool {
    PIECES.contains(&name)
}

/// The members of a reply or a choice so far.
#[derive(Debug, Default)]
pub(super) struct Members(Vec<Member>);

#[derive(Debug)]
struct Member {
    name: Box<str>,
    /// The JSON that was read last, to recognize repetitions.
    raw: Box<str>,
    value: Value,
}

impl Members {
    /// Adds a member of a chunk.
    pub(super) fn add(&mut self, name: &str, raw: &str) {
        let is_piece = is_piece(name);
        let known = self.0.iter_mut().find(|known| *known.name == *name);
        if known.as_ref().is_some_and(|known| !is_piece && *known.raw == *raw) {
            return;
        }
        let value: Value = serde_json::from_str(raw).unwrap_or_default();
        if is_blank(&value) {
            return;
        }
        match known {
            Some(known) => {
                known.raw = raw.into();
                join(&mut known.value, value, is_piece);
            }
            None => self.0.push(Member {
                name: name.into(),
                raw: raw.into(),
                value,
            }),
        }
    }

    /// Returns a member that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|known| *known.name == *name)?.value.as_str()
    }

    /// Emits all members.
    pub(super) fn emit(&mut self, place: Place, out: &mut Vec<ReplyDelta>) {
        out.extend(self.0.drain(..).map(|member| ReplyDelta::Member {
            place,
            name: member.name,
            value: member.value,
        }));
    }
}

/// Adds a later value to an earlier one: new entries of lists are appended, objects are merged, and anything else is replaced.
fn join(before: &mut Value, later: Value, is_piece: bool) {
    match (before, later) {
        (_, blank) if is_blank(&blank) => {}
        (Value::Array(before), Value::Array(later)) if is_piece => before.extend(later),
        (Value::Array(before), Value::Array(later)) if later.starts_with(before) => *before = later,
        (Value::Array(before), Value::Array(later)) => {
            let new: Vec<Value> = later.into_iter().filter(|entry| !before.contains(entry)).collect();
            before.extend(new);
        }
        (Value::Object(before), Value::Object(later)) => join_members(before, later, is_piece),
        (before, later) => *before = later,
    }
}

fn join_members(before: &mut Map<String, Value>, later: Map<String, Value>, is_piece: bool) {
    for (name, value) in later {
        match before.get_mut(&name) {
            Some(old) => join(old, value, is_piece),
            None => drop(before.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(name: &str, chunks: &[&str], expected: Value) {
        let (mut members, mut out) = (Members::default(), Vec::new());
        chunks.iter().for_each(|raw| members.add(name, raw));
        members.emit(Place::Response, &mut out);
        let found = out.into_iter().next().map(|delta| match delta {
            ReplyDelta::Member { value, .. } => value,
            other => panic!("{other:?}"),
        });
        assert_eq!(found.unwrap_or_default(), expected);
    }

    #[test]
    fn repetitions_count_once_and_pieces_are_joined() {
        check("safetyRatings", &["[1]", "[1]", "[1]"], json!([1]));
        check("x", &["[1]", "[1,2]", "[3]", "null"], json!([1, 2, 3]));
        check(
            "x",
            &[r#"{"a":[1]}"#, r#"{"a":[2],"b":1}"#],
            json!({"a": [1, 2], "b": 1}),
        );
        check(
            "logprobsResult",
            &[r#"{"c":[7]}"#, r#"{"c":[7]}"#],
            json!({"c": [7, 7]}),
        );
        check("avgLogprobs", &["-0.5", "-0.25"], json!(-0.25));
        check("x", &["null", "{}", "[]"], Value::Null);
    }
}
