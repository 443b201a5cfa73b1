//! [`CallIds`]: ids of calls, in a format that a vendor accepts.

use std::{collections::BTreeMap, sync::Arc};

use agcore_chat::Message;

use crate::fold::calls::first_free;

/// The ids that a vendor accepts, and how others are replaced.
#[derive(Clone, Copy)]
pub(crate) struct CallIdFormat {
    /// Returns whether an id can be sent unchanged.
    pub(crate) accepts: fn(&str) -> bool,
    /// Returns an acceptable id for a number; different numbers give different ids.
    pub(crate) generate: fn(u64) -> String,
}

/// The ids of the calls of one request.
///
/// A replacement depends only on the id, so that it is the same in every request, and for a call and its result. If two
/// ids would get the same one, the second gets another.
pub(crate) struct CallIds<'a>(Option<BTreeMap<&'a str, String>>);

impl<'a> CallIds<'a> {
    /// Creates a mapping that leaves every id unchanged.
    pub(crate) fn unchanged() -> Self {
        Self(None)
    }

    /// Creates a mapping of the ids in these messages to ids of a format.
    pub(crate) fn new(format: CallIdFormat, messages: &'a [Arc<Message>]) -> Self {
        let ids = || messages.iter().flat_map(|message| ids_of(message));
        if ids().all(|id| (format.accepts)(id)) {
            return Self(None);
        }
        let mut map = BTreeMap::new();
        // Unchanged ids come first, so that no replacement is equal to one of them.
        map.extend(ids().filter(|id| (format.accepts)(id)).map(|id| (id, id.to_owned())));
        for id in ids().filter(|id| !(format.accepts)(id)) {
            if !map.contains_key(id) {
                let hash = fnv1a(id);
                let candidates = (0..).map(|step| (format.generate)(hash.wrapping_add(step)));
                let replacement = first_free(candidates, |candidate| map.values().any(|taken| taken == candidate));
                map.insert(id, replacement);
            }
        }
        Self(Some(map))
    }

    /// Returns the id to send for an id of the history.
    pub(crate) fn get<'b>(&'b self, id: &'b str) -> &'b str {
        let mapped = self.0.as_ref().and_then(|map| map.get(id));
        mapped.map_or(id, String::as_str)
    }
}

fn ids_of(message: &Message) -> Box<dyn Iterator<Item = &str> + '_> {
    match message {
        Message::Assistant(message) => Box::new(message.tool_calls().map(|call| call.id.as_str())),
        Message::Tool(result) => Box::new(std::iter::once(result.tool_call_id.as_str())),
        _ => Box::new(std::iter::empty()),
    }
}

/// Returns the 64-bit FNV-1a hash, which is short and will never change.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agcore_chat::{AssistantMessage, ToolCall};

    /// At most seven bytes. Only two ids can be generated, to provoke collisions.
    const SHORT: CallIdFormat = CallIdFormat {
        accepts: |id| id.len() <= 7,
        generate: |number| format!("id{}", number % 2),
    };

    fn history(ids: &[&str]) -> Vec<Arc<Message>> {
        let message = ids.iter().fold(AssistantMessage::default(), |message, id| {
            message.with_call(ToolCall::function(*id, "f", "{}"))
        });
        let results = ids.iter().map(|id| Message::tool(*id, "ok"));
        std::iter::once(Message::from(message))
            .chain(results)
            .map(Arc::new)
            .collect()
    }

    #[test]
    fn keeps_acceptable_ids_and_replaces_others_stably() {
        let first = history(&["abcDEF1", "call_long"]);
        let more = history(&["call_long", "call_longer"]);
        let (first, more) = (CallIds::new(SHORT, &first), CallIds::new(SHORT, &more));
        assert_eq!(first.get("abcDEF1"), "abcDEF1");
        assert!((SHORT.accepts)(first.get("call_long")));
        assert_eq!(first.get("call_long"), more.get("call_long"));
        assert_ne!(more.get("call_long"), more.get("call_longer"));
    }

    #[test]
    fn never_gives_two_ids_the_same_replacement() {
        let taken = (SHORT.generate)(fnv1a("call_long"));
        let messages = history(&["call_long", &taken]);
        let ids = CallIds::new(SHORT, &messages);
        assert_eq!(ids.get(&taken), taken.as_str());
        assert_ne!(ids.get("call_long"), taken.as_str());
    }

    #[test]
    fn leaves_ids_unchanged_if_all_are_acceptable() {
        let messages = history(&["call_x"]);
        assert_eq!(CallIds::new(SHORT, &messages).get("call_x"), "call_x");
    }
}
