//! [`OutputLimit`]: the token limit that a server allows, read from its refusal of a higher one.

use super::integers::{self, Integer};
use crate::error::{LlmError, LlmErrorKind};

/// A server's refusal of a request because its token limit is too high.
///
/// ```
/// use agcore_wire::{LlmError, LlmErrorKind, failure::OutputLimit};
///
/// let message = "max_tokens is too large: 20000. This model supports at most 16384 completion tokens.";
/// let refusal = LlmError::new(LlmErrorKind::InvalidRequest, message);
/// assert_eq!(OutputLimit::of(&refusal, Some(20_000)).unwrap().at_most, Some(16_384));
///
/// let other = LlmError::new(LlmErrorKind::InvalidRequest, "temperature must be at most 2");
/// assert_eq!(OutputLimit::of(&other, Some(20_000)), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputLimit {
    /// The highest limit that the server accepts for this request, if it names one. It is lower than the refused one.
    pub at_most: Option<u64>,
    /// The most tokens of prompt and reply together, if that is what the limit exceeds. A longer prompt leaves less for the
    /// reply then.
    pub window: Option<u64>,
    /// Whether the account cannot pay for more. The model may accept a higher limit.
    pub is_by_credit: bool,
}

/// Names of the parameter, in lower case.
const PARAMETERS: &[&str] = &[
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "maxoutputtokens",
    "maxtokens",
    "max tokens",
    "max output tokens",
    "max completion tokens",
    "max new tokens",
    "num_predict",
    "tokens_to_generate",
];

/// Other words for the length of the reply. A message about its limit contains one of them.
const REPLIES: &[&str] = &[
    "maximum tokens",
    "output token",
    "output length",
    "completion token",
    "generated token",
    "new tokens",
    "tokens to generate",
    "in the completion",
    "for the completion",
    "in the output",
    "for the output",
    "tokens per minute (tpm)",
];

/// Refusals of the parameter for another reason than a value that is too high.
const OTHER_REASONS: &[&str] = &[
    "unsupported parameter",
    "unknown parameter",
    "unrecognized",
    "is not supported",
    "not permitted",
    "extra inputs",
    "be greater than",
    "at least",
    "be positive",
    "is required",
    "field required",
    "missing",
    "higher max_tokens",
    "too low",
    "too small",
];

/// The words before the highest limit.
const BEFORE_LIMIT: &[&str] = &[
    "than or equal to",
    "less or equal to",
    "not be greater than",
    "not be larger than",
    "not be more than",
    "at most",
    "no more than",
    "not more than",
    "not exceed",
    "cannot exceed",
    "up to",
    "<=",
    "≤",
    ">",
    "maximum",
    "maximum of",
    "maximum is",
    "maximum value",
    "maximum allowed",
    "limit",
    "limit of",
    "limit is",
    "limited to",
    "max",
];

/// The words before the lowest limit that is too high.
const BEFORE_EXCESS: &[&str] = &["less than", "lower than", "smaller than", "below", "<"];

/// The words before the most tokens of prompt and reply together.
const BEFORE_WINDOW: &[&str] = &[
    "maximum context length is",
    "maximum context length of",
    "context length is only",
    "context length is",
    "context length of",
    "context window of",
    "context window is",
    "max_model_len",
    "`max_new_tokens` must be <=",
    "tokens per minute (tpm): limit",
];

/// The words before the number of tokens of prompt and reply together.
const BEFORE_SUM: &[&str] = &[
    "requested a total of",
    "you requested about",
    "you requested",
    "requested",
];

/// The words before the number of tokens that an account can pay for.
const BEFORE_AFFORDABLE: &[&str] = &["only afford", "can afford", "afford up to", "afford at most"];

/// The words behind the number of tokens of the prompt.
const AFTER_PROMPT: &[&str] = &[
    "in the messages",
    "in your prompt",
    "in the prompt",
    "of text input",
    "tokens from the input",
    "input tokens",
    "prompt tokens",
    "`inputs` tokens",
];

/// Words that may be between these words and the number.
const FILLERS: &[&str] = &[" is", " of", " to", " value", " allowed", " limit", " tokens"];

/// The most bytes between the two numbers of a range.
const NEAR: usize = 20;

/// The least limit that is believed when no words say that it is one. Lower numbers have other meanings.
const LEAST_BARE_LIMIT: u64 = 128;

