//! [`Items`]: the items of a reply so far, and the lookup of the item that an event refers to.
//!
//! `output_index` takes precedence over `item_id`, because some servers generate another id for every event (GitHub
//! Copilot). Others send no index (llama.cpp). An event with neither refers to the last item of its kind.

use serde_json::{Map, Value};

use super::{
    call::CallProgress,
    event::ResponseEvent,
    part::{Channel, Parts},
};

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// Visible text and refusals.
    Message,
    /// Reasoning.
    Reasoning,
    /// A call that the application runs.
    Call,
    /// Anything else: an item of a hosted tool, or of an unknown type.
    Hosted,
}

impl ItemKind {
    /// Returns the kind of an item of this type.
    pub(super) fn from_type(kind: &str) -> Self {
        match kind {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" | "custom_tool_call" => Self::Call,
            _ => Self::Hosted,
        }
    }

    /// Returns the kind of items that contain text of this channel.
    pub(super) fn with_channel(channel: Channel) -> Self {
        match channel {
            Channel::Text | Channel::Refusal => Self::Message,
            Channel::Summary | Channel::Reasoning => Self::Reasoning,
        }
    }
}

/// The state of an item.
#[derive(Debug)]
pub(super) struct Item {
    index: Option<u64>,
    pub(super) id: Box<str>,
    pub(super) kind: ItemKind,
    /// The position in the reply. It is unique, and the index of the item if that is known and not taken.
    pub(super) position: u32,
    /// Whether all of it was emitted.
    pub(super) is_done: bool,
    /// Whether it was found in the final output.
    is_final: bool,
    /// Whether any block was emitted.
    pub(super) has_blocks: bool,
    /// The number of the part whose text is the last block, unless the block is complete.
    pub(super) open_part: Option<u64>,
    /// Whether it is reasoning that was complete without its encrypted form.
    pub(super) lacks_encryption: bool,
    /// The complete item, for a call of a custom tool.
    pub(super) custom: Option<Map<String, Value>>,
    pub(super) call: CallProgress,
    pub(super) parts: Parts,
    /// The channel of the last text. A server may send both reasoning and its summary; only the first of them is used.
    channel: Option<Channel>,
}

impl Item {
    fn new(key: ItemKey<'_>, kind: ItemKind, position: u32) -> Self {
        Self {
            index: key.index,
            id: key.id.into(),
            kind,
            position,
            is_done: false,
            is_final: false,
            has_blocks: false,
            open_part: None,
            lacks_encryption: false,
            custom: None,
            call: CallProgress::default(),
            parts: Parts::default(),
            channel: None,
        }
    }

    /// Records text that is about to be emitted, and returns the number of its part; `None` if it must not be emitted.
    pub(super) fn record(&mut self, part: u64, channel: Channel, text: &str) -> Option<u64> {
        let is_other = self.channel.is_some_and(|recorded| recorded != channel);
        if self.is_done || (self.kind == ItemKind::Reasoning && is_other) {
            return None;
        }
        if channel != Channel::Refusal {
            self.channel = Some(channel);
        }
        Some(self.parts.record(part, channel, text))
    }

    fn is_encrypted_reasoning(&self) -> bool {
        self.kind == ItemKind::Reasoning && self.is_done && !self.lacks_encryption
    }

    /// Returns whether text or reasoning was emitted.
    pub(super) fn has_text(&self) -> bool {
        self.channel.is_some()
    }
}

/// The identification of an item in an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemKey<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
}

impl<'a> ItemKey<'a> {
    /// Returns the key in an event.
    pub(super) fn from_event(event: &'a ResponseEvent<'_>) -> Self {
        Self {
            index: event.output_index,
            id: &event.item_id.0,
        }
    }

    fn is_empty(self) -> bool {
        self.index.is_none() && self.id.is_empty()
    }
}

/// The items of a reply, in the order of their appearance. They are identified by their position.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

impl Items {
    /// Returns the item of an event about an item of this kind, and creates it if needed.
    pub(super) fn find_or_create(&mut self, key: ItemKey<'_>, kind: ItemKind) -> usize {
        let found = self.find(key, kind);
        found.unwrap_or_else(|| self.create(key, kind))
    }

