//! Streams at the speed at which the server can write them.

use agcore_tools::ToolRegistry;
use bytes::Bytes;

use crate::{
    Fallible,
    canned::{self, streamed::Api},
    client::{baseline::Baseline, minimal::Events, ours},
    figures::Figures,
    job::{Job, Rounds, Task, expect, runtime},
};

/// The job.
pub const JOB: Job = Job {
    name: "stream",
    title: "A streamed chunk of 267 bytes",
    unit: "chunk",
    clients: &["H", "R", "delta", "events"],
    pinned: false,
    repetitions: 15,
    rounds: Some(ROUNDS),
    run: |task| run(Api::Chat, task),
};

/// The job with Anthropic's API.
pub const ANTHROPIC: Job = Job {
    name: "anthropic",
    title: "A streamed event of Anthropic's API",
    clients: &["H", "R", "delta"],
    run: |task| run(Api::Anthropic, task),
    ..JOB
};

/// The job with the Responses API.
pub const RESPONSES: Job = Job {
    name: "responses",
    title: "A streamed event of the Responses API",
    clients: &["H", "R", "delta"],
    run: |task| run(Api::Responses, task),
    ..JOB
};

/// The rounds of all clients.
pub const ROUNDS: Rounds = Rounds {
    warm: 5,
    timed: 50,
    counted: 10,
    units: canned::FAST_CHUNKS,
};

/// Runs a client of this package with a stream of an API.
pub fn run(api: Api, task: &Task<'_>) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{}/{}", task.url, api.path()));
    let text_size = canned::text_len(canned::FAST_CHUNKS);
    match task.client {
        "delta" => {
            let (provider, request) = (ours::provider_of(api, &url)?, ours::request());
            task.measure(&runtime, &ROUNDS, async || {
                expect(ours::read_deltas(&provider, request.clone()).await?, text_size)
            })
        }
        "events" => {
            let (bundle, agent) = (ours::bundle(ours::provider(&url)?, ToolRegistry::new())?, ours::agent());
            task.measure(&runtime, &ROUNDS, async || {
                let session = ours::session(&bundle, &agent);
                let (text_len, outcome) = ours::read_events(&session, "Hello!").await?;
                expect(text_len, text_size)?;
                expect(outcome.text().len() as u64, text_size)
            })
        }
        baseline => {
            let mut baseline = runtime.block_on(Baseline::new(baseline, &url))?;
            task.measure(&runtime, &ROUNDS, async || {
                let mut events = Events::new(api);
                let request = Bytes::from_static(canned::STREAMED_TURN.as_bytes());
                baseline.stream(request, |bytes| events.feed(bytes)).await?;
                expect(events.text, text_size)
            })
        }
    }
}
