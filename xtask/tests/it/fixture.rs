//! A small workspace in a temporary folder, which passes every check until a test breaks it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

const ROOT: &str = r#"
[workspace]
resolver = "3"
members = ["crates/*"]
exclude = ["vendor"]

[workspace.package]
version = "0.1.0"
edition = "2024"
rust-version = "1.88"
license = "MIT"

[workspace.dependencies]
agcore-chat = { path = "crates/agcore-chat", version = "0.1.0", default-features = false }
agcore-llm = { path = "crates/agcore-llm", version = "0.1.0", default-features = false }
agcore-testkit = { path = "crates/agcore-testkit", version = "0.1.0", default-features = false }

[workspace.lints.clippy]
incompatible_msrv = "warn"

[workspace.metadata.xtask]
doc-examples = 3
"#;

const PACKAGE: &str = "
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true

[lints]
workspace = true
";

const MARKERS: [&str; 2] = ["<!-- features -->", "<!-- /features -->"];

/// A workspace of three crates: chat, llm above it, and the testkit beside them.
pub(crate) struct Fixture {
    folder: TempDir,
}

/// The result of a command.
pub(crate) struct Ran {
    pub(crate) code: i32,
    /// Standard error, then standard output, which ends with the summary.
    pub(crate) text: String,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fixture.write("Cargo.toml", ROOT);
        fixture.write("CHANGELOG.md", "# Changelog\n\n## 0.1.0\n\nThe first version.\n");
        // The page to which the generated picture of the crates links.
        fixture.write("docs/architecture.md", "# Architecture\n");
        fixture.package("agcore-chat", "");
        fixture.package(
            "agcore-llm",
            "[dependencies]\nagcore-chat.workspace = true\n[features]\n# The HTTP transport.\nhttp = []\n",
        );
        fixture.package("agcore-testkit", "[dependencies]\nagcore-chat.workspace = true\n");
        fixture
    }

    /// Adds a crate with a library that has only docs, or overwrites it.
    pub(crate) fn package(&self, name: &str, rest: &str) {
        let folder = format!("crates/{name}");
        let manifest = format!("[package]\nname = \"{name}\"{PACKAGE}{rest}");
        let [opening, closing] = MARKERS;
        self.write(&format!("{folder}/Cargo.toml"), &manifest);
        self.write(
            &format!("{folder}/README.md"),
            &format!("# {name}\n\nA crate.\n\n{opening}\n{closing}\n"),
        );
        let docs = [
            "A crate.",
            "",
            "```",
            "assert_eq!(1 + 1, 2);",
            "```",
            "",
            opening,
            closing,
        ];
        let docs: String = docs
            .iter()
            .map(|line| format!("//! {line}").trim_end().to_owned() + "\n")
            .collect();
        self.write(&format!("{folder}/src/lib.rs"), &docs);
    }

    /// Adds a foreign crate outside the workspace; returns the line of a manifest that depends on it.
    pub(crate) fn vendor(&self, name: &str, rest: &str) -> String {
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n{rest}");
        self.write(&format!("vendor/{name}/Cargo.toml"), &manifest);
        self.write(&format!("vendor/{name}/src/lib.rs"), "//! A foreign crate.\n");
        format!("{name} = {{ path = \"../../vendor/{name}\" }}\n")
    }

    /// Writes the generated files.
    pub(crate) fn generate(&self) {
        self.xtask("gen").passes();
        self.xtask("graph picture").passes();
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn append(&self, path: &str, text: &str) {
        let before = self.read(path);
        self.write(path, &format!("{before}{text}"));
    }

    pub(crate) fn replace(&self, path: &str, from: &str, to: &str) {
        let before = self.read(path);
        assert!(before.contains(from), "{from:?} is missing in {path}");
        self.write(path, &before.replace(from, to));
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Runs xtask in the fixture.
    pub(crate) fn xtask(&self, line: &str) -> Ran {
        Ran::from(self.command(line).output().unwrap())
    }

    /// Runs xtask on a machine that has only a Rust toolchain and cannot reach the registry, and that has the script
    /// `cargo_deny` in place of the program of this name, if there is one.
    #[cfg(unix)]
    pub(crate) fn xtask_alone(&self, line: &str, cargo_deny: Option<&str>) -> Ran {
        use std::os::unix::fs::PermissionsExt as _;

        if let Some(script) = cargo_deny {
            self.write("bin/cargo-deny", &format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(self.path("bin/cargo-deny"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap());
        let toolchain = cargo.parent().unwrap().display();
        let path = format!("{}:{toolchain}:/usr/bin:/bin", self.path("bin").display());
        let mut command = self.command(line);
        command.env("PATH", path).env("CARGO_HOME", self.path("cargo-home"));
        Ran::from(command.output().unwrap())
    }

    /// Runs git in the fixture, as an author without settings.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(arguments)
            .current_dir(self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", self.path("target"))
            .env("CARGO_NET_OFFLINE", "true");
        command
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = [output.stderr, output.stdout].concat();
        Self {
            code: output.status.code().unwrap(),
            text: String::from_utf8(text).unwrap(),
        }
    }
}

impl Ran {
    /// Asserts that nothing failed.
    #[track_caller]
    pub(crate) fn passes(&self) {
        assert_eq!(self.code, 0, "{}", self.text);
        assert!(self.text.trim_end().ends_with(" 0 failed"), "{}", self.text);
    }

    /// Asserts that only the named check failed, and that the output contains all parts.
    #[track_caller]
    pub(crate) fn fails(&self, check: &str, parts: &[&str]) {
        assert_eq!(self.code, 1, "{}", self.text);
        assert!(self.text.contains(&format!("FAILED   {check}")), "{}", self.text);
        assert!(self.text.trim_end().ends_with(" 1 failed"), "{}", self.text);
        self.contains(parts);
    }

    /// Asserts that nothing failed and that the output contains all parts.
    #[track_caller]
    pub(crate) fn passes_with(&self, parts: &[&str]) {
        self.passes();
        self.contains(parts);
    }

    #[track_caller]
    fn contains(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.text.contains(part), "{part:?} is missing in\n{}", self.text);
        }
    }
}
