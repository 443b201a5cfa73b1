//! The answer of a turn that ended before its process died, from the messages of the session.

use std::sync::Arc;

use agcore_chat::Message;
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
    let inner = object.get("value");
    let found = T::deserialize(object).ok();
    found.or_else(|| T::deserialize(inner?).ok())
}
