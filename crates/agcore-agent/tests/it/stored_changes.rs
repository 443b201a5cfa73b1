//! Sessions in a store: approvals as rows, changes between turns that are written at once, copies of whole sessions.

use std::sync::Arc;

use agcore_agent::{AgentSpec, agent};
use agcore_chat::{Actor, Answer, Message, ToolCall};
use agcore_session::{
    Approval, ApprovalFilter, ApprovalStatus, MessageFilter, SessionStatus, SessionStore, SessionWriter,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

use crate::stored::{ada, call, sessions, store};

async fn approvals(store: &dyn SessionStore) -> Vec<Approval> {
    store
        .approvals(&ApprovalFilter::owned_by(Actor::local()))
        .await
        .unwrap()
}

#[tokio::test]
async fn questions_are_rows_that_close_with_the_turn() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "pay"), call("b", "pay")]),
        ScriptStep::text("One was paid."),
        ScriptStep::calls([call("c", "pay")]),
        ScriptStep::text("Never mind."),
    ]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Pay both.").await.unwrap();
    let asked = approvals(&*store).await;
    assert_eq!(asked.len(), 2);
    assert!(
        asked
            .iter()
            .all(|row| row.status == ApprovalStatus::Open && row.question["tool"] == "pay")
    );

    // One is answered by another process, the other one here.
    let id = asked[0].id.as_str();
    let allow = serde_json::to_value(Answer::approve()).unwrap();
    store
        .answer("local", "s-1", id, allow.clone(), &Actor::local())
        .await
        .unwrap();
    let session = sessions.open("s-1", ada()).await.unwrap();
    session.resume([(id.into(), Answer::approve())]).await.unwrap();
    assert_eq!(approvals(&*store).await.len(), 2, "a question was asked again");
    let deny = Answer::deny("no");
    session
        .resume([(asked[1].id.as_str().into(), deny.clone())])
        .await
        .unwrap();
    let closed = approvals(&*store).await;
    assert!(closed.iter().all(|row| row.status == ApprovalStatus::Answered));
    assert_eq!(closed[0].answer, Some(allow));
    assert_eq!(closed[1].answer, Some(serde_json::to_value(deny).unwrap()));

    // A question without an answer is withdrawn with its turn.
    session.turn("Pay again.").await.unwrap();
    assert!(session.abandon_turn().await.unwrap());
    session.turn("Stop.").await.unwrap();
    assert_eq!(approvals(&*store).await[2].status, ApprovalStatus::Withdrawn);
}

#[tokio::test]
async fn changes_between_turns_are_written_on_request() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Good.")]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Hello.").await.unwrap();
    session.add_message(Message::user("And")).await.unwrap();
    session.add_message(Message::assistant("Half of an ans")).await.unwrap();
    let opened = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(opened.messages().await.len(), 4);
    let rows = sessions.messages("s-1", &MessageFilter::new()).await.unwrap();
    assert_eq!(rows[3].content, "Half of an ans");

    opened
        .set_messages(session.messages().await[..2].to_vec())
        .await
        .unwrap();
    opened.save().await.unwrap();
    let opened = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(opened.messages().await.len(), 2);
    // What is written between turns and what turns write fit together.
    opened.turn("How are you?").await.unwrap();
    let opened = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(opened.messages().await.len(), 4);
}

#[tokio::test]
async fn a_copy_ends_an_open_turn_and_leaves_the_original_alone() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::text("Hi."),
        ScriptStep::calls([call("a", "say"), call("b", "pay")]),
        ScriptStep::text("Fine."),
    ]);
    let sessions = sessions(&provider, Arc::clone(&store)).with_metadata("folder", "notes");
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Hello.").await.unwrap();
    session.turn("Say it and pay.").await.unwrap();

    let copy = sessions.branch("s-1", ada()).await.unwrap();
    assert!(!copy.is_suspended().await && !copy.is_interrupted().await);
    let texts: Vec<String> = copy
        .messages()
        .await
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert!(texts.iter().any(|text| text == "said"), "{texts:?}");
    copy.turn("Go on.").await.unwrap();
    let id = copy.id().to_owned();
    let copy = sessions.open(&id, ada()).await.unwrap();
    assert_eq!(copy.messages().await.last().unwrap().text(), "Fine.");
    let info = sessions.get(&id).await.unwrap().unwrap();
    assert_eq!(info.metadata["folder"], "notes");
    assert_eq!(info.origin.unwrap().session, "s-1");
    assert_eq!(info.title.as_deref(), Some("Hello."));

    let original = sessions.open("s-1", ada()).await.unwrap();
    assert!(original.is_suspended().await);
    assert_eq!(
        sessions.get("s-1").await.unwrap().unwrap().status,
        SessionStatus::Pending
    );
}

#[tokio::test]
async fn a_saved_conversation_replaces_the_one_of_a_session() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Ada.")]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("I am Ada.").await.unwrap();
    let saved = session.export().await;

    let other = sessions.create("s-2", ada()).await.unwrap();
    other.replace(saved).await.unwrap();
    let other = sessions.open("s-2", ada()).await.unwrap();
    assert_eq!(other.usage().await.calls, 1);
    assert_eq!(sessions.messages("s-2", &MessageFilter::new()).await.unwrap().len(), 2);
    assert_eq!(other.turn("Who am I?").await.unwrap().text(), "Ada.");
    assert_eq!(sessions.open("s-2", ada()).await.unwrap().messages().await.len(), 4);
}

#[tokio::test]
async fn an_abandoned_turn_is_closed_in_the_store() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "pay")]), ScriptStep::text("Fine.")]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Pay.").await.unwrap();
    session.abandon_turn().await.unwrap();
    session.save().await.unwrap();
    assert_eq!(approvals(&*store).await[0].status, ApprovalStatus::Withdrawn);
    let session = sessions.open("s-1", ada()).await.unwrap();
    assert!(!session.is_suspended().await);
    session.turn("Go on.").await.unwrap();
    assert_eq!(
        sessions.get("s-1").await.unwrap().unwrap().status,
        SessionStatus::Completed
    );
}

#[tokio::test]
async fn a_copy_of_a_conversation_that_was_handed_over_starts_with_the_same_agent() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("a", "transfer_to_bob", r#"{"reason": "paper"}"#)]),
        ScriptStep::text("Bob here."),
        ScriptStep::text("Still Bob."),
    ]);
    let desk = || AgentSpec::new("desk", "You are the desk.").with_handoffs(["bob"]);
    let sessions = agent(model.clone())
        .with_member(AgentSpec::new("bob", "You are Bob."))
        .with_session_store(store())
        .build()
        .unwrap()
        .stored_sessions()
        .unwrap();
    let session = sessions.create("s-1", desk()).await.unwrap();
    session.turn("Paper, please.").await.unwrap();
    assert_eq!(session.agent().name(), "bob");

    let copy = sessions.branch("s-1", desk()).await.unwrap();
    assert_eq!(copy.agent().name(), "bob");
    let copy = sessions.open(copy.id(), desk()).await.unwrap();
    assert_eq!(copy.agent().name(), "bob");
    copy.turn("Who are you?").await.unwrap();
    assert_eq!(model.requests()[2].messages[0].text(), "You are Bob.");
}
