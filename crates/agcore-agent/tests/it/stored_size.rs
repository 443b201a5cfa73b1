//! The size of a stored session.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, ChatResponse, ToolCall, Usage};
use agcore_llm::{SystemClock, provider_fn};
use agcore_session::{Journal, stream_of};
use agcore_store::sqlite::SqliteStore;
use agcore_tools::{NoArguments, typed};

use crate::stored::ada;

/// Two hundred turns with a tool call each, with every state of every turn.
#[tokio::test]
async fn two_hundred_turns_take_less_than_a_mebibyte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let store = Arc::new(SqliteStore::open(&file, Arc::new(SystemClock::new())).await.unwrap());
    let provider = provider_fn(|call| async move {
        let mut response =
            ChatResponse::from_text("It takes about two hours to walk there, and twenty minutes by bus.");
        let last = call.request.messages.last();
        if last.is_some_and(|message| message.role() == agcore_chat::Role::User) {
            let call = ToolCall::function(format!("call_{}", call.request.messages.len()), "look", "{}");
            response.choices[0].message = AssistantMessage::default().with_call(call);
        }
        response.usage = Some(Usage::new(1200, 40));
        Ok(response)
    });
    let bundle = agcore_agent::agent(provider)
        .with_tool(typed("look", "Looks.", |_: NoArguments| async {
            Ok("ten kilometres, with one bridge")
        }))
        .with_session_store(Arc::clone(&store))
        .build()
        .unwrap();
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s-1", ada()).await.unwrap();
    for turn in 0..200 {
        session
            .turn(format!(
                "Question {turn}: how far is it from here to the river, and how do I get there?"
            ))
            .await
            .unwrap();
    }
    let records = store.read(&stream_of("local", "s-1"), 1).await.unwrap();
    assert_eq!(records.len(), 4 * 200);
    assert_eq!(
        sessions.open("s-1", ada()).await.unwrap().messages().await.len(),
        4 * 200
    );
    drop((session, sessions, bundle));
    Arc::into_inner(store).unwrap().close().await;
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(size <= 1024 * 1024, "{size} bytes");
}
