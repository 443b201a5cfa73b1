//! Ids of calls, in the form that a vendor takes.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use agcore_chat::Message;

use crate::dialect::CallIdRule;

/// Letters of a mapped id.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many of them.
const LENGTH: usize = 9;

/// The ids of one request. A mapped id depends on the id alone, so that it is the same in every request and on both
/// sides of a call; should two ids meet in one, the later of them moves on.
pub(super) struct CallIds<'a>(Option<BTreeMap<&'a str, String>>);

impl<'a> CallIds<'a> {
    pub(super) fn new(rule: CallIdRule, messages: &'a [Arc<Message>]) -> Self {
        match rule {
            CallIdRule::Any => Self(None),
            CallIdRule::NineAlphanumeric => {
                let mut map = BTreeMap::new();
                let ids = || messages.iter().flat_map(|message| ids_of(message));
                // What fits stays, so that nothing is mapped onto it.
                map.extend(ids().filter(|id| fits(id)).map(|id| (id, id.to_owned())));
                for id in ids().filter(|id| !fits(id)) {
                    if !map.contains_key(id) {
                        let mapped = free_id(id, &map);
                        map.insert(id, mapped);
                    }
                }
                Self(Some(map))
            }
        }
    }

    /// The id to send for an id of the history.
    pub(super) fn get<'b>(&'b self, id: &'b str) -> Cow<'b, str> {
        let mapped = self.0.as_ref().and_then(|map| map.get(id));
        Cow::Borrowed(mapped.map_or(id, String::as_str))
    }
}

fn ids_of(message: &Message) -> Box<dyn Iterator<Item = &str> + '_> {
    match message {
        Message::Assistant(said) => Box::new(said.tool_calls().map(|call| call.id.as_str())),
        Message::Tool(result) => Box::new(std::iter::once(result.tool_call_id.as_str())),
        _ => Box::new(std::iter::empty()),
    }
}

fn fits(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn free_id(id: &str, taken: &BTreeMap<&str, String>) -> String {
    let mut hash = fnv1a(id);
    loop {
        let mapped = spelled(hash);
        if taken.values().all(|other| *other != mapped) {
            return mapped;
        }
        hash = hash.wrapping_add(1);
    }
}

/// The FNV-1a hash of 64 bits: short, and the same for ever on every machine.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn spelled(mut number: u64) -> String {
    let mut text = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        text.push(char::from(LETTERS[(number % 62) as usize]));
        number /= 62;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use agcore_chat::{AssistantMessage, ToolCall};

    fn history(ids: &[&str]) -> Vec<Arc<Message>> {
        let said = ids.iter().fold(AssistantMessage::default(), |said, id| {
            said.with_call(ToolCall::function(*id, "f", "{}"))
        });
        let results = ids.iter().map(|id| Message::tool(*id, "ok"));
        std::iter::once(Message::from(said))
            .chain(results)
            .map(Arc::new)
            .collect()
    }

    #[test]
    fn keeps_what_fits_and_maps_the_rest_stably() {
        let first = history(&["abcDEF123", "call_x"]);
        let more = history(&["call_x", "call_y"]);
        let (first, more) = (
            CallIds::new(CallIdRule::NineAlphanumeric, &first),
            CallIds::new(CallIdRule::NineAlphanumeric, &more),
        );
        assert_eq!(first.get("abcDEF123"), "abcDEF123");
        assert!(fits(&first.get("call_x")));
        assert_eq!(first.get("call_x"), more.get("call_x"));
        assert_ne!(more.get("call_x"), more.get("call_y"));
    }

    #[test]
    fn never_maps_two_ids_to_one() {
        let taken = spelled(fnv1a("call_x"));
        let messages = history(&["call_x", &taken]);
        let ids = CallIds::new(CallIdRule::NineAlphanumeric, &messages);
        assert_eq!(ids.get(&taken), taken.as_str());
        assert_ne!(ids.get("call_x"), taken.as_str());
    }

    #[test]
    fn leaves_ids_alone_where_any_will_do() {
        let messages = history(&["call_x"]);
        assert_eq!(CallIds::new(CallIdRule::Any, &messages).get("call_x"), "call_x");
    }
}
