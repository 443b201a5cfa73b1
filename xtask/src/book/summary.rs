//! The list of chapters: the guide in the order of its first page, translations, and the reference.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The folder with the decisions.
const DECISIONS: &str = "decisions";

/// The end of the names of translated pages.
const CHINESE: &str = ".zh-CN.md";

/// Returns the list of chapters for a folder with documentation.
///
/// # Errors
/// When a page cannot be read, or a chapter of the guide is not in the list on its first page.
pub(super) fn of(docs: &Path) -> anyhow::Result<String> {
    let guide = docs.join("guide");
    let first = fs::read_to_string(guide.join("README.md")).context("cannot read the first page of the guide")?;
    let chapters = linked(&first);
    let pages = pages(&guide)?;
    let mut text = "# Summary\n\n[agcore](index.md)\n[Guide](guide/README.md)\n\n# Guide\n\n".to_owned();
    for name in &chapters {
        let title = title(&guide.join(name))?;
        text.push_str(&format!("- [{title}](guide/{name})\n"));
    }
    for name in pages
        .iter()
        .filter(|name| !name.ends_with(CHINESE) && *name != "README.md")
    {
        anyhow::ensure!(chapters.contains(name), "docs/guide/README.md has no link to {name}");
    }
    let translated: Vec<&String> = chapters_with(&pages, &chapters);
    if !translated.is_empty() {
        text.push_str("\n# 中文\n\n");
    }
    for name in translated {
        let title = title(&guide.join(name))?;
        text.push_str(&format!("- [{title}](guide/{name})\n"));
    }
    text.push_str("\n# Reference\n\n");
    for name in self::pages(docs)? {
        let title = title(&docs.join(&name))?;
        text.push_str(&format!("- [{title}]({name})\n"));
    }
    let decisions = pages_if_any(&docs.join(DECISIONS))?;
    if !decisions.is_empty() {
        text.push_str("\n# Decisions\n\n");
    }
    for name in decisions {
        let title = title(&docs.join(DECISIONS).join(&name))?;
        text.push_str(&format!("- [{title}]({DECISIONS}/{name})\n"));
    }
    Ok(text)
}

/// Returns the pages of the book, relative to the folder with the documentation.
pub(super) fn pages_of(docs: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for folder in ["", "guide", DECISIONS] {
        let names = pages_if_any(&docs.join(folder))?;
        all.extend(names.iter().map(|name| Path::new(folder).join(name)));
    }
    Ok(all)
}

fn pages_if_any(folder: &Path) -> anyhow::Result<Vec<String>> {
    if folder.is_dir() { pages(folder) } else { Ok(Vec::new()) }
}

/// Returns the pages in this folder that a text links to, in order, each once.
fn linked(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in text.split("](").skip(1) {
        let Some((name, _)) = piece.split_once(')') else {
            continue;
        };
        if name.ends_with(".md") && !name.contains('/') && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns the translated pages in the order of the chapters.
fn chapters_with<'a>(pages: &'a [String], chapters: &[String]) -> Vec<&'a String> {
    let translation = |chapter: &String| chapter.trim_end_matches(".md").to_owned() + CHINESE;
    let names = chapters.iter().map(translation);
    names
        .filter_map(|name| pages.iter().find(|page| **page == name))
        .collect()
}

/// Returns the names of the Markdown files in a folder, sorted.
fn pages(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the title of a page: its first heading.
fn title(path: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let title = text.lines().find_map(|line| line.strip_prefix("# "));
    let title = title.with_context(|| format!("{} has no title", path.display()))?;
    Ok(title.trim().replace(['[', ']'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(pages: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("guide")).unwrap();
        fs::create_dir(folder.path().join(DECISIONS)).unwrap();
        for (name, text) in pages {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn chapters_have_the_order_of_the_first_page() {
        let docs = docs(&[
            (
                "guide/README.md",
                "# Guide\n\n[B](b.md) [A](a.md) [B](b.md) [x](../cli.md) [y](https://example.com/c.md)\n",
            ),
            ("guide/a.md", "# First [1]\n"),
            ("guide/b.md", "text\n# Second\n"),
            ("guide/a.zh-CN.md", "# 第一\n"),
            ("cli.md", "# The command line\n"),
            ("decisions/0001-a.md", "# 1. A\n"),
        ]);
        let expected = "# Summary\n\n[agcore](index.md)\n[Guide](guide/README.md)\n\n# Guide\n\n- [Second](guide/b.md)\n- [First 1](guide/a.md)\n\n# \
                        中文\n\n- [第一](guide/a.zh-CN.md)\n\n# Reference\n\n- [The command line](cli.md)\n\n# Decisions\n\n- [1. A](decisions/0001-a.md)\n";
        assert_eq!(of(docs.path()).unwrap(), expected);
    }

    #[test]
    fn a_chapter_that_is_not_listed_is_an_error() {
        let unlisted = docs(&[("guide/README.md", "# Guide\n"), ("guide/a.md", "# A\n")]);
        assert!(of(unlisted.path()).unwrap_err().to_string().contains("no link to a.md"));
        let missing = docs(&[("guide/README.md", "# Guide\n[A](a.md)\n")]);
        assert!(of(missing.path()).unwrap_err().to_string().contains("a.md"));
        let untitled = docs(&[("guide/README.md", "# Guide\n[A](a.md)\n"), ("guide/a.md", "text\n")]);
        assert!(of(untitled.path()).unwrap_err().to_string().contains("has no title"));
    }
}
