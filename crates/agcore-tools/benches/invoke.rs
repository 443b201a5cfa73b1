//! The time that a call takes beyond the tool itself, with validation, permission rules, audit and statistics.
//!
//! Run it with `cargo bench -p agcore-tools --features schema`. The goal is at most 5 µs for a small argument object.
//! For comparison, the same run measures a call with a frozen clock, which shows the cost of reading the time on this
//! machine, and the bare work: parsing the arguments, adding, and formatting the sum.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench prints")]

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use agcore_chat::{Clock, ToolCall, ToolWork};
use agcore_tools::{
    AuditRecord, AuditSink, Permission, PermissionConfig, PermissionRules, RegistryExecutor, Rule, RuleState,
    SystemClock, ToolContext, ToolPolicy, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

struct Silent;

impl AuditSink for Silent {
    fn record(&self, record: &AuditRecord<'_>) {
        black_box(record);
    }
}

/// A clock that never advances.
#[derive(Debug)]
struct FrozenClock;

#[async_trait::async_trait]
impl Clock for FrozenClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

const CALLS: u32 = 20_000;
const ROUNDS: usize = 15;
const ARGUMENTS: &str = r#"{"a": 2, "b": 3}"#;

fn executor(clock: Arc<dyn Clock>) -> RegistryExecutor {
    let tools = ToolRegistry::new();
    let add = typed("add", "Adds.", |args: Add| async move { Ok(args.a + args.b) });
    tools.register(add.with_permissions([Permission::Read])).unwrap();
    let rules = PermissionRules::new(PermissionConfig::new())
        .with_rule(Rule::permission(RuleState::Ask, Permission::Write))
        .with_rule(Rule::tool(RuleState::Deny, "shell.*"));
    let context = ToolContext::builder(clock).with_session_id("s").build();
    let builder = tools.executor(context).with_policy(ToolPolicy::new(rules));
    builder.with_audit(Arc::new(Silent)).build().unwrap()
}

fn invoke(executor: &RegistryExecutor) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let work = ToolWork::new(ToolCall::function("call_1", "add", ARGUMENTS));
    runtime.block_on(async {
        for _ in 0..CALLS {
            black_box(executor.settle(work.clone()).await);
        }
    });
}

fn bare() {
    for _ in 0..CALLS {
        let call = ToolCall::function("call_1", "add", black_box(ARGUMENTS));
        let Add { a, b } = Add::deserialize(call.arguments().unwrap()).unwrap();
        black_box((a + b).to_string());
    }
}

/// Returns the microseconds per call: the best round and the median.
fn measure(work: impl Fn()) -> (f64, f64) {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    (rounds[0], rounds[ROUNDS / 2])
}

fn main() {
    let (running, frozen) = (executor(Arc::new(SystemClock::new())), executor(Arc::new(FrozenClock)));
    for (name, (best, median)) in [
        ("invoke (goal ≤ 5)", measure(|| invoke(&running))),
        ("invoke, frozen clock", measure(|| invoke(&frozen))),
        ("bare work", measure(bare)),
    ] {
        println!("{name:<20} {best:>6.2} µs best, {median:>6.2} µs median of {ROUNDS} rounds");
    }
}
