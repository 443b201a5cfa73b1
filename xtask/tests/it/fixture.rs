//! A small house in a temporary folder, sound until a test breaks it.

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
"#;

const PACKAGE: &str = "
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true

[lints]
workspace = true
";

/// A workspace of three crates: chat, llm above it, and the testkit beside them.
pub(crate) struct Fixture {
    folder: TempDir,
}

/// What a command printed and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) text: String,
}

impl Fixture {
    pub(crate) fn sound() -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fixture.write("Cargo.toml", &format!("{ROOT}\n[workspace.lints.rust]\n"));
        fixture.write("CHANGELOG.md", "# Changelog\n\n## 0.1.0\n\nThe first.\n");
        fixture.package("agcore-chat", "");
        fixture.package(
            "agcore-llm",
            "[dependencies]\nagcore-chat.workspace = true\n[features]\nhttp = []\n",
        );
        fixture.package("agcore-testkit", "[dependencies]\nagcore-chat.workspace = true\n");
        fixture
    }

    /// Adds a crate with a library that has a line of docs, or writes it anew.
    pub(crate) fn package(&self, name: &str, rest: &str) {
        let folder = format!("crates/{name}");
        let manifest = format!("[package]\nname = \"{name}\"{PACKAGE}{rest}");
        self.write(&format!("{folder}/Cargo.toml"), &manifest);
        self.write(&format!("{folder}/README.md"), &format!("# {name}\n\nA crate.\n"));
        self.write(&format!("{folder}/src/lib.rs"), "//! A crate.\n");
    }

    /// Adds a crate of others, outside the workspace; gives the line that
    /// depends on it.
    pub(crate) fn vendor(&self, name: &str, rest: &str) -> String {
        let manifest = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n{rest}");
        self.write(&format!("vendor/{name}/Cargo.toml"), &manifest);
        self.write(&format!("vendor/{name}/src/lib.rs"), "//! Another's crate.\n");
        format!("{name} = {{ path = \"../../vendor/{name}\" }}\n")
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

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Runs a command of the real program in the fixture.
    pub(crate) fn xtask(&self, line: &str) -> Ran {
        Ran::from(self.command(line).output().unwrap())
    }

    /// The same, on a machine with nothing but a Rust toolchain, whose
    /// registry is out of reach; and with the program `cargo-deny`, where the
    /// text of one is given.
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
        // The summary is the last that goes to standard output.
        let text = [output.stderr, output.stdout].concat();
        Self {
            code: output.status.code().unwrap(),
            text: String::from_utf8(text).unwrap(),
        }
    }
}

impl Ran {
    /// Nothing failed.
    #[track_caller]
    pub(crate) fn passes(&self) {
        assert_eq!(self.code, 0, "{}", self.text);
        assert!(self.text.trim_end().ends_with(" 0 failed"), "{}", self.text);
    }

    /// The named check failed, alone, and said this.
    #[track_caller]
    pub(crate) fn fails(&self, check: &str, said: &[&str]) {
        assert_eq!(self.code, 1, "{}", self.text);
        assert!(self.text.contains(&format!("FAILED   {check}")), "{}", self.text);
        assert!(self.text.trim_end().ends_with(" 1 failed"), "{}", self.text);
        for said in said {
            assert!(self.text.contains(said), "{said:?} is missing in\n{}", self.text);
        }
    }
}
