//! `mcp-conformance`: runs the official conformance suite of the Model Context Protocol against our server and client.
//!
//! The suite and the Node.js that it needs are installed from npm into the target folder. Without npm, the command prints
//! that it is skipped. It fails if a scored scenario fails that is not a known gap, or if a known gap passes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};

use crate::process;
use crate::workspace::Workspace;

/// The packages, at the versions whose results are known.
const PACKAGES: &[&str] = &["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22.23.3"];

/// The examples that the suite tests. They need its arguments.
pub(crate) const PROGRAMS: [&str; 2] = [CLIENT, SERVER];

const CLIENT: &str = "conformance_client";
const SERVER: &str = "conformance_server";

/// The arguments that build our programs.
const BUILD: &[&str] = &["build", "--package", "agcore-mcp", "--all-features", "--examples"];

/// The list of scenarios of one revision for a server or a client, with those that we cannot pass yet: names, or the
/// beginnings of names.
struct List {
    side: Side,
    revision: &'static str,
    gaps: &'static [&'static str],
}

/// The side of the protocol that is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Server,
    Client,
}

const LISTS: &[List] = &[
    List {
        side: Side::Server,
        revision: "2025-11-25",
        gaps: &[],
    },
    List {
        side: Side::Server,
        revision: "2026-07-28",
        gaps: &[],
    },
    List {
        side: Side::Client,
        revision: "2025-11-25",
        gaps: &[],
    },
    List {
        side: Side::Client,
        revision: "2026-07-28",
        gaps: &[],
    },
];

/// Runs all scenarios. Returns `false` if a result is not the known one.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    let folder = workspace.target.join("mcp-conformance");
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if process::capture(Command::new(npm).arg("--version")).is_err() {
        println!("skipped: mcp-conformance: npm was not found; install Node.js");
        return Ok(true);
    }
    if !suite(&folder).exists() {
        install(npm, &folder)?;
    }
    if !process::succeeds(&mut workspace.cargo.command(BUILD))? {
        return Ok(false);
    }
    let (_server, url) = start(&workspace.target)?;
    let client = example(&workspace.target, CLIENT);
    let mut is_as_known = true;
    for list in LISTS {
        let mut command = Command::new(node(&folder));
        command.arg(suite(&folder));
        match list.side {
            Side::Server => command.args(["server", "--url", &url]),
            Side::Client => command.args(["client", "--command"]).arg(&client),
        };
        command.args(["--requirements", list.revision]);
        let output = process::capture(&mut command).context("cannot run the conformance suite")?;
        let results = scored(&String::from_utf8_lossy(&output.stdout));
        if results.is_empty() {
            let reason = String::from_utf8_lossy(&output.stderr);
            bail!("the conformance suite printed no results: {}", reason.trim());
        }
        is_as_known &= report(list, &results);
    }
    Ok(is_as_known)
}

fn install(npm: &str, folder: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(npm);
    command
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(folder)
        .args(PACKAGES);
    if !process::succeeds(&mut command)? {
        bail!("cannot install the conformance suite; see the output above");
    }
    Ok(())
}

fn suite(folder: &Path) -> PathBuf {
    folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js")
}

fn node(folder: &Path) -> PathBuf {
    let binary = if cfg!(windows) { "node.exe" } else { "node" };
    folder.join("node_modules/node/bin").join(binary)
}

/// A running server, which is killed on drop.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It fails only if the server has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn example(target: &Path, name: &str) -> PathBuf {
    target
        .join("debug/examples")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Starts the server on a free port and returns its URL.
fn start(target: &Path) -> anyhow::Result<(Server, String)> {
    let binary = example(target, SERVER);
    let mut command = Command::new(&binary);
    let child = command.arg("127.0.0.1:0").stdout(Stdio::piped()).spawn();
    let mut server = Server(child.with_context(|| format!("cannot start {}", binary.display()))?);
    let mut line = String::new();
    let stdout = server.0.stdout.take().context("the server has no output")?;
    BufReader::new(stdout).read_line(&mut line)?;
    let url = line
        .trim()
        .strip_prefix("serving MCP at ")
        .context("the server did not print its URL")?;
    Ok((server, url.to_owned()))
}

/// Reads the scored scenarios from the summary of the suite, each with whether it passed.
fn scored(output: &str) -> Vec<(String, bool)> {
    let Some((_, summary)) = output.split_once("SUMMARY ===") else {
        return Vec::new();
    };
    let (all, unscored) = summary.split_once("Not scored for").unwrap_or((summary, ""));
    let unscored: Vec<&str> = unscored
        .lines()
        .filter_map(|line| line.trim().split(' ').nth(1))
        .collect();
    let results = all.lines().filter_map(|line| {
        let (mark, rest) = line.trim().split_once(' ')?;
        let (name, _) = rest.split_once(':')?;
        matches!(mark, "✓" | "✗").then(|| (name.to_owned(), mark == "✓"))
    });
    results.filter(|(name, _)| !unscored.contains(&name.as_str())).collect()
}

/// Prints the results of a list. Returns whether all are as known.
fn report(list: &List, results: &[(String, bool)]) -> bool {
    let mut is_as_known = true;
    println!("\n{:?}, {}", list.side, list.revision);
    for (name, passed) in results {
        let text = match (passed, list.gaps.iter().any(|gap| name.starts_with(gap))) {
            (true, false) => "ok",
            (false, true) => "gap",
            (true, true) => "passes now; remove it from the gaps in xtask/src/foreign/mcp_conformance.rs",
            (false, false) => "FAILED",
        };
        is_as_known &= matches!(text, "ok" | "gap");
        println!("{name:<50} {text}");
    }
    let passed = results.iter().filter(|(_, passed)| *passed).count();
    println!("{passed} of {} scored scenarios pass", results.len());
    is_as_known
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "=== Running scenario: a ===\n\n=== SUMMARY ===\n✓ a: 2 passed, 0 failed\n✗ b: 1 passed, 1 failed\n\
        ✗ c: 0 passed, 1 failed\n\nTotal: 3 passed, 2 failed\n\nNot scored for X: 1 scenario(s) run, 1 failing.\n  ✗ c (pending)\n";

    #[test]
    fn reads_the_scored_results() {
        assert_eq!(scored(OUTPUT), [("a".to_owned(), true), ("b".to_owned(), false)]);
        assert!(scored("nothing").is_empty());
    }

    #[test]
    fn unknown_failures_and_closed_gaps_are_noticed() {
        let results = scored(OUTPUT);
        let check = |gaps, expected| {
            let list = List {
                side: Side::Client,
                revision: "X",
                gaps,
            };
            assert_eq!(report(&list, &results), expected);
        };
        check(&["b"], true);
        check(&[], false);
        check(&["a", "b"], false);
    }

    #[test]
    fn the_versions_are_pinned() {
        assert!(PACKAGES.iter().all(|package| {
            package
                .rsplit_once('@')
                .is_some_and(|(_, version)| version.contains('.'))
        }));
    }
}
