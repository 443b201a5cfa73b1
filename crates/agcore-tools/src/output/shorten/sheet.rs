//! [`Sheet`]: the lines of a text, each with the part of it that is shown.

/// The longest line of a text, in bytes. Longer ones are divided.
const MAX_LINE: usize = 1_000;

/// The longest line that is shown, in bytes.
const MAX_SHOWN: usize = 400;

/// The lines of a text, each with the part of it that is shown.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    lines: Vec<Line>,
    /// Why lines are left out.
    notes: Vec<String>,
}

#[derive(Debug)]
struct Line {
    text: String,
    shown: Shown,
}

#[derive(Debug, Clone, PartialEq)]
enum Shown {
    Whole,
    /// Another text in place of the line.
    Other(String),
    /// Nothing, for the reason with this number. Neighbors with the same reason share a note.
    Left(usize),
    /// Nothing, and no note: the line has no content.
    Nothing,
}

impl Sheet {
    /// Divides a text.
    pub(super) fn of(text: &str) -> Self {
        let mut sheet = Self::default();
        for line in text.lines() {
            let mut rest = line;
            while rest.len() > MAX_LINE {
                let (piece, behind) = rest.split_at(break_of(rest));
                sheet.push(piece);
                rest = behind;
            }
            sheet.push(rest);
        }
        sheet
    }

    pub(super) fn push(&mut self, line: impl Into<String>) {
        self.lines.push(Line {
            text: line.into(),
            shown: Shown::Whole,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn line(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", |line| &line.text)
    }

    pub(super) fn lines(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.lines.iter().map(|line| line.text.as_str())
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines.into_iter().map(|line| line.text).collect()
    }

    /// Adds a reason to leave lines out, and returns its number.
    pub(super) fn note(&mut self, note: impl Into<String>) -> usize {
        self.notes.push(note.into());
        self.notes.len() - 1
    }

    /// Changes a reason.
    pub(super) fn set_note(&mut self, number: usize, note: String) {
        if let Some(known) = self.notes.get_mut(number) {
            *known = note;
        }
    }

    /// Leaves a line out.
    pub(super) fn leave(&mut self, at: usize, note: usize) {
        self.set(at, Shown::Left(note));
    }

    /// Shows another text in place of a line; nothing if it is empty.
    pub(super) fn show(&mut self, at: usize, text: String) {
        self.set(
            at,
            if text.is_empty() {
                Shown::Nothing
            } else {
                Shown::Other(text)
            },
        );
    }

    fn set(&mut self, at: usize, shown: Shown) {
        if let Some(line) = self.lines.get_mut(at) {
            line.shown = shown;
        }
    }

    /// Returns the text that is shown.
    pub(super) fn render(&self) -> String {
        let (mut text, mut at) = (String::new(), 0);
        while let Some(line) = self.lines.get(at) {
            let mut end = at + 1;
            match &line.shown {
                Shown::Whole => add(&mut text, &line.text, at),
                Shown::Other(other) => add(&mut text, other, at),
                Shown::Nothing => {}
                Shown::Left(note) => {
                    while self.lines.get(end).is_some_and(|next| next.shown == line.shown) {
                        end += 1;
                    }
                    let note = self.notes.get(*note).map_or("", String::as_str);
                    let range = match end - at {
                        1 => format!("line {end}"),
                        _ => format!("lines {}-{end}", at + 1),
                    };
                    add(&mut text, &format!("[{range} left out: {note}]"), at);
                }
            }
            at = end;
        }
        text
    }
}

/// Adds a line, shortened if it is very long.
fn add(text: &mut String, line: &str, at: usize) {
    if !text.is_empty() {
        text.push('\n');
    }
    if line.len() <= MAX_SHOWN + 40 {
        text.push_str(line);
        return;
    }
    let start = agcore_chat::text::prefix(line, MAX_SHOWN);
    text.push_str(start);
    text.push_str(&format!(
        "… [the rest of line {}, {} bytes]",
        at + 1,
        line.len() - start.len()
    ));
}

/// Returns where a long line is divided: behind a bracket, comma or space, if there is one.
fn break_of(line: &str) -> usize {
    let piece = agcore_chat::text::prefix(line, MAX_LINE);
    let breaks = ['>', '}', ']', ',', ';', ' '];
    let found = piece.rfind(breaks).filter(|at| *at > MAX_LINE / 2);
    // All of these are single bytes. A line never begins with a character that is longer than a piece.
    found.map_or(piece.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_divided_without_loss() {
        for text in [
            "é".repeat(3_000),
            "<p>a</p> ".repeat(900),
            "x".repeat(MAX_LINE),
            String::new(),
        ] {
            let sheet = Sheet::of(&text);
            assert!(sheet.lines().all(|line| line.len() <= MAX_LINE), "{text}");
            assert_eq!(sheet.into_lines().concat(), text);
        }
    }

    #[test]
    fn neighbors_share_a_note() {
        let mut sheet = Sheet::of("a\nb\nc\nd\ne");
        let (one, other) = (sheet.note("one"), sheet.note("other"));
        for at in [1, 2] {
            sheet.leave(at, one);
        }
        sheet.leave(3, other);
        assert_eq!(
            sheet.render(),
            "a\n[lines 2-3 left out: one]\n[line 4 left out: other]\ne"
        );
        sheet.show(0, "A".repeat(500));
        assert!(
            sheet
                .render()
                .starts_with(&format!("{}… [the rest of line 1, 100 bytes]", "A".repeat(400)))
        );
    }
}
