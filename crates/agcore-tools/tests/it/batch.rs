//! Many calls side by side: order, exclusivity, limits, cancellation.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use agcore_chat::{Progress, ToolExecutor, ToolOutcome, ToolReport, ToolWork};
use agcore_tools::{
    Arguments, BaseTool, InvokeOptions, NoArguments, ToolAnnotations, ToolContext, ToolError, ToolOutput, ToolRegistry,
    typed,
};
use async_trait::async_trait;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    allowing, call, context, context_builder, fatal_text, progress_and_results, registry, reports, work,
};

/// Tracks which tools run and checks that they may run side by side.
#[derive(Default)]
struct Monitor {
    running: Mutex<HashMap<&'static str, usize>>,
    max_running: AtomicUsize,
    started: AtomicUsize,
    /// Violations are collected, because the panic of an assertion inside a tool would be caught.
    violations: Mutex<Vec<String>>,
}

impl Monitor {
    fn enter(&self, tool: &'static str) {
        self.started.fetch_add(1, SeqCst);
        let mut running = self.running.lock().unwrap();
        *running.entry(tool).or_default() += 1;
        let all: usize = running.values().sum();
        self.max_running.fetch_max(all, SeqCst);
        let count = |name: &str| running.get(name).copied().unwrap_or_default();
        let alone = count("delete") == 0 || all == 1;
        let keys = count("key_a") <= 1 && count("key_b") + count("key_b_too") <= 1;
        if !(alone && keys) {
            self.violations.lock().unwrap().push(format!("{running:?}"));
        }
    }

    /// Asserts that exclusivity was never violated and that no call is still running.
    #[track_caller]
    fn check(&self) {
        assert_eq!(*self.violations.lock().unwrap(), [""; 0], "ran side by side");
        assert_eq!(self.running(), 0, "still running");
    }

    fn running(&self) -> usize {
        self.running.lock().unwrap().values().sum()
    }
}

/// Marks a tool as running until dropped, even if its call is cancelled.
struct RunningGuard {
    monitor: Arc<Monitor>,
    tool: &'static str,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        *self.monitor.running.lock().unwrap().get_mut(self.tool).unwrap() -= 1;
    }
}

#[derive(Clone)]
struct Worker {
    name: &'static str,
    monitor: Arc<Monitor>,
    parameters: Value,
}

#[async_trait]
impl BaseTool for Worker {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "Works for a few milliseconds."
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn annotations(&self) -> ToolAnnotations {
        let none = ToolAnnotations::new();
        match self.name {
            "delete" => none.with_destructive(true),
            "key_a" => none.with_concurrency_key("a"),
            "key_b" | "key_b_too" => none.with_concurrency_key("b"),
            _ => none.with_read_only(true),
        }
    }

    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.monitor.enter(self.name);
        let _guard = RunningGuard {
            monitor: self.monitor.clone(),
            tool: self.name,
        };
        let millis = arguments["millis"].as_u64().unwrap();
        context.clock().sleep(Duration::from_millis(millis)).await;
        Ok(ToolOutput::value(arguments["number"].clone()))
    }
}

const NAMES: [&str; 6] = ["read", "delete", "key_a", "key_b", "key_b_too", "plain"];

fn workers(monitor: &Arc<Monitor>) -> ToolRegistry {
    let worker = |name| Worker {
        name,
        monitor: monitor.clone(),
        parameters: json!({"type": "object"}),
    };
    registry(NAMES.map(worker))
}

