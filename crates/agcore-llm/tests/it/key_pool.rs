//! Several keys of one vendor.

use std::sync::{Arc, Mutex};

use agcore_chat::{ChatResponse, Clock};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider,
    layer::{
        key_pool::{KeyPool, KeyPoolPolicy, KeyPoolState, PoolKey, Reason},
        retry::MidStream,
    },
    provider_fn,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::{FutureExt, StreamExt, future};

use crate::router_support::{ask, clocks, error, provider, request, seconds, steps, tell};

/// A pool of keys `a`, `b` … with these scripts.
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
async fn a_proxy_that_refuses_takes_no_key_out() {
    for (status, out) in [(407, None), (401, Some(Reason::Refused))] {
        let refused = move |_| async move {
            let error = LlmError::new(LlmErrorKind::Authentication, "who is it?");
            Err(error.with_status(status))
        };
        let keys = [PoolKey::new("a", provider_fn(refused))];
        let pool = KeyPool::new(keys, KeyPoolPolicy::new(), clocks().1).unwrap();
        assert_eq!(ask(&pool).await.error().kind(), &LlmErrorKind::Authentication);
        assert_eq!(pool.status()[0].out, out, "{status}");
    }
}

#[tokio::test]
async fn when_all_rest_the_error_says_when_the_first_is_free() {
    let (clock, handed) = clocks();
    let (pool, providers) = pool(&["429:50", "429:20"], KeyPoolPolicy::new(), handed);
    let told = ask(&pool).await;
    assert_eq!(told.who(), "RateLimit");
    assert_eq!(
        told.failures(),
        [
            ("a".to_owned(), LlmErrorKind::RateLimit),
            ("b".to_owned(), LlmErrorKind::RateLimit)
        ]
    );
    assert_eq!(
        told.error().to_string(),
        "vendor: 2 keys were tried and failed; a: it went wrong; b: it went wrong"
    );
    assert_eq!(told.error().retry_after(), Some(seconds(20)));

    clock.advance(seconds(5));
    let told = ask(&pool).await;
    assert_eq!(
        told.error().to_string(),
        "vendor: each of the 2 keys is resting after a limit or out; the first is free in 15.0 s"
    );
    assert!(told.error().is_retryable());
    assert_eq!(told.error().retry_after(), Some(seconds(15)));
    assert!(
        providers.iter().all(|provider| provider.requests().len() == 1),
        "no key that rests was asked"
    );
}

#[tokio::test]
async fn a_call_may_wait_for_the_first_to_be_free() {
    let clock = Arc::new(ManualClock::jumping());
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(30));
    let (pool, _) = pool(&["429:50", "429:20 ok"], policy, Arc::clone(&clock) as _);
    let told = ask(&pool).await;
    assert_eq!((told.who().as_str(), clock.sleeps()), ("vendor/b", vec![seconds(20)]));
    assert_eq!(told.notices(), ["retry 1 in 0", "retry 2 in 20", "by vendor"]);
}

#[tokio::test]
async fn one_that_comes_while_all_rest_is_told_to_wait() {
    let clock = Arc::new(ManualClock::jumping());
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(60));
    let (pool, _) = pool(&["429:100 ok", "429:100"], policy, Arc::clone(&clock) as _);
    assert_eq!(ask(&pool).await.who(), "RateLimit", "100 is longer than it may wait");
    clock.advance(seconds(60));
    let late = tell(&pool, Call::new(request()).with_deadline(seconds(39))).await;
    assert_eq!(
        late.error().retry_after(),
        Some(seconds(40)),
        "longer than its deadline"
    );
    assert_eq!(ask(&pool).await.notices(), ["waiting 40", "by vendor"]);
}

#[tokio::test]
async fn the_wait_is_cancellable() {
    let (clock, handed) = clocks();
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(60));
    let (pool, _) = pool(&["429:20"], policy, handed);
    let call = Call::new(request());
    let token = call.token.clone();
    let cancel = async {
        clock.waited(1).await;
        token.cancel();
    };
    let (told, ()) = tokio::join!(tell(&pool, call), cancel);
    assert_eq!(told.who(), "Cancelled");
}

#[tokio::test]
async fn waits_come_to_an_end() {
    // A server that always says "at once", and never means it.
    let busy = provider_fn(|_| async { Err(error(LlmErrorKind::RateLimit).with_retry_after(Some(seconds(0)))) });
    let policy = KeyPoolPolicy::new().with_max_wait(seconds(1));
    let pool = KeyPool::new([PoolKey::new("a", busy)], policy, Arc::new(ManualClock::jumping())).unwrap();
    assert_eq!(ask(&pool).await.who(), "RateLimit");
}

#[tokio::test]
async fn keys_that_are_out_say_what_to_do() {
    let policy = KeyPoolPolicy::new().with_quota(None);
    let (clock, handed) = clocks();
    let (pool, _) = pool(&["402 ok", "402"], policy, handed);
    assert_eq!(ask(&pool).await.who(), "QuotaExhausted");
    clock.advance(seconds(1_000_000));
    let told = ask(&pool).await;
    assert!(
        told.error().message().contains("restore the key") && !told.error().is_retryable(),
        "{}",
        told.error()
    );
    assert_eq!(pool.status()[0].out, Some(Reason::Quota));
    assert!(pool.restore("a") && !pool.restore("x"));
    assert_eq!(ask(&pool).await.who(), "vendor/a");
}

