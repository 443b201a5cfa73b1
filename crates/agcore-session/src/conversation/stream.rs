//! Reads the stream of a conversation.

use super::{change::Change, history::History};
use crate::{
    error::{SessionError, SessionErrorKind},
    journal::Entry,
};

/// A conversation as it is in the journal.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) history: History,
    /// The sequence number of the last record.
    pub(super) end: u64,
    /// The number of records after the last snapshot.
    pub(super) records: usize,
    /// The number of messages in the last snapshot.
    pub(super) snapshot_len: usize,
    /// The number of the last snapshot, if there are records before it.
    pub(super) untrimmed: Option<u64>,
}

/// Applies the records of a stream to an empty conversation.
///
/// # Errors
/// When a record is missing, damaged or from a newer version.
pub(super) fn load(mut entries: Vec<Entry>) -> Result<Loaded, SessionError> {
    let Some((first, last)) = entries.first().zip(entries.last()) else {
        return Ok(Loaded::default());
    };
    let (first, end) = (first.seq, last.seq);
    let is_gap = |pair: &[Entry]| pair[1].seq != pair[0].seq + 1;
    if let Some(pair) = entries.windows(2).find(|pair| is_gap(pair)) {
        return Err(missing(pair[0].seq + 1));
    }
    let whole = entries.iter().rposition(|entry| Change::is_whole(&entry.record));
    if whole.is_none() && first != 1 {
        return Err(missing(first - 1));
    }
    let entries = entries.split_off(whole.unwrap_or(0));
    let (mut history, mut snapshot_len) = (History::default(), 0);
    let count = entries.len();
    for entry in entries {
        let (seq, is_whole) = (entry.seq, Change::is_whole(&entry.record));
        history.apply(Change::read(entry)?).ok_or_else(|| damaged(seq))?;
        if is_whole {
            snapshot_len = history.len();
        }
    }
    history.validate().map_err(|error| {
        let message = "the stored conversation is damaged: its messages could never be sent";
        SessionError::with_source(SessionErrorKind::Serialization, message, error)
    })?;
    let start = end + 1 - count as u64;
    Ok(Loaded {
        history,
        end,
        records: count - usize::from(whole.is_some()),
        snapshot_len,
        untrimmed: whole.filter(|_| first < start).map(|_| start),
    })
}

#[cold]
fn missing(seq: u64) -> SessionError {
    SessionError::new(
        SessionErrorKind::Serialization,
        format!("the stored conversation is damaged: its record {seq} is missing"),
    )
}

#[cold]
fn damaged(seq: u64) -> SessionError {
    SessionError::new(
        SessionErrorKind::Serialization,
        format!("the stored conversation is damaged: record {seq} refers to a message that does not exist"),
    )
}
