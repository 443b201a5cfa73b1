//! Many calls side by side: order, exclusivity, bounds, cancellation.

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

use crate::support::{call, context, context_builder, fatal_text, registry, reports, work};

/// Who runs at this moment, and whether they may.
#[derive(Default)]
struct Floor {
    running: Mutex<HashMap<&'static str, usize>>,
    most: AtomicUsize,
    begun: AtomicUsize,
    /// A panic in a tool would be caught, so that what went wrong is kept here.
    broken: Mutex<Vec<String>>,
}

impl Floor {
    fn enter(&self, tool: &'static str) {
        self.begun.fetch_add(1, SeqCst);
        let mut running = self.running.lock().unwrap();
        *running.entry(tool).or_default() += 1;
        let all: usize = running.values().sum();
        self.most.fetch_max(all, SeqCst);
        let of = |name: &str| running.get(name).copied().unwrap_or_default();
        let alone = of("delete") == 0 || all == 1;
        let keys = of("key_a") <= 1 && of("key_b") + of("key_b_too") <= 1;
        if !(alone && keys) {
            self.broken.lock().unwrap().push(format!("{running:?}"));
        }
    }

    /// Whether exclusivity held all the time, and nobody is left.
    #[track_caller]
    fn check(&self) {
        assert_eq!(*self.broken.lock().unwrap(), [""; 0], "side by side");
        assert_eq!(self.now(), 0, "left running");
    }

    fn now(&self) -> usize {
        self.running.lock().unwrap().values().sum()
    }
}

/// Leaves the floor, also when its call is dropped.
struct Presence {
    floor: Arc<Floor>,
    tool: &'static str,
}

impl Drop for Presence {
    fn drop(&mut self) {
        *self.floor.running.lock().unwrap().get_mut(self.tool).unwrap() -= 1;
    }
}

#[derive(Clone)]
struct Worker {
    name: &'static str,
    floor: Arc<Floor>,
    parameters: Value,
}

#[async_trait]
impl BaseTool for Worker {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "Works for some milliseconds."
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
        self.floor.enter(self.name);
        let _here = Presence {
            floor: self.floor.clone(),
            tool: self.name,
        };
        let millis = arguments["millis"].as_u64().unwrap();
        context.clock().sleep(Duration::from_millis(millis)).await;
        Ok(ToolOutput::value(arguments["number"].clone()))
    }
}

const NAMES: [&str; 6] = ["read", "delete", "key_a", "key_b", "key_b_too", "plain"];

fn workers(floor: &Arc<Floor>) -> ToolRegistry {
    let worker = |name| Worker {
        name,
        floor: floor.clone(),
        parameters: json!({"type": "object"}),
    };
    registry(NAMES.map(worker))
}

/// A thousand calls, mixed by a small fixed generator.
fn thousand() -> Vec<ToolWork> {
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
    let floor = Arc::new(Floor::default());
    let tools = workers(&floor);
    let calls = thousand().into_iter().map(|work| work.call);
    let options = InvokeOptions::new().with_most_at_a_time(32);
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
    let most = floor.most.load(SeqCst);
    assert!(most > 4 && most <= 32, "{most} at a time");
    floor.check();
}

