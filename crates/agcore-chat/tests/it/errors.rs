//! Errors of invalid JSON: the expected value and the location.

use agcore_chat::{
    ChatRequest, ChatResponse, ContentPart, Message, ResponseFormat, StopSequence, Tool, ToolCall, ToolChoice,
};
use serde::de::DeserializeOwned;

#[track_caller]
fn check<T: DeserializeOwned + std::fmt::Debug>(json: &str, expected: &str) {
    let error = serde_json::from_str::<T>(json).unwrap_err().to_string();
    assert_eq!(error, expected);
}

#[test]
fn errors_contain_the_location() {
    check::<ChatRequest>(
        "{\n  \"messages\": [\n    {\"role\": \"user\", \"content\": 5}\n  ]\n}",
        "invalid type: integer `5`, expected content: a string or an array of parts at line 3 column 33",
    );
    check::<ChatRequest>(
        "{\"model\": 5}",
        "invalid type: integer `5`, expected a string at line 1 column 11",
    );
    check::<ChatRequest>(
        "[1]",
        "invalid type: sequence, expected a chat request at line 1 column 0",
    );
    check::<ChatRequest>(
        "{\"stop\":\n\n7}",
        "invalid type: integer `7`, expected a stop sequence: a string or an array of strings at line 3 column 1",
    );
    check::<ChatResponse>(
        "{\"choices\": [\n{\"message\": {\"tool_calls\": [\n{\"id\": 1}]}}]}",
        "invalid type: integer `1`, expected a string at line 3 column 8",
    );
    check::<ChatRequest>("{\"messages\": [", "EOF while parsing a list at line 1 column 14");
}

#[test]
fn errors_contain_the_expected_value() {
    check::<Message>(
        "7",
        "invalid type: integer `7`, expected a message: an object with a `role` at line 1 column 1",
    );
    check::<Message>("{\"content\": \"x\"}", "missing field `role` at line 1 column 16");
    check::<Message>(
        "{\"role\": \"robot\"}",
        "unknown variant `robot`, expected one of `developer`, `system`, `user`, `assistant`, `tool`, `function` at line 1 column 17",
    );
    check::<ContentPart>(
        "\"x\"",
        "invalid type: string \"x\", expected a content part: an object with a `type` at line 1 column 3",
    );
    check::<Tool>(
        "null",
        "invalid type: null, expected a tool: an object with a `type` at line 1 column 4",
    );
    check::<ToolChoice>(
        "1",
        "invalid type: integer `1`, expected a tool choice: a string or an object with a `type` at line 1 column 1",
    );
    check::<ResponseFormat>(
        "\"json\"",
        "invalid type: string \"json\", expected a response format: an object with a `type` at line 1 column 6",
    );
    check::<ToolCall>("{\"id\": \"a\"}", "missing field `function` at line 1 column 11");
}

#[test]
fn errors_before_a_late_tag_have_the_line_of_the_object() {
    let error = serde_json::from_str::<Message>("{\n\"content\": 5,\n\"role\": \"user\"\n}").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("invalid type: integer `5`, expected content"),
        "{error}"
    );
    assert_eq!(
        error.line(),
        4,
        "the end of the message, as its members were buffered until the role"
    );
}

#[test]
fn rejects_a_stop_sequence_of_another_type() {
    check::<StopSequence>("[1]", "invalid type: integer `1`, expected a string at line 1 column 2");
    check::<StopSequence>(
        "null",
        "invalid type: null, expected a stop sequence: a string or an array of strings at line 1 column 4",
    );
}
