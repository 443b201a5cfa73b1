//! adk-rust, with its own runner and sessions in memory. The runner is shared by all conversations.

use std::sync::Arc;

use adk_rust::{
    AdkError, Content, Event, Part, RunConfig, SessionId, StreamingMode, ToolExecutionStrategy, UserId,
    agent::LlmAgentBuilder,
    futures::StreamExt as _,
    model::openai::{OpenAIClient, OpenAIConfig},
    runner::Runner,
    session::{CreateRequest, DeleteRequest, InMemorySessionService, SessionService},
    tool::FunctionTool,
};
use agcore_benches::{
    Fallible, canned,
    client::{ours, tools},
    figures::Figures,
    job::{Task, expect, runtime},
    jobs,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::peer::Peer;

/// adk-rust in all jobs of the comparison.
pub const PEER: Peer = Peer {
    name: "adk-rust",
    turn,
    tool_loop,
    stream,
    history,
};

const APP: &str = "bench";

const USER: &str = "user";

fn turn(task: &Task<'_>) -> Fallible<Figures> {
    let app = App::new(&format!("{}/turn", task.url), StreamingMode::None, false)?;
    task.measure(&runtime()?, &jobs::turn::ROUNDS, async || {
        app.converse("Hello!", canned::ANSWER.len() as u64).await
    })
}

fn tool_loop(task: &Task<'_>) -> Fallible<Figures> {
    let app = App::new(&format!("{}/loop", task.url), StreamingMode::None, true)?;
    task.measure(&runtime()?, &jobs::tool_loop::ROUNDS, async || {
        app.converse(jobs::tool_loop::INPUT, canned::ANSWER.len() as u64).await
    })
}

fn stream(task: &Task<'_>) -> Fallible<Figures> {
    let app = App::new(&format!("{}/stream", task.url), StreamingMode::SSE, false)?;
    task.measure(&runtime()?, &jobs::stream::ROUNDS, async || {
        app.converse("Hello!", canned::text_len(canned::FAST_CHUNKS)).await
    })
}

fn history(task: &Task<'_>, pairs: u32) -> Fallible<Figures> {
    let (runtime, app) = (
        runtime()?,
        App::new(&format!("{}/turn", task.url), StreamingMode::None, false)?,
    );
    let id = runtime.block_on(async {
        let id = app.create().await?;
        for utterance in jobs::history::utterances(pairs).take(2 * pairs as usize) {
            let (author, role) = match utterance.role {
                "assistant" => (APP, "model"),
                user => (USER, user),
            };
            let mut event = Event::new("earlier");
            event.author = author.to_owned();
            event.set_content(Content::new(role).with_text(utterance.content));
            app.sessions.append_event(&id, event).await?;
        }
        Fallible::Ok(id)
    })?;
    // The session grows by two messages in each turn, as that of agcore does.
    task.measure(&runtime, &jobs::history::ROUNDS, async || {
        expect(app.turn(&id, jobs::history::LAST).await?, canned::ANSWER.len() as u64)
    })
}

/// The arguments of the tools.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Place {
    /// The city.
    city: String,
}

struct App {
    runner: Runner,
    sessions: Arc<InMemorySessionService>,
}

impl App {
    fn new(url: &str, streaming: StreamingMode, with_tools: bool) -> Fallible<Self> {
        let model = OpenAIClient::new(OpenAIConfig::compatible("sk-test", url, "gpt-4.1"))?;
        let mut agent = LlmAgentBuilder::new(APP)
            .instruction(ours::INSTRUCTIONS)
            .model(Arc::new(model))
            .tool_execution_strategy(ToolExecutionStrategy::Parallel);
        for name in canned::TOOLS.into_iter().filter(|_| with_tools) {
            agent = agent.tool(Arc::new(tool(name)));
        }
        let sessions = Arc::new(InMemorySessionService::new());
        let runner = Runner::builder()
            .app_name(APP)
            .agent(Arc::new(agent.build()?))
            .session_service(Arc::clone(&sessions) as Arc<dyn SessionService>)
            .run_config(RunConfig::builder().streaming_mode(streaming).build())
            .build()?;
        Ok(Self { runner, sessions })
    }

    /// Runs a turn in a session of its own, which is forgotten afterwards, and checks the length of the answer.
    async fn converse(&self, input: &str, text_size: u64) -> Fallible {
        let id = self.create().await?;
        expect(self.turn(&id, input).await?, text_size)?;
        let session = DeleteRequest {
            app_name: APP.to_owned(),
            user_id: USER.to_owned(),
            session_id: id,
        };
        Ok(self.sessions.delete(session).await?)
    }

    /// Creates a session and returns its identifier.
    async fn create(&self) -> Fallible<String> {
        let session = CreateRequest {
            app_name: APP.to_owned(),
            user_id: USER.to_owned(),
            session_id: None,
            state: Default::default(),
        };
        Ok(self.sessions.create(session).await?.id().to_owned())
    }

    /// Runs a turn and returns the length of the text in its events, without repetitions.
    async fn turn(&self, session: &str, input: &str) -> Fallible<u64> {
        let (user, session) = (UserId::new(USER)?, SessionId::new(session)?);
        let content = Content::new("user").with_text(input);
        let mut events = self.runner.run(user, session, content).await?;
        let (mut partial, mut whole) = (0, 0);
        while let Some(event) = events.next().await {
            let event = event?;
            let texts = event.content().into_iter().flat_map(|content| &content.parts);
            let size: u64 = texts.filter_map(Part::text).map(|text| text.len() as u64).sum();
            match event.llm_response.partial {
                true => partial += size,
                false => whole += size,
            }
        }
        // A streamed answer arrives in pieces, and possibly once more as a whole.
        Ok(partial.max(whole))
    }
}

fn tool(name: &str) -> FunctionTool {
    FunctionTool::new(name, canned::TOOL_DESCRIPTION, |_, arguments| async {
        let failed = |error: &dyn ToString| AdkError::tool(error.to_string());
        let Place { city } = serde_json::from_value(arguments).map_err(|error| failed(&error))?;
        let text = tools::look_up(tools::Place { city }).await;
        text.map(Into::into).map_err(|error| failed(&error))
    })
    .with_parameters_schema::<Place>()
    .with_read_only(true)
    .with_concurrency_safe(true)
}
