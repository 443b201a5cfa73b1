//! Timeouts and durations, and what does not count towards them.

use std::time::Duration;

use agcore_tools::{NoArguments, Registration, ToolContext, ToolErrorKind, ToolRegistry, typed};
use serde_json::json;

use crate::support::{call, context, work};

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A tool that works for 40 s, waits 10 minutes for a person, and works for `more` seconds.
fn patient(more: u64) -> impl agcore_tools::BaseTool + 'static {
    typed(
        "patient",
        "Waits for a person.",
        move |_: NoArguments, context: ToolContext| async move {
            context.clock().sleep(seconds(40)).await;
            let person = context.wait_for_person(context.clock().sleep(seconds(600)));
            person.await;
            context.clock().sleep(seconds(more)).await;
            Ok("thanks")
        },
    )
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_a_person_counts_towards_neither_timeout_nor_duration() {
    for (more, finishes) in [(15, true), (25, false)] {
        let tools = ToolRegistry::new();
        tools.register(patient(more)).unwrap();
        let start = tokio::time::Instant::now();
        let done = tools.invoke(call("c", "patient", &json!({})), &context()).await;
        assert_eq!(done.result.is_ok(), finishes, "{more}");
        let worked = if finishes { 40 + more } else { 60 };
        assert_eq!(
            (done.duration, start.elapsed()),
            (seconds(worked), seconds(worked + 600))
        );
        let statistics = tools.get("patient").unwrap().statistics();
        assert!(statistics.p50.unwrap() < seconds(70));
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_tool_overrides_that_of_the_executor() {
    let tools = ToolRegistry::new();
    let slow = || {
        typed("slow", "Is slow.", |_: NoArguments, context: ToolContext| async move {
            context.clock().sleep(seconds(100)).await;
            Ok("done")
        })
    };
    tools
        .register(Registration::new(slow()).with_timeout(seconds(300)))
        .unwrap();
    tools
        .register(Registration::new(slow()).with_prefix("too_").with_timeout(seconds(99)))
        .unwrap();
    let executor = tools.executor(context()).build().unwrap();
    let (done, duration) = executor.settle(work("c", "slow", &json!({}))).await;
    assert_eq!((crate::support::text(&done).as_str(), duration), ("done", seconds(100)));
    let done = tools.invoke(call("c", "too_slow", &json!({})), &context()).await;
    assert_eq!(done.result.unwrap_err().kind(), ToolErrorKind::Timeout);
    assert_eq!(done.duration, seconds(99));
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_a_concurrency_key_does_not_count_towards_the_timeout() {
    use agcore_tools::{InvokeOptions, ToolAnnotations};

    let slow = typed("slow", "Is slow.", |_: NoArguments, context: ToolContext| async move {
        context.clock().sleep(seconds(50)).await;
        Ok("done")
    });
    let tools = ToolRegistry::new();
    tools
        .register(slow.with_annotations(ToolAnnotations::new().with_concurrency_key("k")))
        .unwrap();
    let calls = (0..5).map(|_| call("c", "slow", &json!({})));
    let start = tokio::time::Instant::now();
    let done = tools.invoke_all(calls, &context(), InvokeOptions::new()).await;
    assert!(
        done.iter()
            .all(|call| call.result.is_ok() && call.duration == seconds(50)),
        "{done:?}"
    );
    assert_eq!(start.elapsed(), seconds(250));
}
