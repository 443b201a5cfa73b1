//! Several servers that share the runs of a store.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use agcore_chat::SystemClock;
use agcore_server::{BusyPolicy, Limits, Role, Server, ServerBuilder, ServerError, Sharing, Unfinished};
use agcore_session::{
    ClaimRequest, Commit, Fence, InMemorySessionStore, NewEvent, Release, ReleaseReason, RunChange, RunFilter,
    RunStatus, SessionErrorKind,
};
use agcore_testkit::{
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::postgres;
use crate::support::{Running, Store, builder, call, input, store, text_of, texts};

/// The length of the leases: long enough for a busy machine, and no test waits for the end of one.
const LEASE: Duration = Duration::from_secs(5);

fn sharing(role: Role) -> Sharing {
    Sharing::new("test")
        .with_role(role)
        .with_poll(Duration::from_millis(20))
        .with_lease(LEASE)
}

fn api(store: &Store) -> ServerBuilder {
    builder(&ScriptedProvider::new([]), store).with_sharing(sharing(Role::Api))
}

fn worker(provider: &ScriptedProvider, store: &Store) -> ServerBuilder {
    builder(provider, store).with_sharing(sharing(Role::Worker))
}

/// A worker in a task.
struct Working {
    stop: CancellationToken,
    task: JoinHandle<Result<(), ServerError>>,
}

impl Working {
    fn start(builder: ServerBuilder) -> Self {
        let server: Server = builder.build().unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { server.work(stopped).await });
        Self { stop, task }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}

fn data(events: Vec<crate::support::Event>) -> Vec<Value> {
    let data: Vec<Value> = events.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(data.iter().cloned()).unwrap();
    data
}

async fn status(store: &Store, run: &str) -> RunStatus {
    let found = store.runs("local", "t", &RunFilter::new().with_id(run)).await.unwrap();
    found[0].status
}

#[tokio::test]
async fn an_idle_worker_learns_of_runs_before_it_asks() {
    if postgres::url().is_none() {
        return println!("skipped: only PostgreSQL has announcements; the test with a server runs this one");
    }
    let store = store();
    let api = Running::start(api(&store)).await;
    let provider = ScriptedProvider::new((0..5).map(|_| ScriptStep::text("Done.")));
    let hourly = sharing(Role::Worker).with_poll(Duration::from_secs(3600));
    let worker = Working::start(builder(&provider, &store).with_sharing(hourly));
    // The worker asks when a run ends, so that it might find the next one. It does not find all five that way.
    for run in ["r1", "r2", "r3", "r4", "r5"] {
        let started = api.post("/api/v1/agent/runs/t", &input("t", run, "Say it.")).await;
        assert_eq!(started.status.as_u16(), 202, "{}", started.text);
        assert_eq!(text_of(&data(api.follow("t", run, None).await)), "Done.");
    }
    worker.stop().await;
    api.stop().await;
}

#[tokio::test]
async fn a_worker_executes_what_an_api_process_accepts_and_all_show_it() {
    let store = store();
    let (one, other) = (Running::start(api(&store)).await, Running::start(api(&store)).await);
    let started = one.post("/api/v1/agent/runs/t", &input("t", "r1", "Say it.")).await;
    assert_eq!(started.status.as_u16(), 202, "{}", started.text);
    let mut early = one.follow_open("t", "r1", None).await;
    assert_eq!(early.next().await.unwrap().data["type"], "RUN_STARTED");
    assert_eq!(status(&store, "r1").await, RunStatus::Queued);

    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "say")]), ScriptStep::text("Done.")]);
    let worker = Working::start(worker(&provider, &store));
    let rest: Vec<Value> = early.rest().await.into_iter().map(|event| event.data).collect();
    assert_eq!(text_of(&rest), "Done.");
    let [first, second] = [one.follow("t", "r1", None).await, other.follow("t", "r1", None).await];
    assert_eq!(first, second);
    // A client that comes back to the other process misses nothing.
    let place = first[2].id;
    assert_eq!(other.follow("t", "r1", place).await, first[3..]);
    assert_eq!(data(first).last().unwrap()["metadata"]["agcore"]["usageComplete"], true);
    provider.assert_done();
    worker.stop().await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_worker_reports_its_slots_and_whether_its_leases_hold() {
    let store = store();
    let is_down = Arc::new(AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let plan = FaultPlan::from_fn(move |_, _| down.load(Ordering::SeqCst).then_some(StoreFault::Fail));
    let faulty = Arc::new(FaultyStore::new(Arc::clone(&store), plan));
    let slow = ScriptedProvider::new([ScriptStep::text("Half").then_hang()]);
    let drain = Limits::new().with_drain(Duration::from_millis(10));
    let sharing = sharing(Role::Worker).with_slots(3).with_lease(Duration::from_secs(2));
    let server = builder(&slow, &(faulty as Store))
        .with_sharing(sharing)
        .with_limits(drain);
    let worker = Running::start_worker(server).await;
    let api = Running::start(api(&store)).await;
    api.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    api.follow_open("t", "r1", None)
        .await
        .until("TEXT_MESSAGE_CONTENT")
        .await;
    assert_eq!(
        worker.get("/ready").await.json(),
        json!({"status": "ready", "slots": 3, "freeSlots": 2, "runs": 1, "claims": true})
    );
    assert_eq!(worker.get("/health").await.status.as_u16(), 200);
    assert!(worker.get("/metrics").await.text.contains("agcore_runs_active 1"));
    // It accepts no other requests.
    let refused = worker.get("/api/v1/agent/sessions").await;
    refused.assert_problem(404, "not_found");
    is_down.store(true, Ordering::SeqCst);
    while worker.get("/ready").await.status.as_u16() == 200 {
        tokio::task::yield_now().await;
    }
    worker.get("/ready").await.assert_problem(503, "store_unavailable");
    worker.kill().await;
    api.kill().await;
}

#[tokio::test]
async fn claims_follow_soon_after_an_outage() {
    let (claims, mut claimed) = watch::channel(Vec::new());
    let plan = FaultPlan::from_fn(move |_, method| {
        let is_claim = method == "claim";
        claims.send_if_modified(|claims| {
            claims.extend(is_claim.then(Instant::now));
            is_claim
        });
        (is_claim && claims.borrow().len() < 12).then_some(StoreFault::Fail)
    });
    let faulty = Arc::new(FaultyStore::new(store(), plan));
    let worker = Working::start(worker(&texts([]), &(faulty as Store)));
    let claims = claimed.wait_for(|claims| claims.len() >= 12).await.unwrap().clone();
    // An idle worker claims every 80 ms.
    let longest = claims.windows(2).map(|two| two[1] - two[0]).max();
    assert!(longest < Some(Duration::from_secs(2)), "{longest:?}");
    worker.stop().await;
}

#[tokio::test]
async fn any_process_cancels_a_run_and_answers_its_questions() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("Paid."),
        ScriptStep::text("Half").then_hang(),
    ]);
    let worker = Working::start(worker(&provider, &store));
    let (one, other) = (Running::start(api(&store)).await, Running::start(api(&store)).await);
    one.post("/api/v1/agent/runs/t", &input("t", "r1", "Pay.")).await;
    let asked = data(one.follow("t", "r1", None).await);
    let question = asked.last().unwrap()["outcome"]["interrupts"][0]["id"].clone();
    let answer = json!({"runId": "r2", "answers": [
        {"interruptId": question, "status": "resolved", "payload": {"approved": true}},
    ]});
    let answered = other.post("/api/v1/agent/runs/t/r1/answers", &answer).await;
    assert!(answered.status.is_success(), "{}", answered.text);
    assert_eq!(text_of(&data(one.follow("t", "r2", None).await)), "Paid.");

    one.post("/api/v1/agent/runs/t", &input("t", "r3", "Go on.")).await;
    one.follow_open("t", "r3", None)
        .await
        .until("TEXT_MESSAGE_CONTENT")
        .await;
    let cancelled = other.post("/api/v1/agent/runs/t/r3/cancel", &json!({})).await;
    assert!(cancelled.status.is_success(), "{}", cancelled.text);
    let end = data(other.follow("t", "r3", None).await);
    assert_eq!(end.last().unwrap()["outcome"]["type"], "cancelled");
    worker.stop().await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn an_answer_is_stored_while_a_message_that_waits_has_a_worker() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("Paid."),
        ScriptStep::text("Hello."),
    ]);
    let working = || Working::start(worker(&provider, &store));
    let api = Running::start(api(&store).with_busy(BusyPolicy::Queue)).await;
    let first = working();
    api.post("/api/v1/agent/runs/t", &input("t", "r1", "Pay.")).await;
    let asked = data(api.follow("t", "r1", None).await);
    first.stop().await;
    // Another worker has claimed the message, and is about to find out that it has to wait.
    api.post("/api/v1/agent/runs/t", &input("t", "r2", "Hi.")).await;
    let claims = store.claim(&ClaimRequest::new("h", "w")).await.unwrap();
    assert_eq!(claims.leases[0].run, "r2");

    let question = &asked.last().unwrap()["outcome"]["interrupts"][0]["id"];
    let answer = json!({"runId": "r3", "answers": [
        {"interruptId": question, "status": "resolved", "payload": {"approved": true}},
    ]});
    let answered = api.post("/api/v1/agent/runs/t/r1/answers", &answer).await;
    assert_eq!(answered.status.as_u16(), 202, "{}", answered.text);
    let release = Release::new(ReleaseReason::GivenBack);
    assert!(store.release(&claims.leases[0], release).await.unwrap());
    let second = working();
    for (run, text) in [("r3", "Paid."), ("r2", "Hello.")] {
        assert_eq!(text_of(&data(api.follow("t", run, None).await)), text);
    }
    second.stop().await;
    api.stop().await;
}

