//! The check of prose.

use crate::fixture::Fixture;

const CHAT: &str = "crates/agcore-chat/src/lib.rs";

#[test]
fn finds_phrases_in_docs_messages_names_and_pages() {
    for (path, text, problem) in [
        (
            CHAT,
            "/// The base URL is no URL.\nstruct S;\n",
            "src/lib.rs:9: `is no`",
        ),
        (CHAT, "// It is told\nfn f() {}\n", "src/lib.rs:9: `told`"),
        (CHAT, "fn f() { g(\"an own URL\"); }\n", "src/lib.rs:9: `an own`"),
        (CHAT, "fn whoever_asks() {}\n", "src/lib.rs:9: `whoever`"),
        (
            CHAT,
            "/// What it costs.\nstruct S;\n",
            "src/lib.rs:9: a doc comment starts with `What`",
        ),
        (
            CHAT,
            "/// Something that costs money.\nstruct S;\n",
            "src/lib.rs:9: `Something`",
        ),
        ("CHANGELOG.md", "\nIt goes on.\n", "CHANGELOG.md:7: `goes on`"),
        ("Cargo.toml", "# Of nothing else.\n", "`Of nothing else`"),
    ] {
        let workspace = Fixture::new();
        workspace.append(path, text);
        workspace.xtask("tidy prose").fails("tidy prose", &[problem, "do: "]);
    }
}

#[test]
fn accepts_code_and_data() {
    let workspace = Fixture::new();
    workspace.append(CHAT, "/// There is no `told`.\nfn f() { g(\"told\"); }\n");
    workspace.write("docs/a.md", "# A\n\n```text\nit is told\n```\n");
    workspace.write(
        "crates/agcore-chat/tests/it/main.rs",
        "#[test]\nfn t() { f(\"he told me\"); }\n",
    );
    workspace.xtask("tidy prose").passes();
}
