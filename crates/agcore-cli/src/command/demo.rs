//! `agcore demo`: a real agent over real HTTP, with a scripted model.

use std::{
    io::{self, IsTerminal},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore::{
    AgentBuilder, AgentSession, AgentSpec, Message, ToolRegistry,
    chat::EventKind,
    llm::{ProviderConfig, TurnOutcome},
    tools::{Approval, ApprovalRequest, Approver, PermissionRules, Rule, RuleState, ToolError, typed},
};
use agcore_args::{Args, Command};
use agcore_demo::{Demo, Playground, demo_behavior};
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, Palette, Render, Terminal, usage_line, wrapped},
};
use agcore_testkit::mock_server::{Behavior, MockOptions, MockServer};
use async_trait::async_trait;
use clap::Parser as _;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

use crate::{approve::question, command, exit::Failure, stdout::print, turn};

/// The user's messages, one for each turn.
const NAME: &str = "Hello! My name is Ada.";
const TRAVEL: &str = "What are the weather and the time in Lisbon?";
const NOTE: &str = "Please note: book a table in Lisbon.";
const RECALL: &str = "What is my name?";

/// The model that the server has.
const MODEL: &str = "demo-script";

/// The time between two words of the model in a chat.
const PACE: Duration = Duration::from_millis(30);

/// Runs the demo and verifies what it shows.
///
/// # Errors
/// When anything it shows did not really happen.
pub(crate) async fn run(interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let palette = color.palette(&io::stdout());
    let server = start(demo_behavior()).await?;
    let dim = palette.dim;
    let introduction = format!(
        "A real agent over real HTTP; only the model is a script, which this process serves at {}.\nIt computes its \
         answers from the requests it receives. No API key, no network.",
        server.base_url()
    );
    print(&format!("{dim}{}{dim:#}\n", wrapped(&introduction, 0)))?;
    let approver = Arc::new(AutoApprover {
        palette,
        requests: AtomicUsize::new(0),
    });
    let session = session(&server, Arc::clone(&approver))?;
    let mut renderer = DemoRenderer::new(palette);
    for message in [NAME, TRAVEL, NOTE, RECALL] {
        let prompt = palette.prompt;
        print(&format!(
            "\n{prompt}you{prompt:#}\n{}\n\n{prompt}agent{prompt:#}\n",
            wrapped(message, 0)
        ))?;
        let outcome = turn::run(&session, message, interrupts, &mut renderer).await?;
        renderer.answers.push(outcome.text().into_owned());
        check_finished(&outcome)?;
    }
    renderer.check(approver.requests.load(Ordering::Relaxed))?;
    check_history(&session).await?;
    let usage = usage_line(&session.usage().await);
    let style = palette.success;
    let total = format!("Total: {usage}. Cost: none, the model is a script.");
    print(&format!("\n{style}{}{style:#}\n", wrapped(&total, 0)))?;
    let next = "Next: `agcore demo --chat` to write the messages yourself, `agcore init` to set up a model.";
    print(&format!("{dim}{}{dim:#}\n", wrapped(next, 0)))?;
    server.shutdown().await;
    Ok(())
}

/// Opens a chat with a scripted model that this process serves.
///
/// # Errors
/// When the settings of the user or of the directory are invalid.
pub(crate) async fn chat(interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let server = start(Playground::new().with_pace(PACE)).await?;
    let url = server.base_url();
    let model = format!("compatible:{MODEL}");
    let options = ["agcore", "chat", "--model", &model, "--base-url", &url, "--ephemeral"];
    let args = Args::try_parse_from(options).map_err(|error| Failure::task(error.to_string()))?;
    let Command::Chat(args) = args.command else {
        return Err(Failure::task("the demo cannot open a chat"));
    };
    print(&format!(
        "{}\n",
        wrapped(
            "The model is a script. Send \"help\" to see what it can do. The chat is not saved, but its tools work in this folder.",
            0
        )
    ))?;
    let ended = command::chat::chat(&args, interrupts, color, None).await;
    server.shutdown().await;
    ended
}

/// Serves the scripted model of the chat to other programs, until Ctrl-C or SIGTERM.
///
/// # Errors
/// When the port cannot be used.
pub(crate) async fn serve(port: u16, interrupts: &Interrupts) -> Result<(), Failure> {
    let stop = CancellationToken::new();
    // Before the address is known: the program may be stopped as soon as it is.
    let _meaning = interrupts.cancel(&stop);
    let options = MockOptions::new().with_port(port);
    let server = start_with(options, Playground::new().with_pace(PACE)).await?;
    print(&format!("{}\n", server.base_url()))?;
    stop.cancelled().await;
    server.shutdown().await;
    Ok(())
}

async fn start(model: impl Behavior) -> Result<MockServer, Failure> {
    start_with(MockOptions::new().with_models([MODEL]), model).await
}

