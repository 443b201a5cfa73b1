//! The events that the encoder sends.

use agcore_agui::{
    Activity, AguiEvent, Dialect, EncodeErrorKind, Encoder, EncoderSettings, Format, Input, Interrupt, Protocol, Run,
    RunEnd, Snapshot, Step, TextMessage, TextStatus, ThreadMessage, UsageFields, check_order,
};
use agcore_chat::{
    AgentEvent, AnsweredBy, CostSource, Extension, Fault, FaultKind, Message, ModelEvent, Money, PersonEvent, Progress,
    Question, QuestionKind, TextEvent, ToolEvent, TurnEvent, UsageSummary,
};
use serde_json::{Value, json};

use crate::support::*;

/// The runs of the snapshots, each with a name.
pub(crate) fn runs() -> Vec<(&'static str, Recorder)> {
    vec![
        ("whole messages", whole_messages()),
        ("cancelled", cancelled_run()),
        ("sub-agents", run_with_sub_agents()),
        ("questions", run_with_questions()),
        ("snapshots", run_with_snapshots()),
        ("resumed", resumed_run()),
    ]
}

fn types(log: &[AguiEvent]) -> Vec<&'static str> {
    log.iter().map(|event| event.event_type().as_str()).collect()
}

#[test]
fn a_run_of_the_sample_application() {
    let run = sample_run();
    insta::assert_snapshot!("sample_standard", run.standard());
    insta::assert_snapshot!(
        "sample_superset",
        run.lines(Format::new(Dialect::Superset, Protocol::V1))
    );
}

