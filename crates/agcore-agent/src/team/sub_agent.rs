//! [`SubAgent`]: an agent that other agents can ask, as a tool.

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Answer, Question, QuestionId, ToolAnnotations, tool_name};
use agcore_cycle::{Budget, Budgets, TurnOutcome, machine::Machine};
use agcore_tools::{
    Arguments, BaseTool, InputRequest, Registration, ToolContext, ToolError, ToolErrorKind, ToolOutput,
};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::{
    agent::{Agent, CATEGORY},
    bundle::{KnownTools, RuntimeBundle},
    config::{BusyPolicy, OpenQuestionPolicy},
    durable::{Folded, Report},
    error::{AgentError, AgentErrorKind},
    session::{AgentSession, NestedPlace, SessionState},
    turn::{AgentTurn, Lineage, TurnScope, note_spent},
};

/// The longest answer that is returned as it is, in bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// An agent that other agents can ask, as a tool: [`AgentBuilder::with_tool`](crate::AgentBuilder::with_tool) adds it.
///
/// Each call starts a conversation of its own, with the tools, permissions and settings of the agent that asks. That agent sees
/// only the answer, and so does the [stream](AgentTurn::stream) of its turn. With
/// [`stream_with_sub_agents`](AgentTurn::stream_with_sub_agents), observers see everything: events of a sub-agent carry
/// its name, and the id of the call as their [`parent`](agcore_chat::StreamEvent::parent). Several calls in one reply
/// run side by side.
///
/// A sub-agent that waits for a person suspends the turn of the agent that asked. The question is that of the sub-agent, and its
/// answer continues both. Questions of one sub-agent are asked one after the other. In a
/// [stored](crate::StoredSessions) session, sub-agents are stored as well: after a crash, they continue where they were.
///
/// ```
/// use agcore_agent::{AgentSpec, SubAgent, agent};
/// use agcore_chat::ToolCall;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([ToolCall::function("call_1", "ask_tester", r#"{"task": "Do all tests pass?"}"#)]),
/// #     ScriptStep::text("Two tests fail."),
/// #     ScriptStep::text("No: two tests fail."),
/// # ]);
/// let tester = AgentSpec::new("tester", "You run tests and report what fails.");
/// let session = agent(model)
///     .with_tool(SubAgent::new(tester, "Runs the tests of the project and explains failures."))
///     .session()?;
/// let outcome = session.turn("May we release?").await?;
/// assert_eq!(outcome.text(), "No: two tests fail.");
/// // The conversation contains the answer of the tester, not its work.
/// assert_eq!(session.messages().await[2].text(), "Two tests fail.");
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[must_use = "a sub-agent does nothing until it is added to an agent"]
pub struct SubAgent {
    agent: Arc<dyn Agent>,
    tool: String,
    description: String,
    bundle: Option<RuntimeBundle>,
    budget: Budget,
    max_tool_turns: Option<u32>,
    max_answer_bytes: usize,
    timeout: Duration,
}

impl SubAgent {
    /// Creates the tool `ask_NAME` for an agent. By the description, the model knows when to ask it.
    pub fn new(agent: impl Agent + 'static, description: impl Into<String>) -> Self {
        let name = format!("ask_{}", agent.name());
        Self {
            tool: tool_name::portable(&name).into_owned(),
            agent: Arc::new(agent),
            description: description.into(),
            bundle: None,
            budget: Budget::new(),
            max_tool_turns: None,
            max_answer_bytes: MAX_ANSWER_BYTES,
            timeout: Duration::from_secs(600),
        }
    }

    /// Sets the name of the tool.
    pub fn with_tool_name(mut self, name: impl Into<String>) -> Self {
        self.tool = name.into();
        self
    }

    /// Sets provider, tools, permissions and settings of the sub-agent, in place of those of the agent that asks it.
    pub fn with_bundle(mut self, bundle: RuntimeBundle) -> Self {
        self.bundle = Some(bundle);
        self
    }

    /// Sets what each call may spend. A call that reaches it returns an error to the model.
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets the largest number of tool rounds of each call, in place of that of the agent that asks.
    pub fn with_max_tool_turns(mut self, rounds: u32) -> Self {
        self.max_tool_turns = Some(rounds);
        self
    }

    /// Sets the longest answer that is returned as it is, in bytes; 16 KiB by default. The sub-agent is asked to summarize a
    /// longer one.
    pub fn with_max_answer_bytes(mut self, bytes: usize) -> Self {
        self.max_answer_bytes = bytes;
        self
    }

