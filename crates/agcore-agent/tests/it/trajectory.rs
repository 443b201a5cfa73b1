//! Trajectories: how they are written and read, and replays of them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_agent::{
    AgentBuilder, AgentConfig, AgentErrorKind, AgentSpec, ReplayErrorKind, ReplayReport, RuntimeBundle, Trajectory,
    agent,
};
use agcore_chat::{Answer, EventKind, Message, ToolCall, ToolEvent};
use agcore_cycle::{
    CompactionSettings,
    machine::{Limits, Outcome},
};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, typed};
use tokio_util::sync::CancellationToken;

use crate::stored::{ada, builder, call, sessions, store};

/// Returns an agent like that of the other tests of stores, whose model must not be called, and counts its tools.
fn silent(runs: &Arc<AtomicUsize>) -> AgentBuilder {
    let tool = |name: &'static str, runs: &Arc<AtomicUsize>| {
        let runs = Arc::clone(runs);
        typed(name, "Does it.", move |_: NoArguments| {
            runs.fetch_add(1, Ordering::Relaxed);
            async { Ok("now") }
        })
    };
    AgentBuilder::new()
        .with_provider(ScriptedProvider::new([]))
        .with_clock(ManualClock::jumping())
        .with_tool(tool("say", runs))
        .with_tool(tool("pay", runs))
}

/// Returns what happened in a session with two tools, an approval and a failed turn.
async fn recorded() -> Trajectory {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "say"), call("b", "pay"), call("c", "pay")]),
        ScriptStep::text("All paid."),
        ScriptStep::error(LlmError::new(LlmErrorKind::InvalidRequest, "no")),
        ScriptStep::text("Fine."),
    ]);
    let sessions = sessions(&provider, store());
    let session = sessions.create("s-1", ada()).await.unwrap();
    let outcome = session.turn("Say and pay.").await.unwrap();
    let ids: Vec<_> = outcome.questions().iter().map(|question| question.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    // In part, from another copy of the session.
    session.resume([(ids[1].clone(), Answer::approve())]).await.unwrap();
    let session = sessions.open("s-1", ada()).await.unwrap();
    session
        .resume([(ids[0].clone(), Answer::deny("Too much."))])
        .await
        .unwrap();
    session.turn("Fail.").await.unwrap_err();
    session.turn("And now?").await.unwrap();
    sessions.trajectory("s-1").await.unwrap()
}

async fn problem(bundle: &RuntimeBundle, trajectory: &Trajectory, agent: AgentSpec) -> (ReplayErrorKind, String) {
    let error = bundle.replay(trajectory, agent).await.unwrap_err();
    (error.kind(), error.to_string())
}

