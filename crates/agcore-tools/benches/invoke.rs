//! What a call costs beyond the tool itself, in time: validation, permission rules, audit and statistics on.
//!
//! `cargo bench -p agcore-tools --features schema`. Aim: at most 5 µs for a small argument object.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench prints")]

use std::{hint::black_box, sync::Arc, time::Instant};

use agcore_chat::{ToolCall, ToolWork};
use agcore_tools::{
    AuditRecord, AuditSink, Permission, PermissionConfig, PermissionRules, Rule, RuleState, TokioClock, ToolContext,
    ToolPolicy, ToolRegistry,
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

const CALLS: u32 = 20_000;
const ROUNDS: usize = 15;

fn main() {
    let tools = ToolRegistry::new();
    let add = typed("add", "Adds.", |args: Add| async move { Ok(args.a + args.b) });
    tools.register(add.with_permissions([Permission::Read])).unwrap();
    let rules = PermissionRules::new(PermissionConfig::new())
        .with_rule(Rule::permission(RuleState::Ask, Permission::Write))
        .with_rule(Rule::tool(RuleState::Deny, "shell.*"));
    let context = ToolContext::builder(Arc::new(TokioClock::new()))
        .session_id("s")
        .build();
    let executor = tools
        .executor(context)
        .policy(ToolPolicy::new(rules))
        .audit(Arc::new(Silent))
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let work: Vec<_> = (0..CALLS)
                .map(|_| ToolWork::new(ToolCall::function("call_1", "add", r#"{"a": 2, "b": 3}"#)))
                .collect();
            let start = Instant::now();
            runtime.block_on(async {
                for work in work {
                    black_box(executor.settle(work).await);
                }
            });
            start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!(
        "invoke: {:.2} µs best, {:.2} µs median of {ROUNDS} rounds (aim ≤ 5)",
        rounds[0],
        rounds[ROUNDS / 2]
    );
}
