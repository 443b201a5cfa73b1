//! The rules of amounts, defaults, usage and allowances.

use agcore_session::{
    Money, SessionErrorKind, Timestamp,
    quota::{
        AllowanceState, Counted, HELD_FOR, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaResource, QuotaScope,
        QuotaUsage, QuotaWindow, admit_run, first_fitting,
    },
};
use proptest::prelude::*;

fn tokens(tokens: u64) -> QuotaAmount {
    QuotaAmount::new().with_tokens(tokens)
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn daily(scope: QuotaScope) -> Quota {
    Quota::new(scope, QuotaWindow::Day)
}

#[test]
fn amounts_have_all_resources() {
    let amount = QuotaAmount::new()
        .with_runs(1)
        .with_model_calls(2)
        .with_tokens(3)
        .with_micros(4);
    assert_eq!(QuotaResource::ALL.map(|resource| amount.of(resource)), [1, 2, 3, 4]);
    let names = QuotaResource::ALL.map(QuotaResource::as_str);
    assert_eq!(names, ["runs", "model_calls", "tokens", "money"]);
    assert!(QuotaAmount::new().is_zero() && !amount.is_zero());
    let text = serde_json::to_string(&amount).unwrap();
    assert_eq!(text, r#"{"runs":1,"model_calls":2,"tokens":3,"micros":4}"#);
    assert_eq!(serde_json::from_str::<QuotaAmount>(&text).unwrap(), amount);
    assert_eq!(serde_json::from_str::<QuotaAmount>("{}").unwrap(), QuotaAmount::new());
}

#[test]
fn sums_saturate() {
    let mut amount = tokens(u64::MAX - 1).with_runs(1);
    amount.add(&tokens(5).with_runs(2));
    assert_eq!(amount, tokens(u64::MAX).with_runs(3));
    assert_eq!(tokens(3).since(&tokens(5).with_runs(1)), QuotaAmount::new());
}

#[test]
fn defaults_must_not_contradict_each_other() {
    let money = |scope, currency: &str| daily(scope).with_money(Money::from_micros(1, currency));
    let refused = [
        vec![daily(QuotaScope::Tenant)],
        vec![daily(QuotaScope::User("ann".to_owned())).with_runs(1)],
        vec![
            daily(QuotaScope::Tenant).with_runs(1),
            daily(QuotaScope::EachUser).with_runs(1),
            daily(QuotaScope::Tenant).with_tokens(1),
        ],
        vec![money(QuotaScope::Tenant, "EUR"), money(QuotaScope::EachUser, "USD")],
    ];
    for quotas in refused {
        let error = QuotaDefaults::new(quotas.clone()).unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput, "{quotas:?}");
    }
    assert!(QuotaDefaults::new([]).unwrap().is_empty());
    assert!(
        !QuotaDefaults::new([daily(QuotaScope::Tenant).with_runs(1)])
            .unwrap()
            .is_empty()
    );
}

#[test]
fn own_quotas_replace_defaults() {
    let monthly = |scope| Quota::new(scope, QuotaWindow::Month);
    let ann = QuotaScope::User("ann".to_owned());
    let defaults = QuotaDefaults::new([
        monthly(QuotaScope::EachUser).with_runs(1),
        daily(QuotaScope::EachUser).with_runs(2),
        daily(QuotaScope::Tenant).with_runs(3),
    ])
    .unwrap();
    let own = [
        daily(QuotaScope::EachUser).with_runs(4),
        daily(ann.clone()).with_tokens(5),
        monthly(QuotaScope::Tenant).with_runs(6),
        Quota::new(ann.clone(), QuotaWindow::Minute).with_runs(7),
        daily(QuotaScope::User("bo".to_owned())).with_runs(8),
    ];
    let of = |own: &[Quota], user: &str| {
        let all = defaults.with_own(own, user).unwrap();
        let parts = all
            .iter()
            .map(|quota| (quota.window, quota.runs.or(quota.tokens).unwrap()));
        parts.collect::<Vec<_>>()
    };
    let (minute, day, month) = (QuotaWindow::Minute, QuotaWindow::Day, QuotaWindow::Month);
    assert_eq!(of(&[], "ann"), [(day, 3), (day, 2), (month, 1)]);
    assert_eq!(
        of(&own, "ann"),
        [(day, 3), (month, 6), (minute, 7), (day, 5), (month, 1)]
    );
    assert_eq!(of(&own, "bo"), [(day, 3), (month, 6), (day, 8), (month, 1)]);
    assert_eq!(of(&own, "cy"), [(day, 3), (month, 6), (day, 4), (month, 1)]);

    let euros = QuotaDefaults::new([monthly(QuotaScope::EachUser).with_money(Money::from_micros(1, "EUR"))]).unwrap();
    let dollars = daily(QuotaScope::Tenant).with_money(Money::from_micros(1, "USD"));
    let error = euros.with_own(std::slice::from_ref(&dollars), "ann").unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
    let replaced = [dollars, monthly(ann).with_runs(1)];
    assert_eq!(euros.with_own(&replaced, "ann").unwrap(), replaced);
    assert!(euros.with_own(&replaced, "bo").is_err());
}

#[test]
fn usage_ends_with_its_window() {
    let now = at("2026-03-10T12:00:00Z");
    let quota = || daily(QuotaScope::Tenant).with_tokens(100);
    for (start, used) in [
        ("2026-03-10T00:00:00Z", 60),
        ("2026-03-09T00:00:00Z", 0),
        // The clock went backwards.
        ("2026-03-11T00:00:00Z", 60),
    ] {
        let usage = QuotaUsage::new(quota(), tokens(60), at(start), tokens(30), now);
        assert_eq!((usage.used, usage.held), (tokens(used), tokens(30)), "{start}");
        assert_eq!(usage.resets_at, at("2026-03-11T00:00:00Z"));
        let left = 70 - used;
        assert_eq!(usage.admit(&tokens(left), now), Ok(()));
        let shortage = usage.admit(&tokens(left + 1), now).unwrap_err();
        assert_eq!((shortage.used, shortage.held, shortage.wanted), (used, 30, left + 1));
        assert_eq!(shortage.resets_in.as_secs(), 12 * 3600);
        assert_eq!(usage.admit(&QuotaAmount::new().with_runs(9), now), Ok(()));
        assert!(usage.admit(&tokens(u64::MAX), now).is_err());
    }
    assert_eq!(first_fitting(&[], &[tokens(u64::MAX)], now), Ok(0));
    assert_eq!(admit_run(&[], now), Ok(()));
}

#[test]
fn shortages_are_explained_without_other_users() {
    let now = at("2026-03-10T12:00:00Z");
    let usage = |quota, used, held| QuotaUsage::new(quota, used, now, held, now);
    let scope = QuotaScope::User("ann".to_owned());
    let of_user = usage(daily(scope).with_tokens(100), tokens(60), tokens(30));
    assert_eq!(
        of_user.admit(&tokens(11), now).unwrap_err().to_string(),
        "your account may use 100 tokens in a day; 60 tokens are used, calls in flight may use 30 tokens, and the next call \
         may need 11 tokens; the day ends at 2026-03-11T00:00:00Z"
    );
    let micros = |micros| QuotaAmount::new().with_micros(micros);
    let money = daily(QuotaScope::Tenant).with_money(Money::from_micros(2_000_000, "EUR"));
    assert_eq!(
        admit_run(&[usage(money, micros(2_000_000), micros(0))], now)
            .unwrap_err()
            .to_string(),
        "your tenant may use 2.000000 EUR in a day; 2.000000 EUR are used; the day ends at 2026-03-11T00:00:00Z"
    );
}

#[test]
fn counting_begins_anew_with_each_window() {
    let mut counted = Counted::default();
    let mut add = |now: &str| {
        counted.add(&tokens(10), QuotaWindow::Hour, at(now));
        (counted.start.to_string(), counted.used.tokens)
    };
    assert_eq!(add("2026-03-10T12:00:00Z"), ("2026-03-10T12:00:00.000Z".to_owned(), 10));
    assert_eq!(add("2026-03-10T12:59:59.999Z").1, 20);
    // The clock went backwards, which does not undo what was used.
    assert_eq!(add("2026-03-10T11:30:00Z"), ("2026-03-10T12:00:00.000Z".to_owned(), 30));
    assert_eq!(add("2026-03-10T13:00:00Z"), ("2026-03-10T13:00:00.000Z".to_owned(), 10));
}

#[test]
fn an_allowance_expires_if_it_holds_an_amount() {
    let now = at("2026-03-10T12:00:00Z");
    let mut state = AllowanceState::new("holder", now);
    assert!(!state.has_expired(now.after(2 * HELD_FOR)));
    let held = QuotaReport::default().with_in_flight(tokens(1));
    assert_eq!(state.report(&held, now.after(HELD_FOR)), tokens(0));
    let expires_at = now.after(2 * HELD_FOR);
    let before = Timestamp::from_millis(expires_at.as_millis() - 1);
    assert!(!state.has_expired(before) && state.has_expired(expires_at));
    assert_eq!((state.presume(), state.held), (tokens(1), tokens(0)));
    assert!(!state.has_expired(expires_at));
}

/// A change of an allowance.
#[derive(Debug, Clone)]
enum Change {
    /// A total is reported, with an amount in flight.
    Report(u64, u64),
    /// The amount that is held counts as used.
    Presume,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let report = (0..100_u64, 0..100_u64).prop_map(|(spent, held)| Change::Report(spent, held));
    proptest::collection::vec(prop_oneof![3 => report, 1 => Just(Change::Presume)], 0..20)
}

fn amount() -> impl Strategy<Value = QuotaAmount> {
    let number = || prop_oneof![0..10_u64, Just(u64::MAX), any::<u64>()];
    (number(), number(), number(), number()).prop_map(|(runs, calls, tokens, micros)| {
        QuotaAmount::new()
            .with_runs(runs)
            .with_model_calls(calls)
            .with_tokens(tokens)
            .with_micros(micros)
    })
}

proptest! {
    #[test]
    fn what_was_added_is_what_came_since(earlier in amount(), more in amount()) {
        let mut sum = earlier;
        sum.add(&more);
        prop_assert_eq!(earlier.since(&sum), QuotaAmount::new());
        let since = sum.since(&earlier);
        for resource in QuotaResource::ALL {
            let expected = earlier.of(resource).saturating_add(more.of(resource)) - earlier.of(resource);
            prop_assert_eq!(since.of(resource), expected);
        }
    }

    #[test]
    fn an_allowance_counts_the_larger_of_what_is_presumed_and_reported(changes in changes()) {
        let now = Timestamp::from_millis(0);
        let mut state = AllowanceState::new("holder", now);
        let (mut counted, mut presumed, mut spent) = (0, 0_u64, 0_u64);
        for change in changes {
            match change {
                Change::Report(total, held) => {
                    let report = QuotaReport::new(tokens(total)).with_in_flight(tokens(held));
                    let more = total.saturating_sub(spent);
                    let unknown = state.report(&report, now).tokens;
                    prop_assert_eq!(unknown, more.saturating_sub(presumed));
                    presumed = presumed.saturating_sub(more);
                    spent += more;
                    counted += unknown;
                    prop_assert_eq!(state.held, tokens(held));
                }
                Change::Presume => {
                    let held = state.presume().tokens;
                    presumed += held;
                    counted += held;
                }
            }
            // Everything reported was counted, and nothing twice.
            prop_assert_eq!(counted, spent + presumed);
            prop_assert_eq!((state.spent, state.presumed), (tokens(spent), tokens(presumed)));
        }
    }

    #[test]
    fn the_first_amount_that_fits_all_quotas_is_chosen(
        limits in proptest::collection::vec((0..50_u64, 0..20_u64, 0..20_u64), 0..4),
        wanted in proptest::collection::vec(0..40_u64, 0..5),
    ) {
        let now = Timestamp::from_millis(0);
        let usage = |(limit, used, held): &(u64, u64, u64)| {
            let quota = daily(QuotaScope::Tenant).with_tokens(*limit);
            QuotaUsage::new(quota, tokens(*used), now, tokens(*held), now)
        };
        let quotas: Vec<QuotaUsage> = limits.iter().map(usage).collect();
        let amounts: Vec<QuotaAmount> = wanted.iter().copied().map(tokens).collect();
        let fits = |more: &u64| *more == 0 || limits.iter().all(|(limit, used, held)| used + held + more <= *limit);
        let expected = if wanted.is_empty() { Some(0) } else { wanted.iter().position(fits) };
        let found = first_fitting(&quotas, &amounts, now);
        prop_assert_eq!(found.as_ref().ok().copied(), expected);
        if let Err(shortage) = found {
            prop_assert_eq!(Some(&shortage.wanted), wanted.last());
        }
    }
}
