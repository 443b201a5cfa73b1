//! [`Checker`]: runs `scripts/sdk-types/check.py` with a Python that has the vendors' packages.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Advice on installing the packages.
const REMEDY: &str = "run `cargo xtask sdk-types`, which installs them";

/// A checker that is ready to run.
pub(super) struct Checker {
    python: PathBuf,
    script: PathBuf,
    folder: PathBuf,
}

impl Checker {
    /// Returns the checker, or the reason it is not available.
    pub(super) fn find() -> Result<Self, String> {
        // `cargo xtask sdk-types` creates the environment next to this folder, which cargo creates.
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
            return Err(format!(
                "the Python packages of the vendors are not installed: {REMEDY}"
            ));
        }
        let output = checker.run(["--ready"]);
        match output.status.success() {
            true => Ok(checker),
            false => Err(format!("{}: {REMEDY}", output_text(&output).trim())),
        }
    }

    /// Checks bodies, one per line, and returns a table of the results.
    pub(super) fn check(&self, lines: &str) -> String {
        let file = self.folder.join("bodies.jsonl");
        fs::write(&file, lines).unwrap();
        self.run_successfully([&file])
    }

    /// Runs the self-test of the script, and returns its output.
    pub(super) fn self_test(&self) -> String {
        self.run_successfully(["--self-test"])
    }

    fn run_successfully<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", output_text(&output));
        output_text(&output)
    }

    fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        let mut command = Command::new(&self.python);
        // `-B` prevents compiled files in the source tree.
        command.arg("-B").arg(&self.script).args(arguments);
        command.output().unwrap()
    }
}

fn output_text(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
