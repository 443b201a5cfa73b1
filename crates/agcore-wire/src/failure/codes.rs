//! Codes and types with a precise meaning, which override the status.
//!
//! They come from the vendors' error references and from recorded replies: OpenAI, Azure, Anthropic, Gemini
//! (google.rpc.Code), Groq, Mistral, DashScope, Moonshot, z.ai (numbers), llama.cpp, vLLM, LiteLLM, GitHub Copilot, Bedrock (names
//! that end in `Exception`).

use crate::error::{LlmErrorKind, TimeoutStage};

/// The codes of each kind, in lower case.
type Table = &'static [(LlmErrorKind, &'static [&'static str])];

const PRECISE: Table = &[
    (
        LlmErrorKind::QuotaExhausted,
        &[
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_error",
            "billing_not_active",
            "exceeded_current_quota_error",
            "enforced_spend_limit_reached",
            "insufficient_balance",
            "insufficient_user_quota",
            "arrearage",
            "payment_required",
            "usage_limit_reached", // OpenAI, for subscriptions
            "allocationquota.freetieronly",
            "servicequotaexceededexception",
            "1113",
            "1304",
            "1308",
        ],
    ),
    (
        LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_max_prompt_tokens_exceeded",
            "context_window_exceeded",
            "model_context_window_exceeded",
            "1261",
            "request_too_large",
            "too_many_prompt_tokens", // Perplexity
        ],
    ),
    (
        LlmErrorKind::ContentFilter,
        &[
            "content_filter",
            "content_policy_violation",
            "data_inspection_failed",
            "datainspectionfailed",
            "responsibleaipolicyviolation",
            "1301",
            "bio_policy",
            "image_content_policy_violation",
            "moderation_blocked",
        ],
    ),
    (LlmErrorKind::InvalidToolCall, &["tool_use_failed"]),
    (
        LlmErrorKind::RateLimit,
        &[
            "rate_limit_exceeded",
            "rate_limit_error",
            "rate_limited",
            "rate_limit_reached_error",
            "throttling_error",
            "throttlingexception",
            "toomanyrequestsexception",
            "throttling",
            "throttling.ratequota",
            "throttling.allocationquota",
            "limit_requests",
            "too_many_requests",
            "slow_down",
            "resource_exhausted",
            "1302",
            "1303",
            "1305",
        ],
    ),
    (
        LlmErrorKind::Authentication,
        &[
            "invalid_api_key",
            "authentication_error",
            "invalid_authentication_error",
            "incorrect_api_key",
            "incorrect_api_key_error",
            "invalidapikey",
            "api_key_invalid",
            "no_db_connection",
            "unauthenticated",
            "expiredtoken",
            "expiredtokenexception",
            "incompletesignatureexception",
            "invalidclienttokenid",
            "invalidsignatureexception",
            "missingauthenticationtoken",
            "missingauthenticationtokenexception",
            "signaturedoesnotmatch",
            "unrecognizedclientexception",
        ],
    ),
    (
        LlmErrorKind::Permission,
        &[
            "permission_error",
            "permission_denied",
            "permission_denied_error",
            "request_forbidden",
            "unsupported_country_region_territory",
            "accessdeniedexception",
        ],
    ),
    (
        LlmErrorKind::NotFound,
        &[
            "model_not_found",
            "invalid_model", // Mistral
            "unknown_model",
            "model_not_supported", // GitHub Copilot, Hugging Face
            "1211",                // z.ai
            "not_found_error",
            "notfounderror",
            "deploymentnotfound",
            "not_found",
            "resource_not_found_error",
            "resourcenotfoundexception",
        ],
    ),
    (
        LlmErrorKind::Overloaded,
        &[
            "overloaded_error",
            "unavailable_error",
            "unavailable",
            "server_is_overloaded",
            "engine_overloaded_error",
            "model_overloaded",
            "capacity_exceeded",
            "service_unavailable",
            "service_unavailable_error",
            "modelnotreadyexception",
            "serviceunavailableexception",
        ],
    ),
    (
        LlmErrorKind::Timeout(TimeoutStage::Total),
        &[
            "timeout",
            "timeout_error",
            "request_timeout",
            "deadline_exceeded",
            "modeltimeoutexception",
        ],
    ),
];

