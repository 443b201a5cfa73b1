//! [`TokenStore`]: stores bearer tokens as hashes.

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::{Actor, Clock};
use agcore_session::{Entry, Journal, Record, SessionError, SessionErrorKind, Timestamp, id};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The first characters of every token, by which tools that look for leaked secrets recognize it.
const PREFIX: &str = "agcore_";

/// The number of times a record is appended again because another process has appended one.
const ATTEMPTS: usize = 20;

/// The longest time for which a request waits for the journal to check its token.
const LOOKUP: Duration = Duration::from_secs(2);

/// The time for which a token that was valid is accepted while the journal cannot be asked.
const GRACE: Duration = Duration::from_secs(10);

/// Bearer tokens in the journal of a store. Only their SHA-256 hashes are stored; a token has 256 random bits, so that a slow hash
/// would add nothing.
///
/// Tokens that another process creates or revokes take effect with the next request. Requests are checked beside each other. While
/// the journal does not answer, tokens that were valid less than 10 s ago are accepted, and others are refused after 2 s.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Actor, SystemClock};
/// use agcore_session::InMemoryJournal;
/// use agcore_server::TokenStore;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let tokens = TokenStore::new(Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
/// // In production: 32 bytes of a generator for secrets.
/// let new = tokens.create([7; 32], Actor::new("acme", "ann"), "laptop").await?;
/// assert!(new.text().starts_with("agcore_"));
/// assert!(!format!("{new:?}").contains(new.text()));
///
/// let found = tokens.find(new.text()).await?.unwrap();
/// assert_eq!(found.actor.to_string(), "acme/ann");
/// assert!(tokens.revoke(&found.id).await?);
/// assert!(tokens.find(new.text()).await?.is_none());
/// # Ok::<(), agcore_session::SessionError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct TokenStore {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    stream: String,
    known: Mutex<Known>,
}

/// A token, without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Token {
    /// The id, by which the token is revoked. It is the beginning of the hash.
    pub id: String,
    /// On whose behalf requests with the token are made.
    pub actor: Actor,
    /// A note of the operator, such as the name of the client.
    pub label: String,
    /// The time at which it was created.
    pub created_at: Timestamp,
}

/// A token that was just created: the only time that its text is known.
#[derive(Clone)]
#[non_exhaustive]
pub struct NewToken {
    /// The token, without its text.
    pub token: Token,
    text: String,
}

/// The tokens as of the last complete look into the journal.
#[derive(Debug, Default)]
struct Known {
    end: u64,
    /// When that look began; `None` before the first one.
    as_of: Option<Duration>,
    by_hash: HashMap<String, Token>,
}

impl NewToken {
    /// Returns the text, which clients send.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for NewToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewToken")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl TokenStore {
    /// Creates a store in a journal, such as that of the sessions.
    pub fn new(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>) -> Self {
        Self {
            journal,
            clock,
            stream: id::join(["server", "tokens"]),
            known: Mutex::default(),
        }
    }

