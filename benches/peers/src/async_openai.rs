//! async-openai, with a loop by hand whose tools run in parallel. Its client is shared by all conversations.

use agcore_benches::{
    Fallible, canned,
    client::{ours, tools},
    figures::Figures,
    job::{Task, expect, runtime},
    jobs,
};
use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{
        ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
        ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
        ChatCompletionRequestUserMessage, ChatCompletionResponseMessage, ChatCompletionTool, ChatCompletionTools,
        CreateChatCompletionRequest, FunctionObject,
    },
};
use futures_util::{StreamExt as _, future::join_all};

use crate::peer::Peer;

/// async-openai in the jobs of the comparison.
pub const PEER: Peer = Peer {
    name: "async-openai",
    turn,
    tool_loop,
    stream,
    history,
};

/// Whole turns.
pub fn turn(task: &Task<'_>) -> Fallible<Figures> {
    let client = client(&format!("{}/turn", task.url))?;
    task.measure(&runtime()?, &jobs::turn::ROUNDS, async || {
        answer(&client, request(messages("Hello!"))).await
    })
}

/// Turns with fifty tools, which an application declares once.
pub fn many_tools(task: &Task<'_>) -> Fallible<Figures> {
    let (client, tools) = (client(&format!("{}/turn", task.url))?, declared(canned::many_tools())?);
    task.measure(&runtime()?, &jobs::turn::ROUNDS, async || {
        let request = CreateChatCompletionRequest {
            tools: Some(tools.clone()),
            ..request(messages("Hello!"))
        };
        answer(&client, request).await
    })
}

/// Loops of two requests and three tools.
pub fn tool_loop(task: &Task<'_>) -> Fallible<Figures> {
    let client = client(&format!("{}/loop", task.url))?;
    let tools = declared(canned::TOOLS.map(str::to_owned))?;
    task.measure(&runtime()?, &jobs::tool_loop::ROUNDS, async || {
        let mut conversation = CreateChatCompletionRequest {
            tools: Some(tools.clone()),
            ..request(messages(jobs::tool_loop::INPUT))
        };
        let message = send(&client, conversation.clone()).await?;
        let calls = message.tool_calls.ok_or("no calls")?;
        conversation.messages.push(
            ChatCompletionRequestAssistantMessage {
                tool_calls: Some(calls.clone()),
                ..Default::default()
            }
            .into(),
        );
        for result in join_all(calls.iter().map(run)).await {
            conversation.messages.push(result?.into());
        }
        answer(&client, conversation).await
    })
}

/// Streamed replies.
pub fn stream(task: &Task<'_>) -> Fallible<Figures> {
    let client = client(&format!("{}/stream", task.url))?;
    task.measure(&runtime()?, &jobs::stream::ROUNDS, async || {
        expect(read(&client).await?, canned::text_len(canned::FAST_CHUNKS))
    })
}

/// Many concurrent streams.
pub fn many(task: &Task<'_>) -> Fallible<Figures> {
    task.is_measured()?;
    let (runtime, warm) = (runtime()?, client(&format!("{}/stream", task.url))?);
    runtime.block_on(read(&warm))?;
    let client = client(&format!("{}/paced", task.url))?;
    jobs::many::run_concurrently(&runtime, async || {
        expect(read(&client).await?, canned::text_len(canned::PACED_CHUNKS))
    })
}

/// Turns with this many questions and answers before them.
pub fn history(task: &Task<'_>, pairs: u32) -> Fallible<Figures> {
    let client = client(&format!("{}/turn", task.url))?;
    let messages: Vec<ChatCompletionRequestMessage> = jobs::history::utterances(pairs)
        .map(|utterance| match utterance.role {
            "assistant" => ChatCompletionRequestAssistantMessage::from(utterance.content).into(),
            _ => ChatCompletionRequestUserMessage::from(utterance.content).into(),
        })
        .collect();
    task.measure(&runtime()?, &jobs::history::ROUNDS, async || {
        // The client takes the request by value, and the application keeps its history.
        answer(&client, request(messages.clone())).await
    })
}

/// Creates a client with the HTTP client of R.
fn client(url: &str) -> Fallible<Client<OpenAIConfig>> {
    let http = agcore_benches::client::reqwest::client()?;
    let config = OpenAIConfig::new().with_api_base(url).with_api_key("sk-test");
    Ok(Client::build(http, config))
}

fn messages(input: &str) -> Vec<ChatCompletionRequestMessage> {
    vec![
        ChatCompletionRequestSystemMessage::from(ours::INSTRUCTIONS).into(),
        ChatCompletionRequestUserMessage::from(input).into(),
    ]
}

fn request(messages: Vec<ChatCompletionRequestMessage>) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: "gpt-4.1".to_owned(),
        messages,
        ..Default::default()
    }
}

/// Declares tools.
fn declared(names: impl IntoIterator<Item = String>) -> Fallible<Vec<ChatCompletionTools>> {
    let tool = |name| {
        let function = FunctionObject {
            name,
            description: Some(canned::TOOL_DESCRIPTION.to_owned()),
            parameters: Some(serde_json::from_str(canned::TOOL_PARAMETERS)?),
            strict: None,
        };
        Ok(ChatCompletionTools::Function(ChatCompletionTool { function }))
    };
    names.into_iter().map(tool).collect()
}

/// Sends a request and returns the message of the reply.
async fn send(
    client: &Client<OpenAIConfig>,
    request: CreateChatCompletionRequest,
) -> Fallible<ChatCompletionResponseMessage> {
    let reply = client.chat().create(request).await?;
    let choice = reply.choices.into_iter().next().ok_or("no choice")?;
    Ok(choice.message)
}

/// Sends a request and checks the answer.
async fn answer(client: &Client<OpenAIConfig>, request: CreateChatCompletionRequest) -> Fallible {
    let message = send(client, request).await?;
    expect(message.content.as_deref(), Some(canned::ANSWER))
}

/// Runs the tool of a call.
async fn run(call: &ChatCompletionMessageToolCalls) -> Fallible<ChatCompletionRequestToolMessage> {
    let ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall { id, function }) = call else {
        return Err("expected a call of a function".into());
    };
    Ok(ChatCompletionRequestToolMessage {
        content: tools::look_up_raw(&function.arguments).await?.into(),
        tool_call_id: id.clone(),
    })
}

/// Reads a streamed reply and returns the length of its text in bytes.
async fn read(client: &Client<OpenAIConfig>) -> Fallible<u64> {
    let mut chunks = client.chat().create_stream(request(messages("Hello!"))).await?;
    let mut text_size = 0;
    while let Some(chunk) = chunks.next().await {
        let content = chunk?
            .choices
            .into_iter()
            .next()
            .and_then(|choice| choice.delta.content);
        text_size += content.map_or(0, |text| text.len() as u64);
    }
    Ok(text_size)
}
