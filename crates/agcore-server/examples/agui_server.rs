//! The server that the clients of AG-UI are tested with: `cargo xtask agui-clients` starts it.
//!
//! It prints its URL and serves until its standard input closes. Its model plays a script, so the clients ask in the order of
//! `scripts/agui/clients.cjs`.
#![allow(clippy::print_stdout, reason = "this is a program, which prints its address")]

use std::{error::Error, sync::Arc};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::{SystemClock, ToolCall};
use agcore_memory::session::InMemorySessionStore;
use agcore_server::Server;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let bundle = AgentBuilder::new()
        .with_provider(script())
        .with_tool(typed("weather", "Returns the weather.", |_: NoArguments| async {
            Ok("sunny")
        }))
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .build()?;
    let server = Server::builder()
        .agent("helper", bundle, AgentSpec::new("helper", "Be helpful."))
        .store(Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new()))))
        .build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("serving AG-UI at http://{}", listener.local_addr()?);
    let stop = CancellationToken::new();
    let waiting = stop.clone();
    // The read ends when the parent closes the pipe, or ends itself.
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        waiting.cancel();
    });
    Ok(server.serve(listener, stop).await?)
}

/// The replies, in the order in which the clients ask.
fn script() -> ScriptedProvider {
    let call = |id: &str, name: &str| ScriptStep::calls([ToolCall::function(id, name, "{}")]);
    ScriptedProvider::new([
        // A conversation with a tool, and its second turn.
        call("call_1", "weather"),
        ScriptStep::text("It is sunny."),
        ScriptStep::text("You asked about the weather."),
        // A call that a person approves, and one that a person denies.
        call("call_2", "pay"),
        ScriptStep::text("It is paid."),
        call("call_3", "pay"),
        ScriptStep::text("I did not pay."),
        // A run that is cancelled, and one after it.
        ScriptStep::text("Let me think").then_hang(),
        ScriptStep::text("I am back."),
    ])
}
