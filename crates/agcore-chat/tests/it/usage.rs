//! Usage and sums of it.

use agcore_chat::{Usage, UsageTracker};
use serde_json::json;

fn full(n: u64) -> Usage {
    serde_json::from_value(json!({
        "prompt_tokens": n, "completion_tokens": n, "total_tokens": n,
        "prompt_tokens_details": {"cached_tokens": n, "cache_write_tokens": n, "audio_tokens": n},
        "completion_tokens_details": {
            "reasoning_tokens": n, "audio_tokens": n, "accepted_prediction_tokens": n, "rejected_prediction_tokens": n,
        },
    }))
    .unwrap()
}

/// Regression test: only the last reply of a turn was counted, and details were lost.
#[test]
fn every_reply_counts_with_all_details() {
    let mut tracker = UsageTracker::default();
    (1..=3).for_each(|n| tracker.record(Some(&full(n))));
    assert_eq!(tracker.usage, full(6));
    assert_eq!(
        (tracker.calls, tracker.calls_with_usage, tracker.is_complete()),
        (3, 3, true)
    );
    assert_eq!(
        (
            tracker.usage.cached(),
            tracker.usage.cache_write(),
            tracker.usage.reasoning()
        ),
        (Some(6), Some(6), Some(6))
    );
}

#[test]
fn sums_saturate() {
    let mut tracker = UsageTracker::default();
    tracker.record(Some(&full(u64::MAX)));
    tracker.record(Some(&full(7)));
    assert_eq!(tracker.usage, full(u64::MAX));
    tracker.calls = u64::MAX;
    let other = tracker.clone();
    tracker.merge(&other);
    tracker.record(None);
    assert_eq!((tracker.calls, tracker.calls_with_usage), (u64::MAX, 4));
    assert_eq!(Usage::new(u64::MAX, 1).total(), Some(u64::MAX));
}

#[test]
fn counters_that_were_not_reported_stay_unknown() {
    let mut tracker = UsageTracker::default();
    assert_eq!(tracker.usage.total(), None);
    tracker.record(None);
    assert_eq!(
        (tracker.usage.total(), tracker.calls, tracker.is_complete()),
        (None, 1, false)
    );
    let bare: Usage = serde_json::from_str("{\"prompt_tokens\": 3}").unwrap();
    tracker.record(Some(&bare));
    assert_eq!(
        (
            tracker.usage.prompt_tokens,
            tracker.usage.completion_tokens,
            tracker.usage.total()
        ),
        (Some(3), None, None)
    );
    assert_eq!(tracker.usage.cached(), None);
    assert_eq!(
        serde_json::to_value(&tracker.usage).unwrap(),
        json!({"prompt_tokens": 3})
    );
    tracker.record(Some(&Usage::new(0, 0)));
    assert_eq!(tracker.usage.total(), Some(0), "zero is a known value");
}

#[test]
fn trackers_with_large_counters_round_trip() {
    let mut tracker = UsageTracker::default();
    tracker.record(Some(&full(u64::MAX - 1)));
    tracker.record(None);
    let text = serde_json::to_string(&tracker).unwrap();
    assert_eq!(serde_json::from_str::<UsageTracker>(&text).unwrap(), tracker);
}