#[tokio::test]
async fn a_run_that_waits_for_a_worker_is_cancelled_before_it_begins() {
    let store = store();
    let api = Running::start(api(&store)).await;
    api.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    api.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    let provider = ScriptedProvider::new([]);
    let worker = Working::start(worker(&provider, &store));
    let end = data(api.follow("t", "r1", None).await);
    assert_eq!(end.last().unwrap()["outcome"]["type"], "cancelled");
    worker.stop().await;
    api.stop().await;
}

#[tokio::test]
async fn another_worker_continues_at_once_when_one_stops() {
    let store = store();
    let first = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("Half").then_hang(),
    ]);
    let drain = Limits::new().with_drain(Duration::from_millis(10));
    let stopping = Working::start(worker(&first, &store).with_limits(drain));
    let api = Running::start(api(&store)).await;
    api.post("/api/v1/agent/runs/t", &input("t", "r1", "Say it.")).await;
    let mut events = api.follow_open("t", "r1", None).await;
    let seen = events.until("TEXT_MESSAGE_CONTENT").await;
    stopping.stop().await;
    let second = texts(["Whole."]);
    let next = Working::start(worker(&second, &store));
    let all = [seen, events.rest().await].concat();
    assert_eq!(all, api.follow("t", "r1", None).await);
    let all = data(all);
    assert_eq!(text_of(&all), "HalfWhole.");
    assert_eq!(
        all.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT").count(),
        1
    );
    let run = store.runs("local", "t", &RunFilter::new()).await.unwrap().remove(0);
    // The first one has released it, perhaps twice: a claim that was under way when it stopped may have found the run again.
    assert!(run.lease.epoch >= 2, "{:?}", run.lease);
    assert_eq!(run.lease.attempts, 1);
    next.stop().await;
    api.stop().await;
}

