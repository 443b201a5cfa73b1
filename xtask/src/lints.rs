//! `fmt`, `clippy` and `docs`: the tools of the toolchain have nothing to report.

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

const CLIPPY: &[&str] = &[
    "clippy",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--keep-going",
    "--",
    "--deny",
    "warnings",
];

const DOCS: &[&str] = &["doc", "--workspace", "--all-features", "--no-deps", "--keep-going"];

/// Workspaces of their own, which `cargo fmt --all` does not format.
const OUTSIDE: &[(&str, &str)] = &[
    ("peers", "benches/peers/Cargo.toml"),
    ("queues", "benches/queues/Cargo.toml"),
    ("fuzz", "fuzz/Cargo.toml"),
];

/// Checks that every file is formatted by rustfmt.
pub(crate) fn fmt(workspace: &Workspace, report: &mut Report) {
    let mut command = workspace.cargo.command(["fmt", "--all", "--check"]);
    let result = process::logged(&mut command, &workspace.log("fmt"));
    report.add(&Check::command("fmt", result, &workspace.root, "run `cargo fmt --all`"));
    let exists = |manifest: &str| workspace.root.join(manifest).exists();
    for (name, manifest) in OUTSIDE.iter().filter(|(_, manifest)| exists(manifest)) {
        let mut command = workspace
            .cargo
            .command(["fmt", "--all", "--check", "--manifest-path", manifest]);
        let result = process::logged(&mut command, &workspace.log(&format!("fmt-{name}")));
        let remedy = format!("run `cargo fmt --all --manifest-path {manifest}`");
        report.add(&Check::command(*name, result, &workspace.root, &remedy));
    }
}

/// Checks that neither the compiler nor clippy warns, in any target.
pub(crate) fn clippy(workspace: &Workspace, report: &mut Report) {
    let result = process::logged(&mut workspace.cargo.command(CLIPPY), &workspace.log("clippy"));
    let remedy = "fix the warnings; where one is wrong, add #[expect(lint, reason = \"…\")]";
    report.add(&Check::command("clippy", result, &workspace.root, remedy));
}

/// The pages that rustdoc makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Those that users read, where a link to a private item is broken.
    Public,
    /// Those with private items.
    Private,
    Both,
}

/// Checks that rustdoc does not warn.
pub(crate) fn docs(workspace: &Workspace, pages: Pages, report: &mut Report) {
    let private = [DOCS, &["--document-private-items"]].concat();
    let runs = [("public", DOCS, Pages::Private), ("private", &private, Pages::Public)];
    for (name, arguments, other) in runs {
        if pages == other {
            continue;
        }
        let mut command = workspace.cargo.command(arguments);
        let log = workspace.log(&format!("docs-{name}"));
        let result = process::logged(command.env("RUSTDOCFLAGS", "--deny warnings"), &log);
        let remedy = "fix the doc comments named in the output";
        report.add(&Check::command(name, result, &workspace.root, remedy));
    }
}
