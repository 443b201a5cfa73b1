//! `agcore new`, and the project that it writes.

use std::{fs, path::Path, process::Command};

use crate::support::{Agcore, KEY, Server};

#[test]
fn writes_a_project_and_prints_how_to_run_it() {
    let agcore = Agcore::new();
    let ran = agcore.run(["new", "my-agent"]);
    assert_eq!(
        ran.assert_success(),
        "my-agent is ready. Run it:\n\n  cd my-agent\n  cargo run\n"
    );
    let project = agcore.directory.path().join("my-agent");
    let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"my-agent\"\n"), "{manifest}");
    assert!(manifest.contains("crates/agcore\", features"), "{manifest}");
    assert!(!manifest.contains("[workspace]"), "{manifest}");
    assert!(!manifest.contains('{') || !manifest.contains("{name}"), "{manifest}");
    let readme = fs::read_to_string(project.join("README.md")).unwrap();
    assert!(readme.starts_with("# my-agent\n"), "{readme}");
}

#[test]
fn a_project_below_another_is_a_workspace_of_its_own() {
    let agcore = Agcore::new().with_file("Cargo.toml", "[workspace]\n");
    agcore.run(["new", "inner"]).assert_success();
    let manifest = fs::read_to_string(agcore.directory.path().join("inner/Cargo.toml")).unwrap();
    assert!(manifest.ends_with("\n[workspace]\n"), "{manifest}");
}

#[test]
fn nothing_is_overwritten() {
    let agcore = Agcore::new().with_file("notes.txt", "mine");
    let directory = agcore.directory.path().to_str().unwrap().to_owned();
    let ran = agcore.run(["new", "my-agent", "--path", &directory]);
    assert_eq!(ran.status.code(), Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not empty"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}

#[test]
fn an_empty_directory_is_used_and_names_with_spaces_are_quoted() {
    let agcore = Agcore::new();
    fs::create_dir(agcore.directory.path().join("a b")).unwrap();
    let ran = agcore.run(["new", "x1", "--path", "a b"]);
    assert!(ran.assert_success().contains("  cd 'a b'\n"), "{}", ran.stdout);
    assert!(agcore.directory.path().join("a b/src/main.rs").is_file());
}

#[test]
fn names_that_cargo_would_reject_are_rejected() {
    let agcore = Agcore::new();
    for name in [
        "",
        "1st",
        "mein-agent-ü",
        "a b",
        "../x",
        "fn",
        "tokio",
        "test",
        "代理",
        &"x".repeat(65),
    ] {
        let ran = agcore.run(["new", name]);
        assert_eq!(ran.status.code(), Some(2), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot be the name of a package"), "{}", ran.stderr);
    }
    assert_eq!(fs::read_dir(agcore.directory.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let agcore = Agcore::new().with_file("file", "");
    let ran = agcore.run(["new", "my-agent", "--path", "file/inside"]);
    assert!(!ran.status.success());
    assert!(ran.stderr.contains("file/inside"), "{}", ran.stderr);
}

/// Builds the project with the dependencies of this workspace, and without a network. That takes minutes, because most of them
/// have other features than in the workspace. Always, the package of the examples builds, runs and tests the same files.
#[test]
#[expect(clippy::disallowed_methods, reason = "set for long tests")]
fn the_project_runs_offline_and_its_tests_pass() {
    if std::env::var_os("AGCORE_SOAK").is_none() {
        return println!("skipped: set AGCORE_SOAK to build the project, which takes minutes");
    }
    let agcore = Agcore::new();
    agcore.run(["new", "my-agent"]).assert_success();
    let project = agcore.directory.path().join("my-agent");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The versions that have been downloaded.
    fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();

    let ran = cargo(
        &project,
        &["run", "--offline", "--quiet", "--", "one two three four"],
        &[],
    );
    assert_eq!(ran, "The tool counts 4 words.\n");
    let ran = cargo(&project, &["test", "--offline", "--quiet"], &[]);
    assert!(ran.contains("1 passed"), "{ran}");

    // With a server of its own, there is no variable of a vendor.
    let server = Server::playground();
    let url = server.base_url();
    let variables = [
        ("AGCORE_MODEL", "compatible:small"),
        ("AGCORE_BASE_URL", &url),
        ("AGCORE_API_KEY", KEY),
    ];
    let ran = cargo(&project, &["run", "--offline", "--quiet", "--", "hello"], &variables);
    assert!(ran.contains("> hello"), "{ran}");
    let request = &server.requests()[0];
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(request.json()["model"], "small");
}

/// Runs cargo, with the target directory of the tests, where most dependencies are built already. Returns its output.
fn cargo(project: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("AGCORE_MODEL")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
