//! The stages that build: they see what is broken, count it, and go on.

use crate::fixture::Fixture;

const CHAT: &str = "crates/agcore-chat/src/lib.rs";

#[test]
fn a_wrong_command_line_is_told_apart_from_a_failed_check() {
    let house = Fixture::sound();
    let ran = house.xtask("everything");
    assert_eq!(ran.code, 2);
    assert!(ran.text.contains("there is no command `everything`"), "{}", ran.text);
    let ran = house.xtask("");
    assert_eq!(ran.code, 0);
    assert!(ran.text.contains("Usage: cargo xtask <command>"), "{}", ran.text);
}

#[test]
fn unformatted_files_are_found() {
    let house = Fixture::sound();
    house.xtask("fmt").passes();
    house.append(CHAT, "pub   struct Message ;\n");
    house.xtask("fmt").fails("fmt", &["run `cargo fmt --all`"]);
}

#[test]
fn tests_are_summed_over_binaries_doc_tests_and_examples() {
    let house = Fixture::sound();
    house.append(
        CHAT,
        "//!\n//! ```\n//! assert_eq!(1 + 1, 2);\n//! ```\n\n#[test]\nfn good() {}\n\n#[test]\nfn bad() {\n    panic!(\"on purpose\");\n}\n",
    );
    house.write(
        "crates/agcore-llm/tests/it/main.rs",
        "//! Tests.\n\n#[test]\nfn good() {}\n",
    );
    house.write(
        "crates/agcore-llm/examples/ends_well.rs",
        "//! Ends well.\nfn main() {}\n",
    );
    house.write(
        "crates/agcore-llm/examples/ends_badly.rs",
        "//! Ends badly.\nfn main() {\n    println!(\"so far\");\n    std::process::exit(3);\n}\n",
    );
    let ran = house.xtask("test");
    assert_eq!(ran.code, 1);
    // Two good tests, a doc test, a good example; a bad test, a bad example.
    assert!(ran.text.trim_end().ends_with("\n4 passed, 2 failed"), "{}", ran.text);
    assert!(ran.text.contains("ok       example ends_well"), "{}", ran.text);
    assert!(
        ran.text
            .contains("example ends_badly: ended with exit status: 3; it printed:\nso far"),
        "{}",
        ran.text
    );
}

#[test]
fn tests_that_do_not_build_are_a_failure() {
    let house = Fixture::sound();
    house.append(CHAT, "#[test]\nfn bad() { missing() }\n");
    let ran = house.xtask("test");
    assert_eq!(ran.code, 1);
    assert!(
        ran.text.contains("ended badly without naming a failed test"),
        "{}",
        ran.text
    );
}

#[test]
fn each_feature_builds_and_sets_that_resolve_alike_are_skipped() {
    let house = Fixture::sound();
    let ran = house.xtask("features");
    ran.passes();
    // chat and testkit have no features; http alone is all that llm has.
    assert!(ran.text.trim_end().ends_with("\n4 passed, 0 failed"), "{}", ran.text);
    assert!(
        ran.text.contains("6 feature sets resolve like one before them"),
        "{}",
        ran.text
    );

    house.append(
        "crates/agcore-llm/src/lib.rs",
        "\n#[cfg(not(feature = \"http\"))]\nfn unused() {}\n",
    );
    house
        .xtask("features")
        .fails("agcore-llm with no features", &["it builds with warnings", "unused"]);

    house.append(
        "crates/agcore-llm/src/lib.rs",
        "#[cfg(not(feature = \"http\"))]\nfn broken() { missing() }\n",
    );
    house
        .xtask("features")
        .fails("agcore-llm with no features", &["it does not build", "missing"]);
}

/// Says what cargo-deny says of a tree that it likes.
#[cfg(unix)]
const CONTENT: &str = "echo 'bans ok, licenses ok, sources ok'";

/// And what of one with a crate that is banned.
#[cfg(unix)]
const REFUSAL: &str = "test $1 = --version || { echo 'bans FAILED, licenses ok, sources ok'; exit 1; }";

