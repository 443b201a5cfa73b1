//! Token limits that the loop chose itself and a server refuses.

use std::sync::{Arc, Mutex};

use agcore_chat::{ChatResponse, EventKind, HeuristicEstimator, ModelEvent, TokenEstimator, Usage};
use agcore_cycle::{Budget, BudgetPool, Budgets, CycleSettings, LlmCycle};
use agcore_llm::{Call, LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ReplyStream, provider_fn};
use agcore_testkit::clock::ManualClock;

/// The error with which the server refuses a limit that is too high.
type Refuse = fn(sent: u64, prompt: u64) -> Option<LlmError>;

/// The limits that a server was sent.
type Sent = Arc<Mutex<Vec<Option<u64>>>>;

fn refusal(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message).with_status(400)
}

/// A server that uses as many tokens as a request allows. Without a limit, `default` is the limit of the request.
fn server(default: Option<u64>, refuse: Refuse) -> (impl LlmProvider + Clone + 'static, Sent) {
    let sent = Sent::default();
    let log = Arc::clone(&sent);
    let provider = provider_fn(move |call: Call| {
        let limit = call.request.token_limit();
        log.lock().unwrap().push(limit);
        let prompt = HeuristicEstimator::default().request(&call.request);
        let limit = limit.or(default);
        let reply = match limit.and_then(|limit| refuse(limit, prompt)) {
            Some(error) => Err(error),
            None => {
                let mut response = ChatResponse::from_text("Hi.");
                response.usage = Some(Usage::new(prompt, limit.unwrap_or(100)));
                Ok(response)
            }
        };
        async move { reply }
    });
    (Arc::new(provider), sent)
}

fn limited(tokens: u64) -> Budgets {
    Budgets::new().with_cycle(Budget::new().with_tokens(tokens))
}

fn cycle(provider: impl LlmProvider + 'static, budgets: Budgets) -> LlmCycle {
    LlmCycle::new(provider, ManualClock::new()).with_settings(CycleSettings::new().with_budgets(budgets))
}

#[tokio::test]
async fn a_refused_limit_is_lowered_to_the_named_one_and_remembered() {
    let (provider, sent) = server(None, |sent, _| {
        (sent > 8_192).then(|| {
            refusal(format!(
                "max_tokens is too large: {sent}. This model supports at most 8192"
            ))
        })
    });
    let mut cycle = cycle(provider, limited(200_000));
    let mut turn = cycle.turn("Go").stream();
    let mut repeated = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Model(ModelEvent::RetryScheduled { attempt, fault, .. }) = event.kind {
            repeated.push((attempt, fault.message));
        }
    }
    assert_eq!(turn.finish().await.unwrap().text(), "Hi.");
    assert!(
        matches!(&repeated[..], [(1, message)] if message.contains("8192")),
        "{repeated:?}"
    );
    cycle.turn("And now?").await.unwrap();
    assert_eq!(*sent.lock().unwrap(), [Some(20_000), Some(8_192), Some(8_192)]);
    assert!(cycle.spent().tokens < 17_000);
}

#[tokio::test]
async fn conversations_with_the_same_settings_share_what_was_learnt() {
    let (provider, sent) = server(None, |sent, _| {
        (sent > 4_096).then(|| refusal("the valid range of max_tokens is [1, 4096]".into()))
    });
    let pool = BudgetPool::new(Budget::new().with_tokens(1_000_000));
    let settings = Arc::new(CycleSettings::new().with_budgets(Budgets::new().with_pool(pool.clone())));
    for _ in 0..2 {
        let mut cycle = LlmCycle::new(provider.clone(), ManualClock::new()).with_settings(Arc::clone(&settings));
        cycle.turn("Go").await.unwrap();
    }
    assert_eq!(*sent.lock().unwrap(), [Some(20_000), Some(4_096), Some(4_096)]);
    assert!(pool.reserved().is_zero());
}

#[tokio::test]
async fn a_limit_that_no_error_names_is_lowered_to_a_safe_one() {
    let refusals: [(Refuse, &[u64]); 2] = [
        // The parameter is named, so the next call need not try again.
        (
            |sent, _| (sent > 4_096).then(|| refusal("max_tokens is too large".into())),
            &[20_000, 4_096, 4_096],
        ),
        // The reason is hidden.
        (
            |sent, _| (sent > 4_096).then(|| refusal("Provider returned error".into())),
            &[20_000, 4_096, 20_000, 4_096],
        ),
    ];
    for (refuse, expected) in refusals {
        let (provider, sent) = server(None, refuse);
        let mut cycle = cycle(provider, limited(200_000));
        cycle.turn("Go").await.unwrap();
        cycle.turn("Go on").await.unwrap();
        let sent: Vec<_> = sent.lock().unwrap().iter().flatten().copied().collect();
        assert_eq!(sent, expected);
    }
}

