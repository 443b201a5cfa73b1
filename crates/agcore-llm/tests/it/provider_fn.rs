//! Functions as providers.

use agcore_chat::{AnsweredBy, ChatRequest, ChatResponse, Message};
use agcore_llm::{LlmProviderExt, provider_fn};

#[tokio::test]
async fn a_function_can_set_which_provider_answered() {
    let answered_by = Some(AnsweredBy::new("openai", "gpt"));
    let response = ChatResponse {
        answered_by,
        ..ChatResponse::default()
    };
    let known = response.clone();
    let provider = provider_fn(move |_| std::future::ready(Ok(known.clone())));
    assert_eq!(
        provider.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap(),
        response
    );
}
