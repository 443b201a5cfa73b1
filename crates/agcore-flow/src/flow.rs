//! [`Flow`]: a checked graph of nodes over one state.

use std::{collections::HashMap, fmt, sync::Arc};

use agcore_chat::Clock;
use serde_json::Value;

use crate::{
    checkpoints::{Checkpoints, Restored},
    error::{FlowError, FlowErrorKind},
    graph::Graph,
    node::{FlowState, Node},
    options::NodeOptions,
    progress::{Merges, Progress},
    resume::SavedRun,
};

/// Converts the state of an older version, given with that version, into the form of the current one.
pub(crate) type Migration = Arc<dyn Fn(u32, Value) -> Result<Value, String> + Send + Sync>;

/// A checked graph of nodes over one state `S`, made by a [`FlowBuilder`](crate::FlowBuilder). Cheap to clone.
///
/// ```
/// use agcore_chat::SystemClock;
/// use agcore_flow::{END, FlowBuilder, Step};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let flow = FlowBuilder::new("countdown", SystemClock::new())
///     .with_node("count", |left: u32, _| async move {
///         Ok(if left > 1 { Step::new(left - 1).to("count") } else { Step::new(0).end() })
///     })
///     .with_limit("count", 10)
///     .with_edge("count", "count")
///     .with_edge("count", END)
///     .build()?;
/// assert_eq!(flow.run(3).await?.into_state()?, 0);
/// # Ok::<(), agcore_flow::FlowError>(())
/// # }).unwrap();
/// ```
pub struct Flow<S>(Arc<Parts<S>>);

pub(crate) struct Parts<S> {
    pub(crate) graph: Arc<Graph>,
    pub(crate) nodes: HashMap<String, NodeEntry<S>>,
    pub(crate) merges: Merges<S>,
    pub(crate) migration: Option<Migration>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A node with its options.
pub(crate) struct NodeEntry<S> {
    pub(crate) node: Arc<dyn Node<S>>,
    pub(crate) options: NodeOptions,
}

impl<S: FlowState> Flow<S> {
    pub(crate) fn new(parts: Parts<S>) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn parts(&self) -> &Parts<S> {
        &self.0
    }

    /// Returns the name of the flow.
    pub fn name(&self) -> &str {
        &self.0.graph.name
    }

    /// Returns the version of its state.
    pub fn version(&self) -> u32 {
        self.0.graph.version
    }

    /// Returns the state as it was at a checkpoint; `None` if there is no such checkpoint. While a fork is open, this is the state
    /// at the fork.
    ///
    /// # Errors
    /// As those of resuming a run.
    pub async fn state_at(&self, checkpoints: &Checkpoints, checkpoint: u64) -> Result<Option<S>, FlowError> {
        let Some(restored) = checkpoints.load_at(checkpoint).await? else {
            return Ok(None);
        };
        let (mut progress, _) = self.progress(&restored)?;
        let root = progress.branches.remove(crate::progress::ROOT);
        root.map(|root| root.state.into_state()).transpose()
    }

    /// Returns the ids of the open questions of a saved run.
    pub(crate) fn open_questions(&self, saved: &SavedRun) -> Result<Vec<String>, FlowError> {
        let restored = Restored::new(0, saved.0.clone());
        let (progress, _) = self.progress(&restored)?;
        Ok(progress.interrupts().into_iter().map(|open| open.id).collect())
    }

    /// Reads the progress of a run, converted to the current version. Also returns whether it was converted.
    pub(crate) fn progress(&self, restored: &Restored) -> Result<(Progress<S>, bool), FlowError> {
        let Graph { name, version, .. } = &*self.0.graph;
        let document = &restored.document;
        if document.flow != *name {
            let message = format!(
                "the checkpoints belong to the flow `{}`, not to `{name}`",
                document.flow
            );
            return Err(FlowError::new(FlowErrorKind::OtherFlow, message));
        }
        if document.version > *version {
            let message = format!(
                "the checkpoints were written by version {} of the flow `{name}`, and this is version {version}; update \
                 this program",
                document.version
            );
            return Err(FlowError::new(FlowErrorKind::NewerVersion, message));
        }
        let mut value = document.progress.clone();
        let is_old = document.version < *version;
        if is_old {
            self.migrate(document.version, &mut value)?;
        }
        let progress: Progress<S> = serde_json::from_value(value).map_err(|error| {
            FlowError::corrupt("the state in the last checkpoint has another form; does the flow need a new version?")
                .with_source(error)
        })?;
        if let Some(unknown) = progress.nodes().find(|node| !self.0.graph.contains(node)) {
            let message = format!("the run is in the node `{unknown}`, which the flow `{name}` does not have");
            return Err(FlowError::corrupt(message));
        }
        Ok((progress, is_old))
    }

    fn migrate(&self, from: u32, progress: &mut Value) -> Result<(), FlowError> {
        let Some(migration) = &self.0.migration else {
            return Ok(());
        };
        let branches = progress.get_mut("branches").and_then(Value::as_object_mut);
        let states = branches.into_iter().flat_map(|branches| branches.values_mut());
        for state in states.filter_map(|branch| branch.get_mut("state")) {
            *state = migration(from, state.take()).map_err(|problem| {
                let message = format!("the state of version {from} could not be converted: {problem}");
                FlowError::new(FlowErrorKind::Migration, message)
            })?;
        }
        Ok(())
    }
}

impl<S> Clone for Flow<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> fmt::Debug for Flow<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow")
            .field("graph", &self.0.graph)
            .finish_non_exhaustive()
    }
}
