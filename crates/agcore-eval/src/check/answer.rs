//! Checks of the answer.

use serde_json::Value;

use super::{
    list::Checks,
    value::{is_same, shown, shown_value},
};
use crate::{
    expect::{Expect, ExpectValue},
    observation::Observation,
};

pub(super) fn check(expect: &Expect, seen: &Observation, checks: &mut Checks) {
    let (expected, answer) = (&expect.answer, seen.answer.as_str());
    if let Some(text) = &expected.equals {
        let problem =
            (answer.trim() != text.trim()).then(|| format!("expected {}, got {}", shown(text), shown(answer)));
        checks.add("answer.equals", problem);
    }
    for part in &expected.contains {
        let problem = (!answer.contains(part)).then(|| format!("{part:?} is not in {}", shown(answer)));
        checks.add("answer.contains", problem);
    }
    for part in &expected.excludes {
        let problem = answer
            .contains(part)
            .then(|| format!("{part:?} is in {}", shown(answer)));
        checks.add("answer.excludes", problem);
    }
    for pattern in &expected.matches {
        let problem = (!pattern.is_match(answer)).then(|| format!("/{pattern}/ does not match {}", shown(answer)));
        checks.add("answer.matches", problem);
    }
    if expect.json.is_empty() {
        return;
    }
    let value: Result<Value, _> = serde_json::from_str(answer.trim());
    for expected in &expect.json {
        let problem = match &value {
            Ok(value) => value_problem(expected, value),
            Err(error) => Some(format!("the answer is not JSON ({error}): {}", shown(answer))),
        };
        checks.add("json", problem);
    }
}

fn value_problem(expected: &ExpectValue, answer: &Value) -> Option<String> {
    let pointer = expected.pointer.as_str();
    let Some(value) = answer.pointer(pointer) else {
        return Some(format!("there is no {pointer} in {}", shown_value(answer)));
    };
    if let Some(equals) = expected.equals.as_ref().filter(|equals| !is_same(equals, value)) {
        let (equals, value) = (shown_value(equals), shown_value(value));
        return Some(format!("{pointer}: expected {equals}, got {value}"));
    }
    let pattern = expected.matches.as_ref()?;
    let is_match = value.as_str().is_some_and(|text| pattern.is_match(text));
    (!is_match).then(|| format!("{pointer}: /{pattern}/ does not match {}", shown_value(value)))
}
