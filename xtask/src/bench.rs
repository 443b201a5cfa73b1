//! `bench`: runs the benches, all or those of one name.

use anyhow::bail;
use cargo_metadata::TargetKind;

use crate::process;
use crate::workspace::{Package, Target, Workspace};

/// Runs the benches whose own name or whose package's name is `name`; all
/// without one. `false` when one of them failed.
pub(crate) fn run(workspace: &Workspace, name: Option<&str>) -> anyhow::Result<bool> {
    let benches = chosen(&workspace.members, name);
    if benches.is_empty() {
        let known: Vec<_> = chosen(&workspace.members, None)
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        match name {
            Some(name) => bail!("no bench is called `{name}`; there are: {}", known.join(", ")),
            None => bail!("the workspace has no benches"),
        }
    }
    let mut all_ran = true;
    for (package, bench) in benches {
        let arguments = ["bench", "--package", package, "--bench", bench];
        all_ran &= process::succeeds(&mut workspace.cargo.command(arguments))?;
    }
    Ok(all_ran)
}

fn chosen<'a>(members: &'a [Package], name: Option<&str>) -> Vec<(&'a str, &'a str)> {
    let pairs = members.iter().flat_map(|member| {
        let benches = member.targets_of(TargetKind::Bench);
        benches.map(move |Target { name, .. }| (member.name.as_str(), name.as_str()))
    });
    pairs
        .filter(|(package, bench)| name.is_none_or(|name| name == *package || name == *bench))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn benches_are_chosen_by_their_name_or_their_package() {
        let bench = |name: &str| Target {
            name: name.to_owned(),
            kind: TargetKind::Bench,
            source: PathBuf::new(),
        };
        let members = [
            Package {
                name: "bench-llm".to_owned(),
                targets: vec![bench("decode"), bench("encode")],
                ..Package::default()
            },
            Package {
                name: "bench-prompt".to_owned(),
                targets: vec![bench("render")],
                ..Package::default()
            },
        ];
        assert_eq!(chosen(&members, None).len(), 3);
        assert_eq!(chosen(&members, Some("encode")), [("bench-llm", "encode")]);
        assert_eq!(chosen(&members, Some("bench-prompt")), [("bench-prompt", "render")]);
        assert_eq!(chosen(&members, Some("other")), []);
    }
}
