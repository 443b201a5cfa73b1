//! [`Dialect`]: how one vendor speaks the Chat Completions API, as plain data.

use std::borrow::Cow;

use crate::near::is_same_name;

/// How one vendor speaks the Chat Completions API. Plain data: take the nearest one and change what differs.
///
/// ```
/// use agcore_llm::dialect::{self, InstructionRole, TokenLimit};
///
/// let mut dialect = dialect::compatible("my-gateway");
/// dialect.token_limit = TokenLimit::MaxCompletionTokens;
/// dialect.instructions = InstructionRole::User; // a model that knows neither developer nor system
/// assert!(dialect.takes("seed"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// The vendor's name, in errors and on data that it wants back.
    pub name: Cow<'static, str>,
    /// Other names under which it is found.
    pub aliases: &'static [&'static str],
    /// What stands before `/chat/completions`; none where every customer has another.
    pub base_url: Option<&'static str>,
    /// The environment variable that usually holds the key; none where no key is needed. Nobody here reads it.
    pub key_variable: Option<&'static str>,
    /// Where the key goes.
    pub credential: CredentialHeader,
    /// Which parameters it takes.
    pub parameters: Parameters,
    /// Parameters with another name: ours, then the vendor's.
    pub renamed: &'static [(&'static str, &'static str)],
    /// Under which name the limit of generated tokens goes.
    pub token_limit: TokenLimit,
    /// How `reasoning_effort` is said.
    pub effort: EffortRule,
    /// Which role instructions get.
    pub instructions: InstructionRole,
    /// What messages may hold.
    pub content: ContentRule,
    /// What reasoning goes back.
    pub reasoning: ReasoningRule,
    /// What tools may be.
    pub tools: ToolRule,
    /// Which forms of the answer can be asked for.
    pub formats: FormatRule,
    /// How streams are asked for.
    pub streaming: StreamRule,
}

/// Where the key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of this name that holds the bare key.
    Named(&'static str),
}

/// Which parameters a vendor takes. One that it does not take is an error that says so, never left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameters {
    /// Every one.
    All,
    /// Every one but these.
    AllBut(&'static [&'static str]),
    /// Only these.
    Only(&'static [&'static str]),
}

/// Under which name the limit of generated tokens goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenLimit {
    /// `max_tokens`, which most compatible servers know alone.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's reasoning models know alone.
    MaxCompletionTokens,
}

/// How `reasoning_effort` is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EffortRule {
    /// By that member.
    Member,
    /// By `reasoning: {"effort": …}` (OpenRouter).
    Object,
    /// By `chat_template_kwargs: {"reasoning_effort": …}` (llama.cpp).
    TemplateArgument,
    /// Only on or off, by `thinking: {"type": …}`: `none` is off, anything else cannot be said.
    ThinkingSwitch,
    /// Only on or off, by `enable_thinking`: `none` is off, anything else cannot be said.
    EnableThinking,
    /// Not at all.
    Refused,
}

/// Which role instructions get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstructionRole {
    /// The one they have.
    AsGiven,
    /// `system`, also for developer messages.
    System,
    /// `user`, for models that know neither.
    User,
}

/// What messages may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentRule {
    /// Arrays of parts outside of user messages; else their texts are joined.
    pub arrays: bool,
    /// Pictures.
    pub images: bool,
    /// Sound.
    pub audio: AudioRule,
    /// Files.
    pub files: bool,
    /// `cache_control` on text parts.
    pub cache_marks: bool,
    /// `name` of a participant.
    pub names: bool,
    /// The `refusal` and `audio` members of an assistant message; else what they say becomes its text.
    pub refusals: bool,
    /// Function messages and calls in the legacy form.
    pub legacy_functions: bool,
    /// Members of an assistant message that are more than a note of an earlier reply, such as `prefix`.
    pub assistant_members: &'static [&'static str],
}