async fn start_with(options: MockOptions, model: impl Behavior) -> Result<MockServer, Failure> {
    MockServer::start_with(options, model)
        .await
        .map_err(|error| Failure::task(format!("cannot start the demo's model server: {error}")))
}

fn session(server: &MockServer, approver: Arc<AutoApprover>) -> Result<AgentSession, Failure> {
    let openai = "openai".parse().map_err(|error| Failure::usage(format!("{error}")))?;
    let provider = ProviderConfig::new(openai, MODEL)
        .with_base_url(server.base_url())
        .with_api_key("demo");
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, Demo::SAVE_NOTE));
    let bundle = AgentBuilder::new()
        .with_provider(provider.build()?)
        .with_tools(tools().map_err(|error| Failure::task(error.to_string()))?)
        .with_permissions(rules)
        .with_approver(approver)
        .build()?;
    Ok(bundle.session("demo", Arc::new(AgentSpec::new("guide", "You help a traveller."))))
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The city.
    city: String,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// The text to note.
    text: String,
}

/// Creates two tools that wait for each other, so that the turn ends only if they really run concurrently, and one that
/// needs approval.
fn tools() -> Result<ToolRegistry, ToolError> {
    let tools = ToolRegistry::new();
    let both = Arc::new(Barrier::new(2));
    let meeting = Arc::clone(&both);
    tools.register(typed(Demo::WEATHER, "The weather in a city.", move |place: Place| {
        let both = Arc::clone(&meeting);
        async move {
            both.wait().await;
            Ok(format!("21 °C and sunny in {}", place.city))
        }
    }))?;
    tools.register(typed(Demo::LOCAL_TIME, "The time in a city.", move |place: Place| {
        let both = Arc::clone(&both);
        async move {
            both.wait().await;
            Ok(format!("16:40 in {}", place.city))
        }
    }))?;
    let save = |note: Note| async move { Ok(format!("saved: {}", note.text)) };
    tools.register(typed(Demo::SAVE_NOTE, "Saves a note.", save))?;
    Ok(tools)
}

/// Approves and counts all requests.
struct AutoApprover {
    palette: Palette,
    requests: AtomicUsize,
}

#[async_trait]
impl Approver for AutoApprover {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let style = self.palette.question;
        let text = format!("{} The demo answers yes.", question(request));
        match print(&format!("{style}{}{style:#}\n", wrapped(&text, 2))) {
            Ok(()) => Approval::once(),
            Err(_) => Approval::deny("The output is closed."),
        }
    }
}

/// Renders the turns and records what the demo verifies.
struct DemoRenderer {
    terminal: Terminal<io::Stdout, io::Stdout>,
    answers: Vec<String>,
    text_deltas: usize,
    tools_done: usize,
}

impl DemoRenderer {
    fn new(palette: Palette) -> Self {
        let plain = Terminal::new(io::stdout(), io::stdout(), palette);
        let terminal = match io::stdout().is_terminal() {
            true => plain.with_markdown(palette),
            false => plain,
        };
        Self {
            terminal,
            answers: Vec::new(),
            text_deltas: 0,
            tools_done: 0,
        }
    }

    fn check(&self, requests: usize) -> Result<(), Failure> {
        let answer = |turn: usize| self.answers.get(turn).map_or("", String::as_str);
        let facts = [
            (self.text_deltas > self.answers.len(), "the answers were not streamed"),
            (
                answer(1).contains("21 °C") && answer(1).contains("16:40"),
                "the tools' results did not reach the model",
            ),
            (self.tools_done == 3, "not all three tool calls ran"),
            (requests == 1, "there was not exactly one approval request"),
            (answer(3).contains("Ada"), "the name from the first turn was forgotten"),
        ];
        match facts.iter().find(|(is_true, _)| !is_true) {
            None => Ok(()),
            Some((_, problem)) => Err(Failure::task(format!("the demo failed: {problem}"))),
        }
    }
}

impl Render for DemoRenderer {
    fn event(&mut self, event: &agcore::StreamEvent) -> io::Result<()> {
        match &event.kind {
            EventKind::Text(agcore::chat::TextEvent::Text(_)) => self.text_deltas += 1,
            EventKind::Tool(agcore::chat::ToolEvent::Completed { is_error: false, .. }) => self.tools_done += 1,
            _ => {}
        }
        self.terminal.event(event)
    }
}

fn check_finished(outcome: &TurnOutcome) -> Result<(), Failure> {
    match outcome.report() {
        Some(_) => Ok(()),
        None => Err(Failure::task("the demo failed: a turn did not finish")),
    }
}

async fn check_history(session: &AgentSession) -> Result<(), Failure> {
    let messages: Vec<Arc<Message>> = session.messages().await;
    agcore::chat::validate_messages(&messages)
        .map_err(|error| Failure::task(format!("the demo failed: the history is invalid: {error}")))
}
