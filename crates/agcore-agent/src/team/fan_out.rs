//! [`FanOut`]: tasks of several agents that run side by side.

use std::{fmt, sync::Arc};

use agcore_cycle::TurnOutcome;
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::{agent::Agent, bundle::RuntimeBundle, error::AgentError};

/// Tasks of several agents that run side by side, each in a session of its own.
///
/// ```
/// use agcore_agent::{AgentSpec, FanOut, agent};
/// use agcore_chat::ChatResponse;
/// use agcore_llm::provider_fn;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = provider_fn(|call| async move {
///     let system = call.request.messages[0].text().into_owned();
///     Ok(ChatResponse::from_text(if system.contains("optimist") { "It will work." } else { "It will break." }))
/// });
/// let bundle = agent(model).build()?;
///
/// let opinions = FanOut::new()
///     .with_task(AgentSpec::new("ann", "You are an optimist."), "Should we release today?")
///     .with_task(AgentSpec::new("bob", "You are a pessimist."), "Should we release today?")
///     .run(&bundle)
///     .await;
/// let texts: Vec<_> = opinions.iter().map(|opinion| (&*opinion.agent, opinion.text())).collect();
/// assert_eq!(texts, [("ann", "It will work.".into()), ("bob", "It will break.".into())]);
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[must_use = "tasks do nothing before `run`"]
pub struct FanOut {
    tasks: Vec<(Arc<dyn Agent>, String)>,
    max_concurrency: usize,
    token: CancellationToken,
}

/// The result of one task.
#[derive(Debug)]
#[non_exhaustive]
pub struct Gathered {
    /// The name of the agent.
    pub agent: String,
    /// The outcome of its turn.
    pub result: Result<TurnOutcome, AgentError>,
}

impl Gathered {
    /// Returns the answer; empty if there is none.
    pub fn text(&self) -> String {
        let outcome = self.result.as_ref().ok();
        outcome.map(|outcome| outcome.text().into_owned()).unwrap_or_default()
    }
}

impl Default for FanOut {
    fn default() -> Self {
        Self::new()
    }
}

impl FanOut {
    /// Creates an empty list of tasks. Up to 8 of them run side by side.
    pub fn new() -> Self {
        Self {
            tasks: Vec::new(),
            max_concurrency: 8,
            token: CancellationToken::new(),
        }
    }

    /// Adds a task.
    pub fn with_task(mut self, agent: impl Agent + 'static, task: impl Into<String>) -> Self {
        self.tasks.push((Arc::new(agent), task.into()));
        self
    }

    /// Sets how many tasks run side by side; at least one.
    pub fn with_max_concurrency(mut self, tasks: usize) -> Self {
        self.max_concurrency = tasks.max(1);
        self
    }

    /// Cancels all tasks when `token` is cancelled.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Runs the tasks, and returns their results in the order in which the tasks were added. A task that fails does not stop the
    /// others. To limit what all of them spend together, build the bundle with a
    /// [pool](agcore_cycle::Budgets::with_pool).
    ///
    /// Cancel safe: dropping the future cancels all tasks.
    pub async fn run(self, bundle: &RuntimeBundle) -> Vec<Gathered> {
        let token = self.token;
        let runs = self.tasks.into_iter().enumerate().map(|(index, (agent, task))| {
            let session = bundle.new_session_with(Arc::clone(&agent));
            let turn = session.turn(task).with_token(token.clone());
            async move {
                let gathered = Gathered {
                    agent: agent.name().to_owned(),
                    result: turn.await,
                };
                (index, gathered)
            }
        });
        let mut gathered: Vec<_> = stream::iter(runs)
            .buffer_unordered(self.max_concurrency)
            .collect()
            .await;
        gathered.sort_by_key(|(index, _)| *index);
        gathered.into_iter().map(|(_, gathered)| gathered).collect()
    }
}

impl fmt::Debug for FanOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FanOut")
            .field("tasks", &self.tasks.len())
            .field("max_concurrency", &self.max_concurrency)
            .finish_non_exhaustive()
    }
}
