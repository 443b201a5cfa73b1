//! Random use of the keys of a pool, compared with a simple model of what the server has asked for.

use std::time::{Duration, SystemTime};

use agcore_chat::Text;
use agcore_llm::{
    LlmErrorKind,
    layer::key_pool::{KeyPoolPolicy, KeyUse, Keys},
};
use proptest::prelude::*;

use crate::support::seconds;

const DAY: Duration = Duration::from_secs(86_400);

fn wall(since_epoch: Duration) -> SystemTime {
    SystemTime::UNIX_EPOCH + since_epoch
}

fn keys(policy: KeyPoolPolicy) -> Keys {
    Keys::new(["a", "b", "c"].map(Text::from), policy)
}

#[derive(Debug, Clone)]
enum Step {
    Acquire,
    Succeed(usize),
    Fail(usize, u8, Option<u64>),
    Advance(u64),
    Restart,
    Restore(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Acquire),
        1 => any::<usize>().prop_map(Step::Succeed),
        3 => (any::<usize>(), 0..5_u8, prop::option::of(0..100_u64)).prop_map(|(at, kind, hint)| Step::Fail(at, kind, hint)),
        2 => (0..50_u64).prop_map(Step::Advance),
        1 => Just(Step::Restart),
        1 => (0..3_usize).prop_map(Step::Restore),
    ];
    prop::collection::vec(step, 0..150)
}

const KINDS: [LlmErrorKind; 5] = [
    LlmErrorKind::RateLimit,
    LlmErrorKind::RateLimit,
    LlmErrorKind::QuotaExhausted,
    LlmErrorKind::Permission,
    LlmErrorKind::Server,
];

proptest! {
    /// The model consists of the time until which the server has asked not to use each key.
    #[test]
    fn no_call_uses_a_cooling_key_and_every_cooldown_ends(steps in steps()) {
        let policy = KeyPoolPolicy::new();
        let (mut pool, mut now) = (keys(policy.clone()), seconds(1000));
        let (mut in_flight, mut blocked_until): (Vec<KeyUse>, [Duration; 3]) = Default::default();
        for step in steps {
            match step {
                Step::Acquire => match pool.acquire(&[], || now) {
                    Ok(used) => {
                        let until = blocked_until[used.key];
                        prop_assert!(until <= now, "key {} is blocked until {until:?}, but it is {now:?}", used.key);
                        in_flight.push(used);
                    }
                    Err(none) => {
                        let next = none.next.unwrap_or(Duration::MAX);
                        prop_assert!(next > now && next <= now + policy.quota.unwrap(), "a cooldown does not end");
                    }
                },
                Step::Succeed(at) if !in_flight.is_empty() => {
                    let used = in_flight.swap_remove(at % in_flight.len());
                    pool.succeeded(used);
                    pool.release(used);
                }
                Step::Fail(at, kind, hint) if !in_flight.is_empty() => {
                    let used = in_flight.swap_remove(at % in_flight.len());
                    let (kind, hint) = (&KINDS[usize::from(kind)], hint.map(seconds));
                    pool.failed(used, *kind, hint, now);
                    pool.release(used);
                    let cooldown = match kind {
                        LlmErrorKind::RateLimit => hint,
                        LlmErrorKind::QuotaExhausted if hint.is_some() => policy.quota,
                        _ => None,
                    };
                    blocked_until[used.key] = blocked_until[used.key].max(now + cooldown.unwrap_or_default());
                }
                Step::Advance(by) => now += seconds(by),
                Step::Restart => {
                    let state = pool.export(now, wall(DAY + now));
                    pool = keys(policy.clone());
                    pool.import(&state, now, wall(DAY + now));
                    in_flight.clear();
                }
                Step::Restore(key) => {
                    pool.restore(["a", "b", "c"][key]);
                    blocked_until[key] = Duration::ZERO;
                }
                _ => {}
            }
        }
        let available: Vec<bool> = pool.status(now + DAY).iter().map(|key| key.cooldown.is_none()).collect();
        prop_assert_eq!(available, [true; 3], "all keys are available after a day");
    }
}
