//! Restores the state of a run from its checkpoints.

use agcore_session::Checkpoint;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    document::{Change, Document, FORMAT, Snapshot},
    size::size,
};
use crate::{
    error::{FlowError, FlowErrorKind},
    progress::ROOT,
    record::Record,
};

/// The state of a run, and the number of its last checkpoint.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) seq: u64,
    pub(crate) document: Document,
    /// The bytes of the patches since the last snapshot.
    pub(crate) patches: usize,
}

impl Restored {
    pub(crate) fn new(seq: u64, document: Document) -> Self {
        Self {
            seq,
            document,
            patches: 0,
        }
    }

    /// Returns whether the branch of the run itself has ended.
    pub(super) fn has_ended(&self) -> bool {
        let root = self.document.progress.get("branches").and_then(|all| all.get(ROOT));
        root.and_then(|root| root.get("place")?.get("at")?.as_str()) == Some("ended")
    }
}

/// Applies patches to the snapshot before them.
pub(super) fn restore(checkpoints: Vec<Checkpoint>) -> Result<Option<Restored>, FlowError> {
    let mut restored: Option<Restored> = None;
    for checkpoint in checkpoints {
        let seq = checkpoint.seq;
        if checkpoint.is_snapshot {
            let document = read::<Snapshot>(seq, checkpoint.data)?.document;
            restored = Some(Restored::new(seq, document));
            continue;
        }
        let Some(before) = restored.as_mut().filter(|before| before.seq + 1 == seq) else {
            let message = format!("checkpoint {seq} changes the one before it, which is missing");
            return Err(FlowError::corrupt(message));
        };
        before.patches += size(&checkpoint.data);
        let change: Change = read(seq, checkpoint.data)?;
        let applied = json_patch::patch(&mut before.document.progress, &change.patch);
        applied.map_err(|error| damaged(seq).with_source(error))?;
        before.seq = seq;
    }
    Ok(restored)
}

/// Returns the records in checkpoints, in order.
pub(super) fn records(checkpoints: Vec<Checkpoint>) -> Result<Vec<Record>, FlowError> {
    let records = checkpoints.into_iter().map(|checkpoint| {
        let Checkpoint {
            seq,
            is_snapshot,
            mut data,
            ..
        } = checkpoint;
        let part = if is_snapshot { "document" } else { "patch" };
        let record = data.get_mut("record").map(Value::take);
        if data.get(part).is_none() {
            return Err(damaged(seq));
        }
        record.map(|record| read(seq, record)).transpose()
    });
    records.filter_map(Result::transpose).collect()
}

fn read<T: DeserializeOwned>(seq: u64, data: Value) -> Result<T, FlowError> {
    let format = data.pointer("/document/format").and_then(Value::as_u64);
    if format.is_some_and(|format| format > u64::from(FORMAT)) {
        let message = format!("checkpoint {seq} was written by a newer version of agcore; update this program");
        return Err(FlowError::new(FlowErrorKind::NewerVersion, message));
    }
    serde_json::from_value(data).map_err(|error| damaged(seq).with_source(error))
}

#[cold]
fn damaged(seq: u64) -> FlowError {
    FlowError::corrupt(format!(
        "checkpoint {seq} is damaged; restore the store from a copy, or start the run again"
    ))
}
