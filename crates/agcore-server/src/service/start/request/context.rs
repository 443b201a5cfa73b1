//! [`add`]: entries that an application sends beside the conversation, such as what its page shows.

use agcore_agui::ContextEntry;
use agcore_chat::{ContentPart, Marks, Message, Origin};
use agcore_prompt::DataBlock;
use serde_json::{Value, json};

use crate::problem::{Problem, ProblemCode};

/// The size of all entries of a run, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Adds entries before the text of a message, as data that the model must not follow. They are not shown as a part of the message.
///
/// # Errors
/// `body_too_large` if the entries are too long.
pub(super) fn add(message: Message, entries: &[ContextEntry]) -> Result<Message, Problem> {
    let Message::User(mut user) = message else {
        return Ok(message);
    };
    if entries.is_empty() {
        return Ok(user.into());
    }
    let bytes: usize = entries
        .iter()
        .map(|entry| entry.description.len() + entry.value.len())
        .sum();
    if bytes > MAX_BYTES {
        let detail = format!("`context` has {bytes} bytes, and {MAX_BYTES} are allowed; send fewer or shorter entries");
        return Err(Problem::new(ProblemCode::BodyTooLarge, detail));
    }
    let entries: Vec<Value> = entries
        .iter()
        .map(|entry| json!({"description": entry.description, "value": entry.value}))
        .collect();
    let block = DataBlock::new("context of the application").with_max_chars(MAX_BYTES);
    let text = block.render(&entries).map_err(|error| {
        let detail = format!("`context` cannot be given to the model: {error}");
        Problem::invalid(detail)
    })?;
    let added = ContentPart::text(format!("{text}\n\n")).with_marks(Marks::new().with_origin(Origin::Context));
    let mut parts = vec![added];
    parts.append(&mut std::mem::take(&mut user.content).into_parts());
    user.content = parts.into();
    Ok(user.into())
}
