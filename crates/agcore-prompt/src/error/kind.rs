//! [`PromptErrorKind`]: what went wrong, with the values a caller may act on.

use std::path::PathBuf;

use agcore_chat::Role;

/// What went wrong, with the values a caller may act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptErrorKind {
    /// The source is not a template.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// What could have stood here.
        expected: String,
        /// What stands here.
        found: String,
    },
    /// A variable has no value in the context. Hand it in, or render leniently.
    #[error("variable `{path}` has no value in the context{}", suggestion(near))]
    VariableNotFound {
        /// The variable as the template writes it.
        path: String,
        /// Names that exist and look alike, the nearest first.
        near: Vec<String>,
    },
    /// A template asks for a partial that is not registered.
    #[error("partial `{name}` is not registered{}", suggestion(near))]
    PartialNotFound {
        /// The name in the template.
        name: String,
        /// Names that exist and look alike, the nearest first.
        near: Vec<String>,
    },
    /// The registry has no template of this name.
    #[error("template `{name}` is not registered{}", suggestion(near))]
    TemplateNotFound {
        /// The name that was asked for.
        name: String,
        /// Names that exist and look alike, the nearest first.
        near: Vec<String>,
    },
    /// A template cannot be registered under this name, because no partial tag could write it.
    #[error("`{name}` cannot name a template: use letters, digits and - _ . / : @ only")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// `each` was given something else than an array or an object.
    #[error("`{path}` is {found}, but each needs an array or an object")]
    NotAnArray {
        /// The variable as the template writes it.
        path: String,
        /// The kind of value that was found, with its article.
        found: &'static str,
    },
    /// Blocks and partials are nested too deeply.
    #[error("blocks and partials are nested more than {limit} levels deep (does a partial include itself?)")]
    Depth {
        /// The number of levels allowed.
        limit: usize,
    },
    /// The output is larger than the options allow.
    #[error("the output is larger than {limit} bytes; raise the limit or hand in less")]
    Size {
        /// The number of bytes allowed.
        limit: usize,
    },
    /// A value could not be turned into a context.
    #[error("the context cannot be read")]
    Context,
    /// The writer did not take the output.
    #[error("the writer refused the output")]
    Write,
    /// Messages may not be sent in this order; the source says why.
    #[error("the messages cannot be sent in this order: message {index} is out of place")]
    InvalidSequence {
        /// The message at fault, from 0.
        index: usize,
    },
    /// A name was given to a message that has none.
    #[error("{}", no_name(*role))]
    NoName {
        /// The message's role; none when there was no message yet.
        role: Option<Role>,
    },
    /// A file or a folder could not be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file or the folder.
        path: PathBuf,
    },
}

fn no_name(role: Option<Role>) -> String {
    match role {
        Some(role) => format!("a {role} message has no participant to name; call with_name after another message"),
        None => "there is no message to name; call with_name after a message".to_owned(),
    }
}

fn suggestion(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; did you mean one of `{}`?", many.join("`, `")),
    }
}
