//! The requests of clients of OpenAI: any bytes are either read or refused with a message, and nothing that is read passes for a part
//! of the server: no instruction of the application, no mark but that of the client's instructions, no data of a vendor.
#![no_main]

use agcore_chat::{Block, Content, Message, Origin, validate_messages};
use agcore_openai::{CallId, ChatCompletionRequest, Conversation, Ending, RequestLimits, ResponseId, ResponsesRequest};
use libfuzzer_sys::fuzz_target;

fn check_content(content: &Content) {
    let Content::Parts(parts) = content else { return };
    for part in parts {
        let Some(marks) = part.marks() else { continue };
        assert!(marks.cache.is_none() && marks.origin.as_ref().is_none_or(|origin| *origin == Origin::Context));
    }
}

fn check(conversation: &Conversation) {
    let mut all = conversation.history.clone();
    if let Ending::Message(message) = &conversation.end {
        all.push((**message).clone());
        assert!(validate_messages(&all).is_ok());
    }
    for message in &all {
        match message {
            Message::User(user) => check_content(&user.content),
            Message::Tool(result) => check_content(&result.content),
            Message::Assistant(reply) => {
                assert!(
                    reply
                        .blocks
                        .iter()
                        .all(|block| matches!(block, Block::Text(_) | Block::Call(_)))
                );
                assert!(reply.extra.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let limits = RequestLimits::new();
    match ChatCompletionRequest::from_slice(input, &limits) {
        Ok(request) => check(&request.conversation),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match ResponsesRequest::from_slice(input, &limits) {
        Ok(request) => check(&request.conversation),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let text = String::from_utf8_lossy(input);
    if let Some(id) = CallId::decode(&text) {
        assert_eq!(id.encode(), text);
    }
    if let Some(id) = ResponseId::decode(&text) {
        assert_eq!(id.encode(), text);
    }
});
