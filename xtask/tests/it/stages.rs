//! The stages that build: they find failures, count them, and continue.

use crate::fixture::Fixture;

const CHAT: &str = "crates/agcore-chat/src/lib.rs";

#[test]
fn a_wrong_command_line_has_its_own_exit_status() {
    let workspace = Fixture::new();
    let ran = workspace.xtask("everything");
    assert_eq!(ran.code, 2);
    assert!(ran.text.contains("unknown command `everything`"), "{}", ran.text);
    let ran = workspace.xtask("");
    assert_eq!(ran.code, 0);
    assert!(ran.text.contains("Usage: cargo xtask <command>"), "{}", ran.text);
}

#[test]
fn finds_unformatted_files() {
    let workspace = Fixture::new();
    workspace.xtask("fmt").passes();
    workspace.append(CHAT, "pub   struct Message ;\n");
    workspace.xtask("fmt").fails("fmt", &["run `cargo fmt --all`"]);
}

#[test]
fn sums_tests_doc_tests_and_examples() {
    let workspace = Fixture::new();
    workspace.append(
        CHAT,
        "\n#[test]\nfn good() {}\n\n#[test]\nfn bad() {\n    panic!(\"on purpose\");\n}\n",
    );
    workspace.write(
        "crates/agcore-llm/tests/it/main.rs",
        "//! Tests.\n\n#[test]\nfn good() {}\n",
    );
    workspace.write(
        "crates/agcore-llm/examples/succeeds.rs",
        "//! Succeeds.\nfn main() {}\n",
    );
    workspace.write(
        "crates/agcore-llm/examples/fails.rs",
        "//! Fails.\nfn main() {\n    println!(\"so far\");\n    std::process::exit(3);\n}\n",
    );
    let ran = workspace.xtask("test");
    assert_eq!(ran.code, 1);
    // Two good tests, three doc tests, a good example; a bad test, a bad example.
    assert!(ran.text.trim_end().ends_with("\n6 passed, 2 failed"), "{}", ran.text);
    assert!(ran.text.contains("ok       test example succeeds "), "{}", ran.text);
    assert!(
        ran.text
            .contains("example fails: ended with exit status: 3; its output:\nso far"),
        "{}",
        ran.text
    );
}

#[test]
fn counts_tests_that_do_not_build_as_a_failure() {
    let workspace = Fixture::new();
    workspace.append(CHAT, "#[test]\nfn bad() { missing() }\n");
    let ran = workspace.xtask("test");
    assert_eq!(ran.code, 1);
    assert!(ran.text.contains("failed without naming a failed test"), "{}", ran.text);
}

#[test]
fn builds_each_library_with_each_feature() {
    let workspace = Fixture::new();
    let ran = workspace.xtask("features");
    ran.passes();
    // chat and testkit without features; llm without features and with `http`.
    assert!(ran.text.trim_end().ends_with("\n4 passed, 0 failed"), "{}", ran.text);

    workspace.append(
        "crates/agcore-llm/src/lib.rs",
        "\n#[cfg(not(feature = \"http\"))]\nfn unused() {}\n",
    );
    workspace.xtask("features").fails(
        "features agcore-llm with no features",
        &["builds with warnings", "unused"],
    );

    workspace.append(
        "crates/agcore-llm/src/lib.rs",
        "#[cfg(not(feature = \"http\"))]\nfn broken() { missing() }\n",
    );
    workspace
        .xtask("features")
        .fails("features agcore-llm with no features", &["does not build", "missing"]);
}

/// A script that prints the output of cargo-deny for a tree that it accepts.
#[cfg(unix)]
const ACCEPTS: &str = "echo 'bans ok, licenses ok, sources ok'";

/// The same for a tree with a banned crate.
#[cfg(unix)]
const REJECTS: &str = "test $1 = --version || { echo 'bans FAILED, licenses ok, sources ok'; exit 1; }";

/// Returns the first words of the rows of the table of stages.
#[cfg(unix)]
fn stages(text: &str) -> Vec<&str> {
    let table = text.split("stage       minutes").nth(1).unwrap();
    let rows = table.lines().skip(1).take_while(|row| !row.is_empty());
    rows.filter_map(|row| row.split_whitespace().next()).collect()
}

#[cfg(unix)]
#[test]
fn ci_runs_all_stages_and_sums_their_results() {
    let workspace = Fixture::new();
    workspace.append(CHAT, "\n#[test]\nfn good() {}\n");
    workspace.generate();
    let ran = workspace.xtask_alone("ci", Some(ACCEPTS));
    ran.passes();
    let expected = [
        "fmt", "tidy", "graph", "clippy", "docs", "test", "features", "deny", "total",
    ];
    assert_eq!(stages(&ran.text), expected, "{}", ran.text);
}

#[cfg(unix)]
#[test]
fn nightly_runs_what_ci_leaves_out() {
    let workspace = Fixture::new();
    workspace.append(
        "crates/agcore-llm/src/lib.rs",
        "\n#[cfg(all(test, feature = \"http\"))]\n#[test]\nfn long() {\n    assert!(std::env::var(\"AGCORE_SOAK\").is_ok());\n}\n",
    );
    let ran = workspace.xtask_alone("nightly", None);
    ran.passes();
    let expected = ["docs", "features", "platforms", "limits", "upgrade", "soak", "total"];
    assert_eq!(stages(&ran.text), expected, "{}", ran.text);
    assert!(ran.text.contains("ok       docs private"), "{}", ran.text);
    assert!(!ran.text.contains("docs public"), "{}", ran.text);
    assert!(ran.text.contains("features agcore-llm with `http`"), "{}", ran.text);
    assert!(ran.text.contains("soak (1 passed)"), "{}", ran.text);
}

