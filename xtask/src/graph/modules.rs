//! Modules: the modules of one crate form no cycle, at any level.
//!
//! The nodes of a level are the modules below one parent, and the parent's own items. An edge is a reference from a
//! module, or from anything inside it, to another node. Names are resolved to the module that defines them, so a parent
//! that only re-exports an item of a child does not refer to it.

mod cycle;
mod level;

use std::fs;
use std::path::Path;

use cargo_metadata::TargetKind;

use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::source::module_tree::ModuleTree;
use crate::workspace::{Package, Workspace};

/// Checks the library and the programs of every member.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    let findings = workspace.members.iter().map(|member| findings(member, &workspace.root));
    let findings: anyhow::Result<Vec<_>> = findings.collect();
    report.add(&Check::from_result("modules", findings.map(|lists| lists.concat())));
}

fn findings(member: &Package, root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut found = Vec::new();
    for kind in [TargetKind::Lib, TargetKind::Bin] {
        for target in member.targets_of(kind) {
            let read = |path: &Path| fs::read_to_string(path).ok();
            let tree = ModuleTree::read(&target.source, &read)?;
            let levels = level::all(&tree);
            let cycles = levels.iter().flat_map(cycle::find);
            found.extend(cycles.map(|cycle| finding(member, &cycle, root)));
        }
    }
    Ok(found)
}

fn finding(member: &Package, cycle: &cycle::Cycle, root: &Path) -> Finding {
    let root = format!("{}/", root.display());
    let edges: Vec<String> = cycle
        .edges
        .iter()
        .map(|edge| {
            let place = edge.site.to_string();
            let place = place.strip_prefix(&root).unwrap_or(&place);
            format!("\n      {} uses {} at {place}", edge.from, edge.to)
        })
        .collect();
    Finding::new(
        &member.manifest,
        format!("modules of {} form a cycle: {cycle}{}", member.name, edges.concat()),
        "move what both need to a third module below them, or pass it as an argument",
    )
}
