//! `/model`: shows the model that answers and those of the server, or switches to another one.

use agcore_settings::vendor::check_timeouts;
use agcore_terminal::render::sanitized_line;

use crate::command::chat::conversation::Conversation;
use crate::{
    command::models::{listed, unlisted},
    exit::Failure,
};

/// Shows the model that answers and those that the server lists, or switches to the wanted one.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn model(conversation: &mut Conversation, wanted: &str) -> Result<(), Failure> {
    match wanted {
        "" => show(conversation).await,
        wanted => switch(conversation, wanted).await,
    }
}

async fn show(conversation: &Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    screen.print(&format!("Model: {}\n", sanitized_line(&conversation.model)))?;
    match known(conversation).await {
        Ok(models) if models.is_empty() => screen.note("The server does not list its models. /model NAME switches."),
        Ok(models) => {
            screen.note("The server lists these; /model NAME switches:")?;
            screen.list(&listed(&models))
        }
        Err(reason) => screen.note(&format!(
            "The models of the server are not known: {reason}\n/model NAME switches."
        )),
    }
}

async fn switch(conversation: &mut Conversation, wanted: &str) -> Result<(), Failure> {
    conversation.switch_model(wanted);
    let screen = conversation.screen;
    screen.note(&format!("Model set to {}. Conversation kept.", sanitized_line(wanted)))?;
    match known(conversation).await {
        // Some servers accept more models than they list.
        Ok(models) => match unlisted(wanted, &models) {
            Some(notice) => screen.note(&format!("{notice} /model shows the list.")),
            None => Ok(()),
        },
        Err(_) => Ok(()),
    }
}

/// Returns the models that the server lists.
async fn known(conversation: &Conversation) -> Result<Vec<String>, String> {
    let config = conversation.chats.provider.clone().with_timeouts(check_timeouts());
    match config.list_models().await {
        Ok(models) => Ok(models.into_iter().flatten().map(|model| model.id).collect()),
        Err(error) => Err(sanitized_line(&error.to_string())),
    }
}
