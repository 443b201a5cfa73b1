//! Questions: calls that are suspended, saved as JSON, and resumed in another process without running twice.

use agcore_chat::{
    Answer, ApprovalScope, ClientResult, Question, QuestionKind, ToolDefinition, ToolGuard, ToolOutcome, ToolReport,
    ToolWork,
};
use agcore_tools::{
    Approval, Arguments, ClientTool, Grant, InputRequest, NoArguments, Permission, PermissionRules, RegistryExecutor,
    Rule, RuleState, SuspendingApprover, ToolAnnotations, ToolContext, ToolOutput, ToolPolicy, ToolSession,
    permission::ArgumentTest,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use crate::support::{
    Echo, ScriptedApprover, call, error_text, executor_for, fatal_text, question, resume, round_trip, settle, text,
};

fn ask_about_t() -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "t"))
}

/// Builds an executor from fresh objects with these rules, as another process would.
fn other_process(tool: &Echo, rules: PermissionRules) -> RegistryExecutor {
    let policy = ToolPolicy::new(rules).with_approver(Arc::new(SuspendingApprover));
    executor_for([tool.clone()]).with_policy(policy).build().unwrap()
}

async fn suspend(tool: &Echo, arguments: Value) -> Question {
    let outcome = settle(&other_process(tool, ask_about_t()), "t", arguments).await;
    round_trip(&question(outcome))
}