#[tokio::test]
async fn other_failures_are_not_the_keys() {
    for (script, kind) in [("503", LlmErrorKind::Overloaded), ("400", LlmErrorKind::InvalidRequest)] {
        let (_, handed) = clocks();
        let (pool, providers) = pool(&[script, "ok"], KeyPoolPolicy::new(), handed);
        let told = ask(&pool).await;
        assert_eq!(*told.error().kind(), kind);
        assert_eq!(providers[1].requests().len(), 0);
        assert!(pool.status().iter().all(|key| key.rests_for.is_none() && key.busy == 0));
    }
}

#[tokio::test]
async fn nothing_changes_keys_after_parts_were_handed_out() {
    let half = || ScriptStep::text("half").then_error(error(LlmErrorKind::RateLimit));
    for (rule, expected) in [(MidStream::Fail, "RateLimit"), (MidStream::Restart, "vendor/b")] {
        let (_, handed) = clocks();
        let policy = KeyPoolPolicy::new().with_mid_stream(rule);
        let (pool, providers) = pool(&["", "ok"], policy, handed);
        providers[0].push(half());
        let told = ask(&pool).await;
        assert_eq!(told.who(), expected);
        assert!(pool.status()[0].rests_for.is_some(), "but the key rests");
        match told.answer {
            Err(error) => assert_eq!(error.partial().unwrap().text(), "half"),
            Ok(answer) => assert_eq!(answer.text(), "Hi."),
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_gives_its_key_back() {
    let (_, handed) = clocks();
    let (pool, providers) = pool(&["", ""], KeyPoolPolicy::new(), handed);
    providers[0].push(ScriptStep::hang());
    let mut hanging = pool.open(Call::new(request()));
    assert!(hanging.next().now_or_never().is_none());
    assert_eq!(pool.status()[0].busy, 1);
    drop(hanging);
    assert_eq!(pool.status()[0].busy, 0);
    let unpolled = pool.open(Call::new(request()));
    assert_eq!(pool.status()[1].busy, 0, "nothing is taken before the first poll");
    drop(unpolled);
}

#[tokio::test]
async fn of_sixty_four_at_once_none_asks_a_key_that_rests() {
    let (clock, handed) = clocks();
    let log: Arc<Mutex<Vec<(usize, u64, bool)>>> = Arc::default();
    let key = |number: usize| {
        let (log, clock, asked) = (Arc::clone(&log), Arc::clone(&clock), Mutex::new(0));
        let provider = provider_fn(move |_| {
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            // Every seventh is too many.
            let is_limited = *asked % 7 == 0;
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
    let pool = KeyPool::new((0..4).map(key), policy, handed).unwrap();
    let turn = async {
        loop {
            tokio::task::yield_now().await;
            clock.advance(seconds(1));
        }
    };
    let told = tokio::select! {
        biased;
        told = future::join_all((0..64).map(|_| ask(&pool))) => told,
        () = turn => unreachable!("it turns forever"),
    };
    assert!(told.iter().all(|told| told.answer.is_ok()));
    let log = log.lock().unwrap();
    for (at, (key, limited_at, _)) in log.iter().enumerate().filter(|(_, (_, _, is_limited))| *is_limited) {
        let next = log[at + 1..].iter().find(|(other, ..)| other == key);
        assert!(
            next.is_none_or(|(_, asked_at, _)| *asked_at >= limited_at + 10),
            "key {key}: {log:?}"
        );
    }
    assert!(log.len() > 64 && pool.status().iter().all(|key| key.busy == 0));
}

#[tokio::test]
async fn a_rest_ends_on_time_also_after_a_restart() {
    let (clock, handed) = clocks();
    let (before, _) = pool(&["429:30", "ok"], KeyPoolPolicy::new(), Arc::clone(&handed));
    ask(&before).await;
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
    let (after, _) = pool(&["ok", "ok ok"], KeyPoolPolicy::new(), handed);
    let state: KeyPoolState = serde_json::from_value(state).unwrap();
    assert!(after.import(&state).unwrap().is_empty());
    assert_eq!(ask(&after).await.who(), "vendor/b");
    clock.advance(seconds(19));
    assert_eq!(ask(&after).await.who(), "vendor/b");
    clock.advance(seconds(1));
    assert_eq!(ask(&after).await.who(), "vendor/a");
}

#[tokio::test]
async fn state_of_a_newer_version_is_refused() {
    let (_, handed) = clocks();
    let (pool, _) = pool(&["ok"], KeyPoolPolicy::new(), handed);
    let state: KeyPoolState =
        serde_json::from_str(r#"{"version": 7, "keys": [{"labels": ["a"]}], "more": {}}"#).unwrap();
    let error = pool.import(&state).unwrap_err();
    assert!(error.message().contains("has version 7"), "{error}");
    assert_eq!(ask(&pool).await.who(), "vendor/a");
}

#[tokio::test]
async fn a_pool_of_no_keys_is_refused() {
    let (_, handed) = clocks();
    let error = KeyPool::new([], KeyPoolPolicy::new(), handed).unwrap_err();
    assert!(error.message().contains("without keys"), "{error}");
}
