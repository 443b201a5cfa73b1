//! Several agents: one that others ask like a tool, one that takes the conversation over, and several that work side by side.
//!
//! A sub-agent has a conversation of its own, and the agent that asked sees only its answer. Observers see everything: the events
//! of a sub-agent carry its name and the call that asked it. A handoff is different: the other agent continues the same
//! conversation under its own instructions, and keeps it.
//!
//! Run it: `cargo run --example multi_agent`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    AgentBuilder, AgentSession, AgentSpec,
    agent::{AgentConfig, FanOut, RuntimeBundle, SubAgent, TeamLimits},
    chat::{AgentEvent, AssistantMessage, ChatRequest, ChatResponse, EventKind, ToolCall, ToolEvent},
    llm::{Budget, LlmProvider, provider_fn},
    tools::tool,
};

/// Looks up whether an invoice is paid.
#[tool(read_only)]
async fn look_up_invoice(
    /// The number of the invoice.
    number: u32,
) -> Result<String, String> {
    Ok(format!("invoice {number}: open since 3 May"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let desk = AgentSpec::new(
        "desk",
        "You find out what customers need, and hand over to the agent for it.",
    )
    .with_tools::<String>([])
    .with_handoffs(["billing"]);
    let billing = AgentSpec::new(
        "billing",
        "You answer questions about invoices. Ask the clerk to look them up.",
    )
    .with_description("invoices and payments")
    .with_tools(["ask_clerk"]);
    let clerk = AgentSpec::new("clerk", "You look up invoices.").with_tools(["look_up_invoice"]);

    let bundle = AgentBuilder::new()
        .with_provider(agcore_examples::model(offline())?)
        .with_tool(look_up_invoice_tool())
        // What one call of the clerk may spend, and how deep agents may ask others.
        .with_tool(SubAgent::new(clerk, "Looks up invoices.").with_budget(Budget::new().with_model_calls(5)))
        .with_config(AgentConfig::new().with_team(TeamLimits::new().with_max_depth(1)))
        .with_agent(desk)
        .with_member(billing)
        .build()?;

    let session = bundle.new_session();
    show(&session, "Did I pay invoice 7?").await?;
    println!("{} has the conversation now", session.agent().name());
    show(&session, "Thank you!").await?;

    opinions(&bundle).await;
    Ok(())
}

/// Runs a turn and prints who does what.
async fn show(session: &AgentSession, input: &str) -> Result<(), Box<dyn Error>> {
    println!("you: {input}");
    let mut turn = session.turn(input).stream_with_sub_agents();
    while let Some(event) = turn.next().await {
        let indent = if event.parent.is_some() { "    " } else { "  " };
        match &event.kind {
            EventKind::Tool(ToolEvent::Completed { name, output, .. }) => {
                println!("{indent}{} called {name}: {output}", event.agent);
            }
            EventKind::Agent(AgentEvent::Handoff { from, to }) => println!("{indent}{from} hands over to {to}"),
            _ => {}
        }
    }
    println!("{}: {}", session.agent().name(), turn.finish().await?.text());
    Ok(())
}

/// Asks several agents the same, side by side.
async fn opinions(bundle: &RuntimeBundle) {
    let question = "Should we send a reminder for invoice 7?";
    println!("all: {question}");
    let agent = |name: &str, prompt: &str| AgentSpec::new(name, prompt).with_tools::<String>([]);
    let gathered = FanOut::new()
        .with_task(agent("optimist", "You see the good in everything."), question)
        .with_task(agent("lawyer", "You think of the worst."), question)
        .run(bundle)
        .await;
    for opinion in gathered {
        match &opinion.result {
            Ok(outcome) => println!("  {}: {}", opinion.agent, outcome.text()),
            Err(error) => println!("  {} failed: {error}", opinion.agent),
        }
    }
}

/// The model that is used without `AGCORE_MODEL`: a script for each agent, which it recognizes by its instructions.
fn offline() -> impl LlmProvider {
    provider_fn(|call| async move {
        let mut response = ChatResponse::from_text("");
        if let Some(choice) = response.choices.first_mut() {
            choice.message = reply(&call.request);
        }
        Ok(response)
    })
}

fn reply(request: &ChatRequest) -> AssistantMessage {
    let text = |message: Option<&_>| {
        let message: Option<&std::sync::Arc<agcore::Message>> = message;
        message.map(|message| message.text().into_owned()).unwrap_or_default()
    };
    let (instructions, newest) = (text(request.messages.first()), text(request.messages.last()));
    let call =
        |name: &str, arguments: &str| AssistantMessage::default().with_call(ToolCall::function(name, name, arguments));
    match (&*instructions, &*newest) {
        (agent, "Did I pay invoice 7?") if agent.contains("customers") => {
            call("transfer_to_billing", r#"{"reason": "an invoice"}"#)
        }
        (agent, "Handed over to `billing`.") if agent.contains("questions") => {
            call("ask_clerk", r#"{"task": "Is invoice 7 paid?"}"#)
        }
        (agent, "Is invoice 7 paid?") if agent.contains("look up") => call("look_up_invoice", r#"{"number": 7}"#),
        (_, result) if result.starts_with("invoice 7") => AssistantMessage::new("Invoice 7 is open since 3 May."),
        (_, "Invoice 7 is open since 3 May.") => AssistantMessage::new("Not yet: it is open since 3 May."),
        (_, "Thank you!") => AssistantMessage::new("You are welcome."),
        (agent, _) if agent.contains("good") => AssistantMessage::new("They will surely pay soon."),
        _ => AssistantMessage::new("Send it today."),
    }
}