impl OutputLimit {
    /// Reads the allowed token limit from the error of a request with the limit `sent`; `None` if the error is not about a limit
    /// that is too high. Without `sent`, the request got its limit from elsewhere.
    pub fn of(error: &LlmError, sent: Option<u64>) -> Option<Self> {
        let is_too_long = match error.kind() {
            LlmErrorKind::QuotaExhausted => return Self::by_credit(error, sent),
            LlmErrorKind::InvalidRequest | LlmErrorKind::Unknown => false,
            LlmErrorKind::ContextLength { .. } => true,
            // The limit counts against the tokens per minute before anything is written, so waiting does not help.
            LlmErrorKind::RateLimit if error.status() == Some(413) => true,
            _ => return None,
        };
        let message = error.message().to_lowercase();
        let body = error.body_excerpt().unwrap_or_default().to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| message.contains(word) || body.contains(word));
        let names_parameter = names(PARAMETERS);
        if !names_parameter && !names(REPLIES) {
            return None;
        }
        let refusal = Refusal::new(&message, sent);
        if let Some((at_most, window)) = refusal.beside_prompt() {
            // Otherwise, the prompt alone is too long.
            let at_most = at_most.filter(|at_most| refusal.is_lower(*at_most));
            return at_most.map(|at_most| Self {
                at_most: Some(at_most),
                window: Some(window),
                is_by_credit: false,
            });
        }
        if is_too_long {
            return None;
        }
        let is_other = OTHER_REASONS.iter().any(|reason| message.contains(reason));
        let bare = || refusal.only_lower().filter(|_| !is_other);
        let at_most = refusal.range().or_else(|| refusal.worded()).or_else(bare);
        (at_most.is_some() || names_parameter && !is_other).then_some(Self {
            at_most,
            window: None,
            is_by_credit: false,
        })
    }

    /// Reads for how many tokens the account can pay. Without a number, it can pay for none.
    fn by_credit(error: &LlmError, sent: Option<u64>) -> Option<Self> {
        let message = error.message().to_lowercase();
        if !PARAMETERS.iter().any(|parameter| message.contains(parameter)) {
            return None;
        }
        let refusal = Refusal::new(&message, sent);
        let at_most = refusal.number_after(BEFORE_AFFORDABLE)?;
        refusal.is_lower(at_most).then_some(Self {
            at_most: Some(at_most),
            window: None,
            is_by_credit: true,
        })
    }
}

/// A message in lower case, with its numbers and the limit that was sent.
struct Refusal<'m> {
    message: &'m str,
    numbers: Vec<Integer>,
    sent: Option<u64>,
}

impl<'m> Refusal<'m> {
    fn new(message: &'m str, sent: Option<u64>) -> Self {
        Self {
            message,
            numbers: integers::integers(message),
            sent,
        }
    }

    fn is_lower(&self, limit: u64) -> bool {
        limit > 0 && self.sent.is_none_or(|sent| limit < sent)
    }

