//! [`Stage`]: one agent with its task, as the work of a node.

mod agents;
mod form;
mod place;
mod turn_end;
mod answer;

use agcore_agent::{AgentError, AgentSpec, AgentTurn, Skills};
use agcore_chat::{Answer, Message, Question, QuestionId, UsageTracker};
use agcore_cycle::{AnswerKind, Output, TypedOptions};
use agcore_flow::{FlowError, NodeContext, NodeError};
use agcore_prompt::{PromptError, Value};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

pub use self::place::NODE_METADATA;
pub(crate) use self::{agents::Agents, form::Form};
use self::{
    place::{Place, Progress},
    turn_end::TurnEnd,
};
use crate::file::{AgentTemplate, FlowFile, TaskTemplate};

/// One agent with its task. Cheap enough to clone for each visit of a node.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    agents: Agents,
    name: String,
    agent: AgentTemplate,
    task: TaskTemplate,
}

/// A request to the agent of a stage.
pub(crate) struct Ask<'a, S> {
    /// Serializes to the variables of the templates, those of the file under `variables`.
    pub(crate) state: &'a S,
    pub(crate) context: &'a NodeContext,
    /// The conversation that the agent continues. If there is one, the task is a part of the instructions.
    pub(crate) conversation: Option<Vec<Message>>,
    /// Further tools that the agent sees.
    pub(crate) tools: Vec<String>,
}

/// The result of a stage.
#[derive(Debug)]
pub(crate) struct Done<T> {
    pub(crate) value: T,
    pub(crate) usage: UsageTracker,
}

impl<T> Done<T> {
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Done<U> {
        Done {
            value: change(self.value),
            usage: self.usage,
        }
    }
}

impl<'a, S: Serialize> Ask<'a, S> {
    pub(crate) fn new(state: &'a S, context: &'a NodeContext) -> Self {
        Self {
            state,
            context,
            conversation: None,
            tools: Vec::new(),
        }
    }

    pub(crate) fn with_conversation(mut self, messages: Vec<Message>) -> Self {
        self.conversation = Some(messages);
        self
    }

    pub(crate) fn with_tools(mut self, tools: Vec<String>) -> Self {
        self.tools = tools;
        self
    }
}

impl Stage {
    /// Creates the stage of a task.
    pub(crate) fn new(agents: &Agents, file: &FlowFile, task: &str) -> Result<Self, FlowError> {
        let missing =
            |what: &str, name: &str| FlowError::invalid_input(format!("the flow file has no {what} `{name}`"));
        let task = file.tasks.get(task).ok_or_else(|| missing("task", task))?;
        let agent = file.agents.get(&task.agent);
        Ok(Self {
            agents: agents.clone(),
            name: task.agent.clone(),
            agent: agent.cloned().ok_or_else(|| missing("agent", &task.agent))?,
            task: task.clone(),
        })
    }

    pub(crate) fn agent(&self) -> &AgentTemplate {
        &self.agent
    }

    pub(crate) fn task(&self) -> &TaskTemplate {
        &self.task
    }

    /// Lets the agent use skills, in place of those of the bundle.
    pub(crate) fn with_skills(mut self, skills: Skills) -> Result<Self, AgentError> {
        self.agents.bundle = self.agents.bundle.with_skills(skills)?;
        Ok(self)
    }

