//! [`Traits`]: the abilities of a model, by its id.

/// The abilities of a model that decide how a request is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) forcing: Forcing,
    /// The content that a message may have next to results of tools.
    pub(super) beside_results: Beside,
    pub(super) call_ids: CallIds,
    /// Whether results of tools have a status.
    pub(super) result_status: bool,
    /// Whether there are system instructions.
    pub(super) system: bool,
    /// Whether a conversation may begin with a message of the assistant.
    pub(super) begins_with_assistant: bool,
    pub(super) caching: Caching,
    /// Whether reasoning is signed, and expected back.
    pub(super) seals: bool,
    pub(super) thinking: ThinkingRule,
    /// Whether a JSON schema can be enforced, for answers and for arguments of tools.
    pub(super) schemas: bool,
}

/// The tool choices that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forcing {
    /// The model decides.
    Never,
    /// Any tool, or one by its name.
    Always,
    /// The same, unless the model is thinking.
    UnlessThinking,
}

/// The content that a message may have next to results of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Everything,
    TextAndImages,
    Nothing,
}

/// The ids of calls that a model accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallIds {
    /// Those of the API.
    Any,
    /// Nine letters or digits.
    Nine,
}

/// The places where a model accepts cache points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caching {
    Never,
    /// In instructions and messages.
    Prompt,
    /// Behind tools as well.
    Everything,
}

/// The form in which a model accepts how much it should think, which is a member of `additionalModelRequestFields`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingRule {
    /// There is none.
    Never,
    /// `thinking` with a budget of tokens, or adaptive with an effort; which one depends on the version of Claude.
    Claude,
    /// `reasoningConfig` with an effort.
    Nova,
    /// `reasoning_effort`.
    OpenAi,
    /// `reasoning_config`, which is low or high.
    Qwen,
}

/// An unknown model: all that the API has, and no more than every model accepts.
const UNKNOWN: Traits = Traits {
    forcing: Forcing::Never,
    beside_results: Beside::Everything,
    call_ids: CallIds::Any,
    result_status: true,
    system: true,
    begins_with_assistant: false,
    caching: Caching::Never,
    seals: false,
    thinking: ThinkingRule::Never,
    schemas: false,
};

const WITH_SCHEMAS: Traits = Traits {
    schemas: true,
    ..UNKNOWN
};

/// An inference profile or an imported model, whose id does not show the model.
const HIDDEN: Traits = Traits {
    forcing: Forcing::Always,
    caching: Caching::Everything,
    seals: true,
    schemas: true,
    ..UNKNOWN
};

const CLAUDE: Traits = Traits {
    forcing: Forcing::UnlessThinking,
    beside_results: Beside::TextAndImages,
    begins_with_assistant: true,
    caching: Caching::Everything,
    seals: true,
    thinking: ThinkingRule::Claude,
    schemas: true,
    ..UNKNOWN
};

/// Models before Claude 3.7, and the first ones of Claude 4, cannot be bound to a schema.
const CLAUDE_WITHOUT_SCHEMAS: Traits = Traits {
    schemas: false,
    ..CLAUDE
};

const CLAUDE_3: Traits = Traits {
    thinking: ThinkingRule::Never,
    ..CLAUDE_WITHOUT_SCHEMAS
};

const NOVA: Traits = Traits {
    forcing: Forcing::Always,
    caching: Caching::Prompt,
    ..UNKNOWN
};

const NOVA_2: Traits = Traits {
    thinking: ThinkingRule::Nova,
    ..NOVA
};

const LLAMA: Traits = Traits {
    beside_results: Beside::Nothing,
    ..UNKNOWN
};

const MISTRAL: Traits = Traits {
    beside_results: Beside::Nothing,
    call_ids: CallIds::Nine,
    ..UNKNOWN
};

const MISTRAL_WITH_SCHEMAS: Traits = Traits {
    schemas: true,
    ..MISTRAL
};

const GPT_OSS: Traits = Traits {
    thinking: ThinkingRule::OpenAi,
    schemas: true,
    ..UNKNOWN
};

const QWEN: Traits = Traits {
    begins_with_assistant: true,
    ..UNKNOWN
};

const QWEN_3: Traits = Traits {
    thinking: ThinkingRule::Qwen,
    schemas: true,
    ..QWEN
};

const WITHOUT_SYSTEM: Traits = Traits {
    system: false,
    ..UNKNOWN
};

const WRITER: Traits = Traits {
    result_status: false,
    ..UNKNOWN
};

