//! The calls of journals.

use agcore_session::{Entry, Journal, Record, SessionError};
use async_trait::async_trait;

use super::FaultyStore;

#[async_trait]
impl<S: Journal> Journal for FaultyStore<S> {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        self.call("append", self.inner.append(stream, expected, records)).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        self.call("read", self.inner.read(stream, from)).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        self.call("trim", self.inner.trim(stream, before)).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        self.call("delete", self.inner.delete(stream)).await
    }
}
