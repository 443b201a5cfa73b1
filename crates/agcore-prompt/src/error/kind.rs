//! [`PromptErrorKind`]: the reason for a [`PromptError`](super::PromptError).

use std::path::PathBuf;

use agcore_chat::Role;

/// The reason for a [`PromptError`](crate::PromptError), with the values a caller may act on.
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
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// The input that would be valid at this location.
        expected: String,
        /// The input that the source contains instead.
        found: String,
    },
    /// A variable has no value in the context. Provide it, or render leniently.
    #[error("variable `{path}` has no value in the context{}", suggestion(near))]
    VariableNotFound {
        /// The variable as the template writes it.
        path: String,
        /// Similar names that exist, the most similar first.
        near: Vec<String>,
    },
    /// A template asks for a partial that is not registered.
    #[error("partial `{name}` is not registered{}", suggestion(near))]
    PartialNotFound {
        /// The name in the partial tag.
        name: String,
        /// Similar names that exist, the most similar first.
        near: Vec<String>,
    },
    /// The registry has no template with this name.
    #[error("template `{name}` is not registered{}", suggestion(near))]
    TemplateNotFound {
        /// The requested name.
        name: String,
        /// Similar names that exist, the most similar first.
        near: Vec<String>,
    },
    /// A template cannot be registered under this name because it could not be written in a partial tag.
    #[error("invalid template name `{name}`: use only letters, digits and - _ . / : @")]
    InvalidName {
        /// The rejected name.
        name: String,
    },
    /// `each` was applied to a value that is neither an array nor an object.
    #[error("`{path}` is {found}, but `each` requires an array or an object")]
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
    #[error("cannot read {}", path.display())]
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
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; did you mean one of `{}`?", many.join("`, `")),
    }
}
