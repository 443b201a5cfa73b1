//! The answer of a turn that ended before its process died, from the messages of the session.

use std::sync::Arc;

use agcore_chat::{Message, schema::whole_numbers};
use agcore_cycle::typed::ObjectFinder;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns the text of the last message, if the agent wrote it.
pub(super) fn text(messages: &[Arc<Message>]) -> Option<String> {
    let answer = messages.last()?.as_assistant()?;
    answer.tool_calls().next().is_none().then(|| answer.text().into_owned())
}

/// Returns the value in the last message of the agent: in its text, or in the arguments of the call with which it answered.
pub(super) fn value<T: DeserializeOwned>(messages: &[Arc<Message>]) -> Option<T> {
    let answer = messages.iter().rev().find_map(|message| message.as_assistant())?;
    let mut texts: Vec<String> = answer.tool_calls().map(|call| call.raw_input().to_owned()).collect();
    texts.push(answer.text().into_owned());
    let mut objects = texts.iter().flat_map(|text| {
        let mut finder = ObjectFinder::new();
        finder.push(text);
        finder.into_objects()
    });
    objects.find_map(|object| read(&object))
}

fn read<T: DeserializeOwned>(object: &Value) -> Option<T> {
    let fitting = |value: &Value| {
        T::deserialize(value)
            .or_else(|_| T::deserialize(&*whole_numbers(value)))
            .ok()
    };
    fitting(object).or_else(|| fitting(object.get("value")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_read_like_that_of_a_turn() {
        let read = |text: &str| value::<(u8, f64)>(&[Arc::new(Message::assistant(text))]);
        assert_eq!(read(r#"{"value": [2, 2.5]}"#), Some((2, 2.5)));
        assert_eq!(read(r#"{"value": [2.0, 2.5]}"#), Some((2, 2.5)));
        assert_eq!(read(r#"{"value": [2.5, 2.5]}"#), None);

        let answer = |object: Value| self::read::<Vec<u8>>(&object);
        assert_eq!(answer(json!({"value": [1, 2.0]})), Some(vec![1, 2]));
        assert_eq!(answer(json!({"other": [1]})), None);
    }
}