#[cfg(unix)]
#[test]
fn quick_tests_what_changed_and_what_depends_on_it() {
    let workspace = Fixture::new();
    workspace.append(
        "crates/agcore-llm/src/lib.rs",
        "\n#[cfg(test)]\n#[test]\nfn dependent() {}\n",
    );
    workspace.append(
        "crates/agcore-testkit/src/lib.rs",
        "\n#[cfg(test)]\n#[test]\nfn other() {}\n",
    );
    workspace.write(".gitignore", "target\n");
    workspace.generate();
    workspace.git(&["init", "--quiet", "--initial-branch", "main"]);
    workspace.git(&["add", "."]);
    workspace.git(&["commit", "--quiet", "--message", "The state before the change."]);
    workspace.append(CHAT, "\n#[cfg(test)]\n#[test]\nfn changed() {}\n");
    let ran = workspace.xtask("quick HEAD");
    ran.passes();
    assert_eq!(
        stages(&ran.text),
        ["fmt", "tidy", "graph", "clippy", "test", "total"],
        "{}",
        ran.text
    );
    // Of `other`, whose package depends on the changed one, and `dependent` as well.
    assert!(ran.text.contains("test units (3 passed)"), "{}", ran.text);

    workspace.git(&["checkout", "--quiet", "."]);
    workspace.append("crates/agcore-llm/src/lib.rs", "// A change.\n");
    let ran = workspace.xtask("quick");
    assert!(ran.text.contains("test units (1 passed)"), "{}", ran.text);

    let ran = workspace.xtask("quick missing");
    assert_eq!(ran.code, 1);
    assert!(ran.text.contains("missing"), "{}", ran.text);
}

#[cfg(unix)]
#[test]
fn a_failed_stage_does_not_hide_the_others() {
    let workspace = Fixture::new();
    workspace.append(
        CHAT,
        "/// See [`Missing`].\npub   fn print() { println!(\"it\"); todo!() }\n",
    );
    workspace.generate();
    let ran = workspace.xtask_alone("ci", Some(REJECTS));
    assert_eq!(ran.code, 1);
    let failed = ran.text.split("\nfailed:\n").nth(1).unwrap();
    let failed: Vec<_> = failed.lines().take_while(|line| !line.is_empty()).collect();
    let expected = ["fmt", "tidy printing", "tidy stubs", "docs public", "deny bans"];
    assert_eq!(failed, expected.map(|line| format!("  {line}")), "{}", ran.text);
    assert!(ran.text.trim_end().ends_with(" 5 failed"), "{}", ran.text);
}

#[cfg(unix)]
#[test]
fn a_warning_of_clippy_is_a_failure() {
    let workspace = Fixture::new();
    workspace.append(CHAT, "\nfn unused() {}\n");
    workspace
        .xtask_alone("clippy", None)
        .fails("clippy", &["function `unused` is never used"]);
}

#[cfg(unix)]
#[test]
fn skips_deny_without_a_registry() {
    let ran = Fixture::new().xtask_alone("deny", None);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(
        ran.text.contains("skipped  deny licenses: cargo-deny is not installed"),
        "{}",
        ran.text
    );
    assert!(ran.text.trim_end().ends_with("\n0 passed, 0 failed"), "{}", ran.text);
}

#[test]
fn soak_sets_the_variable_and_keeps_the_assertions() {
    let workspace = Fixture::new();
    let long =
        "assert_eq!(std::env::var(\"AGCORE_SOAK\").as_deref(), Ok(\"1\"));\n    assert!(cfg!(debug_assertions));";
    workspace.append(
        CHAT,
        &format!("\n#[test]\nfn long() {{\n    {long}\n}}\n\n#[test]\nfn bad() {{\n    panic!();\n}}\n"),
    );
    let ran = workspace.xtask("soak long");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(ran.text.contains("test long ... ok"), "{}", ran.text);
    assert_eq!(workspace.xtask("soak bad").code, 1);
}

#[test]
fn runs_benches_by_name() {
    let workspace = Fixture::new();
    for name in ["fast", "slow"] {
        workspace.append(
            "crates/agcore-llm/Cargo.toml",
            &format!("[[bench]]\nname = \"{name}\"\nharness = false\n"),
        );
        let text = format!("//! A bench.\nfn main() {{\n    println!(\"{name} ran\");\n}}\n");
        workspace.write(&format!("crates/agcore-llm/benches/{name}.rs"), &text);
    }
    let ran = workspace.xtask("bench fast");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(
        ran.text.contains("fast ran") && !ran.text.contains("slow ran"),
        "{}",
        ran.text
    );
    let ran = workspace.xtask("bench other");
    assert_eq!(ran.code, 1);
    assert!(
        ran.text.contains("no bench is named `other`; known are: fast, slow"),
        "{}",
        ran.text
    );
}
