//! [`Stage`]: one agent with its task.

use agcore_agent::{AgentSpec, RuntimeBundle};
use agcore_chat::UsageTracker;
use agcore_cycle::{Output, TypedOptions};
use agcore_prompt::Value;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    context::NodeContext,
    error::FlowError,
    file::{AgentTemplate, FlowFile, TaskTemplate},
    node_error::NodeError,
};

/// One agent with its task.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    bundle: RuntimeBundle,
    system_prompt: String,
    name: String,
    agent: AgentTemplate,
    task: TaskTemplate,
    max_repairs: Option<u32>,
}

/// The result of a stage.
#[derive(Debug)]
pub(super) struct Done<T> {
    pub(super) value: T,
    pub(super) usage: UsageTracker,
}

impl Stage {
    pub(super) fn new(
        file: &FlowFile,
        bundle: &RuntimeBundle,
        system_prompt: &str,
        task: &str,
    ) -> Result<Self, FlowError> {
        let missing = |what: &str, name: &str| FlowError::input(format!("the flow file has no {what} `{name}`"));
        let task = file.tasks.get(task).ok_or_else(|| missing("task", task))?;
        let agent = file
            .agents
            .get(&task.agent)
            .ok_or_else(|| missing("agent", &task.agent))?;
        Ok(Self {
            bundle: bundle.clone(),
            system_prompt: system_prompt.to_owned(),
            name: task.agent.clone(),
            agent: agent.clone(),
            task: task.clone(),
            max_repairs: file.max_repairs,
        })
    }

    /// Lets the agent do its task, in a session of its own. The state must serialize to the variables of the templates, those of
    /// the file under `variables`.
    pub(super) async fn run<T: DeserializeOwned + Send + 'static>(
        &self,
        state: &impl Serialize,
        context: &NodeContext,
        schema: serde_json::Value,
    ) -> Result<Done<T>, NodeError> {
        let (agent, message) = self
            .prompts(state)
            .map_err(|error| NodeError::from(error).with_retryable(false))?;
        let mut options = TypedOptions::new().with_name(context.node());
        if let Some(repairs) = self.max_repairs {
            options = options.with_max_repairs(repairs);
        }
        let id = format!("{}-{}", context.node(), context.visit());
        let session = self.bundle.session(id, agent);
        let turn = session.turn(message).with_token(context.token().clone());
        let mut events = turn.typed_as(Output::<T>::with_schema(schema, options)).stream();
        while let Some(event) = events.next().await {
            context.emit_agent(event);
        }
        let outcome = events.finish().await?;
        let typed = outcome
            .finished()
            .map_err(|error| NodeError::from(error).with_retryable(false))?;
        Ok(Done {
            value: typed.value,
            usage: typed.report.usage,
        })
    }

    fn prompts(&self, state: &impl Serialize) -> Result<(AgentSpec, String), Box<agcore_prompt::PromptError>> {
        let variables = variables(state)?;
        let own = self.agent.render(&variables)?;
        let system = match self.system_prompt.as_str() {
            "" => own,
            global => format!("{global}\n\n{own}"),
        };
        let agent = AgentSpec::new(&self.name, system).with_tools(self.agent.tools.iter().cloned());
        let agent = match &self.agent.model {
            Some(model) => agent.with_model(model),
            None => agent,
        };
        Ok((agent, self.task.render(&variables)?))
    }
}

/// Returns the members of the state, with those of its member `variables` beside them.
fn variables(state: &impl Serialize) -> Result<Value, agcore_prompt::PromptError> {
    let mut all = serde_json::to_value(state).unwrap_or_default();
    if let Some(members) = all.as_object_mut()
        && let Some(serde_json::Value::Object(declared)) = members.remove("variables")
    {
        for (name, value) in declared {
            members.entry(name).or_insert(value);
        }
    }
    Value::from_serialize(&all)
}
