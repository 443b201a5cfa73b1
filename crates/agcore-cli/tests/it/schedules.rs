//! `schedules`: runs that a server starts at certain times.

use serde_json::{Value, json};

use crate::{
    serve::Serving,
    support::{Agcore, Server},
};

fn shown(agcore: &Agcore, id: &str) -> Value {
    let ran = agcore.run(["schedules", "show", id, "--json"]);
    serde_json::from_str(ran.assert_success()).unwrap()
}

#[test]
fn schedules_are_created_listed_and_changed() {
    let agcore = Agcore::new().at_home();
    let ran = agcore.run(["schedules", "list"]);
    assert_eq!(ran.assert_success(), "");
    assert!(ran.stderr.starts_with("There are no schedules."), "{}", ran.stderr);
    let add = [
        "schedules",
        "add",
        "--id",
        "news",
        "--cron",
        "0 9 * * 1-5",
        "--zone",
        "Asia/Shanghai",
        "--message",
        "有什么新闻？\u{1b}[2J",
        "--agent",
        "assistant",
        "--thread",
        "t",
        "--catch-up",
        "5",
        "--overlap",
        "queue",
        "--model-calls",
        "20",
        "--tokens",
        "200000",
        "--money",
        "0.50 USD",
    ];
    let ran = agcore.run(add);
    assert_eq!(ran.assert_success(), "news\n");
    assert!(ran.stderr.contains("The first run starts at 20"), "{}", ran.stderr);
    agcore.run(add).assert_failed(2, &["news"]);

    let found = shown(&agcore, "news");
    assert_eq!(
        found["schedule"]["timing"],
        json!({"cron": "0 9 * * 1-5", "zone": "Asia/Shanghai"})
    );
    assert_eq!(found["schedule"]["job"]["threadId"], "t");
    assert_eq!(
        found["schedule"]["job"]["forwardedProps"],
        json!({"agent": "assistant", "budget": {"modelCalls": 20, "tokens": 200_000, "money": "0.500000 USD"}})
    );
    let ran = agcore.run(["schedules", "show", "news"]);
    let budget = "20 model calls, 200000 tokens, 0.500000 USD for each run";
    assert!(ran.assert_success().contains(budget), "{}", ran.stdout);
    assert_eq!(found["schedule"]["catch_up"], json!({"all": {"up_to": 5}}));
    let ran = agcore.run(["schedules", "list"]);
    let listed = ran.assert_success();
    assert!(
        listed.starts_with("news  20") && listed.contains("0 9 * * 1-5 (Asia/Shanghai)"),
        "{listed}"
    );
    assert!(
        listed.contains("有什么新闻？") && !listed.contains('\u{1b}'),
        "{listed:?}"
    );
    assert_eq!(
        agcore.run(["schedules", "list", "--tenant", "acme"]).assert_success(),
        ""
    );

    assert_eq!(
        agcore.run(["schedules", "pause", "news"]).assert_success(),
        "Paused news\n"
    );
    assert_eq!(shown(&agcore, "news")["schedule"]["is_paused"], true);
    let ran = agcore.run(["schedules", "show", "news"]);
    assert!(ran.assert_success().contains("paused"), "{}", ran.stdout);
    assert_eq!(
        agcore.run(["schedules", "resume", "news"]).assert_success(),
        "Resumed news\n"
    );
    assert_eq!(
        agcore.run(["schedules", "delete", "news"]).assert_success(),
        "Deleted news\n"
    );
    for command in ["show", "pause", "resume", "run", "delete"] {
        agcore
            .run(["schedules", command, "news"])
            .assert_failed(2, &["there is no schedule `news`", "`agcore schedules list`"]);
    }
}

#[test]
fn schedules_that_make_no_sense_are_refused() {
    let agcore = Agcore::new().at_home().with_file("input.json", "{");
    let add = |arguments: &[&str]| {
        let command = ["schedules", "add"]
            .iter()
            .chain(arguments)
            .copied()
            .collect::<Vec<_>>();
        agcore.run(command)
    };
    for (arguments, words) in [
        (&["--message", "Hi"][..], "--cron"),
        (&["--every", "1h"], "--message"),
        (&["--every", "1h", "--cron", "0 9 * * *", "--message", "Hi"], "--cron"),
        (&["--every", "soon", "--message", "Hi"], "90s, 15m, 2h or 1d"),
        (&["--every", "10s", "--message", "Hi"], "60"),
        (&["--cron", "0 9 * *", "--message", "Hi"], "0 9 * *"),
        (&["--cron", "0 0 31 2 *", "--message", "Hi"], "never occurs"),
        (
            &["--cron", "0 9 * * *", "--zone", "Mars/Olympus", "--message", "Hi"],
            "Mars/Olympus",
        ),
        (&["--at", "tomorrow", "--message", "Hi"], "2026-12-24T18:00:00Z"),
        (&["--at", "2020-01-01T00:00:00Z", "--message", "Hi"], "later one"),
        (&["--every", "1h", "--message", "Hi", "--catch-up", "5"], "queue"),
        (&["--every", "1h", "--input", "missing.json"], "missing.json"),
        (&["--every", "1h", "--message", "Hi", "--tokens", "0"], "--tokens"),
        (&["--every", "1h", "--message", "Hi", "--money", "5"], "0.50 USD"),
        (&["--every", "1h", "--message", "Hi", "--money", "0 USD"], "above 0"),
        (
            &["--every", "1h", "--input", "input.json", "--model-calls", "5"],
            "--model-calls",
        ),
        (&["--every", "1h", "--input", "input.json"], "not JSON"),
    ] {
        add(arguments).assert_failed(2, &[words]);
    }
}

#[test]
fn a_server_starts_the_runs_of_a_schedule() {
    let server = Server::playground();
    let agcore = Agcore::talking_to(&server).at_home();
    let serving = Serving::start(&agcore, &[]);
    let added = agcore.run([
        "schedules",
        "add",
        "--every",
        "1d",
        "--message",
        "hello",
        "--id",
        "daily",
    ]);
    added.assert_success();
    let once = agcore.run(["schedules", "run", "daily"]);
    let once = once.assert_success().trim().to_owned();
    // The server notices it within a few seconds.
    let started = loop {
        let found = shown(&agcore, &once);
        if let Some(first) = found["occurrences"].as_array().and_then(|all| all.first()) {
            break first.clone();
        }
    };
    assert_eq!(started["outcome"], "started", "{started}");
    let thread = started["run"]["thread"].as_str().unwrap();
    let run = started["run"]["run"].as_str().unwrap();
    let events = serving.ask(
        "GET",
        &format!("/api/v1/agent/runs/{thread}/events?runId={run}"),
        "",
        "",
    );
    assert!(
        events.contains("TEXT_MESSAGE_CONTENT") && events.contains("RUN_FINISHED"),
        "{events}"
    );
    assert!(shown(&agcore, "daily")["occurrences"].as_array().unwrap().is_empty());
}
