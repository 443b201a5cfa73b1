//! `gen` and the checks of generated files.

use crate::fixture::Fixture;

const LIB: &str = "crates/agcore-llm/src/lib.rs";
const README: &str = "crates/agcore-llm/README.md";
const MANIFEST: &str = "crates/agcore-llm/Cargo.toml";
const SNAPSHOT: &str = "docs/api/agcore-llm.txt";

#[test]
fn writes_what_the_checks_expect() {
    let workspace = Fixture::new();
    workspace.append(
        LIB,
        "\n/// A reply.\n#[derive(Debug)]\npub struct Reply {\n    pub text: String,\n}\n",
    );
    assert_eq!(workspace.xtask("gen --check").code, 1);
    workspace.xtask("gen").passes();
    workspace.xtask("gen --check").passes();

    let row = "| `http` | The HTTP transport. |\n";
    assert!(workspace.read(README).contains(row));
    assert!(workspace.read(LIB).contains(&format!("//! {row}")));
    let snapshot = workspace.read(SNAPSHOT);
    let expected = "\n#[derive(Debug)] struct agcore_llm::Reply {}\nagcore_llm::Reply::text: String\n";
    assert!(snapshot.ends_with(expected), "{snapshot}");
}

#[test]
fn finds_an_outdated_table_of_features() {
    let workspace = Fixture::new();
    workspace.generate();
    workspace.replace(MANIFEST, "# The HTTP transport.", "# Another transport.");
    workspace.xtask("tidy feature-tables").fails(
        "tidy feature-tables",
        &[
            "crates/agcore-llm/README.md: the table of features does not match the manifest",
            "crates/agcore-llm/src/lib.rs: the table of features does not match the manifest",
            "run `cargo xtask gen`",
        ],
    );

    workspace.replace(MANIFEST, "# Another transport.\n", "");
    workspace.replace(README, "<!-- features -->", "");
    workspace.xtask("gen").fails(
        "gen feature-tables",
        &[
            "the feature `http` has no description",
            "crates/agcore-llm/README.md: there is no place for the table of features",
        ],
    );
}

#[test]
fn finds_a_changed_public_api() {
    let workspace = Fixture::new();
    workspace.append(LIB, "/// F.\npub fn f(\n    n: u8,\n) {}\n");
    workspace.generate();
    workspace.replace(LIB, "(\n    n: u8,\n)", "(n: u8)");
    workspace.xtask("tidy public-api").passes();

    workspace.replace(LIB, "n: u8", "n: u16");
    workspace.xtask("tidy public-api").fails(
        "tidy public-api",
        &[
            "docs/api/agcore-llm.txt: the public API changed:",
            "- fn agcore_llm::f(n: u8)",
            "+ fn agcore_llm::f(n: u16)",
            "run `cargo xtask gen` and describe the change in CHANGELOG.md",
        ],
    );

    workspace.xtask("gen").passes();
    workspace.remove(SNAPSHOT);
    workspace
        .xtask("tidy public-api")
        .fails("tidy public-api", &["docs/api/agcore-llm.txt: there is no snapshot"]);
}
