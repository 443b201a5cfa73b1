//! Each check of `graph` on a broken workspace.

use crate::fixture::Fixture;

const LLM: &str = "crates/agcore-llm/Cargo.toml";
const CHAT: &str = "crates/agcore-chat/Cargo.toml";

#[test]
fn an_intact_workspace_passes() {
    let workspace = Fixture::new();
    workspace.xtask("graph").passes();
    workspace.xtask("graph --check").passes();
}

#[test]
fn finds_a_dependency_on_a_higher_floor() {
    let workspace = Fixture::new();
    workspace.package("agcore-tools", "[dependencies]\nagcore-llm.workspace = true\n");
    workspace.xtask("graph").fails(
        "graph floors",
        &["crates/agcore-tools/Cargo.toml: agcore-tools (floor 1) uses agcore-llm (floor 2)"],
    );
}

#[test]
fn finds_a_crate_without_a_floor() {
    let workspace = Fixture::new();
    workspace.package("agcore-utils", "");
    workspace
        .xtask("graph")
        .fails("graph floors", &["agcore-utils has no place in the layering"]);
}

#[test]
fn finds_a_dependency_on_the_testkit() {
    let workspace = Fixture::new();
    workspace.append(LLM, "[dependencies.agcore-testkit]\nworkspace = true\n");
    workspace
        .xtask("graph")
        .fails("graph floors", &["agcore-llm (floor 2) uses agcore-testkit"]);
}

#[test]
fn finds_a_versioned_dev_dependency_on_the_testkit() {
    let workspace = Fixture::new();
    workspace.append(LLM, "[dev-dependencies.agcore-testkit]\nworkspace = true\n");
    workspace.xtask("graph").fails(
        "graph dev-testkit",
        &["the dev-dependency on agcore-testkit requires version ^0.1.0"],
    );

    let workspace = Fixture::new();
    let by_path = "[dev-dependencies.agcore-testkit]\npath = \"../agcore-testkit\"\ndefault-features = false\n";
    workspace.append(LLM, by_path);
    workspace.xtask("graph").passes();
}

#[test]
fn finds_a_second_door() {
    let workspace = Fixture::new();
    let reqwest = workspace.vendor("reqwest", "");
    workspace.append(CHAT, &format!("[dependencies]\n{reqwest}"));
    workspace.xtask("graph doors").fails(
        "graph doors",
        &["agcore-chat depends on reqwest, but outgoing HTTP is only for agcore-llm"],
    );

    let workspace = Fixture::new();
    let reqwest = workspace.vendor("reqwest", "");
    workspace.append(CHAT, &format!("[dev-dependencies]\n{reqwest}"));
    workspace.xtask("graph doors").passes();
}

#[test]
fn finds_default_features_outside_the_facade() {
    let by_path = "[dependencies]\nagcore-chat = { path = \"../agcore-chat\", version = \"0.1.0\" }\n";
    let workspace = Fixture::new();
    workspace.package("agcore-tools", by_path);
    workspace.xtask("graph").fails(
        "graph defaults",
        &["agcore-tools: enables the default features of agcore-chat"],
    );

    let workspace = Fixture::new();
    workspace.package("agcore", by_path);
    workspace.xtask("graph").passes();
}

#[test]
fn finds_a_cycle_of_modules() {
    let workspace = Fixture::new();
    workspace.append("crates/agcore-llm/src/lib.rs", "mod sse;\nmod wire;\n");
    workspace.write(
        "crates/agcore-llm/src/sse.rs",
        "//! Frames.\nuse crate::wire::Frame;\npub struct Sse(Frame);\n",
    );
    workspace.write(
        "crates/agcore-llm/src/wire.rs",
        "//! Wires.\npub struct Frame;\nimpl Frame {\n    fn open() -> super::sse::Sse {\n        loop {}\n    }\n}\n",
    );
    workspace.xtask("graph").fails(
        "graph modules",
        &[
            "modules of agcore-llm form a cycle: crate::sse -> crate::wire -> crate::sse",
            "crate::sse uses crate::wire at crates/agcore-llm/src/sse.rs:2 (`crate::wire::Frame`)",
            "crate::wire uses crate::sse at crates/agcore-llm/src/wire.rs:4 (`super::sse::Sse`)",
        ],
    );
}

