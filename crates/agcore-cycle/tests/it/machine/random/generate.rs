//! Generators of random replies, results, questions and answers.

use std::sync::Arc;

use agcore_chat::{
    Answer, AssistantMessage, Block, Content, ContentPart, Fault, FaultKind, FinishReason, Message, QuestionKind,
    Reasoning, ToolCall, ToolResult, Usage, UsageTracker, VendorData,
};
use agcore_cycle::{
    OutputMode,
    machine::{Begin, Cause, Expectation, Limits, Reply, RoundLimit},
};
use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Returns one of these items.
pub(super) fn one<T: Clone>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.usize(..items.len())].clone()
}

/// Returns `true` with this probability.
pub(super) fn percent(rng: &mut Rng, percent: u8) -> bool {
    rng.u8(..100) < percent
}

pub(super) fn limits(rng: &mut Rng) -> Limits {
    Limits::new()
        .with_max_tool_turns(one(rng, &[0, 1, 2, 2, 3, 10]))
        .with_round_limit(one(rng, &[RoundLimit::Fail, RoundLimit::WrapUp]))
        .with_max_tool_result_bytes(one(rng, &[0, 20, 60, 80, 65_536]))
}

pub(super) fn begin(rng: &mut Rng, fresh: bool) -> Begin {
    let mut messages = Vec::new();
    let replaces = percent(rng, 15);
    if (fresh || replaces) && rng.bool() {
        messages.push(Message::system("Be brief."));
    }
    messages.push(Message::user("How is the weather? 天气"));
    if percent(rng, 10) {
        // A history from elsewhere, with ids that the model will use again.
        messages.push(Message::Assistant(
            AssistantMessage::new("").with_call(ToolCall::function("call_0", "look", "{}")),
        ));
        messages.push(Message::tool("call_0", "sun"));
        messages.push(Message::assistant("Sunny."));
        messages.push(Message::user("And tomorrow?"));
    }
    if replaces {
        Begin::replacing(messages)
    } else {
        Begin::new(messages)
    }
}

pub(super) fn reply(rng: &mut Rng) -> Reply {
    let mut blocks = Vec::new();
    if percent(rng, 20) {
        let signature = rng
            .bool()
            .then(|| VendorData::new("vendor", json!({"sig": "c2ln", "at": 0.1})));
        blocks.push(Block::Reasoning(Reasoning {
            text: one(rng, &["Hm.", "", "想一想"]).into(),
            vendor: signature,
        }));
    }
    if rng.bool() {
        blocks.push(Block::text("Let me see."));
    }
    let calls = one(rng, &[0, 0, 1, 1, 2, 2, 3, 4]);
    for index in 0..calls {
        blocks.push(Block::from(call(rng, index)));
    }
    if percent(rng, 10) {
        blocks.push(Block::text("One moment."));
    }
    let finish = [
        None,
        Some("stop"),
        Some("tool_calls"),
        Some("tool_calls"),
        Some("odd"),
        Some("length"),
        Some("content_filter"),
        Some("pause_turn"),
    ];
    Reply::new(AssistantMessage::from_blocks(blocks))
        .with_finish(one(rng, &finish).map(FinishReason::from))
        .with_usage(usage(rng))
        .with_lost(lost(rng))
}

/// Returns what a typed turn expects, or `None` for any other turn.
pub(super) fn expectation(rng: &mut Rng) -> Option<Expectation> {
    percent(rng, 40).then(|| Expectation::new(mode(rng), "final_answer", one(rng, &[0, 1, 2])))
}

pub(super) fn mode(rng: &mut Rng) -> OutputMode {
    one(
        rng,
        &[
            OutputMode::Native,
            OutputMode::Tool,
            OutputMode::Tool,
            OutputMode::Prompt,
        ],
    )
}

/// Turns some calls of a reply into answers.
pub(super) fn add_answers(rng: &mut Rng, tool: &str, reply: &mut Reply) {
    for block in &mut Arc::make_mut(&mut reply.message).blocks {
        if let Block::Call(call) = block
            && percent(rng, 40)
        {
            tool.clone_into(&mut Arc::make_mut(call).name);
        }
    }
}

/// Returns a call, often with an id that was used before or in the same reply, and sometimes with invalid arguments.
fn call(rng: &mut Rng, index: usize) -> ToolCall {
    let id = match rng.u8(..10) {
        0 => String::new(),
        1 => "call_0".to_owned(),
        2..6 => format!("call_{index}"),
        _ => format!("toolu_{:x}", rng.u32(..)),
    };
    match rng.u8(..10) {
        0 => ToolCall::function(id, "look", one(rng, &["{\"city\": ", "[1]", "\"x\"", "{} {}"])),
        1 => ToolCall::custom(id, "shell", "ls {"),
        _ => ToolCall::function(id, "look", one(rng, &["{}", "", "{\"city\": \"Paris\"}", "null"])),
    }
}

fn usage(rng: &mut Rng) -> Option<Usage> {
    rng.bool().then(|| {
        let mut usage = Usage::new(rng.u64(..100), rng.u64(..100));
        usage.prompt_tokens_details.cached_tokens = rng.bool().then(|| rng.u64(..10));
        usage
    })
}

pub(super) fn lost(rng: &mut Rng) -> UsageTracker {
    let mut lost = UsageTracker::default();
    if percent(rng, 10) {
        lost.record(usage(rng).as_ref());
    }
    lost
}

pub(super) fn fault(rng: &mut Rng) -> Fault {
    let kind = one(
        rng,
        &[
            FaultKind::Server,
            FaultKind::ContextLength,
            FaultKind::Connection,
            FaultKind::Tool,
        ],
    );
    Fault::new(kind, "it broke; try again later")
        .with_retryable(rng.bool())
        .with_status(rng.bool().then_some(503))
}

pub(super) fn cause(rng: &mut Rng) -> Cause {
    one(
        rng,
        &[
            Cause::cancelled(),
            Cause::hook_blocked("no"),
            Cause::new(FaultKind::Limit, "the budget is exhausted"),
        ],
    )
}

/// Returns a result: successful or not, sometimes in parts, sometimes too long for the smaller limits.
pub(super) fn result(rng: &mut Rng) -> ToolResult {
    let text = one(rng, &["", "sun", "晴天", "{\"sky\": \"blue\"}"]).repeat(one(rng, &[1, 1, 1, 40]));
    let content = match rng.u8(..4) {
        0 => Content::Parts(vec![
            text.into(),
            ContentPart::image_url("data:image/png;base64,AAAA"),
            "end".into(),
        ]),
        _ => Content::Text(text),
    };
    let result = if percent(rng, 20) {
        ToolResult::error(content)
    } else {
        ToolResult::new(content)
    };
    if percent(rng, 20) {
        result.with_display(json!({"chart": [1, 0.5, null]}))
    } else {
        result
    }
}

pub(super) fn question_kind(rng: &mut Rng) -> QuestionKind {
    one(rng, &[QuestionKind::Approval, QuestionKind::Input])
}

pub(super) fn answer(rng: &mut Rng) -> Answer {
    match rng.u8(..6) {
        0 | 1 => Answer::approve(),
        2 => {
            let arguments = Map::from_iter([("city".to_owned(), Value::from("Rome"))]);
            Answer::edited(arguments).with_scope(agcore_chat::ApprovalScope::Session)
        }
        3 | 4 => Answer::deny("rather not"),
        _ => Answer::Value(one(
            rng,
            &[json!("text"), json!(null), json!({"n": 0.25, "list": [1, "二"]})],
        )),
    }
}