#[tokio::test]
async fn a_worker_whose_lease_was_lost_writes_nothing_more() {
    let store = store();
    let slow = ScriptedProvider::new([ScriptStep::text("Half").then_hang()]);
    // With a second slot, it could claim the run again before it learns that it has to stop.
    let one_slot = sharing(Role::Worker).with_slots(1);
    let losing = Working::start(builder(&slow, &store).with_sharing(one_slot));
    let api = Running::start(api(&store)).await;
    api.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    let mut events = api.follow_open("t", "r1", None).await;
    let seen = events.until("TEXT_MESSAGE_CONTENT").await;
    // Somebody with the database for himself has taken the run, and another worker has it.
    losing.stop.cancel();
    store.take_over(false).await.unwrap();
    let fast = texts(["Whole."]);
    let next = Working::start(worker(&fast, &store));
    let all = [seen, events.rest().await].concat();
    assert_eq!(all, api.follow("t", "r1", None).await);
    assert_eq!(text_of(&data(all)), "HalfWhole.");
    losing.task.await.unwrap().unwrap();
    let late = Commit::new()
        .with_event(NewEvent::new("r1", "late", json!({})))
        .with_fence(Fence::new("t", "r1", 1));
    let end = store.get_session("local", "t").await.unwrap().unwrap().end;
    let refused = store.commit("local", "t", end, late).await.unwrap_err();
    assert_eq!(refused.kind(), SessionErrorKind::Fenced);
    next.stop().await;
    api.stop().await;
}

