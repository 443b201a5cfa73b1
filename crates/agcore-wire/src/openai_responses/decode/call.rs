//! [`CallProgress`]: the parts of a call that were emitted, so that nothing is emitted twice.

use agcore_chat::Text;
use serde_json::{Map, Value};

use super::json::take_text;
use crate::{
    delta::CallFragment,
    openai_responses::vendor::{item_id, vendor_data},
};

/// The parts of a call that were emitted.
#[derive(Debug, Default)]
pub(super) struct CallProgress {
    has_id: bool,
    has_name: bool,
    /// The input that was emitted, to detect whether the whole input differs.
    input: String,
}

impl CallProgress {
    /// Returns the fragment for a piece of the input.
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

    /// Returns the fragment for the whole input, which replaces pieces that differ. An empty one is ignored.
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

    /// Returns the fragment for an item that starts: its id and its name.
    pub(super) fn start(&mut self, item: &mut Map<String, Value>) -> CallFragment {
        CallFragment {
            id: self.new_id(take_text(item, "call_id")),
            name: self.new_name(item),
            ..CallFragment::default()
        }
    }

    /// Returns the fragment for a complete item. If it has no `call_id`, the id of the item is also that of the call.
    pub(super) fn finish(&mut self, mut item: Map<String, Value>, known_item_id: &str) -> CallFragment {
        let start = self.start(&mut item);
        let fallback_id = item_id(&item).unwrap_or(known_item_id).to_owned();
        let [arguments, input] = ["arguments", "input"].map(|name| take_text(&mut item, name));
        let whole = self.whole(if input.is_empty() { &arguments } else { &input });
        for name in ["type", "call_id", "name"] {
            item.shift_remove(name);
        }
        item.retain(|_, value| !value.is_null());
        CallFragment {
            id: start.id.or_else(|| self.new_id(fallback_id)),
            name: start.name,
            vendor: Some(vendor_data(item)),
            ..whole.unwrap_or_default()
        }
    }

    /// Returns the id by which results refer to the call, unless it was emitted before.
    fn new_id(&mut self, id: String) -> Option<Text> {
        if self.has_id || id.is_empty() {
            return None;
        }
        self.has_id = true;
        Some(id.into())
    }

    fn new_name(&mut self, item: &mut Map<String, Value>) -> Option<Text> {
        let name = take_text(item, "name");
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
    fn emits_id_name_and_input_once() {
        let mut call = CallProgress::default();
        let start = call.start(&mut object(json!({"id": "fc", "call_id": "c", "name": "f"})));
        assert_eq!((start.id.as_deref(), start.name.as_deref()), (Some("c"), Some("f")));
        assert!(call.piece("{\"x\"".into()).is_some() && call.piece(":1}".into()).is_some());
        assert_eq!(call.whole("{\"x\":1}"), None);
        let whole = json!({"id": "fc", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"x\":1}",
                           "status": "completed", "namespace": null});
        let end = call.finish(object(whole), "");
        assert_eq!((end.id, end.name, end.input), (None, None, None));
        assert_eq!(end.vendor.unwrap().data, json!({"id": "fc", "status": "completed"}));
    }

    #[test]
    fn the_whole_input_replaces_pieces_that_differ() {
        let mut call = CallProgress::default();
        call.piece("{\"x\"".into());
        let end = call.finish(object(json!({"arguments": {"x": 2}})), "item");
        assert_eq!((end.input.as_deref(), end.whole_input), (Some("{\"x\":2}"), true));
        assert_eq!(end.id.as_deref(), Some("item"), "results must be able to refer to it");
    }
}
