//! Modules: those of one crate form no circle, at no level.
//!
//! At each level the modules below one parent, and the parent's own items, are
//! the nodes; what a module or anything inside it names is an edge. A name is
//! followed to where it is defined, so a parent that merely re-exports a child
//! does not use it.

mod circle;
mod level;
mod names;
mod read;
mod resolve;
mod scope;

use std::fs;
use std::path::Path;

use cargo_metadata::TargetKind;

use crate::check::Check;
use crate::finding::Finding;
use crate::workspace::{Package, Workspace};

/// Checks the library and the programs of every member.
pub(crate) fn check(workspace: &Workspace) -> Vec<Check> {
    let findings = workspace.members.iter().map(|member| findings(member, &workspace.root));
    let findings: anyhow::Result<Vec<_>> = findings.collect();
    vec![Check::from_result("modules", findings.map(|lists| lists.concat()))]
}

fn findings(member: &Package, root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut found = Vec::new();
    for kind in [TargetKind::Lib, TargetKind::Bin] {
        for target in member.targets_of(kind) {
            let file = |path: &Path| fs::read_to_string(path).ok();
            let tree = read::crate_modules(&target.source, &file)?;
            let levels = level::all(&tree);
            let circles = levels.iter().flat_map(circle::find);
            found.extend(circles.map(|circle| finding(member, &circle, root)));
        }
    }
    Ok(found)
}

fn finding(member: &Package, circle: &circle::Circle, root: &Path) -> Finding {
    let root = format!("{}/", root.display());
    let hops: Vec<String> = circle
        .hops
        .iter()
        .map(|hop| {
            let place = hop.site.to_string();
            let place = place.strip_prefix(&root).unwrap_or(&place);
            format!("\n      {} uses {} at {place}", hop.from, hop.to)
        })
        .collect();
    Finding::new(
        &member.manifest,
        format!("modules of {} form a circle: {circle}{}", member.name, hops.concat()),
        "move what both need into a module of its own below them, or hand it in",
    )
}
