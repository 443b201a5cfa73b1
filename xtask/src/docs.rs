//! `docs`: rustdoc has nothing to complain of, in what users read and in what
//! only we read.

use crate::check::Check;
use crate::process;
use crate::report::Report;
use crate::workspace::Workspace;

const PUBLIC: &[&str] = &["doc", "--workspace", "--all-features", "--no-deps", "--keep-going"];

/// Runs both checks: the public pages, where a link to a private item is
/// broken, and the pages with private items.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    let private = [PUBLIC, &["--document-private-items"]].concat();
    for (name, arguments) in [("public docs", PUBLIC), ("private docs", &private)] {
        let mut command = workspace.cargo.command(arguments);
        let outcome = process::succeeds(command.env("RUSTDOCFLAGS", "--deny warnings"));
        report.add(&Check::command(name, outcome, "mend the doc comments named above"));
    }
}
