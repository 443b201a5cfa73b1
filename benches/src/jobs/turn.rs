//! Whole turns, one after the other.

use std::sync::Arc;

use agcore_llm::{Call, LlmProviderExt};
use agcore_tools::ToolRegistry;
use bytes::Bytes;

use crate::{
    Fallible,
    canned::{self, streamed::Api},
    client::{
        baseline::Baseline,
        minimal::{self, Events},
        ours,
    },
    figures::Figures,
    job::{Job, Rounds, Task, expect, runtime},
};

/// The job.
pub const JOB: Job = Job {
    name: "turn",
    title: "One whole turn",
    unit: "turn",
    clients: &[
        "H",
        "R",
        "chat",
        "session-new",
        "session-kept",
        "hook",
        STREAMED,
        "delta",
        "events",
    ],
    pinned: true,
    repetitions: 15,
    rounds: Some(ROUNDS),
    run,
};

/// R, with the streamed reply that `delta` and `events` read.
const STREAMED: &str = "R-streamed";

/// The length of the answer in bytes.
const ANSWER_SIZE: u64 = canned::ANSWER.len() as u64;

/// The rounds of a turn without a long history.
pub const ROUNDS: Rounds = Rounds {
    warm: 500,
    timed: 3000,
    counted: 500,
    units: 1,
};

/// Runs a client of this package.
pub fn run(task: &Task<'_>) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{}/turn", task.url));
    let (no_tools, agent) = (ToolRegistry::new, ours::agent());
    match task.client {
        "chat" => {
            let (provider, request) = (ours::provider(&url)?, ours::request());
            task.measure(&runtime, &ROUNDS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        "session-new" => {
            let bundle = ours::bundle(ours::provider(&url)?, no_tools())?;
            task.measure(&runtime, &ROUNDS, async || {
                let outcome = ours::session(&bundle, &agent).turn("Hello!").await?;
                expect(&*outcome.text(), canned::ANSWER)
            })
        }
        "session-kept" => {
            let session = ours::session(&ours::bundle(ours::provider(&url)?, no_tools())?, &agent);
            task.measure(&runtime, &ROUNDS, async || {
                session.set_messages(Vec::new()).await?;
                let outcome = session.turn("Hello!").await?;
                expect(&*outcome.text(), canned::ANSWER)
            })
        }
        "hook" => {
            let bundle = ours::bundle_with_hook(ours::provider(&url)?, no_tools())?;
            task.measure(&runtime, &ROUNDS, async || {
                let outcome = ours::session(&bundle, &agent).turn("Hello!").await?;
                expect(&*outcome.text(), canned::ANSWER)
            })
        }
        STREAMED => {
            let mut baseline = runtime.block_on(Baseline::new("R", &url))?;
            task.measure(&runtime, &ROUNDS, async || read_stream(&mut baseline).await)
        }
        "delta" => {
            let (provider, request) = (ours::provider(&url)?, ours::request());
            task.measure(&runtime, &ROUNDS, async || {
                expect(ours::read_deltas(&provider, request.clone()).await?, ANSWER_SIZE)
            })
        }
        "events" => {
            let bundle = ours::bundle(ours::provider(&url)?, no_tools())?;
            task.measure(&runtime, &ROUNDS, async || {
                let session = ours::session(&bundle, &agent);
                let (text_size, _) = ours::read_events(&session, "Hello!").await?;
                expect(text_size, ANSWER_SIZE)
            })
        }
        baseline => {
            let mut baseline = runtime.block_on(Baseline::new(baseline, &url))?;
            task.measure(&runtime, &ROUNDS, async || {
                let reply = baseline.whole(Bytes::from_static(canned::TURN.as_bytes())).await?;
                expect(minimal::message(&reply)?.content.as_deref(), Some(canned::ANSWER))
            })
        }
    }
}

/// Reads the text of a streamed reply.
async fn read_stream(baseline: &mut Baseline) -> Fallible {
    let mut events = Events::new(Api::Chat);
    let request = Bytes::from_static(canned::STREAMED_TURN.as_bytes());
    baseline.stream(request, |bytes| events.feed(bytes)).await?;
    expect(events.text, ANSWER_SIZE)
}
