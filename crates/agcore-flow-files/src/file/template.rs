//! [`AgentTemplate`] and [`TaskTemplate`]: the texts of agents and tasks.

use std::collections::BTreeMap;

use agcore_document::{Field, Members, Placed};
use agcore_prompt::{PromptError, PromptTemplate, Value};

use super::{
    fields::{Fields, fields},
    form,
    kind::Outputs,
    output::{TaskOutput, output},
    problem::listed,
    report::Report,
    variables::{Known, compile},
};

/// An agent of a flow file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentTemplate {
    /// Its role.
    pub role: PromptTemplate,
    /// Its goal.
    pub goal: PromptTemplate,
    /// Its backstory.
    pub backstory: PromptTemplate,
    /// The model of its requests; the default of the provider if it is missing.
    pub model: Option<String>,
    /// The names of the tools that it sees; none by default.
    pub tools: Vec<String>,
    /// The names of the skills that it can use; none by default. The agents of router flows have them.
    pub skills: Vec<String>,
    /// How many messages of the conversation a router sees; `None` is all of them.
    pub context_messages: Option<u32>,
}

/// A task of a flow file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskTemplate {
    /// The name of the agent that does it.
    pub agent: String,
    /// The description.
    pub description: PromptTemplate,
    /// The output that is expected.
    pub expected_output: PromptTemplate,
    /// The form of the result.
    pub output: TaskOutput,
    /// The descriptions of the members of the result.
    pub(crate) fields: Fields,
}

impl AgentTemplate {
    /// Renders the agent's part of the system prompt: role, goal and backstory, each a paragraph.
    ///
    /// # Errors
    /// When a variable is missing.
    pub fn render(&self, variables: &Value) -> Result<String, PromptError> {
        paragraphs([&self.role, &self.goal, &self.backstory], variables)
    }
}

impl TaskTemplate {
    /// Renders the message to the agent: the description and the expected output, each a paragraph.
    ///
    /// # Errors
    /// When a variable is missing.
    pub fn render(&self, variables: &Value) -> Result<String, PromptError> {
        paragraphs([&self.description, &self.expected_output], variables)
    }
}

fn paragraphs<const N: usize>(templates: [&PromptTemplate; N], variables: &Value) -> Result<String, PromptError> {
    let mut texts = Vec::with_capacity(N);
    for template in templates {
        let text = template.render(variables)?;
        if !text.trim().is_empty() {
            texts.push(text.trim().to_owned());
        }
    }
    Ok(texts.join("\n\n"))
}

/// Checks all agents. Also returns the names of those that are wrong.
pub(super) fn agents(
    report: &mut Report<'_>,
    form: Members<Field<form::Agent>>,
    variables: &[String],
) -> (Vec<String>, BTreeMap<String, AgentTemplate>) {
    let (mut names, mut agents) = (Vec::new(), BTreeMap::new());
    let known = Known::new(&["request"], variables);
    for (Placed { value: name, .. }, form) in form {
        names.push(name.clone());
        let agent = form.value.and_then(|form| agent(report, form, &known));
        agents.extend(agent.map(|agent| (name, agent)));
    }
    (names, agents)
}

fn agent(report: &mut Report<'_>, form: form::Agent, known: &Known) -> Option<AgentTemplate> {
    let role = compile(report, &form.role, known);
    let goal = compile(report, &form.goal, known);
    let backstory = compile(report, &form.backstory, known);
    Some(AgentTemplate {
        role: role?,
        goal: goal?,
        backstory: backstory?,
        model: form.model.and_then(|model| model.value),
        tools: texts(form.tools),
        skills: texts(form.skills),
        context_messages: form.context_messages.and_then(|messages| messages.value),
    })
}

/// Returns the texts of a list; none if it is missing.
pub(super) fn texts(list: Option<Field<Vec<Field<String>>>>) -> Vec<String> {
    let items = list.and_then(|list| list.value).unwrap_or_default();
    items.into_iter().filter_map(|item| item.value).collect()
}

/// The names that a task may refer to, and the forms of its result.
pub(super) struct TaskScope<'s> {
    pub(super) known: &'s Known,
    pub(super) outputs: Outputs,
    pub(super) members: &'static [&'static str],
    /// The names of all agents, if they could be read.
    pub(super) agents: Option<&'s [String]>,
}

/// Checks a task.
pub(super) fn task(report: &mut Report<'_>, form: form::Task, scope: &TaskScope<'_>) -> Option<TaskTemplate> {
    if let (Some(agent), Some(agents)) = (&form.agent.value, scope.agents)
        && !agents.contains(agent)
    {
        let message = format!("there is no agent `{agent}`; the agents are {}", listed(agents));
        report.problem(form.agent.place, message);
    }
    let description = compile(report, &form.description, scope.known);
    let expected_output = compile(report, &form.expected_output, scope.known);
    let output = form.output.map(|form| output(report, form, scope.outputs));
    let fields = form.fields.map(|form| fields(report, form, scope.known, scope.members));
    Some(TaskTemplate {
        agent: form.agent.value?,
        description: description?,
        expected_output: expected_output?,
        output: output.unwrap_or_default(),
        fields: fields.unwrap_or_default(),
    })
}
