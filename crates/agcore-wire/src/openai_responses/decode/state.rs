//! [`State`]: what the reader keeps between events.

mod complete_item;

use agcore_chat::{FinishReason, Text};
use serde_json::{Map, Value};

use super::{
    emitter::{DeltaEmitter, member},
    event::ResponseEvent,
    hosted::PendingCalls,
    item::{ItemKey, ItemKind, Items},
    json::{list, object, type_of},
    message::ResponseBody,
    part::Channel,
    usage,
};
use crate::{
    delta::{Place, ReplyDelta, ReplyStart},
    openai_responses::vendor::item_id,
};

/// The finish reason of a reply with calls of hosted tools that the application has to run.
const HOSTED_TOOL_CALLS: &str = "hosted_tool_calls";

/// The state of a reply.
#[derive(Debug, Default)]
pub(super) struct State {
    start: ReplyStart,
    /// Whether the start has changed since it was emitted.
    has_new_start: bool,
    is_started: bool,
    items: Items,
    pending: PendingCalls,
    emitter: DeltaEmitter,
    /// The origin of the last piece of text: the position of its item, the number of its part, and its channel.
    last_text: Option<(usize, u64, Channel)>,
}

impl State {
    /// Inserts a start before the deltas from `at` on, if it was not emitted yet or has changed since.
    pub(super) fn push_start(&mut self, at: usize, out: &mut Vec<ReplyDelta>) {
        if self.has_new_start || (!self.is_started && out.len() > at) {
            (self.is_started, self.has_new_start) = (true, false);
            out.insert(at, ReplyDelta::Start(Box::new(self.start.clone())));
        }
    }

