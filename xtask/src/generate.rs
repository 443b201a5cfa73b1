//! `gen`: files and parts of files that are generated from manifests and sources.

mod output;
mod api;
mod feature_table;

use std::fs;

use anyhow::Context as _;

use crate::generate::output::{Generated, Output};
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::source::public_api::Apis;
use crate::source::sources::Sources;
use crate::workspace::Workspace;

/// Writes all generated files, or compares them if `check` is set.
pub(crate) fn run(workspace: &Workspace, check: bool, report: &mut Report) {
    let sources = match Sources::read(&workspace.root) {
        Ok(sources) => sources,
        Err(error) => return report.add(&Check::from_result("gen", Err(error))),
    };
    let names = ["feature-tables", "public-api"];
    if check {
        report.add(&feature_tables(names[0], &sources));
        report.add(&public_api(names[1], &Apis::new(workspace), &sources));
        return;
    }
    let tables = write(workspace, &sources, feature_table::render(&sources));
    report.add(&Check::from_result(names[0], tables));
    let snapshots = api::render(&Apis::new(workspace)).and_then(|files| {
        let findings = Vec::new();
        write(workspace, &sources, Output { files, findings })
    });
    report.add(&Check::from_result(names[1], snapshots));
}

/// Checks that the tables of features in READMEs and crate docs match the manifests.
pub(crate) fn feature_tables(name: &str, sources: &Sources) -> Check {
    let Output { files, mut findings } = feature_table::render(sources);
    let outdated = files.iter().filter(|file| is_outdated(sources, file));
    findings.extend(outdated.map(|file| {
        Finding::new(
            &file.path,
            "the table of features does not match the manifest",
            "run `cargo xtask gen`",
        )
    }));
    Check::new(name, findings)
}

/// Checks that the snapshots of the public API match the sources.
pub(crate) fn public_api(name: &str, apis: &Apis<'_>, sources: &Sources) -> Check {
    Check::from_result(name, api::render(apis).map(|files| api::compare(sources, &files)))
}

fn is_outdated(sources: &Sources, file: &Generated) -> bool {
    sources.get(&file.path).is_none_or(|current| current.text != file.text)
}

/// Writes the files that changed.
fn write(workspace: &Workspace, sources: &Sources, output: Output) -> anyhow::Result<Vec<Finding>> {
    for file in output.files.iter().filter(|file| is_outdated(sources, file)) {
        let path = workspace.root.join(&file.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, &file.text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("\rwrote    {}", file.path);
    }
    Ok(output.findings)
}
