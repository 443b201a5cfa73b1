//! `tidy`: habits of this workspace that no compiler checks.

mod changelog;
mod length;
mod machine_paths;
mod manifests;
mod module_docs;
mod module_roots;
mod printing;
mod readmes;
mod stubs;

use crate::check::Check;
use crate::finding::Finding;
use crate::report::Report;
use crate::sources::Sources;
use crate::workspace::Workspace;

/// One habit: its name on the command line, and how it is checked.
type Habit = (&'static str, fn(&Sources) -> Vec<Finding>);

const HABITS: &[Habit] = &[
    ("module-docs", module_docs::findings),
    ("module-roots", module_roots::findings),
    ("length", length::findings),
    ("readmes", readmes::findings),
    ("manifests", manifests::findings),
    ("printing", printing::findings),
    ("stubs", stubs::findings),
    ("machine-paths", machine_paths::findings),
    ("changelog", changelog::findings),
];

/// The names that `only` may hold.
pub(crate) fn names() -> Vec<&'static str> {
    HABITS.iter().map(|(name, _)| *name).collect()
}

/// Checks the habits in `only`, or all when it is empty.
pub(crate) fn run(workspace: &Workspace, only: &[String], report: &mut Report) {
    let sources = match Sources::read(&workspace.root) {
        Ok(sources) => sources,
        Err(error) => return report.add(&Check::from_result("tidy", Err(error))),
    };
    for (name, findings) in HABITS {
        if only.is_empty() || only.iter().any(|wanted| wanted == name) {
            report.add(&Check::new(*name, findings(&sources)));
        }
    }
}
