//! The links of the finished book.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;

/// Pages that mdBook writes and whose links do not start in their own folder.
const OF_MDBOOK: [&str; 3] = ["404.html", "print.html", "toc.html"];

const HREF: &str = " href=\"";
const SRC: &str = " src=\"";
const ID: &str = " id=\"";

/// Returns a line for each link to a file or a heading that does not exist.
pub(super) fn broken_links(book: &Path) -> anyhow::Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read(book, Path::new(""), &mut pages)?;
    let mut broken = Vec::new();
    for (page, text) in &pages {
        if OF_MDBOOK.iter().any(|name| page == Path::new(name)) {
            continue;
        }
        let links: BTreeSet<&str> = values(text, HREF).chain(values(text, SRC)).collect();
        for link in links {
            if !exists(book, &pages, page, link) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    Ok(broken)
}

/// Reads all pages, with paths relative to the book.
fn read(book: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> anyhow::Result<()> {
    let absolute = book.join(folder);
    for entry in fs::read_dir(&absolute).with_context(|| format!("cannot read {}", absolute.display()))? {
        let path = folder.join(entry?.file_name());
        if book.join(&path).is_dir() {
            read(book, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text =
                fs::read_to_string(book.join(&path)).with_context(|| format!("cannot read {}", path.display()))?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// Returns the values of an attribute, which is given with all that is before a value.
fn values<'a>(text: &'a str, attribute: &'static str) -> impl Iterator<Item = &'a str> {
    let pieces = text.split(attribute).skip(1);
    pieces.filter_map(|piece| Some(piece.split_once('"')?.0))
}

fn exists(book: &Path, pages: &BTreeMap<PathBuf, String>, page: &Path, link: &str) -> bool {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    if path.contains(':') || path.starts_with("//") {
        return true;
    }
    let mut found = match path {
        "" => page.to_owned(),
        _ => page.parent().unwrap_or(Path::new("")).to_owned(),
    };
    for part in Path::new(path).components() {
        match part {
            // A link out of the book.
            Component::ParentDir if !found.pop() => return false,
            Component::ParentDir => {}
            Component::Normal(name) => found.push(name),
            _ => {}
        }
    }
    match pages.get(&found) {
        Some(text) => heading.is_empty() || values(text, ID).any(|id| id == decoded(heading)),
        None => book.join(&found).is_file(),
    }
}

/// Decodes the percent signs of a heading, such as those of Chinese ones.
fn decoded(heading: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = heading.bytes();
    while let Some(byte) = rest.next() {
        let digits = (byte == b'%').then(|| heading.as_bytes().get(heading.len() - rest.len()..)?.get(..2));
        let code = digits
            .flatten()
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        if code.is_some() {
            rest.nth(1);
        }
        bytes.push(code.unwrap_or(byte));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_to_missing_files_and_headings() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path();
        fs::create_dir(book.join("guide")).unwrap();
        fs::write(book.join("a.css"), "").unwrap();
        fs::write(
            book.join("cli.html"),
            "<h2 id=\"inside\"></h2><h2 id=\"options\"></h2><h2 id=\"选项\"></h2>",
        )
        .unwrap();
        let page = "<a href=\"../cli.html#inside\"></a><a href=\"../cli.html#options\"></a><a href=\"../cli.html#%E9%80%89%E9%A1%B9\"></a><img src=\"../a.css\">\
                    <a href=\"https://example.com/x.html\"></a><a href=\"#here\" id=\"here\"></a>\
                    <a href=\"../cli.html#none\"></a><a href=\"gone.html\"></a><a href=\"../../out.rs\"></a>";
        fs::write(book.join("guide/a.html"), page).unwrap();
        let page = Path::new("guide").join("a.html").display().to_string();
        let expected = ["../../out.rs", "../cli.html#none", "gone.html"].map(|link| format!("{page}: {link}"));
        assert_eq!(broken_links(book).unwrap(), expected);
        assert!(broken_links(&book.join("none")).is_err());
    }
}
