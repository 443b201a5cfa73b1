//! The rules of the order, and random runs that must keep them.

use std::sync::Arc;

use agcore_agui::{AguiEvent, Encoder, Format, Input, Interrupt, Run, Snapshot, Step, TextMessage, check_order};
use agcore_chat::{AssistantMessage, Fault, FaultKind, ModelEvent, StreamEvent, TextEvent, TurnEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::*;

/// Parses `TYPE key=value …`, with the ids of the run added.
fn log(lines: &str) -> Vec<Value> {
    let event = |line: &str| {
        let mut words = line.split_whitespace();
        let mut event = json!({"type": words.next().unwrap()});
        for word in words {
            let (name, value) = word.split_once('=').unwrap();
            event[name] = if value == "null" { Value::Null } else { value.into() };
        }
        if line.starts_with("RUN_STARTED") || line.starts_with("RUN_FINISHED") {
            event["threadId"] = "t".into();
            if event.get("runId").is_none() {
                event["runId"] = "r".into();
            }
        }
        event
    };
    lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(event)
        .collect()
}

#[track_caller]
fn check(lines: &str, expected: &str) {
    let found = check_order(log(lines))
        .err()
        .map_or_else(String::new, |violation| violation.to_string());
    assert_eq!(found, expected, "{lines}");
}

/// Checks events inside of a run.
#[track_caller]
fn check_in_run(lines: &str, expected: &str) {
    check(&format!("RUN_STARTED\n{lines}\nRUN_FINISHED"), expected);
}

#[test]
fn runs_start_and_end() {
    check("", "");
    check("RUN_STARTED\nRUN_FINISHED\nRUN_STARTED runId=r\nRUN_FINISHED", "");
    check(
        "RUN_ERROR message=x\nRUN_STARTED\nRUN_FINISHED\nRUN_ERROR message=x",
        "",
    );
    check("RUN_STARTED\nTEXT_MESSAGE_START messageId=a\nRUN_ERROR message=x", "");
    check(
        "CUSTOM name=x",
        "event 0 (CUSTOM): the first event must be RUN_STARTED or RUN_ERROR",
    );
    check(
        "RUN_STARTED\nRUN_STARTED",
        "event 1 (RUN_STARTED): a run has started already",
    );
    check("RUN_STARTED", "event 1 (end of the log): the run has no terminal event");
    check(
        "RUN_STARTED\nRUN_FINISHED\nCUSTOM name=x",
        "event 2 (CUSTOM): the run has ended",
    );
    check(
        "RUN_STARTED\nRUN_FINISHED\nRUN_FINISHED",
        "event 2 (RUN_FINISHED): the run has ended",
    );
    check(
        "RUN_ERROR message=x\nRUN_ERROR message=x",
        "event 1 (RUN_ERROR): the run has ended",
    );
    check(
        "RUN_STARTED\nRUN_FINISHED runId=other",
        "event 1 (RUN_FINISHED): the ids are not those of the run",
    );
}

#[test]
fn what_starts_must_end() {
    for (start, what) in [
        ("TEXT_MESSAGE_START messageId=a", "the text message a is open"),
        ("TOOL_CALL_START toolCallId=a", "the tool call a is open"),
        ("REASONING_START messageId=a", "the reasoning a is open"),
        ("REASONING_MESSAGE_START messageId=a", "the reasoning message a is open"),
        ("STEP_STARTED stepName=a", "the step a is open"),
        ("SUBAGENT_STARTED subagentRunId=a name=x", "the sub-agent a is open"),
    ] {
        check_in_run(start, &format!("event 2 (RUN_FINISHED): {what}"));
        let kind = start.split(' ').next().unwrap();
        check_in_run(
            &format!("{start}\n{start}"),
            &format!("event 2 ({kind}): {}", twice(kind, what)),
        );
        let end = start.replace("START ", "END ").replace("STARTED ", "FINISHED ");
        check_in_run(&format!("{start}\n{end}"), "");
        let kind = end.split(' ').next().unwrap();
        check_in_run(
            &end,
            &format!("event 1 ({kind}): {}", what.replace("is open", "is not open")),
        );
    }
}

fn twice(kind: &str, open: &str) -> String {
    match kind {
        "TEXT_MESSAGE_START" => "the id a was used for another text message".to_owned(),
        "TOOL_CALL_START" => "the id a was used for another tool call".to_owned(),
        _ => open.to_owned(),
    }
}

#[test]
fn parts_belong_to_something_open() {
    check_in_run(
        "TEXT_MESSAGE_CONTENT messageId=a delta=x",
        "event 1 (TEXT_MESSAGE_CONTENT): the text message a is not open",
    );
    check_in_run(
        "TOOL_CALL_ARGS toolCallId=a delta=x",
        "event 1 (TOOL_CALL_ARGS): the tool call a is not open",
    );
    check_in_run(
        "TOOL_CALL_START toolCallId=a\nTOOL_CALL_RESULT toolCallId=a messageId=m",
        "event 2 (TOOL_CALL_RESULT): the tool call a is open",
    );
    check_in_run("TOOL_CALL_RESULT toolCallId=of-an-earlier-run messageId=m", "");
    check_in_run(
        "TOOL_CALL_RESULT toolCallId=a messageId=m\nTOOL_CALL_RESULT toolCallId=a messageId=n",
        "event 2 (TOOL_CALL_RESULT): the tool call a has a result",
    );
    check_in_run(
        "TOOL_CALL_RESULT toolCallId=a messageId=m\nTOOL_CALL_RESULT toolCallId=b messageId=m",
        "event 2 (TOOL_CALL_RESULT): the id m was used for another message",
    );
    check_in_run(
        "TEXT_MESSAGE_END",
        "event 1 (TEXT_MESSAGE_END): the member messageId must be a text",
    );
    check_in_run(
        "CUSTOM metadata=null",
        "event 1 (CUSTOM): the member metadata is null; leave it out",
    );
    check_in_run("CUSTOM value=null", "");
}

#[test]
fn what_belongs_to_a_sub_agent_stays_there() {
    let sub = "SUBAGENT_STARTED subagentRunId=s name=x";
    check_in_run(
        &format!("{sub}\nTEXT_MESSAGE_START messageId=a\nTEXT_MESSAGE_CONTENT messageId=a delta=x subagentRunId=s"),
        "event 3 (TEXT_MESSAGE_CONTENT): the text message a belongs to another agent",
    );
    check_in_run(
        &format!("{sub}\nSUBAGENT_FINISHED subagentRunId=s\nSTEP_STARTED stepName=a subagentRunId=s"),
        "event 3 (STEP_STARTED): the sub-agent s has ended",
    );
    check_in_run(
        &format!(
            "{sub}\nTEXT_MESSAGE_START messageId=a\nTEXT_MESSAGE_END messageId=a\nTOOL_CALL_START toolCallId=c parentMessageId=a subagentRunId=s"
        ),
        "event 4 (TOOL_CALL_START): the message a belongs to another agent",
    );
    check_in_run(
        "SUBAGENT_STARTED subagentRunId=s name=x parentSubagentRunId=p",
        "event 1 (SUBAGENT_STARTED): the sub-agent p above was not started",
    );
    check_in_run(
        &format!(
            "{sub}\nSTEP_STARTED stepName=a subagentRunId=s\nSTEP_STARTED stepName=a\nSTEP_FINISHED stepName=a\nSTEP_FINISHED stepName=a subagentRunId=s\nSUBAGENT_ERROR subagentRunId=s message=x"
        ),
        "",
    );
}

/// One input out of few names, so that ids collide.
pub(crate) fn any_input() -> impl Strategy<Value = Input> {
    let name = || prop::sample::select(vec!["a", "b", "c"]);
    let kind = prop_oneof![
        3 => "[a-z]{0,3}".prop_map(|delta| TextEvent::Text(delta.as_str().into()).into()),
        2 => "[a-z]{0,3}".prop_map(|delta| TextEvent::Reasoning(delta.as_str().into()).into()),
        1 => Just(TextEvent::Refusal("no".into()).into()),
        2 => "[a-z]{0,3}".prop_map(|text| TextEvent::MessageComplete(Arc::new(AssistantMessage::new(text))).into()),
        1 => Just(used().into()),
        1 => Just(ModelEvent::StreamRestarted { fault: Fault::new(FaultKind::Timeout, "late") }.into()),
        3 => name().prop_map(|id| requested(id, "tool", "{}").into()),
        3 => name().prop_map(|id| ended(id, "tool", "{}", "done").into()),
        1 => name().prop_map(|id| failed(id, "tool", "{}", "not done").into()),
        1 => Just(turn_ended().into()),
        1 => Just(TurnEvent::Error(Fault::new(FaultKind::Server, "down")).into()),
    ];
    let event = (
        kind,
        name(),
        name(),
        prop::option::of(name()),
        0..2_u32,
        prop::option::of(name()),
        any::<bool>(),
    );
    let event = event.prop_map(
        |(kind, agent, message, parent, round, step, has_message): (agcore_chat::EventKind, _, _, _, _, _, _)| {
            let event = StreamEvent::new(0, Arc::from(agent), 0, round, kind)
                .with_message(has_message.then(|| Arc::from(message)))
                .with_parent(parent.map(Arc::from));
            Input::Event {
                event,
                step: step.map(Into::into),
            }
        },
    );
    prop_oneof![
        12 => event,
        2 => name().prop_map(|name| Step::Started(name.into()).into()),
        2 => name().prop_map(|name| Step::Finished(name.into()).into()),
        1 => name().prop_map(|id| TextMessage::new(id, "whole").into()),
        1 => (0..5_u32).prop_map(|value| Snapshot::StateChange(json!({"value": value, "long": "x".repeat(40)}).into()).into()),
    ]
}

pub(crate) fn any_end() -> impl Strategy<Value = Input> {
    prop_oneof![
        Just(Run::finished().into()),
        Just(Run::cancelled().into()),
        Just(Run::failed("it failed", "failure").into()),
        Just(Input::Interrupt(vec![Interrupt::new("i", "input").with_tool_call("a")])),
    ]
}

#[track_caller]
fn check_everywhere(log: &[AguiEvent]) {
    for format in ALL_FORMATS {
        let values: Vec<Value> = log.iter().map(|event| event.to_value(format)).collect();
        if let Err(violation) = check_order(&values) {
            let lines: String = values.iter().map(|event| format!("{event}\n")).collect();
            panic!("{violation} in {format:?}:\n{lines}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("AGCORE_SOAK").is_some() { 3_000 } else { 64 },
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_log_is_in_order(inputs in prop::collection::vec(any_input(), 0..40), end in any_end()) {
        let mut encoder = Encoder::new("t", "r");
        let mut log = encoder.push(Run::started().into()).unwrap();
        for input in inputs {
            // Only the end of a step that is not open is refused.
            log.extend(encoder.push(input).unwrap_or_default());
        }
        log.extend(encoder.push(end).unwrap());
        check_everywhere(&log);
    }

    #[test]
    fn every_log_can_be_continued(
        before in prop::collection::vec(any_input(), 0..30),
        cut in any::<prop::sample::Index>(),
        after in prop::collection::vec(any_input(), 0..30),
        end in any_end(),
    ) {
        let mut encoder = Encoder::new("t", "r");
        let mut log = encoder.push(Run::started().into()).unwrap();
        for input in before {
            log.extend(encoder.push(input).unwrap_or_default());
        }
        log.truncate(1 + cut.index(log.len()));
        let mut encoder = Encoder::new("t", "r");
        log.extend(encoder.resume(&log).unwrap());
        for input in after {
            log.extend(encoder.push(input).unwrap_or_default());
        }
        log.extend(encoder.push(end).unwrap());
        check_everywhere(&log);
    }

    #[test]
    fn every_event_survives_the_store(inputs in prop::collection::vec(any_input(), 0..20)) {
        let mut encoder = Encoder::new("t", "r");
        let mut log = encoder.push(Run::started().into()).unwrap();
        for input in inputs {
            log.extend(encoder.push(input).unwrap_or_default());
        }
        for event in log {
            let event = event.with_timestamp(1_700_000_000_000);
            let read: AguiEvent = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
            prop_assert_eq!(read.to_json(Format::default()), event.to_json(Format::default()));
            prop_assert_eq!(read, event);
        }
    }
}
