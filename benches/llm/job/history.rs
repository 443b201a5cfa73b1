//! A turn with a history of 10 000 messages, and attempts that are retried.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    Call, LlmProviderExt, SystemClock,
    layer::retry::{Retry, RetryPolicy},
    system_random,
};
use bytes::Bytes;

use super::{Job, Rounds, expect, measure, runtime};
use crate::{
    Fallible, canned,
    client::{ours, reqwest::Reqwest},
    figures::Figures,
};

pub(crate) const JOB: Job = Job {
    name: "history",
    title: "A turn with a history of 10 000 messages",
    unit: "turn or attempt",
    clients: &["pass", "R", "chat", "attempt", "session"],
    pinned: true,
    repetitions: 5,
    run,
};

const ROUNDS: Rounds = Rounds {
    warm: 3,
    timed: 20,
    counted: 5,
    units: 1,
};

/// Two of three attempts fail.
const ATTEMPTS: Rounds = Rounds { units: 3, ..ROUNDS };

fn run(client: &str, url: &str) -> Fallible<Figures> {
    let (runtime, request) = (runtime()?, Arc::new(ChatRequest::new(history(5000))));
    let whole = format!("{url}/turn");
    match client {
        "pass" => {
            let size = serde_json::to_vec(&*request)?.len();
            measure(&runtime, &ROUNDS, async || {
                let mut body = Vec::with_capacity(size);
                serde_json::to_writer(&mut body, &*request)?;
                expect(body.len(), size)
            })
        }
        "R" => {
            let (baseline, body) = (Reqwest::new(&whole)?, Bytes::from(serde_json::to_vec(&*request)?));
            measure(&runtime, &ROUNDS, async || baseline.whole(body.clone()).await.map(drop))
        }
        "chat" => {
            let provider = ours::provider(&whole)?;
            measure(&runtime, &ROUNDS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        "attempt" => {
            let policy = RetryPolicy::new().with_backoff(Duration::ZERO, Duration::ZERO);
            let busy = ours::provider(&format!("{url}/busy"))?;
            let provider = Retry::new(busy, policy, Arc::new(SystemClock::new()), system_random());
            measure(&runtime, &ATTEMPTS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        _ => {
            let session = ours::session(&ours::bundle(&whole)?, &ours::agent());
            let messages = request.messages[..request.messages.len() - 1].to_vec();
            runtime.block_on(session.set_messages(messages))?;
            measure(&runtime, &ROUNDS, async || {
                let outcome = session.turn("And now?").await?;
                expect(&*outcome.text(), canned::ANSWER)
            })
        }
    }
}

/// Creates question and answer pairs, followed by a final question.
fn history(pairs: u32) -> Vec<Message> {
    let pairs = (0..pairs).flat_map(|number| {
        let question =
            format!("Question {number}: how far is it from here to there, and how long does it take on foot?");
        let answer =
            format!("Answer {number}: \"about ten kilometres\", which take\ntwo hours and a half, or so I think.");
        [Message::user(question), Message::assistant(answer)]
    });
    pairs.chain([Message::user("And now?")]).collect()
}