    /// Returns the item that starts, which is a new one unless it has started before.
    pub(super) fn start(&mut self, key: ItemKey<'_>, kind: ItemKind) -> usize {
        let found = self.find(key, kind).filter(|at| !self.0[*at].is_done);
        found
            .filter(|_| !key.is_empty())
            .unwrap_or_else(|| self.create(key, kind))
    }

    /// Returns the item with this key, of any kind.
    pub(super) fn find_any(&self, key: ItemKey<'_>) -> Option<usize> {
        let is_match = |item: &Item| match key.index {
            Some(_) => item.index == key.index,
            None => !key.id.is_empty() && *item.id == *key.id,
        };
        self.0.iter().rposition(is_match)
    }

    /// Returns the item for an index of the final output, and creates it if needed.
    pub(super) fn find_final(&mut self, output_index: usize, id: &str, kind: ItemKind) -> usize {
        let index = u64::try_from(output_index).ok();
        // Two items of the output may have the same id.
        let is_same_kind = |item: &Item| item.kind == kind && !item.is_final;
        let by_index = self
            .0
            .iter()
            .rposition(|item| is_same_kind(item) && item.index.is_some() && item.index == index);
        let by_id = || {
            self.0
                .iter()
                .rposition(|item| is_same_kind(item) && !id.is_empty() && *item.id == *id)
        };
        let by_position = || {
            self.0
                .get(output_index)
                .filter(|item| is_same_kind(item) && item.index.is_none())
                .map(|_| output_index)
        };
        let found = by_index.or_else(by_id).or_else(by_position);
        let at = found.unwrap_or_else(|| self.create(ItemKey { index, id }, kind));
        self.0[at].is_final = true;
        at
    }

    /// Returns whether there are no items yet.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// If encrypted reasoning ends the output, returns the positions of the item that it led to and of the end. The API
    /// expects the reasoning back before that item, but some routers send it behind.
    pub(super) fn behind_its_item(&self) -> Option<(u32, u32)> {
        let mut items: Vec<&Item> = self.0.iter().collect();
        items.sort_unstable_by_key(|item| item.position);
        let reasoning = items.iter().rev().take_while(|item| item.is_encrypted_reasoning());
        let at = items.len().checked_sub(reasoning.count() + 1)?;
        let (item, last) = (items.get(at)?, items.last()?);
        (item.position != last.position).then_some((item.position, last.position))
    }

    /// Returns all items.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.0.iter_mut()
    }

    pub(super) fn get_mut(&mut self, at: usize) -> &mut Item {
        &mut self.0[at]
    }

    /// Returns the items that have not ended.
    pub(super) fn unfinished(&mut self) -> impl Iterator<Item = &mut Item> {
        self.0.iter_mut().filter(|item| !item.is_done)
    }

    fn find(&self, key: ItemKey<'_>, kind: ItemKind) -> Option<usize> {
        let is_same_kind = |item: &Item| item.kind == kind;
        let by_index = || {
            self.0
                .iter()
                .rposition(|item| is_same_kind(item) && item.index == key.index)
        };
        if let Some(at) = key.index.and_then(|_| by_index()) {
            return Some(at);
        }
        // Two different indexes are two items, whatever their ids are.
        let is_candidate = |item: &Item| is_same_kind(item) && (item.index.is_none() || key.index.is_none());
        if key.id.is_empty() {
            return self.0.iter().rposition(|item| is_candidate(item) && !item.is_done);
        }
        self.0
            .iter()
            .rposition(|item| is_candidate(item) && *item.id == *key.id)
    }

    fn create(&mut self, key: ItemKey<'_>, kind: ItemKind) -> usize {
        let position = self.free_position(key.index);
        self.0.push(Item::new(key, kind, position));
        self.0.len() - 1
    }

    /// Returns the index as a position, or else the position after all others.
    fn free_position(&self, index: Option<u64>) -> u32 {
        let is_free = |position: &u32| self.0.iter().all(|item| item.position != *position);
        let index = index.and_then(|index| u32::try_from(index).ok()).filter(is_free);
        let next = || self.0.iter().map(|item| item.position.saturating_add(1)).max();
        index.or_else(next).unwrap_or_default()
    }
}

/// Returns whether a reasoning item contains its encrypted form.
pub(super) fn is_encrypted(item: &Map<String, Value>) -> bool {
    item.get("encrypted_content").is_some_and(Value::is_string)
}
