//! Byte-stable requests: each request starts with the bytes of the previous one, so that vendors' prompt caches hit.

use std::sync::Arc;

use agcore_chat::{ChatRequest, Message, Tool, ToolDefinition, ToolExecutor, ToolOutcome, ToolReports, ToolWork};
use agcore_cycle::{
    LlmCycle, TurnOptions,
    machine::{Begin, Limits},
};
use agcore_llm::{
    LlmError, LlmErrorKind, dialect,
    layer::retry::{Retry, RetryPolicy},
    wire::{Chat, EncodeOptions, Wire, openai_chat::OpenAiChat},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use serde_json::json;

use crate::support::{FnExecutor, call};

const ROUNDS: usize = 20;

/// Tools whose schemas have members in a custom order.
#[derive(Debug)]
struct Tools(Arc<FnExecutor>);

impl std::fmt::Debug for FnExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FnExecutor")
    }
}

impl ToolExecutor for Tools {
    fn definitions(&self) -> Arc<[Tool]> {
        // Created anew each time, because only the content matters.
        let schema = json!({
            "type": "object",
            "properties": {"zebra": {"type": "string"}, "ant": {"type": "integer"}, "mouse": {"enum": ["b", "a"]}},
            "required": ["zebra", "ant"],
        });
        ["write", "read", "look"]
            .map(|name| Tool::from(ToolDefinition::new(name, "A tool.", schema.clone())))
            .into()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        self.0.execute(work)
    }
}

/// Runs a turn of 20 rounds with parallel tools, where every second call fails once. Returns the requests of all attempts.
async fn requests() -> Vec<Arc<ChatRequest>> {
    let mut steps = Vec::new();
    for round in 0..ROUNDS {
        if round % 2 == 1 {
            steps.push(ScriptStep::error(LlmError::new(LlmErrorKind::Overloaded, "busy")));
        }
        let calls = (0..1 + round % 3).map(|at| {
            let arguments = format!("{{\"zebra\": \"{round}\",  \"ant\":{at}}}");
            call(&format!("c{round}-{at}"), ["read", "look"][at % 2], &arguments)
        });
        steps.push(ScriptStep::calls(calls));
    }
    steps.push(ScriptStep::text("Done."));
    steps.push(ScriptStep::text("Indeed."));
    let provider = ScriptedProvider::new(steps);
    let clock = Arc::new(ManualClock::jumping());
    let retry = Retry::new(
        provider.clone(),
        RetryPolicy::default(),
        Arc::clone(&clock) as _,
        Arc::new(|| 0.5),
    );
    let mut cycle = LlmCycle::new(Arc::new(retry), clock);
    cycle.settings_mut().limits = Limits::new().with_max_tool_turns(100);
    cycle.settings_mut().prelude = vec![Arc::new(Message::system("You are careful."))];
    cycle.settings_mut().request = ChatRequest::default().with_model("m").with_temperature(0.5);
    let run = FnExecutor::new(&[], |work| match work.call.name.as_str() {
        "read" => ToolOutcome::done(format!("page {}", work.call.raw_input())),
        _ => ToolOutcome::error("not found"),
    });
    let tools: Arc<dyn ToolExecutor> = Arc::new(Tools(run));
    for input in ["Go", "Sure?"] {
        let options = TurnOptions::new().with_tools(Arc::clone(&tools));
        cycle
            .turn(Begin::new([Message::user(input)]))
            .with_options(options)
            .await
            .unwrap();
    }
    provider.assert_done();
    provider.requests()
}

/// Splits a body after its last message.
fn parts(body: &[u8]) -> (String, String) {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let (messages, rest) = text.split_once(r#"],"tools":"#).expect("tools follow the messages");
    (messages.to_owned(), rest.to_owned())
}

/// Returns the first difference, unless `after` starts with `before`.
fn difference(before: &str, after: &str) -> Option<String> {
    let at = before.bytes().zip(after.bytes()).position(|(a, b)| a != b);
    let at = at.or_else(|| (after.len() < before.len()).then_some(after.len()))?;
    let around = |text: &str| {
        let from = agcore_chat::text::floor_char_boundary(text, at.saturating_sub(30));
        text[from..].chars().take(80).collect::<String>()
    };
    Some(format!("at byte {at}:\n- {}\n+ {}", around(before), around(after)))
}

#[tokio::test]
async fn each_request_starts_with_the_bytes_of_the_previous_one() {
    let requests = requests().await;
    assert_eq!(requests.len(), ROUNDS + ROUNDS / 2 + 2);
    for dialect in [
        dialect::openai(),
        dialect::qwen(),
        dialect::mistral(),
        dialect::openrouter(),
        dialect::vllm(),
        dialect::deepseek(),
    ] {
        let name = dialect.name.clone();
        let wire = OpenAiChat::new(dialect);
        let bodies = requests.iter().map(|request| {
            let body = Wire::<Chat>::encode(&wire, request, &EncodeOptions::new("m"))
                .unwrap()
                .body;
            parts(&body)
        });
        let bodies: Vec<_> = bodies.collect();
        let mut differences = Vec::new();
        for pair in bodies.windows(2) {
            differences.extend(difference(&pair[0].0, &pair[1].0));
            differences.extend(difference(&pair[0].1, &pair[1].1));
        }
        println!("{name}: {} requests, {} differences", bodies.len(), differences.len());
        assert!(differences.is_empty(), "{name}: {}", differences.join("\n"));
        assert!(bodies.last().unwrap().0.len() > 4_000);
    }
}

#[test]
fn finds_a_difference() {
    assert_eq!(difference("abc", "abcd"), None);
    assert!(difference("abcd", "abc").unwrap().starts_with("at byte 3"));
    assert!(difference("abXd", "abYd").unwrap().starts_with("at byte 2"));
}
