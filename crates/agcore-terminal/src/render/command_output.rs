//! [`CommandOutput`]: the last lines of a command that runs.

use agcore_chat::Progress;

use super::text::truncated;

/// The number of lines of the output that are shown.
const LINES: usize = 5;

/// The number of rows for these lines and the number of the others.
pub(super) const MAX_ROWS: usize = LINES + 1;

/// The last lines of the output of a command that runs, and how many there are in all.
#[derive(Debug)]
pub(super) struct CommandOutput {
    lines: Vec<String>,
    count: u64,
}

impl CommandOutput {
    /// Reads what the shell reports, if that is output.
    pub(super) fn of(progress: &Progress) -> Option<Self> {
        let lines: Vec<String> = progress.message.as_deref()?.split('\n').map(str::to_owned).collect();
        let known = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        // It is a whole number, and not negative.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the conversion saturates, and what is shown can only be wrong if the report is"
        )]
        let count = progress.done.map_or(known, |done| done as u64);
        Some(Self {
            lines,
            count: count.max(known),
        })
    }

    /// Returns the last lines, truncated to this width, and before them the number of the others: at most this many rows.
    pub(super) fn rows(&self, rows: usize, width: usize) -> Vec<String> {
        let last = |count: usize| &self.lines[self.lines.len().saturating_sub(count)..];
        let hidden = |shown: usize| self.count.saturating_sub(u64::try_from(shown).unwrap_or(u64::MAX));
        let fitting = last(rows.min(LINES));
        let (above, shown) = match hidden(fitting.len()) {
            0 => (None, fitting),
            _ if rows < 2 => (None, fitting),
            _ => {
                let shown = last((rows - 1).min(LINES));
                (Some(hidden(shown.len())), shown)
            }
        };
        let above = above.map(|count| match count {
            1 => "… 1 line above".to_owned(),
            count => format!("… {count} lines above"),
        });
        let lines = above.into_iter().chain(shown.iter().cloned());
        lines.map(|line| truncated(&line, width)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str, count: f64) -> CommandOutput {
        let mut progress = Progress::message(text);
        progress.done = Some(count);
        CommandOutput::of(&progress).unwrap()
    }

    #[test]
    fn the_last_lines_are_shown_and_the_others_counted() {
        let check = |text: &str, count: f64, rows: usize, expected: &[&str]| {
            assert_eq!(output(text, count).rows(rows, 20), expected, "{text} {count} {rows}");
        };
        check("a", 1.0, MAX_ROWS, &["a"]);
        check("a\nb\nc\nd\ne", 5.0, MAX_ROWS, &["a", "b", "c", "d", "e"]);
        check(
            "a\nb\nc\nd\ne",
            6.0,
            MAX_ROWS,
            &["… 1 line above", "a", "b", "c", "d", "e"],
        );
        check("a\nb\nc\nd\ne", 300.0, 3, &["… 298 lines above", "d", "e"]);
        check("a\nb\nc", 3.0, 2, &["… 2 lines above", "c"]);
        check("a\nb\nc", 3.0, 1, &["c"]);
        check("a\nb\nc", 3.0, 0, &[]);
        // Reports of other programs may be wrong.
        check("a\nb", -1.0, MAX_ROWS, &["a", "b"]);
        check("a\nb", f64::NAN, MAX_ROWS, &["a", "b"]);
        assert!(CommandOutput::of(&Progress::amount(1.0, None)).is_none());
    }

    #[test]
    fn lines_fit_and_cannot_control_the_terminal() {
        let rows = output("一二三四五六\n\u{1b}[2J\u{202e}a\tb", 2.0).rows(MAX_ROWS, 8);
        assert_eq!(rows, ["一二三…", "\u{fffd}[2J\u{fffd}a b"]);
    }
}
