//! Each check of `tidy` on a broken workspace.

use crate::fixture::Fixture;

const CHAT: &str = "crates/agcore-chat/src/lib.rs";
const MANIFEST: &str = "crates/agcore-chat/Cargo.toml";

#[test]
fn an_intact_workspace_passes() {
    let workspace = Fixture::new();
    workspace.generate();
    workspace
        .xtask("tidy")
        .passes_with(&["ok       tidy doc-examples (3 run, at least 3 required)"]);
}

#[test]
fn finds_a_file_without_docs() {
    let workspace = Fixture::new();
    workspace.write(CHAT, "pub struct Message;\n");
    workspace.xtask("tidy module-docs").fails(
        "tidy module-docs",
        &["crates/agcore-chat/src/lib.rs: the file has no module docs"],
    );
}

#[test]
fn finds_a_broken_link() {
    let workspace = Fixture::new();
    workspace.append(
        "crates/agcore-chat/README.md",
        "\n[llm](../agcore-llm) [guide](../../docs/guide.md)\n",
    );
    workspace
        .xtask("tidy links")
        .fails("tidy links", &["which does not exist", "docs/guide.md"]);
}

#[test]
fn finds_a_wide_comment() {
    let workspace = Fixture::new();
    workspace.append(CHAT, &format!("// {}\n", "a word ".repeat(20)));
    workspace
        .xtask("tidy width")
        .fails("tidy width", &["a line of 143 characters, 132 are allowed"]);
}

#[test]
fn finds_a_module_root_inside_its_folder() {
    let workspace = Fixture::new();
    workspace.write("crates/agcore-chat/src/wire/mod.rs", "//! Wires.\n");
    workspace
        .xtask("tidy module-roots")
        .fails("tidy module-roots", &["rename it to crates/agcore-chat/src/wire.rs"]);
}

#[test]
fn finds_a_long_and_a_short_file() {
    let workspace = Fixture::new();
    workspace.append(CHAT, &"// one more\n".repeat(400));
    workspace
        .xtask("tidy length")
        .fails("tidy length", &["408 lines without inline tests, 400 are allowed"]);

    let workspace = Fixture::new();
    workspace.write("crates/agcore-chat/src/usage.rs", "//! Usage.\npub struct Usage;\n");
    workspace
        .xtask("tidy length")
        .fails("tidy length", &["usage.rs: 1 lines of code, fewer than 15"]);
}

#[test]
fn finds_a_long_function() {
    let workspace = Fixture::new();
    let body = "    g();\n".repeat(60);
    workspace.append(CHAT, &format!("fn f() {{\n{body}}}\n"));
    workspace.xtask("tidy functions").fails(
        "tidy functions",
        &["crates/agcore-chat/src/lib.rs:9: function `f` has 62 lines, 60 are allowed"],
    );
}

#[test]
fn finds_a_missing_readme() {
    let workspace = Fixture::new();
    workspace.remove("crates/agcore-chat/README.md");
    workspace.xtask("tidy readmes").fails(
        "tidy readmes",
        &["crates/agcore-chat/README.md: the crate has no README"],
    );
}

#[test]
fn finds_a_translation_that_is_behind() {
    let workspace = Fixture::new();
    let original = workspace.read("crates/agcore-chat/README.md");
    workspace.write("crates/agcore-chat/README.zh-CN.md", &original);
    workspace.append("crates/agcore-chat/README.md", "\n## Examples\n");
    workspace.xtask("tidy translations").fails(
        "tidy translations",
        &["crates/agcore-chat/README.zh-CN.md: `crates/agcore-chat/README.md` has a heading of level 2"],
    );
}

#[test]
fn finds_a_hidden_line_in_a_readme() {
    let workspace = Fixture::new();
    workspace.append(
        "crates/agcore-chat/README.md",
        "\n```rust\n# fn main() {\nassert!(true);\n# }\n```\n",
    );
    workspace.xtask("tidy hidden-lines").fails(
        "tidy hidden-lines",
        &["rustdoc hides `# fn main() {`", "rustdoc hides `# }`"],
    );
}

#[test]
fn finds_a_name_that_no_library_has() {
    let workspace = Fixture::new();
    workspace.append(
        "crates/agcore-chat/README.md",
        "\nCall `Missing::member` or `gone()`.\n",
    );
    workspace.xtask("tidy api-names").fails(
        "tidy api-names",
        &[
            "`Missing::member`: no library has a public type `Missing`",
            "`gone()`: no library has a function `gone`",
        ],
    );
}

