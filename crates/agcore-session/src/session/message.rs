//! Messages of a session.

use agcore_chat::{Bill, Money, Timestamp, Usage, id};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::SessionError;

/// A message to be stored with a [`Commit`](super::Commit).
///
/// ```
/// use agcore_chat::{Money, Usage};
/// use agcore_session::{MessageMetadata, MessageRole, NewMessage, Visibility};
///
/// let reply = NewMessage::new("m2", MessageRole::Assistant, "Hello, Ann!")
///     .with_metadata(MessageMetadata::AssistantOutput)
///     .with_run("r1")
///     .with_usage(Usage::new(120, 30))
///     .with_cost(Money::from_micros(1_250, "USD"));
/// assert_eq!(reply.visibility, Visibility::EVERYWHERE);
///
/// // What a model call outside the conversation costs is part of the bill, too.
/// let title = NewMessage::audit("m3", "Greeting").with_cost(Money::from_micros(80, "USD"));
/// assert_eq!(title.visibility, Visibility::NOWHERE);
/// # reply.check()?;
/// # title.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewMessage {
    /// The id, unique within the session.
    pub id: String,
    /// Whether the message only documents a model call, such as that of a router, and is not a part of the conversation.
    pub is_audit: bool,
    /// The author.
    pub role: MessageRole,
    /// The text.
    pub content: String,
    /// The kind of message, with its data.
    pub metadata: Option<MessageMetadata>,
    /// Where the message is visible.
    pub visibility: Visibility,
    /// The id of the run in which it was written.
    pub run: Option<String>,
    /// The tokens of the model call that wrote it.
    pub usage: Option<Usage>,
    /// The cost of that call, in the currency of the session.
    pub cost: Option<Money>,
    /// The model calls that the message needed, of whose costs that of the message consists.
    pub bill: Option<Box<Bill>>,
    /// The version of the profile with which it was written.
    pub profile_version: Option<String>,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredMessage {
    /// The number of the message: 1, 2, 3 … in the conversation; −1, −2, −3 … for audit messages. Never 0, without gaps.
    pub seq: i64,
    /// The id, unique within the session.
    pub id: String,
    /// The author.
    pub role: MessageRole,
    /// The text.
    pub content: String,
    /// The kind of message, with its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MessageMetadata>,
    /// Where the message is visible.
    pub visibility: Visibility,
    /// The id of the run in which it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The tokens of the model call that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The cost of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// The model calls that the message needed, of whose costs that of the message consists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bill: Option<Box<Bill>>,
    /// The version of the profile with which it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_version: Option<String>,
    /// The time at which it was stored, set by the store.
    pub created_at: Timestamp,
}

/// The author of a stored message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The application.
    System,
    /// A tool.
    Tool,
}

/// The kind of message, with its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MessageMetadata {
    /// A message of a user.
    UserInput {
        /// Data that the user's program sent along.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        data: Map<String, Value>,
    },
    /// A tool call of the model.
    ToolCall {
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The arguments.
        arguments: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// Whether the call failed.
        is_error: bool,
    },
    /// An answer of the model.
    AssistantOutput,
}

/// Where a message is visible: a set of places.
///
/// Stores keep it as a bit mask: bit 0 is the history that users see, bit 1 the context of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Visibility(u8);

impl Visibility {
    /// Nowhere, such as an audit message.
    pub const NOWHERE: Self = Self(0);
    /// In the history that users see.
    pub const HISTORY: Self = Self(1);
    /// In the context of the model.
    pub const CONTEXT: Self = Self(2);
    /// In the history and in the context.
    pub const EVERYWHERE: Self = Self(3);

    /// Returns the visibility that is stored as this bit mask.
    pub const fn from_mask(mask: u8) -> Option<Self> {
        if mask <= Self::EVERYWHERE.0 {
            Some(Self(mask))
        } else {
            None
        }
    }

    /// Returns the bit mask.
    pub const fn mask(self) -> u8 {
        self.0
    }

    /// Returns whether all of these places are included.
    pub const fn includes(self, places: Self) -> bool {
        self.0 & places.0 == places.0
    }
}

