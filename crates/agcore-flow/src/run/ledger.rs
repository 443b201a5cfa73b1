//! [`Ledger`]: the progress of a run, and where it is saved.

use std::{collections::HashSet, fmt, sync::Arc};

use async_trait::async_trait;
use tokio::sync::Mutex;

use crate::{
    checkpoints::writer::{Writer, document},
    context::{NodeContext, Notebook},
    error::FlowError,
    event::FlowEvent,
    graph::Graph,
    interrupt::Interrupt,
    node::FlowState,
    progress::{Held, Merges, Progress, Work, WorkChange},
    record::Record,
};

/// A function that learns what happens.
pub(crate) type Observer = Arc<dyn Fn(&FlowEvent) + Send + Sync>;

/// The progress of a run, and where it is saved. All changes pass here, one after the other.
///
/// A node that saves something holds the lock while the store writes. So code that waits for the lock must be polled side by side
/// with the nodes.
pub(crate) struct Ledger<S> {
    graph: Arc<Graph>,
    inner: Mutex<Inner<S>>,
    observer: Option<Observer>,
    /// The beginning of the ids of what nodes store elsewhere.
    scope: Option<String>,
    /// The session to which the run belongs.
    session: Option<String>,
}

struct Inner<S> {
    progress: Progress<S>,
    /// The branches whose nodes run.
    running: HashSet<String>,
    sink: Sink,
}

/// Where progress is saved.
pub(crate) enum Sink {
    Nowhere,
    Store(Box<Writer>),
    /// In the work of the node in which the flow runs.
    Node(NodeContext),
}

impl Sink {
    fn scope(&self) -> Option<String> {
        match self {
            Self::Nowhere => None,
            Self::Store(writer) => Some(writer.scope()),
            Self::Node(context) => context.durable_id(),
        }
    }

    fn session(&self) -> Option<String> {
        match self {
            Self::Nowhere => None,
            Self::Store(writer) => Some(writer.session().to_owned()),
            Self::Node(context) => context.session().map(str::to_owned),
        }
    }
}

/// A node that can run.
#[derive(Debug)]
pub(crate) struct Ready<S> {
    pub(crate) branch: String,
    pub(crate) node: String,
    pub(crate) visit: u32,
    /// The state, until an attempt takes it.
    pub(crate) state: Option<S>,
    pub(crate) last: Option<Record>,
}

impl<S: FlowState> Ledger<S> {
    pub(crate) fn new(graph: Arc<Graph>, progress: Progress<S>, sink: Sink, observer: Option<Observer>) -> Self {
        Self {
            scope: sink.scope(),
            session: sink.session(),
            graph,
            inner: Mutex::new(Inner {
                progress,
                running: HashSet::new(),
                sink,
            }),
            observer,
        }
    }

    /// Saves the progress as it is.
    pub(crate) async fn begin(&self) -> Result<(), FlowError> {
        let mut inner = self.inner.lock().await;
        let step = inner
            .progress
            .nodes()
            .next()
            .map_or_else(|| self.graph.name.clone(), str::to_owned);
        inner.save(&self.graph, &step, None).await
    }

    /// Returns the nodes that can run and were not returned before.
    pub(crate) async fn ready(&self) -> Vec<Ready<S>> {
        self.inner.lock().await.start_ready()
    }

    /// Saves that a node has finished, with the number of its record. Returns the nodes that can run now.
    pub(crate) async fn finish(
        &self,
        merges: &Merges<S>,
        state: S,
        mut record: Record,
    ) -> Result<Vec<Ready<S>>, FlowError> {
        let mut inner = self.inner.lock().await;
        record.id = inner.progress.records + 1;
        inner.running.remove(&record.branch);
        inner.progress.finish(&self.graph, merges, state, record.clone())?;
        let step = record.node.clone();
        inner.save(&self.graph, &step, Some(record.clone())).await?;
        let ready = inner.start_ready();
        drop(inner);
        self.emit(FlowEvent::NodeFinished(record));
        Ok(ready)
    }

    /// Saves that a node waits.
    pub(crate) async fn wait(&self, branch: &str, node: &str, interrupts: Vec<Interrupt>) -> Result<(), FlowError> {
        let mut inner = self.inner.lock().await;
        inner.running.remove(branch);
        inner.take_back(branch)?;
        inner.progress.wait(branch, interrupts.clone())?;
        inner.save(&self.graph, node, None).await?;
        drop(inner);
        for interrupt in interrupts {
            self.emit(FlowEvent::Interrupted(interrupt));
        }
        Ok(())
    }

    /// Returns the progress.
    pub(crate) async fn progress(&self) -> Progress<S> {
        self.inner.lock().await.progress.clone()
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn emit(&self, event: FlowEvent) {
        if let Some(observer) = &self.observer {
            observer(&event);
        }
    }
}

impl<S: FlowState> Inner<S> {
    fn start_ready(&mut self) -> Vec<Ready<S>> {
        let Self {
            progress,
            running,
            sink,
        } = self;
        let ready = progress.ready().filter(|(branch, ..)| !running.contains(*branch));
        let mut ready: Vec<Ready<S>> = ready
            .map(|(branch, node, visit)| Ready {
                branch: branch.clone(),
                node: node.clone(),
                visit,
                state: None,
                last: None,
            })
            .collect();
        for ready in &mut ready {
            running.insert(ready.branch.clone());
            if let Some(branch) = progress.branches.get_mut(&ready.branch) {
                ready.last.clone_from(&branch.last);
                ready.state = match sink {
                    // What was written has the state, should it be needed.
                    Sink::Store(_) => branch.state.take(),
                    Sink::Nowhere | Sink::Node(_) => branch.state.get().ok().cloned(),
                };
            }
        }
        ready
    }

    /// Takes the state of a branch from what was written, if a node had it.
    fn take_back(&mut self, id: &str) -> Result<(), FlowError> {
        let branch = self.progress.branch(id)?;
        if let (Held::Taken, Sink::Store(writer)) = (&branch.state, &self.sink) {
            branch.state = Held::Here(writer.state(id)?);
        }
        Ok(())
    }

    async fn save(&mut self, graph: &Graph, step: &str, record: Option<Record>) -> Result<(), FlowError> {
        match &mut self.sink {
            Sink::Nowhere => Ok(()),
            Sink::Store(writer) => writer.write(step, graph, &self.progress, record).await,
            Sink::Node(context) => context.save(&document(graph, &self.progress)?).await,
        }
    }
}

#[async_trait]
impl<S: FlowState> Notebook for Ledger<S> {
    async fn save(&self, branch: &str, node: &str, change: WorkChange) -> Result<(), FlowError> {
        let mut inner = self.inner.lock().await;
        inner.progress.branch(branch)?.work.apply(change);
        inner.save(&self.graph, node, None).await
    }

    async fn work(&self, branch: &str) -> Work {
        let inner = self.inner.lock().await;
        let branch = inner.progress.branches.get(branch);
        branch.map(|branch| branch.work.clone()).unwrap_or_default()
    }

    fn emit(&self, event: FlowEvent) {
        Self::emit(self, event);
    }

    fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

impl<S> fmt::Debug for Ledger<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("graph", &self.graph)
            .finish_non_exhaustive()
    }
}
