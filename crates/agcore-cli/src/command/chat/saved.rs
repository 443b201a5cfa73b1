//! `/save` and `/load`: a conversation in a file.

use std::{fs, io, path::Path};

use agcore::{AgentSession, agent::SessionState};

use super::talk::Talk;
use crate::{
    console::Line,
    exit::Failure,
    whole_file::{create, replace},
};

/// Writes the conversation to a file; one that is there only gives way to a yes.
///
/// # Errors
/// When the terminal has gone.
pub(super) async fn save(talk: &Talk, name: &str) -> Result<(), Failure> {
    let (path, screen) = (Path::new(name), talk.screen);
    let state = talk.session.export().await;
    let text = match serde_json::to_string_pretty(&state) {
        Ok(text) => text + "\n",
        Err(error) => return screen.fault(&format!("The conversation cannot be written as JSON: {error}")),
    };
    let written = match create(path, &text) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !may_overwrite(talk, name).await? {
                return screen.note("Nothing was saved.");
            }
            replace(path, &text)
        }
        written => written,
    };
    match written {
        Ok(()) => screen.note(&format!("{} saved to {name}.", count(&talk.session).await)),
        Err(error) => screen.fault(&format!("{name} cannot be written: {error}")),
    }
}

async fn may_overwrite(talk: &Talk, name: &str) -> Result<bool, Failure> {
    talk.screen.question(&format!("? {name} is there already"))?;
    loop {
        match talk.console.read_line("  overwrite it? [y]es, [n]o: ").await? {
            Line::Said(word) if ["y", "yes"].contains(&word.to_lowercase().as_str()) => return Ok(true),
            Line::Said(word) if !["n", "no"].contains(&word.to_lowercase().as_str()) => {}
            _ => return Ok(false),
        }
    }
}

/// Goes on with the conversation of a file.
///
/// # Errors
/// When the terminal has gone.
pub(super) async fn load(talk: &mut Talk, name: &str) -> Result<(), Failure> {
    let forgotten = talk.session.messages().await.len();
    match restored(talk, Path::new(name)) {
        Ok(session) => talk.session = session,
        Err(why) => return talk.screen.fault(&why),
    }
    let loaded = count(&talk.session).await;
    let before = if forgotten > 0 {
        " What was said before is forgotten."
    } else {
        ""
    };
    talk.screen.note(&format!("{loaded} loaded from {name}.{before}"))
}

fn restored(talk: &Talk, path: &Path) -> Result<AgentSession, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let state: SessionState =
        serde_json::from_str(&text).map_err(|error| format!("{} is no saved conversation: {error}", path.display()))?;
    let session = talk.session.bundle().restore(state, talk.agent.clone());
    session.map_err(|error| format!("{}: {error}", path.display()))
}

async fn count(session: &AgentSession) -> String {
    match session.messages().await.len() {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    }
}
