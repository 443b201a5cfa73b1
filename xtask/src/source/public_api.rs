//! The public API of a library, read from its sources: everything that is reachable from its root.
//!
//! Items that macros generate are not visible, but a call whose arguments declare public items is listed itself.

mod entry;
mod tokens;
mod signature;
mod exports;
mod items;
mod implementations;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::TargetKind;

use crate::source::module_tree::ModuleTree;
use crate::workspace::{Package, Workspace};

pub(crate) use entry::Entry;

/// The APIs of all libraries in `crates/`, read when they are first needed.
pub(crate) struct Apis<'a> {
    workspace: &'a Workspace,
    libraries: OnceCell<Vec<Library>>,
}

/// A library with its API.
#[derive(Debug)]
pub(crate) struct Library {
    /// The name of the package.
    pub(crate) name: String,
    pub(crate) entries: Vec<Entry>,
}

impl<'a> Apis<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            libraries: OnceCell::new(),
        }
    }

    /// Returns the libraries, sorted by name.
    ///
    /// # Errors
    ///
    /// Returns an error if a file does not parse.
    pub(crate) fn libraries(&self) -> anyhow::Result<&[Library]> {
        if let Some(libraries) = self.libraries.get() {
            return Ok(libraries);
        }
        let members = self.workspace.members.iter();
        let libraries = members.filter(|member| member.manifest.starts_with("crates/"));
        let libraries = libraries.filter(|member| member.is_library()).map(|member| {
            Ok(Library {
                name: member.name.clone(),
                entries: of(member)?,
            })
        });
        let libraries = libraries.collect::<anyhow::Result<_>>()?;
        Ok(self.libraries.get_or_init(|| libraries))
    }
}

/// Returns the API of one library, sorted by path.
fn of(package: &Package) -> anyhow::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let read = |path: &Path| fs::read_to_string(path).ok();
    for kind in [TargetKind::Lib, TargetKind::ProcMacro] {
        for target in package.targets_of(kind) {
            let tree = ModuleTree::read(&target.source, &read)?;
            entries.extend(from_tree(&target.name, &tree, package));
        }
    }
    Ok(entries)
}

fn from_tree(crate_name: &str, tree: &ModuleTree, package: &Package) -> Vec<Entry> {
    let dependencies: BTreeSet<String> = package
        .dependencies
        .iter()
        .map(|dependency| dependency.name.replace('-', "_"))
        .collect();
    let exports = exports::collect(tree, crate_name);
    let mut entries = items::entries(tree, &exports, &dependencies);
    entries.sort();
    entries.dedup();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Kind};

    fn api(files: &[(&str, &str)]) -> Vec<Entry> {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        let tree = ModuleTree::read(Path::new("lib.rs"), &read).unwrap();
        let dependency = |name: &str| Dependency {
            name: name.to_owned(),
            kind: Kind::Normal,
            version: None,
            has_path: false,
            default_features: false,
            features: Vec::new(),
        };
        let package = Package {
            dependencies: ["bytes", "serde-json"].map(dependency).to_vec(),
            ..Package::default()
        };
        from_tree("a", &tree, &package)
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let entries = api(files);
        let texts: Vec<_> = entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[track_caller]
    fn check_root(source: &str, expected: &[&str]) {
        check(&[("lib.rs", source)], expected);
    }

    #[test]
    fn lists_what_is_reachable_from_the_root() {
        check(
            &[
                (
                    "lib.rs",
                    "mod usage; pub mod wire; pub use usage::Usage; fn private() {}",
                ),
                ("usage.rs", "pub struct Usage; pub struct Hidden; pub(crate) fn f() {}"),
                ("wire.rs", "mod chat; pub use self::chat::{encode, decode as read};"),
                ("wire/chat.rs", "pub fn encode() {} pub fn decode(mut bytes: &[u8],) {}"),
            ],
            &[
                "struct a::Usage",
                "mod a::wire",
                "fn a::wire::encode()",
                "fn a::wire::read(bytes: &[u8])",
            ],
        );
    }

    #[test]
    fn lists_the_public_parts_of_types() {
        check_root(
            "#[non_exhaustive] #[derive(Debug, Clone)] pub struct S<T> { pub a: Vec<T>, b: u8 }\n\
             pub struct P(pub u8, u8);\n\
             pub enum E { A, #[doc(hidden)] H, B(u8), C { x: u8 } }",
            &[
                "enum a::E",
                "a::E::A",
                "a::E::B(u8)",
                "a::E::C { x: u8 }",
                "struct a::P(pub u8, _)",
                "#[derive(Clone, Debug)] #[non_exhaustive] struct a::S<T> { .. }",
                "a::S::a: Vec<T>",
            ],
        );
    }

    #[test]
    fn lists_methods_and_implementations() {
        check_root(
            "pub struct S; struct Private;\n\
             impl S { pub const N: usize = 1; pub async fn run(&self) {} fn own(&self) {} }\n\
             impl<'a> From<&'a str> for S { fn from(_: &'a str) -> S { S } }\n\
             impl Clone for Private { fn clone(&self) -> Self { Private } }\n\
             impl From<S> for String { fn from(_: S) -> String { String::new() } }",
            &[
                "struct a::S",
                "impl From<S> for String",
                "impl<'a> From<&'a str> for a::S",
                "const a::S::N: usize",
                "async fn a::S::run(&self)",
            ],
        );
    }

    #[test]
    fn lists_the_items_of_traits() {
        check_root(
            "pub trait Tool: Send + Sync { type Out; const N: u8 = 1; fn run(&self) -> Self::Out; fn name(&self) -> String { f() } }\n\
             impl<T: Tool> Tool for Box<T> {}",
            &[
                "trait a::Tool: Send + Sync",
                "impl<T: Tool> a::Tool for Box<T>",
                "const a::Tool::N: u8 (provided)",
                "type a::Tool::Out",
                "fn a::Tool::name(&self) -> String (provided)",
                "fn a::Tool::run(&self) -> Self::Out",
            ],
        );
    }

    #[test]
    fn a_second_path_is_listed_as_a_re_export() {
        check_root(
            "pub mod error { pub struct Error; impl Error { pub fn kind(&self) {} } } pub use error::Error;",
            &[
                "struct a::Error",
                "fn a::Error::kind(&self)",
                "mod a::error",
                "use a::Error as a::error::Error",
            ],
        );
    }

    #[test]
    fn conditions_and_foreign_items_are_part_of_an_entry() {
        check_root(
            "#[cfg(feature = \"http\")] pub mod http { pub fn get() {} }\n\
             pub use serde_json::Value; #[doc(hidden)] pub mod internal { pub fn f() {} }\n\
             #[cfg(test)] pub fn helper() {} #[macro_export] macro_rules! m { () => {} }",
            &[
                "use serde_json::Value as a::Value",
                "#[cfg(feature = \"http\")] mod a::http",
                "#[cfg(feature = \"http\")] fn a::http::get()",
                "macro a::m!",
            ],
        );
    }

    #[test]
    fn finds_the_external_crates_in_signatures() {
        let entries = api(&[(
            "lib.rs",
            "use bytes::Bytes; use std::fmt; pub fn f<T: fmt::Debug>(a: &Bytes) -> Option<serde_json::Value> { g() }",
        )]);
        let crates: Vec<_> = entries[0].crates.iter().map(String::as_str).collect();
        assert_eq!(crates, ["bytes", "serde_json"]);
    }
}
