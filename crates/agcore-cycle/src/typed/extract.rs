//! Finding the value in what a model wrote.

use agcore_chat::SchemaViolation;
use serde_json::Value;

use super::{partial::ObjectFinder, read::quote};

/// The values that a text may mean, the likeliest first.
pub(super) fn values(text: &str) -> Result<Vec<Value>, SchemaViolation> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let bare = unfenced(text);
    let whole = serde_json::from_str::<Value>(bare);
    if let Ok(value) = whole {
        return Ok(vec![value]);
    }
    let mut finder = ObjectFinder::new();
    finder.push(text);
    let mut objects = finder.into_objects();
    if objects.is_empty() {
        return Err(fault(text, bare));
    }
    // An answer stands behind thoughts and examples.
    objects.reverse();
    Ok(objects)
}

/// The inside of a text that is one code fence.
fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|inside| inside.strip_suffix("```"))
        .and_then(|inside| inside.split_once('\n'))
        .map(|(_, inside)| inside.trim());
    inside.filter(|inside| !inside.contains("```")).unwrap_or(text)
}

fn fault(text: &str, bare: &str) -> SchemaViolation {
    let begins = bare.find('{');
    let words = match begins {
        _ if text.is_empty() => "the answer is empty; expected a JSON object".to_owned(),
        None => format!(
            "found no JSON object in the answer, which begins with `{}`",
            quote(text)
        ),
        Some(begin) => {
            let json = &bare[begin..];
            match serde_json::from_str::<Value>(json) {
                Err(error) => format!("not valid JSON: {error}, near `{}`", near(json, &error)),
                Ok(_) => "expected one JSON object and nothing else".to_owned(),
            }
        }
    };
    SchemaViolation::new("$", words)
}

/// The line's text around an error.
fn near(json: &str, error: &serde_json::Error) -> String {
    let line = json.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
    let begin = agcore_chat::text::floor_char_boundary(line, error.column().saturating_sub(20));
    let end = agcore_chat::text::floor_char_boundary(line, error.column().saturating_add(20));
    line[begin..end].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[Value]) {
        assert_eq!(values(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn finds_the_value_wherever_it_stands() {
        let one = json!({"a": 1});
        check("{\"a\": 1}", std::slice::from_ref(&one));
        check(" \u{feff}{\"a\": 1}\n", std::slice::from_ref(&one));
        check("```json\n{\"a\": 1}\n```", std::slice::from_ref(&one));
        check("```\n[1]\n```", &[json!([1])]);
        check(
            "Sure, {friend}! Here:\n```json\n{\"a\": 1}\n```\nDone {.",
            std::slice::from_ref(&one),
        );
        check("As in {\"a\": 0}: {\"a\": 1}", &[one.clone(), json!({"a": 0})]);
        check("<think>{}</think>{\"a\": 1}", &[one, json!({})]);
        check("\"text\"", &[json!("text")]);
    }

    #[track_caller]
    fn refuse(text: &str, expected: &str) {
        let fault = values(text).unwrap_err();
        assert!(fault.message.contains(expected), "{fault}");
    }

    #[test]
    fn says_what_is_wrong() {
        refuse("", "is empty");
        refuse("I cannot say.", "begins with `I cannot say.`");
        refuse("{\"a\": 1,}", "trailing comma at line 1 column 9, near `{\"a\": 1,}`");
        refuse("Here: {\"a\": [1, ", "EOF while parsing");
        // A part of a broken object is no answer.
        refuse("{\"a\": [{\"b\": 1,}, {\"a\": 2}]}", "trailing comma");
        refuse("{\"a\": 0} no, {\"a\": ", "not valid JSON");
    }
}
