//! The kind of a failure: by precise codes, then by the status, then by the wording.

use super::{body::ErrorBody, codes, numbers, wording};
use crate::error::{LlmErrorKind, TimeoutStage};

/// The result of classifying a failure.
pub(super) struct Verdict {
    pub(super) kind: LlmErrorKind,
    /// Overrides what the kind implies.
    pub(super) retryable: Option<bool>,
}

/// Returns whether a retry is pointless for this kind, even if the server asks for one: the request will cost as much, be
/// as long, or be as objectionable the next time. For other kinds the server may know about a temporary condition.
pub(super) fn is_final(kind: LlmErrorKind) -> bool {
    matches!(
        kind,
        LlmErrorKind::QuotaExhausted | LlmErrorKind::ContextLength { .. } | LlmErrorKind::ContentFilter
    )
}

/// Returns whether a server answers with this status if it knows no such path, or not the method there.
pub(super) fn is_unknown_path(status: Option<u16>) -> bool {
    matches!(status, Some(404 | 405 | 410))
}

/// Classifies a failure by its status (of HTTP, or named in a body with status 200) and its body.
pub(super) fn classify(status: Option<u16>, body: &ErrorBody) -> Verdict {
    let mut kind = precise(body)
        .or_else(|| by_status(status, body))
        .unwrap_or_else(|| by_wording(status, body));
    if let LlmErrorKind::ContextLength { limit, requested } = &mut kind {
        let (worded_limit, worded_requested) = numbers::parse(&body.text());
        *limit = body.window.or(worded_limit);
        *requested = body.prompt_tokens.or(worded_requested);
    }
    let retryable = match (&kind, status) {
        // Groq: this request alone exceeds the limit per minute, so an unchanged one never succeeds.
        (LlmErrorKind::RateLimit, Some(413)) => Some(false),
        (LlmErrorKind::InvalidRequest, Some(409)) => Some(true),
        (LlmErrorKind::Server, Some(501 | 505)) => Some(false),
        _ => None,
    };
    Verdict { kind, retryable }
}

/// Returns the kind that the codes determine.
fn precise(body: &ErrorBody) -> Option<LlmErrorKind> {
    if body.is_flagged {
        return Some(LlmErrorKind::ContentFilter);
    }
    let kind = body
        .codes
        .iter()
        .filter_map(|code| codes::precise(code))
        .min_by_key(|kind| codes::rank(*kind))?;
    // Gemini reports the same code for quotas per minute and per day; only the id of the quota distinguishes them.
    let is_daily = || body.quota_ids.iter().any(|id| id.contains("PerDay"));
    Some(match kind {
        LlmErrorKind::RateLimit if is_daily() || is_relabelled_quota(body) => LlmErrorKind::QuotaExhausted,
        // Google refuses permission without a key, and with one that was blocked.
        LlmErrorKind::Permission if wording::is_key(&body.text()) => LlmErrorKind::Authentication,
        // Gateways refuse access to models that do not exist.
        LlmErrorKind::Permission if wording::is_missing_model(&body.text()) => LlmErrorKind::NotFound,
        kind => kind,
    })
}

/// Returns whether a gateway reports an exhausted quota of the server behind it as a rate limit. Google uses the same words
/// for both, so its errors are left to the ids of the quotas.
fn is_relabelled_quota(body: &ErrorBody) -> bool {
    let is_google = body
        .codes
        .iter()
        .any(|code| code.eq_ignore_ascii_case("resource_exhausted"));
    !is_google && body.quota_ids.is_empty() && wording::is_lasting_quota(&body.text())
}

/// Returns the kind of a status that has a single meaning.
fn by_status(status: Option<u16>, body: &ErrorBody) -> Option<LlmErrorKind> {
    Some(match status? {
        401 | 407 => LlmErrorKind::Authentication,
        402 => LlmErrorKind::QuotaExhausted,
        403 | 429 if wording::is_quota(&body.text()) => LlmErrorKind::QuotaExhausted,
        403 if wording::is_missing_model(&body.text()) => LlmErrorKind::NotFound,
        403 if wording::is_key(&body.text()) => LlmErrorKind::Authentication,
        403 => LlmErrorKind::Permission,
        300..=399 | 404 | 410 => LlmErrorKind::NotFound,
        // A web site that only serves files: the path is not that of an API.
        405 if body.is_page => LlmErrorKind::NotFound,
        408 => LlmErrorKind::Timeout(TimeoutStage::Total),
        413 => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        429 => LlmErrorKind::RateLimit,
        503 | 529 => LlmErrorKind::Overloaded,
        // Cerebras rejects a prompt that is too long without a body.
        400 if body.is_blank => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        500..=599 if wording::is_context(&body.text()) => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        500..=599 if wording::is_bad_call(&body.text()) => LlmErrorKind::InvalidToolCall,
        500..=599 if wording::is_unsupported(&body.text()) => LlmErrorKind::InvalidRequest,
        500..=599 => LlmErrorKind::Server,
        _ => return None,
    })
}

fn by_wording(status: Option<u16>, body: &ErrorBody) -> LlmErrorKind {
    let vague = || body.codes.iter().find_map(|code| codes::vague(code));
    let rest = if status.is_some() {
        LlmErrorKind::InvalidRequest
    } else {
        LlmErrorKind::Unknown
    };
    wording::kind(&body.text()).or_else(vague).unwrap_or(rest)
}
