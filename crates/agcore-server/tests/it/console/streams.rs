//! The streams that keep pages up to date.

use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use http::Method;

use crate::support::{Running, builder, call, input, store, texts};

/// Returns the events of a stream up to its end: their ids, names and data.
async fn events(server: &Running, path: &str, last: Option<&str>) -> Vec<(String, String, String)> {
    let headers: Vec<_> = last.iter().map(|last| ("last-event-id", *last)).collect();
    let answer = server.with(Method::GET, path, &headers, None).await;
    assert_eq!(answer.headers["content-type"], "text/event-stream", "{}", answer.text);
    let frames = answer.text.split("\n\n").filter(|frame| frame.starts_with("id: "));
    let parsed = frames.map(|frame| {
        let field = |name: &str| {
            let lines = frame.lines().filter_map(|line| line.strip_prefix(name));
            lines.collect::<Vec<_>>().join("\n")
        };
        (field("id: "), field("event: "), field("data: "))
    });
    parsed.collect()
}

#[tokio::test]
async fn a_chat_is_resumed_after_every_event() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("It is **said**."),
    ]);
    let server = Running::start(builder(&model, &store()).with_console()).await;
    server.run(&input("t", "r", "Hello")).await;
    let path = "/console/live/chat/t?run=r";
    let all = events(&server, path, None).await;
    let named = |name: &str| all.iter().filter(|(_, known, _)| known == name).count();
    assert!(
        named("element") >= 4 && named("text") >= 1 && named("end") == 1,
        "{all:?}"
    );
    assert!(
        all.iter().any(|(_, _, data)| data.contains("<strong>said</strong>")),
        "{all:?}"
    );
    assert!(
        all.iter()
            .any(|(_, _, data)| data.contains("id=\"composer\"") && data.contains("name=\"message\"")),
        "{all:?}"
    );
    // Nothing is lost or doubled, wherever the connection broke.
    let end = all.last().unwrap().0.clone();
    for (last, ..) in all.iter().filter(|(id, ..)| *id != end) {
        let rest = events(&server, path, Some(last)).await;
        let expected: Vec<_> = all
            .iter()
            .filter(|(id, ..)| id.parse::<u64>().unwrap() > last.parse().unwrap())
            .cloned()
            .collect();
        let plain = |events: &[(String, String, String)]| -> Vec<String> {
            let shown =
                events.iter().map(
                    |(id, name, data)| match data.contains("form_token") || data.contains("composer") {
                        true => format!("{id} {name}"),
                        false => format!("{id} {name} {data}"),
                    },
                );
            shown.collect()
        };
        assert_eq!(plain(&rest), plain(&expected), "after {last}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_is_over_is_sent_once() {
    let server = Running::start(builder(&texts(["Hi."]), &store()).with_console()).await;
    server.run(&input("t", "r", "Hello")).await;
    let all = events(&server, "/console/live/runs/t/r", None).await;
    assert!(
        all[0].2.contains("id=\"run\"") && all[0].2.contains("completed"),
        "{all:?}"
    );
    assert_eq!(all.last().unwrap().1, "end");
    // What was seen already is not sent again.
    let again = events(&server, "/console/live/runs/t/r", Some(&all[0].0)).await;
    assert!(
        again.iter().all(|(_, _, data)| !data.contains("id=\"run\"")),
        "{again:?}"
    );
    server
        .get("/console/live/chat/t?run=nothing")
        .await
        .assert_problem(404, "not_found");
    server
        .get("/console/live/chat/t")
        .await
        .assert_problem(400, "invalid_request");
    server.stop().await;
}

#[tokio::test]
async fn streams_count_for_the_limit_and_end_with_the_server() {
    let limits = agcore_server::Limits::new().with_max_streams_per_user(1);
    let server = Running::start(builder(&texts([]), &store()).with_limits(limits).with_console()).await;
    let first = server.get("/console/live/inbox");
    let rest = async {
        while !server.get("/metrics").await.text.contains("agcore_streams_open 1\n") {}
        let second = server.get("/console/live/runs").await;
        second.assert_problem(429, "too_many_streams");
        server.stop.cancel();
    };
    let (first, ()) = tokio::join!(first, rest);
    assert!(first.text.contains("id=\"questions\""), "{}", first.text);
    server.task.await.unwrap().unwrap();
}
