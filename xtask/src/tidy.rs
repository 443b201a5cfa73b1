//! `tidy`: conventions of this workspace that no compiler checks.

mod api_names;
mod changelog;
mod commits;
mod doc_examples;
mod exception;
mod foreign_types;
mod functions;
mod hidden_lines;
mod length;
mod levels;
mod links;
mod machine_paths;
mod manifests;
mod module_files;
mod printing;
mod prose;
mod readmes;
mod stubs;
mod translations;
mod wires;

use crate::generate;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::source::public_api::Apis;
use crate::source::sources::Sources;
use crate::workspace::Workspace;

/// The input of a check.
#[derive(Clone, Copy)]
struct Input<'a> {
    workspace: &'a Workspace,
    sources: &'a Sources,
    api: &'a Apis<'a>,
    /// The range of commits given on the command line.
    range: Option<&'a str>,
}

/// The function that checks a convention.
enum Run {
    /// Needs only the text of the files.
    Text(fn(&Sources) -> Vec<Finding>),
    /// Needs more than that, or adds a note to the check, whose name it receives.
    Full(fn(&str, Input<'_>) -> Check),
}

/// Every convention: its name on the command line, and how it is checked.
const CONVENTIONS: &[(&str, Run)] = &[
    ("module-docs", Run::Text(module_files::docs)),
    ("module-roots", Run::Text(module_files::roots)),
    ("length", Run::Text(length::findings)),
    ("levels", Run::Text(levels::findings)),
    ("functions", Run::Text(functions::findings)),
    ("readmes", Run::Text(readmes::findings)),
    ("links", Run::Text(links::findings)),
    ("translations", Run::Text(translations::findings)),
    ("hidden-lines", Run::Text(hidden_lines::findings)),
    ("manifests", Run::Text(manifests::findings)),
    ("printing", Run::Text(printing::findings)),
    ("stubs", Run::Text(stubs::findings)),
    ("machine-paths", Run::Text(machine_paths::findings)),
    ("changelog", Run::Text(changelog::findings)),
    ("wires", Run::Text(wires::findings)),
    (
        "doc-examples",
        Run::Full(|name, input| doc_examples::check(name, input.sources)),
    ),
    (
        "feature-tables",
        Run::Full(|name, input| generate::feature_tables(name, input.sources)),
    ),
    (
        "public-api",
        Run::Full(|name, input| generate::public_api(name, input.api, input.sources)),
    ),
    (
        "api-names",
        Run::Full(|name, input| api_names::check(name, input.api, input.sources)),
    ),
    (
        "foreign-types",
        Run::Full(|name, input| foreign_types::check(name, input.api, input.workspace)),
    ),
    (
        "commits",
        Run::Full(|name, input| commits::check(name, &input.workspace.root, input.range)),
    ),
    ("prose", Run::Text(prose::findings)),
    ("width", Run::Text(prose::width::findings)),
];

/// Returns the names of all checks.
pub(crate) fn names() -> Vec<&'static str> {
    CONVENTIONS.iter().map(|(name, _)| *name).collect()
}

/// Runs the checks in `only`, or all of them if it is empty. `range` selects the commits that are checked.
pub(crate) fn run(workspace: &Workspace, only: &[String], range: Option<&str>, report: &mut Report) {
    let sources = match Sources::read(&workspace.root) {
        Ok(sources) => sources,
        Err(error) => return report.add(&Check::from_result("tidy", Err(error))),
    };
    let api = Apis::new(workspace);
    let input = Input {
        workspace,
        sources: &sources,
        api: &api,
        range,
    };
    for (name, run) in CONVENTIONS {
        if only.is_empty() || only.iter().any(|selected| selected == name) {
            report.add(&match run {
                Run::Text(findings) => Check::new(*name, findings(&sources)),
                Run::Full(check) => check(name, input),
            });
        }
    }
}
