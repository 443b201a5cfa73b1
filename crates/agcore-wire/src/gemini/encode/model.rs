//! [`Traits`]: the abilities of a model, by its name.

/// The abilities of a model that decide how a request is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) thinking: ThinkingRule,
    /// Whether there are system instructions.
    pub(super) system: bool,
    /// Whether schemas of functions can be enforced although the model decides whether to call one (`VALIDATED`).
    pub(super) validated: bool,
    /// Whether JSON can be requested together with functions, and results of functions may contain files.
    pub(super) combines: bool,
}

/// The form in which a model accepts how much it should think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingRule {
    /// The model does not think.
    Never,
    /// A budget of tokens between these, or 0 where thinking can be off.
    Budget { min: u64, max: u64, can_be_off: bool },
    /// A level.
    Level { has_minimal: bool },
}

const FIRST: Traits = Traits {
    thinking: ThinkingRule::Never,
    system: true,
    validated: false,
    combines: false,
};

const GEMMA: Traits = Traits { system: false, ..FIRST };

const SECOND: Traits = Traits {
    thinking: budget(1, true),
    validated: true,
    ..FIRST
};

const SECOND_LITE: Traits = Traits {
    thinking: budget(512, true),
    ..SECOND
};

const SECOND_PRO: Traits = Traits {
    thinking: ThinkingRule::Budget {
        min: 128,
        max: 32_768,
        can_be_off: false,
    },
    ..SECOND
};

const LATER: Traits = Traits {
    thinking: ThinkingRule::Level { has_minimal: true },
    system: true,
    validated: true,
    combines: true,
};

const LATER_PRO: Traits = Traits {
    thinking: ThinkingRule::Level { has_minimal: false },
    ..LATER
};

/// The budget of a model when a setting asks for one although the name does not.
pub(super) const ANY_BUDGET: ThinkingRule = budget(1, true);

const fn budget(min: u64, can_be_off: bool) -> ThinkingRule {
    ThinkingRule::Budget {
        min,
        max: 24_576,
        can_be_off,
    }
}

/// The beginnings of names with another part of the name, from ai.google.dev, "Thinking" and "Function calling". The first
/// match counts; other models are taken for new ones.
const MODELS: &[(&str, &str, Traits)] = &[
    ("gemma", "", GEMMA),
    ("gemini-1", "", FIRST),
    ("gemini-2.0", "", FIRST),
    ("gemini-2.5", "-image", FIRST),
    ("gemini-2.5", "-tts", FIRST),
    ("gemini-2.5", "-pro", SECOND_PRO),
    ("gemini-2.5", "-lite", SECOND_LITE),
    ("gemini-2.5", "", SECOND),
    ("gemini-3.7", "-flash", LATER_PRO),
    ("gemini-", "-pro", LATER_PRO),
];

impl Traits {
    /// Returns what a model accepts. A collection in front of its name does not matter.
    pub(super) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let is_listed = |(begin, part, _): &&(&str, &str, Self)| name.starts_with(begin) && name.contains(part);
        MODELS.iter().find(is_listed).map_or(LATER, |(_, _, traits)| *traits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_by_their_names() {
        let check = |model: &str, expected: Traits| assert_eq!(Traits::of(model), expected, "{model}");
        check("gemini-2.0-flash", FIRST);
        check("models/gemini-2.5-flash", SECOND);
        check("gemini-2.5-flash-lite-preview-09-2025", SECOND_LITE);
        check("gemini-2.5-pro", SECOND_PRO);
        check("gemini-2.5-flash-image", FIRST);
        check("gemini-3-pro-preview", LATER_PRO);
        check("gemini-3.5-flash", LATER);
        check("gemini-3.7-flash", LATER_PRO);
        check("gemini-pro-latest", LATER_PRO);
        check("gemini-flash-latest", LATER);
        check("tunedModels/mine", LATER);
        check("Gemma-3-27b-it", GEMMA);
    }
}
