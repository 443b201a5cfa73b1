//! Limits in front of a budget that is kept elsewhere: amounts must fit both, and indexes refer to what the call wants.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{ChatRequest, ChatResponse, Clock, Fault, FaultKind, Money, Usage};
use agcore_cycle::{
    Budget, CycleErrorKind, LlmCycle, SharedBudget, Spent, TurnOptions,
    budget::{BudgetSource, DrawError, LimitedSource, MIN_REPLY_TOKENS, Resource},
};
use agcore_llm::provider_fn;
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::sync::Semaphore;

use crate::{budget::turn_with, support::cycle};

/// A source with some tokens that notes each draw.
#[derive(Debug, Default)]
struct Inner {
    tokens: u64,
    currency: Option<&'static str>,
    /// Spent, in flight and wanted tokens of each draw.
    draws: Mutex<Vec<(u64, u64, Vec<u64>)>>,
    fails: bool,
}

impl Inner {
    fn new(tokens: u64) -> Self {
        Self {
            tokens,
            ..Self::default()
        }
    }

    fn draws(&self) -> Vec<(u64, u64, Vec<u64>)> {
        std::mem::take(&mut self.draws.lock().unwrap())
    }
}

#[async_trait]
impl BudgetSource for Inner {
    fn currency(&self) -> Option<Arc<str>> {
        self.currency.map(Into::into)
    }

    fn limits_replies(&self) -> bool {
        self.tokens > 0
    }

    async fn draw(&self, spent: &Spent, in_flight: &Spent, wanted: &[Spent]) -> Result<usize, DrawError> {
        let tokens = wanted.iter().map(|amount| amount.tokens).collect();
        let taken = spent.tokens + in_flight.tokens;
        self.draws
            .lock()
            .unwrap()
            .push((spent.tokens, in_flight.tokens, tokens));
        if self.fails {
            return Err(DrawError::Failed(Fault::new(FaultKind::Storage, "away")));
        }
        let found = wanted.iter().position(|amount| taken + amount.tokens <= self.tokens);
        found
            .or_else(|| wanted.is_empty().then_some(0))
            .ok_or_else(|| DrawError::Short {
                resource: Resource::Tokens,
                message: "the inner one is short".to_owned(),
                is_temporary: false,
            })
    }

    async fn retry(&self, _: &DrawError, draws: u32) -> bool {
        draws == 7
    }
}

fn tokens(tokens: u64) -> Spent {
    Spent::new().with_tokens(tokens)
}

fn limited(limits: Budget) -> LimitedSource {
    LimitedSource::new("the budget of the job", limits, Arc::new(ManualClock::jumping()))
}

fn behind(limits: Budget, inner: &Arc<Inner>) -> LimitedSource {
    limited(limits).with_inner(Arc::clone(inner) as _)
}

/// Draws these tokens when others are spent and in flight.
async fn draw(source: &LimitedSource, spent: u64, in_flight: u64, wanted: &[u64]) -> Result<usize, DrawError> {
    let wanted: Vec<Spent> = wanted.iter().copied().map(tokens).collect();
    source.draw(&tokens(spent), &tokens(in_flight), &wanted).await
}

#[tokio::test]
async fn an_amount_fits_both_and_its_index_is_that_of_the_call() {
    for (own, other, found, asked) in [
        // Both have enough.
        (1_000, 1_000, 0, vec![800, 400, 300]),
        // The own limits are tighter.
        (400, 1_000, 1, vec![400, 300]),
        (399, 1_000, 2, vec![300]),
        // The other source is tighter.
        (1_000, 300, 2, vec![800, 400, 300]),
        (400, 300, 2, vec![400, 300]),
    ] {
        let inner = Arc::new(Inner::new(other));
        let source = behind(Budget::new().with_tokens(own), &inner);
        assert_eq!(
            draw(&source, 0, 0, &[800, 400, 300]).await,
            Ok(found),
            "{own} and {other}"
        );
        assert_eq!(inner.draws(), [(0, 0, asked)], "{own} and {other}");
    }
    // The amounts need not be in order.
    let inner = Arc::new(Inner::new(350));
    let source = behind(Budget::new().with_tokens(500), &inner);
    assert_eq!(draw(&source, 0, 0, &[400, 900, 300]).await, Ok(2));
    assert_eq!(inner.draws(), [(0, 0, vec![400, 300])]);
}

