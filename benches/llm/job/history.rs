//! A turn with a history of 10 000 messages, and its attempts.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{Call, LlmProviderExt, Retry, RetryPolicy, SystemClock, system_random};
use bytes::Bytes;

use super::{Job, Rounds, expect, measured, runtime};
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

/// Of three attempts two fail.
const ATTEMPTS: Rounds = Rounds { units: 3, ..ROUNDS };

fn run(who: &str, url: &str) -> Fallible<Figures> {
    let (runtime, request) = (runtime()?, Arc::new(ChatRequest::new(history(5000))));
    let whole = format!("{url}/turn");
    match who {
        "pass" => {
            let size = serde_json::to_vec(&*request)?.len();
            measured(&runtime, &ROUNDS, async || {
                let mut body = Vec::with_capacity(size);
                serde_json::to_writer(&mut body, &*request)?;
                expect(body.len(), size)
            })
        }
        "R" => {
            let (floor, body) = (Reqwest::new(&whole)?, Bytes::from(serde_json::to_vec(&*request)?));
            measured(&runtime, &ROUNDS, async || floor.whole(body.clone()).await.map(drop))
        }
        "chat" => {
            let provider = ours::provider(&whole)?;
            measured(&runtime, &ROUNDS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        "attempt" => {
            let policy = RetryPolicy::new().with_backoff(Duration::ZERO, Duration::ZERO);
            let busy = ours::provider(&format!("{url}/busy"))?;
            let provider = Retry::new(busy, policy, Arc::new(SystemClock::new()), system_random());
            measured(&runtime, &ATTEMPTS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        _ => {
            let session = ours::session(&ours::bundle(&whole)?, &ours::agent());
            let messages = request.messages[..request.messages.len() - 1].to_vec();
            runtime.block_on(session.set_messages(messages))?;
            measured(&runtime, &ROUNDS, async || {
                let outcome = session.submit_turn("And now?").await?;
                expect(&*outcome.text(), canned::ANSWER)
            })
        }
    }
}

/// Questions and answers, and a last question.
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
