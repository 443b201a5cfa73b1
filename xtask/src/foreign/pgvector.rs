//! `pgvector`: runs the tests of the indexes of PostgreSQL on a server with the extension pgvector.
//!
//! The server is a Python package, which is installed into the target folder; `scripts/pgvector/run.py` starts it for the tests.

use crate::foreign::python_environment::PythonEnvironment;
use crate::process;
use crate::workspace::Workspace;

/// The arguments of cargo. The output shows which tests were skipped.
const TEST: &[&str] = &[
    "test",
    "--package",
    "agcore-store",
    "--all-features",
    "--test",
    "it",
    "--",
    "--nocapture",
    "postgres::vector_index",
    "postgres::text_index",
    "postgres::indexes",
    "postgres::pgvector",
];

/// Installs the server if it is missing and runs the tests. Returns `false` if one fails.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    let server = PythonEnvironment::new(workspace, "pgvector", "run.py");
    server.prepare()?;
    process::succeeds(&mut server.command_around(workspace.cargo.command(TEST)))
}
