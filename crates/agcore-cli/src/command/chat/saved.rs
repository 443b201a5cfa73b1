//! `/save` and `/load`: conversations in files.

use std::{fs, io, path::Path};

use agcore::{AgentSession, agent::SessionState};

use super::conversation::Conversation;
use crate::{
    atomic_file::{create, replace},
    console::Line,
    exit::Failure,
};

/// Saves the conversation to a file. Asks before an existing file is overwritten.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn save(conversation: &Conversation, name: &str) -> Result<(), Failure> {
    let (path, screen) = (Path::new(name), conversation.screen);
    let state = conversation.session.export().await;
    let text = match serde_json::to_string_pretty(&state) {
        Ok(text) => text + "\n",
        Err(error) => return screen.error(&format!("cannot serialize the conversation: {error}")),
    };
    let written = match create(path, &text) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !may_overwrite(conversation, name).await? {
                return screen.note("Nothing was saved.");
            }
            replace(path, &text)
        }
        written => written,
    };
    match written {
        Ok(()) => screen.note(&format!("{} saved to {name}.", count(&conversation.session).await)),
        Err(error) => screen.error(&format!("cannot write {name}: {error}")),
    }
}

async fn may_overwrite(conversation: &Conversation, name: &str) -> Result<bool, Failure> {
    conversation.screen.question(&format!("{name} already exists."))?;
    loop {
        match conversation.console.read_line("  Overwrite it? [y]es, [n]o: ").await? {
            Line::Entered(word) if ["y", "yes"].contains(&word.to_lowercase().as_str()) => return Ok(true),
            Line::Entered(word) if !["n", "no"].contains(&word.to_lowercase().as_str()) => {}
            _ => return Ok(false),
        }
    }
}

/// Replaces the conversation by one from a file.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn load(conversation: &mut Conversation, name: &str) -> Result<(), Failure> {
    let discarded = conversation.session.messages().await.len();
    match restore(conversation, Path::new(name)) {
        Ok(session) => conversation.session = session,
        Err(error) => return conversation.screen.error(&error),
    }
    let loaded = count(&conversation.session).await;
    let note = if discarded > 0 {
        " The previous conversation was discarded."
    } else {
        ""
    };
    conversation.screen.note(&format!("{loaded} loaded from {name}.{note}"))
}

fn restore(conversation: &Conversation, path: &Path) -> Result<AgentSession, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let state: SessionState = serde_json::from_str(&text)
        .map_err(|error| format!("{} is not a saved conversation: {error}", path.display()))?;
    let session = conversation.session.bundle().restore(state, conversation.agent.clone());
    session.map_err(|error| format!("{}: {error}", path.display()))
}

async fn count(session: &AgentSession) -> String {
    match session.messages().await.len() {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    }
}