#[test]
fn finds_a_manifest_that_does_not_inherit() {
    let workspace = Fixture::new();
    workspace.replace(MANIFEST, "[lints]\nworkspace = true", "");
    workspace
        .xtask("tidy manifests")
        .fails("tidy manifests", &["the lints are not inherited from the workspace"]);

    let workspace = Fixture::new();
    workspace.replace(MANIFEST, "rust-version.workspace = true", "rust-version = \"1.90\"");
    workspace.xtask("tidy manifests").fails(
        "tidy manifests",
        &["`rust-version` is not inherited from the workspace"],
    );
}

#[test]
fn finds_a_compiler_version_that_is_not_enforced() {
    let workspace = Fixture::new();
    workspace.replace("Cargo.toml", "incompatible_msrv = \"warn\"", "");
    workspace.xtask("tidy manifests").fails(
        "tidy manifests",
        &["Cargo.toml: the lint clippy::incompatible_msrv is not enabled"],
    );
}

#[test]
fn finds_a_library_that_prints() {
    let workspace = Fixture::new();
    workspace.append(CHAT, "/// Prints.\npub fn print() {\n    println!(\"it\");\n}\n");
    workspace.xtask("tidy printing").fails(
        "tidy printing",
        &["crates/agcore-chat/src/lib.rs:11: a library calls println!"],
    );
}

#[test]
fn finds_stubs() {
    for (line, problem) in [
        ("pub fn f() { todo!() }", "`todo!`"),
        ("#[test]\n#[ignore]\nfn f() {}", "`#[ignore]` without a reason"),
        (concat!("// FIX", "ME: this"), concat!("`FIX", "ME`")),
    ] {
        let workspace = Fixture::new();
        workspace.append(CHAT, &format!("{line}\n"));
        workspace.xtask("tidy stubs").fails("tidy stubs", &[problem]);
    }
}

#[test]
fn finds_a_path_of_a_machine() {
    let workspace = Fixture::new();
    workspace.write("docs/run.md", concat!("Run it in /ho", "me/me/agcore.\n"));
    workspace
        .xtask("tidy machine-paths")
        .fails("tidy machine-paths", &["docs/run.md:1: path under"]);
}

#[test]
fn finds_a_changelog_without_the_version() {
    let workspace = Fixture::new();
    workspace.write("CHANGELOG.md", "# Changelog\n\n## 0.0.1\n");
    workspace
        .xtask("tidy changelog")
        .fails("tidy changelog", &["there is no section for 0.1.0"]);
}

#[test]
fn finds_missing_examples() {
    let workspace = Fixture::new();
    workspace.replace("Cargo.toml", "doc-examples = 3", "doc-examples = 4");
    workspace.xtask("tidy doc-examples").fails(
        "tidy doc-examples (3 run, at least 4 required)",
        &["3 runnable doc examples, at least 4 are required"],
    );

    let workspace = Fixture::new();
    workspace.replace("Cargo.toml", "doc-examples = 3", "doc-examples = 2");
    workspace.replace(CHAT, "```\n//! assert", "```no_run\n//! assert");
    workspace.xtask("tidy doc-examples").fails(
        "tidy doc-examples",
        &[
            "an example on the front page of agcore-chat is `no_run`",
            "the front page of agcore-chat has no example that runs",
        ],
    );
}

#[test]
fn finds_a_foreign_type_in_the_public_api() {
    let workspace = Fixture::new();
    let bytes = workspace.vendor("bytes", "");
    workspace.append(MANIFEST, &format!("[dependencies]\n{bytes}"));
    workspace.append(CHAT, "use bytes::Bytes;\n/// F.\npub fn f(bytes: &Bytes) {}\n");
    workspace.xtask("tidy foreign-types").fails(
        "tidy foreign-types",
        &["its public API mentions `bytes`: fn agcore_chat::f(bytes: &Bytes)"],
    );
}

#[test]
fn a_check_can_be_run_alone() {
    let workspace = Fixture::new();
    workspace.remove("CHANGELOG.md");
    let ran = workspace.xtask("tidy printing stubs");
    ran.passes();
    assert!(ran.text.trim_end().ends_with("\n2 passed, 0 failed"), "{}", ran.text);
}
