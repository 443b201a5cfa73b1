//! A thousand streams at once, each with 20 chunks a second.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::try_join_all;
use tokio::runtime::Runtime;

use super::{Job, expect, runtime};
use crate::{
    Fallible, alloc,
    canned::{self, streamed::Api},
    client::{floor::Floor, minimal::Events, ours, reqwest::Reqwest},
    clock,
    figures::Figures,
    memory,
};

pub(crate) const JOB: Job = Job {
    name: "many",
    title: "1000 concurrent streams of 60 chunks, 20 chunks a second each",
    unit: "chunk",
    clients: &["H", "R", "delta", "events"],
    pinned: false,
    repetitions: 5,
    run,
};

const STREAMS: u32 = 1000;

fn run(who: &str, url: &str) -> Fallible<Figures> {
    let (runtime, text_size) = (runtime()?, canned::text_of(canned::PACED_CHUNKS));
    let (fast, paced) = (format!("{url}/stream"), format!("{url}/paced"));
    match who {
        "delta" => {
            let (warm, request) = (ours::provider(&fast)?, ours::request());
            runtime.block_on(ours::read_deltas(&warm, request.clone()))?;
            let provider = ours::provider(&paced)?;
            at_once(&runtime, async || {
                expect(ours::read_deltas(&provider, Arc::clone(&request)).await?, text_size)
            })
        }
        "events" => {
            let (warm, agent) = (ours::bundle(&fast)?, ours::agent());
            runtime.block_on(ours::read_events(&ours::session(&warm, &agent), "Hello!"))?;
            let bundle = ours::bundle(&paced)?;
            at_once(&runtime, async || {
                let (told, _) = ours::read_events(&ours::session(&bundle, &agent), "Hello!").await?;
                expect(told, text_size)
            })
        }
        floor => {
            runtime.block_on(async { read(&mut Floor::of(floor, &fast).await?).await })?;
            // One client of reqwest for all, as one would have it.
            let shared = Reqwest::new(&paced)?;
            at_once(&runtime, async || {
                let mut floor = match floor {
                    "R" => Floor::Reqwest(shared.clone()),
                    other => Floor::of(other, &paced).await?,
                };
                expect(read(&mut floor).await?, text_size)
            })
        }
    }
}

async fn read(floor: &mut Floor) -> Fallible<u64> {
    let mut events = Events::of(Api::Chat);
    let request = Bytes::from_static(canned::STREAMED_TURN.as_bytes());
    floor.each(request, |piece| events.feed(piece)).await?;
    Ok(events.text)
}

/// All streams at once, and what that cost.
fn at_once(runtime: &Runtime, stream: impl AsyncFn() -> Fallible) -> Fallible<Figures> {
    let (before, begun) = (memory::now(), clock::cpu());
    let (done, allocated) = alloc::counted(|| runtime.block_on(try_join_all((0..STREAMS).map(|_| stream()))));
    done?;
    let spent = clock::cpu().saturating_sub(begun);
    let chunks = f64::from(STREAMS) * f64::from(canned::PACED_CHUNKS);
    Ok(Figures {
        cpu_us: spent.as_secs_f64() * 1e6 / chunks,
        allocations: allocated.count as f64 / chunks,
        bytes: allocated.bytes as f64 / chunks,
        stream_kib: (memory::peak() - before) / f64::from(STREAMS),
    })
}