#[tokio::test]
async fn a_session_is_replayed_without_its_model_and_tools() {
    let trajectory = recorded().await;
    let runs = Arc::default();
    let bundle = silent(&runs).build().unwrap();
    let report = bundle.replay(&trajectory, ada()).await.unwrap();
    let ReplayReport {
        turns,
        replies,
        tool_results,
        ..
    } = report;
    // Each of the two questions is an outcome of its call, before its result.
    assert_eq!((turns, replies, tool_results), (3, 4, 5));
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn the_first_difference_ends_a_replay() {
    let trajectory = recorded().await;
    let runs = Arc::default();

    // A tool is gone.
    let bundle = AgentBuilder::new()
        .with_provider(ScriptedProvider::new([]))
        .build()
        .unwrap();
    let (kind, problem_text) = problem(&bundle, &trajectory, ada()).await;
    assert_eq!(kind, ReplayErrorKind::Different);
    assert_eq!(
        problem_text,
        "turn 1 differs from the recording: the call `a` succeeded, but the session has no tool `say`"
    );

    // The agent cannot run at all.
    let (kind, problem_text) = problem(&bundle, &trajectory, ada().with_tools(["say"])).await;
    assert_eq!(kind, ReplayErrorKind::Agent);
    assert_eq!(
        problem_text,
        "turn 1 cannot be replayed: the agent cannot run; check its settings and tools"
    );

    // No rounds of tools are left.
    let config = AgentConfig::new().with_limits(Limits::new().with_max_tool_turns(0));
    let bundle = silent(&runs).with_config(config).build().unwrap();
    let (kind, problem_text) = problem(&bundle, &trajectory, ada()).await;
    assert_eq!(kind, ReplayErrorKind::Different);
    assert!(
        problem_text.starts_with("turn 1 differs from the recording: "),
        "{problem_text}"
    );

    // Results are cut more than before.
    let config = AgentConfig::new().with_limits(Limits::new().with_max_tool_result_bytes(1));
    let bundle = silent(&runs).with_config(config).build().unwrap();
    let (_, problem_text) = problem(&bundle, &trajectory, ada()).await;
    assert!(problem_text.contains("message 3 was"), "{problem_text}");
}

#[tokio::test]
async fn a_recording_that_was_changed_differs_or_is_refused() {
    let trajectory = recorded().await;
    let bundle = silent(&Arc::default()).build().unwrap();
    let changed = |change: &dyn Fn(&Outcome) -> bool| {
        let entries = trajectory.entries().iter().cloned().map(|mut entry| {
            entry.outcomes.retain(|outcome| !change(outcome));
            entry
        });
        Trajectory::new("s-1", entries)
    };
    // Without the answers, the results of the calls do not follow.
    let error = changed(&|outcome| matches!(outcome, Outcome::Answer(..))).unwrap_err();
    assert!(error.to_string().contains("do not follow from each other"), "{error}");
    // Without its last reply, the recording ends in the middle of a turn, which is not a difference.
    let entries = trajectory.entries();
    let last = entries.iter().rposition(|entry| {
        entry
            .outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Reply(_)))
    });
    let cut = Trajectory::new("s-1", entries[..last.unwrap()].iter().cloned()).unwrap();
    assert_eq!(bundle.replay(&cut, ada()).await.unwrap().replies, 3);
}

#[tokio::test]
async fn json_lines_keep_everything() {
    let trajectory = recorded().await;
    let lines = trajectory.to_json_lines().unwrap();
    assert_eq!(Trajectory::from_json_lines(&lines).unwrap(), trajectory);
    assert!(
        lines
            .lines()
            .next()
            .unwrap()
            .contains(r#""type":"trajectory","version":1,"session":"s-1""#)
    );
    // Lines of other types, and empty ones, are ignored.
    let more = format!("{{\"type\":\"note\",\"text\":\"hi\"}}\n\n{lines}");
    assert_eq!(Trajectory::from_json_lines(&more).unwrap(), trajectory);
    assert_eq!(trajectory.turns(), 3);
    // Calls that failed without an answer do not count.
    assert_eq!(trajectory.usage().calls, 3);
}

#[tokio::test]
async fn damaged_files_are_refused_with_their_line() {
    let lines = recorded().await.to_json_lines().unwrap();
    let check = |text: &str, line: Option<usize>, expected: &str| {
        let error = Trajectory::from_json_lines(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.line(), line, "{error}");
    };
    check("", None, "this is not a trajectory");
    check("nonsense", Some(1), "line 1: this is not a line of a trajectory");
    check(
        &lines[..lines.len() - 20],
        Some(lines.lines().count()),
        "this is not a line",
    );
    check(
        &lines.replacen("\"version\":1", "\"version\":7", 1),
        Some(1),
        "version 7",
    );
    check(
        &format!("{lines}{}", lines.lines().next().unwrap()),
        Some(lines.lines().count() + 1),
        "a second trajectory",
    );
    // A line is missing.
    let mut kept: Vec<&str> = lines.lines().collect();
    kept.remove(2);
    check(&kept.join("\n"), None, "do not follow");
    // Every cut is an error or a shorter trajectory, and never a panic.
    for end in (0..lines.len()).filter(|end| lines.is_char_boundary(*end)) {
        drop(Trajectory::from_json_lines(&lines[..end]));
    }
}

#[tokio::test]
async fn a_turn_that_was_cancelled_is_cancelled_again() {
    // Whether the call that does not end comes first or last.
    for calls in [
        [call("a", "say"), call("x", "stop")],
        [call("x", "stop"), call("a", "say")],
    ] {
        cancelled_again(calls).await;
    }
}

async fn cancelled_again(calls: [ToolCall; 2]) {
    let provider = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Hello again.")]);
    let stop = typed("stop", "Never ends.", |_: NoArguments| {
        std::future::pending::<Result<&str, agcore_tools::ToolError>>()
    });
    let bundle = builder(&provider)
        .with_clock(ManualClock::new())
        .with_tool(stop)
        .with_session_store(store())
        .build()
        .unwrap();
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    let token = CancellationToken::new();
    let mut turn = session.turn("Stop.").with_token(token.clone()).stream();
    while let Some(event) = turn.next().await {
        if matches!(event.kind, EventKind::Tool(ToolEvent::Completed { .. })) {
            token.cancel();
        }
    }
    let error = turn.finish().await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::Cancelled);
    session.turn("Hello?").await.unwrap();
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let report = bundle.replay(&trajectory, ada()).await.unwrap();
    assert_eq!((report.turns, report.replies), (2, 2));
}

