//! The cells of the grid: one client with one server.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::install;
use super::peer::Peer;
use crate::foreign::program::{self, Ended};
use crate::workspace::Workspace;

/// The example that is the client of other servers.
pub(super) const CLIENT: &str = "sdk_client";

/// The example that is the server of other clients.
pub(super) const SERVER: &str = "sdk_server";

/// The longest time for the checks of one cell.
const LIMIT: Duration = Duration::from_secs(60);

/// The SDKs: the beginning of their scripts, and their names.
const SDKS: &[(&str, &str)] = &[
    ("ts2", "TypeScript 2.x"),
    ("ts1", "TypeScript 1.x"),
    ("py2", "Python 2.x"),
    ("py1", "Python 1.x"),
];

/// The checks of each client.
const CHECKS: &[&str] = &["list", "call", "error", "progress", "cancel"];

/// The reference servers, and the number of checks of each.
const REFERENCE: &[(&str, usize)] = &[("everything", 9), ("filesystem", 5), ("memory", 5)];

/// The results of one client with one server.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) name: String,
    passed: Vec<String>,
    pub(super) failures: Vec<String>,
}

impl Cell {
    /// Reads what a client printed. A client that stops early has failed, too.
    fn new(name: String, result: anyhow::Result<Ended>, expected: usize) -> Self {
        let ended = match result {
            Ok(ended) => ended,
            Err(error) => {
                let failures = vec![format!("{error:#}")];
                return Self {
                    name,
                    passed: Vec::new(),
                    failures,
                };
            }
        };
        let lines = |start: &'static str| ended.stdout.lines().filter_map(move |line| line.strip_prefix(start));
        let passed: Vec<String> = lines("ok ").map(str::to_owned).collect();
        let mut failures: Vec<String> = lines("FAILED ").map(str::to_owned).collect();
        if failures.is_empty() && (passed.len() != expected || ended.failure.is_some()) {
            let reason = ended.failure.as_deref().unwrap_or("it ended early");
            let last = ended.stderr.trim_end().lines().last().unwrap_or_default();
            failures.push(format!("{} of {expected} checks ran: {reason}: {last}", passed.len()));
        }
        Self { name, passed, failures }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.failures.is_empty() { "ok" } else { "FAILED" };
        write!(f, "{word:<8} {:<42} {}", self.name, self.passed.join(", "))?;
        self.failures.iter().try_for_each(|reason| write!(f, "\n    {reason}"))
    }
}

/// The programs of the grid.
struct Grid {
    /// Where the packages and scripts are.
    folder: PathBuf,
    client: PathBuf,
    server: PathBuf,
}

/// Runs all cells.
pub(super) fn run(workspace: &Workspace) -> anyhow::Result<Vec<Cell>> {
    install::copy_scripts(workspace)?;
    let example = |name: &str| {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        workspace.target.join("debug/examples").join(file)
    };
    let grid = Grid {
        folder: install::folder(workspace),
        client: example(CLIENT),
        server: example(SERVER),
    };
    let mut cells = Vec::new();
    for (sdk, name) in SDKS {
        cells.extend(grid.sdk(sdk, name));
    }
    for (server, checks) in REFERENCE {
        let result = grid.reference(server);
        cells.push(Cell::new(format!("reference server {server}, stdio"), result, *checks));
    }
    Ok(cells)
}

impl Grid {
    /// Runs an SDK as client and as server, over stdio and HTTP.
    fn sdk(&self, sdk: &str, name: &str) -> [Cell; 4] {
        let cell = |role: &str, result| Cell::new(format!("{name} as {role}"), result, CHECKS.len());
        [
            cell("client, stdio", check(self.script(sdk, "client").arg(&self.server))),
            cell("client, HTTP", self.client_over_http(sdk)),
            cell("server, stdio", {
                let server = self.script(sdk, "server");
                let mut client = Command::new(&self.client);
                client.arg("sdk").arg(server.get_program()).args(server.get_args());
                check(&mut client)
            }),
            cell("server, HTTP", self.server_over_http(sdk)),
        ]
    }

    fn client_over_http(&self, sdk: &str) -> anyhow::Result<Ended> {
        let server = Peer::start(Command::new(&self.server).arg("http"))?;
        check(self.script(sdk, "client").arg(&server.url))
    }

    fn server_over_http(&self, sdk: &str) -> anyhow::Result<Ended> {
        let server = Peer::start(self.script(sdk, "server").arg("http"))?;
        check(Command::new(&self.client).args(["sdk", &server.url]))
    }

    fn reference(&self, server: &str) -> anyhow::Result<Ended> {
        let data = self.folder.join("data").join(server);
        if data.exists() {
            fs::remove_dir_all(&data).context("cannot remove the files of the last run")?;
        }
        fs::create_dir_all(&data)?;
        let package = format!("node_modules/@modelcontextprotocol/server-{server}/dist/index.js");
        let mut client = Command::new(&self.client);
        client.arg(server).env("MEMORY_FILE_PATH", data.join("memory.json"));
        if server == "filesystem" {
            client.arg(&data);
        }
        client.arg("node").arg(self.folder.join(package));
        if server == "filesystem" {
            client.arg(&data);
        }
        check(&mut client)
    }

    /// Returns the command that runs a script of an SDK.
    fn script(&self, sdk: &str, role: &str) -> Command {
        let script = |extension: &str| self.folder.join(format!("{sdk}_{role}.{extension}"));
        let (program, script) = match sdk.starts_with("py") {
            true => (install::python(&self.folder, sdk), script("py")),
            false => (Path::new("node").to_owned(), script("mjs")),
        };
        let mut command = Command::new(program);
        command.arg(script);
        command
    }
}

fn check(client: &mut Command) -> anyhow::Result<Ended> {
    program::run_within(client, LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(failure: Option<&str>, stdout: &str) -> Cell {
        let ended = Ended {
            failure: failure.map(str::to_owned),
            stdout: stdout.to_owned(),
            stderr: "a warning\nthe reason\n".to_owned(),
        };
        Cell::new("a".to_owned(), Ok(ended), 2)
    }

    #[test]
    fn cells_pass_if_all_checks_do() {
        assert_eq!(
            cell(None, "revision x\nok list\nok call\n").to_string().trim_end(),
            format!("ok       {:<42} list, call", "a")
        );
    }

    #[test]
    fn failed_and_missing_checks_are_failures() {
        let failed = cell(Some("ended with 1"), "ok list\nFAILED call: no\n");
        assert_eq!(failed.failures, ["call: no"]);
        assert_eq!(
            cell(None, "ok list\n").failures,
            ["1 of 2 checks ran: it ended early: the reason"]
        );
        assert_eq!(
            cell(Some("ended with 1"), "").failures,
            ["0 of 2 checks ran: ended with 1: the reason"]
        );
        let error = Cell::new("a".to_owned(), Err(anyhow::anyhow!("no program")), 2);
        assert_eq!(error.failures, ["no program"]);
    }
}
