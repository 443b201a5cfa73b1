//! Quotas of tenants in money and tokens, and their bills, over 64 workers.

use std::{sync::Arc, time::Duration};

use agcore_agent::{AgentBuilder, AgentConfig, AgentSpec};
use agcore_chat::{
    Actor, AssistantMessage, ChatRequest, ChatResponse, Choice, FinishReason, Money, PriceTable, SystemClock,
    TokenPrice, Usage,
};
use agcore_cycle::Budgets;
use agcore_llm::provider_fn;
use agcore_server::{Limits, Role, ServerBuilder, Sharing};
use agcore_session::{
    CostEntry, SessionFilter,
    quota::{InMemoryQuotas, Quota, QuotaDefaults, QuotaScope, QuotaStore, QuotaWindow},
};
use futures_util::future::join_all;
use http::Method;

use super::{Models, builder, writer};
use crate::{
    postgres,
    support::{Running, Store, flow_store, input},
    tenants::{bearer, tokens},
};

const WORKERS: usize = 64;
const TENANTS: [&str; 4] = ["acme", "blue", "cafe", "dune"];

/// The runs that each tenant starts. Its quotas are enough for some of them.
const RUNS: usize = 24;

/// The longest reply, in tokens. The price of one is more than any call costs.
const LONGEST: u64 = 500;

/// The quotas of each tenant, in millionths and tokens.
const LIMITS: (i64, u64) = (30_000, 1_400);

impl Models {
    /// Answers with a short reply, whose usage differs from call to call.
    fn answer_shortly(&self) -> ChatResponse {
        let number = self.counted().0;
        let (prompt, completion) = (100 + number % 7, 20 + number % 50);
        self.count(prompt * 7 + completion * 30);
        let choice = Choice {
            message: AssistantMessage::new("Fine."),
            finish_reason: Some(FinishReason::Stop),
            ..Choice::default()
        };
        ChatResponse {
            choices: vec![choice],
            usage: Some(Usage::new(prompt, completion)),
            answered_by: Some(writer()),
            ..ChatResponse::default()
        }
    }

    fn process(&self, store: &Store, quotas: &Arc<dyn QuotaStore>, role: Role) -> ServerBuilder {
        let models = self.clone();
        let agent = AgentBuilder::new().with_provider(provider_fn(move |_| {
            let response = models.answer_shortly();
            async move { Ok(response) }
        }));
        // What a call of a model without a name may cost at most.
        let price = PriceTable::new("CNY").with_model("*", TokenPrice::new(7_000_000, 30_000_000));
        let agent = agent.with_config(AgentConfig::new().with_budgets(Budgets::new().with_price(price.into())));
        let spec = AgentSpec::new("ada", "Be Ada.").with_request(ChatRequest::default().with_max_tokens(LONGEST));
        let limits = Limits::new()
            .with_max_runs_per_user(RUNS)
            .with_max_runs(TENANTS.len() * RUNS);
        builder(store)
            .with_agent("ada", agent.build().unwrap(), spec)
            .with_limits(limits)
            .with_quotas(Arc::clone(quotas), QuotaDefaults::default())
            // A machine without time must lose no lease: what was held then counts as used.
            .with_sharing(
                Sharing::new("test")
                    .with_role(role)
                    .with_slots(2)
                    .with_poll(Duration::from_millis(20))
                    .with_lease(Duration::from_secs(60)),
            )
    }
}

/// Returns what the bills of a tenant have, in millionths and tokens.
async fn billed(store: &Store, tenant: &str) -> (u64, u64) {
    let (mut micros, mut tokens) = (0, 0);
    for session in store.sessions(&SessionFilter::new(tenant)).await.unwrap() {
        for entry in CostEntry::of_session(&**store, &session).await.unwrap() {
            micros += entry.cost.unwrap().micros.unsigned_abs();
            tokens += entry.input_tokens.unwrap() + entry.output_tokens.unwrap();
        }
    }
    (micros, tokens)
}

#[tokio::test]
async fn sixty_four_workers_exceed_no_quota_and_bill_every_call() {
    let (store, models) = (flow_store().sessions, Models::default());
    let quotas: Arc<dyn QuotaStore> = match postgres::url() {
        Some(url) => postgres::open(&url),
        None => Arc::new(InMemoryQuotas::new(Arc::new(SystemClock::new()))),
    };
    let users = tokens(&store);
    let mut headers = Vec::new();
    for (number, tenant) in (1..).zip(TENANTS) {
        let quota = Quota::new(QuotaScope::Tenant, QuotaWindow::Day);
        let quota = quota
            .with_money(Money::from_micros(LIMITS.0, "CNY"))
            .with_tokens(LIMITS.1);
        quotas.set_quota(tenant, &quota).await.unwrap();
        headers.push(bearer(&users, number, Actor::new(tenant, "ann")).await);
    }
    let api = models.process(&store, &quotas, Role::Api).with_authenticator(users);
    let api = Running::start(api).await;
    let starts = (0..RUNS).flat_map(|run| headers.iter().map(move |header| (run, header)));
    let mut accepted = Vec::new();
    for (run, header) in starts {
        let (thread, with) = (format!("t{run}"), [("authorization", header.as_str())]);
        let path = format!("/api/v1/agent/runs/{thread}");
        let started = api
            .with(Method::POST, &path, &with, Some(&input(&thread, "r1", "Hello")))
            .await;
        assert_eq!(started.status.as_u16(), 202, "{}", started.text);
        accepted.push((format!("{path}/events?runId=r1"), header));
    }
    // All of them find waiting runs at once.
    let workers = (0..WORKERS).map(|_| Running::start_worker(models.process(&store, &quotas, Role::Worker)));
    let workers = join_all(workers).await;
    let (mut done, mut refused) = (0, 0);
    for (path, header) in accepted {
        let with = [("authorization", header.as_str())];
        let events = api.stream(Method::GET, &path, &with, None).await.rest().await;
        let end = &events.last().unwrap().data;
        match end["type"].as_str() {
            Some("RUN_FINISHED") => done += 1,
            _ => {
                assert_eq!(end["code"], "limit", "{end}");
                refused += 1;
            }
        }
    }
    for worker in workers {
        worker.stop().await;
    }
    api.stop().await;

    let mut all = 0;
    for tenant in TENANTS {
        let (micros, tokens) = billed(&store, tenant).await;
        assert!(
            micros > 0 && micros <= LIMITS.0.unsigned_abs() && tokens <= LIMITS.1,
            "{tenant}: {micros} {tokens}"
        );
        let usage = quotas
            .quota_usage(&Actor::new(tenant, "ann"), &QuotaDefaults::default())
            .await
            .unwrap();
        let (used, held) = (&usage[0].used, &usage[0].held);
        assert!(held.is_zero(), "{held:?}");
        assert_eq!((used.micros, used.tokens), (micros, tokens), "{used:?}");
        all += micros;
    }
    assert_eq!((done, all), models.counted(), "{refused} runs were refused");
    assert!(refused > 0, "the quotas are not enough for all runs");
}
