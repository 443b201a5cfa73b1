//! [`ConversationMemory`]: the messages of a conversation, kept in a journal.

mod settings;
mod change;
mod history;
mod stream;

pub use settings::{ConversationSettings, ConversationStrategy};

use std::sync::Arc;

use agcore_chat::{Actor, AssistantMessage, Clock, Message, SequenceError, ToolCall, id};

use self::{change::Change, history::History, stream::Loaded};
use crate::{
    error::{SessionError, SessionErrorKind},
    journal::Journal,
};

/// The messages of one conversation, which survive the process: for programs that talk to a model themselves.
///
/// The messages are in memory and can be handed to a request at no cost. Every change is first appended to a stream of the
/// [`Journal`], and takes effect only when the journal has acknowledged it. [`open`](Self::open) restores exactly what was
/// acknowledged, after any number of messages, compactions and restarts.
///
/// - **Valid:** [`messages`](Self::messages) can always be sent to a model. A message that could never be sent, such as the
///   result of an unknown call, is refused. A reply with calls is part of the list once all its calls have results; until
///   then, it is the [open round](Self::open_round).
/// - **Bounded:** by default, the newest 50 turns are kept, and the instructions at the beginning. Older turns are cut off
///   as a whole. After a number of records, a snapshot is appended and the records before it are removed from the journal,
///   so that opening a conversation takes no longer the older it is.
/// - **Compactions:** [`replace`](Self::replace) stores a shortened conversation, such as the result of
///   [`summarized`](agcore_chat::summarized) or [`prune_tool_results`](agcore_chat::prune_tool_results). Only messages
///   that have changed are written.
/// - **Several writers:** if another process or handle has changed the conversation, changes fail with
///   [`Conflict`](SessionErrorKind::Conflict) and nothing is stored. Call [`refresh`](Self::refresh), compare the
///   messages, and try again.
///
/// # Errors and cancel safety
///
/// After an error, `messages` is unchanged. If the storage failed in a way that leaves open whether the change was stored,
/// or if the future was dropped, the next change notices: it succeeds if nothing was stored, and is a conflict otherwise.
/// After [`refresh`](Self::refresh), the messages show what was stored.
///
/// ```
/// use std::sync::Arc;
/// use agcore_chat::{Actor, ChatRequest, Message, SystemClock};
/// use agcore_session::{ConversationMemory, InMemoryJournal, Journal};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let (journal, ann) = (Arc::new(InMemoryJournal::new()), Actor::user("ann"));
/// let open = || ConversationMemory::open(journal.clone(), Arc::new(SystemClock::new()), &ann, "tea");
///
/// let mut memory = open().await?;
/// memory.push(Message::system("Be brief.")).await?;
/// memory.push(Message::user("Which tea is green?")).await?;
/// let request = ChatRequest::new(memory.messages().to_vec());
/// memory.push(Message::assistant("Sencha, for example.")).await?;
///
/// // Later, perhaps in another process:
/// let memory = open().await?;
/// assert_eq!(memory.messages().len(), 3);
/// assert_eq!(memory.messages()[2].text(), "Sencha, for example.");
/// # Ok::<(), agcore_session::SessionError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct ConversationMemory {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    settings: ConversationSettings,
    stream: String,
    history: History,
    /// The sequence number of the last record that this handle knows.
    end: u64,
    /// The number of records after the last snapshot.
    records: usize,
    /// The number of messages in the last snapshot.
    snapshot_len: usize,
    /// The records before this one are not needed any more, but may still be in the journal.
    untrimmed: Option<u64>,
}

impl ConversationSettings {
    /// Opens a conversation with these settings. See [`ConversationMemory::open`].
    ///
    /// # Errors
    /// When the owner or the id is not acceptable, the storage fails, or the stored conversation cannot be read.
    pub async fn open(
        self,
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
        owner: &Actor,
        id: &str,
    ) -> Result<ConversationMemory, SessionError> {
        let stream = stream_name(owner, id);
        id::check_named("the owner and the id of the conversation, joined,", &stream)?;
        let mut memory = ConversationMemory {
            journal,
            clock,
            settings: self,
            stream,
            history: History::default(),
            end: 0,
            records: 0,
            snapshot_len: 0,
            untrimmed: None,
        };
        memory.refresh().await?;
        Ok(memory)
    }
}

