//! The memory of sessions that wait for the next turn.

use std::sync::Arc;

use agcore_agent::agent;
use agcore_chat::{AssistantMessage, ChatResponse, Message, Role, ToolCall};
use agcore_llm::provider_fn;
use agcore_tools::typed;
use allocation_counter::measure;

use crate::{ANSWER, Place, look_up, runtime};

const SESSIONS: u32 = 10_000;

/// Returns the bytes that each of many values keeps.
fn kept<T>(make: impl Fn() -> T) -> f64 {
    let mut values = Vec::with_capacity(SESSIONS as usize);
    // What is allocated only once.
    values.push(make());
    let info = measure(|| values.extend((1..SESSIONS).map(|_| make())));
    info.bytes_current as f64 / f64::from(SESSIONS - 1)
}

#[test]
fn ten_thousand_idle_sessions_keep_at_most_2_5_kib_each_beyond_their_messages() {
    let model = provider_fn(|call| async move {
        let is_answered = call
            .request
            .messages
            .last()
            .is_some_and(|last| last.role() == Role::Tool);
        let mut response = ChatResponse::from_text(ANSWER);
        if !is_answered {
            let call = ToolCall::function("call_1", "look_up", r#"{"city": "Paris"}"#);
            response.choices[0].message = AssistantMessage::default().with_call(call);
        }
        Ok(response)
    });
    let bundle = agent(model)
        .with_tool(typed("look_up", "Looks it up.", |place: Place| look_up(place)))
        .build()
        .unwrap();
    let (runtime, agent) = (runtime(), crate::agent());
    let used = || {
        let session = bundle.session("s-1", Arc::clone(&agent));
        runtime.block_on(async { session.turn("What about Paris?").await.unwrap() });
        session
    };
    let session = used();
    let messages = runtime.block_on(session.messages());
    assert_eq!(messages.len(), 4);
    let messages = serde_json::to_string(&messages).unwrap();
    let of_messages = kept(|| serde_json::from_str::<Vec<Arc<Message>>>(&messages).unwrap());
    let of_sessions = kept(used);
    let beyond = (of_sessions - of_messages) / 1024.0;

    println!("{beyond:.2} KiB, beyond {:.2} KiB of messages", of_messages / 1024.0);
    assert!((0.1..=2.5).contains(&beyond), "{beyond} KiB for an idle session");
}
