//! [`UniqueCallIds`]: ids of calls for vendors that require them to be unique in the whole conversation.
//!
//! Servers that do not generate ids get the same ones in every round.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    iter,
    sync::Arc,
};

use agcore_chat::Message;

use super::call_ids::{CallIdFormat, CallIds};
use crate::fold::calls::first_free;

/// The ids of the calls of one request.
///
/// A repeated id gets a suffix that depends on how often it occurred before, so that it is the same in every later
/// request.
pub(crate) struct UniqueCallIds<'a> {
    formatted: CallIds<'a>,
    /// The replacements of repeated ids, by the index of the message and the id.
    renamed: HashMap<(usize, &'a str), String>,
}

impl<'a> UniqueCallIds<'a> {
    /// Creates a mapping of the ids in these messages to unique ids of a format.
    pub(crate) fn new(format: CallIdFormat, messages: &'a [Arc<Message>]) -> Self {
        let formatted = CallIds::new(format, messages);
        let (mut counts, mut latest, mut renamed) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut taken: HashSet<String> = HashSet::new();
        for (at, message) in messages.iter().enumerate() {
            match &**message {
                Message::Assistant(message) => {
                    for call in message.tool_calls() {
                        let id = call.id.as_str();
                        let count = counts.entry(id).or_insert(0_usize);
                        *count += 1;
                        if *count > 1 {
                            if taken.is_empty() {
                                taken.extend(ids(messages).map(|id| formatted.get(id).to_owned()));
                            }
                            let new = numbered(formatted.get(id), *count, &taken);
                            taken.insert(new.clone());
                            renamed.insert((at, id), new.clone());
                            latest.insert(id, new);
                        }
                    }
                }
                Message::Tool(result) => {
                    if let Some((id, new)) = latest.get_key_value(result.tool_call_id.as_str()) {
                        renamed.insert((at, *id), new.clone());
                    }
                }
                _ => {}
            }
        }
        Self { formatted, renamed }
    }

    /// Creates a mapping to ids of a format, in which an id may occur again in a later round: for formats without place for a
    /// suffix.
    #[cfg(feature = "bedrock")]
    pub(crate) fn repeatable(format: CallIdFormat, messages: &'a [Arc<Message>]) -> Self {
        Self {
            formatted: CallIds::new(format, messages),
            renamed: HashMap::new(),
        }
    }

    /// Returns the id to send for an id in the message at index `at`.
    pub(crate) fn get(&self, at: usize, id: &'a str) -> Cow<'a, str> {
        let renamed = self.renamed.get(&(at, id)).map(String::as_str);
        match renamed.unwrap_or_else(|| self.formatted.get(id)) {
            same if same == id => Cow::Borrowed(id),
            other => Cow::Owned(other.to_owned()),
        }
    }
}

/// Returns the ids of all calls.
fn ids(messages: &[Arc<Message>]) -> impl Iterator<Item = &str> {
    let messages = messages.iter().filter_map(|message| message.as_assistant());
    messages.flat_map(|message| message.tool_calls().map(|call| call.id.as_str()))
}

/// Returns the id with a number that makes it different from all other ids.
fn numbered(id: &str, count: usize, taken: &HashSet<String>) -> String {
    let candidates = iter::successors(Some(format!("{id}_{count}")), |id| Some(format!("{id}_")));
    first_free(candidates, |id| taken.contains(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agcore_chat::{AssistantMessage, ToolCall};

    const FORMAT: CallIdFormat = CallIdFormat {
        accepts: |id| !id.is_empty() && !id.contains(['.', ':']),
        generate: |number| format!("call_{number:016x}"),
    };

    fn rounds(ids: &[&str]) -> Vec<Arc<Message>> {
        let round = |id: &&str| {
            let message = AssistantMessage::default().with_call(ToolCall::function(*id, "f", "{}"));
            [Message::from(message), Message::tool(*id, "ok")]
        };
        ids.iter().flat_map(round).map(Arc::new).collect()
    }

    /// Returns the ids that are sent for calls, after checking that their results have the same ones.
    fn sent(ids: &[&str]) -> Vec<String> {
        let messages = rounds(ids);
        let map = UniqueCallIds::new(FORMAT, &messages);
        let sent_id = |(round, id): (usize, &&str)| {
            let messages = &messages[2 * round..];
            let Message::Tool(result) = &*messages[1] else {
                panic!("no result for {id}")
            };
            let call = messages[0].as_assistant().unwrap().tool_calls().next().unwrap();
            let (call, result) = (
                map.get(2 * round, &call.id),
                map.get(2 * round + 1, &result.tool_call_id),
            );
            assert_eq!(call, result);
            call.into_owned()
        };
        ids.iter().enumerate().map(sent_id).collect()
    }

    #[test]
    fn keeps_acceptable_ids_and_replaces_others_stably() {
        assert_eq!(sent(&["toolu_1", "call-2"]), ["toolu_1", "call-2"]);
        let mapped = sent(&["functions.f:0"]);
        assert!((FORMAT.accepts)(&mapped[0]), "{mapped:?}");
        assert_eq!(sent(&["functions.f:0", "functions.f:1"])[0], mapped[0]);
        let two = sent(&["a.b", "a:b"]);
        assert_ne!(two[0], two[1]);
        assert!((FORMAT.accepts)(&sent(&[""])[0]));
    }

    #[test]
    fn makes_ids_unique_in_the_conversation() {
        assert_eq!(
            sent(&["call_0", "call_0", "call_0"]),
            ["call_0", "call_0_2", "call_0_3"]
        );
        assert_eq!(
            sent(&["call_0", "call_0", "call_0_2"]),
            ["call_0", "call_0_2_", "call_0_2"]
        );
    }
}
