//! [`Dialect`]: one vendor's version of the Chat Completions API, as plain data.

use std::borrow::Cow;

use agcore_chat::text::is_same_name;

/// One vendor's version of the Chat Completions API, as plain data.
///
/// For a server that is not listed, start with the closest dialect and change what differs:
///
/// ```
/// use agcore_wire::dialect::{self, InstructionRole, TokenLimit};
///
/// let mut dialect = dialect::compatible("my-gateway");
/// dialect.token_limit = TokenLimit::MaxCompletionTokens;
/// dialect.instructions = InstructionRole::User; // the model supports neither developer nor system messages
/// assert!(dialect.accepts("seed"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// The name of the vendor, in errors and on vendor data.
    pub name: Cow<'static, str>,
    /// Other names of the vendor.
    pub aliases: &'static [&'static str],
    /// The URL before `/chat/completions`; `None` if each customer has a different one.
    pub base_url: Option<&'static str>,
    /// The environment variable that usually contains the API key; `None` if no key is needed. This crate does not read
    /// it.
    pub key_variable: Option<&'static str>,
    /// The header that contains the API key.
    pub credential: CredentialHeader,
    /// The accepted parameters.
    pub parameters: Parameters,
    /// Parameters with another name: the usual name, then the vendor's.
    pub renamed: &'static [(&'static str, &'static str)],
    /// The name of the limit on generated tokens.
    pub token_limit: TokenLimit,
    /// The form of `reasoning_effort`.
    pub effort: EffortRule,
    /// The role of instructions.
    pub instructions: InstructionRole,
    /// The accepted content of messages.
    pub content: ContentRule,
    /// The form in which reasoning is sent back.
    pub reasoning: ReasoningRule,
    /// The accepted tools and tool choices.
    pub tools: ToolRule,
    /// The accepted response formats.
    pub formats: FormatRule,
    /// The form in which streams are requested.
    pub streaming: StreamRule,
}

/// The header that contains the API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header with this name that contains the key alone.
    Named(&'static str),
}

/// The parameters that a vendor accepts. Others are refused with an error, never left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameters {
    /// All parameters.
    All,
    /// All parameters except these.
    AllExcept(&'static [&'static str]),
    /// Only these parameters.
    Only(&'static [&'static str]),
}

/// The name of the limit on generated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenLimit {
    /// `max_tokens`, the only name that most compatible servers accept.
    MaxTokens,
    /// `max_completion_tokens`, the only name that OpenAI's reasoning models accept.
    MaxCompletionTokens,
}

/// The form of `reasoning_effort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EffortRule {
    /// As `reasoning_effort`.
    Member,
    /// As `reasoning: {"effort": …}` (OpenRouter).
    Object,
    /// As `chat_template_kwargs: {"reasoning_effort": …}` (llama.cpp).
    TemplateArgument,
    /// As `thinking: {"type": "disabled"}` for `none`. Other efforts are refused.
    ThinkingSwitch,
    /// As `thinking: {"type": "disabled"}` for `none`, and as `reasoning_effort` otherwise.
    ThinkingSwitchOrMember,
    /// As `enable_thinking: false` for `none`. Other efforts are refused.
    EnableThinking,
    /// Not accepted.
    Refused,
}

/// The role of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstructionRole {
    /// The role of the message: `developer` or `system`.
    AsGiven,
    /// `system`, also for developer messages.
    System,
    /// `user`, for models that support neither.
    User,
}

/// The accepted content of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentRule {
    /// Arrays of parts outside of user messages. Without support, their texts are joined.
    pub arrays: bool,
    /// Images.
    pub images: bool,
    /// The place for parts of tool results that are not text.
    pub tool_media: ToolMediaRule,
    /// Audio.
    pub audio: AudioRule,
    /// Files.
    pub files: bool,
    /// `cache_control` on text parts.
    pub cache_marks: bool,
    /// The `name` of a participant.
    pub names: bool,
    /// The `refusal` and `audio` members of an assistant message. Without support, their text becomes the content.
    pub refusals: bool,
    /// Function messages and calls in the legacy form.
    pub legacy_functions: bool,
    /// Additional members of an assistant message that the vendor accepts in requests, such as `prefix`.
    pub assistant_members: &'static [&'static str],
}

/// The place for parts of tool results that are not text: images, audio and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolMediaRule {
    /// In the result itself.
    InPlace,
    /// In a user message after all results of the round, with a text that names the call.
    UserMessage,
    /// Not accepted.
    Refused,
}

/// Whether audio is accepted, and in which format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AudioRule {
    /// Not accepted.
    Refused,
    /// `input_audio: {"data": …, "format": …}`.
    Object,
    /// `input_audio: DATA`; the server detects the audio format (Mistral).
    Data,
}

/// The form in which reasoning is sent back to the vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReasoningRule {
    /// The place for the text of the reasoning.
    pub field: ReasoningField,
    /// Whether a message with tool calls must contain reasoning, even if it is empty, while the model is thinking.
    pub required_with_calls: bool,
    /// Parts of the names of models that think by default.
    pub thinking_models: &'static [&'static str],
}

