//! [`NodeContext`]: what a node knows and may do.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Clock, StopCheck, StreamEvent};
use agcore_session::id;
use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    checkpoints::writer::no_json,
    error::{FlowError, NodeError},
    event::FlowEvent,
    interrupt::Interrupt,
    progress::{Work, WorkChange},
    record::Record,
    stop::Stop,
};

/// The knowledge of a node about its run, and everything it may do besides returning a [`Step`](crate::Step). Cheap to clone.
#[derive(Clone)]
pub struct NodeContext(Arc<Inner>);

struct Inner {
    place: NodePlace,
    last: Option<Record>,
    stop: Stop,
    clock: Arc<dyn Clock>,
    notebook: Arc<dyn Notebook>,
    /// The questions that the node asked.
    asked: Mutex<Vec<Interrupt>>,
}

/// Where a node runs.
#[derive(Debug, Clone)]
pub(crate) struct NodePlace {
    pub(crate) node: String,
    pub(crate) branch: String,
    pub(crate) visit: u32,
    pub(crate) attempt: u32,
}

/// Where nodes save what they have done so far, and report events.
#[async_trait]
pub(crate) trait Notebook: Send + Sync {
    /// Saves a change of the work of a branch, in a checkpoint.
    async fn save(&self, branch: &str, node: &str, change: WorkChange) -> Result<(), FlowError>;

    /// Returns the work of a branch.
    async fn work(&self, branch: &str) -> Work;

    fn emit(&self, event: FlowEvent);

    /// Returns the beginning of the ids of what nodes store elsewhere; `None` if the run is not saved.
    fn scope(&self) -> Option<&str>;

    /// Returns the session to which the run belongs; `None` if the run is not saved.
    fn session(&self) -> Option<&str>;
}

impl NodeContext {
    pub(crate) fn new(
        place: NodePlace,
        last: Option<Record>,
        stop: Stop,
        clock: Arc<dyn Clock>,
        notebook: Arc<dyn Notebook>,
    ) -> Self {
        Self(Arc::new(Inner {
            place,
            last,
            stop,
            clock,
            notebook,
            asked: Mutex::default(),
        }))
    }

    /// Returns the name of the node.
    pub fn node(&self) -> &str {
        &self.0.place.node
    }

    /// Returns the branch of the run: `0` is the run itself, `0.search` a branch of a fork.
    pub fn branch(&self) -> &str {
        &self.0.place.branch
    }

    /// Returns how often the node was visited in the run, with this time.
    pub fn visit(&self) -> u32 {
        self.0.place.visit
    }