    /// Returns the text between a number and the one before it.
    fn before(&self, at: usize) -> &'m str {
        let start = at.checked_sub(1).map_or(0, |before| self.numbers[before].end);
        self.message[start..self.numbers[at].start].trim_end_matches([' ', '`', '\'', '"', ':', '(', '*'])
    }

    /// Returns the text between a number and the next one.
    fn after(&self, at: usize) -> &'m str {
        let end = self.numbers.get(at + 1).map_or(self.message.len(), |next| next.start);
        self.message[self.numbers[at].end..end].trim_start()
    }

    /// Returns the first number directly after one of these words.
    fn number_after(&self, words: &[&str]) -> Option<u64> {
        let is_after = |at: &usize| words.iter().any(|word| self.before(*at).ends_with(word));
        (0..self.numbers.len()).find(is_after).map(|at| self.numbers[at].value)
    }

    /// Returns the limit that the prompt leaves, and what limits both together, if the message is about that.
    fn beside_prompt(&self) -> Option<(Option<u64>, u64)> {
        if let Some(found) = self.sum() {
            return Some(found);
        }
        let window = self.number_after(BEFORE_WINDOW)?;
        let is_prompt = |at: &usize| AFTER_PROMPT.iter().any(|word| self.after(*at).starts_with(word));
        let prompt = (0..self.numbers.len()).find(is_prompt).map(|at| self.numbers[at].value);
        let sum = || self.number_after(BEFORE_SUM)?.checked_sub(self.sent?);
        let prompt = prompt.or_else(sum);
        Some((prompt.and_then(|prompt| window.checked_sub(prompt)), window))
    }

    /// Reads `20000 > 8192 - 12` and `12 + 20000 > 8192`.
    fn sum(&self) -> Option<(Option<u64>, u64)> {
        let sign = |at: usize| self.after(at).trim();
        (0..self.numbers.len().saturating_sub(2)).find_map(|at| {
            let [first, second, third] = [at, at + 1, at + 2].map(|at| self.numbers[at].value);
            match (sign(at), sign(at + 1)) {
                (">", "-") => Some((second.checked_sub(third), second)),
                ("+", ">") => Some((third.checked_sub(first), third)),
                _ => None,
            }
        })
    }

    /// Returns the end of a range: `[1, 8192]`, `1 (inclusive) to 8193 (exclusive)`.
    fn range(&self) -> Option<u64> {
        (1..self.numbers.len()).find_map(|at| {
            let (first, last) = (&self.numbers[at - 1], &self.numbers[at]);
            let gap = &self.message[first.end..last.start];
            if first.value > 1 || gap.len() > NEAR || !self.is_lower(last.value) || is_condition(gap) {
                return None;
            }
            let opens = self.message[..first.start].ends_with(['[', '(']);
            let closes_open = opens && self.message[last.end..].starts_with(')');
            let is_excluded = closes_open || self.after(at).starts_with("(exclusive");
            Some(last.value - u64::from(is_excluded))
        })
    }

    /// Returns the first lower number that words call a limit.
    fn worded(&self) -> Option<u64> {
        let lower_after = |words: &[&str]| {
            let is_after = |at: usize| words.iter().any(|word| near(self.before(at), word));
            let mut numbers = self.numbers.iter().enumerate();
            let found = numbers.find(|(at, number)| self.is_lower(number.value) && is_after(*at));
            found.map(|(_, number)| number.value)
        };
        let excess = || lower_after(BEFORE_EXCESS)?.checked_sub(1).filter(|limit| *limit > 0);
        lower_after(BEFORE_LIMIT).or_else(excess)
    }

    /// Returns the only number that may be a limit, if there is only one.
    fn only_lower(&self) -> Option<u64> {
        let sent = self.sent?;
        let mut lower = self.numbers.iter().map(|number| number.value);
        let mut lower = lower.by_ref().filter(|value| (LEAST_BARE_LIMIT..sent).contains(value));
        let first = lower.next()?;
        lower.all(|other| other == first).then_some(first)
    }
}

/// Returns whether a text ends with these words, apart from a verb or a unit.
fn near(text: &str, words: &str) -> bool {
    let mut text = text.trim_end();
    loop {
        if text.ends_with(words) {
            return true;
        }
        match FILLERS.iter().find_map(|filler| text.strip_suffix(filler)) {
            Some(rest) => text = rest,
            None => return false,
        }
    }
}