#[tokio::test]
async fn limits_below_the_safe_one_are_found_in_a_few_attempts() {
    for (cap, first) in [
        (3_000, &[20_000, 4_096, 2_048][..]),
        (1_500, &[20_000, 4_096, 2_048, 1_024]),
    ] {
        let (provider, sent) = server(
            None,
            match cap {
                3_000 => |sent, _| (sent > 3_000).then(|| refusal("max_tokens is too large".into())),
                _ => |sent, _| (sent > 1_500).then(|| refusal("max_tokens is too large".into())),
            },
        );
        let mut cycle = cycle(provider, limited(200_000));
        cycle.turn("Go").await.unwrap();
        // What was accepted is remembered.
        cycle.turn("Go on").await.unwrap();
        let found = *first.last().unwrap();
        let sent: Vec<_> = sent.lock().unwrap().iter().flatten().copied().collect();
        assert_eq!(sent, [first, &[found]].concat(), "{cap}");
    }
}

#[tokio::test]
async fn what_no_limit_helps_against_is_not_remembered() {
    let refused = Arc::new(Mutex::new(true));
    let is_refused = Arc::clone(&refused);
    let sent = Sent::default();
    let log = Arc::clone(&sent);
    let provider = provider_fn(move |call: Call| {
        log.lock().unwrap().push(call.request.token_limit());
        let reply = match *is_refused.lock().unwrap() {
            true => Err(refusal("Invalid value for 'max_tokens'".into())),
            false => Ok(ChatResponse::from_text("Hi.")),
        };
        async move { reply }
    });
    let mut cycle = cycle(provider, limited(200_000));
    let error = cycle.turn("Go").await.unwrap_err();
    assert!(error.message().contains("Invalid value"), "{error}");
    let tried: Vec<_> = sent.lock().unwrap().drain(..).flatten().collect();
    assert_eq!(tried, [20_000, 4_096, 2_048, 1_024]);
    *refused.lock().unwrap() = false;
    cycle.turn("Go").await.unwrap();
    assert_eq!(*sent.lock().unwrap(), [Some(20_000)]);
}

/// Reports that the account can pay for 1,234 tokens.
fn poor(sent: u64) -> LlmError {
    let message = format!(
        "This request requires more credits, or fewer max_tokens. You requested up to {sent} tokens, but can only afford 1234"
    );
    LlmError::new(LlmErrorKind::QuotaExhausted, message).with_status(402)
}

#[tokio::test]
async fn a_limit_that_the_account_cannot_pay_is_lowered_once_and_not_remembered() {
    for (default, budgets, first) in [
        (None, limited(200_000), Some(20_000)),
        // The API has a limit of its own.
        (Some(64_000), Budgets::new(), None),
    ] {
        let (provider, sent) = server(default, |sent, _| (sent > 1_234).then(|| poor(sent)));
        let mut cycle = cycle(provider, budgets);
        for _ in 0..2 {
            cycle.turn("Go").await.unwrap();
        }
        assert_eq!(*sent.lock().unwrap(), [first, Some(1_234), first, Some(1_234)]);
    }
    // It may become less meanwhile.
    let (provider, sent) = server(None, |sent, _| {
        let message = format!("requires fewer max_tokens: you can only afford {}", sent - 1);
        Some(LlmError::new(LlmErrorKind::QuotaExhausted, message).with_status(402))
    });
    let error = cycle(provider, limited(200_000)).turn("Go").await.unwrap_err();
    assert!(error.message().contains("afford 19998"), "{error}");
    assert_eq!(*sent.lock().unwrap(), [Some(20_000), Some(19_999)]);
}

