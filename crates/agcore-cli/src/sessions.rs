//! [`Sessions`]: where the conversations of the program are kept.

mod find;
mod kind;
mod open;
mod questions;
mod table;

pub(crate) use self::{
    find::short_ids,
    kind::{KIND, SessionKind},
    open::STORE,
    questions::{OpenQuestion, answers_of, question_key},
    table::{day, session_rows, session_table, time},
};

use std::{fs, path::Path, sync::Arc};

use agcore::{
    chat::Actor,
    memory::{
        CheckpointStore, MemoryStore,
        session::{Session, SessionStore},
    },
};
use serde_json::Value;

/// The name of the folder in the metadata of a session.
pub(crate) const FOLDER: &str = "folder";

/// The sessions of the user: in the database, or in the memory of the process.
#[derive(Clone)]
pub(crate) struct Sessions {
    store: Arc<dyn SessionStore>,
    /// The same store.
    checkpoints: Arc<dyn CheckpointStore>,
    /// The store of facts and notes, beside the sessions.
    memory: Arc<dyn MemoryStore>,
    /// Whether they outlive the process.
    is_kept: bool,
    /// Which of them are meant.
    kind: SessionKind,
}

impl Sessions {
    /// Returns the sessions of this kind only. New sessions are of this kind.
    pub(crate) fn of_kind(mut self, kind: SessionKind) -> Self {
        self.kind = kind;
        self
    }

    /// Returns which sessions are meant.
    pub(crate) fn kind(&self) -> SessionKind {
        self.kind
    }

    /// Returns the store.
    pub(crate) fn store(&self) -> Arc<dyn SessionStore> {
        Arc::clone(&self.store)
    }

    /// Returns the store of the checkpoints of flows.
    pub(crate) fn checkpoints(&self) -> Arc<dyn CheckpointStore> {
        Arc::clone(&self.checkpoints)
    }

    /// Returns the store of facts and notes.
    pub(crate) fn memory(&self) -> Arc<dyn MemoryStore> {
        Arc::clone(&self.memory)
    }

    /// Returns whether the sessions outlive the process.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns the owner of the sessions.
    fn owner() -> Actor {
        Actor::local()
    }
}

/// Returns the current directory without links, or `None` if it is unknown.
pub(crate) fn current_folder() -> Option<String> {
    let folder = fs::canonicalize(Path::new(".")).ok()?;
    Some(folder.display().to_string())
}

/// Returns the folder in which a session was started.
pub(crate) fn folder_of(session: &Session) -> Option<&str> {
    session.metadata.get(FOLDER).and_then(Value::as_str)
}