    /// Returns whether nothing was received yet.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_started && !self.has_new_start && self.items.is_empty()
    }

    /// Handles the start of a response.
    pub(super) fn response_started(
        &mut self,
        body: &ResponseBody<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        self.update_start(body);
        push_usage(body, out)
    }

    /// Adds the members of a response to the start, except for its service tier: before the end of the response, that is
    /// only the requested one.
    pub(super) fn update_start(&mut self, body: &ResponseBody<'_>) {
        let text = |text: &Option<Text>| text.as_ref().map(Text::to_string);
        self.has_new_start |= fill(&mut self.start.id, text(&body.id));
        self.has_new_start |= fill(&mut self.start.model, text(&body.model));
        self.has_new_start |= fill(&mut self.start.created, body.created);
    }

    /// Handles a piece of text.
    pub(super) fn text(&mut self, channel: Channel, event: &ResponseEvent<'_>, out: &mut Vec<ReplyDelta>) {
        let at = self.find_or_create(event, ItemKind::with_channel(channel));
        let parts = &mut self.items.get_mut(at).parts;
        parts.continue_announced(event.part_index);
        let text = parts.without_repetition(event.part_index, event.delta.text.clone());
        self.push_text(at, event.part_index, channel, text, out);
    }

    /// Records a piece of text that continues the last one, and was emitted without this reader.
    pub(super) fn observe(&mut self, text: &str) {
        if let Some((at, part, channel)) = self.last_text {
            self.items.get_mut(at).record(part, channel, text);
        }
    }

    /// Handles the whole text of a part. Only what it adds to the pieces is emitted, because they cannot be taken back.
    pub(super) fn whole_text(
        &mut self,
        channel: Channel,
        event: &ResponseEvent<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        let at = self.find_or_create(event, ItemKind::with_channel(channel));
        self.push_remainder(at, event.part_index, channel, &event.whole_text()?, out);
        Ok(())
    }

    /// Handles a piece of the input of a call.
    pub(super) fn input(&mut self, is_custom: bool, event: &ResponseEvent<'_>, out: &mut Vec<ReplyDelta>) {
        let at = self.find_or_create(event, ItemKind::Call);
        let item = self.items.get_mut(at);
        if let Some(fragment) = item.call.piece(event.delta.text.clone()).filter(|_| !item.is_done) {
            self.emitter.call(at, item, is_custom, fragment, out);
        }
    }

    /// Handles the whole input of a call.
    pub(super) fn whole_input(
        &mut self,
        is_custom: bool,
        event: &ResponseEvent<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        let at = self.find_or_create(event, ItemKind::Call);
        let item = self.items.get_mut(at);
        if let Some(fragment) = item.call.whole(&event.whole_text()?).filter(|_| !item.is_done) {
            self.emitter.call(at, item, is_custom, fragment, out);
        }
        Ok(())
    }

    /// Handles the start of a part of a message or of reasoning, which usually has no text yet. Its item is looked up by the
    /// key alone, because some servers announce reasoning as a part of visible text.
    pub(super) fn part_added(
        &mut self,
        event: &ResponseEvent<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        let Some(mut part) = object(event.part)? else {
            return Ok(());
        };
        let key = ItemKey::from_event(event);
        if let Some(at) = self.items.find_any(key) {
            self.items.get_mut(at).parts.announce(event.part_index);
        }
        if let Some((channel, text)) = Channel::take_text(&mut part).filter(|(_, text)| !text.is_empty()) {
            let channel = self.channel_in(key, channel);
            let at = self.items.find_or_create(key, ItemKind::with_channel(channel));
            self.push_text(at, event.part_index, channel, text.as_str().into(), out);
            self.items.get_mut(at).parts.expect_repetition(event.part_index, &text);
        }
        Ok(())
    }

    /// Handles a complete part of a message or of reasoning.
    pub(super) fn part_done(&mut self, event: &ResponseEvent<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        let Some(mut part) = object(event.part)? else {
            return Ok(());
        };
        if let Some((channel, text)) = Channel::take_text(&mut part) {
            let channel = self.channel_in(ItemKey::from_event(event), channel);
            let at = self.find_or_create(event, ItemKind::with_channel(channel));
            self.set_annotations(at, event.part_index, list(part.shift_remove("annotations")));
            self.push_remainder(at, event.part_index, channel, &text, out);
        }
        Ok(())
    }

    /// Handles an annotation of a text.
    pub(super) fn annotation_added(&mut self, event: &ResponseEvent<'_>) -> serde_json::Result<()> {
        if let Some(raw) = event.annotation {
            let at = self.find_or_create(event, ItemKind::Message);
            let annotations = self.items.get_mut(at).parts.annotations(event.part_index);
            annotations.push(serde_json::from_str(raw.get())?);
        }
        Ok(())
    }

    /// Handles the start of an item. Only the id and name of a call are emitted; everything else follows.
    pub(super) fn item_added(
        &mut self,
        event: &ResponseEvent<'_>,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        if let Some(mut added) = object(event.item)? {
            let (at, is_custom) = self.locate(event, &added, Items::start);
            let item = self.items.get_mut(at);
            if item.kind == ItemKind::Call {
                let fragment = item.call.start(&mut added);
                self.emitter.call(at, item, is_custom, fragment, out);
            }
        }
        Ok(())
    }

    /// Handles a complete item.
    pub(super) fn item_done(&mut self, event: &ResponseEvent<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
        if let Some(item) = object(event.item)? {
            let (at, is_custom) = self.locate(event, &item, Items::find_or_create);
            self.push_item(at, is_custom, item, out);
        }
        Ok(())
    }

    /// Handles the response at its end: items that are missing or incomplete so far, usage and other members. `is_complete`
    /// states whether the answer is complete.
    pub(super) fn end(
        &mut self,
        body: &ResponseBody<'_>,
        is_complete: bool,
        out: &mut Vec<ReplyDelta>,
    ) -> serde_json::Result<()> {
        self.update_start(body);
        let tier = body.service_tier.as_ref().map(Text::to_string);
        self.has_new_start |= fill(&mut self.start.service_tier, tier);
        for (index, item) in body.output()?.into_iter().enumerate() {
            if let Value::Object(item) = item {
                let id = event_id(&item).unwrap_or_default();
                let at = self.items.find_final(index, id, ItemKind::from_type(type_of(&item)));
                self.push_item(at, is_custom_call(&item), item, out);
            }
        }
        if is_complete {
            self.replace_executed_calls(out);
            if let Some((from, to)) = self.items.behind_its_item() {
                self.emitter.move_item(from, to, out);
            }
        }
        self.flush(out);
        push_usage(body, out)?;
        for (name, value) in body.members()?.iter() {
            out.push(member(Place::Response, name, value.clone()));
        }
        Ok(())
    }

    /// Emits the finish reason. That of a complete answer depends on what it contains.
    pub(super) fn finish(&mut self, reason: FinishReason, native: &str, out: &mut Vec<ReplyDelta>) {
        let has_calls = self.items.iter_mut().any(|item| item.kind == ItemKind::Call);
        let reason = match reason {
            FinishReason::Stop if has_calls => FinishReason::ToolCalls,
            FinishReason::Stop if self.emitter.has_refusal() => FinishReason::Refusal,
            FinishReason::Stop if !self.pending.is_empty() => FinishReason::Other(HOSTED_TOOL_CALLS.into()),
            reason => reason,
        };
        self.emitter.finish(reason, native, out);
    }

    /// Emits the annotations of items that have not ended.
    pub(super) fn flush(&mut self, out: &mut Vec<ReplyDelta>) {
        for item in self.items.unfinished() {
            self.emitter.annotations(item.parts.take_annotations(), out);
        }
    }

    fn find_or_create(&mut self, event: &ResponseEvent<'_>, kind: ItemKind) -> usize {
        self.items.find_or_create(ItemKey::from_event(event), kind)
    }

    /// Returns the position of the item in an event, and whether it is a call of a custom tool.
    fn locate(
        &mut self,
        event: &ResponseEvent<'_>,
        item: &Map<String, Value>,
        find: fn(&mut Items, ItemKey<'_>, ItemKind) -> usize,
    ) -> (usize, bool) {
        let key = ItemKey::from_event(event);
        let id = match key.id {
            "" => event_id(item).unwrap_or_default(),
            id => item_id(item).unwrap_or(id),
        };
        let at = find(
            &mut self.items,
            ItemKey { id, ..key },
            ItemKind::from_type(type_of(item)),
        );
        (at, is_custom_call(item))
    }

    /// Returns the channel of a text in a part of the item with this key: text within reasoning is reasoning.
    fn channel_in(&mut self, key: ItemKey<'_>, channel: Channel) -> Channel {
        let Some(at) = self.items.find_any(key) else {
            return channel;
        };
        let item = self.items.get_mut(at);
        let is_same = key.id.is_empty() || item.id.is_empty() || *item.id == *key.id;
        if is_same {
            channel.within(item.kind == ItemKind::Reasoning)
        } else {
            channel
        }
    }

    fn set_annotations(&mut self, at: usize, part: u64, annotations: Vec<Value>) {
        if !annotations.is_empty() {
            *self.items.get_mut(at).parts.annotations(part) = annotations;
        }
    }

    /// Emits what the whole text of a part adds to what was emitted.
    fn push_remainder(&mut self, at: usize, part: u64, channel: Channel, whole: &str, out: &mut Vec<ReplyDelta>) {
        let remainder = self.items.get_mut(at).parts.remainder(part, whole);
        self.push_text(at, part, channel, remainder.into(), out);
    }

    fn push_text(&mut self, at: usize, part: u64, channel: Channel, text: Text, out: &mut Vec<ReplyDelta>) {
        let item = self.items.get_mut(at);
        // A reasoning item contains only reasoning and a message none, whatever the type of the part is.
        if text.is_empty() || ItemKind::with_channel(channel) != item.kind {
            return;
        }
        self.last_text = Some((at, part, channel));
        if let Some(part) = item.record(part, channel, &text) {
            self.emitter.text(item, part, channel, text, out);
        }
    }
}