/// A thousand mixed calls from a pseudorandom generator with a fixed seed.
fn thousand_calls() -> Vec<ToolWork> {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    (0..1000)
        .map(|number| {
            // One in twenty is destructive.
            let name = if random(20) == 0 {
                "delete"
            } else {
                NAMES[[0, 2, 3, 4, 5][random(5) as usize]]
            };
            work(
                &format!("call_{number}"),
                name,
                &json!({"number": number, "millis": 1 + random(9)}),
            )
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_mixed_calls_keep_order_and_exclusivity() {
    let monitor = Arc::new(Monitor::default());
    let tools = workers(&monitor);
    let calls = thousand_calls().into_iter().map(|work| work.call);
    let options = InvokeOptions::new().with_max_concurrency(32);
    let done = tools.invoke_all(calls, &context(), options).await;
    assert_eq!(done.len(), 1000);
    for (number, invocation) in done.iter().enumerate() {
        assert_eq!(*invocation.call_id, *format!("call_{number}"));
        assert_eq!(invocation.result.as_ref().unwrap().as_value(), Some(&json!(number)));
        assert_eq!(
            Some(u64::try_from(invocation.duration.as_millis()).unwrap()),
            invocation.input["millis"].as_u64()
        );
    }
    let running = monitor.max_running.load(SeqCst);
    assert!(running > 4 && running <= 32, "{running} at a time");
    monitor.check();
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_an_executor_settles_each_call_once() {
    let monitor = Arc::new(Monitor::default());
    let executor = workers(&monitor)
        .executor(context())
        .with_policy(allowing("delete"))
        .build()
        .unwrap();
    let mut settled: Vec<_> = reports(&executor, thousand_calls())
        .await
        .into_iter()
        .map(|report| match report {
            ToolReport::Settled {
                call_id,
                outcome: ToolOutcome::Done(result),
                ..
            } => {
                assert_eq!(format!("call_{}", result.content.text()), *call_id);
                call_id.to_string()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    settled.sort();
    settled.dedup();
    assert_eq!(settled.len(), 1000);
    monitor.check();
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_cancels_running_and_waiting_calls() {
    let monitor = Arc::new(Monitor::default());
    let executor = workers(&monitor)
        .executor(context())
        .with_policy(allowing("delete"))
        .build()
        .unwrap();
    let mut stream = progress_and_results(executor.execute(thousand_calls()));
    for _ in 0..300 {
        stream.next().await.unwrap();
    }
    let started = monitor.started.load(SeqCst);
    assert!((300..400).contains(&started), "{started}");
    drop(stream);
    tokio::time::sleep(Duration::from_secs(60)).await;
    monitor.check();
    assert_eq!(monitor.started.load(SeqCst), started);
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_run_settles_every_call_as_cancelled() {
    let monitor = Arc::new(Monitor::default());
    let token = CancellationToken::new();
    let context = context_builder().with_cancellation(token.clone()).build();
    let executor = workers(&monitor)
        .executor(context)
        .with_policy(allowing("delete"))
        .build()
        .unwrap();
    let mut stream = progress_and_results(executor.execute(thousand_calls()));
    let mut cancelled = 0;
    for settled in 0..1000 {
        if settled == 300 {
            token.cancel();
        }
        let Some(ToolReport::Settled { outcome, .. }) = stream.next().await else {
            panic!()
        };
        if settled >= 340 {
            assert_eq!(fatal_text(&outcome), "the call was cancelled");
            cancelled += 1;
        }
    }
    assert_eq!(cancelled, 660);
    assert!(stream.next().await.is_none());
    monitor.check();
    assert!(monitor.started.load(SeqCst) < 400, "waiting calls must not start");
}

/// A concurrency key applies across the whole registry, not only within one reply.
#[tokio::test(start_paused = true)]
async fn sessions_share_concurrency_keys() {
    let monitor = Arc::new(Monitor::default());
    let tools = workers(&monitor);
    let session = || {
        tools
            .executor(context())
            .with_policy(allowing("delete"))
            .build()
            .unwrap()
    };
    let (first, second) = (session(), session());
    let calls = |id: &str| vec![work(id, "key_b", &json!({"number": 1, "millis": 5})); 20];
    let (one, two) = tokio::join!(reports(&first, calls("x")), reports(&second, calls("y")));
    assert_eq!((one.len(), two.len(), monitor.started.load(SeqCst)), (20, 20, 40));
    monitor.check();
}

#[tokio::test(start_paused = true)]
async fn limits_the_number_of_running_calls() {
    let monitor = Arc::new(Monitor::default());
    let tools = workers(&monitor);
    let calls = (0..50).map(|number| call("c", "plain", &json!({"number": number, "millis": 3})));
    tools
        .invoke_all(calls, &context(), InvokeOptions::new().with_max_concurrency(4))
        .await;
    assert_eq!(monitor.max_running.load(SeqCst), 4);
}

/// A tool that reports three steps and one part.
#[derive(Clone)]
struct Reporter(Value);

#[async_trait]
impl BaseTool for Reporter {
    fn name(&self) -> &str {
        "reporter"
    }

    fn description(&self) -> &str {
        "Reports progress."
    }

    fn parameters(&self) -> &Value {
        &self.0
    }

    async fn execute(&self, _: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        for step in 0..3 {
            context.report_progress(Progress::amount(f64::from(step), Some(3.0)));
            context.clock().sleep(Duration::from_millis(1)).await;
        }
        context.report_part(json!("part"));
        Ok("done".into())
    }
}

#[tokio::test(start_paused = true)]
async fn progress_arrives_while_the_call_runs_and_before_its_end() {
    let executor = registry([Reporter(json!({"type": "object"}))])
        .executor(context())
        .build()
        .unwrap();
    let mut stream = progress_and_results(executor.execute(vec![work("t", "reporter", &json!({}))]));
    let start = tokio::time::Instant::now();
    let first = stream.next().await.unwrap();
    assert_eq!(
        first,
        ToolReport::Progress {
            call_id: "t".into(),
            progress: Progress::amount(0.0, Some(3.0))
        }
    );
    assert!(start.elapsed() < Duration::from_millis(1), "reported immediately");
    let rest: Vec<_> = stream.collect().await;
    let kinds: Vec<_> = rest
        .iter()
        .map(|report| match report {
            ToolReport::Progress { progress, .. } => progress.part.is_some().to_string(),
            _ => "settled".to_owned(),
        })
        .collect();
    assert_eq!(kinds, ["false", "false", "true", "settled"]);
}

#[tokio::test(start_paused = true)]
async fn progress_of_the_applications_own_calls_reaches_the_observer_of_the_context() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let context = context_builder()
        .with_progress(move |id, _| sink.lock().unwrap().push(id.to_string()))
        .build();
    let tools = registry([Reporter(json!({"type": "object"}))]);
    tools.invoke(call("a", "reporter", &json!({})), &context).await;
    tools
        .invoke_all([call("b", "reporter", &json!({}))], &context, InvokeOptions::new())
        .await;
    assert_eq!(*seen.lock().unwrap(), ["a", "a", "a", "a", "b", "b", "b", "b"]);
}

/// A task that the tool has spawned reports progress while the tool itself waits forever.
#[tokio::test(start_paused = true)]
async fn progress_from_a_spawned_task_wakes_the_reader() {
    let tool = typed("t", "Spawns a task.", |_: NoArguments, context: ToolContext| {
        let task_context = context.clone();
        tokio::spawn(async move {
            task_context.clock().sleep(Duration::from_millis(5)).await;
            task_context.report_progress(Progress::message("half"));
        });
        std::future::pending::<Result<u8, ToolError>>()
    });
    let executor = registry([tool]).executor(context()).build().unwrap();
    let mut stream = progress_and_results(executor.execute(vec![work("t", "t", &json!({}))]));
    let start = tokio::time::Instant::now();
    let report = stream.next().await.unwrap();
    assert_eq!(
        report,
        ToolReport::Progress {
            call_id: "t".into(),
            progress: Progress::message("half")
        }
    );
    assert_eq!(start.elapsed(), Duration::from_millis(5));
}

#[tokio::test]
async fn a_slow_reader_sees_the_newest_progress() {
    let tool = typed("t", "Reports.", |_: NoArguments, context: ToolContext| async move {
        for step in 0..5000_i32 {
            context.report_progress(Progress::amount(step.into(), None));
            if step % 1000 == 0 {
                context.report_part(step.into());
            }
        }
        Ok(())
    });
    let executor = registry([tool]).executor(context()).build().unwrap();
    let reports = reports(&executor, vec![work("a", "t", &json!({}))]).await;
    let (mut steps, mut parts) = (Vec::new(), Vec::new());
    for report in &reports {
        let ToolReport::Progress { progress, .. } = report else {
            continue;
        };
        steps.extend(progress.done);
        parts.extend(progress.part.clone());
    }
    // No part is ever dropped.
    assert_eq!(parts, [0, 1000, 2000, 3000, 4000]);
    assert_eq!(steps.last(), Some(&4999.0));
    assert!(steps.len() <= 1024 && steps.is_sorted(), "{}", steps.len());
}