#[cfg(unix)]
#[test]
fn ci_runs_all_stages_and_sums_them() {
    let house = Fixture::sound();
    house.append(CHAT, "\n#[test]\nfn good() {}\n");
    house.xtask("graph").passes();
    let ran = house.xtask_alone("ci", Some(CONTENT));
    ran.passes();
    let stages = [
        "fmt", "clippy", "docs", "test", "graph", "tidy", "deny", "features", "fuzz", "total",
    ];
    let table = ran.text.split("stage       minutes").nth(1).unwrap();
    let rows: Vec<_> = table
        .lines()
        .skip(1)
        .filter_map(|row| row.split_whitespace().next())
        .collect();
    assert_eq!(rows[..stages.len()], stages, "{table}");
}

#[cfg(unix)]
#[test]
fn a_stage_that_fails_does_not_hide_the_others() {
    let house = Fixture::sound();
    house.xtask("graph").passes();
    house.append(
        CHAT,
        "/// See [`Missing`].\npub   fn say() { println!(\"it\"); todo!() }\n",
    );
    let ran = house.xtask_alone("ci", Some(REFUSAL));
    assert_eq!(ran.code, 1);
    let failed = ran.text.split("\nfailed:\n").nth(1).unwrap();
    let failed: Vec<_> = failed.lines().take_while(|line| !line.is_empty()).collect();
    let expected = [
        "fmt / fmt",
        "docs / public docs",
        "docs / private docs",
        "tidy / printing",
        "tidy / stubs",
        "deny / bans",
    ];
    assert_eq!(failed, expected.map(|line| format!("  {line}")), "{}", ran.text);
    assert!(ran.text.trim_end().ends_with(" 6 failed"), "{}", ran.text);
}

#[cfg(unix)]
#[test]
fn a_warning_of_clippy_is_a_failure() {
    let house = Fixture::sound();
    house.append(CHAT, "\nfn unused() {}\n");
    house
        .xtask_alone("clippy", None)
        .fails("clippy", &["function `unused` is never used"]);
}

#[cfg(unix)]
#[test]
fn without_a_registry_deny_is_skipped_and_not_passed() {
    let ran = Fixture::sound().xtask_alone("deny", None);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(
        ran.text.contains("skipped  licenses: cargo-deny is not installed"),
        "{}",
        ran.text
    );
    assert!(ran.text.trim_end().ends_with("\n0 passed, 0 failed"), "{}", ran.text);
}

#[test]
fn soak_asks_for_long_counts_and_keeps_the_assertions() {
    let house = Fixture::sound();
    let long =
        "assert_eq!(std::env::var(\"AGCORE_SOAK\").as_deref(), Ok(\"1\"));\n    assert!(cfg!(debug_assertions));";
    house.append(
        CHAT,
        &format!("\n#[test]\nfn long() {{\n    {long}\n}}\n\n#[test]\nfn bad() {{\n    panic!();\n}}\n"),
    );
    let ran = house.xtask("soak long");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(ran.text.contains("test long ... ok"), "{}", ran.text);
    assert_eq!(house.xtask("soak bad").code, 1);
}

#[test]
fn benches_run_by_name() {
    let house = Fixture::sound();
    for name in ["fast", "slow"] {
        house.append(
            "crates/agcore-llm/Cargo.toml",
            &format!("[[bench]]\nname = \"{name}\"\nharness = false\n"),
        );
        let text = format!("//! A bench.\nfn main() {{\n    println!(\"{name} ran\");\n}}\n");
        house.write(&format!("crates/agcore-llm/benches/{name}.rs"), &text);
    }
    let ran = house.xtask("bench fast");
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(
        ran.text.contains("fast ran") && !ran.text.contains("slow ran"),
        "{}",
        ran.text
    );
    let ran = house.xtask("bench other");
    assert_eq!(ran.code, 1);
    assert!(
        ran.text.contains("no bench is called `other`; there are: fast, slow"),
        "{}",
        ran.text
    );
}
