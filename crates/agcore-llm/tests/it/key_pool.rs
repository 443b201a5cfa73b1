//! Several keys of one vendor.

use std::sync::{Arc, Mutex};

use agcore_chat::{ChatResponse, Clock};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider,
    layer::{
        key_pool::{DisabledReason, KeyPool, KeyPoolPolicy, KeyPoolState, PoolKey},
        retry::MidStream,
    },
    provider_fn,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::{FutureExt, future};

use crate::support::{error, manual_clock, provider, request, run, seconds, send, steps};

/// A pool of the keys `a`, `b` … with these scripts.
fn pool(scripts: &[&str], policy: KeyPoolPolicy, clock: Arc<dyn Clock>) -> (KeyPool, Vec<ScriptedProvider>) {
    let providers: Vec<ScriptedProvider> = scripts.iter().map(|script| provider("vendor", steps(script))).collect();
    let labels = ["a", "b", "c"];
    let keys = labels
        .into_iter()
        .zip(&providers)
        .map(|(label, provider)| PoolKey::new(label, provider.clone()));
    (KeyPool::new(keys, policy, clock).unwrap(), providers)
}

#[tokio::test]
async fn a_refusal_by_a_proxy_disables_no_key() {
    for (status, disabled) in [(407, None), (401, Some(DisabledReason::Refused))] {
        let refused = move |_| async move {
            let error = LlmError::new(LlmErrorKind::Authentication, "who is it?");
            Err(error.with_status(status))
        };
        let keys = [PoolKey::new("a", provider_fn(refused))];
        let pool = KeyPool::new(keys, KeyPoolPolicy::new(), manual_clock().1).unwrap();
        assert_eq!(send(&pool).await.error().kind(), LlmErrorKind::Authentication);
        assert_eq!(pool.status()[0].disabled, disabled, "{status}");
    }
}

#[tokio::test]
async fn a_key_that_can_pay_for_a_shorter_reply_stays_in_use() {
    let refused = |_| async {
        let message = "This request requires more credits, or fewer max_tokens. You requested up to 20000 tokens, but can only afford 1234";
        Err(LlmError::new(LlmErrorKind::QuotaExhausted, message).with_status(402))
    };
    let keys = ["a", "b"].map(|label| PoolKey::new(label, provider_fn(refused)));
    let pool = KeyPool::new(keys, KeyPoolPolicy::new(), manual_clock().1).unwrap();
    let outcome = send(&pool).await;
    assert!(
        outcome.error().message().contains("can only afford 1234"),
        "{}",
        outcome.error()
    );
    for key in pool.status() {
        assert_eq!((key.disabled, key.cooldown), (None, None));
    }
}

#[tokio::test]
async fn the_error_states_when_the_first_key_becomes_available() {
    let (clock, shared) = manual_clock();
    let (pool, providers) = pool(&["429:50", "429:20"], KeyPoolPolicy::new(), shared);
    let outcome = send(&pool).await;
    assert_eq!(outcome.answered_by(), "RateLimit");
    assert_eq!(
        outcome.failures(),
        [
            ("a".to_owned(), LlmErrorKind::RateLimit),
            ("b".to_owned(), LlmErrorKind::RateLimit)
        ]
    );
    assert_eq!(
        outcome.error().to_string(),
        "vendor: 2 keys were tried and failed; a: it went wrong; b: it went wrong"
    );
    assert_eq!(outcome.error().retry_after(), Some(seconds(20)));

    clock.advance(seconds(5));
    let outcome = send(&pool).await;
    assert_eq!(
        outcome.error().to_string(),
        "vendor: none of the 2 keys is available; the first becomes available in 15.0 s"
    );
    assert!(outcome.error().is_retryable());
    assert_eq!(outcome.error().retry_after(), Some(seconds(15)));
    assert!(
        providers.iter().all(|provider| provider.requests().len() == 1),
        "no cooling key was used"
    );
}

#[tokio::test]
async fn a_call_may_wait_for_the_first_key() {
    let clock = Arc::new(ManualClock::jumping());
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(30));
    let (pool, _) = pool(&["429:50", "429:20 ok"], policy, Arc::clone(&clock) as _);
    let outcome = send(&pool).await;
    assert_eq!(
        (outcome.answered_by().as_str(), clock.sleeps()),
        ("vendor/b", vec![seconds(20)])
    );
    assert_eq!(outcome.notices(), ["retry 1 in 0", "retry 2 in 20", "by vendor"]);
}