#[tokio::test]
async fn what_is_spent_in_flight_and_from_before_counts_exactly() {
    let inner = Arc::new(Inner::new(10_000));
    let source = behind(Budget::new().with_tokens(1_000), &inner);
    source.count(&tokens(100));
    source.count(&tokens(50).with_model_calls(1));
    assert_eq!(source.before(), tokens(150).with_model_calls(1));
    assert_eq!(draw(&source, 200, 150, &[501, 500]).await, Ok(1));
    assert_eq!(
        inner.draws(),
        [(200, 150, vec![500])],
        "the other source has counted what was spent before"
    );
    // Without another source, the first amount that fits.
    let alone = limited(Budget::new().with_tokens(10));
    assert_eq!(draw(&alone, 4, 0, &[7, 6, 5]).await, Ok(1));
    assert_eq!(draw(&alone, 11, 0, &[0]).await, Ok(0), "a call that needs nothing");
}

#[tokio::test]
async fn a_shortage_has_the_numbers_and_releases_what_the_other_source_holds() {
    let inner = Arc::new(Inner::new(10_000));
    let source = behind(Budget::new().with_tokens(1_000), &inner);
    source.count(&tokens(200));
    let short = |message: &str, is_temporary| {
        Err(DrawError::Short {
            resource: Resource::Tokens,
            message: message.to_owned(),
            is_temporary,
        })
    };
    let message = "the budget of the job allows 1000 tokens; 700 tokens are used, calls in flight may use 200 tokens, and \
                   the next call may need 300 tokens; raise it";
    // It fits when the others have ended.
    assert_eq!(draw(&source, 500, 200, &[400, 300]).await, short(message, true));
    assert_eq!(inner.draws(), [(500, 200, vec![])]);
    let message = "the budget of the job allows 1000 tokens; 701 tokens are used, and the next call may need 300 tokens; \
                   raise it";
    assert_eq!(draw(&source, 501, 0, &[300]).await, short(message, false));
    // A source that is away does not hide the shortage.
    let away = Arc::new(Inner {
        fails: true,
        ..Inner::new(9)
    });
    let source = behind(Budget::new().with_tokens(299), &away);
    assert!(matches!(
        draw(&source, 0, 0, &[300]).await,
        Err(DrawError::Short { .. })
    ));
    // Its own errors are passed on.
    assert!(matches!(draw(&source, 0, 0, &[1]).await, Err(DrawError::Failed(_))));
    let source = behind(Budget::new().with_tokens(1_000), &inner);
    assert_eq!(
        draw(&source, 9_900, 0, &[]).await,
        Ok(0),
        "a report, although more was spent than allowed"
    );
}

#[tokio::test]
async fn calls_and_money_are_limited_as_well() {
    let money = |micros| Money::from_micros(micros, "USD");
    let source = limited(
        Budget::new()
            .with_money(money(500))
            .with_model_calls(2)
            .with_time(Duration::ZERO)
            .with_tool_calls(0),
    );
    let call = |micros| Spent::new().with_model_calls(1).with_money(&money(micros));
    let none = Spent::new();
    assert_eq!(
        source.draw(&none, &none, &[call(501), call(500)]).await,
        Ok(1),
        "time is not drawn"
    );
    let short = source.draw(&call(200), &none, &[call(301)]).await.unwrap_err();
    let message = "the budget of the job allows 0.000500 USD; 0.000200 USD are used, and the next call may need 0.000301 USD; \
                   raise it";
    assert_eq!(short.to_string(), message);
    let two = call(0).with_model_calls(2);
    let short = source.draw(&two, &none, &[call(0)]).await.unwrap_err();
    let message = "the budget of the job allows 2 model calls; 2 model calls are used, and the next step needs 1 model \
                   calls; raise it";
    assert_eq!(short.to_string(), message);
}

#[tokio::test]
async fn both_must_have_the_same_currency() {
    let euro = || Budget::new().with_money(Money::from_micros(1, "EUR"));
    let with = |currency| {
        Arc::new(Inner {
            currency,
            ..Inner::new(0)
        })
    };
    let source = behind(Budget::new().with_model_calls(1), &with(Some("USD")));
    assert_eq!(
        (source.currency().as_deref(), source.limits_replies()),
        (Some("USD"), false)
    );
    for other in [None, Some("EUR")] {
        let source = behind(euro(), &with(other));
        assert_eq!(
            (source.currency().as_deref(), source.limits_replies()),
            (Some("EUR"), true)
        );
        assert_eq!(draw(&source, 0, 0, &[0]).await, Ok(0));
    }
    let inner = with(Some("USD"));
    let error = draw(&behind(euro(), &inner), 0, 0, &[0]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the budget of the job is in EUR, but another budget that holds for it is in USD; use the same currency for both"
    );
    assert!(inner.draws().is_empty());
    assert!(!limited(Budget::new().with_model_calls(1)).limits_replies());
    assert!(behind(Budget::new(), &Arc::new(Inner::new(1))).limits_replies());
}

