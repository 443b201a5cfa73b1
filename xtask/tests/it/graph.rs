//! Each check of `graph` on a broken house.

use crate::fixture::Fixture;

const LLM: &str = "crates/agcore-llm/Cargo.toml";
const CHAT: &str = "crates/agcore-chat/Cargo.toml";

#[test]
fn a_sound_house_passes() {
    let house = Fixture::sound();
    house.xtask("graph").passes();
    house.xtask("graph --check").passes();
}

#[test]
fn a_crate_must_not_use_its_own_floor_or_above() {
    let house = Fixture::sound();
    house.package("agcore-tools", "[dependencies]\nagcore-llm.workspace = true\n");
    house.xtask("graph").fails(
        "floors",
        &["crates/agcore-tools/Cargo.toml: agcore-tools (floor 1) uses agcore-llm (floor 1)"],
    );
}

#[test]
fn a_crate_needs_a_place() {
    let house = Fixture::sound();
    house.package("agcore-utils", "");
    house
        .xtask("graph")
        .fails("floors", &["agcore-utils has no place in the house"]);
}

#[test]
fn a_shipped_crate_must_not_use_the_testkit() {
    let house = Fixture::sound();
    house.append(LLM, "[dependencies.agcore-testkit]\nworkspace = true\n");
    house
        .xtask("graph")
        .fails("floors", &["agcore-llm (floor 1) uses agcore-testkit"]);
}

#[test]
fn a_dev_dependency_on_the_testkit_has_no_version() {
    let house = Fixture::sound();
    house.append(LLM, "[dev-dependencies.agcore-testkit]\nworkspace = true\n");
    house.xtask("graph").fails(
        "dev-testkit",
        &["the dev-dependency on agcore-testkit asks for version ^0.1.0"],
    );

    let house = Fixture::sound();
    let by_path = "[dev-dependencies.agcore-testkit]\npath = \"../agcore-testkit\"\ndefault-features = false\n";
    house.append(LLM, by_path);
    house.xtask("graph").passes();
}

#[test]
fn each_world_has_one_door() {
    let house = Fixture::sound();
    let reqwest = house.vendor("reqwest", "");
    house.append(CHAT, &format!("[dependencies]\n{reqwest}"));
    house.xtask("graph doors").fails(
        "doors",
        &["agcore-chat depends on reqwest, but HTTP out is reached only by agcore-llm"],
    );

    let house = Fixture::sound();
    let reqwest = house.vendor("reqwest", "");
    house.append(CHAT, &format!("[dev-dependencies]\n{reqwest}"));
    house.xtask("graph doors").passes();
}

#[test]
fn only_the_facade_takes_default_features() {
    let by_path = "[dependencies]\nagcore-chat = { path = \"../agcore-chat\", version = \"0.1.0\" }\n";
    let house = Fixture::sound();
    house.package("agcore-tools", by_path);
    house
        .xtask("graph")
        .fails("defaults", &["agcore-tools: takes the default features of agcore-chat"]);

    let house = Fixture::sound();
    house.package("agcore", by_path);
    house.xtask("graph").passes();
}

#[test]
fn modules_form_no_circle() {
    let house = Fixture::sound();
    house.append("crates/agcore-llm/src/lib.rs", "mod sse;\nmod wire;\n");
    house.write(
        "crates/agcore-llm/src/sse.rs",
        "//! Frames.\nuse crate::wire::Frame;\npub struct Sse(Frame);\n",
    );
    house.write(
        "crates/agcore-llm/src/wire.rs",
        "//! Wires.\npub struct Frame;\nimpl Frame {\n    fn open() -> super::sse::Sse {\n        loop {}\n    }\n}\n",
    );
    house.xtask("graph").fails(
        "modules",
        &[
            "modules of agcore-llm form a circle: crate::sse -> crate::wire -> crate::sse",
            "crate::sse uses crate::wire at crates/agcore-llm/src/sse.rs:2 (`crate::wire::Frame`)",
            "crate::wire uses crate::sse at crates/agcore-llm/src/wire.rs:4 (`super::sse::Sse`)",
        ],
    );
}