impl ConversationMemory {
    /// Opens a conversation with the default settings: restores its messages, or starts with none.
    ///
    /// The id is unique among the conversations of the owner: tenant, user and line of business.
    ///
    /// # Errors
    /// When the owner or the id is not acceptable, the storage fails, or the stored conversation cannot be read.
    pub async fn open(
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
        owner: &Actor,
        id: &str,
    ) -> Result<Self, SessionError> {
        ConversationSettings::new().open(journal, clock, owner, id).await
    }

    /// Deletes a conversation without reading it. Returns whether it existed.
    ///
    /// # Errors
    /// When the storage fails.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether the conversation was deleted.
    pub async fn delete(journal: &dyn Journal, owner: &Actor, id: &str) -> Result<bool, SessionError> {
        journal.delete(&stream_name(owner, id)).await
    }

    /// Returns the messages, which can be sent to a model as they are, unless there are none.
    pub fn messages(&self) -> &[Arc<Message>] {
        self.history.sendable()
    }

    /// Returns the newest reply and the results that it has so far, if calls in it are still without a result.
    ///
    /// After a crash, push the missing results (see [`open_calls`](Self::open_calls)), or drop the round by replacing the
    /// conversation with its [`messages`](Self::messages).
    pub fn open_round(&self) -> &[Arc<Message>] {
        self.history.open_round()
    }

