//! [`PythonEnvironment`]: the packages of a script, in a virtual environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::process;
use crate::workspace::Workspace;

/// A script with packages, which `requirements.txt` beside it lists. They are installed into the target folder.
///
/// With `--ready`, the script prints what is missing, and fails if something is.
#[derive(Debug)]
pub(crate) struct PythonEnvironment {
    folder: PathBuf,
    script: PathBuf,
    /// The options of pip.
    options: &'static [&'static str],
}

impl PythonEnvironment {
    /// Returns the environment of `scripts/NAME/SCRIPT`.
    pub(crate) fn new(workspace: &Workspace, name: &str, script: &str) -> Self {
        Self {
            folder: workspace.target.join(name).join("python"),
            script: workspace.root.join("scripts").join(name).join(script),
            options: &[],
        }
    }

    /// Installs only the listed packages, without their dependencies.
    pub(crate) fn without_dependencies(mut self) -> Self {
        self.options = &["--no-deps"];
        self
    }

    /// Installs the packages, unless they are installed.
    pub(crate) fn prepare(&self) -> anyhow::Result<()> {
        if self.missing().is_some() {
            self.install()?;
        }
        match self.missing() {
            Some(missing) => bail!("the packages were installed, but still {missing}"),
            None => Ok(()),
        }
    }

    /// Returns a command that runs the script.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.python());
        command.arg("-B").arg(&self.script);
        command
    }

    /// Returns a command that runs the script, which runs another command.
    pub(crate) fn command_around(&self, inner: Command) -> Command {
        let mut command = self.command();
        command.arg(inner.get_program()).args(inner.get_args());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = inner.get_current_dir() {
            command.current_dir(directory);
        }
        command
    }

    /// Returns why the script cannot run, if it cannot.
    pub(crate) fn missing(&self) -> Option<String> {
        if !self.python().exists() {
            return Some("the Python packages are not installed".to_owned());
        }
        self.is_ready().err().map(|error| error.to_string())
    }

    fn is_ready(&self) -> anyhow::Result<()> {
        let output = process::capture(self.command().arg("--ready"));
        let output = output.context("cannot run the Python of the virtual environment")?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stdout).trim());
        }
        Ok(())
    }

    fn install(&self) -> anyhow::Result<()> {
        let base = if cfg!(windows) { "python" } else { "python3" };
        if process::capture(Command::new(base).arg("--version")).is_err() {
            bail!("cannot run `{base}`, which installs Python packages; install Python 3");
        }
        let mut make = Command::new(base);
        make.args(["-m", "venv", "--clear"]).arg(&self.folder);
        let mut fill = Command::new(self.python());
        fill.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        fill.args(self.options)
            .arg("--requirement")
            .arg(self.script.with_file_name("requirements.txt"));
        for command in [&mut make, &mut fill] {
            if !process::succeeds(command)? {
                bail!("cannot install the Python packages; see the output above");
            }
        }
        Ok(())
    }

    fn python(&self) -> PathBuf {
        let python = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        self.folder.join(Path::new(python))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_python_that_does_not_run() {
        let environment = PythonEnvironment {
            folder: PathBuf::from("/nonexistent"),
            script: PathBuf::from("/nonexistent/check.py"),
            options: &[],
        };
        let missing = environment.missing().unwrap();
        assert_eq!(missing, "the Python packages are not installed");
        let error = environment.is_ready().unwrap_err().to_string();
        assert_eq!(error, "cannot run the Python of the virtual environment");
    }

    #[test]
    fn a_command_around_another_one_keeps_its_settings() {
        let environment = PythonEnvironment {
            folder: PathBuf::from("python"),
            script: PathBuf::from("run.py"),
            options: &[],
        };
        let mut inner = Command::new("cargo");
        inner
            .arg("test")
            .env("KEPT", "1")
            .env_remove("REMOVED")
            .current_dir("workspace");
        let command = environment.command_around(inner);
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["-B", "run.py", "cargo", "test"]);
        assert_eq!(command.get_current_dir(), Some(Path::new("workspace")));
        let mut settings: Vec<_> = command.get_envs().collect();
        settings.sort_unstable();
        assert_eq!(
            settings,
            [("KEPT".as_ref(), Some("1".as_ref())), ("REMOVED".as_ref(), None)]
        );
    }

    #[test]
    fn pins_the_version_of_every_package() {
        for list in [
            include_str!("../../../scripts/sdk-types/requirements.txt"),
            include_str!("../../../scripts/pgvector/requirements.txt"),
            include_str!("../../../scripts/embeddings/requirements.txt"),
            include_str!("../../../scripts/peers/requirements.txt"),
            include_str!("../../../scripts/otel-collector/requirements.txt"),
        ] {
            let packages: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
            assert!(!packages.is_empty());
            assert!(
                packages.iter().all(|line| line.split("==").count() == 2),
                "{packages:?}"
            );
        }
    }
}