    /// Sets how long a call may take, 10 minutes by default. The time for which its turn is suspended does not count.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl From<SubAgent> for Registration {
    fn from(sub_agent: SubAgent) -> Self {
        let timeout = sub_agent.timeout;
        let parameters = json!({
            "type": "object",
            "properties": {
                "task": {
                    "type": "string",
                    "description": "The task, with everything that the agent has to know: it does not see this conversation.",
                },
            },
            "required": ["task"],
            "additionalProperties": false,
        });
        let tool = SubAgentTool { sub_agent, parameters };
        Self::new(tool).with_category(CATEGORY).with_timeout(timeout)
    }
}

struct SubAgentTool {
    sub_agent: SubAgent,
    parameters: Value,
}

#[async_trait]
impl BaseTool for SubAgentTool {
    fn name(&self) -> &str {
        &self.sub_agent.tool
    }

    fn description(&self) -> &str {
        &self.sub_agent.description
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// A call that is repeated after a crash continues where it was.
    fn annotations(&self) -> ToolAnnotations {
        ToolAnnotations::new().with_idempotent(true)
    }

    /// Checks, when the agent that asks is built, that the sub-agent names no unknown tool.
    fn check_context(&self, context: &ToolContext) -> Result<(), ToolError> {
        let Some(known) = context.extension::<KnownTools>() else {
            return Ok(());
        };
        let own = self.sub_agent.bundle.as_ref();
        let known = own.map_or_else(|| (*known).clone(), |bundle| KnownTools::of(bundle.tools()));
        let checked = known.check(&*self.sub_agent.agent);
        checked.map_err(|error| ToolError::new(ToolErrorKind::Config, error.to_string()))
    }

    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let scope = context.extension::<TurnScope>();
        let scope = scope.ok_or_else(|| ToolError::failed("a sub-agent can only be asked in a turn"))?;
        let limit = scope.bundle.config().team.max_depth;
        if scope.lineage.depth >= limit {
            let problem =
                format!("agents may be nested {limit} deep, and this would be one more; do the task yourself");
            return Err(ToolError::failed(problem));
        }
        let task = arguments.get("task").and_then(Value::as_str).unwrap_or_default();
        let call = Call {
            sub_agent: &self.sub_agent,
            scope: &scope,
            context,
        };
        let answered = call.run(task).await;
        answered.map_err(|error| call.error(&error))
    }
}

/// One call of a sub-agent.
struct Call<'a> {
    sub_agent: &'a SubAgent,
    scope: &'a TurnScope,
    context: &'a ToolContext,
}