#[tokio::test]
async fn an_account_that_cannot_pay_for_an_answer_is_reported() {
    // The limit is that of the application.
    let (provider, sent) = server(None, |sent, _| (sent > 1_234).then(|| poor(sent)));
    let mut own = cycle(provider, limited(200_000));
    own.settings_mut().request.max_completion_tokens = Some(9_000);
    let error = own.turn("Go").await.unwrap_err();
    assert!(error.message().contains("can only afford 1234"), "{error}");
    assert_eq!(*sent.lock().unwrap(), [Some(9_000)]);
    // Hardly anything is left.
    let (provider, sent) = server(None, |_, _| {
        let message = "This request requires more credits, or fewer max_tokens. You can only afford 12";
        Some(LlmError::new(LlmErrorKind::QuotaExhausted, message).with_status(402))
    });
    let error = cycle(provider, limited(200_000)).turn("Go").await.unwrap_err();
    assert!(error.message().contains("can only afford 12"), "{error}");
    assert_eq!(sent.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn other_refusals_are_reported_as_they_are() {
    let (provider, sent) = server(None, |sent, _| {
        Some(refusal(format!("the image of {sent} bytes is invalid")))
    });
    let mut cycle = cycle(provider, limited(200_000));
    let error = cycle.turn("Go").await.unwrap_err();
    assert!(error.message().contains("image of 20000"), "{error}");
    assert_eq!(sent.lock().unwrap().len(), 2);
    assert_eq!(cycle.spent().tokens, 0, "a refused call costs nothing");
}

#[tokio::test]
async fn a_limit_that_does_not_fit_beside_the_prompt_is_lowered_by_the_window() {
    let (provider, sent) = server(None, |sent, prompt| {
        let message = format!(
            "This model's maximum context length is 8192 tokens and your request has {prompt} input tokens ({sent} > 8192 - {prompt})."
        );
        let kind = LlmErrorKind::ContextLength {
            limit: Some(8_192),
            requested: None,
        };
        (prompt + sent > 8_192)
            .then(|| LlmError::new(kind, format!("max_tokens is too large. {message}")).with_status(400))
    });
    let mut cycle = cycle(provider, limited(200_000));
    cycle.turn("Go").await.unwrap();
    cycle.turn("word ".repeat(500)).await.unwrap();
    let sent = sent.lock().unwrap();
    assert_eq!(
        sent.len(),
        3,
        "a longer prompt leaves less, and that is known: {sent:?}"
    );
    assert!(sent[1] > sent[2] && sent[2] > Some(6_000), "{sent:?}");
}

#[tokio::test]
async fn a_limit_of_the_application_is_never_changed() {
    let (provider, sent) = server(None, |sent, _| {
        (sent > 8_192).then(|| refusal("max_tokens must be at most 8192".into()))
    });
    let mut cycle = cycle(provider, limited(200_000));
    cycle.settings_mut().request.max_completion_tokens = Some(9_000);
    let error = cycle.turn("Go").await.unwrap_err();
    assert!(error.message().contains("at most 8192"), "{error}");
    assert_eq!(*sent.lock().unwrap(), [Some(9_000)]);
}

#[tokio::test]
async fn a_limit_that_the_api_demands_is_lowered_without_budgets_too() {
    let (provider, sent) = server(Some(64_000), |sent, _| {
        (sent > 8_192).then(|| refusal(format!("max_tokens: {sent} > 8192, which is the maximum allowed")))
    });
    let mut cycle = cycle(provider, Budgets::new());
    cycle.turn("Go").await.unwrap();
    cycle.turn("And now?").await.unwrap();
    assert_eq!(*sent.lock().unwrap(), [None, Some(8_192), Some(8_192)]);
}

/// Knows the limit of its model.
#[derive(Debug)]
struct Known<P>(P, ProviderInfo);

impl<P: LlmProvider> LlmProvider for Known<P> {
    fn open(&self, call: Call) -> ReplyStream {
        self.0.open(call)
    }

    fn info(&self) -> &ProviderInfo {
        &self.1
    }
}

#[tokio::test]
async fn a_known_window_or_limit_is_never_exceeded() {
    for (window, most) in [(Some(8_192), None), (None, Some(4_096))] {
        let (provider, sent) = server(None, |sent, prompt| {
            (prompt + sent > 8_192).then(|| refusal("the limit is too high".into()))
        });
        let mut info = ProviderInfo::new("p", "m");
        info.capabilities.context_window = window;
        info.capabilities.max_output_tokens = most;
        let mut cycle = cycle(Known(provider, info), limited(200_000));
        cycle.turn("Go").await.unwrap();
        assert_eq!(sent.lock().unwrap().len(), 1, "{window:?} {most:?}");
    }
}

#[tokio::test]
async fn concurrent_turns_that_lower_their_limits_do_not_overshoot_a_pool() {
    let (provider, _) = server(None, |sent, _| {
        (sent > 8_192).then(|| refusal("max_tokens must be less than or equal to 8192".into()))
    });
    let pool = BudgetPool::new(Budget::new().with_tokens(30_000));
    let turns = (0..8).map(|_| {
        let (provider, pool) = (provider.clone(), pool.clone());
        async move { cycle(provider, Budgets::new().with_pool(pool)).turn("Go").await.is_ok() }
    });
    let answered = futures_util::future::join_all(turns).await;
    assert!(answered.iter().any(|is_ok| *is_ok));
    assert!(pool.spent().tokens <= 30_000, "{:?}", pool.spent());
    assert!(pool.reserved().is_zero());
}
