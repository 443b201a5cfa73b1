//! Events and usage of the loop for the attempts of retries and routers below it.

use std::sync::Arc;

use agcore_chat::{EventKind, ModelEvent, Usage};
use agcore_llm::{
    LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ReplyDelta, ReplyItem,
    layer::{
        key_pool::PoolKey,
        retry::{MidStream, Retry, RetryPolicy},
        router::{Route, Router},
    },
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

use crate::support::{RawProvider, cycle};

fn retry<P: LlmProvider + 'static>(provider: P, policy: RetryPolicy) -> Retry<P> {
    Retry::new(provider, policy, Arc::new(ManualClock::jumping()), Arc::new(|| 1.0))
}

fn text(text: &str) -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Text {
        choice: 0,
        text: text.into(),
    })
}

fn usage() -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Usage(Box::new(Usage::new(10, 5))))
}

fn failed(kind: LlmErrorKind) -> ReplyItem {
    ReplyItem::End(Err(LlmError::new(kind, "no")))
}

#[tokio::test]
async fn an_attempt_with_usage_but_no_content_is_retried_and_counted() {
    let provider = RawProvider::new([
        vec![usage(), failed(LlmErrorKind::Overloaded)],
        vec![text("whole"), ReplyItem::End(Ok(()))],
    ]);
    let mut cycle = cycle(&Arc::new(retry(provider, RetryPolicy::new())));
    assert_eq!(cycle.turn("Hello").await.unwrap().text(), "whole");
    assert_eq!((cycle.usage().calls, cycle.usage().usage.total()), (2, Some(15)));
}

#[tokio::test]
async fn the_usage_of_a_failed_attempt_counts_once_through_two_layers() {
    let restart = |retries| {
        RetryPolicy::new()
            .with_mid_stream(MidStream::Restart)
            .with_max_retries(retries)
    };
    let provider = RawProvider::new([
        vec![text("half"), usage(), failed(LlmErrorKind::Server)],
        vec![failed(LlmErrorKind::Server)],
        vec![text("whole"), usage(), ReplyItem::End(Ok(()))],
    ]);
    let mut cycle = cycle(&Arc::new(retry(retry(provider, restart(1)), restart(2))));
    assert_eq!(cycle.turn("Hello").await.unwrap().text(), "whole");
    assert_eq!((cycle.usage().calls, cycle.usage().usage.total()), (2, Some(30)));
}

#[tokio::test]
async fn the_events_state_which_provider_answered() {
    let route = |name: &str, label: &str, step: ScriptStep| {
        let provider = ScriptedProvider::new([step]).with_info(ProviderInfo::new(name, "m-1"));
        Route::from_keys(name, [PoolKey::new(label, provider)])
    };
    let error = LlmError::new(LlmErrorKind::Server, "no");
    let router = Router::builder(Arc::new(ManualClock::new()), Arc::new(|| 0.5))
        .with_route(route("a", "team", ScriptStep::error(error)))
        .with_route(route("b", "spare", ScriptStep::text("Hi.")))
        .build()
        .unwrap();
    let mut cycle = cycle(&Arc::new(router));
    let mut events = cycle.turn("Hello").stream();
    let mut reported = Vec::new();
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::Model(ModelEvent::AnsweredBy(answered_by)) => {
                reported.push(format!("{}/{}", answered_by.provider, answered_by.key.unwrap()));
            }
            EventKind::Model(ModelEvent::RetryScheduled { attempt, .. }) => reported.push(format!("retry {attempt}")),
            _ => {}
        }
    }
    assert_eq!(reported, ["retry 1", "b/spare"]);
}
