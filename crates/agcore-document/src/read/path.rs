//! [`Path`]: the way from the document to a value.

/// The way from the document to a value, from the inside to the outside.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Item(&'p Path<'p>, usize),
    Member(&'p Path<'p>, &'p str),
}

/// The number of characters of a name that are shown.
const SHOWN_CHARS: usize = 64;

impl Path<'_> {
    /// Returns the path as a text, such as `cases[0].expect`.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Item(outer, index) => format!("{}[{index}]", outer.text()),
            Self::Member(outer, name) => {
                let mut text = outer.text();
                if !text.is_empty() {
                    text.push('.');
                }
                text.extend(name.chars().take(SHOWN_CHARS).flat_map(char::escape_debug));
                text
            }
        }
    }
}
