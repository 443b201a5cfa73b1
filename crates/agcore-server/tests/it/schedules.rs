//! Schedules: their routes, and the runs that they start.

mod daylight;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_chat::{Actor, Clock};
use agcore_schedule::{InMemorySchedules, ScheduleStore};
use agcore_server::{Limits, ServerBuilder, Sharing};
use agcore_session::{RunFilter, RunStatus, SessionFilter};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use http::Method;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, Tools},
    support::{Answer, Running, Store, builder, flow_store, input, store, text_of, texts},
};

const PATH: &str = "/api/v1/agent/schedules";

/// Schedules with a clock of their own.
struct Times {
    clock: Arc<ManualClock>,
    schedules: Arc<InMemorySchedules>,
}

impl Times {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::new());
        let schedules = Arc::new(InMemorySchedules::new(Arc::clone(&clock) as Arc<dyn Clock>));
        Self { clock, schedules }
    }

    fn add_to(&self, builder: ServerBuilder) -> ServerBuilder {
        builder.with_schedules(Arc::clone(&self.schedules) as Arc<dyn ScheduleStore>)
    }

    /// Lets time pass, and has the server notice it.
    async fn pass(&self, server: &Running, schedule: &str, time: Duration) {
        self.clock.advance(time);
        let path = format!("{PATH}/{schedule}");
        let changed = server.with(Method::PATCH, &path, &[], Some(&json!({}))).await;
        assert_eq!(changed.status.as_u16(), 200, "{}", changed.text);
    }
}

fn hourly(thread: Option<&str>) -> Value {
    let mut input = json!({"messages": [{"id": "m", "role": "user", "content": "What is new?"}]});
    if let Some(thread) = thread {
        input["threadId"] = json!(thread);
    }
    json!({"title": "News", "timing": {"every": 3600}, "input": input})
}

/// Creates a schedule, and returns its id.
async fn create(server: &Running, body: &Value) -> String {
    let created = server.post(PATH, body).await;
    assert_eq!(created.status.as_u16(), 201, "{}", created.text);
    created.json()["scheduleId"].as_str().unwrap().to_owned()
}

/// Waits for a number of occurrences, and returns them, oldest first.
async fn occurrences(server: &Running, schedule: &str, count: usize) -> Vec<Value> {
    loop {
        let found = server.get(&format!("{PATH}/{schedule}/occurrences")).await.json();
        let mut found = found["occurrences"].as_array().unwrap().clone();
        if found.len() >= count {
            assert_eq!(found.len(), count, "{found:?}");
            found.reverse();
            return found;
        }
        tokio::task::yield_now().await;
    }
}