impl Call<'_> {
    async fn run(&self, task: &str) -> Result<ToolOutput, AgentError> {
        let session = self.open().await?;
        for grant in self.scope.tools.grants() {
            session.tools().grant(grant);
        }
        let outcome = self.step(&session, task).await;
        if let Some(ledger) = &self.scope.lineage.ledger {
            note_spent(ledger, &self.lineage().path, &session.spent().await);
        }
        for grant in session.tools().grants() {
            self.scope.tools.grant(grant);
        }
        match outcome? {
            Some(question) => self.suspend(&session, question).await,
            None => self.answer(&session).await,
        }
    }

    /// Starts or continues the work. Returns the question that it waits for; `None` if it has ended.
    async fn step(&self, session: &AgentSession, task: &str) -> Result<Option<Question>, AgentError> {
        let open = session.questions().await;
        let turn = if let Some(answers) = self.answers(&open) {
            session.resume(answers)
        } else if let Some(question) = open.into_iter().next() {
            return Ok(Some(question));
        } else if session.is_interrupted().await {
            session.resume([])
        } else if session.turns().await > 0 {
            return Ok(None);
        } else {
            session.turn(task)
        };
        let outcome = self.observe(turn).await?;
        Ok(outcome.questions().first().cloned())
    }

    /// Returns the answer of the person, if it is about an open question of the sub-agent. A question that was answered before
    /// the process died is not open any more.
    fn answers(&self, open: &[Question]) -> Option<[(QuestionId, Answer); 1]> {
        let answer = self.context.answer()?;
        let id = answer.context.get("question")?.as_str()?;
        let question = open.iter().find(|question| *question.id.0 == *id)?;
        Some([(question.id.clone(), answer.to_answer()?)])
    }

    /// Runs a turn, and passes its events on.
    async fn observe(&self, turn: AgentTurn) -> Result<TurnOutcome, AgentError> {
        let turn = turn.with_token(self.context.cancellation().clone());
        let Some(observer) = &self.scope.observer else {
            return turn.await;
        };
        let parent: Arc<str> = Arc::from(&**self.context.call_id());
        let mut events = turn.stream_with_sub_agents();
        while let Some(event) = events.next().await {
            observer.forward(event, &parent).await;
        }
        events.finish().await
    }

    /// Returns the answer of a sub-agent that has finished.
    async fn answer(&self, session: &AgentSession) -> Result<ToolOutput, AgentError> {
        let mut answer = session.last_answer().await;
        let longest = self.sub_agent.max_answer_bytes;
        if answer.as_ref().is_some_and(|answer| answer.len() > longest) && session.turns().await == 1 {
            let request = format!(
                "Your answer is too long for the agent that asked you. Summarize it in at most {} characters, without calling \
                 tools. Keep facts, names, numbers and open questions.",
                longest / 2
            );
            self.observe(session.turn(request)).await?;
            answer = session.last_answer().await;
        }
        self.context.run_state().remove(&self.state_name());
        let Some(answer) = answer else {
            return Err(AgentError::input("it ended without an answer"));
        };
        let usage = session.usage().await;
        let metadata = json!({"agent": self.sub_agent.agent.name(), "usage": usage});
        Ok(ToolOutput::text(answer).with_metadata(metadata))
    }

    /// Suspends the call, with the question of the sub-agent.
    async fn suspend(&self, session: &AgentSession, question: Question) -> Result<ToolOutput, AgentError> {
        if self.scope.recorder.is_none() {
            // Saved with the turn, because there is no store.
            let state = serde_json::to_value(session.export().await).map_err(AgentError::state)?;
            self.context.run_state().set(self.state_name(), state);
        }
        let context = json!({"question": question.id});
        let request = InputRequest::forwarding(question).with_context(context);
        Ok(ToolOutput::awaiting_input(request))
    }

    /// Opens the conversation of the call, which is new unless the call was suspended or interrupted.
    async fn open(&self) -> Result<AgentSession, AgentError> {
        let lineage = self.lineage();
        let bundle = self.bundle();
        let agent = Arc::clone(&self.sub_agent.agent);
        let place = NestedPlace {
            session: Arc::clone(&self.scope.session),
            actor: Arc::clone(&self.scope.actor),
            lineage,
            report: Some(Report {
                agent: agent.name().to_owned(),
                call: Arc::from(&**self.context.call_id()),
                observer: self.scope.observer.clone(),
            }),
        };
        if let Some(parent) = &self.scope.recorder {
            return place.open(parent, bundle, agent).await;
        }
        let parts = match self.context.run_state().get(&self.state_name()) {
            Some(state) => {
                let state: SessionState = serde_json::from_value(state).map_err(AgentError::state)?;
                let mut parts = state.into_parts(bundle.parts().clock.now())?;
                parts.lineage = place.lineage;
                parts
            }
            None => {
                let machine = Machine::new(bundle.config().limits.clone());
                place.parts(Folded::new(machine), &bundle)
            }
        };
        Ok(AgentSession::with_parts(bundle, agent, parts, None))
    }

    /// Returns the place of the sub-agent.
    fn lineage(&self) -> Lineage {
        let (scope, call) = (&self.scope, self.context.call_id());
        scope.lineage.child(&scope.session, scope.turn, call)
    }

    /// Returns what the sub-agent works with: that of the agent which asks, with its own limits.
    fn bundle(&self) -> RuntimeBundle {
        let bundle = self.sub_agent.bundle.as_ref().unwrap_or(&self.scope.bundle);
        let bundle = bundle.without_client_tools();
        let mut config = bundle.config().clone();
        let pool = self.scope.lineage.pool.clone();
        let mut budgets = Budgets::new().with_session(self.sub_agent.budget.clone());
        budgets.pool = pool.or(config.budgets.pool.take());
        budgets.price = config.budgets.price.take();
        config.budgets = budgets;
        (config.max_turns, config.session_ttl, config.busy) = (None, None, BusyPolicy::Refuse);
        config.open_questions = OpenQuestionPolicy::Refuse;
        config.team = self.scope.bundle.config().team.clone();
        if let Some(rounds) = self.sub_agent.max_tool_turns {
            config.limits.max_tool_turns = rounds;
        }
        let bundle = bundle.with_config(config);
        // One with a bundle of its own works for the same turn.
        bundle.for_the_turn_of(&self.scope.bundle)
    }

    /// Returns the name under which the state of the call is saved with the turn.
    fn state_name(&self) -> String {
        format!("agcore.sub_agent.{}", self.context.call_id())
    }

    /// Returns the error of the call, for the model.
    fn error(&self, error: &AgentError) -> ToolError {
        if error.is_cancelled() {
            return ToolError::cancelled();
        }
        let name = self.sub_agent.agent.name();
        let problem = match error.kind() {
            AgentErrorKind::LimitReached => {
                format!("the agent `{name}` reached a limit before it had an answer: {error}")
            }
            _ => format!("the agent `{name}` failed: {error}"),
        };
        ToolError::new(ToolErrorKind::ExecutionFailed, problem)
    }
}

impl fmt::Debug for SubAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubAgent")
            .field("agent", &self.agent.name())
            .field("tool", &self.tool)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}
