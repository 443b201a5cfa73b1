//! [`AgentTemplate`] and [`TaskTemplate`]: the texts of agents and tasks.

use std::collections::BTreeMap;

use agcore_prompt::{PromptError, PromptTemplate, Value};

use super::{
    fields::{Fields, fields},
    kind::Members,
    node::Node,
    output::{Outputs, TaskOutput, output},
    problem::listed,
    reader::{Reader, Table},
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

/// Reads all agents. Also returns the names of those that are wrong.
pub(super) fn agents(
    reader: &mut Reader<'_>,
    node: &Node,
    variables: &[String],
) -> (Vec<String>, BTreeMap<String, AgentTemplate>) {
    let (mut names, mut agents) = (Vec::new(), BTreeMap::new());
    let known = Known::new(&["request"], variables);
    let all = reader.table(node).map(Table::all).unwrap_or_default();
    for member in all {
        names.push(member.name.clone());
        let agent = agent(reader, &member.node, &known);
        agents.extend(agent.map(|agent| (member.name.clone(), agent)));
    }
    (names, agents)
}

fn agent(reader: &mut Reader<'_>, node: &Node, known: &Known) -> Option<AgentTemplate> {
    let mut table = reader.table(node)?;
    let role = template(reader, &mut table, "role", known);
    let goal = template(reader, &mut table, "goal", known);
    let backstory = template(reader, &mut table, "backstory", known);
    let model = table.take("model").and_then(|node| reader.text(node));
    let tools = table.take("tools").map(|node| reader.texts(node)).unwrap_or_default();
    let skills = table.take("skills").map(|node| reader.texts(node)).unwrap_or_default();
    let context_messages = table.take("context_messages").and_then(|node| reader.number(node));
    reader.no_more(table);
    Some(AgentTemplate {
        role: role?,
        goal: goal?,
        backstory: backstory?,
        model,
        tools,
        skills,
        context_messages,
    })
}

/// Reads a task, whose templates can use the variables `known`. `agents` are the names of all agents, if they could be read.
pub(super) fn task(
    reader: &mut Reader<'_>,
    node: &Node,
    known: &Known,
    outputs: Outputs,
    members: Members,
    agents: Option<&[String]>,
) -> Option<TaskTemplate> {
    let mut table = reader.table(node)?;
    let named = reader.required(&mut table, "agent");
    let agent = named.and_then(|node| reader.text(node));
    if let (Some(node), Some(agent), Some(agents)) = (named, &agent, agents)
        && !agents.contains(agent)
    {
        let message = format!("there is no agent `{agent}`; the agents are {}", listed(agents));
        reader.problem(node.place, message);
    }
    let description = template(reader, &mut table, "description", known);
    let expected_output = template(reader, &mut table, "expected_output", known);
    let form = table.take("output").map(|node| output(reader, node, outputs));
    let described = table.take("fields").map(|node| fields(reader, node, known, members));
    reader.no_more(table);
    Some(TaskTemplate {
        agent: agent?,
        description: description?,
        expected_output: expected_output?,
        output: form.unwrap_or_default(),
        fields: described.unwrap_or_default(),
    })
}

fn template(
    reader: &mut Reader<'_>,
    table: &mut Table<'_>,
    name: &'static str,
    known: &Known,
) -> Option<PromptTemplate> {
    let node = reader.required(table, name)?;
    compile(reader, node, known)
}
