//! The arguments of the scripts that work on items.

use std::collections::BTreeMap;

use agcore_chat::{Timestamp, id};
use agcore_memory::{EvictionConfig, MemoryFilter, MemoryItem};

use super::stored::{comparable, entry_name, members};
use crate::redis::connection::Call;

/// Returns the items with each id once: the last one counts, with the time of creation of the first.
pub(super) fn without_repetitions(items: Vec<MemoryItem>) -> Vec<MemoryItem> {
    let mut unique: Vec<MemoryItem> = Vec::with_capacity(items.len());
    let mut places = BTreeMap::new();
    for mut item in items {
        let place = *places
            .entry((item.tenant().clone(), item.id.clone()))
            .or_insert(unique.len());
        match unique.get_mut(place) {
            Some(known) => {
                item.created_at = known.created_at;
                *known = item;
            }
            None => unique.push(item),
        }
    }
    unique
}

/// Adds the rules of expiry.
pub(super) fn add_rules(call: &mut Call, eviction: &EvictionConfig, now: Timestamp) {
    let mut rules = eviction.expiry_rules(now);
    if rules.iter().all(|(_, cutoff)| cutoff.is_none()) {
        rules.clear();
    }
    call.arg(rules.len());
    for (prefix, cutoff) in rules {
        call.arg(prefix).arg(optional(cutoff));
    }
}

/// Adds items to save.
pub(super) fn add_items(call: &mut Call, items: &[MemoryItem], tenants: &[&str], now: Timestamp) {
    call.arg(items.len());
    for item in items {
        let tenant = tenants.partition_point(|tenant| *tenant < &**item.tenant());
        let created = if item.created_at == Timestamp::default() {
            now
        } else {
            item.created_at
        };
        let members = members(item);
        call.arg(tenant)
            .arg(&item.id)
            .arg(&*item.owner.user)
            .arg(created.as_millis());
        call.arg(members.len());
        for (name, value) in members {
            call.arg(&*name).arg(&*value);
        }
    }
}

/// Adds the range of texts with a prefix, in the order of bytes.
pub(super) fn add_range(call: &mut Call, prefix: &str) {
    let from = if prefix.is_empty() {
        "-".to_owned()
    } else {
        format!("[{prefix}")
    };
    let to = id::upper_bound(prefix).map_or("+".to_owned(), |bound| format!("({bound}"));
    call.arg(from).arg(to);
}

/// Adds the index in which to look, the range in it, and the conditions.
pub(super) fn add_selection(call: &mut Call, filter: &MemoryFilter) {
    if let Some(owner) = &filter.owner {
        call.arg("owners");
        add_range(call, &format!("{}\0{}", owner.user, filter.prefix));
    } else if !filter.prefix.is_empty() {
        call.arg("ids");
        add_range(call, &filter.prefix);
    } else {
        let bound = |time: Option<Timestamp>, without: &str| {
            time.map_or(without.to_owned(), |time| format!("({}", time.as_millis()))
        };
        call.arg("created");
        call.arg(bound(filter.since, "-inf")).arg(bound(filter.until, "+inf"));
    }
    call.arg(optional(filter.since))
        .arg(optional(filter.until))
        .arg(optional(filter.valid_at));
    match &filter.owner {
        Some(owner) => call
            .arg("1")
            .arg(&*owner.user)
            .arg(owner.line.as_deref().unwrap_or_default()),
        None => call.arg("0"),
    };
    call.arg(filter.metadata.len());
    for (name, value) in &filter.metadata {
        // Filters were checked: every value is comparable.
        call.arg(entry_name(name)).arg(comparable(value).unwrap_or_default());
    }
}

/// A time, or an empty text.
pub(super) fn optional(time: Option<Timestamp>) -> String {
    time.map_or(String::new(), |time| time.as_millis().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_item_counts_and_the_first_time() {
        let mut first = MemoryItem::new("a", "one");
        first.created_at = Timestamp::from_millis(7);
        let other = MemoryItem::new("a", "other").with_owner(agcore_chat::Actor::new("t", "u"));
        let items = without_repetitions(vec![
            first,
            MemoryItem::new("b", ""),
            other,
            MemoryItem::new("a", "two"),
        ]);
        let seen: Vec<_> = items
            .iter()
            .map(|item| (&*item.id, &*item.content, item.created_at.as_millis()))
            .collect();
        assert_eq!(seen, [("a", "two", 7), ("b", "", 0), ("a", "other", 0)]);
    }
}