#[test]
fn finds_a_tree_over_its_budget() {
    let with_dependencies = |count: usize| {
        let workspace = Fixture::new();
        let lines: Vec<_> = (0..count)
            .map(|number| workspace.vendor(&format!("small-{number}"), ""))
            .collect();
        workspace.append(CHAT, &format!("[dependencies]\n{}", lines.concat()));
        workspace.xtask("graph budgets")
    };
    with_dependencies(19).passes();
    with_dependencies(20).fails(
        "graph budget of agcore-chat ≤ 20",
        &["crates/agcore-chat/Cargo.toml: 21 crates in its dependency tree, the limit is 20"],
    );
}

#[test]
fn skips_budgets_of_missing_crates_and_features() {
    let ran = Fixture::new().xtask("graph budgets");
    ran.passes();
    assert!(ran.text.contains("agcore-prompt does not exist yet"), "{}", ran.text);
    assert!(
        ran.text.contains("agcore-llm has no feature `openai-chat` yet"),
        "{}",
        ran.text
    );
}

#[test]
fn finds_a_system_crate_below_a_pure_one() {
    let workspace = Fixture::new();
    workspace.vendor("getrandom", "");
    let random = workspace.vendor(
        "random",
        "[target.'cfg(target_arch = \"wasm32\")'.dependencies]\ngetrandom = { path = \"../getrandom\" }\n",
    );
    workspace.append(CHAT, &format!("[dependencies]\n{random}"));
    workspace.xtask("graph absences").fails(
        "graph agcore-chat without `tokio` does not depend on getrandom, mio, socket2, tokio for wasm32-unknown-unknown",
        &["crates/agcore-chat/Cargo.toml: getrandom is in its dependency tree"],
    );
}

#[test]
fn finds_a_transport_without_its_feature() {
    let feature = |implied: &str| format!("[features]\ngzip = [{implied}]\n");
    let workspace = Fixture::new();
    let reqwest = workspace.vendor("reqwest", "").replace(" }", ", optional = true }");
    let dependencies = format!("[dependencies]\nagcore-chat.workspace = true\n{reqwest}");
    workspace.package(
        "agcore-llm",
        &format!(
            "{dependencies}{}http-reqwest = [\"dep:reqwest\", \"_http\"]\n_http = []\n",
            feature("\"http-reqwest\"")
        ),
    );
    workspace.xtask("graph absences").passes();

    workspace.package(
        "agcore-llm",
        &format!(
            "{dependencies}{}http-reqwest = [\"_http\"]\n_http = [\"dep:reqwest\"]\n",
            feature("\"http-reqwest\"")
        ),
    );
    workspace.xtask("graph absences").fails(
        "graph agcore-llm without `http-reqwest`",
        &["reqwest is in its dependency tree"],
    );
}

#[test]
fn finds_a_dependency_that_requires_a_newer_compiler() {
    let workspace = Fixture::new();
    let newer = workspace.vendor("newer", "rust-version = \"1.99\"\n");
    workspace.append(CHAT, &format!("[dependencies]\n{newer}"));
    // The crates that use chat declare the same version.
    workspace.xtask("graph").fails(
        "graph rust-versions",
        &[
            "crates/agcore-chat/Cargo.toml: agcore-chat declares Rust 1.88.0, but newer 1.0.0 requires 1.99.0",
            "crates/agcore-llm/Cargo.toml: agcore-llm declares Rust 1.88.0, but newer 1.0.0 requires 1.99.0",
        ],
    );
}

#[test]
fn finds_a_second_crypto_provider() {
    let workspace = Fixture::new();
    let second = workspace.vendor("aws-lc-rs", "");
    workspace.append(LLM, &format!("[dev-dependencies]\n{second}"));
    workspace.xtask("graph").fails(
        "graph crypto",
        &["Cargo.lock: aws-lc-rs is a second crypto provider besides ring"],
    );
}

#[test]
fn finds_an_outdated_picture_and_rewrites_it() {
    let workspace = Fixture::new();
    workspace
        .xtask("graph --check")
        .fails("graph picture in docs/graph.md", &["there is no picture"]);
    workspace.xtask("graph").passes();
    assert!(
        workspace
            .read("docs/graph.md")
            .contains("    agcore-llm --> agcore-chat\n")
    );

    workspace.package("agcore-prompt", "[dependencies]\nagcore-chat.workspace = true\n");
    workspace.xtask("graph --check").fails(
        "graph picture in docs/graph.md",
        &["the picture does not match the manifests"],
    );
    workspace.xtask("graph").passes();
    assert!(
        workspace
            .read("docs/graph.md")
            .contains("    agcore-prompt --> agcore-chat\n")
    );
}
