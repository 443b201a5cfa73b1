//! Which kind of failure: precise codes, then the status, then the words.

use super::{body::ErrorBody, codes, numbers, wording};
use crate::error::{LlmErrorKind, TimeoutStage};

/// What is concluded.
pub(super) struct Verdict {
    pub(super) kind: LlmErrorKind,
    /// Set where the kind alone would say it wrong.
    pub(super) retryable: Option<bool>,
}

/// Whether a failure of this kind stays one whatever the server thinks of retries: the same request costs, is as long, or
/// is as objectionable the next time. What a server says of other kinds may know of a state that passes.
pub(super) fn is_final(kind: &LlmErrorKind) -> bool {
    matches!(
        kind,
        LlmErrorKind::QuotaExhausted | LlmErrorKind::ContextLength { .. } | LlmErrorKind::ContentFilter
    )
}

/// Concludes from a status (the HTTP one, or the one that a body under 200 names) and what the body tells.
pub(super) fn classify(status: Option<u16>, body: &ErrorBody) -> Verdict {
    let mut kind = precise(body)
        .or_else(|| by_status(status, body))
        .unwrap_or_else(|| by_words(status, body));
    if let LlmErrorKind::ContextLength { limit, requested } = &mut kind {
        let (told_limit, told_requested) = numbers::of(&body.all_words());
        *limit = body.window.or(told_limit);
        *requested = body.prompt_tokens.or(told_requested);
    }
    let retryable = match (&kind, status) {
        // Groq: the request alone is above the limit per minute; unchanged it will never pass.
        (LlmErrorKind::RateLimit, Some(413)) => Some(false),
        (LlmErrorKind::InvalidRequest, Some(409)) => Some(true),
        (LlmErrorKind::Server, Some(501 | 505)) => Some(false),
        _ => None,
    };
    Verdict { kind, retryable }
}

fn precise(body: &ErrorBody) -> Option<LlmErrorKind> {
    if body.is_flagged {
        return Some(LlmErrorKind::ContentFilter);
    }
    let kind = body
        .codes
        .iter()
        .filter_map(|code| codes::precise(code))
        .min_by_key(codes::rank)?;
    // Gemini says the same for each minute's and each day's allowance; only the quota's id tells them apart.
    let is_daily = kind == LlmErrorKind::RateLimit && body.quota_ids.iter().any(|id| id.contains("PerDay"));
    Some(if is_daily { LlmErrorKind::QuotaExhausted } else { kind })
}

/// Statuses that mean one thing.
fn by_status(status: Option<u16>, body: &ErrorBody) -> Option<LlmErrorKind> {
    Some(match status? {
        401 | 407 => LlmErrorKind::Authentication,
        402 => LlmErrorKind::QuotaExhausted,
        403 | 429 if wording::is_quota(&body.all_words()) => LlmErrorKind::QuotaExhausted,
        403 => LlmErrorKind::Permission,
        300..=399 | 404 | 410 => LlmErrorKind::NotFound,
        408 => LlmErrorKind::Timeout(TimeoutStage::Total),
        413 => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        429 => LlmErrorKind::RateLimit,
        503 | 529 => LlmErrorKind::Overloaded,
        // Cerebras refuses an overlong prompt without a word.
        400 if body.is_blank => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        500..=599 if wording::is_context(&body.all_words()) => LlmErrorKind::ContextLength {
            limit: None,
            requested: None,
        },
        500..=599 if wording::is_bad_call(&body.all_words()) => LlmErrorKind::InvalidToolCall,
        500..=599 => LlmErrorKind::Server,
        _ => return None,
    })
}

fn by_words(status: Option<u16>, body: &ErrorBody) -> LlmErrorKind {
    let vague = || body.codes.iter().find_map(|code| codes::vague(code));
    let rest = if status.is_some() {
        LlmErrorKind::InvalidRequest
    } else {
        LlmErrorKind::Unknown
    };
    wording::kind(&body.all_words()).or_else(vague).unwrap_or(rest)
}
