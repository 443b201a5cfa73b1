//! A turn with a long history, and attempts that are retried.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    Call, LlmProvider, LlmProviderExt, SystemClock,
    layer::retry::{Retry, RetryPolicy},
    system_random,
};
use agcore_tools::ToolRegistry;

use crate::{
    Fallible, canned,
    client::{
        baseline::Baseline,
        minimal::{Conversation, Utterance},
        ours,
    },
    figures::Figures,
    job::{Job, Rounds, Task, expect, runtime},
};

/// The job with 100 messages.
pub const SHORT: Job = Job {
    name: "history-100",
    title: "A turn with a history of 100 messages",
    run: |task| run(task, 50),
    ..MEDIUM
};

/// The job with 1000 messages.
pub const MEDIUM: Job = Job {
    name: "history-1000",
    title: "A turn with a history of 1000 messages",
    clients: &["H", "R", "chat", "session-kept", "offline"],
    repetitions: 15,
    run: |task| run(task, 500),
    ..LONG
};

/// The job with 10 000 messages.
pub const LONG: Job = Job {
    name: "history",
    title: "A turn with a history of 10 000 messages",
    unit: "turn or attempt",
    clients: &["pass", "H", "R", "chat", "attempt", "session-kept", "offline"],
    pinned: true,
    repetitions: 5,
    rounds: Some(ROUNDS),
    run: |task| run(task, 5000),
};

/// The rounds of all clients. Sessions grow by two messages in each.
pub const ROUNDS: Rounds = Rounds {
    warm: 3,
    timed: 20,
    counted: 5,
    units: 1,
};

/// The last question of all conversations.
pub const LAST: &str = "And now?";

/// Two of three attempts fail.
const ATTEMPTS: Rounds = Rounds { units: 3, ..ROUNDS };

/// Runs a client of this package with this many pairs of questions and answers.
pub fn run(task: &Task<'_>, pairs: u32) -> Fallible<Figures> {
    let (runtime, whole) = (runtime()?, format!("{}/turn", task.url));
    match task.client {
        "pass" => {
            let request = request(pairs);
            let size = serde_json::to_vec(&*request)?.len();
            task.measure(&runtime, &ROUNDS, async || {
                let mut body = Vec::with_capacity(size);
                serde_json::to_writer(&mut body, &*request)?;
                expect(body.len(), size)
            })
        }
        "chat" => {
            let (provider, request) = (ours::provider(&whole)?, request(pairs));
            task.measure(&runtime, &ROUNDS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        "attempt" => {
            let policy = RetryPolicy::new().with_backoff(Duration::ZERO, Duration::ZERO);
            let busy = ours::provider(&format!("{}/busy", task.url))?;
            let provider = Retry::new(busy, policy, Arc::new(SystemClock::new()), system_random());
            let request = request(pairs);
            task.measure(&runtime, &ATTEMPTS, async || {
                let response = provider.chat_call(Call::new(Arc::clone(&request))).await?;
                expect(&*response.text(), canned::ANSWER)
            })
        }
        "session-kept" => session(task, pairs, ours::provider(&whole)?),
        "offline" => session(task, pairs, ours::offline()),
        baseline => {
            let mut baseline = runtime.block_on(Baseline::new(baseline, &whole))?;
            let messages: Vec<Utterance> = utterances(pairs).collect();
            task.measure(&runtime, &ROUNDS, async || {
                let conversation = Conversation {
                    model: "gpt-4.1",
                    messages: &messages,
                };
                let body = serde_json::to_vec(&conversation)?;
                baseline.whole(body.into()).await.map(drop)
            })
        }
    }
}

fn session(task: &Task<'_>, pairs: u32, provider: Arc<dyn LlmProvider>) -> Fallible<Figures> {
    let runtime = runtime()?;
    let session = ours::session(&ours::bundle(provider, ToolRegistry::new())?, &ours::agent());
    let request = request(pairs);
    let messages = request.messages[..request.messages.len() - 1].to_vec();
    runtime.block_on(session.set_messages(messages))?;
    task.measure(&runtime, &ROUNDS, async || {
        let outcome = session.turn(LAST).await?;
        expect(&*outcome.text(), canned::ANSWER)
    })
}

fn request(pairs: u32) -> Arc<ChatRequest> {
    let messages = utterances(pairs).map(|Utterance { role, content }| match role {
        "assistant" => Message::assistant(content),
        _ => Message::user(content),
    });
    Arc::new(ChatRequest::new(messages))
}

/// Returns this many questions with their answers, followed by a last question.
pub fn utterances(pairs: u32) -> impl Iterator<Item = Utterance> {
    let utterance = |role, content| Utterance { role, content };
    let pairs = (0..pairs).flat_map(move |number| {
        let question =
            format!("Question {number}: how far is it from here to there, and how long does it take on foot?");
        let answer =
            format!("Answer {number}: \"about ten kilometres\", which take\ntwo hours and a half, or so I think.");
        [utterance("user", question), utterance("assistant", answer)]
    });
    pairs.chain([utterance("user", LAST.to_owned())])
}
