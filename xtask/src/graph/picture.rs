//! The picture of the real graph, kept in `docs/graph.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::check::Check;
use crate::finding::Finding;
use crate::graph::doors::DOORS;
use crate::graph::floors::{self, Place};
use crate::workspace::{Kind, Package, Workspace};

const FILE: &str = "docs/graph.md";

const OPENING: &str = "\
# The graph

Written by `cargo xtask graph` from the manifests; do not edit. A crate uses only crates on lower floors
([architecture](architecture.md)). An arrow that follows from others is left out of the picture; the table below it
has them all. Dev-dependencies are not drawn.

```mermaid
flowchart TB
";

/// The members that each crate uses in what it ships, by name.
type Uses<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Draws the picture; with `frozen` it only compares.
pub(crate) fn check(workspace: &Workspace, frozen: bool) -> Check {
    let picture = render(&workspace.members);
    let file = workspace.root.join(FILE);
    let found = if frozen {
        Ok(compare(fs::read_to_string(file).ok().as_deref(), &picture))
    } else {
        write(&file, &picture).map(|()| Vec::new())
    };
    Check::from_result(format!("picture in {FILE}"), found)
}

fn compare(stored: Option<&str>, picture: &str) -> Vec<Finding> {
    let problem = match stored {
        Some(stored) if stored == picture => return Vec::new(),
        Some(_) => "the picture is not the graph of the manifests any more",
        None => "there is no picture of the graph",
    };
    vec![Finding::new(
        FILE,
        problem,
        "run `cargo xtask graph` and commit the file",
    )]
}

fn write(file: &Path, picture: &str) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, picture).with_context(|| format!("cannot write {}", file.display()))
}

fn render(members: &[Package]) -> String {
    let uses = uses(members);
    let mut text = OPENING.to_owned();
    for (title, crates) in rooms(members) {
        let _ = writeln!(text, "    subgraph {title}");
        for name in crates {
            let _ = writeln!(text, "        {name}");
        }
        text.push_str("    end\n");
    }
    for (user, used) in &uses {
        for used in used.iter().filter(|name| !follows(&uses, user, name)) {
            let _ = writeln!(text, "    {user} --> {used}");
        }
    }
    text.push_str("```\n\n| crate | uses | reaches |\n| --- | --- | --- |\n");
    for member in members {
        let used: Vec<_> = direct(&uses, &member.name).collect();
        let worlds = worlds(member).join(", ");
        let _ = writeln!(text, "| {} | {} | {worlds} |", member.name, used.join(", "));
    }
    text
}

fn uses(members: &[Package]) -> Uses<'_> {
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut uses = Uses::new();
    for member in members {
        let shipped = member.dependencies.iter().filter(|used| used.kind != Kind::Development);
        let ours = shipped
            .map(|used| used.name.as_str())
            .filter(|name| names.contains(name));
        uses.insert(&member.name, ours.collect());
    }
    uses
}

/// The crates by floor, those beside the house last.
fn rooms(members: &[Package]) -> Vec<(String, Vec<&str>)> {
    let mut floors: BTreeMap<Option<u8>, Vec<&str>> = BTreeMap::new();
    for member in members {
        let floor = match floors::place(&member.name) {
            Some(Place::Floor(floor)) => Some(floor),
            Some(Place::Beside(_)) | None => None,
        };
        floors.entry(floor).or_default().push(&member.name);
    }
    let beside = floors.remove(&None);
    let title = |floor: Option<u8>| match floor {
        Some(floor) => format!("F{floor}[\"floor {floor}\"]"),
        None => "beside[\"beside the house\"]".to_owned(),
    };
    let mut rooms: Vec<_> = floors
        .into_iter()
        .map(|(floor, crates)| (title(floor), crates))
        .collect();
    rooms.extend(beside.map(|crates| (title(None), crates)));
    rooms
}

/// Whether `user` reaches `used` by way of another crate that it uses.
fn follows(uses: &Uses<'_>, user: &str, used: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&str> = direct(uses, user).filter(|name| *name != used).collect();
    while let Some(name) = waiting.pop() {
        if name == used {
            return true;
        }
        if seen.insert(name) {
            waiting.extend(direct(uses, name));
        }
    }
    false
}

fn direct<'a>(uses: &'a Uses<'_>, name: &str) -> impl Iterator<Item = &'a str> {
    uses.get(name).into_iter().flatten().copied()
}

/// The outside worlds whose door a crate really goes through.
fn worlds(member: &Package) -> Vec<&'static str> {
    let shipped = |library: &str| {
        let mut dependencies = member.dependencies.iter();
        dependencies.any(|used| used.kind != Kind::Development && used.name == library)
    };
    let doors = DOORS
        .iter()
        .filter(|door| door.libraries.iter().any(|name| shipped(name)));
    doors.map(|door| door.world).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn member(name: &str, uses: &[&str]) -> Package {
        let dependency = |name: &&str| Dependency {
            name: (*name).to_owned(),
            kind: Kind::Normal,
            version: None,
            has_path: true,
            default_features: false,
            features: Vec::new(),
        };
        Package {
            name: name.to_owned(),
            dependencies: uses.iter().map(dependency).collect(),
            ..Package::default()
        }
    }

    #[test]
    fn arrows_that_follow_from_others_are_left_out() {
        let members = [
            member("agcore-agent", &["agcore-chat", "agcore-llm", "serde"]),
            member("agcore-chat", &[]),
            member("agcore-llm", &["agcore-chat", "reqwest"]),
        ];
        let picture = render(&members);
        assert!(picture.contains("    agcore-agent --> agcore-llm\n"), "{picture}");
        assert!(picture.contains("    agcore-llm --> agcore-chat\n"), "{picture}");
        assert!(!picture.contains("agcore-agent --> agcore-chat"), "{picture}");
        assert!(
            picture.contains("| agcore-agent | agcore-chat, agcore-llm |  |\n"),
            "{picture}"
        );
        assert!(!picture.contains("serde"), "{picture}");
        assert!(
            picture.contains("| agcore-llm | agcore-chat | HTTP out |\n"),
            "{picture}"
        );
    }

    #[test]
    fn a_stale_picture_is_found() {
        assert_eq!(compare(Some("a"), "a"), []);
        assert!(compare(Some("b"), "a")[0].to_string().contains("not the graph"));
        assert!(compare(None, "a")[0].to_string().contains("no picture"));
    }
}
