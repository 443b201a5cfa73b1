//! rig, with its own agent loop. An agent is shared by all conversations.

use agcore_benches::{
    Fallible, canned,
    client::{ours, tools},
    figures::Figures,
    job::{Task, expect, runtime},
    jobs,
};
use futures_util::StreamExt as _;
use rig_agent::{
    agent::{Agent, AgentBuilder, AgentRunner, MultiTurnStreamItem},
    tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput},
};
use rig_core::{
    completion::Message,
    message::ToolName,
    providers::openai::OpenAIConfig,
    streaming::{Item, StreamEvent},
};

use crate::peer::Peer;

/// rig in all jobs of the comparison.
pub const PEER: Peer = Peer {
    name: "rig",
    turn,
    tool_loop,
    stream,
    history,
};

fn turn(task: &Task<'_>) -> Fallible<Figures> {
    let agent = agent(&format!("{}/turn", task.url)).build();
    task.measure(&runtime()?, &jobs::turn::ROUNDS, async || {
        answer(agent.prompt("Hello!")).await
    })
}

fn tool_loop(task: &Task<'_>) -> Fallible<Figures> {
    let tools = canned::TOOLS.map(tool).into_iter().collect::<Fallible<_>>()?;
    let agent = agent(&format!("{}/loop", task.url)).dynamic_tools(tools).build();
    task.measure(&runtime()?, &jobs::tool_loop::ROUNDS, async || {
        let run = agent.prompt(jobs::tool_loop::INPUT).max_turns(4);
        answer(run.tool_concurrency(canned::TOOLS.len())).await
    })
}

fn stream(task: &Task<'_>) -> Fallible<Figures> {
    let agent = agent(&format!("{}/stream", task.url)).build();
    task.measure(&runtime()?, &jobs::stream::ROUNDS, async || {
        expect(read(&agent).await?, canned::text_len(canned::FAST_CHUNKS))
    })
}

fn history(task: &Task<'_>, pairs: u32) -> Fallible<Figures> {
    let agent = agent(&format!("{}/turn", task.url)).without_preamble().build();
    let mut messages: Vec<Message> = jobs::history::utterances(pairs)
        .map(|utterance| match utterance.role {
            "assistant" => Message::assistant(utterance.content),
            _ => Message::user(utterance.content),
        })
        .collect();
    let last = messages.pop().ok_or("no question")?;
    task.measure(&runtime()?, &jobs::history::ROUNDS, async || {
        // A run takes its history by value, and the application keeps its own.
        answer(agent.prompt(last.clone()).history(messages.clone())).await
    })
}

/// Starts an agent on the Chat Completions API, with rig's own HTTP client.
fn agent(url: &str) -> AgentBuilder {
    let model = OpenAIConfig::new("sk-test").with_base_url(url).client().chat("gpt-4.1");
    AgentBuilder::new(model).preamble(ours::INSTRUCTIONS)
}

fn tool(name: &str) -> Fallible<DynamicTool> {
    let parameters = serde_json::from_str(canned::TOOL_PARAMETERS)?;
    let call = |arguments| async {
        let invalid = |error: serde_json::Error| ToolExecutionError::new(ToolErrorKind::InvalidArgs, error.to_string());
        let place = serde_json::from_value(arguments).map_err(invalid)?;
        let result = tools::look_up(place).await.map_err(ToolExecutionError::from_error)?;
        Ok(ToolOutput::text(result))
    };
    Ok(DynamicTool::new(
        ToolName::new(name)?,
        canned::TOOL_DESCRIPTION,
        parameters,
        move |arguments| Box::pin(call(arguments)),
    ))
}

/// Runs the agent to its end and checks the answer.
async fn answer(run: AgentRunner) -> Fallible {
    expect(&*run.await?.output(), canned::ANSWER)
}

/// Reads all items of a streamed run and returns the length of the text in bytes.
async fn read(agent: &Agent) -> Fallible<u64> {
    let mut items = agent.prompt("Hello!").stream();
    let mut text_size = 0;
    while let Some(item) = items.next().await {
        if let MultiTurnStreamItem::StreamAssistantItem(Item::Event(StreamEvent::Text { text, .. })) = item? {
            text_size += text.len() as u64;
        }
    }
    Ok(text_size)
}