#[test]
fn a_tree_stays_within_its_budget() {
    let with_dependencies = |count: usize| {
        let house = Fixture::sound();
        let lines: Vec<_> = (0..count)
            .map(|number| house.vendor(&format!("small-{number}"), ""))
            .collect();
        house.append(CHAT, &format!("[dependencies]\n{}", lines.concat()));
        house.xtask("graph budgets")
    };
    with_dependencies(19).passes();
    with_dependencies(20).fails(
        "budget of agcore-chat ≤ 20",
        &["crates/agcore-chat/Cargo.toml: 21 crates in its tree, 20 are allowed"],
    );
}

#[test]
fn what_cannot_be_counted_yet_is_skipped_aloud() {
    let ran = Fixture::sound().xtask("graph budgets");
    ran.passes();
    assert!(ran.text.contains("agcore-prompt does not exist yet"), "{}", ran.text);
    assert!(
        ran.text.contains("agcore-llm has no feature `openai-chat` yet"),
        "{}",
        ran.text
    );
}

#[test]
fn a_pure_crate_brings_no_system() {
    let house = Fixture::sound();
    house.vendor("getrandom", "");
    let chance = house.vendor(
        "chance",
        "[target.'cfg(target_arch = \"wasm32\")'.dependencies]\ngetrandom = { path = \"../getrandom\" }\n",
    );
    house.append(CHAT, &format!("[dependencies]\n{chance}"));
    house.xtask("graph absences").fails(
        "agcore-chat brings no getrandom, mio, socket2, tokio for wasm32-unknown-unknown",
        &["crates/agcore-chat/Cargo.toml: getrandom is in its tree"],
    );
}

#[test]
fn without_its_feature_there_is_no_transport() {
    let feature = |implied: &str| format!("[features]\ngzip = [{implied}]\n");
    let house = Fixture::sound();
    let reqwest = house.vendor("reqwest", "").replace(" }", ", optional = true }");
    let dependencies = format!("[dependencies]\nagcore-chat.workspace = true\n{reqwest}");
    house.package(
        "agcore-llm",
        &format!("{dependencies}{}http = [\"dep:reqwest\"]\n", feature("\"http\"")),
    );
    house.xtask("graph absences").passes();

    house.package(
        "agcore-llm",
        &format!("{dependencies}{}http = []\n", feature("\"dep:reqwest\"")),
    );
    house
        .xtask("graph absences")
        .fails("agcore-llm without `http`", &["reqwest is in its tree"]);
}

#[test]
fn no_dependency_asks_for_a_newer_compiler() {
    let house = Fixture::sound();
    let newer = house.vendor("newer", "rust-version = \"1.99\"\n");
    house.append(CHAT, &format!("[dependencies]\n{newer}"));
    // What uses chat is bound by the same promise.
    house.xtask("graph").fails(
        "rust-versions",
        &[
            "crates/agcore-chat/Cargo.toml: agcore-chat promises Rust 1.88.0, but newer 1.0.0 asks for 1.99.0",
            "crates/agcore-llm/Cargo.toml: agcore-llm promises Rust 1.88.0, but newer 1.0.0 asks for 1.99.0",
        ],
    );
}

#[test]
fn there_is_one_crypto_provider() {
    let house = Fixture::sound();
    let second = house.vendor("aws-lc-rs", "");
    house.append(LLM, &format!("[dev-dependencies]\n{second}"));
    house
        .xtask("graph")
        .fails("crypto", &["Cargo.lock: aws-lc-rs is a second provider beside ring"]);
}

#[test]
fn a_stale_picture_is_found_and_drawn_anew() {
    let house = Fixture::sound();
    house
        .xtask("graph --check")
        .fails("picture in docs/graph.md", &["there is no picture"]);
    house.xtask("graph").passes();
    assert!(house.read("docs/graph.md").contains("    agcore-llm --> agcore-chat\n"));

    house.package("agcore-prompt", "[dependencies]\nagcore-chat.workspace = true\n");
    house
        .xtask("graph --check")
        .fails("picture in docs/graph.md", &["not the graph of the manifests any more"]);
    house.xtask("graph").passes();
    assert!(
        house
            .read("docs/graph.md")
            .contains("    agcore-prompt --> agcore-chat\n")
    );
}