    /// Creates a token from 32 bytes of a generator for secrets.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn create(&self, secret: [u8; 32], actor: Actor, label: &str) -> Result<NewToken, SessionError> {
        let text = format!("{PREFIX}{}", hex(&secret));
        let hash = hash_of(&text);
        let token = Token {
            id: hash[..12].to_owned(),
            actor,
            label: label.to_owned(),
            created_at: Timestamp::from(self.clock.now()),
        };
        self.append("created", json!({"hash": hash, "token": &token})).await?;
        Ok(NewToken { token, text })
    }

    /// Revokes a token. Returns whether there was one with this id.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn revoke(&self, id: &str) -> Result<bool, SessionError> {
        if !self.list().await?.iter().any(|token| token.id == id) {
            return Ok(false);
        }
        self.append("revoked", json!({ "id": id })).await?;
        Ok(true)
    }

    /// Revokes the tokens of a user, in all lines of business, and removes what the journal has of them. Returns the number of
    /// tokens that were valid.
    ///
    /// If that is interrupted, the tokens are revoked, and the next call removes the rest.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn erase(&self, user: &Actor) -> Result<u64, SessionError> {
        let is_theirs = |token: &Token| token.actor.tenant == user.tenant && token.actor.user == user.user;
        let mut attempt = 0;
        loop {
            self.update().await?;
            let (end, known) = {
                let known = self.known();
                (known.end, known.by_hash.clone())
            };
            if end == 0 {
                return Ok(0);
            }
            let (theirs, others): (Vec<_>, Vec<_>) = known.iter().partition(|(_, token)| is_theirs(token));
            let record = |kind: &str, data| Record::new(kind, 1, Timestamp::from(self.clock.now()), data);
            // What came before is forgotten, also by processes that have not read it.
            let mut records = vec![record("reset", json!({}))];
            let revoked = theirs
                .iter()
                .map(|(_, token)| record("revoked", json!({ "id": token.id })));
            records.extend(revoked);
            let kept = others.iter().map(|(hash, token)| json!({"hash": hash, "token": token}));
            records.extend(kept.map(|token| record("created", token)));
            let erased = theirs.len() as u64;
            match self.journal.append(&self.stream, end, records).await {
                Ok(_) => {
                    self.journal.trim(&self.stream, end + 1).await?;
                    self.update().await?;
                    return Ok(erased);
                }
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { .. } if attempt < ATTEMPTS => attempt += 1,
                    _ => return Err(error),
                },
            }
        }
    }

    /// Returns the tokens that are valid, the oldest first.
    ///
    /// # Errors
    /// When the journal fails.
    pub async fn list(&self) -> Result<Vec<Token>, SessionError> {
        self.update().await?;
        let mut tokens: Vec<_> = self.known().by_hash.values().cloned().collect();
        tokens.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        Ok(tokens)
    }

    /// Returns the token with this text, if it is valid.
    ///
    /// # Errors
    /// When the journal fails or does not answer in time, unless the token was valid a moment ago.
    pub async fn find(&self, text: &str) -> Result<Option<Token>, SessionError> {
        let hash = hash_of(text);
        let updated = tokio::select! {
            biased;
            updated = self.update() => updated,
            () = self.clock.sleep(LOOKUP) => {
                Err(SessionError::new(SessionErrorKind::Unavailable, "the journal of tokens does not answer; try again later"))
            }
        };
        let known = self.known();
        let found = known.by_hash.get(&hash).cloned();
        let Err(error) = updated else { return Ok(found) };
        let age = known.as_of.map(|as_of| self.clock.monotonic().saturating_sub(as_of));
        match found.is_some() && age.is_some_and(|age| age <= GRACE + LOOKUP) {
            true => Ok(found),
            false => Err(error),
        }
    }

    /// Reads what was appended since the last time. Nothing is locked meanwhile, so that a request does not wait for others.
    async fn update(&self) -> Result<(), SessionError> {
        let (from, began) = (self.known().end + 1, self.clock.monotonic());
        let entries = self.journal.read(&self.stream, from).await?;
        let mut known = self.known();
        known.as_of = known.as_of.max(Some(began));
        for Entry { seq, record, .. } in entries {
            // Another request may have read it first.
            if seq > known.end {
                known.apply(seq, &record);
            }
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn append(&self, kind: &str, data: Value) -> Result<(), SessionError> {
        let record = Record::new(kind, 1, Timestamp::from(self.clock.now()), data);
        self.update().await?;
        let mut end = self.known().end;
        for _ in 0..ATTEMPTS {
            match self.journal.append(&self.stream, end, vec![record.clone()]).await {
                Ok(_) => break,
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { found, .. } => end = found,
                    _ => return Err(error),
                },
            }
        }
        self.update().await
    }
}

impl Known {
    fn apply(&mut self, seq: u64, record: &Record) {
        self.end = seq;
        let data = &record.data;
        match (&*record.kind, data["hash"].as_str(), data["id"].as_str()) {
            ("created", Some(hash), _) => {
                if let Ok(token) = serde_json::from_value(data["token"].clone()) {
                    self.by_hash.insert(hash.to_owned(), token);
                }
            }
            ("reset", ..) => self.by_hash.clear(),
            ("revoked", _, Some(id)) => self.by_hash.retain(|_, token| token.id != id),
            _ => {}
        }
    }
}

