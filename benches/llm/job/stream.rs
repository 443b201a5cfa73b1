//! Streams as fast as the server can write them.

use bytes::Bytes;

use super::{Job, Rounds, expect, measured, runtime};
use crate::{
    Fallible,
    canned::{self, streamed::Api},
    client::{floor::Floor, minimal::Events, ours},
    figures::Figures,
};

pub(crate) const JOB: Job = Job {
    name: "stream",
    title: "A streamed chunk of 267 bytes",
    unit: "chunk",
    clients: &["H", "R", "delta", "events"],
    pinned: false,
    repetitions: 9,
    run: |who, url| run(Api::Chat, who, url),
};

pub(crate) const ANTHROPIC: Job = Job {
    name: "anthropic",
    title: "A streamed event of Anthropic's API",
    clients: &["H", "R", "delta"],
    run: |who, url| run(Api::Anthropic, who, url),
    ..JOB
};

pub(crate) const RESPONSES: Job = Job {
    name: "responses",
    title: "A streamed event of the Responses API",
    clients: &["H", "R", "delta"],
    run: |who, url| run(Api::Responses, who, url),
    ..JOB
};

const ROUNDS: Rounds = Rounds {
    warm: 5,
    timed: 50,
    counted: 10,
    units: canned::FAST_CHUNKS,
};

fn run(api: Api, who: &str, url: &str) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{url}/{}", api.path()));
    let text_size = canned::text_of(canned::FAST_CHUNKS);
    match who {
        "delta" => {
            let (provider, request) = (ours::provider_of(api, &url)?, ours::request());
            measured(&runtime, &ROUNDS, async || {
                expect(ours::read_deltas(&provider, request.clone()).await?, text_size)
            })
        }
        "events" => {
            let (bundle, agent) = (ours::bundle(&url)?, ours::agent());
            measured(&runtime, &ROUNDS, async || {
                let session = ours::session(&bundle, &agent);
                let (told, outcome) = ours::read_events(&session, "Hello!").await?;
                expect(told, text_size)?;
                expect(outcome.text().len() as u64, text_size)
            })
        }
        floor => {
            let mut floor = runtime.block_on(Floor::of(floor, &url))?;
            measured(&runtime, &ROUNDS, async || {
                let mut events = Events::of(api);
                let request = Bytes::from_static(canned::STREAMED_TURN.as_bytes());
                floor.each(request, |piece| events.feed(piece)).await?;
                expect(events.text, text_size)
            })
        }
    }
}
