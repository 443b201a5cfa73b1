//! Diffs: less context, and the start of very long changes.

use super::sheet::Sheet;

/// The number of lines of context that are kept on each side of a change.
const CONTEXT: usize = 1;

/// The largest number of changed lines of a file that are all kept.
const MAX_CHANGED: usize = 120;

/// The number of changed lines that are kept of a file with more, and of a file that a program writes.
const KEPT: (usize, usize) = (60, 4);

/// The ends of the names of files that programs write.
const GENERATED: [&str; 8] = [
    ".lock",
    "-lock.json",
    "-lock.yaml",
    ".min.js",
    ".min.css",
    ".map",
    ".snap",
    ".sum",
];

/// The part of a diff to which a line belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A header, or text before the diff.
    Head,
    Context,
    Changed,
}

/// Shortens a diff. Returns whether the text is one.
pub(super) fn shorten(sheet: &mut Sheet) -> bool {
    let starts = |start: &str| sheet.lines().any(|line| line.starts_with(start));
    if !(starts("@@ ") && starts("+++ ") && starts("--- ")) {
        return false;
    }
    let parts = parts(sheet);
    let context = sheet.note("context");
    let mut file = File::default();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Head => {
                if sheet.line(at).starts_with("diff ") || sheet.line(at).starts_with("--- ") {
                    file.end(sheet);
                    file = File::default();
                }
                if let Some(name) = sheet.line(at).strip_prefix("+++ ") {
                    let name = name.split('\t').next().unwrap_or(name).trim_end();
                    file.is_generated = GENERATED.iter().any(|end| name.ends_with(end));
                }
            }
            Part::Changed => file.changed.push(at),
            Part::Context => {
                let near = at.saturating_sub(CONTEXT)..=at + CONTEXT;
                if !near.into_iter().any(|at| parts.get(at) == Some(&Part::Changed)) {
                    sheet.leave(at, context);
                }
            }
        }
    }
    file.end(sheet);
    true
}

/// The changed lines of a file.
#[derive(Default)]
struct File {
    changed: Vec<usize>,
    is_generated: bool,
}

impl File {
    /// Leaves out the end of very long changes, once all are known.
    fn end(&self, sheet: &mut Sheet) {
        let (kept, max) = match self.is_generated {
            true => (KEPT.1, KEPT.1),
            false => (KEPT.0, MAX_CHANGED),
        };
        if self.changed.len() <= max {
            return;
        }
        let left = self.changed.get(kept..).unwrap_or_default();
        let added = left.iter().filter(|at| sheet.line(**at).starts_with('+')).count();
        let removed = left.len() - added;
        let (first, last) = (self.changed[kept], self.changed[self.changed.len() - 1]);
        let note = sheet.note(format!("{added} more lines added and {removed} removed in this file"));
        for at in first..=last {
            if !sheet.line(at).starts_with("@@ ") {
                sheet.leave(at, note);
            }
        }
    }
}

/// Assigns each line to a part. Only lines within the hunks of a file are context or changed.
fn parts(sheet: &Sheet) -> Vec<Part> {
    let mut left = (0_usize, 0_usize);
    let part = |(at, line): (usize, &str)| {
        // A hunk may have been cut off.
        if line.starts_with("diff --git ") || line.starts_with("--- ") && sheet.line(at + 1).starts_with("+++ ") {
            left = (0, 0);
        }
        if let Some(sizes) = hunk_sizes(line) {
            left = sizes;
            return Part::Head;
        }
        if left == (0, 0) {
            return Part::Head;
        }
        match line.as_bytes().first() {
            Some(b'+') => left.1 = left.1.saturating_sub(1),
            Some(b'-') => left.0 = left.0.saturating_sub(1),
            Some(b'\\') => return Part::Head,
            _ => {
                left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
                return Part::Context;
            }
        }
        Part::Changed
    };
    sheet.lines().enumerate().map(part).collect()
}

/// Returns the numbers of old and new lines of the hunk that a line begins.
fn hunk_sizes(line: &str) -> Option<(usize, usize)> {
    let (ranges, _) = line.strip_prefix("@@ ")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let size = |range: &str| match range.split_once(',') {
        Some((_, size)) => size.parse().ok(),
        None => Some(1),
    };
    Some((size(old.strip_prefix('-')?)?, size(new.strip_prefix('+')?)?))
}
