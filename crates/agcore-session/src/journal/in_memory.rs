//! [`InMemoryJournal`]: a journal in the memory of the process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use agcore_chat::id;
use async_trait::async_trait;

use super::{Entry, Journal, Record, streams::Streams};
use crate::error::SessionError;

/// A [`Journal`] in the memory of the process: for tests and for short-lived programs. Nothing survives the process.
#[derive(Debug, Default)]
pub struct InMemoryJournal(Mutex<Streams>);

impl InMemoryJournal {
    /// Creates a journal without streams.
    pub fn new() -> Self {
        Self::default()
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for InMemoryJournal {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        id::check_named("the name of the stream", stream)?;
        records.iter().try_for_each(Record::check)?;
        let mut streams = self.streams();
        streams.check_end(stream, expected)?;
        Ok(streams.append(stream, records))
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        Ok(self.streams().read(stream, from))
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.streams().trim(stream, before);
        Ok(())
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        Ok(self.streams().delete(stream))
    }
}