#[test]
fn only_allowed_usage_is_sent() {
    let all = EncoderSettings::new().with_usage(UsageFields::all());
    let with = |settings| {
        let mut run = Recorder::with(Encoder::new("t", "r").with_settings(settings));
        run.event("m", ModelEvent::AnsweredBy(AnsweredBy::new("openai", "gpt-5-mini")))
            .event("m", text("Hello"))
            .event("m", complete("Hello"))
            .event("m", used())
            .event("m", turn_ended())
            .push(Run::Finished(RunEnd::new().with_cost(Money::from_micros(1_250, "USD"))));
        run.standard();
        run
    };
    let run = with(EncoderSettings::new());
    let text = run.lines(Format::default());
    for secret in [
        "inputTokens",
        "outputTokens",
        "gpt-5-mini",
        "openai",
        "cost\"",
        "latency",
        "USD",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let expected = json!([{"totalTokens": 150, "reasoningTokens": 12, "cachedInputTokens": 100}]);
    assert_eq!(run.last("RUN_FINISHED")["usage"], expected);

    let run = with(all);
    assert_eq!(
        run.last("RUN_FINISHED")["usage"],
        json!([{
            "provider": "openai", "model": "gpt-5-mini", "inputTokens": 120, "outputTokens": 30, "totalTokens": 150,
            "reasoningTokens": 12, "cachedInputTokens": 100,
        }])
    );
    let end = &run.last("TEXT_MESSAGE_END")["metadata"]["agcore"];
    assert_eq!(
        (&end["inputTokens"], &end["model"]),
        (&json!(120), &json!("gpt-5-mini"))
    );
    assert_eq!(run.last("RUN_FINISHED")["metadata"]["agcore"]["cost"], "0.001250 USD");
}

#[test]
fn unknown_usage_is_not_made_up() {
    let mut run = Recorder::new();
    run.event("m", complete("Hello")).push(Run::finished());
    run.standard();
    let end = &run.last("TEXT_MESSAGE_END")["metadata"]["agcore"];
    assert_eq!(end["usageComplete"], false);
    assert!(end.get("totalTokens").is_none());
    assert!(run.last("RUN_FINISHED").get("usage").is_none());
}

fn whole_messages() -> Recorder {
    let mut run = Recorder::new();
    let usage = UsageSummary::default();
    let mut usage = usage;
    usage.total_tokens = Some(9);
    usage.cost_source = Some(CostSource::CatalogFallback);
    (usage.model_call_records, usage.usage_records) = (2, 1);
    run.push(Step::Started("organization".into()))
        .push(
            TextMessage::new("m1", "Moved.")
                .with_status(TextStatus::PartialSuccess)
                .with_suggested_actions(["Tell Ann"])
                .with_usage(usage),
        )
        .push(
            TextMessage::new("m1", "")
                .with_error("timeout", "the calendar did not answer")
                .in_step("worker"),
        )
        .push(Run::finished());
    run
}

#[test]
fn a_message_that_was_not_streamed_is_sent_as_a_whole() {
    let run = whole_messages();
    insta::assert_snapshot!(run.standard(), @r#"
    {"type":"RUN_STARTED","threadId":"thread_1","runId":"run_1","protocolVersion":"1.0"}
    {"type":"STEP_STARTED","stepName":"organization","metadata":{"agcore":{"threadId":"thread_1","runId":"run_1","stage":"organization"}}}
    {"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Moved."}
    {"type":"TEXT_MESSAGE_END","messageId":"m1","metadata":{"agcore":{"role":"assistant","stage":"organization","status":"partial_success","answer":"Moved.","suggested_actions":["Tell Ann"],"totalTokens":9,"costSource":"catalog_fallback","usageComplete":false}}}
    {"type":"TEXT_MESSAGE_START","messageId":"m1#2","role":"assistant"}
    {"type":"TEXT_MESSAGE_END","messageId":"m1#2","metadata":{"agcore":{"role":"assistant","stage":"worker","status":"failed","answer":"","suggested_actions":[],"error":{"code":"timeout","message":"the calendar did not answer"},"usageComplete":false}}}
    {"type":"STEP_FINISHED","stepName":"organization","metadata":{"agcore":{"threadId":"thread_1","runId":"run_1","stage":"organization"}}}
    {"type":"RUN_FINISHED","threadId":"thread_1","runId":"run_1","metadata":{"agcore":{"usageComplete":true}}}
    "#);
}

#[test]
fn text_that_no_delta_contained_is_sent() {
    let check = |deltas: &[&str], whole: &str, expected: &str| {
        let mut run = Recorder::new();
        for delta in deltas {
            run.event("m", text(delta));
        }
        run.event("m", complete(whole)).push(Run::finished());
        run.standard();
        let events = run.values(Format::default());
        let sent: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(sent, expected);
        assert_eq!(run.last("TEXT_MESSAGE_END")["metadata"]["agcore"]["answer"], expected);
    };
    check(&[], "Hello", "Hello");
    check(&["Hel"], "Hello", "Hello");
    check(&["Hello"], "Hello", "Hello");
    // The answer is what the client has seen, even if a hook replaced the text later.
    check(&["Hello"], "Goodbye", "Hello");
    check(&["", "a", ""], "a", "a");
}

#[test]
fn a_refusal_is_a_failed_message() {
    let mut run = Recorder::new();
    run.event("m", TextEvent::Refusal("I cannot do that.".into()))
        .event("m", complete(""))
        .push(Run::finished());
    run.standard();
    let end = &run.last("TEXT_MESSAGE_END")["metadata"]["agcore"];
    assert_eq!(
        (&end["status"], &end["error"]["code"]),
        (&json!("failed"), &json!("refused"))
    );
    assert_eq!(end["answer"], "I cannot do that.");
}

#[test]
fn a_restarted_stream_starts_another_message() {
    let mut run = Recorder::new();
    let fault = || Fault::new(FaultKind::Connection, "the connection was lost");
    run.event("m", text("Good d"))
        .event("m", ModelEvent::StreamRestarted { fault: fault() })
        .event("m", text("Good day"))
        .event("m", complete("Good day"))
        .push(Run::finished());
    let log = run.standard();
    assert!(log.contains(r#""status":"failed","answer":"Good d""#), "{log}");
    assert!(log.contains(r#""discarded":true"#), "{log}");
    let end = run.last("TEXT_MESSAGE_END");
    assert_eq!(
        (&end["messageId"], &end["metadata"]["agcore"]["answer"]),
        (&json!("m#2"), &json!("Good day"))
    );
}

fn cancelled_run() -> Recorder {
    let mut run = Recorder::new();
    run.push(Step::Started("worker".into()))
        .event("m1", requested("call_1", "ask", r#"{"task":"x"}"#))
        .push(below("call_1", "expert", "m2", text("Half")))
        .push(below("call_1", "expert", "m2", requested("call_1", "weather", "")))
        .event("m3", TextEvent::Reasoning("Hm".into()))
        .push(Run::cancelled());
    run
}

#[test]
fn a_cancelled_run_ends_everything() {
    let run = cancelled_run();
    insta::assert_snapshot!("cancelled_standard", run.standard());
    for format in &ALL_FORMATS[1..] {
        let last = run.values(*format).pop().unwrap();
        assert_eq!(
            (&last["type"], &last["code"]),
            (&json!("RUN_ERROR"), &json!("RUN_CANCELED")),
            "{format:?}"
        );
        assert_eq!(run.log.last().unwrap().type_name(*format), "RUN_ERROR");
        assert_eq!(last["metadata"]["agcore"]["runId"], "run_1");
    }
}

#[test]
fn a_failed_run_ends_everything() {
    let mut run = Recorder::new();
    run.event("m1", requested("call_1", "weather", ""))
        .event("m2", text("It is"))
        .event(
            "m2",
            TurnEvent::Error(Fault::new(FaultKind::Quota, "the credit is used up")),
        )
        .push(Run::failed("the credit is used up", "quota"));
    let log = run.standard();
    let end = run.last("TEXT_MESSAGE_END")["metadata"]["agcore"].clone();
    assert_eq!(
        (&end["status"], &end["error"]["code"]),
        (&json!("failed"), &json!("quota"))
    );
    let result = run.last("TOOL_CALL_RESULT");
    assert_eq!(
        (&result["content"], &result["toolCallId"]),
        (&json!("the credit is used up"), &json!("call_1"))
    );
    let last = run.last("RUN_ERROR");
    assert_eq!(
        (&last["message"], &last["code"]),
        (&json!("the credit is used up"), &json!("quota"))
    );
    assert!(log.contains("agcore.turn_failed"), "{log}");
}

#[test]
fn steps_are_numbered_when_they_are_entered_again() {
    let mut run = Recorder::new();
    for name in ["worker", "worker_2", "worker"] {
        run.push(Step::Started(name.into())).push(Step::Finished(name.into()));
    }
    // Two branches in the same node.
    run.push(Step::Started("worker".into()))
        .push(Step::Started("worker".into()))
        .event("m", text("a"))
        .push(Step::Finished("worker".into()))
        .event("m", text("b"))
        .push(Step::Finished("worker".into()))
        .push(Run::finished());
    run.standard();
    let events = run.values(Format::default());
    let names: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "STEP_STARTED")
        .map(|event| &event["stepName"])
        .collect();
    assert_eq!(names, ["worker", "worker_2", "worker_3", "worker_4", "worker_5"]);
    let end = run.last("TEXT_MESSAGE_END");
    assert_eq!(end["metadata"]["agcore"]["stage"], "worker");
    assert_eq!(end["metadata"]["agcore"]["answer"], "ab");
}

fn run_with_sub_agents() -> Recorder {
    let mut run = Recorder::new();
    run.event("m1", requested("call_1", "ask_expert", r#"{"task":"x"}"#))
        .push(below("call_1", "expert", "m2", requested("call_1", "ask_deep", "{}")))
        // The deepest agent: its parent is the call of the expert, which has the same id.
        .push(below("call_2", "lonely", "m9", complete("No call asked me.")))
        .push(below("call_1", "expert", "m3", complete("Half an answer")))
        .push(below("call_1", "expert", "m3", used()))
        .push(below("call_1", "expert", "m3", ended("call_1", "ask_deep", "{}", "done")))
        .event("m1", ended("call_1", "ask_expert", r#"{"task":"x"}"#, "an answer"))
        .event("m4", complete("An answer"))
        .push(Run::finished());
    run
}

#[test]
fn sub_agents_have_runs_of_their_own() {
    let run = run_with_sub_agents();
    insta::assert_snapshot!("subagents", run.standard());
    let old = run.lines(Format::new(Dialect::Standard, Protocol::V0));
    assert!(!old.contains(r#""type":"SUBAGENT_"#), "{old}");
    assert!(old.contains(r#""name":"agcore.subagent_started""#), "{old}");
}

#[test]
fn sub_agents_of_sub_agents_end_first() {
    let mut run = Recorder::new();
    run.event("m1", requested("a", "ask", ""))
        .push(below("a", "middle", "m2", requested("b", "ask", "")))
        .push(below("b", "deep", "m3", text("deep text")))
        .event("m1", ended("a", "ask", "", "done"))
        .push(Run::finished());
    run.standard();
    let ends: Vec<Value> = run
        .values(Format::default())
        .into_iter()
        .filter(|event| event["type"] == "SUBAGENT_FINISHED")
        .map(|event| event["subagentRunId"].clone())
        .collect();
    assert_eq!(ends, ["a/b", "a"]);
    let deep = run
        .values(Format::default())
        .into_iter()
        .find(|event| event["name"] == "deep")
        .unwrap();
    assert_eq!(
        (&deep["parentSubagentRunId"], &deep["parentToolCallId"]),
        (&json!("a"), &json!("a/b"))
    );
}

fn run_with_questions() -> Recorder {
    let question = Question::new("call_1", 0, QuestionKind::Approval, "May mail.send run?")
        .with_tool("mail.send")
        .with_arguments(json!({"to": "ann@example.com"}))
        .with_reason("the rule `ask mail.*`");
    let input = Question::new("call_2", 0, QuestionKind::Input, "Which Ann?").with_schema(json!({"type": "string"}));
    let mut run = Recorder::new();
    run.event("m1", requested("call_1", "mail.send", r#"{"to":"ann@example.com"}"#))
        .push(below("call_1", "expert", "m2", text("wait")))
        .event("m1", PersonEvent::Suspended(vec![question.clone(), input.clone()]))
        .push(vec![
            Interrupt::from(&question),
            Interrupt::from(&input).with_expiry("2026-12-01T00:00:00Z"),
        ]);
    run
}

#[test]
fn questions_become_interrupts() {
    let run = run_with_questions();
    insta::assert_snapshot!("interrupts", run.standard());
    assert!(run.encoder.has_ended());
}

#[test]
fn the_run_that_answers_sends_the_result() {
    let mut run = Recorder::with(Encoder::new("thread_1", "run_2"));
    run.event(
        "m1",
        ended("call_1", "mail.send", r#"{"to":"ann@example.com"}"#, r#"{"id":"x"}"#),
    )
    .push(Run::finished());
    run.standard();
    let result = run.last("TOOL_CALL_RESULT");
    assert_eq!(result["toolCallId"], "call_1");
    assert_eq!(result["metadata"]["agcore"]["tool_call_id"], "call_1");
    assert_eq!(
        result["metadata"]["agcore"]["tool_call_args"],
        json!({"to": "ann@example.com"})
    );
}

#[test]
fn an_id_that_a_model_uses_twice_is_made_unique() {
    let mut run = Recorder::new();
    for message in ["m1", "m2"] {
        run.event(message, requested("call_0", "weather", "{}"))
            // Announced once, whatever the agent repeats.
            .event(message, requested("call_0", "weather", "{}"))
            .event(message, ended("call_0", "weather", "{}", "sunny"));
    }
    run.push(Run::Finished(RunEnd::new().with_pending_tool_calls(["call_0".into()])));
    run.standard();
    let result = run.last("TOOL_CALL_RESULT");
    assert_eq!(
        (&result["toolCallId"], &result["messageId"]),
        (&json!("call_0#2"), &json!("call_0#2:result"))
    );
    assert_eq!(result["metadata"]["agcore"]["tool_call_id"], "call_0#2");
    assert_eq!(
        run.last("RUN_FINISHED")["outcome"]["pendingToolCallIds"],
        json!(["call_0#2"])
    );
    let old = run.values(Format::new(Dialect::Standard, Protocol::V0)).pop().unwrap();
    assert_eq!(old["outcome"], json!({"type": "success"}));
}

#[test]
fn snapshots_activities_and_custom_events() {
    let run = run_with_snapshots();
    let big = "x".repeat(100);
    insta::assert_snapshot!("snapshots", run.standard().replace(&big, "x…"));
}

fn run_with_snapshots() -> Recorder {
    let mut run = Recorder::new();
    let big = "x".repeat(100);
    let content = |done: u32| json!({"title": big, "done": done}).as_object().unwrap().clone();
    run.push(Snapshot::State(json!(null).into()))
        .push(Snapshot::StateChange(json!({"todos": [], "note": big}).into()))
        .push(Snapshot::StateChange(json!({"todos": [{"id": 1}], "note": big}).into()))
        .push(Snapshot::Messages(vec![
            ThreadMessage::new("u1", Message::user("Good day")),
            ThreadMessage::reasoning("r1", "Hm"),
        ]))
        .push(Activity::new("a1", "upload", content(1)))
        .push(Activity::new("a1", "upload", content(2)))
        .push(Input::Custom {
            name: "my.event".into(),
            value: Value::Null,
        })
        .event(
            "m1",
            AgentEvent::PlanStep {
                plan: "p".into(),
                index: 0,
                status: "running".into(),
                description: "Look it up".into(),
            },
        )
        .event("m1", Extension::new("flow.node", json!({"node": "review"})))
        .event(
            "m1",
            ToolEvent::Progress {
                call_id: "call_1".into(),
                progress: Box::new(Progress::amount(1.0, Some(2.0))),
            },
        )
        .push(Run::Finished(RunEnd::new().with_result(json!({"ok": true}))));
    run
}

#[test]
fn settings_leave_events_out() {
    let settings = EncoderSettings::new().with_reasoning(false).with_details(false);
    let mut run = Recorder::with(Encoder::new("t", "r").with_settings(settings));
    run.event("m", TextEvent::Reasoning("Hm".into()))
        .event("m", Extension::new("flow.node", json!({})))
        .event("m", TextEvent::PartialObject(json!({})))
        .push(Run::finished());
    run.standard();
    assert_eq!(types(&run.log), ["RUN_STARTED", "RUN_FINISHED"]);
}

#[test]
fn inputs_out_of_order_are_refused() {
    let kind = |encoder: &mut Encoder, input: Input| encoder.push(input).unwrap_err().kind();
    let mut encoder = Encoder::new("t", "r");
    assert_eq!(kind(&mut encoder, Run::finished().into()), EncodeErrorKind::NotStarted);
    encoder.push(Run::started().into()).unwrap();
    assert_eq!(
        kind(&mut encoder, Run::started().into()),
        EncodeErrorKind::AlreadyStarted
    );
    assert_eq!(
        kind(&mut encoder, Step::Finished("x".into()).into()),
        EncodeErrorKind::UnknownStep
    );
    assert_eq!(
        kind(&mut encoder, Vec::<Interrupt>::new().into()),
        EncodeErrorKind::Interrupts
    );
    let twice = vec![Interrupt::new("i", "input"), Interrupt::new("i", "input")];
    let error = encoder.push(twice.into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "two interrupts have the id i; give each an id of its own"
    );
    encoder.push(Run::finished().into()).unwrap();
    assert_eq!(
        kind(&mut encoder, event("m", text("late")).into()),
        EncodeErrorKind::Ended
    );
}

fn resumed_run() -> Recorder {
    let mut run = Recorder::new();
    run.push(Step::Started("worker".into()))
        .event("m1", requested("call_1", "ask", "{}"))
        .push(below("call_1", "expert", "m2", TextEvent::Reasoning("Hm".into())))
        .event("m3", text("Half"))
        .event("m3", text(" a text"))
        .push(Snapshot::State(json!({"note": "x".repeat(100), "n": 1}).into()));
    // The store keeps the log as JSON.
    let stored: Vec<String> = run
        .log
        .iter()
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let read: Vec<AguiEvent> = stored
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    assert_eq!(read, run.log);

    let mut encoder = Encoder::new("thread_1", "run_1");
    let mut log = read;
    log.extend(encoder.resume(&log).unwrap());
    let mut run = Recorder { encoder, log };
    run.push(Step::Started("worker".into()))
        .event("m1", requested("call_1", "ask", "{}"))
        .push(below("call_1", "expert", "m2", text("A whole answer")))
        .event("m1", ended("call_1", "ask", "{}", "done"))
        .event("m3", text("Half a text, and more"))
        .push(Snapshot::StateChange(json!({"note": "x".repeat(100), "n": 2}).into()))
        .push(Run::finished());
    run
}

#[test]
fn another_process_continues_the_log() {
    let run = resumed_run();
    insta::assert_snapshot!("resumed", run.standard().replace(&"x".repeat(100), "x…"));
}

#[test]
fn sub_agents_and_their_calls_continue_in_another_process() {
    let mut run = Recorder::new();
    run.event("m1", requested("call", "ask", ""))
        .push(below("call", "middle", "m2", requested("b", "ask", "")))
        .push(below("b", "deep", "m3", requested("call", "look", "")));
    let mut encoder = Encoder::new("thread_1", "run_1");
    assert_eq!(encoder.resume(&run.log).unwrap(), []);
    let mut run = Recorder { encoder, log: run.log };
    run.push(below("b", "deep", "m3", requested("call", "look", "")))
        .push(below("b", "deep", "m3", ended("call", "look", "", "found")))
        .push(below("call", "middle", "m2", ended("b", "ask", "", "done")))
        .event("m1", ended("call", "ask", "", "done"))
        .push(Run::finished());
    run.standard();
    let count = |kind: &str| {
        let values = run.values(Format::default());
        values.iter().filter(|event| event["type"] == kind).count()
    };
    let kinds = [
        "SUBAGENT_STARTED",
        "SUBAGENT_FINISHED",
        "TOOL_CALL_START",
        "TOOL_CALL_RESULT",
    ];
    assert_eq!(kinds.map(count), [2, 2, 3, 3]);
}

#[test]
fn only_the_log_of_an_unfinished_run_is_continued() {
    let log = sample_run().log;
    let resume = |thread: &str, run: &str, log: &[AguiEvent]| {
        Encoder::new(thread, run).resume(log).map_err(|error| error.kind())
    };
    let refused = Err(EncodeErrorKind::Log);
    assert_eq!(resume("thread_1", "run_1", &[]), refused);
    assert_eq!(resume("thread_1", "run_1", &log), refused);
    assert_eq!(resume("thread_1", "run_2", &log[..1]), refused);
    assert_eq!(resume("thread_1", "run_1", &log[1..2]), refused);
    let twice = [log[0].clone(), log[0].clone()];
    assert_eq!(resume("thread_1", "run_1", &twice), refused);
    assert_eq!(resume("thread_1", "run_1", &log[..1]), Ok(Vec::new()));
}

#[test]
fn a_log_can_be_continued_at_every_event() {
    let whole = sample_run();
    for cut in 1..whole.log.len() {
        let mut encoder = Encoder::new("thread_1", "run_1");
        let mut log = whole.log[..cut].to_vec();
        log.extend(encoder.resume(&log).unwrap());
        let mut rest = Recorder { encoder, log };
        rest.event("m3", text("again"))
            .event("m2", requested("call_1", "calendar.create", "{}"))
            .push(Run::finished());
        for format in ALL_FORMATS {
            check_order(rest.values(format)).unwrap_or_else(|violation| panic!("cut at {cut}: {violation}"));
        }
    }
}

#[test]
fn newer_stored_events_are_refused() {
    let error = serde_json::from_str::<AguiEvent>(r#"{"version": 2, "type": "CUSTOM"}"#).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the stored event has version 2, but this program reads versions up to 1"),
        "{error}"
    );
    assert!(serde_json::from_str::<AguiEvent>(r#"{"version": 1, "type": "NEW_TYPE"}"#).is_err());
}

/// Checks that the superset adds the members of agcore to a standard event, and nothing else.
#[track_caller]
fn check_superset(standard: &Value, superset: &Value) {
    let (standard, superset) = (standard.as_object().unwrap(), superset.as_object().unwrap());
    let own = standard
        .get("metadata")
        .and_then(|metadata| metadata["agcore"].as_object());
    for (name, value) in standard.iter().chain(own.into_iter().flatten()) {
        assert_eq!(superset.get(name), Some(value), "{name} in {superset:?}");
    }
    let expected = standard.len() + own.map_or(0, serde_json::Map::len);
    assert_eq!(superset.len(), expected, "{superset:?}");
    let spelling = |name: &str| name.replace('_', "").to_lowercase();
    let mut spellings = std::collections::HashMap::new();
    for (name, value) in superset {
        if let Some(other) = spellings.insert(spelling(name), (name, value)) {
            assert_eq!((other.0.as_str(), name.as_str()), ("toolCallId", "tool_call_id"));
            assert_eq!(other.1, value);
        }
    }
}

#[test]
fn the_superset_contains_the_standard() {
    let mut logs: Vec<Vec<AguiEvent>> = runs().into_iter().map(|(_, run)| run.log).collect();
    logs.push(sample_run().log);
    for event in logs.iter().flatten() {
        let superset = event.to_value(Format::new(Dialect::Superset, Protocol::V1));
        let standard = event.to_value(Format::default());
        if superset["type"] == standard["type"] {
            check_superset(&standard, &superset);
        } else {
            assert_eq!(
                (&standard["outcome"]["type"], &superset["type"]),
                (&json!("cancelled"), &json!("RUN_ERROR"))
            );
        }
    }
}