    /// Returns the calls that have no result yet.
    pub fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        let round = self.open_round();
        let reply = round.first().and_then(|message| message.as_assistant());
        let is_answered = |id: &str| {
            let result =
                |message: &Arc<Message>| matches!(&**message, Message::Tool(result) if result.tool_call_id == id);
            round.iter().any(result)
        };
        let calls = reply.into_iter().flat_map(AssistantMessage::tool_calls);
        calls.filter(move |call| !is_answered(&call.id))
    }

    /// Returns the name of the stream in the journal.
    pub fn stream(&self) -> &str {
        &self.stream
    }

    /// Appends a message. Returns its number, which is unique within the conversation and does not change as long as the
    /// message is kept, so that a memory can name its source.
    ///
    /// # Errors
    /// [`InvalidInput`](SessionErrorKind::InvalidInput) if the conversation could never be sent with this message,
    /// [`Conflict`](SessionErrorKind::Conflict) if another writer was faster, and other errors when the storage fails.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether the message was stored. The next change notices.
    pub async fn push(&mut self, message: impl Into<Arc<Message>>) -> Result<u64, SessionError> {
        let number = self.history.next();
        self.extend([message.into()]).await?;
        Ok(number)
    }

    /// Appends several messages, all or none: for example a reply and the results of its calls.
    ///
    /// # Errors
    /// Like [`push`](Self::push).
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether the messages were stored. The next change notices.
    pub async fn extend(&mut self, messages: impl IntoIterator<Item = Arc<Message>>) -> Result<(), SessionError> {
        let changes = self.history.appending(messages.into_iter().collect());
        self.write(changes.map_err(refused)?).await
    }

    /// Replaces all messages: stores a compaction, an edited conversation, or the history of an agent loop after a turn.
    ///
    /// Messages that are the same as before are not written again, and keep their numbers. If messages were only added, this
    /// is the same as [`extend`](Self::extend). A sliding window applies to the new messages, too.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use agcore_chat::{Actor, Message, SystemClock};
    /// # use agcore_session::{ConversationMemory, InMemoryJournal};
    /// use agcore_chat::{safe_cut, summarized};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let (journal, clock) = (Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
    /// let mut memory = ConversationMemory::open(journal, clock, &Actor::local(), "facts").await?;
    /// for (question, answer) in [("Largest ocean?", "The Pacific."), ("Deepest lake?", "Baikal.")] {
    ///     memory.push(Message::user(question)).await?;
    ///     memory.push(Message::assistant(answer)).await?;
    /// }
    /// if let Some(cut) = safe_cut(memory.messages(), 1) {
    ///     let shorter = summarized(memory.messages(), cut, "They talked about oceans.");
    ///     memory.replace(shorter).await?;
    /// }
    /// assert_eq!(memory.messages().len(), 2);
    /// # Ok::<(), agcore_session::SessionError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Like [`push`](Self::push).
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether the messages were stored. The next change notices.
    pub async fn replace(&mut self, messages: Vec<Arc<Message>>) -> Result<(), SessionError> {
        let changes = self.history.replacing(messages);
        self.write(changes.map_err(refused)?).await
    }

    /// Removes all messages, also from the journal. The conversation continues to exist, so that other handles notice.
    ///
    /// # Errors
    /// Like [`push`](Self::push). If the messages were removed from the conversation but could not be removed from the
    /// journal, they are removed by the next change, or by calling this again.
    ///
    /// # Cancel safety
    /// Dropping the future leaves open whether the messages were removed. The next change notices.
    pub async fn clear(&mut self) -> Result<(), SessionError> {
        self.write(vec![Change::Cleared(self.history.next())]).await?;
        self.trim().await
    }

    /// Reads the conversation again, after a conflict or an error. Returns whether it has changed.
    ///
    /// # Errors
    /// When the storage fails, or the stored conversation cannot be read. The messages are then unchanged.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn refresh(&mut self) -> Result<bool, SessionError> {
        let entries = self.journal.read(&self.stream, 0).await?;
        let Loaded {
            mut history,
            end,
            records,
            snapshot_len,
            untrimmed,
        } = stream::load(entries)?;
        if let Some(turns) = self.settings.turns() {
            history.keep_turns(turns);
        }
        let is_changed = self.end != end;
        self.history = history;
        (self.end, self.records, self.untrimmed) = (end, records, untrimmed);
        self.snapshot_len = snapshot_len;
        Ok(is_changed)
    }

    /// Stores changes, and then applies them.
    async fn write(&mut self, changes: Vec<Change>) -> Result<(), SessionError> {
        if changes.is_empty() {
            return Ok(());
        }
        let (now, turns) = (self.clock.now().into(), self.settings.turns());
        let records: Result<Vec<_>, _> = changes.iter().map(|change| change.record(now)).collect();
        let mut records = records?;
        let is_whole = records.iter().any(Change::is_whole);
        let count = self.records + records.len();
        let is_due = self.settings.is_snapshot_due(count, self.snapshot_len);
        let has_snapshot = is_due && !is_whole;
        let is_append = changes.iter().all(|change| matches!(change, Change::Message(_)));
        // Messages were validated and can be applied in place.
        let (later, prepared) = if is_append && !has_snapshot {
            (changes, None)
        } else {
            let mut history = self.history.clone();
            history.update(changes, turns).map_err(refused)?;
            (Vec::new(), Some(history))
        };
        if let Some(history) = prepared.as_ref().filter(|_| has_snapshot) {
            records.push(history.snapshot().record(now)?);
        }
        self.end = self.journal.append(&self.stream, self.end, records).await?;
        self.records = count;
        match prepared {
            Some(history) => self.history = history,
            None => self.history.update(later, turns).map_err(refused)?,
        }
        if is_whole || has_snapshot {
            (self.records, self.untrimmed) = (0, Some(self.end));
            self.snapshot_len = self.history.len();
        }
        // The change is stored. If this fails, the next one tries again.
        let _ = self.trim().await;
        Ok(())
    }

    /// Removes the records that are not needed any more from the journal.
    async fn trim(&mut self) -> Result<(), SessionError> {
        if let Some(before) = self.untrimmed {
            self.journal.trim(&self.stream, before).await?;
            self.untrimmed = None;
        }
        Ok(())
    }
}

/// Returns the beginning of the names of the streams of all conversations of a user, in all lines of business.
///
/// ```
/// use agcore_session::{Actor, conversations_of};
///
/// assert_eq!(conversations_of(&Actor::new("acme", "ann/b")), "conversation/acme/ann%2Fb/");
/// ```
pub fn conversations_of(user: &Actor) -> String {
    id::prefix(["conversation", &user.tenant, &user.user])
}

/// Returns the name of the stream of a conversation.
fn stream_name(owner: &Actor, id: &str) -> String {
    let line = owner.line.as_deref().unwrap_or_default();
    conversations_of(owner) + &id::join([line, id])
}

#[cold]
fn refused(error: SequenceError) -> SessionError {
    SessionError::with_source(
        SessionErrorKind::InvalidInput,
        format!(
            "the conversation could not be sent to a model with this change, so nothing was stored: {}",
            error.kind
        ),
        error,
    )
}
