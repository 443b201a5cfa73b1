//! Todos: tasks with dependencies, and the order in which they are carried out.

mod item;
mod error;
mod graph;
mod list;

pub use self::{
    error::{TodoError, TodoErrorKind},
    item::{CompletionDetails, Todo, TodoAttempt, TodoStatus},
    list::{TodoList, TodoOutcome},
};