#[tokio::test]
async fn a_call_that_arrives_while_no_key_is_available_reports_its_wait() {
    let clock = Arc::new(ManualClock::jumping());
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(60));
    let (pool, _) = pool(&["429:100 ok", "429:100"], policy, Arc::clone(&clock) as _);
    assert_eq!(
        send(&pool).await.answered_by(),
        "RateLimit",
        "100 s are longer than a call may wait"
    );
    clock.advance(seconds(60));
    let late = run(&pool, Call::new(request()).with_deadline(seconds(39))).await;
    assert_eq!(
        late.error().retry_after(),
        Some(seconds(40)),
        "the wait is longer than the deadline"
    );
    assert_eq!(send(&pool).await.notices(), ["waiting 40", "by vendor"]);
}

#[tokio::test]
async fn the_wait_can_be_cancelled() {
    let (clock, shared) = manual_clock();
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(60));
    let (pool, _) = pool(&["429:20"], policy, shared);
    let call = Call::new(request());
    let token = call.token.clone();
    let cancel = async {
        clock.wait_for_sleeps(1).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(run(&pool, call), cancel);
    assert_eq!(outcome.answered_by(), "Cancelled");
}

#[tokio::test]
async fn waits_of_zero_do_not_go_on_forever() {
    // A server that always asks to try again at once.
    let busy = provider_fn(|_| async { Err(error(LlmErrorKind::RateLimit).with_retry_after(Some(seconds(0)))) });
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(1));
    let pool = KeyPool::new([PoolKey::new("a", busy)], policy, Arc::new(ManualClock::jumping())).unwrap();
    assert_eq!(send(&pool).await.answered_by(), "RateLimit");
}

#[tokio::test]
async fn the_error_for_disabled_keys_states_what_to_do() {
    let policy = KeyPoolPolicy::new().with_quota_cooldown(None);
    let (clock, shared) = manual_clock();
    let (pool, _) = pool(&["402 ok", "402"], policy, shared);
    assert_eq!(send(&pool).await.answered_by(), "QuotaExhausted");
    clock.advance(seconds(1_000_000));
    let outcome = send(&pool).await;
    assert_eq!(
        outcome.error().to_string(),
        "vendor: the quotas of all 2 keys are exhausted; raise them, then restore the keys"
    );
    assert!(!outcome.error().is_retryable());
    assert_eq!(pool.status()[0].disabled, Some(DisabledReason::Quota));
    assert!(pool.restore("a") && !pool.restore("x"));
    assert_eq!(send(&pool).await.answered_by(), "vendor/a");
}

#[tokio::test]
async fn other_failures_do_not_affect_the_key() {
    for (script, kind) in [("503", LlmErrorKind::Overloaded), ("400", LlmErrorKind::InvalidRequest)] {
        let (_, shared) = manual_clock();
        let (pool, providers) = pool(&[script, "ok"], KeyPoolPolicy::new(), shared);
        let outcome = send(&pool).await;
        assert_eq!(outcome.error().kind(), kind);
        assert_eq!(providers[1].requests().len(), 0);
        assert!(
            pool.status()
                .iter()
                .all(|key| key.cooldown.is_none() && key.in_flight == 0)
        );
    }
}

#[tokio::test]
async fn a_stream_that_fails_after_content_is_not_repeated_by_default() {
    let half = || ScriptStep::text("half").then_error(error(LlmErrorKind::RateLimit));
    for (rule, expected) in [(MidStream::Fail, "RateLimit"), (MidStream::Restart, "vendor/b")] {
        let (_, shared) = manual_clock();
        let policy = KeyPoolPolicy::new().with_mid_stream(rule);
        let (pool, providers) = pool(&["", "ok"], policy, shared);
        providers[0].push(half());
        let outcome = send(&pool).await;
        assert_eq!(outcome.answered_by(), expected);
        assert!(pool.status()[0].cooldown.is_some(), "the key cools down in either case");
        match outcome.response {
            Err(error) => assert_eq!(error.partial().unwrap().text(), "half"),
            Ok(response) => assert_eq!(response.text(), "Hi."),
        }
    }
}

