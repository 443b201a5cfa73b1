//! A turn in which the model calls one tool, without a network and a disk.

use agcore_agent::agent;
use agcore_chat::{AssistantMessage, ChatResponse, Role, ToolCall};
use agcore_llm::provider_fn;
use agcore_tools::typed;

use crate::{ANSWER, Place, allocated, look_up, runtime, turn};

/// Returns the reply of the model to a conversation that ends with a message of this role.
fn reply(last: Option<Role>) -> ChatResponse {
    if last == Some(Role::Tool) {
        return ChatResponse::from_text(ANSWER);
    }
    let mut response = ChatResponse::from_text("");
    let call = ToolCall::function("call_1", "look_up", r#"{"city": "Paris"}"#);
    response.choices[0].message = AssistantMessage::default().with_call(call);
    response
}

#[test]
fn a_turn_with_one_tool_costs_at_most_120_allocations() {
    let model = provider_fn(|call| async move { Ok(reply(call.request.messages.last().map(|last| last.role()))) });
    let session = agent(model)
        .with_tool(typed("look_up", "Looks it up.", |place: Place| look_up(place)))
        .session()
        .unwrap();
    let runtime = runtime();
    let (each, _) = allocated(&runtime, async || {
        session.set_messages(Vec::new()).await.unwrap();
        let (_, outcome) = turn(&session).await;
        assert_eq!(outcome.report().unwrap().rounds, 1);
        assert_eq!(outcome.text(), ANSWER);
    });

    println!("{each} allocations");
    assert!(each <= 120.0, "{each} allocations for a turn with one tool");
}
