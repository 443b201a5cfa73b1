//! A cancellation of a call whose data never has to be waited for: the server is faster than the reader.

use std::sync::Arc;

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ReplyDelta, ReplyItem, WireProvider, dialect,
    transport::{Transport, TransportReply},
    wire::{ReplyHead, WireRequest, openai_chat::OpenAiChat},
};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// A server whose reply has to be waited for only until it starts.
#[derive(Debug)]
struct Fast;

#[async_trait::async_trait]
impl Transport for Fast {
    async fn send(&self, _: WireRequest, _: bool) -> Result<TransportReply, LlmError> {
        tokio::task::yield_now().await;
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "word "}}]});
        let chunks = stream::repeat(format!("data: {chunk}\n\n")).take(1000);
        Ok(TransportReply {
            head: ReplyHead::default(),
            body: chunks.map(|chunk| Ok(chunk.into())).boxed(),
        })
    }
}

#[tokio::test]
async fn a_reply_that_is_always_ready_can_be_cancelled() {
    let wire = Arc::new(OpenAiChat::new(dialect::openai()));
    let provider = WireProvider::new(ProviderInfo::new("fast", "m"), wire, Arc::new(Fast));
    let token = CancellationToken::new();
    let call = Call::new(ChatRequest::new([Message::user("Hi")]))
        .with_stream(true)
        .with_token(token.clone());
    let (mut items, mut words) = (provider.open(call), 0);
    let end = loop {
        match items.next().await.unwrap() {
            ReplyItem::Delta(ReplyDelta::Text { .. }) => {
                words += 1;
                if words == 3 {
                    token.cancel();
                }
            }
            ReplyItem::End(end) => break end,
            _ => {}
        }
    };
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Cancelled);
    assert_eq!(words, 3, "nothing is read after the cancellation");
}
