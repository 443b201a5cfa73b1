//! The Responses decoder upholds the invariants of decoders, and every decoded reply can be sent back.
#![no_main]

use agcore_chat::{ChatRequest, ChatResponse, Message};
use agcore_fuzz::{Choices, decoder::check_decoder};
use agcore_llm::wire::{Chat, EncodeOptions, Wire, openai_responses::OpenAiResponses};
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["text/event-stream", "application/json", "text/html"];

/// Sends the messages of a response back in a request, which must be valid JSON.
fn send_back(response: ChatResponse, store: bool) {
    let messages = response.choices.into_iter().map(|choice| Message::from(choice.message));
    let mut request = ChatRequest::new(
        messages.filter(|message| message.as_assistant().is_some_and(|message| message.name.is_none())),
    );
    request.store = Some(store);
    let encoded = Wire::<Chat>::encode(&OpenAiResponses::new(), &request, &EncodeOptions::new("m"));
    let encoded = encoded.expect("a reply can be sent back");
    serde_json::from_slice::<serde_json::Value>(&encoded.body).expect("a request is JSON");
}

fuzz_target!(|body: &[u8]| {
    let mut choices = Choices::new(body);
    let response = check_decoder(&OpenAiResponses::new(), TYPES, body, &mut choices);
    send_back(response, choices.below(2) == 0);
});