/// Whether sound is taken, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AudioRule {
    /// Not taken.
    Refused,
    /// `input_audio: {"data": …, "format": …}`.
    Object,
    /// `input_audio: DATA`; the server finds out the format (Mistral).
    Data,
}

/// What reasoning goes back to the vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReasoningRule {
    /// Where its text stands; none is left out.
    pub field: ReasoningField,
    /// Whether a turn with calls must have it, an empty one if need be, while the model thinks.
    pub required_with_calls: bool,
    /// What stands in the names of models that think unless told otherwise.
    pub thinking_models: &'static [&'static str],
}

/// Where the text of reasoning stands in an assistant message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningField {
    /// Nowhere.
    None,
    /// In a member of this name.
    Member(&'static str),
    /// In parts of the content of type `thinking` (Mistral).
    ThinkingParts,
}

/// What tools may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolRule {
    /// Tools that take free text.
    pub custom: bool,
    /// `tool_choice` may be `none`; else the tools are left out for it.
    pub choice_none: bool,
    /// The word for a call that must be; none when it cannot be asked for.
    pub choice_required: Option<&'static str>,
    /// `tool_choice` may name one function.
    pub choice_named: bool,
    /// `tool_choice` may be a list of allowed tools; else only those tools are sent.
    pub choice_allowed: bool,
    /// The strict mode of tools and forms.
    pub strict: StrictRule,
    /// What schemas may hold.
    pub schema: SchemaRule,
    /// Whether a function must have a schema of its arguments.
    pub needs_parameters: bool,
    /// Whether a result names its tool.
    pub result_name: bool,
    /// What the ids of calls must look like.
    pub call_ids: CallIdRule,
    /// Whether arguments in the history must be a JSON object; else they go back as the model wrote them.
    pub parsed_arguments: bool,
}

/// What the vendor makes of `strict`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictRule {
    /// Takes it and wants closed schemas: every object without further members, every property required.
    Closed,
    /// Takes any schema with it.
    Open,
    /// Does not know it.
    Refused,
}

/// What schemas may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaRule {
    /// All of JSON Schema.
    Any,
    /// The subset of OpenAPI that Gemini takes.
    Gemini,
}

/// What the ids of calls must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallIdRule {
    /// Anything.
    Any,
    /// Nine letters or digits (Mistral); others are mapped, the same way in every request.
    NineAlphanumeric,
}

/// Which forms of the answer can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatRule {
    /// Any JSON object.
    pub json_object: bool,
    /// JSON after a schema.
    pub json_schema: bool,
}

/// How streams are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamRule {
    /// `stream_options` is taken, and without it there is no usage.
    pub usage_option: bool,
    /// Whole replies are asked for as streams, too, as some models only stream; the reader makes no difference.
    pub always: bool,
}

impl Dialect {
    /// Whether a parameter is taken.
    pub fn takes(&self, parameter: &str) -> bool {
        match self.parameters {
            Parameters::All => true,
            Parameters::AllBut(refused) => !refused.contains(&parameter),
            Parameters::Only(taken) => taken.contains(&parameter),
        }
    }

    /// The vendor's name for a parameter.
    pub fn name_of<'a>(&self, parameter: &'a str) -> &'a str {
        self.renamed
            .iter()
            .find(|(ours, _)| *ours == parameter)
            .map_or(parameter, |(_, theirs)| theirs)
    }

    /// Whether it is found under this name, its own or an alias; case, blanks, `-` and `_` make no difference.
    pub fn is_called(&self, name: &str) -> bool {
        is_same_name(&self.name, name) || self.aliases.iter().any(|alias| is_same_name(alias, name))
    }
}

/// A server that speaks the API as most compatible ones do: `max_tokens`, the role `system`, text as strings, every
/// parameter passed on.
pub fn compatible(name: impl Into<Cow<'static, str>>) -> Dialect {
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
        },
        streaming: StreamRule {
            usage_option: true,
            always: false,
        },
    }
}
