//! Schedules over the days on which clocks are changed, with several processes that are killed and replaced.

use std::{collections::BTreeSet, env, time::Duration};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::{Actor, ChatResponse, Clock, Timestamp};
use agcore_llm::provider_fn;
use agcore_server::{Limits, Server, ServerBuilder, Sharing};
use agcore_session::SessionFilter;
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};

use super::{PATH, Times, create, follow};
use crate::support::{InStore, Running, Store, store};

const PROCESSES: usize = 3;
const DAY: i64 = 24 * 3600;

/// The nights of Berlin in which clocks are put forward and back, in seconds since 1970: 2026-03-29 and 2026-10-25.
const NIGHTS: [i64; 2] = [1_774_742_400, 1_792_886_400];

/// Returns the times at which it is 02:30, 10:30 or 18:30 in Berlin, in days from the first one on: without a library for time zones, so
/// that its errors would show.
fn expected(first: i64, days: i64) -> Vec<i64> {
    let [forward, back] = NIGHTS;
    let of_day = |day: i64| {
        let midnight = first + day * DAY;
        let nights = match midnight {
            // The hour does not exist.
            day if day == forward => vec![],
            // The hour exists twice.
            day if day == back => vec![1800, 5400],
            day if day > forward && day < back => vec![1800],
            _ => vec![5400],
        };
        let is_summer = midnight >= forward && midnight < back;
        let day = 9 * 3600 + 1800 - if is_summer { 3600 } else { 0 };
        let times = nights.into_iter().chain([day, day + 8 * 3600]);
        times.map(|time| midnight + time).collect::<Vec<_>>()
    };
    (0..days).flat_map(of_day).collect()
}

/// Returns one of several processes that share sessions and schedules.
fn process(times: &Times, store: &Store) -> ServerBuilder {
    let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Nothing.")) });
    let bundle = AgentBuilder::new().with_provider(provider).build().unwrap();
    let served = Server::builder().with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."));
    let sharing = Sharing::new("test").with_poll(Duration::from_millis(20));
    times
        .add_to(served.in_store(store))
        .with_limits(Limits::new().with_drain(Duration::ZERO))
        .with_sharing(sharing.with_lease(Duration::from_secs(1)))
}

/// Lets all processes look for due schedules.
async fn notice(servers: &[Running], schedule: &str) {
    let (path, body) = (format!("{PATH}/{schedule}"), json!({}));
    let all = servers
        .iter()
        .map(|server| server.with(Method::PATCH, &path, &[], Some(&body)));
    join_all(all).await;
}

/// The longest time for what happens within moments. Only a bug exceeds it.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the newest occurrence, once it is of this time. Meanwhile the clock continues: processes rest after they have read
/// the schedules, and one that was busy when it should have read them again rests first.
async fn newest(server: &Running, schedule: &str, (times, time): (&Times, i64)) -> Value {
    let found = async {
        loop {
            let shown = server.get(&format!("{PATH}/{schedule}")).await.json();
            let at = shown["last"]["at"].as_str().map(|at| at.parse::<Timestamp>().unwrap());
            if at == Some(Timestamp::from_millis(time * 1000)) {
                return shown["last"].clone();
            }
            times.clock.advance(Duration::from_millis(2));
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(LIMIT, found).await;
    found.expect("one of the processes records the occurrence")
}

/// Moves the clock forward to a time, in seconds since 1970.
fn advance_to(times: &Times, time: i64) {
    let now = Timestamp::from(times.clock.now()).as_millis();
    times
        .clock
        .advance(Duration::from_millis((time * 1000 - now).unsigned_abs()));
}

/// Runs a schedule for some days from this one on, while its processes are killed in turn.
async fn run(first: i64, days: i64) {
    let times = Times::new();
    advance_to(&times, first);
    let store = store();
    let mut servers = Vec::new();
    for _ in 0..PROCESSES {
        servers.push(Running::start(process(&times, &store)).await);
    }
    let mut body = super::hourly(None);
    body["timing"] = json!({"cron": "30 2,10,18 * * *", "zone": "Europe/Berlin"});
    let schedule = create(&servers[0], &body).await;
    let mut threads = BTreeSet::new();
    let all = expected(first, days);
    let occurrences = all.len();
    for (number, time) in all.into_iter().enumerate() {
        // A second before, nothing happens.
        advance_to(&times, time - 1);
        notice(&servers, &schedule).await;
        advance_to(&times, time);
        let killed = number % PROCESSES;
        match number % 2 {
            0 => notice(&servers, &schedule).await,
            // A process that is killed at any moment leaves the occurrence to the others.
            _ => {
                tokio::select! {
                    biased;
                    () = yields(number % 97) => {}
                    () = notice(&servers, &schedule) => {}
                }
                servers.remove(killed).kill().await;
                servers.insert(killed, Running::start(process(&times, &store)).await);
                notice(&servers, &schedule).await;
            }
        }
        let server = &servers[(killed + 1) % PROCESSES];
        let occurrence = newest(server, &schedule, (&times, time)).await;
        assert_eq!(
            (&occurrence["outcome"], &occurrence["count"]),
            (&json!("started"), &json!(1))
        );
        assert_eq!(follow(server, &occurrence).await, "Nothing.");
        threads.insert(occurrence["run"]["threadId"].to_string());
    }
    let sessions = store.sessions(&SessionFilter::owned_by(Actor::local())).await.unwrap();
    assert_eq!((sessions.len(), threads.len()), (occurrences, occurrences));
    for server in servers {
        server.stop().await;
    }
}

async fn yields(count: usize) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "chooses the size of the test")]
async fn each_time_over_the_changes_of_clocks_starts_one_run() {
    match env::var_os("AGCORE_SOAK") {
        Some(_) => run(NIGHTS[0] - 80 * DAY, 334).await,
        None => {
            for night in NIGHTS {
                run(night - 2 * DAY, 5).await;
            }
        }
    }
}

/// Checks the list of times against that of the first and the last change.
#[test]
fn the_expected_times_are_those_of_a_calendar() {
    let minutes = |first: i64| -> Vec<i64> { expected(first, 2).iter().map(|time| (time - first) / 60).collect() };
    let day = |hours: i64, minutes: i64| 24 * 60 + hours * 60 + minutes;
    let [forward, back] = NIGHTS.map(|night| minutes(night - DAY));
    assert_eq!(forward, [90, 570, 1050, day(8, 30), day(16, 30)]);
    assert_eq!(back, [30, 510, 990, day(0, 30), day(1, 30), day(9, 30), day(17, 30)]);
}
