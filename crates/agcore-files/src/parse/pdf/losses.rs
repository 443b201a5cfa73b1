//! [`Losses`]: what of the text of a file could not be read.

use std::collections::BTreeSet;

use crate::{
    problem::{FileProblem, FileProblemKind},
    work::Work,
};

/// The number of pages that a message names.
const SHOWN_PAGES: usize = 5;

/// The parts of the text of a file that could not be read.
#[derive(Debug, Default)]
pub(super) struct Losses {
    known: usize,
    unknown: usize,
    /// The pages with characters that are not known.
    unknown_pages: BTreeSet<u32>,
    /// The pages of which only the beginning can be read.
    damaged_pages: BTreeSet<u32>,
}

impl Losses {
    /// Adds a page with the numbers of its known and unknown characters.
    pub(super) fn add(&mut self, page: u32, (known, unknown): (usize, usize), is_whole: bool) {
        self.known = self.known.saturating_add(known);
        self.unknown = self.unknown.saturating_add(unknown);
        if unknown > 0 {
            self.unknown_pages.insert(page);
        }
        if !is_whole {
            self.damaged_pages.insert(page);
        }
    }

    /// Returns whether there are characters, but none is known.
    pub(super) fn is_everything(&self) -> bool {
        self.known == 0 && self.unknown > 0
    }

    /// Returns what a user should know.
    pub(super) fn warnings(&self, work: &Work<'_>) -> Vec<FileProblem> {
        let mut warnings = Vec::new();
        let mut warn = |message: String| {
            warnings.push(FileProblem::new(work.name, FileProblemKind::Incomplete, message));
        };
        if self.unknown > 0 {
            let (unknown, all) = (self.unknown, self.unknown.saturating_add(self.known));
            let pages = listed(&self.unknown_pages);
            warn(format!(
                "its fonts do not say what {unknown} of its {all} characters are ({pages}), which are shown as \u{fffd}; \
                 recognize the text of these pages with another program if it matters"
            ));
        }
        if !self.damaged_pages.is_empty() {
            let pages = listed(&self.damaged_pages);
            warn(format!(
                "its content is damaged, and what follows the damage on a page is missing ({pages}); repair the file, or \
                 save it again with the program that made it"
            ));
        }
        warnings
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
