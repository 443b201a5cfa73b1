//! Codes and types with a precise meaning: they stand over the status.
//!
//! From the vendors' error references and recorded answers: OpenAI, Azure, Anthropic, Gemini (google.rpc.Code), Groq,
//! Mistral, DashScope, Moonshot, z.ai (by numbers), llama.cpp, vLLM, LiteLLM, GitHub Copilot.

use crate::error::{LlmErrorKind, TimeoutStage};

/// What a code or type says by itself.
pub(super) fn precise(code: &str) -> Option<LlmErrorKind> {
    Some(match code.to_ascii_lowercase().as_str() {
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "billing_error"
        | "billing_not_active"
        | "exceeded_current_quota_error"
        | "enforced_spend_limit_reached"
        | "insufficient_balance"
        | "insufficient_user_quota"
        | "arrearage"
        | "payment_required"
        | "usage_limit_reached" // OpenAI, of a plan
        | "allocationquota.freetieronly"
        | "1113"
        | "1304"
        | "1308" => LlmErrorKind::QuotaExhausted,
        "context_length_exceeded"
        | "exceed_context_size_error"
        | "model_max_prompt_tokens_exceeded"
        | "context_window_exceeded"
        | "model_context_window_exceeded"
        | "1261"
        | "request_too_large" => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        "content_filter"
        | "content_policy_violation"
        | "data_inspection_failed"
        | "datainspectionfailed"
        | "responsibleaipolicyviolation"
        | "1301"
        | "bio_policy"
        | "image_content_policy_violation"
        | "moderation_blocked" => LlmErrorKind::ContentFilter,
        "tool_use_failed" => LlmErrorKind::InvalidToolCall,
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "rate_limited"
        | "rate_limit_reached_error"
        | "throttling_error"
        | "throttlingexception"
        | "throttling"
        | "throttling.ratequota"
        | "throttling.allocationquota"
        | "limit_requests"
        | "too_many_requests"
        | "slow_down"
        | "resource_exhausted"
        | "1302"
        | "1303"
        | "1305" => LlmErrorKind::RateLimit,
        "invalid_api_key"
        | "authentication_error"
        | "invalid_authentication_error"
        | "incorrect_api_key"
        | "incorrect_api_key_error"
        | "invalidapikey"
        | "api_key_invalid"
        | "no_db_connection"
        | "unauthenticated" => LlmErrorKind::Authentication,
        "permission_error"
        | "permission_denied"
        | "permission_denied_error"
        | "request_forbidden"
        | "unsupported_country_region_territory" => LlmErrorKind::Permission,
        "model_not_found"
        | "not_found_error"
        | "notfounderror"
        | "deploymentnotfound"
        | "not_found"
        | "resource_not_found_error" => LlmErrorKind::NotFound,
        "overloaded_error"
        | "unavailable_error"
        | "unavailable"
        | "server_is_overloaded"
        | "engine_overloaded_error"
        | "model_overloaded"
        | "capacity_exceeded"
        | "service_unavailable"
        | "service_unavailable_error" => LlmErrorKind::Overloaded,
        "timeout" | "timeout_error" | "request_timeout" | "deadline_exceeded" => {
            LlmErrorKind::Timeout(TimeoutStage::Total)
        }
        _ => return None,
    })
}

/// The well-known code of the same meaning as one of MiniMax's numbers, which other vendors use for other things.
///
/// From MiniMax's list of error codes (platform.minimax.io, api-reference/errorcode).
pub(super) fn of_minimax(number: &str) -> Option<&'static str> {
    Some(match number {
        "1001" => "request_timeout",
        // Requests, tokens, connections, and how fast they grow.
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

/// What a type says when neither a precise code, nor a status, nor the wording says more.
pub(super) fn vague(code: &str) -> Option<LlmErrorKind> {
    Some(match code.to_ascii_lowercase().as_str() {
        "server_error"
        | "internalservererror"
        | "internal_server_error"
        | "internal_error"
        | "internal"
        | "vector_store_timeout"
        | "api_error" => LlmErrorKind::Server,
        "invalid_request_error"
        | "badrequesterror"
        | "bad_request_error"
        | "invalid_argument"
        | "failed_precondition"
        | "invalid_prompt"
        | "data_residency_mismatch"
        | "invalid_image"
        | "invalid_image_format"
        | "invalid_base64_image"
        | "invalid_image_url"
        | "invalid_image_mode"
        | "image_too_large"
        | "image_too_small"
        | "image_parse_error"
        | "image_file_too_large"
        | "image_file_not_found"
        | "unsupported_image_media_type"
        | "empty_image_file"
        | "failed_to_download_image" => LlmErrorKind::InvalidRequest,
        _ => return None,
    })
}

/// Which of several precise meanings counts: money before limits, anything before "not ready".
pub(super) fn rank(kind: &LlmErrorKind) -> u8 {
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
    fn numbers_of_minimax_become_codes_that_are_known() {
        for number in 1000..2100 {
            if let Some(code) = of_minimax(&number.to_string()) {
                assert!(precise(code).or_else(|| vague(code)).is_some(), "{number}: {code}");
            }
        }
        assert_eq!(of_minimax("1008").and_then(precise), Some(LlmErrorKind::QuotaExhausted));
        assert_eq!(of_minimax("0"), None);
    }
}
