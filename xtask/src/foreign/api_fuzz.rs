//! `api-fuzz`: random requests to `agcore serve`, which schemathesis makes from the OpenAPI document of the server.
//!
//! No request may be answered with an error of the server, an undocumented status or a body of another form than documented. All
//! routes of the document are asked: the vendor repeats what it is asked, so that runs, and the streams of their events, end soon.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;
use sha2::Digest as _;

use crate::foreign::served::{self, Served};
use crate::process;
use crate::workspace::Workspace;

/// The package. Update it deliberately: a newer version may know other checks.
const PACKAGE: &str = "schemathesis==4.32.5";

/// The checks of every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance";

/// The paths of the operations for administrators.
const ADMINISTRATION: &str = "^/api/v1/admin";

/// The token of the administrator. The server listens on this machine only, and ends with the requests.
const ADMINISTRATOR: &str = "administrator-of-random-requests";

/// The time that an answer may take, in seconds. A stream ends with its run.
const TIMEOUT: &str = "30";

/// Installs schemathesis if it is missing, and sends requests with the token of a tenant of their own, and those for administrators
/// with the token of one. Returns `false` if an answer is wrong.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    let python = workspace.target.join("api-fuzz");
    install(&python)?;
    if !process::succeeds(&mut workspace.cargo.command(served::BUILD))? {
        return Ok(false);
    }
    let server = Served::start(
        &workspace.target,
        &["--behavior", "echo"],
        &["--require-token"],
        &administrator(),
    )?;
    let mut tokens = server.agcore();
    tokens.args(["serve", "tokens", "create", "--tenant", "fuzz", "--user", "fuzz"]);
    let token = process::stdout(&mut tokens)?;
    let (users, administrators) = (
        ["--exclude-path-regex", ADMINISTRATION],
        ["--include-path-regex", ADMINISTRATION],
    );
    let is_clean = fuzz(&python, &server.url, token.trim(), users)?;
    Ok(fuzz(&python, &server.url, ADMINISTRATOR, administrators)? && is_clean)
}

/// Sends requests to the operations that `paths` selects, with a token.
fn fuzz(python: &Path, url: &str, token: &str, paths: [&str; 2]) -> anyhow::Result<bool> {
    let mut fuzz = Command::new(executable(python, "st"));
    // The thread pool of the tool and the parser of CPython 3.11 do not work together.
    fuzz.args(["run", "--workers", "1", "--max-examples", "100", "--no-color"]);
    fuzz.args(["--phases", "examples,coverage,fuzzing,stateful", "--checks", CHECKS]);
    fuzz.args(["--request-timeout", TIMEOUT]);
    fuzz.args(paths);
    fuzz.args(["--header", &format!("Authorization: Bearer {token}")]);
    fuzz.arg(format!("{url}/openapi.json"));
    process::succeeds(fuzz.current_dir(python))
}

/// Returns settings with an administrator of all tenants.
fn administrator() -> String {
    let digest = sha2::Sha256::digest(ADMINISTRATOR);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("[[serve.admins]]\nname = 'fuzz'\ntoken_sha256 = '{digest}'\n")
}

fn install(python: &Path) -> anyhow::Result<()> {
    if executable(python, "st").exists() {
        return Ok(());
    }
    let base = if cfg!(windows) { "python" } else { "python3" };
    if process::capture(Command::new(base).arg("--version")).is_err() {
        bail!("cannot run `{base}`, which installs schemathesis; install Python 3");
    }
    let mut make = Command::new(base);
    make.args(["-m", "venv", "--clear"]).arg(python);
    let mut fill = Command::new(executable(python, "python"));
    fill.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        PACKAGE,
    ]);
    for command in [&mut make, &mut fill] {
        if !process::succeeds(command)? {
            bail!("cannot install schemathesis; see the output above");
        }
    }
    Ok(())
}

fn executable(python: &Path, name: &str) -> PathBuf {
    python
        .join(if cfg!(windows) { "Scripts" } else { "bin" })
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_the_version_of_the_package() {
        assert_eq!(PACKAGE.split("==").count(), 2);
    }
}