const VAGUE: Table = &[
    (
        LlmErrorKind::Server,
        &[
            "server_error",
            "internalservererror",
            "internal_server_error",
            "internal_error",
            "internal",
            "vector_store_timeout",
            "internalserverexception",
            "modelerrorexception",
            "modelstreamerrorexception",
            "api_error",
        ],
    ),
    (
        LlmErrorKind::InvalidRequest,
        &[
            "invalid_request_error",
            "badrequesterror",
            "validationexception",
            "bad_request_error",
            "invalid_argument",
            "failed_precondition",
            "invalid_prompt",
            "data_residency_mismatch",
            "invalid_image",
            "invalid_image_format",
            "invalid_base64_image",
            "invalid_image_url",
            "invalid_image_mode",
            "image_too_large",
            "image_too_small",
            "image_parse_error",
            "image_file_too_large",
            "image_file_not_found",
            "unsupported_image_media_type",
            "empty_image_file",
            "failed_to_download_image",
        ],
    ),
];

/// Returns the kind of a code or type that determines it alone.
pub(super) fn precise(code: &str) -> Option<LlmErrorKind> {
    find(PRECISE, code)
}

/// Returns the kind of a type that is used if neither a precise code, nor the status, nor the wording determines it.
pub(super) fn vague(code: &str) -> Option<LlmErrorKind> {
    find(VAGUE, code)
}

fn find(table: Table, code: &str) -> Option<LlmErrorKind> {
    // Amazon's codes may have a namespace in front (`com.amazon.coral#Name`), and an address behind them (`Name:http://…`).
    let code = code.split(':').next().unwrap_or(code);
    let code = code.rsplit('#').next().unwrap_or(code);
    let is_listed = |codes: &[&str]| codes.iter().any(|known| known.eq_ignore_ascii_case(code));
    let (kind, _) = table.iter().find(|(_, codes)| is_listed(codes))?;
    Some(*kind)
}

/// Translates one of MiniMax's numbers, which have other meanings for other vendors, to a code of the tables.
///
/// From MiniMax's list of error codes (platform.minimax.io, api-reference/errorcode).
pub(super) fn from_minimax(number: &str) -> Option<&'static str> {
    Some(match number {
        "1001" => "request_timeout",
        // Requests, tokens, connections, and their growth.
        "1002" | "1039" | "1041" | "2045" => "rate_limit_exceeded",
        "1004" | "2049" => "invalid_api_key",
        "1008" => "insufficient_balance",
        "2056" => "usage_limit_reached",
        "1026" | "1027" => "content_filter",
        "1000" | "1013" | "1024" | "1033" => "server_error",
        "2013" => "invalid_request_error",
        _ => return None,
    })
}

/// Returns the rank of a kind if a body has several precise codes; the lowest one wins. Quotas come before rate limits.
pub(super) fn rank(kind: LlmErrorKind) -> u8 {
    match kind {
        LlmErrorKind::QuotaExhausted => 0,
        LlmErrorKind::ContentFilter | LlmErrorKind::InvalidToolCall => 1,
        LlmErrorKind::RateLimit => 2,
        LlmErrorKind::ContextLength { .. } => 3,
        LlmErrorKind::Authentication => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translates_minimax_numbers_to_known_codes() {
        for number in 1000..2100 {
            if let Some(code) = from_minimax(&number.to_string()) {
                assert!(precise(code).or_else(|| vague(code)).is_some(), "{number}: {code}");
            }
        }
        assert_eq!(
            from_minimax("1008").and_then(precise),
            Some(LlmErrorKind::QuotaExhausted)
        );
        assert_eq!(from_minimax("0"), None);
    }

    #[test]
    fn lists_each_code_once_and_ignores_case() {
        let codes: Vec<&str> = [PRECISE, VAGUE]
            .concat()
            .iter()
            .flat_map(|(_, codes)| codes.iter().copied())
            .collect();
        for code in &codes {
            assert_eq!(codes.iter().filter(|other| *other == code).count(), 1, "{code}");
        }
        assert_eq!(precise("Insufficient_Quota"), Some(LlmErrorKind::QuotaExhausted));
        for code in [
            "com.amazon.coral.service#ThrottlingException",
            "ThrottlingException:http://a.example/#b",
        ] {
            assert_eq!(precise(code), Some(LlmErrorKind::RateLimit), "{code}");
        }
    }
}
