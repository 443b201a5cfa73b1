//! [`UniqueCallIds`]: ids of calls for vendors that want them unique in the whole conversation.
//!
//! Servers without ids of their own have them begin anew in each round.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use agcore_chat::Message;

use super::call_ids::{CallIdForm, CallIds};

/// The ids of one request. A repeated one gets a number that depends on how often it came before, so that it is the same
/// in every later request.
pub(crate) struct UniqueCallIds<'a> {
    formed: CallIds<'a>,
    /// What repeated ids became, message by message.
    renamed: HashMap<(usize, &'a str), String>,
}

impl<'a> UniqueCallIds<'a> {
    /// The ids of these messages, in a form.
    pub(crate) fn new(form: CallIdForm, messages: &'a [Arc<Message>]) -> Self {
        let formed = CallIds::mapped(form, messages);
        let (mut seen, mut latest, mut renamed) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut taken: HashSet<String> = HashSet::new();
        for (at, message) in messages.iter().enumerate() {
            match &**message {
                Message::Assistant(said) => {
                    for call in said.tool_calls() {
                        let id = call.id.as_str();
                        let count = seen.entry(id).or_insert(0_usize);
                        *count += 1;
                        if *count > 1 {
                            if taken.is_empty() {
                                taken.extend(ids(messages).map(|id| formed.get(id).to_owned()));
                            }
                            let new = numbered(formed.get(id), *count, &taken);
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
        Self { formed, renamed }
    }

    /// The id to send for an id in the message at this place.
    pub(crate) fn get(&self, at: usize, id: &'a str) -> Cow<'a, str> {
        let renamed = self.renamed.get(&(at, id)).map(String::as_str);
        match renamed.unwrap_or_else(|| self.formed.get(id)) {
            same if same == id => Cow::Borrowed(id),
            other => Cow::Owned(other.to_owned()),
        }
    }
}

/// The ids of all calls.
fn ids(messages: &[Arc<Message>]) -> impl Iterator<Item = &str> {
    let said = messages.iter().filter_map(|message| message.as_assistant());
    said.flat_map(|said| said.tool_calls().map(|call| call.id.as_str()))
}

/// An id that no other call has.
fn numbered(id: &str, count: usize, taken: &HashSet<String>) -> String {
    let mut new = format!("{id}_{count}");
    while taken.contains(&new) {
        new.push('_');
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use agcore_chat::{AssistantMessage, ToolCall};

    const FORM: CallIdForm = CallIdForm {
        fits: |id| !id.is_empty() && !id.contains(['.', ':']),
        spell: |number| format!("call_{number:016x}"),
    };

    fn rounds(ids: &[&str]) -> Vec<Arc<Message>> {
        let round = |id: &&str| {
            let said = AssistantMessage::default().with_call(ToolCall::function(*id, "f", "{}"));
            [Message::from(said), Message::tool(*id, "ok")]
        };
        ids.iter().flat_map(round).map(Arc::new).collect()
    }

    /// The ids of calls and of their results, after they were found to be equal.
    fn sent(ids: &[&str]) -> Vec<String> {
        let messages = rounds(ids);
        let map = UniqueCallIds::new(FORM, &messages);
        let of = |(round, id): (usize, &&str)| {
            let messages = &messages[2 * round..];
            let Message::Tool(result) = &*messages[1] else {
                panic!("no result of {id}")
            };
            let call = messages[0].as_assistant().unwrap().tool_calls().next().unwrap();
            let (call, result) = (
                map.get(2 * round, &call.id),
                map.get(2 * round + 1, &result.tool_call_id),
            );
            assert_eq!(call, result);
            call.into_owned()
        };
        ids.iter().enumerate().map(of).collect()
    }

    #[test]
    fn keeps_what_fits_and_maps_the_rest_stably() {
        assert_eq!(sent(&["toolu_1", "call-2"]), ["toolu_1", "call-2"]);
        let mapped = sent(&["functions.f:0"]);
        assert!((FORM.fits)(&mapped[0]), "{mapped:?}");
        assert_eq!(sent(&["functions.f:0", "functions.f:1"])[0], mapped[0]);
        let two = sent(&["a.b", "a:b"]);
        assert_ne!(two[0], two[1]);
        assert!((FORM.fits)(&sent(&[""])[0]));
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
