//! A session of 200 turns: its turns, its size, and opening it.

use std::{path::Path, sync::Arc, time::Instant};

use agcore_agent::{AgentSpec, StoredSessions, agent};
use agcore_chat::{AssistantMessage, ChatResponse, Role, SystemClock, ToolCall, Usage};
use agcore_llm::provider_fn;
use agcore_store::sqlite::SqliteStore;
use agcore_tools::{NoArguments, typed};
use tokio::runtime::Runtime;

use crate::{
    Fallible,
    measure::{Limit, Times, median},
};

const TURNS: usize = 200;

/// The turns at each end whose times are compared.
const COMPARED: usize = 10;

/// Runs the turns, each with a tool call, and measures how long it takes until the session is open in a new store.
pub(crate) fn run(directory: &Path, runtime: &Runtime) -> Fallible<Vec<Limit>> {
    let path = directory.join("sessions.db");
    let session = runtime.block_on(async { Fallible::Ok(sessions(&path).await?.create("s-1", spec()).await?) })?;
    let (mut first, mut last) = (Times::default(), Times::default());
    for turn in 0..TURNS {
        let run = || {
            runtime.block_on(
                session
                    .turn(format!("Question {turn}: how far is it, and how do I get there?"))
                    .run(),
            )
        };
        let outcome = if turn < COMPARED {
            first.measure(run)
        } else if turn >= TURNS - COMPARED {
            last.measure(run)
        } else {
            run()
        };
        outcome?;
    }
    drop(session);
    let mut seconds = Vec::new();
    for _ in 0..9 {
        let begin = Instant::now();
        let messages = runtime.block_on(async {
            let session = sessions(&path).await?.open("s-1", spec()).await?;
            Fallible::Ok(session.messages().await.len())
        })?;
        seconds.push(begin.elapsed().as_secs_f64());
        if messages != 4 * TURNS {
            return Err(format!("the session has {messages} messages").into());
        }
    }
    let store = runtime.block_on(SqliteStore::open(&path, Arc::new(SystemClock::new())))?;
    // Moves the log into the file.
    runtime.block_on(store.close());
    let (size, open) = (std::fs::metadata(&path)?.len(), median(&mut seconds));
    println!("\n| 200 turns with a tool call each | |\n|---|---|");
    println!("| open of store and session | {:.1} ms |", open * 1e3);
    println!("| size | {} KiB |", size / 1024);
    println!(
        "| a turn at the start, at the end | {:.0} µs, {:.0} µs |",
        first.p50(),
        last.p50()
    );
    Ok(vec![
        Limit::at_most("open of a session of 200 turns, s", open, 0.1),
        Limit::at_most(
            "size of a session of 200 turns, MiB",
            size as f64 / f64::from(1 << 20),
            1.0,
        ),
        Limit::at_most("turns at the end / at the start", last.p50() / first.p50(), 1.15),
    ])
}

fn spec() -> AgentSpec {
    AgentSpec::new("guide", "You know the way.")
}

/// Opens the sessions of an agent whose model calls a tool in each turn.
async fn sessions(path: &Path) -> Fallible<StoredSessions> {
    let model = provider_fn(|call| async move {
        let mut response =
            ChatResponse::from_text("It takes about two hours to walk there, and twenty minutes by bus.");
        let messages = &call.request.messages;
        if messages.last().is_some_and(|message| message.role() == Role::User) {
            let call = ToolCall::function(format!("call_{}", messages.len()), "look", "{}");
            response.choices[0].message = AssistantMessage::default().with_call(call);
        }
        response.usage = Some(Usage::new(1200, 40));
        Ok(response)
    });
    let store = SqliteStore::open(path, Arc::new(SystemClock::new())).await?;
    let look = typed("look", "Looks.", |_: NoArguments| async {
        Ok("ten kilometres, with one bridge")
    });
    let bundle = agent(model).with_tool(look).with_session_store(store).build()?;
    Ok(bundle.stored_sessions()?)
}