#[tokio::test]
async fn a_run_that_ends_its_workers_fails_and_its_followers_learn_that() {
    let store = store();
    let api = Running::start(api(&store)).await;
    api.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    let mut events = api.follow_open("t", "r1", None).await;
    events.until("RUN_STARTED").await;
    for number in 0..5 {
        let request = ClaimRequest::new(format!("claim {number}"), "dies").with_length(Duration::from_millis(1));
        while store.claim(&request).await.unwrap().leases.is_empty() {
            tokio::task::yield_now().await;
        }
    }
    let provider = ScriptedProvider::new([]);
    let worker = Working::start(worker(&provider, &store));
    let end = data(events.rest().await);
    let last = end.last().unwrap();
    assert_eq!(last["type"], "RUN_ERROR");
    assert!(last["message"].as_str().unwrap().contains("5 workers"), "{last}");
    assert_eq!(data(api.follow("t", "r1", None).await).last(), Some(last));
    worker.stop().await;
    api.stop().await;
}

#[tokio::test]
async fn limits_hold_over_all_processes_and_one_thread_has_one_run() {
    let store = store();
    let limits = Limits::new().with_max_runs_per_user(4);
    let servers = [
        Running::start(api(&store).with_limits(limits.clone())).await,
        Running::start(api(&store).with_limits(limits)).await,
    ];
    let start = |number: usize, thread: String| {
        let server = &servers[number % 2];
        let body = input(&thread, &format!("r{number}"), "Hello");
        async move { server.post(&format!("/api/v1/agent/runs/{thread}"), &body).await }
    };
    let answers = futures_util::future::join_all((0..6).map(|number| start(number, "same".to_owned()))).await;
    let accepted = |answers: &[crate::support::Answer]| answers.iter().filter(|answer| answer.status == 202).count();
    assert_eq!(accepted(&answers), 1, "{answers:?}");
    let answers = futures_util::future::join_all((0..20).map(|number| start(number, format!("t{number}")))).await;
    assert_eq!(accepted(&answers), 3, "{answers:?}");
    for server in servers {
        server.stop().await;
    }
}

