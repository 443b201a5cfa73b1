//! The target that the program is built for: a static one, if this machine can build it.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::process::{self, Cargo};
use crate::workspace::Workspace;

/// The target of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) triple: String,
    /// Whether it is the target of the compiler itself.
    pub(super) is_host: bool,
    /// The variable that names the compiler for C code, and the compiler.
    pub(super) compiler: Option<(String, PathBuf)>,
    /// Why the program is not static.
    pub(super) skipped: Option<String>,
}

/// Chooses the target with musl, on which programs are static, or the host.
pub(super) fn choose(workspace: &Workspace) -> anyhow::Result<Choice> {
    let host = host(&workspace.cargo)?;
    let wanted = musl(&host);
    let compiler = |triple: &str| {
        let names = ["musl-gcc".to_owned(), format!("{}-gcc", triple.replace("-unknown", ""))];
        find(&names, std::env::var_os("PATH"))
    };
    let found = match &wanted {
        Some(triple) => Found {
            has_library: workspace.cargo.has_library(triple)?,
            compiler: compiler(triple),
        },
        None => Found::default(),
    };
    Ok(decide(&host, wanted, found))
}

/// The parts that this machine has for the static target.
#[derive(Debug, Default)]
struct Found {
    /// Whether the standard library is installed.
    has_library: bool,
    compiler: Option<PathBuf>,
}

fn decide(host: &str, wanted: Option<String>, found: Found) -> Choice {
    let of_host = |skipped: Option<String>| Choice {
        triple: host.to_owned(),
        is_host: true,
        compiler: None,
        skipped,
    };
    let Some(triple) = wanted else {
        let reason = "the static program, which only targets with Linux have";
        return of_host((!host.contains("linux")).then(|| reason.to_owned()));
    };
    let reason = match (found.has_library, found.compiler) {
        (true, Some(compiler)) => {
            let variable = format!("CC_{}", triple.replace('-', "_"));
            return Choice {
                triple,
                is_host: false,
                compiler: Some((variable, compiler)),
                skipped: None,
            };
        }
        (false, _) => format!("the static program: `rustup target add {triple}` installs its standard library"),
        (true, None) => "the static program: musl-gcc, which compiles its C code, is not installed".to_owned(),
    };
    of_host(Some(format!(
        "{reason}; the program needs the C library of this machine, or a newer one"
    )))
}

/// Returns the target with musl for a host with Linux, unless it is one.
fn musl(host: &str) -> Option<String> {
    let (start, _) = host.split_once("-linux-gnu")?;
    Some(format!("{start}-linux-musl"))
}

fn host(cargo: &Cargo) -> anyhow::Result<String> {
    let text = process::stdout(&mut cargo.tool("rustc".as_ref(), ["-vV"]))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` names no host")
}

/// Returns the first program with one of these names in the folders of a path.
fn find(names: &[String], path: Option<OsString>) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&path?).collect();
    let mut programs = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "x86_64-unknown-linux-gnu";

    fn decided(has_library: bool, compiler: Option<&str>) -> Choice {
        let compiler = compiler.map(PathBuf::from);
        decide(HOST, musl(HOST), Found { has_library, compiler })
    }

    #[test]
    fn a_static_program_is_built_if_everything_is_there() {
        let choice = decided(true, Some("/usr/bin/musl-gcc"));
        assert_eq!(choice.triple, "x86_64-unknown-linux-musl");
        assert_eq!(choice.compiler.unwrap().0, "CC_x86_64_unknown_linux_musl");
        assert_eq!((choice.is_host, choice.skipped), (false, None));
    }

    #[test]
    fn what_is_missing_is_named() {
        let reason = |choice: Choice| {
            assert_eq!((choice.triple.as_str(), choice.is_host), (HOST, true));
            choice.skipped.unwrap()
        };
        assert!(reason(decided(false, Some("cc"))).contains("rustup target add x86_64-unknown-linux-musl"));
        assert!(reason(decided(true, None)).contains("musl-gcc"));
    }

    #[test]
    fn other_hosts_build_for_themselves() {
        assert_eq!(musl("aarch64-apple-darwin"), None);
        assert_eq!(musl("x86_64-unknown-linux-musl"), None);
        let mac = decide("aarch64-apple-darwin", None, Found::default());
        assert!(mac.is_host && mac.skipped.is_some());
        let static_host = decide("x86_64-unknown-linux-musl", None, Found::default());
        assert!(static_host.is_host && static_host.skipped.is_none());
    }

    #[test]
    fn programs_are_found_in_the_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("musl-gcc"), "").unwrap();
        let path = std::env::join_paths([folder.path()]).unwrap();
        let names = ["none".to_owned(), "musl-gcc".to_owned()];
        assert_eq!(find(&names, Some(path)), Some(folder.path().join("musl-gcc")));
        assert_eq!(find(&names, None), None);
    }
}
