//! Comparison of a result with the expected one.

use std::fmt::Debug;

use agcore_chat::text::clip;

use super::neutral::{NeutralCall, NeutralResult};

/// The expected id that matches any id, as long as no other call has the same one.
const ANY_ID: &str = "*";

impl NeutralResult {
    /// Returns the differences from the expected result, one line per member.
    ///
    /// The expected error message may be a part of the actual one, and the expected call id `*` matches any unique id.
    ///
    /// ```
    /// use agcore_wire::wire_case::NeutralResult;
    ///
    /// let found = NeutralResult::new("case", agcore_chat::ChatResponse::from_text("Hello"), None);
    /// assert!(found.differences(&found).is_empty());
    ///
    /// let expected = NeutralResult { text: "Hi".into(), ..found.clone() };
    /// assert_eq!(found.differences(&expected), [r#"text: found "Hello", expected "Hi""#]);
    /// ```
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
                "error.message: {:?} does not contain {:?}",
                error.message, wanted.message
            ));
        }
    }
}

fn differ<T: PartialEq + Debug>(member: &str, found: &T, expected: &T, differences: &mut Vec<String>) {
    if found != expected {
        differences.push(format!("{member}: found {}, expected {}", show(found), show(expected)));
    }
}

/// Formats a value for a report, truncated if it is long.
fn show(value: &impl Debug) -> String {
    clip(&format!("{value:?}"), 300).into_owned()
}
