//! [`Start`]: the beginning of a run. [`Opened`]: a run that is about to continue.

use std::sync::Arc;

use super::ledger::{Ledger, Observer, Sink};
use crate::{flow::Flow, node::FlowState, progress::Progress, resume::SavedRun};

/// The beginning of a run.
pub(super) enum Start<S> {
    New(S),
    Resume,
    ResumeOrNew(S),
    Saved(SavedRun),
}

/// A run that is about to continue, or to begin.
pub(super) struct Opened<S> {
    pub(super) progress: Progress<S>,
    pub(super) sink: Sink,
    pub(super) is_resumed: bool,
    /// Whether the progress differs from the saved one.
    pub(super) is_changed: bool,
}

impl<S: FlowState> Opened<S> {
    pub(super) fn into_ledger(self, flow: &Flow<S>, observer: Option<Observer>) -> Ledger<S> {
        Ledger::new(Arc::clone(&flow.parts().graph), self.progress, self.sink, observer)
    }
}