#[tokio::test]
async fn a_conversation_that_was_replaced_after_a_failure_is_replayed() {
    let provider = ScriptedProvider::new([
        ScriptStep::error(LlmError::new(LlmErrorKind::InvalidRequest, "no")),
        ScriptStep::text("Fine."),
    ]);
    let sessions = sessions(&provider, store());
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Fail.").await.unwrap_err();
    // As a chat keeps the part of an answer that has arrived.
    let kept = [Message::user("Fail."), Message::assistant("A part")]
        .map(Arc::new)
        .to_vec();
    session.set_messages(kept).await.unwrap();
    session.turn("Go on.").await.unwrap();
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let bundle = silent(&Arc::default()).build().unwrap();
    let report = bundle.replay(&trajectory, ada()).await.unwrap();
    assert_eq!((report.turns, report.replies), (2, 2));
}

/// Returns settings with which a compaction keeps two messages.
fn compacting() -> AgentConfig {
    let mut compaction = CompactionSettings::new();
    compaction.window.keep_recent = 2;
    AgentConfig::new().with_compaction(compaction)
}

#[tokio::test]
async fn a_compaction_after_a_failure_is_replayed() {
    let long = "Once upon a time. ".repeat(50);
    let provider = ScriptedProvider::new([
        ScriptStep::text(&long),
        ScriptStep::text(&long),
        ScriptStep::text(&long),
        ScriptStep::error(LlmError::new(LlmErrorKind::InvalidRequest, "no")),
        ScriptStep::text("They told stories."),
        ScriptStep::text("The end."),
    ]);
    let bundle = builder(&provider).with_config(compacting()).with_session_store(store());
    let sessions = bundle.build().unwrap().stored_sessions().unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    for _ in 0..3 {
        session.turn("A story!").await.unwrap();
    }
    session.turn("Fail.").await.unwrap_err();
    assert!(!session.compact().await.unwrap().is_unchanged());
    session.turn("And now?").await.unwrap();
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let bundle = silent(&Arc::default()).with_config(compacting()).build().unwrap();
    assert_eq!(bundle.replay(&trajectory, ada()).await.unwrap().turns, 5);
}

