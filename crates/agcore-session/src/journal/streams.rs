//! [`Streams`]: streams in the memory of the process.

use std::collections::{BTreeMap, VecDeque};

use super::{Entry, Record};
use crate::error::SessionError;

/// Streams by name.
#[derive(Debug, Default)]
pub(crate) struct Streams(BTreeMap<String, Stream>);

#[derive(Debug, Default)]
struct Stream {
    /// The sequence number of the last record that was ever appended.
    end: u64,
    entries: VecDeque<Entry>,
}

impl Streams {
    /// Returns the end of a stream.
    pub(crate) fn end(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |stream| stream.end)
    }

    /// Checks that a stream ends where a writer expects it to.
    pub(crate) fn check_end(&self, name: &str, expected: u64) -> Result<(), SessionError> {
        let end = self.end(name);
        if end == expected {
            return Ok(());
        }
        Err(SessionError::conflict(name, expected, end))
    }

    /// Appends records to the end of a stream. Returns its new end.
    pub(crate) fn append(&mut self, name: &str, records: Vec<Record>) -> u64 {
        if records.is_empty() {
            return self.end(name);
        }
        let stream = self.0.entry(name.to_owned()).or_default();
        for record in records {
            stream.end += 1;
            stream.entries.push_back(Entry::new(stream.end, record));
        }
        stream.end
    }

    /// Returns the records from a sequence number on.
    pub(crate) fn read(&self, name: &str, from: u64) -> Vec<Entry> {
        let Some(stream) = self.0.get(name) else {
            return Vec::new();
        };
        let first = stream.entries.partition_point(|entry| entry.seq < from);
        stream.entries.range(first..).cloned().collect()
    }

    /// Removes the records before a sequence number.
    pub(crate) fn trim(&mut self, name: &str, before: u64) {
        if let Some(stream) = self.0.get_mut(name) {
            let kept = stream.entries.partition_point(|entry| entry.seq < before);
            stream.entries.drain(..kept);
        }
    }

    /// Deletes a stream. Returns whether it existed.
    pub(crate) fn delete(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }
}
