//! The numbers in a message about a prompt that is too long: the model's context window, and the requested tokens.

/// The words before the context window, in lower case: one line per vendor's wording, in order of preference.
const BEFORE_LIMIT: &[&str] = &[
    "maximum context length is ",
    "maximum context length of ",
    "context length is only ",
    "maximum prompt length is ",
    "maximum number of tokens allowed (",
    "exceeded model token limit: ",
    "max_model_len ",
    "maximum model length of ",
    "exceed context window of ",
    "context length of only ",
    "greater than max_seq_len ",
    "window limit (",
    "exceeds maximum input length (",
    "available context size (",
    "context length (",
    "too large for model with ",
    "exceeds the limit of ",
    "maximum allowed input length of ",
    "maximum allowed length (",
    "configured context size is ",
    "length should be [1, ",
    "`max_new_tokens` must be <= ",
    "must have less than ",
    "tokens > ",
];

/// The words before the number of requested tokens.
const BEFORE_REQUESTED: &[&str] = &[
    "messages resulted in ",
    "requested a total of ",
    "requested about ",
    "(requested: ",
    "request contains ",
    "engine prompt length ",
    "prompt is too long: ",
    "input token count (",
    "token count of ",
    "prompt contains ",
    "request (",
    "the input (",
    "input length (",
    "input length ",
    "prompt has ",
    "you requested ",
    "given: ",
];

/// Returns the context window and the requested tokens, if the message contains them.
pub(super) fn parse(message: &str) -> (Option<u64>, Option<u64>) {
    let message = message.to_ascii_lowercase();
    let after = |words: &[&str]| words.iter().find_map(|words| number_after(&message, words));
    (after(BEFORE_LIMIT), after(BEFORE_REQUESTED))
}

fn number_after(message: &str, words: &str) -> Option<u64> {
    let rest = &message[message.find(words)? + words.len()..];
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != ',')
        .unwrap_or(rest.len());
    rest[..end].replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_each_vendors_wording() {
        let check = |message: &str, limit, requested| {
            assert_eq!(parse(message), (limit, requested), "{message}");
        };
        check(
            "prompt is too long: 213462 tokens > 200000 maximum",
            Some(200_000),
            Some(213_462),
        );
        check(
            "This model's maximum context length is 128,000 tokens. However, your messages resulted in 204308 tokens.",
            Some(128_000),
            Some(204_308),
        );
        check(
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            Some(1_048_575),
            Some(1_196_265),
        );
        check(
            "maximum prompt length is 131072 but the request contains 537812 tokens.",
            Some(131_072),
            Some(537_812),
        );
        check(
            "request (13392 tokens) exceeds the available context size (8192 tokens)",
            Some(8192),
            Some(13_392),
        );
        check(
            "The engine prompt length 9120 exceeds the max_model_len 8192. Please reduce prompt.",
            Some(8192),
            Some(9120),
        );
        check(
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
            Some(4096),
            Some(5000),
        );
        check(
            "`inputs` must have less than 1024 tokens. Given: 1100",
            Some(1024),
            Some(1100),
        );
        check(
            "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
            Some(131_040),
            Some(131_393),
        );
        check(
            "Input length (125000 tokens) exceeds the maximum allowed length (40956 tokens).",
            Some(40_956),
            Some(125_000),
        );
        check(
            "Input length (265330) exceeds model's maximum context length (262144).",
            Some(262_144),
            Some(265_330),
        );
        check("Please reduce the length of the messages or completion.", None, None);
    }
}