    /// Returns the number of the attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.0.place.attempt
    }

    /// Returns an id for what the node stores elsewhere, such as the session of an agent: it is the same after a restart, and
    /// different for each run, node and visit. `None` if the run is not saved in a store.
    pub fn durable_id(&self) -> Option<String> {
        let NodePlace {
            node, branch, visit, ..
        } = &self.0.place;
        let scope = self.0.notebook.scope()?;
        let own = id::join([branch.as_str(), node.as_str(), &visit.to_string()]);
        Some(format!("{scope}/{own}"))
    }

    /// Returns the session to which the run belongs. `None` if the run is not saved in a store.
    pub fn session(&self) -> Option<&str> {
        self.0.notebook.session()
    }

    /// Returns the record of the node before this one in the branch. After a join, it is that of the branch that arrived last.
    pub fn last(&self) -> Option<&Record> {
        self.0.last.as_ref()
    }

    /// Returns the token that is cancelled with the run. A run that is cancelled drops its nodes; hand the token to work that
    /// continues elsewhere.
    pub fn token(&self) -> &CancellationToken {
        &self.0.stop.token
    }

    /// Returns the check of the run that is asked before each attempt of a node. Pass it on to agents and tools that the node
    /// calls, which ask it directly before each call.
    pub fn stop_check(&self) -> Option<&StopCheck> {
        self.0.stop.check.as_ref()
    }

    /// Returns the clock of the flow.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.clock
    }

    /// Makes a call whose result is saved in a checkpoint under a name, and returns the saved result if there is one already: a
    /// call that has finished is not repeated when the node is tried again, or when the run is resumed in another process.
    ///
    /// The name must be unique within one visit of the node. If the process ends between the end of the call and the end of the
    /// write, the call is repeated.
    ///
    /// Cancel safe: if the future is dropped, the call may have been made without having been saved.
    ///
    /// # Errors
    /// The error of the call, which is not saved; an error of the store; a result that has no JSON form or does not fit `T`.
    pub async fn once<T, E, F>(&self, name: &str, call: impl FnOnce() -> F) -> Result<T, NodeError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<NodeError>,
        F: Future<Output = Result<T, E>>,
    {
        let Inner { place, notebook, .. } = &*self.0;
        let mut work = notebook.work(&place.branch).await;
        if let Some(saved) = work.calls.remove(name) {
            return Ok(serde_json::from_value(saved)?);
        }
        let result = call().await.map_err(Into::into)?;
        let saved = serde_json::to_value(&result).map_err(no_json)?;
        let change = WorkChange::Call(name.to_owned(), saved);
        notebook.save(&place.branch, &place.node, change).await?;
        Ok(result)
    }

    /// Saves a value of the node in a checkpoint, in place of the one before. It is gone when the node has finished.
    ///
    /// Cancel safe: if the future is dropped, the value may be saved or not.
    ///
    /// # Errors
    /// When the store fails, or the value has no JSON form.
    pub async fn save<T: Serialize>(&self, value: &T) -> Result<(), FlowError> {
        let Inner { place, notebook, .. } = &*self.0;
        let change = WorkChange::Saved(serde_json::to_value(value).map_err(no_json)?);
        notebook.save(&place.branch, &place.node, change).await
    }

    /// Returns the value that the node saved, in this attempt or before a restart.
    ///
    /// # Errors
    /// When the value does not fit `T`.
    pub async fn saved<T: DeserializeOwned>(&self) -> Result<Option<T>, FlowError> {
        let saved = self.0.notebook.work(self.branch()).await.saved;
        let damaged = |error| FlowError::corrupt("the value that the node saved has another form").with_source(error);
        saved.map(serde_json::from_value).transpose().map_err(damaged)
    }

    /// Asks a person, and returns the answer. As long as there is none, the error suspends the run: return it from the node.
    ///
    /// When the answer has come, the node runs again from its beginning; use [`once`](Self::once) for calls before the question.
    /// The key names the question within the node.
    ///
    /// # Errors
    /// [`is_suspended`](NodeError::is_suspended) as long as there is no answer; an answer that does not fit `T`.
    pub async fn ask<T: DeserializeOwned>(&self, key: &str, prompt: impl Into<Value>) -> Result<T, NodeError> {
        if let Some(answer) = self.answer(key).await {
            let fitted = serde_json::from_value(answer);
            return fitted.map_err(|error| NodeError::from(error).with_retryable(false));
        }
        let NodePlace {
            node, branch, visit, ..
        } = &self.0.place;
        self.suspend(Interrupt::new(branch, node, *visit, key, prompt.into()));
        Err(NodeError::suspended())
    }

    /// Sends data to observers.
    pub fn emit(&self, data: impl Into<Value>) {
        let (node, branch) = self.names();
        let data = data.into();
        self.0.notebook.emit(FlowEvent::Custom { node, branch, data });
    }

    /// Sends an event of an agent to observers.
    pub fn emit_agent(&self, event: StreamEvent) {
        let (node, branch) = self.names();
        let event = Box::new(event);
        self.0.notebook.emit(FlowEvent::Agent { node, branch, event });
    }

    /// Sends an event of a tool call that the node makes itself to observers. Its id must be the same if the node runs again: by
    /// it, observers know what they have seen.
    pub fn emit_call(&self, event: StreamEvent) {
        let (node, branch) = self.names();
        let event = Box::new(event);
        self.0.notebook.emit(FlowEvent::ToolCall { node, branch, event });
    }

    pub(crate) fn emit_inside(&self, event: &FlowEvent) {
        let (node, branch) = self.names();
        let event = Box::new(event.clone());
        self.0.notebook.emit(FlowEvent::Inside { node, branch, event });
    }

    pub(crate) async fn answer(&self, key: &str) -> Option<Value> {
        self.0.notebook.work(self.branch()).await.answers.remove(key)
    }

    pub(crate) fn suspend(&self, interrupt: Interrupt) {
        self.asked().push(interrupt);
    }

    /// Returns a question under the name of this node, asked by a flow that runs in it.
    pub(crate) fn wrap(&self, inner: &Interrupt) -> Interrupt {
        let NodePlace {
            node, branch, visit, ..
        } = &self.0.place;
        Interrupt::new(branch, node, *visit, &inner.id, inner.prompt.clone())
    }

    pub(crate) fn take_asked(&self) -> Vec<Interrupt> {
        std::mem::take(&mut *self.asked())
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Vec<Interrupt>> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn names(&self) -> (String, String) {
        (self.0.place.node.clone(), self.0.place.branch.clone())
    }
}

impl fmt::Debug for NodeContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeContext").field(&self.0.place).finish()
    }
}