    /// Asks for a value.
    pub(crate) async fn value<T: DeserializeOwned + Send + 'static>(
        &self,
        ask: Ask<'_, impl Serialize>,
        form: Form,
    ) -> Result<Done<T>, NodeError> {
        let mut options = TypedOptions::new().with_name(ask.context.node());
        if let Some(repairs) = self.agents.max_repairs {
            options = options.with_max_repairs(repairs);
        }
        options.check = Some(Arc::new(form.check));
        let mut schema = form.schema;
        let variables = variables(ask.state).map_err(|error| permanent(Box::new(error)))?;
        let described = self.task.fields.describe(&mut schema, &variables);
        described.map_err(|error| permanent(Box::new(error)))?;
        let output = Output::<T>::with_schema(schema, options);
        self.run(ask, |turn| turn.typed_as(output.clone()), answer::value).await
    }

    /// Asks for a text.
    pub(crate) async fn text(&self, ask: Ask<'_, impl Serialize>) -> Result<Done<String>, NodeError> {
        self.run(ask, |turn| turn, answer::text).await
    }

    /// Lets the agent work in a session of its own, or continues the one that an earlier process or attempt began.
    async fn run<K, T>(
        &self,
        ask: Ask<'_, impl Serialize>,
        typed: impl Fn(AgentTurn) -> AgentTurn<K>,
        read: fn(&[Arc<Message>]) -> Option<T>,
    ) -> Result<Done<T>, NodeError>
    where
        K: AnswerKind + 'static,
        TurnEnd<T>: From<K::Outcome>,
    {
        let prompts = self.prompts(&ask).map_err(permanent)?;
        let place = Place::new(&self.agents, ask.context);
        let earlier = prompts.conversation.len();
        let session = place.open(prompts.agent, prompts.conversation).await?;
        let mut turn = match Progress::of(&session, earlier).await {
            Progress::New => session.turn(prompts.message),
            Progress::Interrupted => session.resume([]),
            Progress::Suspended(questions) => session.resume(answers(ask.context, &questions).await?),
            Progress::Ended => match read(&session.messages().await) {
                Some(value) => {
                    let usage = session.usage().await;
                    return Ok(Done { value, usage });
                }
                None => session.turn(prompts.message),
            },
        };
        loop {
            let mut events = typed(turn.with_token(ask.context.token().clone())).stream_with_sub_agents();
            while let Some(event) = events.next().await {
                ask.context.emit_agent(event);
            }
            match TurnEnd::from(events.finish().await?) {
                TurnEnd::Finished { value, usage } => return Ok(Done { value, usage: *usage }),
                TurnEnd::Suspended(questions) => {
                    place.keep(&session).await?;
                    turn = session.resume(answers(ask.context, &questions).await?);
                }
                TurnEnd::Other(problem) => return Err(NodeError::permanent(problem)),
            }
        }
    }

    fn prompts(&self, ask: &Ask<'_, impl Serialize>) -> Result<Prompts, Box<PromptError>> {
        let variables = variables(ask.state)?;
        let (agent, task) = (self.agent.render(&variables)?, self.task.render(&variables)?);
        let mut layers = vec![self.agents.system_prompt.to_string(), agent];
        let (message, conversation) = match ask.conversation.clone() {
            None => (Message::user(task), Vec::new()),
            Some(mut conversation) => {
                layers.push(task);
                let last = conversation.pop().unwrap_or_else(|| Message::user(""));
                (last, conversation)
            }
        };
        layers.retain(|layer| !layer.is_empty());
        let tools = self.agent.tools.iter().chain(&ask.tools).cloned();
        let mut agent = AgentSpec::new(&self.name, layers.join("\n\n")).with_tools(tools);
        if let Some(model) = &self.agent.model {
            agent = agent.with_model(model);
        }
        Ok(Prompts {
            agent,
            message,
            conversation,
        })
    }
}

/// The texts of a request.
struct Prompts {
    agent: AgentSpec,
    message: Message,
    /// The messages before it.
    conversation: Vec<Message>,
}

/// Returns the answers to all questions of a turn, or suspends the node until they are there.
async fn answers(context: &NodeContext, questions: &[Question]) -> Result<Vec<(QuestionId, Answer)>, NodeError> {
    let mut answers = Vec::with_capacity(questions.len());
    let mut missing = None;
    for question in questions {
        let prompt = serde_json::to_value(question)?;
        match context.ask::<Answer>(&question.id.to_string(), prompt).await {
            Ok(answer) => answers.push((question.id.clone(), answer)),
            Err(error) if error.is_suspended() => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    missing.map_or(Ok(answers), Err)
}

fn permanent(error: Box<PromptError>) -> NodeError {
    NodeError::from(error).with_retryable(false)
}

/// Returns the members of the state, with those of its member `variables` beside them.
pub(crate) fn variables(state: &impl Serialize) -> Result<Value, PromptError> {
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