/// Vendors with another part of the id, from the user guide of Bedrock ("Supported models and model features", "Structured
/// outputs") and from pydantic-ai's `providers/bedrock.py`. The first match counts.
const MODELS: &[(&str, &str, Traits)] = &[
    ("anthropic.", "claude-3-7", CLAUDE_WITHOUT_SCHEMAS),
    ("anthropic.", "claude-3", CLAUDE_3),
    ("anthropic.", "claude-v", CLAUDE_3),
    ("anthropic.", "claude-instant", CLAUDE_3),
    ("anthropic.", "opus-4-1", CLAUDE_WITHOUT_SCHEMAS),
    ("anthropic.", "opus-4-2025", CLAUDE_WITHOUT_SCHEMAS),
    ("anthropic.", "sonnet-4-2025", CLAUDE_WITHOUT_SCHEMAS),
    ("anthropic.", "opus-4-7", CLAUDE_WITHOUT_SCHEMAS),
    ("anthropic.", "opus-4-8", CLAUDE_WITHOUT_SCHEMAS),
    ("anthropic.", "", CLAUDE),
    ("amazon.nova-2", "", NOVA_2),
    ("amazon.nova", "", NOVA),
    ("amazon.titan", "", WITHOUT_SYSTEM),
    ("meta.", "", LLAMA),
    (
        "mistral.mistral-7b",
        "",
        Traits {
            system: false,
            ..MISTRAL
        },
    ),
    (
        "mistral.mixtral",
        "",
        Traits {
            system: false,
            ..MISTRAL
        },
    ),
    ("mistral.magistral-small", "", MISTRAL_WITH_SCHEMAS),
    ("mistral.ministral-3", "", MISTRAL_WITH_SCHEMAS),
    ("mistral.mistral-large-3", "", MISTRAL_WITH_SCHEMAS),
    ("mistral.voxtral", "", MISTRAL_WITH_SCHEMAS),
    ("mistral.", "", MISTRAL),
    ("cohere.command-text", "", WITHOUT_SYSTEM),
    ("cohere.command-light", "", WITHOUT_SYSTEM),
    ("ai21.j2", "", WITHOUT_SYSTEM),
    ("openai.", "", GPT_OSS),
    ("qwen.qwen3", "", QWEN_3),
    ("qwen.", "", QWEN),
    ("writer.", "", WRITER),
    ("google.gemma-3", "", WITH_SCHEMAS),
    ("minimax.minimax-m2", "", WITH_SCHEMAS),
    ("nvidia.nemotron-nano", "", WITH_SCHEMAS),
];

/// The names of areas in front of the id of a model, for inference profiles that span several regions.
const AREAS: &[&str] = &["us", "us-gov", "eu", "apac", "jp", "au", "ca", "sa", "global"];

impl Traits {
    /// Returns whether a cache point may follow tools.
    pub(super) fn caching_of_tools(self) -> bool {
        self.caching == Caching::Everything
    }

    /// Returns what a model accepts, given its id, its inference profile or its ARN.
    pub(super) fn of(model: &str) -> Self {
        let name = base_id(model);
        let is_listed = |(begin, part, _): &&(&str, &str, Self)| name.starts_with(begin) && name.contains(part);
        match MODELS.iter().find(is_listed) {
            Some((_, _, traits)) => *traits,
            None if name.contains('.') => UNKNOWN,
            None => HIDDEN,
        }
    }
}

/// Returns the id of a model without its ARN and the area of its inference profile, in lower case.
pub(super) fn base_id(model: &str) -> String {
    let id = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    match id.split_once('.') {
        Some((area, rest)) if AREAS.contains(&area) => rest.to_owned(),
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_their_ids() {
        let check = |model: &str, expected: Traits| assert_eq!(Traits::of(model), expected, "{model}");
        check("anthropic.claude-sonnet-4-5-20250929-v1:0", CLAUDE);
        check("global.anthropic.claude-opus-4-6-v1", CLAUDE);
        check("us.anthropic.claude-opus-4-20250514-v1:0", CLAUDE_WITHOUT_SCHEMAS);
        check("us.anthropic.claude-3-7-sonnet-20250219-v1:0", CLAUDE_WITHOUT_SCHEMAS);
        check("anthropic.claude-3-haiku-20240307-v1:0", CLAUDE_3);
        check("US.Amazon.Nova-Lite-v1:0", NOVA);
        check("us.amazon.nova-2-lite-v1:0", NOVA_2);
        check(
            "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.meta.llama3-2-1b-instruct-v1:0",
            LLAMA,
        );
        check(
            "arn:aws:bedrock:us-east-1::foundation-model/mistral.mistral-large-2407-v1:0",
            MISTRAL,
        );
        check(
            "mistral.mistral-7b-instruct-v0:2",
            Traits {
                system: false,
                ..MISTRAL
            },
        );
        check("openai.gpt-oss-120b-1:0", GPT_OSS);
        check("qwen.qwen3-32b-v1:0", QWEN_3);
        check("us.writer.palmyra-x5-v1:0", WRITER);
        check("deepseek.v3-v1:0", UNKNOWN);
        check("us.newcomer.model-1", UNKNOWN);
        check(
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123",
            HIDDEN,
        );
    }
}
