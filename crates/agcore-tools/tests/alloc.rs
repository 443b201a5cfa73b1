//! The allocations of a call beyond those of the tool itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test"
)]

use std::sync::Arc;

use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
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
        assert_eq!(record.tool, "add");
    }
}

/// An executor with validation, permission rules, audit and statistics.
fn executor() -> RegistryExecutor {
    let tools = ToolRegistry::new();
    let add = typed("add", "Adds.", |args: Add| async move { Ok(args.a + args.b) });
    tools.register(add.with_permissions([Permission::Read])).unwrap();
    let rules = PermissionRules::new(PermissionConfig::new())
        .with_rule(Rule::permission(RuleState::Ask, Permission::Write))
        .with_rule(Rule::tool(RuleState::Deny, "shell.*"));
    let context = ToolContext::builder(Arc::new(SystemClock::new()))
        .with_session_id("s")
        .build();
    let builder = tools
        .executor(context)
        .with_policy(ToolPolicy::new(rules))
        .with_audit(Arc::new(Silent));
    builder.build().unwrap()
}

/// The largest number of allocations.
const MAX_ALLOCATIONS: u64 = 8;

#[test]
fn a_call_makes_few_allocations() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let executor = executor();
    let work = || ToolWork::new(ToolCall::function("call_1", "add", r#"{"a": 2, "b": 3}"#));
    runtime.block_on(async {
        // The first call allocates the tool's histogram.
        executor.settle(work()).await;
        let work = work();
        let mut outcome = None;
        let counted = allocation_counter::measure(|| {
            outcome = futures_util::FutureExt::now_or_never(executor.settle(work));
        });
        let (outcome, _) = outcome.expect("the tool completes immediately");
        assert_eq!(outcome, ToolOutcome::done("5"));
        assert!(counted.count_total <= MAX_ALLOCATIONS, "{counted:?}");
    });
}
