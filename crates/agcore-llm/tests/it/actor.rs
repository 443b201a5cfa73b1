//! The actor of a call reaches the provider through every layer and in every attempt.

use std::sync::{Arc, Mutex};

use agcore_chat::{Actor, ChatResponse};
use agcore_llm::{
    Call, LlmErrorKind, LlmProvider, LlmProviderExt, ReplyDelta, ReplyItem, ReplyStream,
    cassette::{CassetteBuffer, RecordingProvider},
    layer::{
        adapt::Adapt,
        key_pool::PoolKey,
        rate_limit::RateLimits,
        retry::{Retry, RetryPolicy},
        router::{Route, Router},
        trace::Trace,
    },
    provider_fn,
};
use agcore_testkit::{clock::ManualClock, spans::SpanLog};
use futures_util::FutureExt;

use crate::support::{always, error, request};

/// A provider that is overloaded at first, and records for whom it is called.
#[derive(Debug, Clone, Default)]
struct Actors(Arc<Mutex<Vec<Actor>>>);

impl LlmProvider for Actors {
    fn open(&self, call: Call) -> ReplyStream {
        let mut actors = self.0.lock().unwrap();
        actors.push(call.actor().clone());
        if actors.len() < 4 {
            return ReplyStream::failed(error(LlmErrorKind::RateLimit));
        }
        let text = "Hi.".into();
        ReplyStream::from_items([
            ReplyItem::Delta(ReplyDelta::Text { choice: 0, text }),
            ReplyItem::End(Ok(())),
        ])
    }
}

#[tokio::test]
async fn every_layer_passes_the_actor_on() {
    let actors = Actors::default();
    let clock = Arc::new(ManualClock::jumping());
    let keys = ["team", "spare"].map(|label| PoolKey::new(label, actors.clone()));
    let limits = RateLimits::new().with_requests_per_minute(100);
    let router = Router::builder(clock.clone(), always(0.5))
        .with_adapted_requests(true)
        .with_route(Route::from_keys("main", keys).with_limits(limits))
        .with_route(Route::new("other", actors.clone()))
        .build()
        .unwrap();
    let recorded = RecordingProvider::new(router, CassetteBuffer::new(), clock.clone());
    let retried = Retry::new(
        Adapt::new(recorded).with_relaxed(true),
        RetryPolicy::new(),
        clock.clone(),
        always(0.5),
    );
    let ann = Actor::new("acme", "ann").with_line("support");
    let traced = Trace::new(retried, clock);
    let response = traced
        .chat_call(Call::new(request()).with_actor(ann.clone()))
        .await
        .unwrap();
    assert_eq!(response.text(), "Hi.");
    let seen = actors.0.lock().unwrap();
    assert_eq!(*seen, vec![ann; seen.len()]);
    assert_eq!(seen.len(), 4, "two keys and another route, and one of them again");
}

#[test]
fn spans_name_the_user_only_where_content_is_recorded() {
    for (content, actor, expected) in [
        (false, Some(Actor::user("ann")), None),
        (true, Some(Actor::user("ann")), Some("ann")),
        (true, None, None),
    ] {
        let log = SpanLog::new();
        log.record(|| {
            let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
            let traced = Trace::new(provider, Arc::new(ManualClock::new())).with_content(content);
            let mut call = Call::new(request());
            if let Some(actor) = actor {
                call = call.with_actor(actor);
            }
            traced.chat_call(call).now_or_never().unwrap().unwrap();
        });
        assert_eq!(log.only("chat").field("enduser.id"), expected);
    }
}
