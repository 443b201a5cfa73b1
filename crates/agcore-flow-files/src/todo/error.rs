//! [`TodoError`]: a list of todos that cannot be, or a change that it does not allow.

use std::{error::Error, fmt};

/// The number of todos of a cycle that an error shows.
const SHOWN_TODOS: usize = 20;

/// The kind of a [`TodoError`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TodoErrorKind {
    /// Two todos have this id.
    Duplicate(String),
    /// A todo depends on one that does not exist.
    UnknownDependency {
        /// The id of the todo.
        todo: String,
        /// The id that does not exist.
        dependency: String,
    },
    /// Each of these todos depends on the next, and the last on the first.
    Cycle(Vec<String>),
    /// There is no todo with this id.
    Unknown(String),
    /// The state of the todo does not allow the change.
    InvalidChange {
        /// The id of the todo.
        todo: String,
        /// The rule that was broken.
        rule: &'static str,
    },
}

/// A list of todos that cannot be, or a change that it does not allow. A list that refuses a change is as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoError(Box<TodoErrorKind>);

impl TodoError {
    pub(super) fn new(kind: TodoErrorKind) -> Self {
        Self(Box::new(kind))
    }

    pub(super) fn invalid_change(todo: &str, rule: &'static str) -> Self {
        let todo = todo.to_owned();
        Self::new(TodoErrorKind::InvalidChange { todo, rule })
    }

    /// Returns the kind.
    pub fn kind(&self) -> &TodoErrorKind {
        &self.0
    }
}

impl fmt::Display for TodoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            TodoErrorKind::Duplicate(id) => write!(f, "two todos have the id {id:?}; give each its own"),
            TodoErrorKind::UnknownDependency { todo, dependency } => write!(
                f,
                "the todo {todo:?} depends on {dependency:?}, which does not exist; add it, or remove the dependency"
            ),
            TodoErrorKind::Cycle(ids) => {
                f.write_str("todos depend on each other in a cycle: ")?;
                for id in ids.iter().take(SHOWN_TODOS) {
                    write!(f, "{id:?} -> ")?;
                }
                if ids.len() > SHOWN_TODOS {
                    write!(f, "{} more -> ", ids.len() - SHOWN_TODOS)?;
                }
                write!(
                    f,
                    "{:?}; remove one of these dependencies",
                    ids.first().map_or("", String::as_str)
                )
            }
            TodoErrorKind::Unknown(id) => write!(f, "there is no todo with the id {id:?}; check the id"),
            TodoErrorKind::InvalidChange { todo, rule } => write!(f, "the todo {todo:?} cannot be changed: {rule}"),
        }
    }
}

impl Error for TodoError {}
