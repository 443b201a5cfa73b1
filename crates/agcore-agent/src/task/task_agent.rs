//! [`TaskAgent`]: makes plans and carries them out.

use std::{fmt, sync::Arc};

use super::{
    execution::TaskSettings,
    parser::{JsonPlanParser, PlanParser},
    questions::StepQuestions,
    task_turn::{Start, TaskTurn},
};
use crate::{agent::Agent, bundle::RuntimeBundle, plan::Plan, session::AgentSession};

/// Makes plans and carries them out.
///
/// The model breaks a goal down into steps. Each step is a turn of its own session: the agent sees the goal, the step and the
/// results of the steps it depends on. When all are done, it writes the answer. If a step fails, the steps that depend on it are
/// skipped, the others are still carried out, and a new plan is made, if [that is allowed](Self::with_max_replans).
///
/// Steps are carried out with the tools, permissions and limits of the bundle. A step that is suspended, because a person has
/// to be asked and no approver answers at once, continues with the answers of [`StepQuestions`], and fails without them.
///
/// ```
/// use agcore_agent::{AgentSpec, TaskAgent, agent};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::text(r#"{"steps": [{"description": "Count."}, {"description": "Double it.", "depends_on": [1]}]}"#),
/// #     ScriptStep::text("21"),
/// #     ScriptStep::text("42"),
/// #     ScriptStep::text("Twice the number of files is 42."),
/// # ]);
/// let bundle = agent(model).build()?;
/// let task = TaskAgent::new(bundle).with_agent(AgentSpec::new("worker", "You are precise."));
/// let report = task.run("What is twice the number of files?").await?;
/// assert_eq!(report.plan.steps()[0].result(), Some("21"));
/// assert_eq!(report.answer.as_deref(), Some("Twice the number of files is 42."));
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct TaskAgent(TaskSettings);

impl TaskAgent {
    /// Creates an agent that carries out steps one after the other, with the default agent of the bundle, and that never makes a
    /// second plan.
    pub fn new(bundle: RuntimeBundle) -> Self {
        Self(TaskSettings {
            worker: Arc::new(bundle.agent().clone()),
            bundle,
            parser: Arc::new(JsonPlanParser::new()),
            max_parallel: 1,
            max_replans: 0,
            questions: None,
        })
    }

    /// Sets the agent that carries out the steps. Its model and parameters also make the plan.
    pub fn with_agent(mut self, agent: impl Agent + 'static) -> Self {
        self.0.worker = Arc::new(agent);
        self
    }

    /// Sets the parser of plans.
    pub fn with_parser(mut self, parser: impl PlanParser + 'static) -> Self {
        self.0.parser = Arc::new(parser);
        self
    }

    /// Sets how many steps that do not depend on each other run side by side; at least one.
    pub fn with_max_parallel(mut self, steps: usize) -> Self {
        self.0.max_parallel = steps.max(1);
        self
    }

    /// Sets how many new plans are made after plans that failed.
    pub fn with_max_replans(mut self, plans: u32) -> Self {
        self.0.max_replans = plans;
        self
    }

    /// Sets who answers the questions at which steps wait.
    pub fn with_questions(mut self, questions: impl StepQuestions + 'static) -> Self {
        self.0.questions = Some(Arc::new(questions));
        self
    }

    /// Makes a plan for a goal and carries it out. Await the result, or [stream](TaskTurn::stream) its events.
    pub fn run(&self, goal: impl Into<String>) -> TaskTurn {
        self.start(goal.into(), None, Vec::new())
    }

    /// Does the same as [`run`](Self::run), and writes everything to a new [stored](crate::StoredSessions) session while it
    /// happens: the plan, the turns of the steps, and their results. The conversation of the session is the goal and the answer.
    ///
    /// After a crash, [`continue_in`](Self::continue_in) continues with the same session.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use agcore_agent::{AgentSpec, TaskAgent, agent};
    /// # use agcore_llm::SystemClock;
    /// # use agcore_session::InMemorySessionStore;
    /// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([
    /// #     ScriptStep::text(r#"{"steps": ["Count the files."]}"#),
    /// #     ScriptStep::text("There are 21 files."),
    /// # ]);
    /// # let store = InMemorySessionStore::new(Arc::new(SystemClock::new()));
    /// let bundle = agent(model).with_session_store(store).build()?;
    /// let sessions = bundle.stored_sessions()?;
    /// let task = TaskAgent::new(bundle);
    /// let session = sessions.create("task-1", AgentSpec::new("assistant", "")).await?;
    /// task.run_in(&session, "How many files are there?").await?;
    ///
    /// // Later, perhaps in another process. The task has ended, so nothing is done again.
    /// let session = sessions.open("task-1", AgentSpec::new("assistant", "")).await?;
    /// let report = task.continue_in(&session).await?;
    /// assert_eq!(report.answer.as_deref(), Some("There are 21 files."));
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn run_in(&self, session: &AgentSession, goal: impl Into<String>) -> TaskTurn {
        let (session, goal) = (session.clone(), goal.into());
        TaskTurn::new(self.0.clone(), Start::In { session, goal })
    }

    /// Continues the task of a [stored](crate::StoredSessions) session, whose process died or which was cancelled. Steps that have
    /// ended are not repeated. Of the others, turns continue after their last write: no finished tool call is repeated, and no
    /// reply of the model that was stored is requested again. If a call was running that must not be repeated, whether it took
    /// effect is unknown: [a person is asked](Self::with_questions), or else the step fails and a new plan is made, if
    /// [that is allowed](Self::with_max_replans).
    pub fn continue_in(&self, session: &AgentSession) -> TaskTurn {
        let session = session.clone();
        TaskTurn::new(self.0.clone(), Start::Continued { session })
    }

    /// Carries out a plan. Steps that have ended are not repeated. Steps that were running are carried out again only by a new
    /// plan: whether they took effect is unknown, so they count as failed.
    pub fn execute_plan(&self, plan: Plan) -> TaskTurn {
        self.start(plan.goal().to_owned(), Some(plan), Vec::new())
    }

    /// Makes a new plan for what a plan has left undone, and carries it out. The agents see the results of the completed steps.
    pub fn replan(&self, plan: Plan) -> TaskTurn {
        self.start(plan.goal().to_owned(), None, vec![plan])
    }

    fn start(&self, goal: String, plan: Option<Plan>, earlier: Vec<Plan>) -> TaskTurn {
        TaskTurn::new(self.0.clone(), Start::Unkept { goal, plan, earlier })
    }
}

impl fmt::Debug for TaskAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskAgent")
            .field("agent", &self.0.worker.name())
            .field("max_parallel", &self.0.max_parallel)
            .field("max_replans", &self.0.max_replans)
            .finish_non_exhaustive()
    }
}
