//! One whole turn after the other.

use std::sync::Arc;

use agcore_llm::{Call, LlmProviderExt};
use bytes::Bytes;

use super::{Job, Rounds, expect, measured, runtime};
use crate::{
    Fallible, canned,
    client::{floor::Floor, minimal, ours},
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

fn run(who: &str, url: &str) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{url}/turn"));
    match who {
        "chat" => {
            let (provider, request) = (ours::provider(&url)?, ours::request());
            measured(&runtime, &ROUNDS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        "session" => {
            let (bundle, agent) = (ours::bundle(&url)?, ours::agent());
            measured(&runtime, &ROUNDS, async || {
                let outcome = ours::session(&bundle, &agent).submit_turn("Hello!").await?;
                expect(&*outcome.text(), canned::ANSWER)
            })
        }
        floor => {
            let mut floor = runtime.block_on(Floor::of(floor, &url))?;
            measured(&runtime, &ROUNDS, async || {
                let reply = floor.whole(Bytes::from_static(canned::TURN.as_bytes())).await?;
                expect(minimal::message(&reply)?.content.as_deref(), Some(canned::ANSWER))
            })
        }
    }
}