impl MessageRole {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::User, Self::Assistant, Self::System, Self::Tool];

    /// Returns the name under which stores keep the role.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }

    /// Returns the role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

impl MessageMetadata {
    /// Returns the name of the variant, as in JSON.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::UserInput { .. } => "user_input",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::AssistantOutput => "assistant_output",
        }
    }

    /// Returns the role that a message with this metadata must have.
    pub const fn role(&self) -> MessageRole {
        match self {
            Self::UserInput { .. } => MessageRole::User,
            Self::ToolCall { .. } | Self::AssistantOutput => MessageRole::Assistant,
            Self::ToolResult { .. } => MessageRole::Tool,
        }
    }
}

impl NewMessage {
    /// Creates a message of the conversation that is visible everywhere.
    pub fn new(id: impl Into<String>, role: MessageRole, content: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            is_audit: false,
            role,
            content: content.into(),
            metadata: None,
            visibility: Visibility::EVERYWHERE,
            run: None,
            usage: None,
            cost: None,
            bill: None,
            profile_version: None,
        }
    }

    /// Creates an audit message: the output of a model call that is not a part of the conversation, visible nowhere.
    pub fn audit(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            is_audit: true,
            visibility: Visibility::NOWHERE,
            ..Self::new(id, MessageRole::Assistant, content)
        }
    }

    /// Sets what kind of message it is.
    #[must_use]
    pub fn with_metadata(mut self, metadata: MessageMetadata) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Sets where the message is visible.
    #[must_use]
    pub fn with_visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Sets the run in which the message was written.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Sets the tokens of the model call that wrote the message.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost of that call.
    #[must_use]
    pub fn with_cost(mut self, cost: Money) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Sets the model calls that the message needed, with the usage and the cost of all of them together. A message without
    /// metadata becomes an answer of the model.
    #[must_use]
    pub fn with_bill(mut self, bill: Bill) -> Self {
        self.cost.clone_from(&bill.cost);
        self.metadata.get_or_insert(MessageMetadata::AssistantOutput);
        self.bill = Some(Box::new(bill));
        self
    }

    /// Sets the version of the profile with which the message was written.
    #[must_use]
    pub fn with_profile_version(mut self, version: impl Into<String>) -> Self {
        self.profile_version = Some(version.into());
        self
    }

    /// Checks that every store can keep the message.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if an id is not acceptable, the metadata belongs to another role,
    /// an audit message is visible or is a tool call, the cost is negative, or a bill comes without metadata.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the message", &self.id)?;
        if let Some(run) = &self.run {
            id::check_named("the id of the run", run)?;
        }
        let refuse = |reason: &str| Err(SessionError::invalid(format!("the message `{}` {reason}", self.id)));
        if self.is_audit && self.visibility != Visibility::NOWHERE {
            return refuse("is an audit message and must not be visible");
        }
        if self.cost.as_ref().is_some_and(|cost| cost.micros < 0) {
            return refuse("has a negative cost");
        }
        if self.bill.is_some() && self.metadata.is_none() {
            return refuse("has a bill, which only messages with metadata have");
        }
        let is_about_tools = matches!(
            self.metadata,
            Some(MessageMetadata::ToolCall { .. } | MessageMetadata::ToolResult { .. })
        );
        match &self.metadata {
            Some(metadata) if metadata.role() != self.role => refuse("has metadata of another role"),
            _ if self.is_audit && (is_about_tools || self.role == MessageRole::Tool) => {
                refuse("is an audit message, but tool calls and their results belong to the conversation")
            }
            _ => Ok(()),
        }
    }

    /// Returns the message as it is stored under a number.
    pub fn store(self, seq: i64, now: Timestamp) -> StoredMessage {
        StoredMessage {
            seq,
            id: self.id,
            role: self.role,
            content: self.content,
            metadata: self.metadata,
            visibility: self.visibility,
            run: self.run,
            usage: self.usage,
            cost: self.cost,
            bill: self.bill,
            profile_version: self.profile_version,
            created_at: now,
        }
    }
}