/// The place for the text of reasoning in an assistant message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningField {
    /// It is not sent.
    None,
    /// In a member with this name.
    Member(&'static str),
    /// In content parts of type `thinking` (Mistral).
    ThinkingParts,
    /// In the member in which it arrived (`reasoning_content` or `reasoning`), and only in messages with tool calls.
    AsReceived,
}

/// The accepted tools and tool choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolRule {
    /// Custom tools, whose input is free text.
    pub custom: bool,
    /// `tool_choice: none`. Without support, the tools are left out instead.
    pub choice_none: bool,
    /// The value of `tool_choice` that requires a call; `None` if there is none.
    pub choice_required: Option<&'static str>,
    /// Whether a call can be required while the model is thinking.
    pub required_while_thinking: bool,
    /// `tool_choice` with the name of a function.
    pub choice_named: bool,
    /// `tool_choice` with a list of allowed tools. Without support, only those tools are sent.
    pub choice_allowed: bool,
    /// Strict mode of tools and response formats.
    pub strict: StrictRule,
    /// The accepted schemas.
    pub schema: SchemaRule,
    /// Whether a function must have a schema for its arguments.
    pub needs_parameters: bool,
    /// Whether a tool result contains the name of its tool.
    pub result_name: bool,
    /// The accepted ids of calls.
    pub call_ids: CallIdRule,
    /// Whether arguments in the history must be a JSON object. Otherwise they are sent back as the model generated them.
    pub parsed_arguments: bool,
}

/// The vendor's support for `strict`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictRule {
    /// Accepts it with closed schemas only: no additional properties, every property required.
    Closed,
    /// Accepts it with any schema.
    Open,
    /// Does not accept it.
    Refused,
}

/// The accepted schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaRule {
    /// All of JSON Schema.
    Any,
    /// The subset of OpenAPI that Gemini accepts.
    Gemini,
}

/// The accepted ids of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallIdRule {
    /// Any id.
    Any,
    /// Nine letters or digits (Mistral). Others are replaced, the same way in every request.
    NineAlphanumeric,
}

/// The accepted response formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatRule {
    /// Any JSON object.
    pub json_object: bool,
    /// JSON that conforms to a schema.
    pub json_schema: bool,
    /// A schema together with tools. Servers that enforce the schema from the first token then never call a tool, and
    /// others refuse the request. The encoder does not check this: typed output uses it to choose another form.
    pub json_schema_with_tools: bool,
}

/// The form in which streams are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamRule {
    /// Whether `stream_options` is accepted, and needed to receive usage.
    pub usage_option: bool,
    /// Whether to stream even if a whole reply is requested, because some models support nothing else. The decoder handles
    /// both.
    pub always: bool,
}

impl Dialect {
    /// Returns whether a parameter is accepted.
    pub fn accepts(&self, parameter: &str) -> bool {
        match self.parameters {
            Parameters::All => true,
            Parameters::AllExcept(refused) => !refused.contains(&parameter),
            Parameters::Only(accepted) => accepted.contains(&parameter),
        }
    }

    /// Returns the vendor's name for a parameter.
    pub fn name_of<'a>(&self, parameter: &'a str) -> &'a str {
        self.renamed
            .iter()
            .find(|(name, _)| *name == parameter)
            .map_or(parameter, |(_, renamed)| renamed)
    }

    /// Returns whether this is the name or an alias of the vendor. Case, spaces, `.`, `-` and `_` are ignored.
    pub fn has_name(&self, name: &str) -> bool {
        is_same_name(&self.name, name) || self.aliases.iter().any(|alias| is_same_name(alias, name))
    }
}

/// Returns what most vendors have in common: `max_tokens`, the role `system`, text as strings, all parameters accepted.
pub(super) fn base(name: impl Into<Cow<'static, str>>) -> Dialect {
    Dialect {
        name: name.into(),
        aliases: &[],
        base_url: None,
        key_variable: None,
        credential: CredentialHeader::Bearer,
        parameters: Parameters::All,
        renamed: &[],
        token_limit: TokenLimit::MaxTokens,
        effort: EffortRule::Member,
        instructions: InstructionRole::System,
        content: ContentRule {
            arrays: false,
            images: true,
            tool_media: ToolMediaRule::UserMessage,
            audio: AudioRule::Object,
            files: true,
            cache_marks: false,
            names: true,
            refusals: false,
            legacy_functions: false,
            assistant_members: &[],
        },
        reasoning: ReasoningRule {
            field: ReasoningField::None,
            required_with_calls: false,
            thinking_models: &[],
        },
        tools: ToolRule {
            custom: false,
            choice_none: true,
            choice_required: Some("required"),
            required_while_thinking: true,
            choice_named: true,
            choice_allowed: false,
            strict: StrictRule::Open,
            schema: SchemaRule::Any,
            needs_parameters: false,
            result_name: false,
            call_ids: CallIdRule::Any,
            parsed_arguments: true,
        },
        formats: FormatRule {
            json_object: true,
            json_schema: true,
            json_schema_with_tools: false,
        },
        streaming: StreamRule {
            usage_option: true,
            always: false,
        },
    }
}
