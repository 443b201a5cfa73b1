//! Ids of calls, in the form that a vendor takes.

use std::{collections::BTreeMap, sync::Arc};

use agcore_chat::Message;

/// Which ids a vendor takes, and how others are written.
#[derive(Clone, Copy)]
pub(crate) struct CallIdForm {
    /// Whether an id goes as it is.
    pub(crate) fits: fn(&str) -> bool,
    /// An id that fits, of a number; other numbers give other ids.
    pub(crate) spell: fn(u64) -> String,
}

/// The ids of one request. A mapped id depends on the id alone, so that it is the same in every request and on both
/// sides of a call; should two ids meet in one, the later of them moves on.
pub(crate) struct CallIds<'a>(Option<BTreeMap<&'a str, String>>);

impl<'a> CallIds<'a> {
    /// Ids that go as they are, whatever they look like.
    #[cfg(feature = "openai-chat")]
    pub(crate) fn as_given() -> Self {
        Self(None)
    }

    /// The ids of these messages, in a form.
    pub(crate) fn mapped(form: CallIdForm, messages: &'a [Arc<Message>]) -> Self {
        let ids = || messages.iter().flat_map(|message| ids_of(message));
        if ids().all(|id| (form.fits)(id)) {
            return Self(None);
        }
        let mut map = BTreeMap::new();
        // What fits stays, so that nothing is mapped onto it.
        map.extend(ids().filter(|id| (form.fits)(id)).map(|id| (id, id.to_owned())));
        for id in ids().filter(|id| !(form.fits)(id)) {
            if !map.contains_key(id) {
                let mapped = free_id(form, id, &map);
                map.insert(id, mapped);
            }
        }
        Self(Some(map))
    }

    /// The id to send for an id of the history.
    pub(crate) fn get<'b>(&'b self, id: &'b str) -> &'b str {
        let mapped = self.0.as_ref().and_then(|map| map.get(id));
        mapped.map_or(id, String::as_str)
    }
}

fn ids_of(message: &Message) -> Box<dyn Iterator<Item = &str> + '_> {
    match message {
        Message::Assistant(said) => Box::new(said.tool_calls().map(|call| call.id.as_str())),
        Message::Tool(result) => Box::new(std::iter::once(result.tool_call_id.as_str())),
        _ => Box::new(std::iter::empty()),
    }
}

fn free_id(form: CallIdForm, id: &str, taken: &BTreeMap<&str, String>) -> String {
    let mut hash = fnv1a(id);
    loop {
        let mapped = (form.spell)(hash);
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

#[cfg(test)]
mod tests {
    use super::*;
    use agcore_chat::{AssistantMessage, ToolCall};

    /// At most seven bytes; every other number has the same short id, so that ids meet.
    const SHORT: CallIdForm = CallIdForm {
        fits: |id| id.len() <= 7,
        spell: |number| format!("id{}", number % 2),
    };

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
        let first = history(&["abcDEF1", "call_long"]);
        let more = history(&["call_long", "call_longer"]);
        let (first, more) = (CallIds::mapped(SHORT, &first), CallIds::mapped(SHORT, &more));
        assert_eq!(first.get("abcDEF1"), "abcDEF1");
        assert!((SHORT.fits)(first.get("call_long")));
        assert_eq!(first.get("call_long"), more.get("call_long"));
        assert_ne!(more.get("call_long"), more.get("call_longer"));
    }

    #[test]
    fn never_maps_two_ids_to_one() {
        let taken = (SHORT.spell)(fnv1a("call_long"));
        let messages = history(&["call_long", &taken]);
        let ids = CallIds::mapped(SHORT, &messages);
        assert_eq!(ids.get(&taken), taken.as_str());
        assert_ne!(ids.get("call_long"), taken.as_str());
    }

    #[test]
    fn leaves_ids_alone_where_all_fit() {
        let messages = history(&["call_x"]);
        assert_eq!(CallIds::mapped(SHORT, &messages).get("call_x"), "call_x");
    }
}
