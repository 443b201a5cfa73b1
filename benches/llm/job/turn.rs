//! Whole turns, one after the other.

use std::sync::Arc;

use agcore_llm::{Call, LlmProviderExt};
use bytes::Bytes;

use super::{Job, Rounds, expect, measure, runtime};
use crate::{
    Fallible, canned,
    client::{baseline::Baseline, minimal, ours},
    figures::Figures,
};

pub(crate) const JOB: Job = Job {
    name: "turn",
    title: "One whole turn",
    unit: "turn",
    clients: &["H", "R", "chat", "session"],
    pinned: true,
    repetitions: 9,
    run,
};

const ROUNDS: Rounds = Rounds {
    warm: 500,
    timed: 3000,
    counted: 500,
    units: 1,
};

fn run(client: &str, url: &str) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{url}/turn"));
    match client {
        "chat" => {
            let (provider, request) = (ours::provider(&url)?, ours::request());
            measure(&runtime, &ROUNDS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        "session" => {
            let (bundle, agent) = (ours::bundle(&url)?, ours::agent());
            measure(&runtime, &ROUNDS, async || {
                let outcome = ours::session(&bundle, &agent).turn("Hello!").await?;
                expect(&*outcome.text(), canned::ANSWER)
            })
        }
        baseline => {
            let mut baseline = runtime.block_on(Baseline::new(baseline, &url))?;
            measure(&runtime, &ROUNDS, async || {
                let reply = baseline.whole(Bytes::from_static(canned::TURN.as_bytes())).await?;
                expect(minimal::message(&reply)?.content.as_deref(), Some(canned::ANSWER))
            })
        }
    }
}
