//! The same tests with servers that share their runs: this one starts the test program again.

use std::{env, process, time::Duration};

use agcore_server::Sharing;

use crate::postgres::OWN_STORES;

/// Set for the tests that this one starts.
const VARIABLE: &str = "AGCORE_SERVER_TEST_SHARED";

/// Returns whether the servers of the tests share their runs.
#[expect(clippy::disallowed_methods, reason = "set by the test that starts this one")]
pub(crate) fn is_tested() -> bool {
    env::var_os(VARIABLE).is_some()
}

/// Returns how the servers of the tests share their runs.
pub(crate) fn sharing() -> Sharing {
    Sharing::new("test")
        .with_poll(Duration::from_millis(20))
        .with_lease(Duration::from_secs(5))
}

#[tokio::test]
async fn the_same_tests_pass_when_runs_are_shared() {
    if is_tested() {
        return;
    }
    let mut tests = process::Command::new(env::current_exe().unwrap());
    let ended = tests
        .args(
            ["postgres::", "workers::"]
                .iter()
                .chain(OWN_STORES)
                .flat_map(|module| ["--skip", module]),
        )
        .args(["--test-threads", "4"])
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ended.stdout);
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{output}\n{errors}");
    assert!(output.contains("test result: ok"), "{output}");
}
