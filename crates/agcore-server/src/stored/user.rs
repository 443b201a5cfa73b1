//! The data that the server keeps of a user beside the sessions: tokens and a profile.

use std::sync::Arc;

use agcore_chat::{Actor, Clock};
use agcore_profile::Uuid;
use agcore_session::{Journal, SessionError};
use serde_json::{Value, json};

use super::profiles::StoredProfiles;
use crate::auth::TokenStore;

/// The number of entries of a user that were erased, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErasedServerData {
    /// The number of tokens that were valid.
    pub tokens: u64,
    /// The number of profiles.
    pub profiles: u64,
}

/// Returns what the server keeps of a user beside the [data of the store](agcore_store::user_data), each as the line of an export:
/// valid tokens without their text, and the profile, if the name of the user is its id.
///
/// # Errors
/// When the journal fails or a row cannot be read.
pub async fn export_server_data(
    journal: &Arc<dyn Journal>,
    clock: &Arc<dyn Clock>,
    user: &Actor,
) -> Result<Vec<Value>, SessionError> {
    let tokens = TokenStore::new(Arc::clone(journal), Arc::clone(clock)).list().await?;
    let theirs = tokens
        .into_iter()
        .filter(|token| token.actor.tenant == user.tenant && token.actor.user == user.user);
    let mut rows: Vec<Value> = theirs.map(|token| json!({"row": "token", "token": token})).collect();
    if let Some(id) = profile_id(user)
        && let Some((version, profile)) = profiles(journal, clock, user).get(id).await?
    {
        rows.push(json!({"row": "profile", "version": version, "profile": {
            "user_id": id.to_string(),
            "username": profile.username,
            "bio": profile.bio,
            "settings": profile.settings,
        }}));
    }
    Ok(rows)
}

/// Revokes the tokens of a user, and removes them and the profile from the journal. See
/// [`erase_user_data`](agcore_store::user_data::erase_user_data) for the rest. If that is interrupted, the next call erases what is
/// left.
///
/// # Errors
/// When the journal fails.
pub async fn erase_server_data(
    journal: &Arc<dyn Journal>,
    clock: &Arc<dyn Clock>,
    user: &Actor,
) -> Result<ErasedServerData, SessionError> {
    let tokens = TokenStore::new(Arc::clone(journal), Arc::clone(clock));
    let mut erased = ErasedServerData {
        tokens: tokens.erase(user).await?,
        profiles: 0,
    };
    if let Some(id) = profile_id(user) {
        erased.profiles += u64::from(profiles(journal, clock, user).delete(id).await?);
    }
    Ok(erased)
}

fn profiles(journal: &Arc<dyn Journal>, clock: &Arc<dyn Clock>, user: &Actor) -> StoredProfiles {
    StoredProfiles::new(Arc::clone(journal), Arc::clone(clock), user.tenant.to_string())
}

fn profile_id(user: &Actor) -> Option<Uuid> {
    Uuid::parse_str(&user.user).ok()
}

#[cfg(test)]
mod tests {
    use agcore_chat::SystemClock;
    use agcore_profile::ProfileRecord;
    use agcore_session::InMemoryJournal;

    use super::*;

    #[tokio::test]
    async fn tokens_and_the_profile_are_exported_and_erased() {
        let (journal, clock): (Arc<dyn Journal>, Arc<dyn Clock>) =
            (Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
        let id = Uuid::from_u128(7);
        let user = Actor::new("acme", id.to_string());
        let tokens = TokenStore::new(Arc::clone(&journal), Arc::clone(&clock));
        let new = tokens.create([1; 32], user.clone(), "laptop").await.unwrap();
        tokens.create([2; 32], Actor::new("acme", "ben"), "desk").await.unwrap();
        let profile = ProfileRecord::new(id, "Ann");
        profiles(&journal, &clock, &user).save(&profile, 0).await.unwrap();

        let rows = export_server_data(&journal, &clock, &user).await.unwrap();
        let text = json!(rows).to_string();
        assert_eq!((rows.len(), &rows[0]["token"]["label"]), (2, &json!("laptop")));
        assert_eq!(rows[1]["profile"]["username"], "Ann");
        assert!(!text.contains(new.text()) && !text.contains("hash"), "{text}");

        let erased = erase_server_data(&journal, &clock, &user).await.unwrap();
        assert_eq!((erased.tokens, erased.profiles), (1, 1));
        assert!(export_server_data(&journal, &clock, &user).await.unwrap().is_empty());
        assert_eq!(
            erase_server_data(&journal, &clock, &user).await.unwrap(),
            Default::default()
        );
        assert_eq!(tokens.list().await.unwrap().len(), 1);
    }
}
