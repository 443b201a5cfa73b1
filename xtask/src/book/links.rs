//! Links out of the documentation: in the book, they are text, because the repository is not beside it.

use std::path::{Component, Path, PathBuf};

use crate::source::markdown;

/// Returns a page of the book: links to pages outside of the book are replaced by their text, with the path in the repository.
///
/// `page` is relative to the folder `docs`, and `is_in_book` receives such paths.
pub(super) fn without_outside(page: &Path, text: &str, is_in_book: impl Fn(&Path) -> bool) -> String {
    let prose: Vec<usize> = markdown::prose(text).map(|(line, _)| line).collect();
    let mut result = String::with_capacity(text.len());
    // The text of a link may have several lines, but code has no links.
    let mut passage = String::new();
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if prose.binary_search(&number).is_ok() {
            passage.push_str(line);
        } else {
            result.push_str(&rewrite(page, &passage, &is_in_book));
            passage.clear();
            result.push_str(line);
        }
    }
    result + &rewrite(page, &passage, &is_in_book)
}

fn rewrite(page: &Path, passage: &str, is_in_book: &impl Fn(&Path) -> bool) -> String {
    let mut result = String::with_capacity(passage.len());
    let mut rest = passage;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((target, after)) = after.split_once(')') else {
            break;
        };
        result.push_str(before);
        rest = after;
        match (outside(page, target, is_in_book), opening(&result)) {
            (Some(path), Some(start)) => {
                let text = result.split_off(start)[1..].to_owned();
                result.push_str(&text);
                if !path
                    .file_name()
                    .is_some_and(|name| text.contains(&*name.to_string_lossy()))
                {
                    // Backslashes would not be a path of the repository.
                    let path = path.display().to_string().replace('\\', "/");
                    result.push_str(&format!(" (`{path}`)"));
                }
            }
            _ => result.push_str(&format!("]({target})")),
        }
    }
    result + rest
}

/// Returns the path in the repository if a link does not lead to a part of the book.
fn outside(page: &Path, target: &str, is_in_book: &impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let (path, _) = target.split_once('#').unwrap_or((target, ""));
    if path.is_empty() || path.contains(':') {
        return None;
    }
    let mut found = Path::new("docs").to_owned();
    found.extend(page.parent());
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            Component::Normal(name) => found.push(name),
            _ => {}
        }
    }
    match found.strip_prefix("docs") {
        Ok(inside) if is_in_book(inside) => None,
        _ => Some(found),
    }
}

/// Returns where the bracket is that the end of a text closes.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.bytes().enumerate().rev().find_map(|(index, byte)| {
        match byte {
            b'[' if depth == 0 => return Some(index),
            b'[' => depth -= 1,
            b']' => depth += 1,
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let pages = ["cli.md", "guide/tools.md", "images/a.png"].map(Path::new);
        let shown = without_outside(Path::new("guide/tools.md"), text, |path| pages.contains(&path));
        assert_eq!(shown, expected);
    }

    #[test]
    fn links_within_the_book_stay() {
        let text = "[a](../cli.md#x), [b](tools.md), ![c](../images/a.png), [d](https://example.com/e.rs), [f](#g)\n";
        check(text, text);
    }

    #[test]
    fn links_out_of_the_book_become_text() {
        check(
            "See [an example](../../examples/a.rs).\n",
            "See an example (`examples/a.rs`).\n",
        );
        check("See [`a.rs`](../../examples/a.rs).\n", "See `a.rs`.\n");
        check(
            "[two\nlines [1]](../decisions/) [x](gone.md)\n",
            "two\nlines [1] (`docs/decisions`) x (`docs/guide/gone.md`)\n",
        );
    }

    #[test]
    fn code_is_not_changed() {
        let text = "[a](../../b.rs)\n\n```rust\n[c](../../d.rs)\n```\n[not closed](\n";
        check(text, &text.replace("[a](../../b.rs)", "a (`b.rs`)"));
    }
}