#[tokio::test]
async fn a_message_waits_for_an_answer_that_another_process_takes() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("Paid."),
        ScriptStep::text("And more."),
    ]);
    let worker = Working::start(worker(&provider, &store));
    let one = Running::start(api(&store).with_busy(BusyPolicy::Queue)).await;
    let other = Running::start(api(&store).with_busy(BusyPolicy::Queue)).await;
    one.post("/api/v1/agent/runs/t", &input("t", "r1", "Pay.")).await;
    let asked = data(one.follow("t", "r1", None).await);
    one.post("/api/v1/agent/runs/t", &input("t", "r2", "More.")).await;
    // The worker has claimed it, and has released it.
    while store.runs("local", "t", &RunFilter::new().with_id("r2")).await.unwrap()[0]
        .lease
        .not_before
        .is_none()
    {
        tokio::task::yield_now().await;
    }
    let question = asked.last().unwrap()["outcome"]["interrupts"][0]["id"].clone();
    let answer = json!({"runId": "r3", "answers": [
        {"interruptId": question, "status": "resolved", "payload": {"approved": true}},
    ]});
    other.post("/api/v1/agent/runs/t/r1/answers", &answer).await;
    assert_eq!(text_of(&data(other.follow("t", "r3", None).await)), "Paid.");
    assert_eq!(text_of(&data(one.follow("t", "r2", None).await)), "And more.");
    worker.stop().await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_server_with_a_store_for_itself_keeps_others_away() {
    let store = store();
    let shared = Running::start(api(&store)).await;
    let alone = builder(&ScriptedProvider::new([]), &store).build().unwrap();
    // The other one has started when it answers.
    shared.get("/health").await;
    assert!(matches!(alone.take_store().await, Err(ServerError::InUse(_))));
    shared.stop().await;
    alone.take_store().await.unwrap();
    let late = api(&store).build().unwrap();
    assert!(matches!(late.take_store().await, Err(ServerError::InUse(_))));
    let cancels = api(&store).with_unfinished(Unfinished::Cancel).build();
    assert!(matches!(cancels, Err(ServerError::CancelShared)));
    let not_shared = builder(&ScriptedProvider::new([]), &store).build().unwrap();
    let worked = not_shared.work(CancellationToken::new()).await;
    assert!(matches!(worked, Err(ServerError::NotShared)), "{worked:?}");
}