async fn follow(server: &Running, occurrence: &Value) -> String {
    let id = |name: &str| occurrence["run"][name].as_str().unwrap().to_owned();
    let events = server.follow(&id("threadId"), &id("runId"), None).await;
    text_of(events.iter().map(|event| &event.data))
}

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_run_starts_at_each_time_in_a_thread_of_its_own() {
    let times = Times::new();
    let provider = texts(["One.", "Two."]);
    let server = Running::start(times.add_to(builder(&provider, &store()))).await;
    let schedule = create(&server, &hourly(None)).await;
    times.pass(&server, &schedule, HOUR).await;
    let first = occurrences(&server, &schedule, 1).await.remove(0);
    assert_eq!(follow(&server, &first).await, "One.");
    times.pass(&server, &schedule, HOUR).await;
    let second = occurrences(&server, &schedule, 2).await.remove(1);
    assert_eq!(follow(&server, &second).await, "Two.");
    assert_eq!((&first["outcome"], &first["count"]), (&json!("started"), &json!(1)));
    assert_ne!(first["run"]["threadId"], second["run"]["threadId"]);
    // The runs are those of the user who has created the schedule.
    let sessions = server.get("/api/v1/agent/sessions").await.json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
    let shown = server.get(&format!("{PATH}/{schedule}")).await.json();
    assert_eq!(shown["last"], second);
    assert!(shown["nextAt"].is_string());
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn schedules_are_listed_changed_paused_and_deleted() {
    let times = Times::new();
    let provider = texts(["Now."]);
    let server = Running::start(times.add_to(builder(&provider, &store()))).await;
    let mut ids = [
        create(&server, &hourly(None)).await,
        create(&server, &hourly(None)).await,
    ];
    ids.sort();
    let [one, other] = ids;
    let page = server.get(&format!("{PATH}?limit=1")).await.json();
    assert_eq!(page["schedules"][0]["scheduleId"], json!(one));
    let cursor = page["cursor"].as_str().unwrap();
    let rest = server.get(&format!("{PATH}?cursor={cursor}")).await.json();
    assert_eq!(
        (&rest["schedules"][0]["scheduleId"], &rest["cursor"]),
        (&json!(other), &Value::Null)
    );

    let path = format!("{PATH}/{one}");
    let change =
        json!({"revision": 1, "title": "", "timing": {"cron": "30 6 * * *", "zone": "Asia/Shanghai"}, "paused": true});
    let changed = server.with(Method::PATCH, &path, &[], Some(&change)).await.json();
    assert_eq!((&changed["revision"], &changed["paused"]), (&json!(2), &json!(true)));
    assert!(
        changed.get("title").is_none() && changed.get("nextAt").is_none(),
        "{changed}"
    );
    assert_eq!(
        changed["timing"],
        json!({"cron": "30 6 * * *", "zone": "Asia/Shanghai"})
    );
    let stale = server
        .with(Method::PATCH, &path, &[], Some(&json!({"revision": 1})))
        .await;
    stale.assert_problem(409, "schedule_changed");
    server.with(Method::DELETE, &format!("{PATH}/{other}"), &[], None).await;
    times.pass(&server, &one, 24 * HOUR).await;
    // While it is paused, it starts a run only when it is asked for.
    let started = server.post(&format!("{path}/run"), &json!({})).await;
    assert_eq!(started.status.as_u16(), 202, "{}", started.text);
    assert_eq!(follow(&server, &json!({"run": started.json()})).await, "Now.");
    assert_eq!(
        server.get(&format!("{path}/occurrences")).await.json(),
        json!({"occurrences": []})
    );

    let deleted = server.with(Method::DELETE, &path, &[], None).await;
    assert_eq!(deleted.status.as_u16(), 204);
    server.get(&path).await.assert_problem(404, "not_found");
    server
        .with(Method::DELETE, &path, &[], None)
        .await
        .assert_problem(404, "not_found");
    server.kill().await;
}

#[tokio::test]
async fn a_run_that_another_process_has_just_started_is_that_of_the_occurrence() {
    let (times, store) = (Times::new(), store());
    let sharing = || Sharing::new("test").with_poll(Duration::from_millis(20));
    let looks = AtomicUsize::new(0);
    let is_due = Arc::new(AtomicBool::new(false));
    let due = Arc::clone(&is_due);
    // The process is late: between its question whether the run exists and that whether the thread is busy.
    let plan = FaultPlan::from_fn(move |_, method| {
        let is_look = method == "get_session" && due.load(Ordering::SeqCst);
        (is_look && looks.fetch_add(1, Ordering::SeqCst) == 1).then_some(StoreFault::Hold)
    });
    let faulty = Arc::new(FaultyStore::new(Arc::clone(&store), plan));
    let hanging = ScriptedProvider::new([ScriptStep::text("One").then_hang()]);
    let late = builder(&hanging, &(Arc::clone(&faulty) as Store)).with_sharing(sharing());
    let late = Running::start(times.add_to(late)).await;
    let other = Running::start(builder(&hanging, &store).with_sharing(sharing())).await;

    let schedule = create(&late, &hourly(Some("news"))).await;
    let kept = times.schedules.get("local", &schedule).await.unwrap().unwrap();
    let run = kept.run_id(kept.next_at.unwrap());
    is_due.store(true, Ordering::SeqCst);
    times.pass(&late, &schedule, HOUR).await;
    faulty.wait_for_held(1).await;
    let body = input("news", &run, "What is new?");
    let started = other.post("/api/v1/agent/runs/news", &body).await;
    assert!(started.status.is_success(), "{}", started.text);
    faulty.release_all();
    let occurrence = occurrences(&late, &schedule, 1).await.remove(0);
    assert_eq!(
        (&occurrence["outcome"], &occurrence["run"]),
        (&json!("started"), &json!({"threadId": "news", "runId": run}))
    );
    late.kill().await;
    other.kill().await;
}

#[tokio::test]
async fn an_occurrence_is_skipped_or_waits_or_replaces_the_run_before() {
    for overlap in ["skip", "queue", "interrupt"] {
        let times = Times::new();
        let store = store();
        let provider = ScriptedProvider::new([ScriptStep::text("One").then_hang(), ScriptStep::text("Two.")]);
        let server = Running::start(times.add_to(builder(&provider, &store))).await;
        let mut body = hourly(None);
        body["overlap"] = json!(overlap);
        let schedule = create(&server, &body).await;
        times.pass(&server, &schedule, HOUR).await;
        let first = occurrences(&server, &schedule, 1).await.remove(0);
        let (thread, run) = (
            first["run"]["threadId"].as_str().unwrap(),
            first["run"]["runId"].as_str().unwrap(),
        );
        server
            .follow_open(thread, run, None)
            .await
            .until("TEXT_MESSAGE_CONTENT")
            .await;
        times.pass(&server, &schedule, HOUR).await;
        let cancel = format!("/api/v1/agent/runs/{thread}/{run}/cancel");
        let second = match overlap {
            "skip" => {
                let second = occurrences(&server, &schedule, 2).await.remove(1);
                assert_eq!((&second["outcome"], second.get("run")), (&json!("overlap"), None));
                server.kill().await;
                continue;
            }
            "queue" => {
                // Nothing happens until the run is over.
                times.pass(&server, &schedule, Duration::from_secs(1)).await;
                occurrences(&server, &schedule, 1).await;
                server.post(&cancel, &json!({})).await;
                server.follow(thread, run, None).await;
                times.pass(&server, &schedule, Duration::from_secs(1)).await;
                occurrences(&server, &schedule, 2).await.remove(1)
            }
            _ => occurrences(&server, &schedule, 2).await.remove(1),
        };
        assert_eq!(follow(&server, &second).await, "Two.", "{overlap}");
        server.follow(thread, run, None).await;
        let runs = store.runs("local", thread, &RunFilter::new()).await.unwrap();
        assert_eq!(runs[0].status, RunStatus::Cancelled, "{overlap}");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_run_that_takes_the_last_place_of_its_user_is_replaced() {
    let times = Times::new();
    let provider = ScriptedProvider::new([ScriptStep::text("One").then_hang(), ScriptStep::text("Two.")]);
    let limits = Limits::new().with_max_runs_per_user(1);
    let server = Running::start(times.add_to(builder(&provider, &store()).with_limits(limits))).await;
    let mut body = hourly(None);
    body["overlap"] = json!("interrupt");
    let schedule = create(&server, &body).await;
    times.pass(&server, &schedule, HOUR).await;
    let first = occurrences(&server, &schedule, 1).await.remove(0);
    let id = |name: &str| first["run"][name].as_str().unwrap().to_owned();
    let mut events = server.follow_open(&id("threadId"), &id("runId"), None).await;
    events.until("TEXT_MESSAGE_CONTENT").await;
    times.pass(&server, &schedule, HOUR).await;
    // It is cancelled first, and the next check starts the other one.
    events.rest().await;
    times.pass(&server, &schedule, Duration::from_secs(1)).await;
    let second = occurrences(&server, &schedule, 2).await.remove(1);
    assert_eq!(follow(&server, &second).await, "Two.");
    server.stop().await;
}

#[tokio::test]
async fn runs_in_one_thread_continue_its_conversation() {
    let times = Times::new();
    let provider = texts(["Hello.", "One.", "Two."]);
    let server = Running::start(times.add_to(builder(&provider, &store()))).await;
    server.run(&input("t", "r", "Hi.")).await;
    let schedule = create(&server, &hourly(Some("t"))).await;
    for count in 1..=2 {
        times.pass(&server, &schedule, HOUR).await;
        let last = occurrences(&server, &schedule, count).await.pop().unwrap();
        assert_eq!(last["run"]["threadId"], "t");
        follow(&server, &last).await;
    }
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    assert_eq!(history["messages"].as_array().unwrap().len(), 6);
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn two_processes_start_each_occurrence_once() {
    let times = Times::new();
    let store = store();
    let sharing = || Sharing::new("test").with_poll(Duration::from_millis(20));
    let provider = texts(["One.", "Two.", "Three."]);
    let shared = || times.add_to(builder(&provider, &store).with_sharing(sharing()));
    let (one, other) = (Running::start(shared()).await, Running::start(shared()).await);
    let schedule = create(&one, &hourly(None)).await;
    for count in 1..=3 {
        times.clock.advance(HOUR);
        let path = format!("{PATH}/{schedule}");
        let body = json!({});
        tokio::join!(
            one.with(Method::PATCH, &path, &[], Some(&body)),
            other.with(Method::PATCH, &path, &[], Some(&body)),
        );
        let last = occurrences(&one, &schedule, count).await.pop().unwrap();
        assert_eq!(last["outcome"], "started");
        follow(&other, &last).await;
    }
    assert_eq!(
        store
            .sessions(&SessionFilter::owned_by(Actor::local()))
            .await
            .unwrap()
            .len(),
        3
    );
    provider.assert_done();
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_job_that_is_not_possible_any_more_is_reported() {
    let times = Times::new();
    let store = store();
    let server = Running::start(times.add_to(builder(&texts([]), &store))).await;
    let mut body = hourly(None);
    body["input"]["forwardedProps"] = json!({"agent": "ada"});
    let schedule = create(&server, &body).await;
    server.stop().await;
    let renamed = crate::support::agent(&texts([])).build().unwrap();
    let renamed = ServerBuilder::with_agent(
        agcore_server::Server::builder(),
        "bob",
        renamed,
        agcore_agent::AgentSpec::new("bob", "Be Bob."),
    );
    let server = Running::start(times.add_to(crate::support::InStore::in_store(renamed, &store))).await;
    // It may be that this process is about to be replaced by one that knows the agent.
    times.pass(&server, &schedule, HOUR).await;
    times.pass(&server, &schedule, Duration::from_secs(61)).await;
    let refused = occurrences(&server, &schedule, 1).await.remove(0);
    assert_eq!((&refused["outcome"], refused.get("run")), (&json!("refused"), None));
    assert!(server.get(&format!("{PATH}/{schedule}")).await.json()["nextAt"].is_string());
    server.stop().await;
}

#[tokio::test]
async fn flows_run_in_the_mode_for_jobs() {
    let times = Times::new();
    let provider = texts([r#"{"execution_brief": "Do it.", "enabled_skills": []}"#, "Report."]);
    let store = flow_store();
    let flow = Tools::default().flow(ROUTER, &provider);
    let server = store.add_to(agcore_server::Server::builder().with_flow("router", flow));
    let server = Running::start(times.add_to(server)).await;
    let schedule = create(&server, &hourly(None)).await;
    times.pass(&server, &schedule, HOUR).await;
    let first = occurrences(&server, &schedule, 1).await.remove(0);
    follow(&server, &first).await;
    let thread = first["run"]["threadId"].as_str().unwrap();
    let runs = store.sessions.runs("local", thread, &RunFilter::new()).await.unwrap();
    let stored = runs[0].input.as_ref().unwrap();
    assert!(stored["flow"]["request"]["job"].is_object(), "{stored}");
    server.stop().await;
}

async fn refused(server: &Running, change: impl FnOnce(&mut Value)) -> Answer {
    let mut body = hourly(None);
    change(&mut body);
    server.post(PATH, &body).await
}

#[tokio::test]
async fn what_cannot_be_scheduled_is_refused() {
    let times = Times::new();
    let limits = Limits::new().with_max_schedules_per_user(2);
    let server = Running::start(times.add_to(builder(&texts([]), &store()).with_limits(limits))).await;
    for (member, value, words) in [
        ("timing", json!({"cron": "61 * * * *"}), "61"),
        ("timing", json!({"cron": "0 0 30 2 *"}), "never occurs"),
        (
            "timing",
            json!({"cron": "0 9 * * *", "zone": "Mars/Olympus"}),
            "Mars/Olympus",
        ),
        ("timing", json!({"every": 1}), "60"),
        ("timing", json!({"at": "1970-01-01T00:00:00Z"}), "later one"),
        ("catchUp", json!({"all": {"up_to": 5}}), "queue"),
        ("input", json!([]), "`input`"),
        ("input", json!({"messages": []}), "message"),
        ("input", json!({"runId": "r", "messages": []}), "`runId`"),
        ("input", json!({"resume": [], "messages": []}), "`resume`"),
        (
            "input",
            json!({"tools": [{"name": "print"}], "messages": []}),
            "`tools`",
        ),
        ("title", json!("x".repeat(2000)), "title"),
    ] {
        let answer = refused(&server, |body| body[member] = value.clone()).await;
        assert_eq!(answer.status.as_u16(), 400, "{value}: {}", answer.text);
        assert!(
            answer.json()["detail"].as_str().unwrap().contains(words),
            "{value}: {}",
            answer.text
        );
    }
    for (member, value) in [("timing", json!({})), ("overlap", json!("never")), ("secret", json!(1))] {
        let answer = refused(&server, |body| body[member] = value).await;
        answer.assert_problem(400, "invalid_body");
    }
    let unknown = refused(&server, |body| {
        body["input"]["forwardedProps"] = json!({"agent": "eve"});
    })
    .await;
    unknown.assert_problem(404, "agent_not_found");
    create(&server, &hourly(None)).await;
    create(&server, &hourly(None)).await;
    server
        .post(PATH, &hourly(None))
        .await
        .assert_problem(409, "too_many_schedules");
    server.stop().await;

    let without = Running::start(builder(&texts([]), &store())).await;
    without.get(PATH).await.assert_problem(404, "not_found");
    without.post(PATH, &hourly(None)).await.assert_problem(404, "not_found");
    without.stop().await;
}

#[tokio::test]
async fn an_erased_user_has_no_schedules() {
    let times = Times::new();
    let server = Running::start(times.add_to(builder(&texts([]), &store()))).await;
    let schedule = create(&server, &hourly(None)).await;
    assert_eq!(times.schedules.erase(&Actor::local()).await.unwrap(), 1);
    server
        .get(&format!("{PATH}/{schedule}"))
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}
