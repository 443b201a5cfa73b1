//! [`Map`]: names to values, in the order in which they were inserted.

use std::{collections::HashMap, fmt, sync::Arc};

use super::name::Mark;

/// Up to this many entries a name is found by looking at each; with more there is an index.
const SCANNED: usize = 16;

/// Names to values, in the order in which they were inserted.
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
    mark: Mark,
    name: Arc<str>,
    value: V,
}

impl<V> Map<V> {
    /// An empty map.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            index: None,
        }
    }

    /// An empty map with room for this many entries.
    pub fn with_capacity(entries: usize) -> Self {
        Self {
            entries: Vec::with_capacity(entries),
            index: None,
        }
    }

    /// The map with this entry set.
    #[must_use]
    pub fn with(mut self, name: impl Into<Arc<str>>, value: impl Into<V>) -> Self {
        self.insert(name, value);
        self
    }

    /// Sets an entry; gives back the value it replaces, whose place in the order it takes.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, value: impl Into<V>) -> Option<V> {
        let (name, value) = (name.into(), value.into());
        if let Some(at) = self.position(&name) {
            return Some(std::mem::replace(&mut self.entries[at].value, value));
        }
        if let Some(index) = &mut self.index {
            index.insert(Arc::clone(&name), self.entries.len());
        }
        self.entries.push(Entry {
            mark: Mark::new(&name),
            name,
            value,
        });
        if self.index.is_none() && self.entries.len() > SCANNED {
            self.index = Some(
                self.entries
                    .iter()
                    .enumerate()
                    .map(|(at, entry)| (Arc::clone(&entry.name), at))
                    .collect(),
            );
        }
        None
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.position(name).map(|at| &self.entries[at].value)
    }

    /// The value of this name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.position(name).map(|at| &mut self.entries[at].value)
    }

    /// Whether there is a value of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Names and values in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> + Clone {
        self.entries.iter().map(|entry| (&*entry.name, &entry.value))
    }

    /// The names in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// The value of this name, whose mark is known.
    #[inline(always)]
    pub(super) fn get_marked(&self, name: &str, mark: Mark) -> Option<&V> {
        match &self.index {
            Some(index) => index.get(name).map(|at| &self.entries[*at].value),
            None => {
                for entry in &self.entries {
                    if entry.mark.is_same(&entry.name, mark, name) {
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

/// Two maps are equal when they hold the same entries in the same order.
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
    fn finds_entries_below_and_above_the_index() {
        for len in [0, 1, SCANNED, SCANNED + 1, 1000] {
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