fn hash_of(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use agcore_chat::SystemClock;
    use agcore_session::InMemoryJournal;
    use agcore_testkit::clock::ManualClock;
    use async_trait::async_trait;

    use super::*;

    #[tokio::test]
    async fn the_journal_has_no_token_and_other_processes_see_changes() {
        let journal = Arc::new(InMemoryJournal::new());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let shared = Arc::<InMemoryJournal>::clone(&journal);
        let (here, there) = (
            TokenStore::new(shared.clone(), Arc::clone(&clock)),
            TokenStore::new(shared, clock),
        );
        assert!(there.list().await.unwrap().is_empty());
        let ann = here.create([1; 32], Actor::user("ann"), "a").await.unwrap();
        let bob = there.create([2; 32], Actor::user("bob"), "b").await.unwrap();
        assert_eq!(there.find(ann.text()).await.unwrap(), Some(ann.token.clone()));
        assert!(here.revoke(&bob.token.id).await.unwrap());
        assert!(!here.revoke(&bob.token.id).await.unwrap());
        assert_eq!(there.find(bob.text()).await.unwrap(), None);
        assert_eq!(there.list().await.unwrap(), std::slice::from_ref(&ann.token));
        let stored = format!("{:?}", journal.read("server/tokens", 1).await.unwrap());
        assert!(!stored.contains(ann.text()) && !stored.contains(&ann.text()[PREFIX.len()..]));
    }

    #[tokio::test]
    async fn tokens_of_an_erased_user_are_gone_everywhere() {
        let journal = Arc::new(InMemoryJournal::new());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let store = || TokenStore::new(Arc::<InMemoryJournal>::clone(&journal), Arc::clone(&clock));
        let (here, there) = (store(), store());
        let user = Actor::new("acme", "ann-of-acme");
        assert_eq!(here.erase(&user).await.unwrap(), 0);
        assert!(journal.read("server/tokens", 0).await.unwrap().is_empty());
        let mut new = Vec::new();
        for (secret, actor) in [
            (1, user.clone()),
            (2, user.clone().with_line("sales")),
            (3, Actor::new("acme", "ben")),
            (4, Actor::new("other", "ann-of-acme")),
        ] {
            new.push(here.create([secret; 32], actor, "label").await.unwrap());
        }
        // A process that has seen one token, and another one that has seen all.
        let late = store();
        assert_eq!(there.list().await.unwrap().len(), 4);
        assert!(here.revoke(&new[1].token.id).await.unwrap());
        assert_eq!(here.erase(&user).await.unwrap(), 1);
        for store in [&here, &there, &late] {
            let valid = [&new[0], &new[1], &new[2], &new[3]].map(NewToken::text);
            let mut found = Vec::new();
            for text in valid {
                found.push(store.find(text).await.unwrap().is_some());
            }
            assert_eq!(found, [false, false, true, true]);
        }
        let stored = format!("{:?}", journal.read("server/tokens", 0).await.unwrap());
        assert_eq!(stored.matches("ann-of-acme").count(), 1, "{stored}");
        assert_eq!(here.erase(&user).await.unwrap(), 0);
        assert!(here.revoke(&new[2].token.id).await.unwrap());
        assert_eq!(there.list().await.unwrap(), [new[3].token.clone()]);
    }

    /// A journal that stops to answer reads.
    #[derive(Debug)]
    struct Stalling(InMemoryJournal, std::sync::atomic::AtomicBool);

    #[async_trait]
    impl Journal for Stalling {
        async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
            self.0.append(stream, expected, records).await
        }

        async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
            if self.1.load(std::sync::atomic::Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            self.0.read(stream, from).await
        }

        async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
            self.0.trim(stream, before).await
        }

        async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
            self.0.delete(stream).await
        }
    }

    #[tokio::test]
    async fn a_journal_that_does_not_answer_makes_no_queue() {
        let clock = Arc::new(ManualClock::new());
        let journal = Arc::new(Stalling(InMemoryJournal::new(), Default::default()));
        let shared: Arc<Stalling> = Arc::clone(&journal);
        let tokens = Arc::new(TokenStore::new(shared, Arc::<ManualClock>::clone(&clock)));
        let ann = tokens.create([1; 32], Actor::user("ann"), "a").await.unwrap();
        journal.1.store(true, std::sync::atomic::Ordering::SeqCst);
        let find_all = async |sleeps: usize| {
            let finds: Vec<_> = [ann.text(), "agcore_unknown", "agcore_other"]
                .map(|text| {
                    let (tokens, text) = (Arc::clone(&tokens), text.to_owned());
                    tokio::spawn(async move { tokens.find(&text).await })
                })
                .into_iter()
                .collect();
            clock.wait_for_sleeps(sleeps).await;
            // All of them wait for the same time, not one after the other.
            clock.advance(LOOKUP);
            let mut found = Vec::new();
            for find in finds {
                found.push(
                    find.await
                        .unwrap()
                        .map(|found| found.is_some())
                        .map_err(|error| error.kind()),
                );
            }
            found
        };
        let unavailable = Err(SessionErrorKind::Unavailable);
        assert_eq!(find_all(3).await, [Ok(true), unavailable, unavailable]);
        clock.advance(GRACE);
        assert_eq!(find_all(6).await, [unavailable, unavailable, unavailable]);
        journal.1.store(false, std::sync::atomic::Ordering::SeqCst);
        assert!(tokens.find(ann.text()).await.unwrap().is_some());
    }
}
