//! Random conversations that are compacted with usable and unusable summaries, and their invariants.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, FinishReason, HeuristicEstimator, Message, TokenEstimator, WindowSettings, validate_messages,
};
use agcore_cycle::{CompactionSettings, TurnOptions};
use agcore_llm::{
    LlmError, LlmErrorKind, dialect,
    wire::{Chat, EncodeOptions, Wire, openai_chat::OpenAiChat},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use fastrand::Rng;

use crate::support::{call, cycle};

/// The number of conversations in every test run.
const CONVERSATIONS: u64 = 500;
/// The number of conversations if `AGCORE_SOAK` is set.
const SOAK: u64 = 20_000;

fn words(rng: &mut Rng) -> String {
    let word = ["lorem ", "天気", "{\"a\": 1} ", "fn main() "][rng.usize(..4)];
    word.repeat([0, 1, 3, 20, 100][rng.usize(..5)] + 1)
}

/// Returns turns with tool rounds and occasional instructions.
fn conversation(rng: &mut Rng) -> Vec<Arc<Message>> {
    let mut messages = Vec::new();
    if rng.bool() {
        messages.push(Message::system("Be brief."));
    }
    if rng.u8(..8) == 0 {
        messages.push(Message::assistant("How can I help?"));
    }
    for turn in 0..rng.usize(1..5) {
        messages.push(Message::user(words(rng)));
        for round in 0..rng.usize(..6) {
            let ids: Vec<_> = (0..rng.usize(1..4)).map(|at| format!("{turn}.{round}.{at}")).collect();
            let calls = ids
                .iter()
                .map(|id| call(id, "look", &format!("{{\"q\":\"{id}\"}}")).into());
            messages.push(AssistantMessage::from_blocks(calls).into());
            for id in ids {
                messages.push(Message::tool(id, words(rng)));
            }
            if rng.u8(..10) == 0 {
                messages.push(Message::developer(format!("Rule {turn}.{round}.")));
            }
        }
        messages.push(Message::assistant(words(rng)));
        if rng.u8(..10) == 0 {
            messages.push(Message::system("A new rule."));
        }
    }
    messages.into_iter().map(Arc::new).collect()
}

fn summary(rng: &mut Rng) -> ScriptStep {
    match rng.u8(..8) {
        0 => ScriptStep::text(""),
        1 => ScriptStep::text("too much ".repeat(1_000)),
        2 => ScriptStep::error(LlmError::new(LlmErrorKind::Server, "down")),
        3 => ScriptStep::message(AssistantMessage::new("So f"), FinishReason::Length),
        _ => ScriptStep::text("So far nothing was found. 天"),
    }
}

fn body(messages: &[Arc<Message>]) -> Vec<u8> {
    let request = agcore_chat::ChatRequest::new(messages.iter().cloned());
    let wire = OpenAiChat::new(dialect::openai());
    Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("m"))
        .unwrap()
        .body
        .to_vec()
}

/// Checks the invariants of a compaction.
fn check(before: &[Arc<Message>], after: &[Arc<Message>], is_unchanged: bool) {
    validate_messages(after).expect("calls keep their results");
    let estimator = HeuristicEstimator::default();
    assert!(
        estimator.messages(after) <= estimator.messages(before),
        "a compaction never adds tokens"
    );
    if is_unchanged {
        assert!(before.len() == after.len() && before.iter().zip(after).all(|(a, b)| Arc::ptr_eq(a, b)));
        return;
    }
    assert!(
        estimator.messages(after) < estimator.messages(before),
        "a change frees tokens"
    );
    let kept = |message: &&Arc<Message>| after.iter().any(|other| Arc::ptr_eq(message, other));
    assert!(
        before
            .iter()
            .filter(|message| message.is_instruction())
            .all(|message| kept(&message))
    );
    let goal = before
        .iter()
        .find(|message| matches!(***message, Message::User(_)))
        .unwrap();
    let first = after
        .iter()
        .find(|message| matches!(***message, Message::User(_)))
        .unwrap();
    assert!(first.text().starts_with(&*goal.text()), "the goal is kept verbatim");
    // The messages before the first change are sent with the same bytes as before.
    let same = before.iter().zip(after).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
    if same > 0 {
        let (head, body_before, body_after) = (body(&before[..same]), body(before), body(after));
        let head = &head[..head.len() - 2];
        assert!(
            body_before.starts_with(head) && body_after.starts_with(head),
            "the bytes before the change are the same"
        );
    }
    let newest = before.len().saturating_sub(KEEP);
    assert!(
        before[newest..]
            .iter()
            .rev()
            .zip(after.iter().rev())
            .all(|(a, b)| Arc::ptr_eq(a, b)),
        "the newest messages are kept"
    );
}

/// The number of newest messages that compactions leave alone.
const KEEP: usize = 3;

#[tokio::test]
async fn random_compactions_keep_the_invariants() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment selects how many conversations run"
    )]
    let soak = std::env::var_os("AGCORE_SOAK").is_some();
    let (mut summarized, mut pruned, mut unchanged, mut fell_back) = (0, 0, 0, 0);
    for seed in 0..if soak { SOAK } else { CONVERSATIONS } {
        let mut rng = Rng::with_seed(seed);
        let before = conversation(&mut rng);
        let provider = ScriptedProvider::new([summary(&mut rng)]);
        let mut cycle = cycle(&provider);
        cycle.settings_mut().compaction = CompactionSettings::new()
            .with_summaries(rng.u8(..5) > 0)
            .with_window(WindowSettings::new().with_keep_recent(KEEP));
        cycle.set_messages(before.clone()).unwrap();
        let report = cycle.compact(TurnOptions::new()).await.unwrap();
        let (after, is_unchanged) = (cycle.messages().to_vec(), report.is_unchanged());
        let result = std::panic::catch_unwind(|| check(&before, &after, is_unchanged));
        assert!(
            result.is_ok(),
            "the conversation of seed {seed}: {before:#?}\n{:#?}",
            cycle.messages()
        );
        let estimator = HeuristicEstimator::default();
        assert_eq!(
            report.tokens_after,
            estimator.messages(cycle.messages()),
            "seed {seed}: the report is accurate"
        );
        match (report.method, &report.fault) {
            (Some(agcore_chat::CompactionMethod::Summary), _) => summarized += 1,
            (Some(_), None) => pruned += 1,
            (Some(_), Some(_)) => fell_back += 1,
            (None, _) => unchanged += 1,
        }
        // The conversation continues.
        provider.push(ScriptStep::text("Fine."));
        let _ = cycle.turn("And?").await;
        assert!(!cycle.machine().is_open());
        validate_messages(cycle.messages()).unwrap();
    }
    println!("{summarized} summarized, {pruned} pruned, {fell_back} fell back, {unchanged} unchanged");
    assert!(summarized > 30 && pruned > 30 && fell_back > 30 && unchanged > 10);
}