#[tokio::test]
async fn handoffs_are_replayed() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "transfer_to_billing"), call("b", "say")]),
        ScriptStep::text("Invoice 7 is paid."),
        ScriptStep::text("You are welcome."),
    ]);
    let desk = AgentSpec::new("desk", "Desk.")
        .with_handoffs(["billing"])
        .with_tools(["say"]);
    let with_team = |builder: AgentBuilder| {
        builder
            .with_member(AgentSpec::new("billing", "Billing."))
            .build()
            .unwrap()
    };
    let bundle = with_team(builder(&provider).with_session_store(store()));
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s-1", desk.clone()).await.unwrap();
    session.turn("Is invoice 7 paid?").await.unwrap();
    session.turn("Thank you.").await.unwrap();
    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let runs = Arc::default();
    let report = with_team(silent(&runs)).replay(&trajectory, desk).await.unwrap();
    assert_eq!((report.turns, report.replies), (2, 3));
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn compactions_are_replayed() {
    let long = "Once upon a time. ".repeat(50);
    let steps = [&long, &long, &long, "They told stories.", "The end."];
    let provider = ScriptedProvider::new(steps.map(ScriptStep::text));
    let bundle = builder(&provider).with_config(compacting()).with_session_store(store());
    let sessions = bundle.build().unwrap().stored_sessions().unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    for _ in 0..3 {
        session.turn("A story!").await.unwrap();
    }
    assert!(!session.compact().await.unwrap().is_unchanged());
    session.turn("And now?").await.unwrap();

    let trajectory = sessions.trajectory("s-1").await.unwrap();
    let compacted = trajectory.entries().iter().flat_map(|entry| &entry.outcomes);
    assert_eq!(
        compacted
            .filter(|outcome| matches!(outcome, Outcome::Summary(_)))
            .count(),
        1
    );
    let bundle = silent(&Arc::default()).with_config(compacting()).build().unwrap();
    assert_eq!(bundle.replay(&trajectory, ada()).await.unwrap().replies, 5);
    // What was removed from the conversation is still part of the trajectory.
    assert!(trajectory.messages().len() > session.messages().await.len());
}

#[tokio::test]
async fn a_conversation_without_a_store_is_a_trajectory_as_well() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("1", "say", "{}")]),
        ScriptStep::text("Said."),
    ]);
    let say = typed("say", "Says it.", |_: NoArguments| async { Ok("said") });
    let session = agent(model).with_tool(say).session().unwrap();
    session.turn("Say it.").await.unwrap();
    let messages = session.messages().await;
    let trajectory = Trajectory::from_messages("s-2", messages.clone()).unwrap();
    assert_eq!(trajectory.messages().len(), messages.len());
    session.bundle().replay(&trajectory, ada()).await.unwrap();
    // An answer to nothing is not a conversation.
    Trajectory::from_messages("s-3", [Message::assistant("Hello.")]).unwrap_err();
}

#[tokio::test]
async fn share_gpt_is_written_and_read() {
    let text = recorded().await.to_share_gpt();
    let expected = concat!(
        r#"{"id":"s-1","conversations":[{"from":"human","value":"Say and pay."},"#,
        r#"{"from":"function_call","value":"[{\"name\":\"say\",\"arguments\":{}},{\"name\":\"pay\",\"arguments\":{}},"#,
        r#"{\"name\":\"pay\",\"arguments\":{}}]"},{"from":"observation","value":"said"},"#,
    );
    assert!(text.starts_with(expected), "{text}");
    // The session has not kept the input of the turn that failed.
    assert!(!text.contains("Fail.") && text.contains("And now?"), "{text}");
    let read = Trajectory::from_share_gpt(&text).unwrap();
    assert_eq!(read.to_share_gpt(), text);
    // What was imported can be replayed.
    let bundle = silent(&Arc::default()).build().unwrap();
    bundle.replay(&read, ada()).await.unwrap();

    let check = |text: &str, expected: &str| {
        let error = Trajectory::from_share_gpt(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check("{}", "not a conversation in the form of ShareGPT");
    check(
        r#"{"conversations":[{"from":"robot","value":""}]}"#,
        r#"part 1 of the conversation is from "robot""#,
    );
    check(
        r#"{"conversations":[{"from":"observation","value":""}]}"#,
        "part 1 of the conversation is a result without a call",
    );
    check(
        r#"{"conversations":[{"from":"human","value":""},{"from":"function_call","value":"{}"}]}"#,
        "part 2 of the conversation is not a call with a name",
    );
    check(
        r#"{"conversations":[{"from":"gpt","value":"Hello."}]}"#,
        "do not follow",
    );
}
