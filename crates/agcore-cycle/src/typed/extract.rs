//! Finds the value in the text of a model.

use agcore_chat::{
    SchemaViolation,
    text::{clip, floor_char_boundary},
};
use serde_json::Value;

use super::{partial::ObjectFinder, read::QUOTE};

/// Returns the values that a text may contain, the likeliest first.
pub(super) fn values(text: &str) -> Result<Vec<Value>, SchemaViolation> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let bare = unfenced(text);
    if let Ok(value) = serde_json::from_str::<Value>(bare) {
        return Ok(vec![value]);
    }
    let mut finder = ObjectFinder::new();
    finder.push(text);
    let mut objects = finder.into_objects();
    if objects.is_empty() {
        return Err(violation(text, bare));
    }
    // The answer usually follows thoughts and examples.
    objects.reverse();
    Ok(objects)
}

/// Returns the content of a text that is a single code fence, or else the text.
fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|inside| inside.strip_suffix("```"))
        .and_then(|inside| inside.split_once('\n'))
        .map(|(_, inside)| inside.trim());
    inside.filter(|inside| !inside.contains("```")).unwrap_or(text)
}

/// Returns the reason why a text contains no value.
fn violation(text: &str, bare: &str) -> SchemaViolation {
    let message = match bare.find('{') {
        _ if text.is_empty() => "the answer is empty; expected a JSON object".to_owned(),
        None => format!(
            "found no JSON object in the answer, which begins with `{}`",
            clip(text, QUOTE)
        ),
        Some(start) => {
            let json = &bare[start..];
            match serde_json::from_str::<Value>(json) {
                Err(error) => format!("not valid JSON: {error}, near `{}`", excerpt(json, &error)),
                Ok(_) => "expected one JSON object and nothing else".to_owned(),
            }
        }
    };
    SchemaViolation::new("$", message)
}

/// Returns the text around an error, within its line.
fn excerpt(json: &str, error: &serde_json::Error) -> String {
    let line = json.lines().nth(error.line().saturating_sub(1)).unwrap_or("");
    let start = floor_char_boundary(line, error.column().saturating_sub(20));
    let end = floor_char_boundary(line, error.column().saturating_add(20));
    line[start..end].to_owned()
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
    fn finds_the_value_in_fences_and_prose() {
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
    fn check_error(text: &str, expected: &str) {
        let violation = values(text).unwrap_err();
        assert!(violation.message.contains(expected), "{violation}");
    }

    #[test]
    fn reports_what_is_wrong() {
        check_error("", "is empty");
        check_error("I cannot say.", "begins with `I cannot say.`");
        check_error("{\"a\": 1,}", "trailing comma at line 1 column 9, near `{\"a\": 1,}`");
        check_error("Here: {\"a\": [1, ", "EOF while parsing");
        // A part of a broken object is not an answer.
        check_error("{\"a\": [{\"b\": 1,}, {\"a\": 2}]}", "trailing comma");
        check_error("{\"a\": 0} no, {\"a\": ", "not valid JSON");
    }
}
