//! [`PromptErrorKind`]: the reason for a [`PromptError`](super::PromptError).

use std::path::PathBuf;

use agcore_chat::Role;

use super::printable::Printable;

/// The reason for a [`PromptError`](crate::PromptError), with the values a caller may act on.
///
/// [`Display`](std::fmt::Display) prints it as a sentence, in which control characters and characters that change the
/// direction of text are escaped. The values themselves are unchanged.
///
/// ```
/// use agcore_prompt::{PromptErrorKind, PromptTemplate};
/// use serde_json::json;
///
/// let error = PromptTemplate::compile("Hi {{nmae}}!")?.render_from(&json!({"name": "Ada"})).unwrap_err();
/// match error.kind() {
///     PromptErrorKind::VariableNotFound { path, near } => {
///         assert_eq!(path, "nmae");
///         assert_eq!(near, &["name"]);
///     }
///     other => panic!("unexpected error: {other}"),
/// }
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptErrorKind {
    /// The source is not a valid template.
    #[error("expected {}, found {}", Printable(expected), Printable(found))]
    Syntax {
        /// The input that would be valid at this location.
        expected: String,
        /// The input that the source contains instead.
        found: String,
    },
    /// A variable has no value in the context. Provide it, or render leniently.
    #[error("variable `{}` has no value in the context{}", Printable(path), suggestion(near))]
    VariableNotFound {
        /// The variable as the template writes it.
        path: String,
        /// Similar names that exist, the most similar first.
        near: Vec<String>,
    },
    /// A template asks for a partial that is not registered.
    #[error("partial `{}` is not registered{}", Printable(name), suggestion(near))]
    PartialNotFound {
        /// The name in the partial tag.
        name: String,
        /// Similar names that exist, the most similar first.
        near: Vec<String>,
    },
    /// The registry has no template with this name.
    #[error("template `{}` is not registered{}", Printable(name), suggestion(near))]
    TemplateNotFound {
        /// The requested name.
        name: String,
        /// Similar names that exist, the most similar first.
        near: Vec<String>,
    },
    /// A template cannot be registered under this name because it could not be written in a partial tag.
    #[error(
        "invalid template name `{}`: use only letters, digits and - _ . / : @",
        Printable(name)
    )]
    InvalidName {
        /// The rejected name.
        name: String,
    },
    /// `each` was applied to a value that is neither an array nor an object.
    #[error("`{}` is {found}, but `each` requires an array or an object", Printable(path))]
    NotAnArray {
        /// The variable as the template writes it.
        path: String,
        /// The type of the value, with its article.
        found: &'static str,
    },
    /// Blocks and partials are nested too deeply.
    #[error("blocks and partials are nested more than {limit} levels deep (does a partial include itself?)")]
    Depth {
        /// The maximum number of levels.
        limit: usize,
    },
    /// The output exceeds the size limit of the options.
    #[error("the output exceeds {limit} bytes; raise `max_output_bytes` or shorten the context")]
    Size {
        /// The maximum size in bytes.
        limit: usize,
    },
    /// The rendering takes more steps than the options allow.
    #[error(
        "rendering takes more than {limit} steps; raise `max_steps`, or shorten the lists that the template loops over"
    )]
    Steps {
        /// The maximum number of steps.
        limit: u64,
    },
    /// Two fields of an object in a data block have the same name once their names are trimmed and truncated.
    #[error(
        "two fields of the data are both named `{}` once their names are trimmed and truncated; rename one of them",
        Printable(name)
    )]
    DuplicateField {
        /// The common name.
        name: String,
    },
    /// A data block contains more values than allowed.
    #[error(
        "the data contains more than {limit} fields and elements; raise `max_values` or select what the model needs"
    )]
    DataSize {
        /// The maximum number of fields and elements.
        limit: usize,
    },
    /// The context could not be serialized. The source states the reason.
    #[error("cannot serialize the context")]
    Context,
    /// The writer returned an error.
    #[error("cannot write the output")]
    Write,
    /// The order of the messages is invalid. The source states the reason.
    #[error("invalid message sequence at index {index}")]
    InvalidSequence {
        /// The zero-based index of the offending message.
        index: usize,
    },
    /// A name was set for a message without a name field.
    #[error("{}", no_name(*role))]
    NoName {
        /// The role of the message, or `None` if there was no message yet.
        role: Option<Role>,
    },
    /// A file or a folder could not be read.
    #[error("cannot read {}", Printable(path.display()))]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
    },
}

fn no_name(role: Option<Role>) -> String {
    match role {
        Some(role) => format!("a {role} message cannot have a name: call `with_name` after a message of another role"),
        None => "no message to name: call `with_name` after adding a message".to_owned(),
    }
}

fn suggestion(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("; did you mean `{}`?", Printable(one)),
        many => format!("; did you mean one of `{}`?", Printable(many.join("`, `"))),
    }
}