/// Emits the usage, if it is known.
fn push_usage(body: &ResponseBody<'_>, out: &mut Vec<ReplyDelta>) -> serde_json::Result<()> {
    let usage = body.usage.map(usage::read).transpose()?.flatten();
    out.extend(usage.map(|usage| ReplyDelta::Usage(Box::new(usage))));
    Ok(())
}

/// Returns the id by which events refer to an item. For a call without an item id, that is its call id (llama.cpp, early
/// 2026).
fn event_id(item: &Map<String, Value>) -> Option<&str> {
    let call_id = || item.get("call_id")?.as_str().filter(|id| !id.is_empty());
    item_id(item).or_else(call_id)
}

fn is_custom_call(item: &Map<String, Value>) -> bool {
    type_of(item) == "custom_tool_call"
}

/// Fills an empty value. Returns whether the value has changed.
fn fill<T>(to: &mut Option<T>, from: Option<T>) -> bool {
    let is_new = to.is_none() && from.is_some();
    if is_new {
        *to = from;
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai_responses::vendor::CHOICE;

    #[test]
    fn emits_the_start_once_and_again_after_a_change() {
        let (mut state, mut out) = (State::default(), Vec::new());
        state.push_start(0, &mut out);
        assert!(out.is_empty(), "nothing is known and nothing was emitted");
        out.push(ReplyDelta::BlockEnd { choice: CHOICE });
        state.push_start(0, &mut out);
        state.push_start(0, &mut out);
        assert!(matches!(&out[..], [ReplyDelta::Start(_), _]), "{out:?}");
        let body = ResponseBody::read(br#"{"id": "r"}"#).unwrap();
        state.update_start(&body);
        state.update_start(&body);
        state.push_start(2, &mut out);
        assert!(matches!(&out[2], ReplyDelta::Start(start) if start.id.as_deref() == Some("r")));
    }
}
