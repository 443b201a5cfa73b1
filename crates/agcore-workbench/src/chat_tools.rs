//! The tools that only chats have: a list of todos, and commands in the background.

mod todos;
mod job;
mod kept;
mod jobs;
mod background_shell;
mod reminder;

use std::sync::{Arc, Mutex, PoisonError};

use agcore::{AgentSession, ToolRegistry, llm::Hook, tools::ToolError};
use agcore_terminal::render::{SHELL, TODOS, UPDATE_TODOS};
use serde_json::Value;

use self::{
    background_shell::{SHELL_OUTPUT, SHELL_STOP},
    reminder::{Current, Reminder},
};
pub use self::{
    job::{JobInfo, JobState},
    jobs::Jobs,
};

/// The names of the tools that other agents do not have.
pub(crate) const NAMES: [&str; 3] = [UPDATE_TODOS, SHELL_OUTPUT, SHELL_STOP];

/// Registers the tools, and replaces the shell by one that also runs commands in the background.
pub(crate) fn register(tools: &ToolRegistry) -> Result<(), ToolError> {
    tools.register(todos::tool())?;
    if tools.unregister(SHELL).is_some() {
        tools.register_all(background_shell::tools())?;
    }
    Ok(())
}

/// The todos and the background commands of a chat. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ChatTools {
    jobs: Jobs,
    current: Arc<Mutex<Option<Current>>>,
}

impl ChatTools {
    /// Returns the background commands.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Returns the todos of a session, an array of objects with `content` and `status`, unless there are none.
    pub fn todos(session: &AgentSession) -> Option<Value> {
        session.tools().value(TODOS)
    }

    /// Notes which session a turn belongs to: the model is reminded of its todos and commands only.
    pub fn follow(&self, session: &AgentSession) {
        let current = Current {
            session: session.id().to_owned(),
            agent: session.agent().name().to_owned(),
            tools: session.tools().clone(),
        };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(current);
    }

    /// Returns what the model must learn with the next message of a session: which commands have ended since, and which ended with
    /// an earlier process. Each is returned once.
    pub fn take_news(&self, session: &AgentSession) -> Option<String> {
        let news = kept::notice(&self.jobs.take_news(session.id(), session.tools()));
        news.map(|news| news + "\n\n")
    }

    /// Returns the hook that reminds the model of its todos after a compaction, and of commands that have ended.
    pub(crate) fn reminder(&self) -> impl Hook + 'static {
        Reminder::new(self.jobs.clone(), Arc::clone(&self.current))
    }
}
