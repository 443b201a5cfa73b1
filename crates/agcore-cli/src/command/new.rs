//! `agcore new`: writes a small project that depends on agcore.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use agcore_args::NewArgs;
use agcore_terminal::{process::shell_word, render::sanitized_line};
use serde_json::Value;

use crate::{exit::Failure, stdout::print};

/// The crates of agcore where this program was built.
const BUILT_AT: &str = env!("CARGO_MANIFEST_DIR");

/// The files that do not depend on the name.
const SOURCES: [(&str, &str); 4] = [
    ("src/main.rs", include_str!("../../templates/new/main.rs")),
    ("src/model.rs", include_str!("../../templates/new/model.rs")),
    ("src/word_count.rs", include_str!("../../templates/new/word_count.rs")),
    (".gitignore", "/target\n"),
];

const MANIFEST: &str = include_str!("../../templates/new/Cargo.toml.in");
const README: &str = include_str!("../../templates/new/README.md.in");

/// Names that cargo rejects or that clash with a dependency, beside the keywords of Rust.
const RESERVED: [&str; 10] = [
    "agcore",
    "alloc",
    "build",
    "core",
    "deps",
    "proc-macro",
    "serde_json",
    "std",
    "test",
    "tokio",
];

/// The keywords of Rust, which cannot be names of packages.
const KEYWORDS: [&str; 51] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while",
];

/// Runs `agcore new`.
///
/// # Errors
/// When the name is not that of a package, the directory contains files, or it cannot be written.
pub(crate) fn run(args: &NewArgs) -> Result<(), Failure> {
    check_name(&args.name).map_err(|problem| {
        Failure::usage(format!(
            "{:?} cannot be the name of a package: {problem}\nChoose another name, such as my-agent.",
            args.name
        ))
    })?;
    let directory = args.path.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let shown = sanitized_line(&directory.display().to_string());
    if has_entries(&directory).map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))? {
        return Err(Failure::usage(format!(
            "{shown} is not empty, and no file is overwritten\nPass another directory with --path."
        )));
    }
    write_project(&directory, &args.name).map_err(|error| Failure::task(format!("cannot write {shown}: {error}")))?;
    print(&format!(
        "{shown} is ready. Run it:\n\n  cd {}\n  cargo run\n",
        shell_word(&shown)
    ))
}

/// Checks the name by the rules of cargo.
fn check_name(name: &str) -> Result<(), String> {
    let Some(first) = name.chars().next() else {
        return Err("it is empty".to_owned());
    };
    if !first.is_ascii_alphabetic() {
        return Err("it must begin with a letter from a to z".to_owned());
    }
    if let Some(other) = name
        .chars()
        .find(|letter| !letter.is_ascii_alphanumeric() && !"-_".contains(*letter))
    {
        return Err(format!(
            "it contains {other:?}, and only letters from a to z, digits, - and _ are allowed"
        ));
    }
    if name.len() > 64 {
        return Err("it is longer than 64 characters".to_owned());
    }
    if KEYWORDS.contains(&name) {
        return Err("it is a keyword of Rust".to_owned());
    }
    if RESERVED.contains(&name) {
        return Err("a dependency or a directory of cargo has this name".to_owned());
    }
    Ok(())
}

/// Returns whether a directory exists and contains anything.
fn has_entries(directory: &Path) -> io::Result<bool> {
    match fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn write_project(directory: &Path, name: &str) -> io::Result<()> {
    fs::create_dir_all(directory.join("src"))?;
    let mut manifest = MANIFEST.replace("{name}", name).replace("{agcore}", &dependency());
    if is_below_manifest(directory)? {
        // Cargo would take the project for a forgotten member of the workspace above it.
        manifest.push_str("\n# Not a member of the workspace in a directory above.\n[workspace]\n");
    }
    let readme = README.replace("{name}", name).replace("{guide}", &guide());
    let files = SOURCES
        .into_iter()
        .chain([("Cargo.toml", manifest.as_str()), ("README.md", &readme)]);
    for (file, text) in files {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(directory.join(file))?;
        file.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Returns the directory of the facade from which this program was built, if it still exists.
fn checkout() -> Option<PathBuf> {
    let facade = Path::new(BUILT_AT).parent()?.join("agcore");
    facade.join("Cargo.toml").is_file().then_some(facade)
}

/// Returns the line of the manifest that depends on agcore.
fn dependency() -> String {
    let source = match checkout() {
        // A string of JSON is one of TOML, too.
        Some(path) => format!("path = {}", Value::from(path.display().to_string())),
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
    };
    format!("agcore = {{ {source}, features = [\"all-apis\"] }}")
}

/// Returns the address of the guide, in the checkout or online.
fn guide() -> String {
    let page = checkout().and_then(|facade| Some(facade.parent()?.parent()?.join("docs/guide/README.md")));
    match page.filter(|page| page.is_file()) {
        Some(page) => format!("<{}>", page.display()),
        None => "https://docs.rs/agcore".to_owned(),
    }
}

/// Returns whether a directory above has a manifest.
fn is_below_manifest(directory: &Path) -> io::Result<bool> {
    let directory = fs::canonicalize(directory)?;
    Ok(directory
        .ancestors()
        .skip(1)
        .any(|above| above.join("Cargo.toml").is_file()))
}
