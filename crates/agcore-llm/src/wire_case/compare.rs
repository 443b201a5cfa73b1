//! Comparing a result with what is expected.

use std::fmt::Debug;

use super::neutral::{NeutralCall, NeutralResult};

/// Stands for any id that no other call has.
const ANY_ID: &str = "*";

impl NeutralResult {
    /// What differs from the expected result, one line for each member; empty when all is right.
    ///
    /// An expected message is a part of the found one; an expected call id `*` is any that no other call has.
    pub fn differences(&self, expected: &Self) -> Vec<String> {
        let mut found = Vec::new();
        differ("id", &self.id, &expected.id, &mut found);
        differ("outcome", &self.outcome, &expected.outcome, &mut found);
        differ("text", &self.text, &expected.text, &mut found);
        differ("reasoning", &self.reasoning, &expected.reasoning, &mut found);
        differ("refusal", &self.refusal, &expected.refusal, &mut found);
        differ("finish", &self.finish, &expected.finish, &mut found);
        differ("usage", &self.usage, &expected.usage, &mut found);
        self.call_differences(expected, &mut found);
        self.error_differences(expected, &mut found);
        found
    }

    fn call_differences(&self, expected: &Self, found: &mut Vec<String>) {
        differ(
            "tool_calls.length",
            &self.tool_calls.len(),
            &expected.tool_calls.len(),
            found,
        );
        for (at, (call, wanted)) in self.tool_calls.iter().zip(&expected.tool_calls).enumerate() {
            if wanted.id == ANY_ID {
                let is_unique = self.tool_calls.iter().filter(|other| other.id == call.id).count() == 1;
                if call.id.is_empty() || !is_unique {
                    found.push(format!("tool_calls.{at}.id: {:?} is empty or not unique", call.id));
                }
            }
            let id = if wanted.id == ANY_ID { &call.id } else { &wanted.id };
            let wanted = NeutralCall {
                id: id.clone(),
                ..wanted.clone()
            };
            differ(&format!("tool_calls.{at}"), call, &wanted, found);
        }
    }

    fn error_differences(&self, expected: &Self, found: &mut Vec<String>) {
        let (Some(error), Some(wanted)) = (&self.error, &expected.error) else {
            return differ("error", &self.error, &expected.error, found);
        };
        differ("error.kind", &error.kind, &wanted.kind, found);
        differ("error.retryable", &error.retryable, &wanted.retryable, found);
        differ(
            "error.retry_after_ms",
            &error.retry_after_ms,
            &wanted.retry_after_ms,
            found,
        );
        if error.message.is_empty() || !error.message.contains(&wanted.message) {
            found.push(format!(
                "error.message: {:?} does not hold {:?}",
                error.message, wanted.message
            ));
        }
    }
}

fn differ<T: PartialEq + Debug>(member: &str, found: &T, expected: &T, differences: &mut Vec<String>) {
    if found != expected {
        differences.push(format!(
            "{member}: found {}, expected {}",
            shown(found),
            shown(expected)
        ));
    }
}

/// A value for a report, cut where it is long.
fn shown(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    let end = agcore_chat::floor_boundary(&text, 300);
    if end < text.len() {
        format!("{}…", &text[..end])
    } else {
        text
    }
}