#[tokio::test]
async fn a_dropped_call_releases_its_key() {
    let (_, shared) = manual_clock();
    let (pool, providers) = pool(&["", ""], KeyPoolPolicy::new(), shared);
    providers[0].push(ScriptStep::hang());
    let mut hanging = pool.open(Call::new(request()));
    assert!(hanging.next().now_or_never().is_none());
    assert_eq!(pool.status()[0].in_flight, 1);
    drop(hanging);
    assert_eq!(pool.status()[0].in_flight, 0);
    let unpolled = pool.open(Call::new(request()));
    assert_eq!(
        pool.status()[1].in_flight,
        0,
        "no key is acquired before the first poll"
    );
    drop(unpolled);
}

#[tokio::test]
async fn concurrent_calls_never_use_a_cooling_key() {
    let (clock, shared) = manual_clock();
    let log: Arc<Mutex<Vec<(usize, u64, bool)>>> = Arc::default();
    let key = |number: usize| {
        let (log, clock, requests) = (Arc::clone(&log), Arc::clone(&clock), Mutex::new(0));
        let provider = provider_fn(move |_| {
            let mut requests = requests.lock().unwrap();
            *requests += 1;
            // Every seventh request is rate limited.
            let is_limited = *requests % 7 == 0;
            log.lock()
                .unwrap()
                .push((number, clock.monotonic().as_secs(), is_limited));
            async move {
                match is_limited {
                    true => Err(error(LlmErrorKind::RateLimit).with_retry_after(Some(seconds(10)))),
                    false => Ok(ChatResponse::from_text("Hi.")),
                }
            }
        });
        PoolKey::new(format!("key-{number}"), provider)
    };
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(1000));
    let pool = KeyPool::new((0..4).map(key), policy, shared).unwrap();
    let advance = async {
        loop {
            tokio::task::yield_now().await;
            clock.advance(seconds(1));
        }
    };
    let outcomes = tokio::select! {
        biased;
        outcomes = future::join_all((0..64).map(|_| send(&pool))) => outcomes,
        () = advance => unreachable!("the loop has no end"),
    };
    assert!(outcomes.iter().all(|outcome| outcome.response.is_ok()));
    let log = log.lock().unwrap();
    for (at, (key, limited_at, _)) in log.iter().enumerate().filter(|(_, (_, _, is_limited))| *is_limited) {
        let next = log[at + 1..].iter().find(|(other, ..)| other == key);
        assert!(
            next.is_none_or(|(_, sent_at, _)| *sent_at >= limited_at + 10),
            "key {key}: {log:?}"
        );
    }
    assert!(log.len() > 64 && pool.status().iter().all(|key| key.in_flight == 0));
}

#[tokio::test]
async fn cooldowns_end_on_time_after_a_restart() {
    let (clock, shared) = manual_clock();
    let (before, _) = pool(&["429:30", "ok"], KeyPoolPolicy::new(), Arc::clone(&shared));
    send(&before).await;
    clock.advance(seconds(10));
    let state = serde_json::to_value(before.export()).unwrap();
    insta::assert_json_snapshot!(state, @r#"
    {
      "version": 1,
      "keys": [
        {
          "label": "a",
          "until_ms": 1767225630000,
          "rest_ms": 30000,
          "strikes": 1
        }
      ]
    }
    "#);
    let (after, _) = pool(&["ok", "ok ok"], KeyPoolPolicy::new(), shared);
    let state: KeyPoolState = serde_json::from_value(state).unwrap();
    assert!(after.import(&state).unwrap().is_empty());
    assert_eq!(send(&after).await.answered_by(), "vendor/b");
    clock.advance(seconds(19));
    assert_eq!(send(&after).await.answered_by(), "vendor/b");
    clock.advance(seconds(1));
    assert_eq!(send(&after).await.answered_by(), "vendor/a");
}

#[tokio::test]
async fn rejects_state_of_a_newer_version() {
    let (_, shared) = manual_clock();
    let (pool, _) = pool(&["ok"], KeyPoolPolicy::new(), shared);
    let state: KeyPoolState =
        serde_json::from_str(r#"{"version": 7, "keys": [{"labels": ["a"]}], "more": {}}"#).unwrap();
    let error = pool.import(&state).unwrap_err();
    assert!(error.message().contains("has version 7"), "{error}");
    assert_eq!(send(&pool).await.answered_by(), "vendor/a");
}

#[tokio::test]
async fn rejects_a_pool_without_keys() {
    let (_, shared) = manual_clock();
    let error = KeyPool::new([], KeyPoolPolicy::new(), shared).unwrap_err();
    assert!(error.message().contains("needs at least one key"), "{error}");
}
