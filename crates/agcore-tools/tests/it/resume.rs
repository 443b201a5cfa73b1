//! Questions: calls that are suspended, saved as JSON, and resumed in another process without running twice.

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
async fn runs_the_arguments_that_the_person_saw() {
    let tool = Echo::new("t");
    let asked = suspend(&tool, json!({"x": 1})).await;
    // The call has other arguments now than the person saw.
    let outcome = resume(
        &other_process(&tool, ask_about_t()),
        "t",
        json!({"x": 666}),
        asked,
        Answer::approve(),
    )
    .await;
    assert_eq!(text(&outcome), r#"{"x":1}"#);
}

#[tokio::test]
async fn checks_edited_arguments_against_the_rules() {
    let tool = Echo::new("t");
    let edit = |path: &str| Answer::Approve {
        arguments: json!({"path": path}).as_object().cloned(),
        scope: ApprovalScope::Once,
    };
    let etc = Rule::argument(RuleState::Deny, "*", "$.path", ArgumentTest::Within("/etc".into())).unwrap();
    let asked = suspend(&tool, json!({"path": "/a"})).await;
    let executor = other_process(&tool, ask_about_t().with_rule(etc));
    let outcome = resume(&executor, "t", json!({}), asked.clone(), edit("/etc/passwd")).await;
    assert!(error_text(&outcome).contains("permission denied"));
    assert_eq!(tool.count(), 0);
    assert_eq!(
        text(&resume(&executor, "t", json!({}), asked, edit("/b")).await),
        r#"{"path":"/b"}"#
    );
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
    let answer = Answer::Approve {
        arguments: None,
        scope: ApprovalScope::Session,
    };
    text(&resume(&executor, "t", json!({}), asked, answer).await);
    text(&settle(&executor, "t", json!({"other": 1})).await);
    assert_eq!((tool.count(), session.grants().len()), (2, 1));
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
    let asked = Question::new("call", 0, QuestionKind::Uncertain, "Run it again?");
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

#[cfg(feature = "schema")]
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
