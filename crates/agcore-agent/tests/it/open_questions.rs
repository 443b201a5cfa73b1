//! Messages that arrive while questions of a suspended turn are open.

use agcore_agent::{AgentConfig, AgentErrorKind, AgentSession, BusyPolicy, OpenQuestionPolicy, agent};
use agcore_chat::{Answer, Message, ToolCall};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

/// Returns a session in which one turn asks twice.
async fn asking(config: AgentConfig, answers: &[&str]) -> (AgentSession, ScriptedProvider) {
    let calls = ["a", "b"].map(|id| ToolCall::function(id, "pay", "{}"));
    let steps = answers.iter().map(|answer| ScriptStep::text(*answer));
    let provider = ScriptedProvider::new([ScriptStep::calls(calls)].into_iter().chain(steps));
    let session = agent(provider.clone())
        .with_tool(typed("pay", "Pays the bill.", |_: NoArguments| async { Ok("paid") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .with_config(config)
        .session()
        .unwrap();
    let outcome = session.turn("Pay both bills.").await.unwrap();
    assert_eq!(outcome.questions().len(), 2);
    (session, provider)
}

fn users(provider: &ScriptedProvider) -> Vec<String> {
    let requests = provider.requests();
    let messages = requests.last().unwrap().messages.iter();
    let users = messages.filter(|message| matches!(***message, Message::User(_)));
    users.map(|message| message.text().into_owned()).collect()
}

#[tokio::test]
async fn a_message_waits_until_the_questions_are_answered() {
    let (session, provider) = asking(AgentConfig::new(), &["Both are paid.", "First.", "Second."]).await;
    let mut first = Box::pin(session.turn("One more thing").run());
    let mut second = Box::pin(session.turn("And another").run());
    assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());

    let questions = session.questions().await;
    session
        .resume([(questions[0].id.clone(), Answer::approve())])
        .await
        .unwrap();
    assert!((&mut first).now_or_never().is_none(), "one question is still open");
    assert_eq!(session.questions().await.len(), 1);

    let answered = session.resume([(questions[1].id.clone(), Answer::approve())]);
    let (second, first, answered) = tokio::join!(second, first, answered);
    assert_eq!(answered.unwrap().text(), "Both are paid.");
    assert_eq!(
        (first.unwrap().text(), second.unwrap().text()),
        ("First.".into(), "Second.".into())
    );
    assert_eq!(users(&provider), ["Pay both bills.", "One more thing", "And another"]);
}

#[tokio::test]
async fn a_message_that_waits_runs_once_the_questions_are_withdrawn() {
    let (session, provider) = asking(AgentConfig::new(), &["Fine."]).await;
    let mut waiting = Box::pin(session.turn("Never mind").run());
    assert!((&mut waiting).now_or_never().is_none());
    assert!(session.abandon_turn().await.unwrap());
    assert_eq!(waiting.await.unwrap().text(), "Fine.");
    provider.assert_done();
}

#[tokio::test]
async fn a_message_that_waits_can_be_cancelled_or_dropped() {
    let (session, _) = asking(AgentConfig::new(), &["Fine."]).await;
    let token = CancellationToken::new();
    let mut waiting = Box::pin(session.turn("Hello?").with_token(token.clone()).run());
    assert!((&mut waiting).now_or_never().is_none());
    token.cancel();
    assert!(waiting.await.unwrap_err().is_cancelled());
    let mut dropped = Box::pin(session.turn("Hello?").run());
    assert!((&mut dropped).now_or_never().is_none());
    drop(dropped);
    let questions = session.questions().await;
    assert_eq!(questions.len(), 2);
    let answers = questions
        .iter()
        .map(|question| (question.id.clone(), Answer::deny("no")));
    assert_eq!(session.resume(answers).await.unwrap().text(), "Fine.");
}

#[tokio::test]
async fn a_message_can_be_refused_or_withdraw_the_questions() {
    for busy in [BusyPolicy::Refuse, BusyPolicy::Queue, BusyPolicy::Interrupt] {
        let config = AgentConfig::new().with_busy(busy);
        let refusing = config.clone().with_open_questions(OpenQuestionPolicy::Refuse);
        let (session, _) = asking(refusing, &["Both are paid."]).await;
        let error = session.turn("Something else").await.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (AgentErrorKind::Busy, true));
        assert_eq!(
            error.to_string(),
            "the session waits for the answer to 2 questions, the first one about the tool `pay`; answer with `resume`, \
             withdraw with `abandon_turn`, or choose another OpenQuestionPolicy"
        );
        let answers = session.questions().await;
        let answers = answers.iter().map(|question| (question.id.clone(), Answer::approve()));
        assert_eq!(session.resume(answers).await.unwrap().text(), "Both are paid.");

        let withdrawing = config.with_open_questions(OpenQuestionPolicy::Withdraw);
        let (session, _) = asking(withdrawing, &["Something else."]).await;
        assert_eq!(session.turn("Something else").await.unwrap().text(), "Something else.");
        assert!(session.questions().await.is_empty());
    }
}

#[tokio::test]
async fn a_compaction_does_not_wait_for_answers() {
    let (session, _) = asking(AgentConfig::new(), &[]).await;
    session
        .compact()
        .now_or_never()
        .expect("it waits for no answer")
        .unwrap();
    assert_eq!(session.questions().await.len(), 2);
}
