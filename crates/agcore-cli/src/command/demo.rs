//! `agcore demo`: a real agent over real HTTP, with a script for a model.

use std::{
    io::{self, IsTerminal},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    approve::question,
    exit::Failure,
    interrupt::Interrupts,
    output::print,
    render::{Colour, Palette, Render, Terminal, usage_line},
    turn,
};
use agcore::{
    AgentBuilder, AgentSession, AgentSpec, Message, ToolRegistry,
    chat::EventKind,
    llm::{ProviderConfig, TurnOutcome},
    tools::{Approval, ApprovalRequest, Approver, PermissionRules, Rule, RuleState, ToolError, typed},
};
use agcore_testkit::mock_server::{Demo, MockServer, demo_behaviour};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Barrier;

/// What the user says, turn by turn.
const NAME: &str = "Hello! My name is Ada.";
const TRAVEL: &str = "What are the weather and the time in Lisbon?";
const NOTE: &str = "Please note: book a table in Lisbon.";
const RECALL: &str = "What is my name?";

/// Runs the demonstration and checks what it shows.
///
/// # Errors
/// When anything that it shows did not really happen.
pub(crate) async fn run(interrupts: &Interrupts, colour: Colour) -> Result<(), Failure> {
    let palette = colour.palette(&io::stdout());
    let server = MockServer::start(demo_behaviour())
        .await
        .map_err(|error| Failure::task(format!("the demo's model server could not be started: {error}")))?;
    let dim = palette.dim;
    print(&format!(
        "{dim}This is a real agent over real HTTP, but the model is a script: it runs on {} in this process.\nIts answers \
         are computed from the requests that it gets. No key, no network.{dim:#}\n",
        server.base_url()
    ))?;
    let approver = Arc::new(SaysYes {
        palette,
        asked: AtomicUsize::new(0),
    });
    let session = session(&server, Arc::clone(&approver))?;
    let mut shown = Shown::new(palette);
    for said in [NAME, TRAVEL, NOTE, RECALL] {
        let prompt = palette.prompt;
        print(&format!("\n{prompt}you{prompt:#}\n{said}\n\n{prompt}agent{prompt:#}\n"))?;
        let outcome = turn::run(&session, said, interrupts, &mut shown).await?;
        shown.answers.push(outcome.text().into_owned());
        check_finished(&outcome)?;
    }
    shown.check(approver.asked.load(Ordering::Relaxed))?;
    check_history(&session).await?;
    let usage = usage_line(&session.usage().await);
    let good = palette.good;
    print(&format!(
        "\n{good}All turns: {usage}. Cost: none, the model was a script.{good:#}\n"
    ))?;
    server.shutdown().await;
    Ok(())
}

fn session(server: &MockServer, approver: Arc<SaysYes>) -> Result<AgentSession, Failure> {
    let openai = "openai".parse().map_err(|error| Failure::usage(format!("{error}")))?;
    let provider = ProviderConfig::new(openai, "demo-script")
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
    /// What to note.
    text: String,
}

/// Two tools that wait for each other, so that the turn ends only if they really run side by side, and one that asks.
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

/// Answers the demo's one question, and counts.
struct SaysYes {
    palette: Palette,
    asked: AtomicUsize,
}

#[async_trait]
impl Approver for SaysYes {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let style = self.palette.question;
        match print(&format!("{style}{}. The demo says yes.{style:#}\n", question(request))) {
            Ok(()) => Approval::once(),
            Err(_) => Approval::deny("The output is closed."),
        }
    }
}

/// Shows the turns, and notes what has to be true of them.
struct Shown {
    terminal: Terminal<io::Stdout, io::Stdout>,
    answers: Vec<String>,
    text_deltas: usize,
    tools_done: usize,
}

impl Shown {
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

    fn check(&self, asked: usize) -> Result<(), Failure> {
        let answer = |turn: usize| self.answers.get(turn).map_or("", String::as_str);
        let facts = [
            (self.text_deltas > self.answers.len(), "the answers were not streamed"),
            (
                answer(1).contains("21 °C") && answer(1).contains("16:40"),
                "the tools' results did not reach the model",
            ),
            (self.tools_done == 3, "not all three tool calls were run"),
            (asked == 1, "not exactly one approval was asked"),
            (answer(3).contains("Ada"), "the name of the first turn was forgotten"),
        ];
        match facts.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, fault)) => Err(Failure::task(format!("the demo failed: {fault}"))),
        }
    }
}

impl Render for Shown {
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
        .map_err(|error| Failure::task(format!("the demo failed: the history is not valid: {error}")))
}
