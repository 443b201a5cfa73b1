//! [`CallProgress`]: what was told of a call, so that nothing is told twice.

use agcore_chat::Text;
use serde_json::{Map, Value};

use super::{super::vendor, json::text_of};
use crate::delta::CallFragment;

/// What was told of a call.
#[derive(Debug, Default)]
pub(super) struct CallProgress {
    has_id: bool,
    has_name: bool,
    /// Its input as it was told, to see whether the whole differs.
    input: String,
}

impl CallProgress {
    /// A piece of the input.
    pub(super) fn piece(&mut self, input: Text) -> Option<CallFragment> {
        if input.is_empty() {
            return None;
        }
        self.input.push_str(&input);
        Some(CallFragment {
            input: Some(input),
            ..CallFragment::default()
        })
    }

    /// The whole input: it stands over what came in pieces. An empty one says nothing.
    pub(super) fn whole(&mut self, input: &str) -> Option<CallFragment> {
        if input.is_empty() || self.input == input {
            return None;
        }
        input.clone_into(&mut self.input);
        Some(CallFragment {
            input: Some(input.into()),
            whole_input: true,
            ..CallFragment::default()
        })
    }

    /// The item when it begins: its id and name.
    pub(super) fn begun(&mut self, item: &mut Map<String, Value>) -> CallFragment {
        CallFragment {
            id: self.news_of_id(text_of(item, "call_id")),
            name: self.news_of_name(item),
            ..CallFragment::default()
        }
    }

    /// The item when it is whole; of one without a `call_id`, the item's own id is that of the call, too.
    pub(super) fn done(&mut self, mut item: Map<String, Value>, item_id: &str) -> CallFragment {
        let begun = self.begun(&mut item);
        let own_id = vendor::id(&item).unwrap_or(item_id).to_owned();
        let [arguments, input] = ["arguments", "input"].map(|name| text_of(&mut item, name));
        let whole = self.whole(if input.is_empty() { &arguments } else { &input });
        for name in ["type", "call_id", "name"] {
            item.shift_remove(name);
        }
        item.retain(|_, value| !value.is_null());
        CallFragment {
            id: begun.id.or_else(|| self.news_of_id(own_id)),
            name: begun.name,
            vendor: Some(vendor::keep(item)),
            ..whole.unwrap_or_default()
        }
    }

    /// The id by which a result finds the call, if it was not told yet.
    fn news_of_id(&mut self, id: String) -> Option<Text> {
        if self.has_id || id.is_empty() {
            return None;
        }
        self.has_id = true;
        Some(id.into())
    }

    fn news_of_name(&mut self, item: &mut Map<String, Value>) -> Option<Text> {
        let name = text_of(item, "name");
        if self.has_name || name.is_empty() {
            return None;
        }
        self.has_name = true;
        Some(name.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn tells_id_and_name_once_and_the_input_once() {
        let mut call = CallProgress::default();
        let begun = call.begun(&mut object(json!({"id": "fc", "call_id": "c", "name": "f"})));
        assert_eq!((begun.id.as_deref(), begun.name.as_deref()), (Some("c"), Some("f")));
        assert!(call.piece("{\"x\"".into()).is_some() && call.piece(":1}".into()).is_some());
        assert_eq!(call.whole("{\"x\":1}"), None);
        let whole = json!({"id": "fc", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"x\":1}",
                           "status": "completed", "namespace": null});
        let done = call.done(object(whole), "");
        assert_eq!((done.id, done.name, done.input), (None, None, None));
        assert_eq!(done.vendor.unwrap().data, json!({"id": "fc", "status": "completed"}));
    }

    #[test]
    fn the_whole_input_replaces_pieces_that_differ() {
        let mut call = CallProgress::default();
        call.piece("{\"x\"".into());
        let done = call.done(object(json!({"arguments": {"x": 2}})), "item");
        assert_eq!((done.input.as_deref(), done.whole_input), (Some("{\"x\":2}"), true));
        assert_eq!(done.id.as_deref(), Some("item"), "a result must find it");
    }
}