/// Returns whether the text between two numbers separates two statements: "at least 1, got 20000".
fn is_condition(gap: &str) -> bool {
    ["got", "but", "received", "given", "provided", ". "]
        .iter()
        .any(|word| gap.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOO_LONG: LlmErrorKind = LlmErrorKind::ContextLength {
        limit: None,
        requested: None,
    };

    fn read(kind: LlmErrorKind, message: &str, sent: Option<u64>) -> Option<(Option<u64>, Option<u64>)> {
        let error = LlmError::new(kind, message.to_owned()).with_status(400);
        OutputLimit::of(&error, sent).map(|limit| (limit.at_most, limit.window))
    }

    #[track_caller]
    fn names(message: &str, at_most: u64) {
        let expected = Some((Some(at_most), None));
        assert_eq!(
            read(LlmErrorKind::InvalidRequest, message, Some(20_000)),
            expected,
            "{message}"
        );
    }

    #[track_caller]
    fn leaves(message: &str, at_most: u64, window: u64) {
        let expected = Some((Some(at_most), Some(window)));
        for kind in [TOO_LONG, LlmErrorKind::InvalidRequest] {
            assert_eq!(read(kind, message, Some(20_000)), expected, "{message}");
        }
    }

    #[track_caller]
    fn is_not_about_a_limit(kind: LlmErrorKind, message: &str) {
        assert_eq!(read(kind, message, Some(20_000)), None, "{message}");
    }

    #[test]
    fn reads_the_limit_of_a_model_in_each_vendors_words() {
        let openai = "max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.";
        names(openai, 16_384);
        names(
            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 20000 instead.",
            16_384,
        );
        names(
            "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            8192,
        ); // DeepSeek
        let anthropic = "max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022";
        names(anthropic, 8192);
        assert_eq!(
            read(LlmErrorKind::InvalidRequest, anthropic, None),
            Some((Some(8192), None))
        );
        let groq = "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model";
        names(groq, 8192);
        names("Range of max_tokens should be [1, 8192]", 8192); // DashScope
        names(
            "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1,4096]",
            4096,
        );
        names("max_tokens: Input should be less than or equal to 8192", 8192); // Mistral, of pydantic
        let gemini =
            "it has a maxOutputTokens value of 20000 but the supported range is from 1 (inclusive) to 8193 (exclusive)";
        names(gemini, 8192);
        names(
            "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 20000.",
            4096,
        );
        let bedrock = "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.";
        names(bedrock, 4096);
        names("#/maxTokens: 20000 is not less or equal to 8192", 8192);
        names("max_tokens must be less than 16,385", 16_384);
        names("max_tokens 不能大于 4095", 4095); // Zhipu
        names(
            "the model `gpt-4o-2024-08-06` allows 16384 output tokens and you asked for 20000",
            16_384,
        );
        names("max_tokens must be at least 1 and at most 8192", 8192);
        names("max_new_tokens should be between 1 and 2048", 2048);
    }

    #[test]
    fn reads_what_a_prompt_leaves_of_the_window() {
        let vllm = "'max_tokens' or 'max_completion_tokens' is too large: 20000. This model's maximum context length is 8192 tokens and your request has 12 input tokens (20000 > 8192 - 12).";
        leaves(vllm, 8180, 8192);
        let openai = "This model's maximum context length is 8192 tokens. However, you requested 20012 tokens (12 in the messages, 20000 in the completion). Please reduce the length of the messages or completion.";
        leaves(openai, 8180, 8192);
        let sglang = "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 20012 tokens: 12 tokens from the input messages and 20000 tokens for the completion.";
        leaves(sglang, 8180, 8192);
        let openrouter = "This endpoint's maximum context length is 8192 tokens. However, you requested about 20012 tokens (12 of text input, 20000 in the output).";
        leaves(openrouter, 8180, 8192);
        let anthropic = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again";
        leaves(anthropic, 10_000, 200_000);
        let tgi =
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5 `inputs` tokens and 20000 `max_new_tokens`";
        leaves(tgi, 4091, 4096);
        let groq = "Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 20012, please reduce your message size";
        let error = LlmError::new(LlmErrorKind::RateLimit, groq);
        assert_eq!(
            OutputLimit::of(&error.with_status(413), Some(20_000)).unwrap().at_most,
            Some(5988)
        );
    }

    #[test]
    fn reads_for_how_many_tokens_an_account_can_pay() {
        let openrouter = "This request requires more credits, or fewer max_tokens. You requested up to 20000 tokens, but can only afford 1234. To increase, visit https://openrouter.ai/settings/credits and add more credits";
        for sent in [Some(20_000), None] {
            let error = LlmError::new(LlmErrorKind::QuotaExhausted, openrouter).with_status(402);
            let found = OutputLimit::of(&error, sent).unwrap();
            assert_eq!(
                (found.at_most, found.window, found.is_by_credit),
                (Some(1_234), None, true)
            );
        }
        assert_eq!(read(LlmErrorKind::QuotaExhausted, openrouter, Some(1_234)), None);
        for message in [
            "Insufficient credits. You need at least 20000.",
            "This request requires more credits, or fewer max_tokens. You can only afford 0.",
            "This request requires more credits, or fewer max_tokens.",
        ] {
            is_not_about_a_limit(LlmErrorKind::QuotaExhausted, message);
        }
    }

    #[test]
    fn a_limit_that_is_not_named_is_too_high_all_the_same() {
        for message in [
            "max_tokens is too large",
            "Invalid value for 'max_completion_tokens'",
            "max_tokens must be reasonable: 20000",
        ] {
            assert_eq!(
                read(LlmErrorKind::InvalidRequest, message, Some(20_000)),
                Some((None, None)),
                "{message}"
            );
        }
    }

    #[test]
    fn other_refusals_say_nothing_about_it() {
        for message in [
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "`max_tokens` must be greater than `thinking.budget_tokens`: 1024",
            "max_tokens: Field required",
            "temperature must be at most 2",
            "the model gpt-4 does not exist",
        ] {
            is_not_about_a_limit(LlmErrorKind::InvalidRequest, message);
        }
        let prompt = "This model's maximum context length is 8192 tokens. However, you requested 40012 tokens (20012 in the messages, 20000 in the completion).";
        is_not_about_a_limit(TOO_LONG, prompt);
        is_not_about_a_limit(TOO_LONG, "prompt is too long: 213462 tokens > 200000 maximum");
        is_not_about_a_limit(LlmErrorKind::RateLimit, "max_tokens: 20000 > 8192");
        // A repeated request would get the same answer.
        assert_eq!(
            read(
                LlmErrorKind::InvalidRequest,
                "max_tokens must be at most 8192",
                Some(8192)
            ),
            Some((None, None))
        );
    }
}
