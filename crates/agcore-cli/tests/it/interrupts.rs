//! Ctrl-C where no terminal is: the program ends, whatever it waits for.

use std::{os::unix::process::ExitStatusExt, time::Duration};

use agcore_testkit::mock_server::{DeafServer, Fault, Hold, MockOptions, Point, RecordedRequest, Reply};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Child,
    time::timeout,
};

use crate::support::{Agcore, KEY, LIMIT, Ran, Server, runtime};

/// How often a person presses Ctrl-C.
const AGAIN: Duration = Duration::from_millis(300);

fn interrupt(child: &Child) {
    let pid = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

async fn ended(child: Child) -> Ran {
    timeout(LIMIT, child.wait_with_output())
        .await
        .expect("the program ends")
        .unwrap()
        .into()
}

/// A server whose answers stop at this point, for good.
fn stalling(at: Point) -> Server {
    let stall = move |_: &RecordedRequest| {
        Reply::text("one two three four five six").with_fault(Fault::stall(at, Hold::Forever))
    };
    Server::start(MockOptions::new(), stall)
}

#[test]
fn while_it_waits_for_the_first_byte() {
    let server = stalling(Point::BeforeHeaders);
    let agcore = Agcore::talking_to(&server);
    let within = runtime();
    let child = within.block_on(async { agcore.spawn(["chat", "hi"]) });
    server.wait_for_requests(1);
    interrupt(&child);
    let ran = within.block_on(ended(child));
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
                .expect("an event comes")
                .unwrap()
        };
        while !next().await.expect("the answer stalls").contains("one") {}
        interrupt(&child);
        // The events go on to their end.
        let mut last = String::new();
        while let Some(line) = next().await {
            last = line;
        }
        assert!(last.contains("complete"), "{last}");
        ended(child).await
    });
    ran.assert_failed(130, &["error: cancelled"]);
}

#[test]
fn while_it_connects() {
    let within = runtime();
    let ran = within.block_on(async {
        let deaf = DeafServer::start().await.unwrap();
        let agcore = Agcore::new()
            .with("OPENAI_API_KEY", KEY)
            .with("OPENAI_BASE_URL", &deaf.base_url());
        let mut child = agcore.spawn(["chat", "--json", "hi"]);
        // The turn has begun.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        timeout(LIMIT, lines.next_line())
            .await
            .expect("an event comes")
            .unwrap()
            .expect("an event comes");
        interrupt(&child);
        while timeout(LIMIT, lines.next_line())
            .await
            .expect("the events end")
            .unwrap()
            .is_some()
        {}
        ended(child).await
    });
    ran.assert_failed(130, &["error: cancelled"]);
}

#[test]
fn while_it_reads_its_input() {
    let ran = runtime().block_on(async {
        let mut child = Agcore::new().with("OPENAI_API_KEY", KEY).spawn(["chat"]);
        let _open = child.stdin.take().unwrap();
        interrupt(&child);
        ended(child).await
    });
    // Before it has begun to listen the signal itself ends it, which a shell tells as 130, too.
    assert!(
        ran.code() == Some(130) || ran.status.signal() == Some(Signal::INT.as_raw()),
        "{:?}",
        ran.status
    );
    ran.assert_clean();
}

#[test]
fn while_nobody_reads_its_output() {
    let long = |_: &RecordedRequest| Reply::text("many words ".repeat(100_000));
    let server = Server::start(MockOptions::new(), long);
    let agcore = Agcore::talking_to(&server);
    runtime().block_on(async {
        let mut child = agcore.spawn(["chat", "hi"]);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // Something has come; the rest does not fit into the pipe.
        timeout(LIMIT, output.fill_buf())
            .await
            .expect("the answer begins")
            .unwrap();
        // The first cancels a turn that is stuck, another one ends the program. Two that come at once may count as one.
        let pressing = async {
            loop {
                interrupt(&child);
                if let Ok(status) = timeout(AGAIN, child.wait()).await {
                    break status.unwrap();
                }
            }
        };
        let status = timeout(LIMIT, pressing).await.expect("the program ends");
        assert_eq!(status.code(), Some(130));
    });
}
