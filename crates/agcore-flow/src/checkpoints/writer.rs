//! [`Writer`]: writes what changes in a run.

use agcore_session::{NewCheckpoint, id};
use json_patch::Patch;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Checkpoints, Restored,
    delta::diff,
    document::{Change, Document, FORMAT, Snapshot},
    size::size,
};
use crate::{
    error::{FlowError, FlowErrorKind},
    graph::Graph,
    record::Record,
};

/// Patches of up to this size, or of up to [`SNAPSHOT_FACTOR`] times the size of the last snapshot, follow a snapshot.
const MIN_PATCHES: usize = 8 * 1024;

/// The size that patches may reach, as a multiple of the snapshot before them. Snapshots take this part of the bytes of patches at
/// most, and the time to restore a state is limited by its size.
const SNAPSHOT_FACTOR: usize = 4;

/// The part of the progress that a checkpoint contains.
enum Written {
    Patch(Patch),
    Snapshot(Value),
}

/// Returns the progress with the flow to which it belongs.
pub(crate) fn document(graph: &Graph, progress: &impl Serialize) -> Result<Document, FlowError> {
    Ok(Document {
        format: FORMAT,
        flow: graph.name.clone(),
        version: graph.version,
        progress: json(progress)?,
    })
}

/// Writes the checkpoints of a run, one after the other.
#[derive(Debug)]
pub(crate) struct Writer {
    checkpoints: Checkpoints,
    seq: u64,
    /// The progress as it was written last.
    written: Option<Value>,
    snapshot: usize,
    patches: usize,
    /// Whether a write began and its end was not seen.
    is_uncertain: bool,
    /// Whether the next checkpoint has everything, because it is not known what the last one contains.
    needs_snapshot: bool,
}

impl Writer {
    /// Begins a run without checkpoints.
    pub(crate) fn new(checkpoints: Checkpoints) -> Self {
        Self {
            checkpoints,
            seq: 0,
            written: None,
            snapshot: 0,
            patches: 0,
            is_uncertain: false,
            needs_snapshot: false,
        }
    }

    /// Returns the beginning of the ids of what the nodes of the run store elsewhere.
    pub(crate) fn scope(&self) -> String {
        let run = self.checkpoints.key();
        id::join([run.session, run.run])
    }

    /// Returns the session to which the run belongs.
    pub(crate) fn session(&self) -> &str {
        self.checkpoints.key().session
    }

    /// Continues a run. If its document was converted, a snapshot follows.
    pub(crate) fn resume(checkpoints: Checkpoints, restored: &Restored, is_converted: bool) -> Self {
        let progress = &restored.document.progress;
        Self {
            checkpoints,
            seq: restored.seq,
            snapshot: size(progress),
            patches: restored.patches,
            written: (!is_converted).then(|| progress.clone()),
            is_uncertain: false,
            needs_snapshot: false,
        }
    }

    /// Writes a checkpoint.
    ///
    /// If the future is dropped, it may have been written or not; the next call finds out.
    pub(crate) async fn write(
        &mut self,
        step: &str,
        graph: &Graph,
        progress: &impl Serialize,
        record: Option<Record>,
    ) -> Result<(), FlowError> {
        self.settle().await?;
        let (new, bytes, written) = self.checkpoint(step, graph, progress, record)?;
        let is_snapshot = new.is_snapshot;
        self.is_uncertain = true;
        let run = self.checkpoints.key();
        self.seq = self.checkpoints.store().save_checkpoint(run, self.seq, new).await?;
        self.is_uncertain = false;
        self.written(written)?;
        if is_snapshot {
            (self.snapshot, self.patches) = (bytes, 0);
            self.needs_snapshot = false;
        } else {
            self.patches += bytes;
        }
        Ok(())
    }

    /// Finds out whether a write took place whose end was not seen.
    async fn settle(&mut self) -> Result<(), FlowError> {
        if !self.is_uncertain {
            return Ok(());
        }
        let last = self.checkpoints.last().await?;
        if last != self.seq && last != self.seq + 1 {
            let message = "another process continues the run; wait for it, or read the run again";
            return Err(FlowError::new(FlowErrorKind::Conflict, message));
        }
        self.seq = last;
        self.needs_snapshot = true;
        self.is_uncertain = false;
        Ok(())
    }

    /// Returns the state of a branch as it was written last.
    pub(crate) fn state<S: DeserializeOwned>(&self, branch: &str) -> Result<S, FlowError> {
        let branches = self.written.as_ref().and_then(|written| written.get("branches"));
        let state = branches.and_then(|branches| branches.get(branch)?.get("state"));
        let state =
            state.ok_or_else(|| FlowError::corrupt(format!("the state of the branch {branch:?} was not written")))?;
        S::deserialize(state).map_err(|error| {
            FlowError::corrupt("the state cannot be read from its JSON form; check how it is serialized")
                .with_source(error)
        })
    }

    /// Notes what was written.
    fn written(&mut self, written: Written) -> Result<(), FlowError> {
        match (written, &mut self.written) {
            (Written::Patch(patch), Some(progress)) => apply(progress, &patch)?,
            (Written::Patch(_), None) => {}
            (Written::Snapshot(progress), known) => *known = Some(progress),
        }
        Ok(())
    }

    /// Makes the next checkpoint. Also returns its size, and what it contains.
    fn checkpoint(
        &self,
        step: &str,
        graph: &Graph,
        progress: &impl Serialize,
        record: Option<Record>,
    ) -> Result<(NewCheckpoint, usize, Written), FlowError> {
        let Some(written) = &self.written else {
            return snapshot(step, document(graph, progress)?, record);
        };
        let change = Change {
            patch: diff(written, progress).map_err(no_json)?,
            record,
        };
        if !self.needs_snapshot {
            let data = json(&change)?;
            let bytes = size(&data);
            if self.patches + bytes <= MIN_PATCHES.max(SNAPSHOT_FACTOR * self.snapshot) {
                return Ok((NewCheckpoint::patch(step, data), bytes, Written::Patch(change.patch)));
            }
        }
        // The nodes that run have their states: they are in what was written.
        let mut progress = written.clone();
        apply(&mut progress, &change.patch)?;
        snapshot(step, document(graph, &progress)?, change.record)
    }
}

fn snapshot(
    step: &str,
    document: Document,
    record: Option<Record>,
) -> Result<(NewCheckpoint, usize, Written), FlowError> {
    let progress = document.progress.clone();
    let data = json(&Snapshot { document, record })?;
    let bytes = size(&data);
    Ok((NewCheckpoint::snapshot(step, data), bytes, Written::Snapshot(progress)))
}

fn apply(progress: &mut Value, patch: &Patch) -> Result<(), FlowError> {
    json_patch::patch(progress, patch).map_err(|error| {
        let message =
            "a change of the state cannot be applied to what was written; report this with the type of the state";
        FlowError::corrupt(message).with_source(error)
    })
}

fn json<T: Serialize>(value: &T) -> Result<Value, FlowError> {
    serde_json::to_value(value).map_err(no_json)
}

/// Returns the error of a state that has no JSON form, for example because the keys of a map are not texts.
#[cold]
pub(crate) fn no_json(error: serde_json::Error) -> FlowError {
    FlowError::invalid_input("the state has no JSON form; use texts as keys of maps").with_source(error)
}
