//! Names and descriptions.

use agcore_tools::{ToolError, tool};

use crate::support::property;

/// Looks up a word in "the book".
///
/// - exact words only
///   (and nothing else)
#[tool]
async fn r#try(
    /// The word.
    ///
    /// In lower case.
    word: String,
) -> Result<String, ToolError> {
    Ok(word)
}

const TEXT: &str = "From a constant.";

/// For readers of the code.
#[tool(name = "book.look-up", description = TEXT)]
async fn look_up() -> Result<(), ToolError> {
    Ok(())
}

#[tool(description = concat!("A", " and ", "B."))]
async fn undocumented() -> Result<(), ToolError> {
    Ok(())
}

#[test]
fn the_doc_comment_is_the_description() {
    let tool = try_tool();
    assert_eq!(tool.tool().name(), "try");
    assert_eq!(
        tool.tool().description(),
        "Looks up a word in \"the book\".\n\n- exact words only\n  (and nothing else)"
    );
    assert_eq!(property(&tool, "word")["description"], "The word.\n\nIn lower case.");
}

#[test]
fn options_override_the_name_and_the_doc_comment() {
    let tool = look_up_tool();
    assert_eq!((tool.tool().name(), tool.tool().description()), ("book.look-up", TEXT));
    assert_eq!(undocumented_tool().tool().description(), "A and B.");
}
