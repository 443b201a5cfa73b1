//! Functions as providers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use agcore_chat::{AnsweredBy, ChatRequest, ChatResponse, Message};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, ReplyDelta, ReplyItem, ReplyStream,
    layer::retry::RetryPolicy, provider_fn,
};
use futures_util::{FutureExt, StreamExt, stream};

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

/// A provider that never answers and ignores the token of its calls.
#[derive(Debug)]
struct Deaf;

impl LlmProvider for Deaf {
    fn open(&self, _: Call) -> ReplyStream {
        let text = ReplyItem::Delta(ReplyDelta::Text {
            choice: 0,
            text: "half".into(),
        });
        ReplyStream::new(stream::iter([text]).chain(stream::pending()))
    }
}

#[tokio::test]
async fn a_token_ends_a_call_even_if_the_provider_ignores_it() {
    let call = Call::new(ChatRequest::new([Message::user("Hello")]));
    let token = call.token.clone();
    let mut response = Deaf.chat_call(call);
    assert!((&mut response).now_or_never().is_none());
    token.cancel();
    let error = response.now_or_never().unwrap().unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Cancelled);
    assert_eq!(error.partial().unwrap().text(), "half");
}

#[tokio::test]
async fn a_token_ends_a_stream_that_is_given_it() {
    let call = Call::new(ChatRequest::new([Message::user("Hello")]));
    let token = call.token.clone();
    let mut reply = Deaf.open(call).with_token(token.clone());
    assert!(matches!(reply.next().await, Some(ReplyItem::Delta(_))));
    assert!(reply.next().now_or_never().is_none());
    token.cancel();
    let Some(ReplyItem::End(Err(error))) = reply.next().await else {
        panic!("the reply ends");
    };
    assert_eq!(error.kind(), LlmErrorKind::Cancelled);
    assert!(reply.next().await.is_none());
}

#[tokio::test]
async fn a_bare_provider_is_retried_in_one_step() {
    let failures = Arc::new(AtomicU32::new(2));
    let left = Arc::clone(&failures);
    let provider = provider_fn(move |_| {
        let fails = left.load(Ordering::SeqCst) > 0;
        if fails {
            left.fetch_sub(1, Ordering::SeqCst);
        }
        async move {
            match fails {
                true => Err(LlmError::new(LlmErrorKind::Overloaded, "later")),
                false => Ok(ChatResponse::from_text("Hi.")),
            }
        }
    });
    let policy = RetryPolicy::new().with_backoff(Duration::ZERO, Duration::ZERO);
    let provider = provider.with_retry(policy);
    let response = provider.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap();
    assert_eq!((response.text().as_ref(), failures.load(Ordering::SeqCst)), ("Hi.", 0));
}
