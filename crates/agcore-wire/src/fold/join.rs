//! The way in which a member of a reply that arrives several times becomes one value.

use serde_json::Value;

/// The members whose lists are pieces. Their entries are never compared with each other.
pub(crate) const CONCATENATED: &[&str] = &["logprobs", "annotations"];

/// The members that identify an entry of a list, in order of preference. An image has an index of its own chunk only.
const IDENTITIES: &[&str] = &["image_url", "id", "index"];

/// Adds a value to the one that arrived before: lists are concatenated, except that an entry replaces the members of an
/// earlier one with the same identity; objects are merged, `null` is ignored, and anything else is replaced.
pub(crate) fn join(before: &mut Value, more: &Value) {
    match (before, more) {
        (_, Value::Null) => {}
        (Value::Array(before), Value::Array(more)) => more.iter().for_each(|entry| join_entry(before, entry)),
        (Value::Object(before), Value::Object(more)) => {
            for (name, value) in more {
                match before.get_mut(name) {
                    Some(old) => join(old, value),
                    None => drop(before.insert(name.clone(), value.clone())),
                }
            }
        }
        (before, more) => *before = more.clone(),
    }
}

/// Like [`join`], but concatenates all lists.
pub(super) fn concatenate(before: &mut Value, more: &Value) {
    match (before, more) {
        (_, Value::Null) => {}
        (Value::Array(before), Value::Array(more)) => before.extend(more.iter().cloned()),
        (Value::Object(before), Value::Object(more)) => {
            for (name, value) in more {
                match before.get_mut(name) {
                    Some(old) => concatenate(old, value),
                    None => drop(before.insert(name.clone(), value.clone())),
                }
            }
        }
        (before, more) => *before = more.clone(),
    }
}

fn join_entry(list: &mut Vec<Value>, entry: &Value) {
    let known = list.iter_mut().find(|known| is_same(known, entry));
    match (known, entry) {
        (Some(Value::Object(known)), Value::Object(entry)) => {
            let members = entry.iter().filter(|(_, value)| !value.is_null());
            known.extend(members.map(|(name, value)| (name.clone(), value.clone())));
        }
        _ => list.push(entry.clone()),
    }
}

/// Returns whether two entries are states of the same thing.
fn is_same(one: &Value, other: &Value) -> bool {
    let both = |name: &&str| Some((one.get(name)?, other.get(name)?));
    IDENTITIES
        .iter()
        .find_map(both)
        .is_some_and(|(one, other)| !one.is_null() && one == other)
}
