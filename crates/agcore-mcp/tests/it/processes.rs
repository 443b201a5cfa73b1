//! Processes of servers end with their clients.
#![cfg(target_os = "linux")]

use std::{
    process::Command,
    time::{Duration, Instant},
};

use agcore_mcp::{ClientOptions, McpErrorKind, StdioTransport};

use crate::{
    client::call,
    support::{connect, ids, is_running, server, try_connect},
};

/// Waits until none of the processes runs.
async fn wait_for_end(ids: &[u32]) {
    while ids.iter().any(|id| is_running(*id)) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn closing_ends_the_process_gracefully() {
    let Some(server) = server("good") else { return };
    let file = tempfile::NamedTempFile::new().unwrap();
    let client = connect(server.with_args([file.path()])).await;
    let ids = ids(file.path());
    assert_eq!((ids.len(), is_running(ids[0])), (1, true));
    client.close().await;
    assert!(!is_running(ids[0]));
    let error = client.list_tools().await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed);
    assert!(error.message().contains("was closed; connect again"), "{error}");
    client.close().await;
}

#[tokio::test]
async fn stubborn_processes_and_their_children_are_killed() {
    for is_closed in [true, false] {
        let Some(server) = server("stubborn") else { return };
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = ClientOptions::new().with_close_timeout(Duration::from_millis(500));
        let client = try_connect(server.with_args([file.path()]), options).await.unwrap();
        let ids = ids(file.path());
        assert!(ids.len() == 2 && ids.iter().all(|id| is_running(*id)));
        if is_closed {
            client.close().await;
        }
        drop(client);
        wait_for_end(&ids).await;
    }
}

#[tokio::test]
async fn a_dropped_attempt_to_connect_leaves_no_process() {
    let Some(server) = server("silent") else { return };
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut connect = Box::pin(try_connect(server.with_args([file.path()]), ClientOptions::new()));
    while ids(file.path()).is_empty() {
        tokio::select! {
            biased;
            _ = &mut connect => panic!("the server answered"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(connect);
    wait_for_end(&ids(file.path())).await;
}

#[test]
fn the_end_of_the_runtime_ends_the_process() {
    let Some(server) = server("stubborn") else { return };
    let file = tempfile::NamedTempFile::new().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = runtime.block_on(connect(server.with_args([file.path()])));
    drop(runtime);
    drop(client);
    while ids(file.path()).iter().any(|id| is_running(*id)) {
        std::thread::yield_now();
    }
}

/// Kills a server in the middle of 100 calls. Returns how long it took until all of them had ended.
async fn kill_amid_calls(server: StdioTransport) -> Duration {
    let file = tempfile::NamedTempFile::new().unwrap();
    let client = connect(server.with_args([file.path()])).await;
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("slow", |_| {}).await.unwrap_err() })
        })
        .collect();
    // Answered after the calls before it were read.
    call(&client, "cancelled").await;
    let ids = ids(file.path());
    assert!(ids.len() == 2 && ids.iter().all(|id| is_running(*id)));
    let killed = Command::new("kill").args(["-KILL", &ids[0].to_string()]).status();
    let begin = Instant::now();
    assert!(killed.unwrap().success());
    for call in calls {
        let error = call.await.unwrap();
        assert_eq!(error.kind(), McpErrorKind::Closed);
        assert!(error.message().contains("signal: 9"), "{error}");
    }
    let elapsed = begin.elapsed();
    wait_for_end(&ids).await;
    elapsed
}

#[tokio::test]
async fn a_killed_server_ends_all_calls_within_a_second_and_leaves_no_process() {
    let Some(server) = server("stubborn") else { return };
    // The server's own child holds its output open. A busy machine may delay one attempt, but hardly each of them.
    for _ in 0..5 {
        let elapsed = kill_amid_calls(server.clone()).await;
        println!("100 calls ended {elapsed:?} after the server was killed");
        if elapsed < Duration::from_secs(1) {
            return;
        }
    }
    panic!("calls of a killed server take longer than a second to end");
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn connecting_and_closing_leaks_nothing() {
    let Some(server) = server("empty") else { return };
    let cycles = if std::env::var_os("AGCORE_SOAK").is_some() {
        1000
    } else {
        10
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    connect(server.clone()).await.close().await;
    let before = open_files();
    for _ in 0..cycles {
        connect(server.clone().with_args([file.path()])).await.close().await;
    }
    wait_for_end(&ids(file.path())).await;
    assert_eq!(ids(file.path()).len(), cycles);
    // Other tests of this process may open files meanwhile.
    assert!(
        open_files() <= before + 60,
        "{} files are open, {before} before",
        open_files()
    );
}
