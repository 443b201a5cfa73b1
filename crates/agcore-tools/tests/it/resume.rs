//! Questions: suspended here, saved as JSON, answered elsewhere; nothing runs twice.

use agcore_chat::{Answer, ApprovalScope, Question, QuestionKind, ToolOutcome, ToolWork};
use agcore_tools::{
    Approval, InputRequest, NoArguments, Permission, PermissionRules, RegistryExecutor, Rule, RuleState,
    SuspendingApprover, ToolContext, ToolOutput, ToolPolicy, ToolSession,
    permission::ArgumentTest,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{
    Echo, Scripted, call, error_text, executor_of, fatal_text, question, resume, saved, settle, text,
};

fn asking() -> PermissionRules {
    PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "t"))
}

/// As another process would have it: fresh objects, the same rules.
fn process(tool: &Echo, rules: PermissionRules) -> RegistryExecutor {
    let policy = ToolPolicy::new(rules).with_approver(Arc::new(SuspendingApprover));
    executor_of([tool.clone()]).policy(policy).build().unwrap()
}

async fn suspended(tool: &Echo, arguments: Value) -> Question {
    let outcome = settle(&process(tool, asking()), "t", arguments).await;
    saved(&question(outcome))
}

#[tokio::test]
async fn asked_in_one_process_and_answered_in_another() {
    let tool = Echo::new("t").needs([Permission::Write]);
    let asked = suspended(&tool, json!({"x": 1})).await;
    assert_eq!(
        (asked.kind, &*asked.id.0, &*asked.call_id),
        (QuestionKind::Approval, "call?0", "call")
    );
    assert_eq!(asked.prompt, r#"May t run with {"x":1}? (rule 1 (ask t))"#);
    assert_eq!(tool.count(), 0);
    let there = process(&tool, asking());
    let outcome = resume(&there, "t", json!({"x": 1}), asked, Answer::approve()).await;
    assert_eq!((text(&outcome).as_str(), tool.count()), (r#"{"x":1}"#, 1));
}

#[tokio::test]
async fn a_no_is_a_result() {
    let tool = Echo::new("t");
    let asked = suspended(&tool, json!({})).await;
    let outcome = resume(
        &process(&tool, asking()),
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
async fn what_was_asked_about_is_what_runs() {
    let tool = Echo::new("t");
    let asked = suspended(&tool, json!({"x": 1})).await;
    // Whatever the call says now, the person saw the other arguments.
    let outcome = resume(
        &process(&tool, asking()),
        "t",
        json!({"x": 666}),
        asked,
        Answer::approve(),
    )
    .await;
    assert_eq!(text(&outcome), r#"{"x":1}"#);
}

#[tokio::test]
async fn edited_arguments_run_and_are_checked_against_the_rules() {
    let tool = Echo::new("t");
    let edit = |path: &str| Answer::Approve {
        arguments: json!({"path": path}).as_object().cloned(),
        scope: ApprovalScope::Once,
    };
    let etc = Rule::argument(RuleState::Deny, "*", "$.path", ArgumentTest::Within("/etc".into())).unwrap();
    let asked = suspended(&tool, json!({"path": "/a"})).await;
    let there = process(&tool, asking().with_rule(etc));
    let outcome = resume(&there, "t", json!({}), asked.clone(), edit("/etc/passwd")).await;
    assert!(error_text(&outcome).contains("permission denied"));
    assert_eq!(tool.count(), 0);
    assert_eq!(
        text(&resume(&there, "t", json!({}), asked, edit("/b")).await),
        r#"{"path":"/b"}"#
    );
}

#[tokio::test]
async fn stricter_rules_stand_over_an_old_yes() {
    let tool = Echo::new("t");
    let asked = suspended(&tool, json!({})).await;
    let there = process(&tool, asking().with_rule(Rule::tool(RuleState::Deny, "t")));
    let outcome = resume(&there, "t", json!({}), asked, Answer::approve()).await;
    assert!(error_text(&outcome).contains("permission denied"));
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn a_yes_for_the_session_is_remembered() {
    let tool = Echo::new("t");
    let asked = suspended(&tool, json!({})).await;
    let session = ToolSession::new();
    let policy = ToolPolicy::new(asking()).with_approver(Scripted::new([]));
    let there = executor_of([tool.clone()])
        .policy(policy)
        .session(session.clone())
        .build()
        .unwrap();
    let yes = Answer::Approve {
        arguments: None,
        scope: ApprovalScope::Session,
    };
    text(&resume(&there, "t", json!({}), asked, yes).await);
    text(&settle(&there, "t", json!({"other": 1})).await);
    assert_eq!((tool.count(), session.grants().len()), (2, 1));
}

#[tokio::test]
async fn questions_and_answers_that_do_not_fit() {
    let tool = Echo::new("t");
    let asked = suspended(&tool, json!({})).await;
    let there = process(&tool, asking());
    let odd = resume(&there, "t", json!({}), asked.clone(), Answer::Value(json!(true))).await;
    assert!(error_text(&odd).contains("counts as a no"));

    let other = ToolWork::resumed(call("another", "t", &json!({})), asked.clone(), Answer::approve());
    let ended = there.settle(other).await.0;
    assert_eq!(
        fatal_text(&ended),
        "the answered question is of call call, not of call another"
    );

    for (state, why) in [
        (json!({"version": 9}), "it is of version 9, this program knows 1"),
        (Value::Null, "it has no version"),
        (json!({"version": 1, "number": 0}), "missing field `arguments`"),
    ] {
        let broken = asked.clone().with_state(state);
        let ended = resume(&there, "t", json!({}), broken, Answer::approve()).await;
        assert!(fatal_text(&ended).contains(why), "{ended:?}");
    }
    assert_eq!(tool.count(), 0);
}

#[tokio::test]
async fn an_uncertain_call_that_shall_run_again_runs_from_the_start() {
    let tool = Echo::new("t");
    let executor = executor_of([tool.clone()]).build().unwrap();
    let asked = Question::new("call", 0, QuestionKind::Uncertain, "Run it again?");
    text(&resume(&executor, "t", json!({"x": 1}), asked.clone(), Answer::approve()).await);
    error_text(&resume(&executor, "t", json!({"x": 1}), asked, Answer::deny("leave it")).await);
    assert_eq!(tool.count(), 1);
}

#[derive(Deserialize, JsonSchema)]
struct Book {
    city: String,
}

/// Asks for a day, then for a room, then books.
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
async fn a_tool_asks_for_input_until_it_knows_enough() {
    // It asks the approver once, then its own questions; the yes goes along with them.
    let policy = ToolPolicy::new(asking()).with_approver(Scripted::new([Approval::once()]));
    let executor = executor_of([booking()]).policy(policy).build().unwrap();
    let arguments = json!({"city": "Rome"});
    let day = saved(&question(settle(&executor, "t", arguments.clone()).await));
    assert_eq!(
        (day.kind, &*day.id.0, day.prompt.as_str()),
        (QuestionKind::Input, "call?0", "Which day?")
    );
    let room = resume(&executor, "t", arguments.clone(), day, Answer::Value(json!("Monday"))).await;
    let room = saved(&question(room));
    assert_eq!((&*room.id.0, room.prompt.as_str()), ("call?1", "Which room?"));
    let booked = resume(&executor, "t", arguments, room, Answer::Value(json!("101"))).await;
    assert_eq!(text(&booked), r#""101" in Rome on "Monday""#);
}

#[cfg(feature = "schema")]
#[tokio::test]
async fn an_answer_of_the_wrong_form_is_asked_again() {
    let executor = executor_of([booking()]).build().unwrap();
    let arguments = json!({"city": "Rome"});
    let day = question(settle(&executor, "t", arguments.clone()).await);
    let again = question(resume(&executor, "t", arguments.clone(), day, Answer::Value(json!(7))).await);
    assert_eq!(&*again.id.0, "call?1");
    assert!(
        again
            .prompt
            .starts_with("Which day?\n(The last answer was not of the form that is needed: $: 7 is not")
    );
    let room = question(resume(&executor, "t", arguments, saved(&again), Answer::Value(json!("Monday"))).await);
    assert_eq!((&*room.id.0, room.prompt.as_str()), ("call?2", "Which room?"));
}

#[tokio::test]
async fn the_answer_is_seen_by_no_other_call() {
    let tool = typed(
        "plain",
        "Sees no answer.",
        |_: NoArguments, context: ToolContext| async move { Ok(context.answer().is_some()) },
    );
    let executor = executor_of([tool]).build().unwrap();
    let outcome: ToolOutcome = settle(&executor, "plain", json!({})).await;
    assert_eq!(text(&outcome), "false");
}
