//! Ctrl-C without a terminal: the program exits, whatever it is waiting for.

use std::{os::unix::process::ExitStatusExt, time::Duration};

use agcore_testkit::mock_server::{DeafServer, Fault, Hold, MockOptions, Point, RecordedRequest, Reply};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
    time::timeout,
};

use crate::support::{Agcore, KEY, LIMIT, RunOutput, Server, runtime};

/// The interval between two presses of Ctrl-C.
const INTERVAL: Duration = Duration::from_millis(300);

fn interrupt(child: &Child) {
    let pid = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

async fn output(child: Child) -> RunOutput {
    timeout(LIMIT, child.wait_with_output())
        .await
        .expect("the program did not exit in time")
        .unwrap()
        .into()
}

/// Starts a server whose answers stall at this point for ever.
fn stalling(at: Point) -> Server {
    let stall = move |_: &RecordedRequest| {
        Reply::text("one two three four five six").with_fault(Fault::stall(at, Hold::Forever))
    };
    Server::start(MockOptions::new(), stall)
}

#[test]
fn while_waiting_for_the_first_byte() {
    let server = stalling(Point::BeforeHeaders);
    let agcore = Agcore::talking_to(&server);
    let within = runtime();
    let child = within.block_on(async { agcore.spawn(["chat", "hi"]) });
    server.wait_for_requests(1);
    interrupt(&child);
    let ran = within.block_on(output(child));
    ran.assert_failed(130, &["error: cancelled"]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn in_the_middle_of_an_answer() {
    let server = stalling(Point::AfterEvents(5));
    let agcore = Agcore::talking_to(&server);
    let ran = runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "--json", "hi"]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = async || {
            timeout(LIMIT, lines.next_line())
                .await
                .expect("no event arrived in time")
                .unwrap()
        };
        while !next().await.expect("the output ended early").contains("one") {}
        interrupt(&child);
        // The remaining events are still written.
        let mut last = String::new();
        while let Some(line) = next().await {
            last = line;
        }
        assert!(last.contains("complete"), "{last}");
        output(child).await
    });
    ran.assert_failed(130, &["error: cancelled"]);
}

#[test]
fn while_connecting() {
    let within = runtime();
    let ran = within.block_on(async {
        let deaf = DeafServer::start().await.unwrap();
        let agcore = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .with("OPENAI_BASE_URL", &deaf.base_url());
        let mut child = agcore.spawn(["chat", "--json", "hi"]);
        // The first event shows that the turn has started.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        timeout(LIMIT, lines.next_line())
            .await
            .expect("no event arrived in time")
            .unwrap()
            .expect("no event arrived in time");
        interrupt(&child);
        while timeout(LIMIT, lines.next_line())
            .await
            .expect("the events did not end in time")
            .unwrap()
            .is_some()
        {}
        output(child).await
    });
    ran.assert_failed(130, &["error: cancelled"]);
}

#[test]
fn while_reading_standard_input() {
    let ran = runtime().block_on(async {
        let mut child = Agcore::new().with("OPENAI_API_KEY", KEY).spawn(["chat"]);
        let _open = child.stdin.take().unwrap();
        interrupt(&child);
        output(child).await
    });
    // Before the program handles signals, the signal itself kills it, which shells report as 130 as well.
    assert!(
        ran.code() == Some(130) || ran.status.signal() == Some(Signal::INT.as_raw()),
        "{:?}",
        ran.status
    );
    ran.assert_clean();
}

#[test]
fn while_the_output_is_not_read() {
    let long = |_: &RecordedRequest| Reply::text("many words ".repeat(100_000));
    let server = Server::start(MockOptions::new(), long);
    let agcore = Agcore::talking_to(&server);
    runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "hi"]);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // Part of the answer has arrived; the rest does not fit into the pipe.
        timeout(LIMIT, output.fill_buf())
            .await
            .expect("no answer arrived in time")
            .unwrap();
        // The first signal cancels the turn, which is blocked; another one exits. Two in quick succession may count as
        // one.
        let pressing = async {
            loop {
                interrupt(&child);
                if let Ok(status) = timeout(INTERVAL, child.wait()).await {
                    break status.unwrap();
                }
            }
        };
        let status = timeout(LIMIT, pressing)
            .await
            .expect("the program did not exit in time");
        assert_eq!(status.code(), Some(130));
    });
}