#[tokio::test]
async fn a_question_can_be_answered_in_another_process() {
    let tool = Echo::new("t").with_permissions([Permission::Write]);
    let asked = suspend(&tool, json!({"x": 1})).await;
    assert_eq!(
        (asked.kind, &*asked.id.0, &*asked.call_id),
        (QuestionKind::Approval, "call?0", "call")
    );
    assert_eq!(asked.prompt, r#"May t run with {"x":1}? (rule 1 (ask t))"#);
    assert_eq!(tool.count(), 0);
    let executor = other_process(&tool, ask_about_t());
    let outcome = resume(&executor, "t", json!({"x": 1}), asked, Answer::approve()).await;
    assert_eq!((text(&outcome).as_str(), tool.count()), (r#"{"x":1}"#, 1));
}

#[tokio::test]
async fn a_denial_is_a_result() {
    let tool = Echo::new("t");
    let asked = suspend(&tool, json!({})).await;
    let outcome = resume(
        &other_process(&tool, ask_about_t()),
        "t",
        json!({}),
        asked,
        Answer::deny("too risky"),
    )
    .await;
    assert_eq!(
        (error_text(&outcome).as_str(), tool.count()),
        ("t was denied by a person: too risky", 0)
    );
}

#[tokio::test]
async fn a_question_carries_the_whole_call() {
    let tool = Echo::new("t").with_annotations(ToolAnnotations::new().with_title("Tea"));
    let body = "kind regards ".repeat(300);
    let arguments = json!({"body": body, "note": "a\u{202e}b\u{1b}c", "to": "eve@example.org"});
    let asked = suspend(&tool, arguments.clone()).await;
    assert_eq!((&*asked.tool, &asked.arguments), ("t", &arguments));
    assert_eq!(
        (asked.annotations.title.as_deref(), asked.reason.as_str()),
        (Some("Tea"), "rule 1 (ask t)")
    );
    // The prompt is shortened, and says so, but hides no argument behind another one and no character.
    assert!(asked.prompt.len() < 1000, "{}", asked.prompt);
    for part in [
        r#""to":"eve@example.org""#,
        r"a\u{202e}b\u001bc",
        "[3702 more bytes]",
        "[shortened]",
    ] {
        assert!(asked.prompt.contains(part), "{part}: {}", asked.prompt);
    }
    assert!(!asked.prompt.contains('\u{202e}'));

    let many: serde_json::Map<_, _> = (0..1000).map(|n| (format!("argument_{n}"), json!(n))).collect();
    let asked = suspend(&tool, many.into()).await;
    assert!(asked.prompt.contains("[960 more arguments]"), "{}", asked.prompt);
}

#[tokio::test]
async fn a_question_for_input_carries_the_whole_call() {
    let executor = executor_for([booking()]).build().unwrap();
    let day = question(settle(&executor, "t", json!({"city": "Rome"})).await);
    assert_eq!((&*day.tool, &day.arguments), ("t", &json!({"city": "Rome"})));
    assert_eq!(day.reason, "the tool needs it to continue");
}

#[tokio::test]
async fn an_answer_fits_only_the_call_that_was_asked_about() {
    let tool = Echo::new("t");
    let asked = suspend(&tool, json!({"x": 1})).await;
    let executor = other_process(&tool, ask_about_t());
    let other_arguments = resume(&executor, "t", json!({"x": 666}), asked.clone(), Answer::approve()).await;
    assert!(error_text(&other_arguments).contains("for another tool or for other arguments"));
    let mut other_tool = asked.clone();
    other_tool.tool = "u".into();
    let other_tool = resume(&executor, "t", json!({"x": 1}), other_tool, Answer::approve()).await;
    assert!(error_text(&other_tool).contains("for another tool or for other arguments"));
    assert_eq!(tool.count(), 0);
    // A question that was saved before questions carried their calls.
    let mut old = asked;
    (old.tool, old.arguments) = ("".into(), Value::Null);
    assert_eq!(
        text(&resume(&executor, "t", json!({"x": 1}), old, Answer::approve()).await),
        r#"{"x":1}"#
    );
}

#[tokio::test]
async fn runs_only_what_the_person_read() {
    let tool = Echo::new("t");
    let executor = other_process(&tool, ask_about_t());
    let mut shown = suspend(&tool, json!({"x": 666})).await;
    shown.arguments = json!({"x": 1});
    let ended = resume(&executor, "t", json!({"x": 666}), shown, Answer::approve()).await;
    assert_eq!(
        fatal_text(&ended),
        "the arguments of the question are not those of its saved state"
    );
    let mut saved = suspend(&tool, json!({"x": 1})).await;
    saved.state["arguments"] = json!({"x": 666});
    let ended = resume(&executor, "t", json!({"x": 1}), saved, Answer::approve()).await;
    assert!(fatal_text(&ended).contains("not those of its saved state"));
    assert_eq!(tool.count(), 0);
}

/// A saved state that was changed can claim an approval. Rules that deny hold nevertheless.
#[tokio::test]
async fn an_approval_in_a_saved_state_overrides_no_deny_rule() {
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "t"));
    let executor = executor_for([booking()])
        .with_policy(ToolPolicy::new(rules))
        .build()
        .unwrap();
    let open = executor_for([booking()]).build().unwrap();
    let mut day = question(settle(&open, "t", json!({"city": "Rome"})).await);
    day.state["approved"] = json!(true);
    let outcome = resume(
        &executor,
        "t",
        json!({"city": "Rome"}),
        day,
        Answer::Value(json!("Monday")),
    )
    .await;
    assert!(error_text(&outcome).contains("permission denied"));
}

#[tokio::test]
async fn checks_edited_arguments_against_the_rules() {
    let tool = Echo::new("t");
    let edit = |path: &str| Answer::edited(json!({"path": path}).as_object().cloned().unwrap());
    let etc = Rule::argument(RuleState::Deny, "*", "$.path", ArgumentTest::Within("/etc".into())).unwrap();
    let asked = suspend(&tool, json!({"path": "/a"})).await;
    let executor = other_process(&tool, ask_about_t().with_rule(etc));
    let call = || json!({"path": "/a"});
    let outcome = resume(&executor, "t", call(), asked.clone(), edit("/etc/passwd")).await;
    assert!(error_text(&outcome).contains("permission denied"));
    assert_eq!(tool.count(), 0);
    assert_eq!(
        text(&resume(&executor, "t", call(), asked, edit("/b")).await),
        r#"{"path":"/b"}"#
    );
}

/// A guard that refuses `/etc`, and remembers what it saw.
fn guard(seen: &Arc<Mutex<Vec<String>>>) -> ToolGuard {
    let seen = Arc::clone(seen);
    ToolGuard::new(move |call| {
        seen.lock().unwrap().push(call.raw_input().to_owned());
        async move {
            if call.raw_input().contains("/etc") {
                return Err(ToolOutcome::error("nothing below /etc"));
            }
            Ok(())
        }
    })
}

#[tokio::test]
async fn edited_arguments_pass_the_guard_at_resume() {
    let (tool, seen) = (Echo::new("t"), Arc::default());
    let executor = other_process(&tool, ask_about_t());
    for (rules, path, ran) in [
        (ask_about_t(), "/etc/passwd", 0),
        (ask_about_t(), "/b", 1),
        // The rules of the process that resumes ask no more.
        (PermissionRules::default(), "/etc/passwd", 1),
    ] {
        let asked = question(settle(&executor, "t", json!({"path": "/a"})).await);
        let answer = Answer::edited(json!({"path": path}).as_object().cloned().unwrap());
        let work = ToolWork::resumed(call("call", "t", &json!({"path": "/a"})), asked, answer).with_guard(guard(&seen));
        let outcome = other_process(&tool, rules).settle(work).await.0;
        if path == "/b" {
            assert_eq!(text(&outcome), r#"{"path":"/b"}"#);
        } else {
            assert_eq!(error_text(&outcome), "nothing below /etc");
        }
        assert_eq!(tool.count(), ran);
    }
    let etc = r#"{"path":"/etc/passwd"}"#;
    assert_eq!(*seen.lock().unwrap(), [etc, r#"{"path":"/b"}"#, etc]);
}

#[tokio::test]
async fn edited_arguments_pass_the_guard_of_an_inline_approval() {
    let (tool, seen) = (Echo::new("t"), Arc::default());
    let edited = |path: &str| Approval::edited(json!({"path": path}).as_object().cloned().unwrap());
    let approver = ScriptedApprover::new([edited("/etc/passwd"), edited("/b"), Approval::once()]);
    let executor = executor_for([tool.clone()])
        .with_policy(ToolPolicy::new(ask_about_t()).with_approver(approver))
        .build()
        .unwrap();
    let work = || ToolWork::new(call("call", "t", &json!({"path": "/a"}))).with_guard(guard(&seen));
    assert_eq!(error_text(&executor.settle(work()).await.0), "nothing below /etc");
    assert_eq!(text(&executor.settle(work()).await.0), r#"{"path":"/b"}"#);
    // Arguments without edits were checked before.
    text(&executor.settle(work()).await.0);
    assert_eq!((tool.count(), seen.lock().unwrap().len()), (2, 2));
}

/// The input of a report names the arguments that ran, if they are not those of the call.
#[tokio::test]
async fn reports_the_arguments_that_ran() {
    let inputs = |executor: RegistryExecutor, work: ToolWork| async move {
        let mut inputs = Vec::new();
        for report in crate::support::reports(&executor, vec![work]).await {
            if let ToolReport::Settled { input, .. } = report {
                inputs.push(input.map(|input| input.to_string()));
            }
        }
        inputs
    };
    let tool = Echo::new("t");
    let edited = json!({"x": 2}).as_object().cloned().unwrap();
    let inline = || {
        let approver = ScriptedApprover::new([Approval::edited(edited.clone())]);
        let policy = ToolPolicy::new(ask_about_t()).with_approver(approver);
        executor_for([tool.clone()]).with_policy(policy).build().unwrap()
    };
    let call = || call("call", "t", &json!({"x": 1}));
    let ran = Some(r#"{"x":2}"#.to_owned());
    assert_eq!(
        inputs(inline(), ToolWork::new(call())).await,
        std::slice::from_ref(&ran)
    );
    let asked = suspend(&tool, json!({"x": 1})).await;
    let resumed = |answer| ToolWork::resumed(call(), asked.clone(), answer);
    let executor = || other_process(&tool, ask_about_t());
    assert_eq!(inputs(executor(), resumed(Answer::edited(edited.clone()))).await, [ran]);
    assert_eq!(inputs(executor(), resumed(Answer::approve())).await, [None]);
}

/// A tool that asks for input after its arguments were edited resumes with the edited ones.
#[tokio::test]
async fn edits_survive_a_later_question() {
    let edited = Approval::edited(json!({"city": "Oslo"}).as_object().cloned().unwrap());
    let policy = ToolPolicy::new(ask_about_t()).with_approver(ScriptedApprover::new([edited]));
    let executor = executor_for([booking()]).with_policy(policy).build().unwrap();
    let rome = json!({"city": "Rome"});
    let day = round_trip(&question(settle(&executor, "t", rome.clone()).await));
    assert_eq!(day.arguments, json!({"city": "Oslo"}));
    let room = resume(&executor, "t", rome.clone(), day, Answer::Value(json!("Monday"))).await;
    let room = round_trip(&question(room));
    let booked = resume(&executor, "t", rome, room, Answer::Value(json!("101"))).await;
    assert_eq!(text(&booked), r#""101" in Oslo on "Monday""#);
}

#[tokio::test]
async fn a_new_deny_rule_overrides_an_earlier_approval() {
    let tool = Echo::new("t");
    let asked = suspend(&tool, json!({})).await;
    let executor = other_process(&tool, ask_about_t().with_rule(Rule::tool(RuleState::Deny, "t")));
    let outcome = resume(&executor, "t", json!({}), asked, Answer::approve()).await;
    assert!(error_text(&outcome).contains("permission denied"));
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn remembers_an_approval_for_the_session() {
    let tool = Echo::new("t");
    let asked = suspend(&tool, json!({})).await;
    let session = ToolSession::new();
    let policy = ToolPolicy::new(ask_about_t()).with_approver(ScriptedApprover::new([]));
    let executor = executor_for([tool.clone()])
        .with_policy(policy)
        .with_session(session.clone())
        .build()
        .unwrap();
    let answer = Answer::approve().with_scope(ApprovalScope::Session);
    text(&resume(&executor, "t", json!({}), asked, answer).await);
    text(&settle(&executor, "t", json!({})).await);
    assert_eq!(session.grants(), [Grant::same_arguments("t", &Arguments::new())]);
    assert_eq!(tool.count(), 2);
}

#[tokio::test]
async fn an_answer_may_carry_a_grant() {
    let tool = Echo::new("t");
    let executor = other_process(&tool, ask_about_t());
    let always = Answer::approve().with_scope(ApprovalScope::Always);
    let wide = always
        .clone()
        .with_grant(serde_json::to_value(Grant::new("t")).unwrap());
    let asked = suspend(&tool, json!({})).await;
    text(&resume(&executor, "t", json!({}), asked.clone(), wide).await);
    text(&settle(&executor, "t", json!({"other": 1})).await);
    // A grant that cannot be read is not remembered.
    let executor = other_process(&tool, ask_about_t());
    text(&resume(&executor, "t", json!({}), asked, always.with_grant(json!({"tol": "t"}))).await);
    question(settle(&executor, "t", json!({})).await);
    assert_eq!(tool.count(), 3);
}

/// Returns the question whether a call of `t` that was running should run again.
fn uncertain(arguments: Value) -> Question {
    Question::new("call", 0, QuestionKind::Uncertain, "Run it again?")
        .with_tool("t")
        .with_arguments(arguments)
}

#[tokio::test]
async fn who_lets_a_call_run_again_is_not_asked_a_second_time() {
    let (tool, seen) = (Echo::new("t"), Arc::default());
    let executor = other_process(&tool, ask_about_t());
    let asked = uncertain(json!({"path": "/a"}));
    let work = |answer: Answer| {
        let call = call("call", "t", &json!({"path": "/a"}));
        ToolWork::resumed(call, asked.clone(), answer).with_guard(guard(&seen))
    };
    let edited = |path: &str| work(Answer::edited(json!({"path": path}).as_object().cloned().unwrap()));
    let settle = async |work: ToolWork| executor.settle(work).await.0;
    assert_eq!(text(&settle(work(Answer::approve())).await), r#"{"path":"/a"}"#);
    assert_eq!(error_text(&settle(edited("/etc")).await), "nothing below /etc");
    assert_eq!(text(&settle(edited("/b")).await), r#"{"path":"/b"}"#);
    assert_eq!(tool.count(), 2);
}

#[tokio::test]
async fn a_call_runs_again_only_if_it_was_shown_and_no_rule_denies_it() {
    let tool = Echo::new("t");
    let executor = other_process(&tool, ask_about_t());
    let again = async |executor: &RegistryExecutor, asked: Question| {
        resume(executor, "t", json!({"x": 1}), asked, Answer::approve()).await
    };
    // The answer was about other arguments, or another tool.
    let other_tool = uncertain(json!({"x": 1})).with_tool("u");
    for other in [uncertain(json!({"x": 2})), uncertain(Value::Null), other_tool] {
        assert_eq!(question(again(&executor, other).await).kind, QuestionKind::Approval);
    }
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "t"));
    let denying = other_process(&tool, rules);
    let denied = again(&denying, uncertain(json!({"x": 1}))).await;
    assert!(error_text(&denied).contains("not allowed"), "{denied:?}");
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn rejects_answers_that_do_not_match_the_question() {
    let tool = Echo::new("t");
    let asked = suspend(&tool, json!({})).await;
    let executor = other_process(&tool, ask_about_t());
    let mismatch = resume(&executor, "t", json!({}), asked.clone(), Answer::Value(json!(true))).await;
    assert!(error_text(&mismatch).contains("counts as a denial"));

    let other = ToolWork::resumed(call("another", "t", &json!({})), asked.clone(), Answer::approve());
    let ended = executor.settle(other).await.0;
    assert_eq!(
        fatal_text(&ended),
        "the answered question belongs to call call, not to call another"
    );

    for (state, reason) in [
        (
            json!({"version": 9}),
            "it has version 9, but this program reads version 1",
        ),
        (Value::Null, "it has no version"),
        (json!({"version": 1, "number": 0}), "missing field `arguments`"),
    ] {
        let broken = asked.clone().with_state(state);
        let ended = resume(&executor, "t", json!({}), broken, Answer::approve()).await;
        assert!(fatal_text(&ended).contains(reason), "{ended:?}");
    }
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn an_approved_uncertain_call_starts_from_scratch() {
    let tool = Echo::new("t");
    let executor = executor_for([tool.clone()]).build().unwrap();
    let asked = uncertain(json!({"x": 1}));
    text(&resume(&executor, "t", json!({"x": 1}), asked.clone(), Answer::approve()).await);
    error_text(&resume(&executor, "t", json!({"x": 1}), asked, Answer::deny("leave it")).await);
    assert_eq!(tool.count(), 1);
}

#[derive(Deserialize, JsonSchema)]
struct Book {
    city: String,
}

/// A tool that asks for a day and for a room before it books.
fn booking() -> impl agcore_tools::BaseTool + 'static {
    typed("t", "Books a room.", |args: Book, context: ToolContext| async move {
        let request = |prompt: &str, known: Value| {
            let schema = json!({"type": "string", "minLength": 1});
            ToolOutput::awaiting_input(InputRequest::new(prompt).with_schema(schema).with_context(known))
        };
        let Some(answer) = context.answer() else {
            return Ok(request("Which day?", Value::Null));
        };
        if answer.context.is_null() {
            return Ok(request("Which room?", answer.value.clone()));
        }
        Ok(ToolOutput::text(format!(
            "{} in {} on {}",
            answer.value, args.city, answer.context
        )))
    })
}

#[tokio::test]
async fn a_tool_can_ask_several_questions() {
    // The approver is asked only once: the approval is saved with the tool's own questions.
    let policy = ToolPolicy::new(ask_about_t()).with_approver(ScriptedApprover::new([Approval::once()]));
    let executor = executor_for([booking()]).with_policy(policy).build().unwrap();
    let arguments = json!({"city": "Rome"});
    let day = round_trip(&question(settle(&executor, "t", arguments.clone()).await));
    assert_eq!(
        (day.kind, &*day.id.0, day.prompt.as_str()),
        (QuestionKind::Input, "call?0", "Which day?")
    );
    let room = resume(&executor, "t", arguments.clone(), day, Answer::Value(json!("Monday"))).await;
    let room = round_trip(&question(room));
    assert_eq!((&*room.id.0, room.prompt.as_str()), ("call?1", "Which room?"));
    let booked = resume(&executor, "t", arguments, room, Answer::Value(json!("101"))).await;
    assert_eq!(text(&booked), r#""101" in Rome on "Monday""#);
}

#[tokio::test]
async fn asks_again_when_the_answer_violates_the_schema() {
    let executor = executor_for([booking()]).build().unwrap();
    let arguments = json!({"city": "Rome"});
    let day = question(settle(&executor, "t", arguments.clone()).await);
    let again = question(resume(&executor, "t", arguments.clone(), day, Answer::Value(json!(7))).await);
    assert_eq!(&*again.id.0, "call?1");
    assert!(
        again
            .prompt
            .starts_with("Which day?\n(The previous answer did not have the required form: $: 7 is not")
    );
    let room = question(
        resume(
            &executor,
            "t",
            arguments,
            round_trip(&again),
            Answer::Value(json!("Monday")),
        )
        .await,
    );
    assert_eq!((&*room.id.0, room.prompt.as_str()), ("call?2", "Which room?"));
}

#[tokio::test]
async fn a_fresh_call_has_no_answer() {
    let tool = typed(
        "plain",
        "Returns whether there is an answer.",
        |_: NoArguments, context: ToolContext| async move { Ok(context.answer().is_some()) },
    );
    let executor = executor_for([tool]).build().unwrap();
    let outcome: ToolOutcome = settle(&executor, "plain", json!({})).await;
    assert_eq!(text(&outcome), "false");
}

/// The result of a client does not become the input of a tool that has got the name meanwhile.
#[tokio::test]
async fn the_result_of_a_client_reaches_only_its_own_tool() {
    let definition = || ToolDefinition::new("t", "Shows a map.", json!({"type": "object", "properties": {}}));
    let of_client = || executor_for([ClientTool::new(definition())]).build().unwrap();
    let work = || call("call", "t", &json!({}));
    let (ToolOutcome::Ask(asked), _) = of_client().settle(ToolWork::new(work())).await else {
        panic!("the call waits for the client");
    };
    let resumed = |answer: Answer| ToolWork::resumed(work(), (*asked).clone(), answer);
    let outcome = of_client()
        .settle(resumed(ClientResult::text("shown").into_answer()))
        .await
        .0;
    assert_eq!(text(&outcome), "shown");
    let failed = ClientResult::Failed("no map".to_owned()).into_answer();
    assert_eq!(error_text(&of_client().settle(resumed(failed)).await.0), "no map");
    let declined = of_client().settle(resumed(Answer::deny("closed"))).await.0;
    assert!(error_text(&declined).contains("closed"));

    let tool = Echo::new("t");
    let other = executor_for([tool.clone()]).build().unwrap();
    let refused = other.settle(resumed(ClientResult::text("shown").into_answer())).await.0;
    assert!(
        error_text(&refused).contains("a tool of the server by now"),
        "{refused:?}"
    );
    assert_eq!(tool.count(), 0);
}
