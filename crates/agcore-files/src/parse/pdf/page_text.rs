//! [`PageText`]: puts the texts of a page into lines and paragraphs by their positions.

/// The largest distance of two texts on the same line, in parts of the font size.
const SAME_LINE: f32 = 0.4;

/// The largest distance of two lines of the same paragraph, in parts of the font size.
const SAME_PARAGRAPH: f32 = 1.75;

/// The largest difference of the font sizes of two lines of the same paragraph, in parts of the larger one.
const SAME_SIZE: f32 = 0.15;

/// The smallest gap that is a space, in parts of the font size.
const SPACE: f32 = 0.18;

/// A text with its place on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) x: f32,
    pub(super) y: f32,
    /// The width of the text, in the unit of `x`.
    pub(super) width: f32,
    /// The font size, in the unit of `y`.
    pub(super) size: f32,
}

/// The text of a page. Texts are kept in the order in which they are drawn, which is the order of reading in almost all files.
#[derive(Debug, Default)]
pub(super) struct PageText {
    text: String,
    last: Option<Placed>,
}

impl PageText {
    /// Adds a text.
    pub(super) fn push(&mut self, text: &str, place: Placed) {
        if text.is_empty() {
            return;
        }
        if let Some(last) = self.last {
            self.separate(last, place);
        }
        self.text
            .extend(text.chars().filter(|char| !char.is_control() || *char == '\t'));
        self.last = Some(place);
    }

    /// Returns the text, with blank lines between paragraphs.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn separate(&mut self, last: Placed, place: Placed) {
        let size = last.size.max(place.size).max(f32::MIN_POSITIVE);
        // Lines go down, and `y` goes up.
        let down = (last.y - place.y) / size;
        let gap = (place.x - last.x - last.width) / size;
        if down.abs() > SAME_LINE {
            // A heading is larger than the paragraph below it.
            let is_same_size = (last.size - place.size).abs() <= SAME_SIZE * size;
            let is_next_line = is_same_size && (0.0..=SAME_PARAGRAPH).contains(&down);
            self.text.push_str(if is_next_line { "\n" } else { "\n\n" });
        } else if !self.text.ends_with(char::is_whitespace) && (gap > SPACE || place.x < last.x) {
            self.text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[(&str, f32, f32)], expected: &str) {
        let mut page = PageText::default();
        for &(text, x, y) in texts {
            let width = 5.0 * text.len() as f32;
            page.push(
                text,
                Placed {
                    x,
                    y,
                    width,
                    size: 10.0,
                },
            );
        }
        assert_eq!(page.into_text(), expected);
    }

    #[test]
    fn texts_become_words_lines_and_paragraphs() {
        check(&[("a", 0.0, 100.0), ("b", 5.0, 100.0)], "ab");
        check(&[("a", 0.0, 100.0), ("b", 8.0, 100.0)], "a b");
        check(&[("a", 0.0, 100.0), ("2", 5.0, 103.0)], "a2");
        check(&[("a", 0.0, 100.0), ("b", 0.0, 88.0)], "a\nb");
        check(&[("a", 0.0, 100.0), ("b", 0.0, 70.0)], "a\n\nb");
        check(&[("end", 0.0, 100.0), ("top", 200.0, 700.0)], "end\n\ntop");
        check(&[("", 0.0, 0.0)], "");
    }
}
