//! A thousand concurrent streams with 20 chunks per second each.

use std::sync::Arc;

use agcore_tools::ToolRegistry;
use bytes::Bytes;
use futures_util::future::try_join_all;
use tokio::runtime::Runtime;

use crate::{
    Fallible, alloc,
    canned::{self, streamed::Api},
    client::{baseline::Baseline, minimal::Events, ours, reqwest::Reqwest},
    clock,
    figures::Figures,
    job::{Job, Task, expect, runtime},
    memory,
};

/// The job.
pub const JOB: Job = Job {
    name: "many",
    title: "1000 concurrent streams of 60 chunks, 20 chunks a second each",
    unit: "chunk",
    clients: &["H", "R", "delta", "events"],
    pinned: false,
    repetitions: 5,
    rounds: None,
    run,
};

const STREAMS: u32 = 1000;

/// Runs a client of this package.
pub fn run(task: &Task<'_>) -> Fallible<Figures> {
    task.is_measured()?;
    let (runtime, text_size) = (runtime()?, canned::text_len(canned::PACED_CHUNKS));
    let (fast, paced) = (format!("{}/stream", task.url), format!("{}/paced", task.url));
    match task.client {
        "delta" => {
            let (warm, request) = (ours::provider(&fast)?, ours::request());
            runtime.block_on(ours::read_deltas(&warm, request.clone()))?;
            let provider = ours::provider(&paced)?;
            run_concurrently(&runtime, async || {
                expect(ours::read_deltas(&provider, Arc::clone(&request)).await?, text_size)
            })
        }
        "events" => {
            let bundle = |url: &str| ours::bundle(ours::provider(url)?, ToolRegistry::new());
            let (warm, agent) = (bundle(&fast)?, ours::agent());
            runtime.block_on(ours::read_events(&ours::session(&warm, &agent), "Hello!"))?;
            let bundle = bundle(&paced)?;
            run_concurrently(&runtime, async || {
                let (text_len, _) = ours::read_events(&ours::session(&bundle, &agent), "Hello!").await?;
                expect(text_len, text_size)
            })
        }
        baseline => {
            runtime.block_on(async { read(&mut Baseline::new(baseline, &fast).await?).await })?;
            // All streams share one reqwest client, as an application would do.
            let shared = Reqwest::new(&paced)?;
            run_concurrently(&runtime, async || {
                let mut baseline = match baseline {
                    "R" => Baseline::Reqwest(shared.clone()),
                    other => Baseline::new(other, &paced).await?,
                };
                expect(read(&mut baseline).await?, text_size)
            })
        }
    }
}

async fn read(baseline: &mut Baseline) -> Fallible<u64> {
    let mut events = Events::new(Api::Chat);
    let request = Bytes::from_static(canned::STREAMED_TURN.as_bytes());
    baseline.stream(request, |bytes| events.feed(bytes)).await?;
    Ok(events.text)
}

/// Runs all streams concurrently and returns their cost.
pub fn run_concurrently(runtime: &Runtime, stream: impl AsyncFn() -> Fallible) -> Fallible<Figures> {
    let (memory_before, start) = (memory::now(), clock::cpu());
    let (result, allocated) = alloc::count(|| runtime.block_on(try_join_all((0..STREAMS).map(|_| stream()))));
    result?;
    let elapsed = clock::cpu().saturating_sub(start);
    let chunks = f64::from(STREAMS) * f64::from(canned::PACED_CHUNKS);
    Ok(Figures {
        cpu_us: elapsed.as_secs_f64() * 1e6 / chunks,
        allocations: allocated.count as f64 / chunks,
        bytes: allocated.bytes as f64 / chunks,
        each_kib: (memory::peak() - memory_before) / f64::from(STREAMS),
        peak_mib: memory::peak() / 1024.0,
        ..Figures::of_units(chunks)
    })
}
