//! The memory of sessions that wait for the next turn.

use std::{hint::black_box, sync::Arc};

use agcore_agent::{AgentSession, AgentSpec, RuntimeBundle};
use agcore_chat::Message;
use tokio::runtime::Runtime;

use super::tool_loop;
use crate::{
    Fallible, canned,
    client::{ours, tools},
    figures::Figures,
    job::{Job, Task, runtime},
    memory,
};

/// The job.
pub const JOB: Job = Job {
    name: "idle",
    title: "Sessions that wait for the next turn",
    unit: "session",
    clients: &["made", "used", "history"],
    pinned: true,
    repetitions: 3,
    rounds: None,
    run,
};

const SESSIONS: u32 = 10_000;

/// Measures sessions that were made, sessions after a tool loop, or only the history of that loop.
pub fn run(task: &Task<'_>) -> Fallible<Figures> {
    task.is_measured()?;
    let (runtime, url) = (runtime()?, format!("{}/loop", task.url));
    let bundle = ours::bundle_with_hook(ours::provider(&url)?, tools::registry(canned::TOOLS)?)?;
    let agent = ours::agent();
    match task.client {
        "made" => each(|| Ok(ours::session(&bundle, &agent))),
        "used" => each(|| used(&runtime, &bundle, &agent)),
        "history" => {
            let messages = runtime.block_on(used(&runtime, &bundle, &agent)?.messages());
            let json = serde_json::to_vec(&messages)?;
            each(|| Ok(serde_json::from_slice::<Vec<Arc<Message>>>(&json)?))
        }
        _ => task.unknown_client(),
    }
}

/// Returns a session after a loop.
fn used(runtime: &Runtime, bundle: &RuntimeBundle, agent: &Arc<AgentSpec>) -> Fallible<AgentSession> {
    let session = ours::session(bundle, agent);
    runtime.block_on(tool_loop::converse(&session))?;
    Ok(session)
}

/// Measures the memory of many values.
fn each<T>(make: impl Fn() -> Fallible<T>) -> Fallible<Figures> {
    let mut kept = Vec::with_capacity(SESSIONS as usize);
    // What is allocated once, and the pages of the list itself.
    kept.push(make()?);
    let before = memory::now();
    for _ in 1..SESSIONS {
        kept.push(make()?);
    }
    let after = memory::now();
    black_box(&kept);
    Ok(Figures {
        each_kib: (after - before) / f64::from(SESSIONS - 1),
        peak_mib: memory::peak() / 1024.0,
        ..Figures::of_units(f64::from(SESSIONS))
    })
}