#[tokio::test]
async fn a_call_waits_a_minute_for_others_to_end() {
    let clock = Arc::new(ManualClock::jumping());
    let source = LimitedSource::new("it", Budget::new(), Arc::clone(&clock) as _);
    let short = |is_temporary| DrawError::Short {
        resource: Resource::Tokens,
        message: String::new(),
        is_temporary,
    };
    assert!(!source.retry(&short(false), 1).await);
    assert!(
        !source
            .retry(&DrawError::Failed(Fault::new(FaultKind::Storage, "")), 1)
            .await
    );
    let begin = clock.monotonic();
    let mut draws = 1;
    while source.retry(&short(true), draws).await {
        draws += 1;
    }
    let waited = clock.monotonic() - begin;
    assert!(
        waited >= Duration::from_secs(60) && waited <= Duration::from_secs(62),
        "{waited:?}"
    );
    // Another source decides, if there is one.
    let source = behind(Budget::new(), &Arc::new(Inner::new(1)));
    assert!(source.retry(&short(false), 7).await && !source.retry(&short(true), 6).await);
}

#[tokio::test]
async fn turns_get_a_shorter_reply_and_then_none() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Hi again.")]);
    let mut cycle = cycle(&provider);
    let inner = Arc::new(Inner::new(100_000));
    let source = behind(Budget::new().with_tokens(1_000), &inner);
    let budget = SharedBudget::new(Arc::new(source));
    let options = || TurnOptions::new().with_shared_budget(budget.clone());
    cycle.turn("Go").with_options(options()).await.unwrap();
    assert_eq!(provider.requests()[0].token_limit(), Some(MIN_REPLY_TOKENS));
    let (spent, _, asked) = inner.draws().remove(0);
    assert_eq!(
        (spent, asked.len()),
        (0, 1),
        "only the shorter reply fits the own limits"
    );

    let source = behind(Budget::new().with_tokens(1_000), &inner);
    source.count(&tokens(600));
    let budget = SharedBudget::new(Arc::new(source));
    let options = TurnOptions::new().with_shared_budget(budget.clone());
    let (outcome, reached) = turn_with(&mut cycle, options).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), CycleErrorKind::LimitReached);
    assert!(
        error
            .message()
            .starts_with("the budget of the job allows 1000 tokens; 600 tokens are used"),
        "{}",
        error.message()
    );
    assert_eq!((reached, provider.unused()), (vec!["shared.tokens".to_owned()], 1));
    assert!(budget.spent().is_zero());
}

#[tokio::test]
async fn turns_side_by_side_wait_for_each_other() {
    let clock = Arc::new(ManualClock::new());
    // Two replies of this length do not fit beside each other.
    let limits = Budget::new().with_tokens(1_500);
    let source = LimitedSource::new("it", limits, Arc::clone(&clock) as _);
    let budget = SharedBudget::new(Arc::new(source));
    let go_on = Arc::new(Semaphore::new(0));
    let conversation = || {
        let go_on = Arc::clone(&go_on);
        let provider = provider_fn(move |_| {
            let go_on = Arc::clone(&go_on);
            async move {
                go_on.acquire().await.unwrap().forget();
                let mut response = ChatResponse::from_text("Hi.");
                response.usage = Some(Usage::new(10, 5));
                Ok(response)
            }
        });
        let mut cycle = LlmCycle::new(provider, Arc::clone(&clock));
        cycle.settings_mut().request = ChatRequest::default().with_max_tokens(1_000);
        cycle
    };
    let options = || TurnOptions::new().with_shared_budget(budget.clone());
    let (mut one, mut two) = (conversation(), conversation());
    let mut first = Box::pin(one.turn("Go").with_options(options()).run());
    let mut second = Box::pin(two.turn("Go").with_options(options()).run());
    assert!(first.as_mut().now_or_never().is_none());
    go_on.add_permits(2);
    assert!(second.as_mut().now_or_never().is_none(), "it waits for the first one");
    assert_eq!(first.await.unwrap().text(), "Hi.");
    assert!(
        second.as_mut().now_or_never().is_none(),
        "it waits for the pause to end"
    );
    clock.advance(Duration::from_millis(250));
    assert_eq!(second.await.unwrap().text(), "Hi.");
    assert_eq!(budget.spent().tokens, 30);
}
