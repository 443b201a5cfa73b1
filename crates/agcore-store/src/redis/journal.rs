//! The journal. The records of a stream are a list without gaps, so that the number of a record follows from its place.

use agcore_chat::id;
use agcore_session::{Entry, Journal, Record, SessionError};
use async_trait::async_trait;

use super::{
    RedisStore,
    connection::Call,
    error::{damaged, decoded, unreadable},
    scripts,
};
use crate::error::{StoreError, StoreErrorKind};

/// A number that is greater than the numbers of all records and that Lua represents exactly.
const MAX_SEQ: u64 = 1 << 53;

#[async_trait]
impl Journal for RedisStore {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        const ATTEMPT: &str = "cannot append to the stream";
        id::check(stream)?;
        records.iter().try_for_each(Record::check)?;
        let end = expected.saturating_add(records.len() as u64);
        let mut call = Call::write_script(ATTEMPT, &scripts::APPEND, &self.0.keys.stream(stream));
        call.arg(expected).arg(end);
        for (place, record) in (1..).zip(&records) {
            call.arg(encode(expected.saturating_add(place), record)?);
        }
        let (is_appended, found): (bool, String) = decoded(ATTEMPT, self.run(&call).await?)?;
        let found = found
            .parse()
            .map_err(|_| damaged(&format!("the end of the stream `{stream}`")))?;
        if is_appended {
            Ok(found)
        } else {
            Err(SessionError::conflict(stream, expected, found))
        }
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        const ATTEMPT: &str = "cannot read the stream";
        let mut call = Call::read_script(ATTEMPT, &scripts::READ, &self.0.keys.stream(stream));
        call.arg(from.min(MAX_SEQ));
        let (first, records): (String, Vec<Vec<u8>>) = decoded(ATTEMPT, self.run(&call).await?)?;
        let first: u64 = first.parse().map_err(|_| damaged(&format!("the stream `{stream}`")))?;
        let entries = (first..).zip(records);
        entries.map(|(seq, record)| Ok(entry(stream, seq, &record)?)).collect()
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        let mut call = Call::write_script("cannot trim the stream", &scripts::TRIM, &self.0.keys.stream(stream));
        call.arg(before.min(MAX_SEQ));
        Ok(self.run(&call).await.map(drop)?)
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        const ATTEMPT: &str = "cannot delete the stream";
        let mut call = Call::write(ATTEMPT, redis::cmd("DEL"));
        call.arg(&self.0.keys.stream(stream)[..]);
        let keys: u64 = decoded(ATTEMPT, self.run(&call).await?)?;
        Ok(keys > 0)
    }
}

/// Encodes a record with its number, so that a record in a wrong place is noticed.
fn encode(seq: u64, record: &Record) -> Result<String, StoreError> {
    serde_json::to_string(&(seq, record)).map_err(|error| {
        let message = format!("record {seq} cannot be written as JSON");
        StoreError::with_source(StoreErrorKind::Serialization, message, error)
    })
}

fn entry(stream: &str, seq: u64, text: &[u8]) -> Result<Entry, StoreError> {
    let what = || format!("record {seq} of the stream `{stream}`");
    let (stored, record): (u64, Record) = serde_json::from_slice(text).map_err(|error| unreadable(&what(), error))?;
    if seq == stored {
        return Ok(Entry::new(seq, record));
    }
    Err(StoreError::new(
        StoreErrorKind::Serialization,
        format!("{} is damaged: record {stored} is in its place", what()),
    ))
}
