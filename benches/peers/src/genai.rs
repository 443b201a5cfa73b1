//! genai, with a loop by hand whose tools run in parallel. Its client is shared by all conversations.

use agcore_benches::{
    Fallible, canned,
    client::{ours, tools},
    figures::Figures,
    job::{Task, expect, runtime},
    jobs,
};
use futures_util::{StreamExt as _, future::try_join_all};
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatRequest, ChatStreamEvent, Tool, ToolCall, ToolResponse},
    resolver::{AuthData, Endpoint, ServiceTargetResolver},
};

use crate::peer::Peer;

/// genai in all jobs of the comparison.
pub const PEER: Peer = Peer {
    name: "genai",
    turn,
    tool_loop,
    stream,
    history,
};

const MODEL: &str = "gpt-4.1";

fn turn(task: &Task<'_>) -> Fallible<Figures> {
    let client = client(&format!("{}/turn/", task.url))?;
    task.measure(&runtime()?, &jobs::turn::ROUNDS, async || {
        answer(&client, request("Hello!")).await
    })
}

fn tool_loop(task: &Task<'_>) -> Fallible<Figures> {
    let client = client(&format!("{}/loop/", task.url))?;
    let tools = declared()?;
    task.measure(&runtime()?, &jobs::tool_loop::ROUNDS, async || {
        let conversation = request(jobs::tool_loop::INPUT).with_tools(tools.clone());
        let reply = client.exec_chat(MODEL, conversation.clone(), None).await?;
        let calls = reply.into_tool_calls();
        let results = try_join_all(calls.iter().map(run)).await?;
        let conversation = conversation.append_message(calls).append_message(results);
        answer(&client, conversation).await
    })
}

fn stream(task: &Task<'_>) -> Fallible<Figures> {
    let client = client(&format!("{}/stream/", task.url))?;
    task.measure(&runtime()?, &jobs::stream::ROUNDS, async || {
        let mut events = client.exec_chat_stream(MODEL, request("Hello!"), None).await?.stream;
        let mut text_size = 0;
        while let Some(event) = events.next().await {
            if let ChatStreamEvent::Chunk(chunk) = event? {
                text_size += chunk.content.len() as u64;
            }
        }
        expect(text_size, canned::text_len(canned::FAST_CHUNKS))
    })
}

fn history(task: &Task<'_>, pairs: u32) -> Fallible<Figures> {
    let client = client(&format!("{}/turn/", task.url))?;
    let messages = jobs::history::utterances(pairs).map(|utterance| match utterance.role {
        "assistant" => ChatMessage::assistant(utterance.content),
        _ => ChatMessage::user(utterance.content),
    });
    let conversation = ChatRequest::new(messages.collect());
    task.measure(&runtime()?, &jobs::history::ROUNDS, async || {
        // The client takes the request by value, and the application keeps its history.
        answer(&client, conversation.clone()).await
    })
}

/// Creates a client that sends everything to one server, as for a compatible server.
fn client(url: &str) -> Fallible<Client> {
    let endpoint = Endpoint::from_owned(url);
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            Ok(ServiceTarget {
                endpoint: endpoint.clone(),
                auth: AuthData::from_single("sk-test"),
                model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
            })
        },
    );
    Ok(Client::builder().with_service_target_resolver(resolver).build()?)
}

fn request(input: &str) -> ChatRequest {
    ChatRequest::from_user(input).with_system(ours::INSTRUCTIONS)
}

/// Declares the tools.
fn declared() -> Fallible<Vec<Tool>> {
    let tool = |name: &str| {
        let parameters = serde_json::from_str(canned::TOOL_PARAMETERS)?;
        Ok(Tool::new(name)
            .with_description(canned::TOOL_DESCRIPTION)
            .with_schema(parameters))
    };
    canned::TOOLS.into_iter().map(tool).collect()
}

/// Sends a request and checks the answer.
async fn answer(client: &Client, request: ChatRequest) -> Fallible {
    let reply = client.exec_chat(MODEL, request, None).await?;
    expect(reply.first_text(), Some(canned::ANSWER))
}

/// Runs the tool of a call.
async fn run(call: &ToolCall) -> Fallible<ToolResponse> {
    let place = serde_json::from_value(call.fn_arguments.clone())?;
    Ok(ToolResponse::from_tool_call(call, tools::look_up(place).await?))
}
