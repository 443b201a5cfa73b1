//! `/save` and `/load`: conversations in files.

mod exchange;

pub(super) use self::exchange::{shortened, show_last_exchanges};

use std::{fs, io, path::Path};

use agcore::{AgentSession, agent::SessionState};
use agcore_settings::atomic_file::{create, replace};
use agcore_terminal::{
    process::expand_home,
    render::sanitized_line,
    transcript::{EXTENSIONS, HTML_EXTENSIONS, html, markdown, parts},
};
use serde_json::Value;

use super::{background::show_todos, conversation::Conversation};
use crate::{exit::Failure, input::confirm};

/// The member of a saved conversation that the library does not write.
const MODEL: &str = "model";

/// Saves the conversation to a file. Asks before an existing file is overwritten.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn save(conversation: &Conversation, name: &str) -> Result<(), Failure> {
    let (path, screen) = (expand_home(name), conversation.screen);
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_one_of = |known: &[&str]| known.iter().any(|known| extension == *known);
    let text = match (is_one_of(&EXTENSIONS), is_one_of(&HTML_EXTENSIONS)) {
        (true, _) => Ok(markdown(&conversation.session.messages().await)),
        (_, true) => Ok(html(
            &title(conversation).await,
            &parts(&conversation.session.messages().await),
        )),
        _ => serialized(conversation).await,
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => return screen.error(&format!("cannot serialize the conversation: {error}")),
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let folder = folder.display();
        return screen.error(&format!(
            "cannot write {name}: there is no folder {folder}; create it first"
        ));
    }
    if path.is_dir() {
        return screen.error(&format!("cannot write {name}: it is a folder; add the name of a file"));
    }
    let written = match create(&path, &text) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !may_overwrite(conversation, name).await? {
                return screen.note("Nothing was saved.");
            }
            replace(&path, &text)
        }
        written => written,
    };
    match written {
        Ok(()) => screen.note(&format!("{} saved to {name}.", count(&conversation.session).await)),
        Err(error) => screen.error(&format!("cannot write {name}: {error}")),
    }
}

async fn title(conversation: &Conversation) -> String {
    let session = conversation.chats.sessions.exact(conversation.session.id()).await;
    let title = session.ok().flatten().and_then(|session| session.title);
    title.unwrap_or_else(|| "A conversation".to_owned())
}

async fn serialized(conversation: &Conversation) -> serde_json::Result<String> {
    let mut state = serde_json::to_value(conversation.session.export().await)?;
    if let Some(members) = state.as_object_mut() {
        members.insert(MODEL.to_owned(), conversation.model.as_str().into());
    }
    Ok(serde_json::to_string_pretty(&state)? + "\n")
}

async fn may_overwrite(conversation: &Conversation, name: &str) -> Result<bool, Failure> {
    conversation.screen.question(&format!("{name} already exists."))?;
    let answer = confirm(&conversation.console, "  Overwrite it? [y]es, [n]o: ", None).await?;
    Ok(answer.unwrap_or(false))
}

/// Replaces the conversation by one from a file.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn load(conversation: &mut Conversation, name: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    let (session, model) = match restore(conversation, &expand_home(name)).await {
        Ok(restored) => restored,
        Err(error) => return screen.error(&error),
    };
    let had_messages = !conversation.session.messages().await.is_empty();
    let previous = conversation.replace_session(session).await;
    conversation.last = None;
    conversation.folder.undo().forget_turns();
    let loaded = count(&conversation.session).await;
    let note = match previous {
        Some(id) => format!(" The previous conversation: /resume {id}"),
        // Without a database, nothing is kept.
        None if had_messages => " The previous conversation was discarded.".to_owned(),
        None => String::new(),
    };
    show_last_exchanges(screen, &conversation.session).await?;
    show_todos(conversation, true)?;
    screen.note(&format!("{loaded} loaded from {name}.{note}"))?;
    let current = sanitized_line(&conversation.model);
    match model.filter(|model| *model != conversation.model) {
        Some(saved) => {
            let saved = sanitized_line(&saved);
            screen.note(&format!(
                "Model: {current}; the conversation was saved with {saved}: /model {saved}"
            ))
        }
        None => screen.note(&format!("Model: {current}")),
    }
}

/// Reads a session and the model that was used last.
async fn restore(conversation: &Conversation, path: &Path) -> Result<(AgentSession, Option<String>), String> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("cannot read {name}: there is no such file"),
        io::ErrorKind::InvalidData => format!("{name} is not a saved conversation: it is not text"),
        _ => format!("cannot read {name}: {error}"),
    })?;
    let state: Value = serde_json::from_str(&text)
        .map_err(|_| format!("{name} is not a saved conversation: it is not JSON; /save writes such files"))?;
    let model = state.get(MODEL).and_then(Value::as_str).map(str::to_owned);
    let ours = serde_json::to_value(conversation.session.export().await).unwrap_or_default();
    let version = |state: &Value| state.get("version").and_then(Value::as_u64);
    if version(&state) > version(&ours) {
        return Err(format!(
            "{name} was saved by a newer version of agcore; use that version to load it"
        ));
    }
    let state: SessionState =
        serde_json::from_value(state).map_err(|error| format!("{name} is not a saved conversation: {error}"))?;
    let created = conversation.chats.start(None, false, &conversation.agent).await;
    let session = created.map_err(|failure| failure.to_string())?;
    let replaced = session.replace(state).await;
    if replaced.is_err() {
        conversation.chats.forget_if_empty(session.id()).await;
    }
    replaced.map_err(|error| format!("{name}: {error}"))?;
    Ok((session, model))
}

async fn count(session: &AgentSession) -> String {
    match session.messages().await.len() {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    }
}
