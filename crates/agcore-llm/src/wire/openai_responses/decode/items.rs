//! [`Items`]: finding the item that an event is about.
//!
//! `output_index` stands over `item_id`, as there are servers that make up another id for every event (GitHub Copilot);
//! others tell no index (llama.cpp). An event with neither is about the last item of its kind.

use super::{
    event::WireEvent,
    item::{Item, Kind},
};

/// How an event names its item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: &'a str,
}

impl<'a> Key<'a> {
    /// The key of an event.
    pub(super) fn of(event: &'a WireEvent<'_>) -> Self {
        Self {
            index: event.output_index,
            id: &event.item_id.0,
        }
    }
}

/// The items of a reply, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

impl Items {
    /// The item of an event about this kind; a new one where there is none.
    pub(super) fn of(&mut self, key: Key<'_>, kind: Kind) -> usize {
        let found = self.find(key, kind);
        found.unwrap_or_else(|| self.open(key, kind))
    }

    /// The item that begins: a new one, unless it has begun already.
    pub(super) fn begun(&mut self, key: Key<'_>, kind: Kind) -> usize {
        let found = self.find(key, kind).filter(|at| !self.0[*at].is_done);
        found
            .filter(|_| !key.is_blank())
            .unwrap_or_else(|| self.open(key, kind))
    }

    /// The item that an event names, of whatever kind.
    pub(super) fn named(&self, key: Key<'_>) -> Option<usize> {
        let is_named = |item: &Item| match key.index {
            Some(_) => item.index == key.index,
            None => !key.id.is_empty() && *item.id == *key.id,
        };
        self.0.iter().rposition(is_named)
    }

    /// The item at a place of the final output.
    pub(super) fn last(&mut self, place: usize, id: &str, kind: Kind) -> usize {
        let index = u64::try_from(place).ok();
        let same = |item: &Item| item.kind == kind;
        let by_index = self
            .0
            .iter()
            .rposition(|item| same(item) && item.index.is_some() && item.index == index);
        let by_id = || {
            self.0
                .iter()
                .rposition(|item| same(item) && !id.is_empty() && *item.id == *id)
        };
        let by_place = || {
            self.0
                .get(place)
                .filter(|item| same(item) && item.index.is_none())
                .map(|_| place)
        };
        let found = by_index.or_else(by_id).or_else(by_place);
        found.unwrap_or_else(|| self.open(Key { index, id }, kind))
    }

    pub(super) fn at(&mut self, at: usize) -> &mut Item {
        &mut self.0[at]
    }

    /// Items of which the end did not come.
    pub(super) fn unfinished(&mut self) -> impl Iterator<Item = &mut Item> {
        self.0.iter_mut().filter(|item| !item.is_done)
    }

    fn find(&self, key: Key<'_>, kind: Kind) -> Option<usize> {
        let same = |item: &Item| item.kind == kind;
        let by_index = || self.0.iter().rposition(|item| same(item) && item.index == key.index);
        if let Some(at) = key.index.and_then(|_| by_index()) {
            return Some(at);
        }
        // Two indexes that differ are two items, whatever their ids are.
        let is_near = |item: &Item| same(item) && (item.index.is_none() || key.index.is_none());
        if key.id.is_empty() {
            return self.0.iter().rposition(|item| is_near(item) && !item.is_done);
        }
        self.0.iter().rposition(|item| is_near(item) && *item.id == *key.id)
    }

    fn open(&mut self, key: Key<'_>, kind: Kind) -> usize {
        self.0.push(Item::new(key.index, key.id, kind));
        self.0.len() - 1
    }
}

impl Key<'_> {
    fn is_blank(&self) -> bool {
        self.index.is_none() && self.id.is_empty()
    }
}
