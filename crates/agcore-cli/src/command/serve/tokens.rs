//! `agcore serve tokens`: the tokens of clients.

use std::sync::Arc;

use agcore::{
    chat::Actor,
    llm::SystemClock,
    session::{Journal, SessionError},
};
use agcore_args::TokensCommand;
use agcore_server::TokenStore;
use agcore_terminal::render::sanitized_line;
use ring::rand::{SecureRandom, SystemRandom};

use crate::{
    exit::Failure,
    sessions::{Sessions, time},
    stdout::print,
};

/// Returns the tokens in the database of the sessions.
pub(super) fn store_of(sessions: &Sessions) -> TokenStore {
    let journal: Arc<dyn Journal> = Arc::new(sessions.store());
    TokenStore::new(journal, Arc::new(SystemClock::new()))
}

/// Creates, lists or revokes tokens.
///
/// # Errors
/// When the database cannot be used, or there is no token to revoke.
pub(super) async fn run(command: &TokensCommand) -> Result<(), Failure> {
    let tokens = store_of(&Sessions::of_server().await?);
    match command {
        TokensCommand::Create(args) => {
            let mut secret = [0; 32];
            let random = SystemRandom::new().fill(&mut secret);
            random.map_err(|_| Failure::task("the system has no random numbers for a token"))?;
            let actor = Actor::new(args.tenant.as_str(), args.user.as_str());
            let new = tokens.create(secret, actor, &args.label).await.map_err(failure)?;
            print(&format!("{}\n", new.text()))
        }
        TokensCommand::List => {
            let mut text = String::new();
            for token in tokens.list().await.map_err(failure)? {
                let line = format!(
                    "{}  {}  {}  {}",
                    token.id,
                    time(token.created_at),
                    token.actor,
                    token.label
                );
                text += sanitized_line(&line).trim_end();
                text.push('\n');
            }
            print(&text)
        }
        TokensCommand::Revoke(args) => match tokens.revoke(&args.id).await.map_err(failure)? {
            true => print(&format!("Revoked {}\n", args.id)),
            false => Err(Failure::usage(
                "there is no token with this id\nRun `agcore serve tokens list` to see all tokens.",
            )),
        },
    }
}

fn failure(error: SessionError) -> Failure {
    Failure::task(error.to_string())
}
