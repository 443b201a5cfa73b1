//! [`InMemoryJournal`]: a journal in the memory of the process.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::{Entry, Journal, Record};
use crate::{error::MemoryError, id};

/// A [`Journal`] in the memory of the process: for tests and for short-lived programs. Nothing survives the process.
#[derive(Debug, Default)]
pub struct InMemoryJournal(Mutex<BTreeMap<String, Stream>>);

#[derive(Debug, Default)]
struct Stream {
    /// The sequence number of the last record that was ever appended.
    end: u64,
    entries: VecDeque<Entry>,
}

impl InMemoryJournal {
    /// Creates a journal without streams.
    pub fn new() -> Self {
        Self::default()
    }

    fn streams(&self) -> MutexGuard<'_, BTreeMap<String, Stream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for InMemoryJournal {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, MemoryError> {
        id::check_named("the name of the stream", stream)?;
        records.iter().try_for_each(Record::check)?;
        let mut streams = self.streams();
        let end = streams.get(stream).map_or(0, |known| known.end);
        if end != expected {
            return Err(MemoryError::conflict(stream, expected, end));
        }
        if records.is_empty() {
            return Ok(end);
        }
        let known = streams.entry(stream.to_owned()).or_default();
        for record in records {
            known.end += 1;
            known.entries.push_back(Entry::new(known.end, record));
        }
        Ok(known.end)
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, MemoryError> {
        let streams = self.streams();
        let Some(known) = streams.get(stream) else {
            return Ok(Vec::new());
        };
        let first = known.entries.partition_point(|entry| entry.seq < from);
        Ok(known.entries.range(first..).cloned().collect())
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), MemoryError> {
        if let Some(known) = self.streams().get_mut(stream) {
            let kept = known.entries.partition_point(|entry| entry.seq < before);
            known.entries.drain(..kept);
        }
        Ok(())
    }

    async fn delete(&self, stream: &str) -> Result<bool, MemoryError> {
        Ok(self.streams().remove(stream).is_some())
    }
}
