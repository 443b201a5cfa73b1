//! [`Losses`]: what of the text of a file could not be read.

use std::collections::BTreeSet;

use super::text_state::Counts;
use crate::{
    problem::{FileProblem, FileProblemKind},
    work::Work,
};

/// The number of forms in forms that are read. Forms can contain themselves.
pub(super) const MAX_FORM_DEPTH: usize = 12;

/// The number of pages that a message names.
const SHOWN_PAGES: usize = 5;

/// Damage to the content of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Damage {
    /// Whether only the beginning can be read.
    pub(super) is_cut: bool,
    /// Whether there are forms in too many others.
    pub(super) is_too_deep: bool,
}

/// The parts of the text of a file that could not be read.
#[derive(Debug, Default)]
pub(super) struct Losses {
    codes: usize,
    unknown: usize,
    /// The pages with characters that are not known.
    unknown_pages: BTreeSet<u32>,
    /// The pages whose text is invisible.
    invisible_pages: BTreeSet<u32>,
    /// The pages that are cut off: only the beginning can be read.
    cut_pages: BTreeSet<u32>,
    /// The pages with forms in too many others.
    deep_pages: BTreeSet<u32>,
    /// The number of pages that the file should have, and the number of those that are found.
    missing: Option<(usize, usize)>,
}

impl Losses {
    /// Adds a page with the numbers of its characters.
    pub(super) fn add(&mut self, page: u32, counts: Counts, damage: Damage) {
        self.codes = self.codes.saturating_add(counts.codes);
        self.unknown = self.unknown.saturating_add(counts.unknown);
        for (is_affected, pages) in [
            (counts.unknown > 0, &mut self.unknown_pages),
            (counts.invisible > counts.shown / 2, &mut self.invisible_pages),
            (damage.is_cut, &mut self.cut_pages),
            (damage.is_too_deep, &mut self.deep_pages),
        ] {
            if is_affected {
                pages.insert(page);
            }
        }
    }

    /// Adds that pages are missing.
    pub(super) fn add_missing(&mut self, expected: usize, found: usize) {
        self.missing = Some((expected, found));
    }

    /// Returns whether there are characters, but none is known.
    pub(super) fn is_everything(&self) -> bool {
        self.unknown > 0 && self.unknown == self.codes
    }

    /// Returns what a user should know.
    pub(super) fn warnings(&self, work: &Work<'_>) -> Vec<FileProblem> {
        let mut messages = Vec::new();
        if let Some((expected, found)) = self.missing {
            messages.push(format!(
                "only {found} of its {expected} pages are found; repair the file, or save it again with the program that \
                 made it"
            ));
        }
        if self.unknown > 0 {
            let (unknown, codes, pages) = (self.unknown, self.codes, listed(&self.unknown_pages));
            messages.push(format!(
                "its fonts do not say what {unknown} of its {codes} characters are ({pages}), which are shown as \u{fffd}; \
                 recognize the text of these pages with another program if it matters"
            ));
        }
        if !self.invisible_pages.is_empty() {
            let pages = listed(&self.invisible_pages);
            messages.push(format!(
                "its text is invisible ({pages}), as programs that recognize text in pictures write it, and can have gaps and \
                 wrong characters; compare it with the pictures if it matters"
            ));
        }
        if !self.cut_pages.is_empty() {
            let pages = listed(&self.cut_pages);
            messages.push(format!(
                "its content is damaged, and what follows the damage on a page is missing ({pages}); repair the file, or \
                 save it again with the program that made it"
            ));
        }
        if !self.deep_pages.is_empty() {
            let pages = listed(&self.deep_pages);
            messages.push(format!(
                "parts of its pages are in more than {MAX_FORM_DEPTH} others, and left out ({pages}); print the file to a new \
                 one"
            ));
        }
        let warning = |message| FileProblem::new(work.name, FileProblemKind::Incomplete, message);
        messages.into_iter().map(warning).collect()
    }
}

fn listed(pages: &BTreeSet<u32>) -> String {
    let shown: Vec<String> = pages.iter().take(SHOWN_PAGES).map(u32::to_string).collect();
    let word = if pages.len() == 1 { "page" } else { "pages" };
    let more = match pages.len().saturating_sub(SHOWN_PAGES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} {}{more}", shown.join(", "))
}
