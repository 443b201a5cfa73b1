//! A tool: a function that the model may call.

use agcore::tools::tool;

/// Counts the words of a text.
// The model sees this sentence and the comment of the parameter. It sees the text of an error, too.
#[tool(read_only)]
pub async fn word_count(
    /// The text, without quotation marks.
    text: String,
) -> Result<usize, String> {
    match text.split_whitespace().count() {
        0 => Err("the text is empty".to_owned()),
        words => Ok(words),
    }
}
