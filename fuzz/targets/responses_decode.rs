//! The decoder of the Responses wire keeps its promises, and what it said can be sent back.
#![no_main]

use agcore_chat::{ChatRequest, ChatResponse, Message};
use agcore_fuzz::{Chance, decoder::judge};
use agcore_llm::wire::{Chat, EncodeOptions, Wire, openai_responses::OpenAiResponses};
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["text/event-stream", "application/json", "text/html"];

/// What was said goes back as JSON, whatever it was.
fn send_back(response: ChatResponse, store: bool) {
    let said = response.choices.into_iter().map(|choice| Message::from(choice.message));
    let mut request = ChatRequest::new(said.filter(|said| said.as_assistant().is_some_and(|said| said.name.is_none())));
    request.store = Some(store);
    let sent = Wire::<Chat>::encode(&OpenAiResponses::new(), &request, &EncodeOptions::new("m"));
    let sent = sent.expect("a reply can be sent back");
    serde_json::from_slice::<serde_json::Value>(&sent.body).expect("a request is JSON");
}

fuzz_target!(|body: &[u8]| {
    let mut chance = Chance::of(body);
    let response = judge(&OpenAiResponses::new(), TYPES, body, &mut chance);
    send_back(response, chance.below(2) == 0);
});
