//! [`error_chain`]: an error and its sources on one line.

use std::error::Error;

/// Returns an error followed by its sources. A source that the text already contains is left out.
///
/// ```
/// use std::{error::Error, fmt, io};
/// use agcore_chat::text::error_chain;
///
/// #[derive(Debug)]
/// struct Unreachable(io::Error);
///
/// impl fmt::Display for Unreachable {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("is the server running?")
///     }
/// }
///
/// impl Error for Unreachable {
///     fn source(&self) -> Option<&(dyn Error + 'static)> {
///         Some(&self.0)
///     }
/// }
///
/// let error = Unreachable(io::Error::other("connection refused"));
/// assert_eq!(error_chain(&error), "is the server running? Cause: connection refused");
/// ```
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let sources = std::iter::successors(error.source(), |&source| source.source());
    for source in sources.map(ToString::to_string) {
        if !text.contains(&source) {
            append(&mut text, &source);
        }
    }
    text
}

/// Appends a source. A colon cannot follow the end of a sentence.
fn append(text: &mut String, source: &str) {
    if text.ends_with(['?', '!']) {
        text.push_str(" Cause: ");
    } else {
        text.truncate(text.trim_end_matches('.').len());
        text.push_str(": ");
    }
    text.push_str(source);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_sources_by_the_end_of_the_text() {
        let check = |text: &str, expected: &str| {
            let mut text = text.to_owned();
            append(&mut text, "broken pipe");
            assert_eq!(text, expected);
        };
        check("cannot write", "cannot write: broken pipe");
        check("Cannot write.", "Cannot write: broken pipe");
        check("is it closed?", "is it closed? Cause: broken pipe");
    }
}
