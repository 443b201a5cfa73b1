//! [`StagedFlow`]: intent recognition, execution and reporting.

mod results;
mod messages;

use agcore_agent::RuntimeBundle;
use agcore_chat::{Actor, Clock};
use agcore_flow::{END, Flow, FlowBuilder, FlowError, NodeContext, Step};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use self::results::RouteTexts;
pub use self::results::{ExecutionResult, ExecutionStatus, IntentResult, IntentRoute, OrganizationResult};

use crate::{
    file::{FlowFile, FlowKind, STAGES, TaskOutput},
    stage::{Agents, Ask, Done, Form, Stage},
};

/// The state of a staged flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StagedState {
    /// The request of the user.
    pub request: String,
    /// The values of the variables that the file declares.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// The result of the intent recognition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentResult>,
    /// The result of the execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionResult>,
    /// The result of the reporting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<OrganizationResult>,
}

/// Builds flows of three stages from a [`FlowFile`]: the intent of a request is recognized; if that does not answer it, the task is
/// executed, and its result reported.
///
/// A request that can be answered at once ends after the first stage: nothing else is called. All texts that models see come from
/// the file and from the system prompt that is set here; every stage returns a checked value, which the model may correct.
///
/// ```
/// use agcore_agent::AgentBuilder;
/// use agcore_chat::SystemClock;
/// use agcore_flow_files::{FlowFile, StagedFlow, StagedState};
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// let text = "
/// version: 1
/// kind: staged
/// agents:
///   clerk: {role: You work at a help desk., goal: Help., backstory: You know the shop.}
/// tasks:
///   intent_recognition: {agent: clerk, description: 'Classify: {{request}}', expected_output: An intent.}
///   task_execution: {agent: clerk, description: '{{intent.execution_brief}}', expected_output: Facts.}
///   result_reporting: {agent: clerk, description: '{{execution.report_brief}}', expected_output: An answer.}
/// ";
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let file = FlowFile::parse("help.flow.yaml", text, |_| Err("there are no other files".into()))?;
/// # let model = ScriptedProvider::new([ScriptStep::text(
/// #     r#"{"route": "DIRECT_EXECUTION", "intent_summary": "a greeting", "assistant_text": "Hello!", "execution_brief": null, "safety_flags": []}"#,
/// # )]);
/// let bundle = AgentBuilder::new().with_provider(model).build()?;
/// let flow = StagedFlow::new(file, bundle).build(SystemClock::new())?;
/// let state = flow.run(StagedState::new("Hi")).await?.into_state()?;
/// assert_eq!(state.answer(), Some("Hello!"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[must_use = "a staged flow does nothing before `build`"]
pub struct StagedFlow {
    file: FlowFile,
    agents: Agents,
}

impl StagedState {
    /// Creates the state of a run that begins with a request.
    pub fn new(request: impl Into<String>) -> Self {
        Self {
            request: request.into(),
            ..Self::default()
        }
    }

    /// Sets the value of a variable.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Returns what the user sees: the direct answer or the report. The results of the stages are for audits.
    pub fn answer(&self) -> Option<&str> {
        if let Some(report) = &self.report {
            return Some(&report.assistant_text);
        }
        let direct = self
            .intent
            .as_ref()
            .filter(|intent| intent.route == IntentRoute::DirectExecution);
        direct.and_then(|intent| intent.assistant_text.as_deref())
    }
}

impl StagedFlow {
    /// Creates a flow whose agents use the provider and the tools of a bundle. If the bundle has a session store, each stage works
    /// in a session of it when the run is saved: a stage that was killed repeats no call of a tool that has finished.
    pub fn new(file: FlowFile, bundle: RuntimeBundle) -> Self {
        let agents = Agents::new(bundle, &file);
        Self { file, agents }
    }

    /// Sets the text with which the system prompt of every agent begins, like that of `agcore_profile::build_global_system_prompt`.
    pub fn with_system_prompt(mut self, system_prompt: impl AsRef<str>) -> Self {
        self.agents.system_prompt = system_prompt.as_ref().into();
        self
    }

    /// Sets the owner of the sessions in which the stages work, by default [`local`](Actor::local).
    pub fn with_actor(mut self, actor: Actor) -> Self {
        self.agents.actor = actor.into();
        self
    }

    /// Builds the flow.
    ///
    /// # Errors
    /// [`InvalidInput`](agcore_flow::FlowErrorKind::InvalidInput) if the file is of another kind, or an agent names a tool that the
    /// bundle does not have.
    pub fn build(self, clock: impl Clock + 'static) -> Result<Flow<StagedState>, FlowError> {
        self.file.expect_kind(FlowKind::Staged)?;
        self.agents.check_all_tools(&self.file)?;
        let [intent, execution, report] = STAGES;
        let stage = |task| Stage::new(&self.agents, &self.file, task);
        let (first, second, third) = (stage(intent)?, stage(execution)?, stage(report)?);
        FlowBuilder::new(self.file.name.clone(), clock)
            .with_node(intent, move |mut state: StagedState, context: NodeContext| {
                let stage = first.clone();
                async move {
                    let form = Form::new(results::intent_schema());
                    let done: Done<IntentResult> = stage.value(Ask::new(&state, &context), form).await?;
                    let route = done.value.route;
                    state.intent = Some(done.value.clone());
                    let step = Step::new(state).via(route.as_str()).with_data(&done.value);
                    Ok(step.with_usage(done.usage))
                }
            })
            .with_node(execution, move |mut state: StagedState, context: NodeContext| {
                let stage = second.clone();
                async move {
                    let form = Form::new(results::execution_schema());
                    let done: Done<ExecutionResult> = stage.value(Ask::new(&state, &context), form).await?;
                    state.execution = Some(done.value.clone());
                    Ok(Step::new(state).with_data(&done.value).with_usage(done.usage))
                }
            })
            .with_node(report, move |mut state: StagedState, context: NodeContext| {
                let stage = third.clone();
                async move {
                    let ask = Ask::new(&state, &context);
                    let done = match &stage.task().output {
                        TaskOutput::Text => stage.text(ask).await?.map(OrganizationResult::of_text),
                        _ => stage.value(ask, Form::new(results::organization_schema())).await?,
                    };
                    state.report = Some(done.value.clone());
                    Ok(Step::new(state).with_data(&done.value).with_usage(done.usage))
                }
            })
            .with_route(intent, IntentRoute::DirectExecution.as_str(), END)
            .with_route(intent, IntentRoute::NeedsExecution.as_str(), execution)
            .with_edge(execution, report)
            .with_edge(report, END)
            .build()
    }
}
