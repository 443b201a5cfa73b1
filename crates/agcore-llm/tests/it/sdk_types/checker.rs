//! [`Checker`]: `scripts/sdk-types/check.py`, run by the Python that has the vendors' packages.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// How to have it.
const REMEDY: &str = "run `cargo xtask sdk-types`, which installs them";

/// The checker, ready to run.
pub(super) struct Checker {
    python: PathBuf,
    script: PathBuf,
    folder: PathBuf,
}

impl Checker {
    /// The checker, or why there is none.
    pub(super) fn find() -> Result<Self, String> {
        // `cargo xtask sdk-types` makes the environment beside this folder, which cargo itself makes.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("sdk-types");
        let program = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        let checker = Self {
            python: folder.join("python").join(program),
            script: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/sdk-types/check.py"),
            folder,
        };
        if !checker.python.exists() {
            return Err(format!("there is no Python with the vendors' packages: {REMEDY}"));
        }
        let output = checker.run(["--ready"]);
        match output.status.success() {
            true => Ok(checker),
            false => Err(format!("{}: {REMEDY}", told(&output).trim())),
        }
    }

    /// Checks bodies, a line each; gives the table.
    pub(super) fn check(&self, lines: &str) -> String {
        let file = self.folder.join("bodies.jsonl");
        fs::write(&file, lines).unwrap();
        self.must_succeed([&file])
    }

    /// Lets it prove that it finds what is wrong; gives what it says.
    pub(super) fn self_test(&self) -> String {
        self.must_succeed(["--self-test"])
    }

    fn must_succeed<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", told(&output));
        told(&output)
    }

    fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        let mut command = Command::new(&self.python);
        // No compiled files in the source tree.
        command.arg("-B").arg(&self.script).args(arguments);
        command.output().unwrap()
    }
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