#[tokio::test]
async fn a_run_that_was_claimed_before_an_outage_is_tried_again() {
    let failed = Arc::new(Mutex::new(Vec::<String>::new()));
    let failures = Arc::clone(&failed);
    // The first read for the run, and then the first attempt to release it.
    let plan = FaultPlan::from_fn(move |_, method| {
        let mut failed = failures.lock().unwrap();
        let fails = ["events", "release"].contains(&method) && !failed.iter().any(|other| other == method);
        fails.then(|| {
            failed.push(method.to_owned());
            StoreFault::Fail
        })
    });
    let inner = InMemorySessionStore::new(Arc::new(SystemClock::new()));
    let store: Store = Arc::new(FaultyStore::new(inner, plan));
    let server = Running::start(builder(&texts(["Good day."]), &store)).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    while failed.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(text_of(&data(server.follow("t", "r1", None).await)), "Good day.");
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_cannot_be_read_fails_in_the_end() {
    let store = store();
    let server = Running::start(api(&store)).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    let sharing = sharing(Role::Worker).with_max_attempts(2);
    let worker = Working::start(builder(&ScriptedProvider::new([]), &store).with_sharing(sharing));
    server.follow("t", "r1", None).await;
    // As a later version may write it.
    let end = store.get_session("local", "t").await.unwrap().unwrap().end;
    let run = RunChange::new("r2", RunStatus::Queued).with_input(json!({"plan": 7}));
    let mut encoder = agcore_agui::Encoder::new("t", "r2");
    let started = encoder.push(agcore_agui::Run::started().into()).unwrap().remove(0);
    let started = NewEvent::new("r2", "agui", serde_json::to_value(started).unwrap());
    let commit = Commit::new().with_run(run).with_event(started);
    store.commit("local", "t", end, commit).await.unwrap();
    let end = server.follow("t", "r2", None).await;
    let end = &end.last().unwrap().data;
    assert_eq!(end["type"], "RUN_ERROR", "{end}");
    assert!(end["message"].as_str().unwrap().contains("2 workers"), "{end}");
    worker.stop().await;
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_was_claimed_but_not_opened_can_be_cancelled() {
    // The session is read only after the cancellation was stored.
    let reads = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&reads);
    let plan = FaultPlan::from_fn(move |_, method| {
        let is_read = method == "events";
        *counted.lock().unwrap() += usize::from(is_read);
        (is_read && *counted.lock().unwrap() == 1).then_some(StoreFault::Hold)
    });
    let inner = InMemorySessionStore::new(Arc::new(SystemClock::new()));
    let faulty = Arc::new(FaultyStore::new(inner, plan));
    let store: Store = Arc::clone(&faulty) as _;
    let server = Running::start(builder(&ScriptedProvider::new([]), &store)).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    faulty.wait_for_held(1).await;
    let cancelled = server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    assert!(cancelled.status.is_success(), "{}", cancelled.text);
    faulty.release_all();
    let end = data(server.follow("t", "r1", None).await);
    assert_eq!(end.last().unwrap()["outcome"]["type"], "cancelled");
    server.stop().await;
}

#[tokio::test]
async fn a_message_that_replaces_a_run_takes_its_place() {
    let store = store();
    let limits = Limits::new().with_max_runs_per_user(1);
    let provider = ScriptedProvider::new([ScriptStep::text("Half").then_hang(), ScriptStep::text("Whole.")]);
    let builder = builder(&provider, &store).with_limits(limits);
    let server = Running::start(builder.with_busy(BusyPolicy::Interrupt)).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    server
        .follow_open("t", "r1", None)
        .await
        .until("TEXT_MESSAGE_CONTENT")
        .await;
    let refused = server.post("/api/v1/agent/runs/u", &input("u", "r1", "Hello")).await;
    refused.assert_problem(429, "too_many_runs");
    let replaced = server.post("/api/v1/agent/runs/t", &input("t", "r2", "Again")).await;
    assert_eq!(replaced.status.as_u16(), 202, "{}", replaced.text);
    assert_eq!(text_of(&data(server.follow("t", "r2", None).await)), "Whole.");
    let first = data(server.follow("t", "r1", None).await);
    assert_eq!(first.last().unwrap()["outcome"]["type"], "cancelled");
    server.stop().await;
}

#[tokio::test]
async fn one_read_looks_after_all_runs_that_are_followed() {
    let calls = Arc::new(Mutex::new(Vec::<String>::new()));
    let seen = Arc::clone(&calls);
    let plan = FaultPlan::from_fn(move |_, method| {
        seen.lock().unwrap().push(method.to_owned());
        None
    });
    let counted: Store = Arc::new(FaultyStore::new(store(), plan));
    let limits = Limits::new().with_max_runs_per_user(30).with_max_streams_per_user(30);
    let server = Running::start(api(&counted).with_limits(limits)).await;
    let mut followed = Vec::new();
    for number in 0..30 {
        let (thread, run) = (format!("t{number}"), format!("r{number}"));
        server
            .post(&format!("/api/v1/agent/runs/{thread}"), &input(&thread, &run, "Hello"))
            .await;
        let mut events = server.follow_open(&thread, &run, None).await;
        events.until("RUN_STARTED").await;
        followed.push(events);
    }
    let reads = || {
        calls
            .lock()
            .unwrap()
            .iter()
            .filter(|method| *method == "progress")
            .count()
    };
    // One more read finds out that there is nothing new.
    let settled = reads() + 2;
    while reads() < settled {
        tokio::task::yield_now().await;
    }
    calls.lock().unwrap().clear();
    while reads() < 5 {
        tokio::task::yield_now().await;
    }
    let others = calls.lock().unwrap().clone();
    let others: Vec<_> = others
        .iter()
        .filter(|method| ["events", "runs"].contains(&&***method))
        .collect();
    assert_eq!(others, Vec::<&String>::new());

    let texts = texts(["Done."; 30]);
    let worker = Working::start(worker(&texts, &counted));
    for (number, events) in followed.into_iter().enumerate() {
        let rest: Vec<Value> = events.rest().await.into_iter().map(|event| event.data).collect();
        assert_eq!(text_of(&rest), "Done.", "{number}");
    }
    worker.stop().await;
    server.stop().await;
}