#[tokio::test(start_paused = true)]
async fn an_executors_stream_settles_each_call_once() {
    let floor = Arc::new(Floor::default());
    let executor = workers(&floor).executor(context()).build().unwrap();
    let mut settled: Vec<_> = reports(&executor, thousand())
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
    floor.check();
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_gives_up_all_that_runs_and_all_that_waits() {
    let floor = Arc::new(Floor::default());
    let executor = workers(&floor).executor(context()).build().unwrap();
    let mut stream = executor.execute(thousand());
    for _ in 0..300 {
        stream.next().await.unwrap();
    }
    let begun = floor.begun.load(SeqCst);
    assert!((300..400).contains(&begun), "{begun}");
    drop(stream);
    tokio::time::sleep(Duration::from_secs(60)).await;
    floor.check();
    assert_eq!(floor.begun.load(SeqCst), begun);
}

#[tokio::test(start_paused = true)]
async fn the_runs_token_ends_all_calls_and_each_still_settles() {
    let floor = Arc::new(Floor::default());
    let token = CancellationToken::new();
    let context = context_builder().cancellation(token.clone()).build();
    let executor = workers(&floor).executor(context).build().unwrap();
    let mut stream = executor.execute(thousand());
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
    floor.check();
    assert!(floor.begun.load(SeqCst) < 400, "what had not begun never begins");
}

/// The key holds in all of the registry, not only among the calls of one reply.
#[tokio::test(start_paused = true)]
async fn two_sessions_share_a_key() {
    let floor = Arc::new(Floor::default());
    let tools = workers(&floor);
    let session = || tools.executor(context()).build().unwrap();
    let (first, second) = (session(), session());
    let calls = |id: &str| vec![work(id, "key_b", &json!({"number": 1, "millis": 5})); 20];
    let (one, two) = tokio::join!(reports(&first, calls("x")), reports(&second, calls("y")));
    assert_eq!((one.len(), two.len(), floor.begun.load(SeqCst)), (20, 20, 40));
    floor.check();
}

#[tokio::test(start_paused = true)]
async fn never_more_at_a_time_than_allowed() {
    let floor = Arc::new(Floor::default());
    let tools = workers(&floor);
    let calls = (0..50).map(|number| call("c", "plain", &json!({"number": number, "millis": 3})));
    tools
        .invoke_all(calls, &context(), InvokeOptions::new().with_most_at_a_time(4))
        .await;
    assert_eq!(floor.most.load(SeqCst), 4);
}

/// Tells ten steps and hands out one part.
#[derive(Clone)]
struct Talker(Value);

#[async_trait]
impl BaseTool for Talker {
    fn name(&self) -> &str {
        "talker"
    }

    fn description(&self) -> &str {
        "Talks."
    }

    fn parameters(&self) -> &Value {
        &self.0
    }

    async fn execute(&self, _: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        for step in 0..3 {
            context.progress(Progress::of(f64::from(step), Some(3.0)));
            context.clock().sleep(Duration::from_millis(1)).await;
        }
        context.part(json!("part"));
        Ok("done".into())
    }
}

#[tokio::test(start_paused = true)]
async fn progress_comes_while_the_call_runs_and_before_its_end() {
    let executor = registry([Talker(json!({"type": "object"}))])
        .executor(context())
        .build()
        .unwrap();
    let mut stream = executor.execute(vec![work("t", "talker", &json!({}))]);
    let start = tokio::time::Instant::now();
    let first = stream.next().await.unwrap();
    assert_eq!(
        first,
        ToolReport::Progress {
            call_id: "t".into(),
            progress: Progress::of(0.0, Some(3.0))
        }
    );
    assert!(start.elapsed() < Duration::from_millis(1), "told at once");
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
async fn progress_of_the_applications_own_calls_goes_to_the_contexts_observer() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = told.clone();
    let context = context_builder()
        .progress(move |id, _| keep.lock().unwrap().push(id.to_string()))
        .build();
    let tools = registry([Talker(json!({"type": "object"}))]);
    tools.invoke(call("a", "talker", &json!({})), &context).await;
    tools
        .invoke_all([call("b", "talker", &json!({}))], &context, InvokeOptions::new())
        .await;
    assert_eq!(*told.lock().unwrap(), ["a", "a", "a", "a", "b", "b", "b", "b"]);
}

/// A task that the tool has started tells something while the tool itself waits for ever.
#[tokio::test(start_paused = true)]
async fn progress_from_elsewhere_wakes_the_reader() {
    let tool = typed("t", "Starts a task.", |_: NoArguments, context: ToolContext| {
        let teller = context.clone();
        tokio::spawn(async move {
            teller.clock().sleep(Duration::from_millis(5)).await;
            teller.progress(Progress::message("half"));
        });
        std::future::pending::<Result<u8, ToolError>>()
    });
    let executor = registry([tool]).executor(context()).build().unwrap();
    let mut stream = executor.execute(vec![work("t", "t", &json!({}))]);
    let start = tokio::time::Instant::now();
    let told = stream.next().await.unwrap();
    assert_eq!(
        told,
        ToolReport::Progress {
            call_id: "t".into(),
            progress: Progress::message("half")
        }
    );
    assert_eq!(start.elapsed(), Duration::from_millis(5));
}
