//! A turn of an agent with fifty tools. None of them is called.

use agcore_agent::RuntimeBundle;
use agcore_llm::LlmProvider;
use bytes::Bytes;
use std::sync::Arc;

use super::turn;
use crate::{
    Fallible, canned,
    client::{baseline::Baseline, minimal, ours, tools},
    figures::Figures,
    job::{Job, Task, expect, runtime},
};

/// The job.
pub const JOB: Job = Job {
    name: "tools",
    title: "A turn with fifty tools",
    clients: &["H", "R", "session-new", "session-kept", "offline-new", "offline-kept"],
    run,
    ..turn::JOB
};

/// Runs a client of this package.
pub fn run(task: &Task<'_>) -> Fallible<Figures> {
    let url = format!("{}/turn", task.url);
    match task.client {
        "session-new" => new_sessions(task, ours::provider(&url)?),
        "session-kept" => kept_session(task, ours::provider(&url)?),
        "offline-new" => new_sessions(task, ours::offline()),
        "offline-kept" => kept_session(task, ours::offline()),
        baseline => {
            let runtime = runtime()?;
            let mut baseline = runtime.block_on(Baseline::new(baseline, &url))?;
            let turn = canned::TURN.strip_suffix("]}").ok_or("no messages")?;
            let request = Bytes::from([turn, &canned::tools_tail(canned::many_tools())].concat());
            task.measure(&runtime, &turn::ROUNDS, async || {
                let reply = baseline.whole(request.clone()).await?;
                expect(minimal::message(&reply)?.content.as_deref(), Some(canned::ANSWER))
            })
        }
    }
}

fn bundle(provider: Arc<dyn LlmProvider>) -> Fallible<RuntimeBundle> {
    ours::bundle(provider, tools::registry(canned::many_tools())?)
}

fn new_sessions(task: &Task<'_>, provider: Arc<dyn LlmProvider>) -> Fallible<Figures> {
    let (bundle, agent) = (bundle(provider)?, ours::agent());
    task.measure(&runtime()?, &turn::ROUNDS, async || {
        let outcome = ours::session(&bundle, &agent).turn("Hello!").await?;
        expect(&*outcome.text(), canned::ANSWER)
    })
}

fn kept_session(task: &Task<'_>, provider: Arc<dyn LlmProvider>) -> Fallible<Figures> {
    let session = ours::session(&bundle(provider)?, &ours::agent());
    task.measure(&runtime()?, &turn::ROUNDS, async || {
        session.set_messages(Vec::new()).await?;
        let outcome = session.turn("Hello!").await?;
        expect(&*outcome.text(), canned::ANSWER)
    })
}
