//! Keys of a pool under random use, against a simple model of what servers have said.

use std::time::{Duration, SystemTime};

use agcore_chat::Text;
use agcore_llm::{
    LlmErrorKind,
    layer::key_pool::{KeyPoolPolicy, Keys, Use},
};
use proptest::prelude::*;

use crate::router_support::seconds;

const DAY: Duration = Duration::from_secs(86_400);

fn wall(at: Duration) -> SystemTime {
    SystemTime::UNIX_EPOCH + at
}

fn keys(policy: KeyPoolPolicy) -> Keys {
    Keys::new(["a", "b", "c"].map(Text::from), policy)
}

#[derive(Debug, Clone)]
enum Move {
    Take,
    Succeed(usize),
    Fail(usize, u8, Option<u64>),
    Pass(u64),
    Restart,
    Restore(usize),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => Just(Move::Take),
        1 => any::<usize>().prop_map(Move::Succeed),
        3 => (any::<usize>(), 0..5_u8, prop::option::of(0..100_u64)).prop_map(|(at, kind, hint)| Move::Fail(at, kind, hint)),
        2 => (0..50_u64).prop_map(Move::Pass),
        1 => Just(Move::Restart),
        1 => (0..3_usize).prop_map(Move::Restore),
    ];
    prop::collection::vec(one, 0..150)
}

const KINDS: [LlmErrorKind; 5] = [
    LlmErrorKind::RateLimit,
    LlmErrorKind::RateLimit,
    LlmErrorKind::QuotaExhausted,
    LlmErrorKind::Permission,
    LlmErrorKind::Server,
];

proptest! {
    /// Beside the keys runs a simple model: for each key the time until which a server has said to leave it in peace.
    #[test]
    fn no_request_goes_to_a_cooling_key_and_every_rest_ends(moves in moves()) {
        let policy = KeyPoolPolicy::new();
        let (mut pool, mut now) = (keys(policy.clone()), seconds(1000));
        let (mut out, mut told): (Vec<Use>, [Duration; 3]) = Default::default();
        for step in moves {
            match step {
                Move::Take => match pool.take(&[], || now) {
                    Ok(used) => {
                        prop_assert!(told[used.key] <= now, "key {} rests until {:?}, it is {now:?}", used.key, told[used.key]);
                        out.push(used);
                    }
                    Err(none) => {
                        let first = none.first.unwrap_or(Duration::MAX);
                        prop_assert!(first > now && first <= now + policy.quota.unwrap(), "every rest ends");
                    }
                },
                Move::Succeed(at) if !out.is_empty() => {
                    let used = out.swap_remove(at % out.len());
                    pool.succeeded(used);
                    pool.put_back(used);
                }
                Move::Fail(at, kind, hint) if !out.is_empty() => {
                    let used = out.swap_remove(at % out.len());
                    let (kind, hint) = (&KINDS[usize::from(kind)], hint.map(seconds));
                    pool.failed(used, kind, hint, now);
                    pool.put_back(used);
                    let rest = match kind {
                        LlmErrorKind::RateLimit => hint,
                        LlmErrorKind::QuotaExhausted if hint.is_some() => policy.quota,
                        _ => None,
                    };
                    told[used.key] = told[used.key].max(now + rest.unwrap_or_default());
                }
                Move::Pass(by) => now += seconds(by),
                Move::Restart => {
                    let state = pool.export(now, wall(DAY + now));
                    pool = keys(policy.clone());
                    pool.import(&state, now, wall(DAY + now));
                    out.clear();
                }
                Move::Restore(key) => {
                    pool.restore(["a", "b", "c"][key]);
                    told[key] = Duration::ZERO;
                }
                _ => {}
            }
        }
        let free: Vec<bool> = pool.status(now + DAY).iter().map(|key| key.rests_for.is_none()).collect();
        prop_assert_eq!(free, [true; 3], "after a day all are free");
    }
}
