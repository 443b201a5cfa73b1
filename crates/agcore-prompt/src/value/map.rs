//! [`Map`]: a map from names to values that keeps the insertion order.

use std::{collections::HashMap, fmt, sync::Arc};

use super::fingerprint::Fingerprint;

/// The largest number of entries that are searched linearly. Larger maps have an index.
const MAX_SCANNED: usize = 16;

/// A map from names to values that keeps the insertion order.
///
/// ```
/// use agcore_prompt::Object;
///
/// let mut user = Object::new().with("name", "Ada").with("age", 36);
/// user.insert("name", "Ada Lovelace");
/// assert_eq!(user.get("name").unwrap().to_string(), "Ada Lovelace");
/// assert_eq!(user.keys().collect::<Vec<_>>(), ["name", "age"]);
/// ```
#[derive(Clone)]
pub struct Map<V> {
    entries: Vec<Entry<V>>,
    index: Option<HashMap<Arc<str>, usize>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry<V> {
    fingerprint: Fingerprint,
    name: Arc<str>,
    value: V,
}

impl<V> Map<V> {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            index: None,
        }
    }

    /// Creates an empty map with capacity for this many entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: Vec::with_capacity(capacity),
            index: None,
        }
    }

    /// Inserts an entry and returns the map.
    #[must_use]
    pub fn with(mut self, name: impl Into<Arc<str>>, value: impl Into<V>) -> Self {
        self.insert(name, value);
        self
    }

    /// Inserts an entry. If the name exists, its value is replaced in place and the old value returned.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, value: impl Into<V>) -> Option<V> {
        let (name, value) = (name.into(), value.into());
        if let Some(position) = self.position(&name) {
            return Some(std::mem::replace(&mut self.entries[position].value, value));
        }
        if let Some(index) = &mut self.index {
            index.insert(Arc::clone(&name), self.entries.len());
        }
        self.entries.push(Entry {
            fingerprint: Fingerprint::new(&name),
            name,
            value,
        });
        if self.index.is_none() && self.entries.len() > MAX_SCANNED {
            self.index = Some(
                self.entries
                    .iter()
                    .enumerate()
                    .map(|(position, entry)| (Arc::clone(&entry.name), position))
                    .collect(),
            );
        }
        None
    }

    /// Returns the value with this name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.position(name).map(|position| &self.entries[position].value)
    }

    /// Returns a mutable reference to the value with this name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.position(name).map(|position| &mut self.entries[position].value)
    }

    /// Returns whether there is a value with this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns an iterator over the names and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> + Clone {
        self.entries.iter().map(|entry| (&*entry.name, &entry.value))
    }

    /// Returns an iterator over the names in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// Returns an iterator over the values in order.
    pub(super) fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// Returns the value at this position.
    pub(super) fn value_at(&self, position: usize) -> Option<&V> {
        self.entries.get(position).map(|entry| &entry.value)
    }

    /// Returns a mutable reference to the value at this position.
    pub(super) fn value_at_mut(&mut self, position: usize) -> Option<&mut V> {
        self.entries.get_mut(position).map(|entry| &mut entry.value)
    }

    /// Copies the map with a default value for each name.
    pub(super) fn outline(&self) -> Self
    where
        V: Default,
    {
        let entries = self.entries.iter().map(|entry| Entry {
            fingerprint: entry.fingerprint,
            name: Arc::clone(&entry.name),
            value: V::default(),
        });
        Self {
            entries: entries.collect(),
            index: self.index.clone(),
        }
    }

    /// Returns the value with this name and fingerprint.
    #[inline(always)]
    pub(super) fn get_with_fingerprint(&self, name: &str, fingerprint: Fingerprint) -> Option<&V> {
        match &self.index {
            Some(index) => index.get(name).map(|position| &self.entries[*position].value),
            None => {
                for entry in &self.entries {
                    if entry.fingerprint.matches(&entry.name, fingerprint, name) {
                        return Some(&entry.value);
                    }
                }
                None
            }
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.entries.iter().position(|entry| *entry.name == *name),
        }
    }
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: fmt::Debug> fmt::Debug for Map<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Two maps are equal if they contain the same entries in the same order.
impl<V: PartialEq> PartialEq for Map<V> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl<N: Into<Arc<str>>, V, W: Into<V>> Extend<(N, W)> for Map<V> {
    fn extend<I: IntoIterator<Item = (N, W)>>(&mut self, entries: I) {
        for (name, value) in entries {
            self.insert(name, value);
        }
    }
}

impl<N: Into<Arc<str>>, V, W: Into<V>> FromIterator<(N, W)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (N, W)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        let mut map = Self::with_capacity(entries.size_hint().0);
        map.extend(entries);
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_entries_with_and_without_an_index() {
        for len in [0, 1, MAX_SCANNED, MAX_SCANNED + 1, 1000] {
            let mut map: Map<usize> = (0..len).map(|at| (format!("k{at}"), at)).collect();
            assert_eq!(map.len(), len);
            for at in 0..len {
                assert_eq!(map.get(&format!("k{at}")), Some(&at));
                assert_eq!(map.insert(format!("k{at}"), at + 1), Some(at));
            }
            assert_eq!(map.get("k"), None);
            assert_eq!(map.insert("new", 7usize), None);
            assert_eq!(map.iter().last(), Some(("new", &7)));
            assert_eq!(map.len(), len + 1);
        }
    }
}
