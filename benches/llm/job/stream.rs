//! Streams at the speed at which the server can write them.

use bytes::Bytes;

use super::{Job, Rounds, expect, measure, runtime};
use crate::{
    Fallible,
    canned::{self, streamed::Api},
    client::{baseline::Baseline, minimal::Events, ours},
    figures::Figures,
};

pub(crate) const JOB: Job = Job {
    name: "stream",
    title: "A streamed chunk of 267 bytes",
    unit: "chunk",
    clients: &["H", "R", "delta", "events"],
    pinned: false,
    repetitions: 9,
    run: |client, url| run(Api::Chat, client, url),
};

pub(crate) const ANTHROPIC: Job = Job {
    name: "anthropic",
    title: "A streamed event of Anthropic's API",
    clients: &["H", "R", "delta"],
    run: |client, url| run(Api::Anthropic, client, url),
    ..JOB
};

pub(crate) const RESPONSES: Job = Job {
    name: "responses",
    title: "A streamed event of the Responses API",
    clients: &["H", "R", "delta"],
    run: |client, url| run(Api::Responses, client, url),
    ..JOB
};

const ROUNDS: Rounds = Rounds {
    warm: 5,
    timed: 50,
    counted: 10,
    units: canned::FAST_CHUNKS,
};

fn run(api: Api, client: &str, url: &str) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{url}/{}", api.path()));
    let text_size = canned::text_len(canned::FAST_CHUNKS);
    match client {
        "delta" => {
            let (provider, request) = (ours::provider_of(api, &url)?, ours::request());
            measure(&runtime, &ROUNDS, async || {
                expect(ours::read_deltas(&provider, request.clone()).await?, text_size)
            })
        }
        "events" => {
            let (bundle, agent) = (ours::bundle(&url)?, ours::agent());
            measure(&runtime, &ROUNDS, async || {
                let session = ours::session(&bundle, &agent);
                let (text_len, outcome) = ours::read_events(&session, "Hello!").await?;
                expect(text_len, text_size)?;
                expect(outcome.text().len() as u64, text_size)
            })
        }
        baseline => {
            let mut baseline = runtime.block_on(Baseline::new(baseline, &url))?;
            measure(&runtime, &ROUNDS, async || {
                let mut events = Events::new(api);
                let request = Bytes::from_static(canned::STREAMED_TURN.as_bytes());
                baseline.stream(request, |bytes| events.feed(bytes)).await?;
                expect(events.text, text_size)
            })
        }
    }
}
