//! A model that reports what it uses, and a store of quotas that is watched and can be away.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::{
    Actor, AssistantMessage, ChatRequest, ChatResponse, Choice, FinishReason, Message, SystemClock, Usage,
};
use agcore_llm::provider_fn;
use agcore_server::{Server, ServerBuilder};
use agcore_session::{
    SessionError, SessionErrorKind,
    quota::{
        Allowance, AllowanceKey, InMemoryQuotas, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope,
        QuotaShortage, QuotaStore, QuotaUsage, QuotaWindow,
    },
};
use agcore_tools::{NoArguments, typed};
use async_trait::async_trait;
use tokio::sync::watch;

use crate::{
    postgres,
    support::{InStore, Store, call},
};

/// A model whose calls all use the same number of tokens. It calls the tool `say` once if it is asked to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model(Arc<AtomicU64>);

impl Model {
    /// The tokens that a call uses.
    pub(crate) const TOKENS: u64 = 120;

    /// The longest reply, in tokens.
    pub(crate) const LONGEST: u64 = 200;

    /// The number of calls.
    pub(crate) fn calls(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the reply to a request.
    pub(crate) fn answer(&self, request: &ChatRequest) -> ChatResponse {
        self.0.fetch_add(1, Ordering::SeqCst);
        let wants_tool = request.messages.iter().any(|message| message.text() == "Use the tool.");
        let has_result = request
            .messages
            .iter()
            .any(|message| matches!(**message, Message::Tool(_)));
        match wants_tool && !has_result {
            true => reply(AssistantMessage::from_blocks([call("c1", "say").into()])),
            false => reply(AssistantMessage::new("Done.")),
        }
    }

    /// Returns an agent with the model.
    pub(crate) fn agent(&self) -> AgentBuilder {
        let model = self.clone();
        AgentBuilder::new()
            .with_provider(provider_fn(move |call| {
                let response = model.answer(&call.request);
                async move { Ok(response) }
            }))
            .with_tool(typed("say", "Says it.", |_: NoArguments| async { Ok("said") }))
    }

    /// Returns a server with the agent, whose replies are short.
    pub(crate) fn served(&self, store: &Store) -> ServerBuilder {
        let bundle = self.agent().build().unwrap();
        Server::builder().with_agent("ada", bundle, spec()).in_store(store)
    }
}

/// Returns an agent whose replies are short.
pub(crate) fn spec() -> AgentSpec {
    AgentSpec::new("ada", "Be Ada.").with_request(ChatRequest::default().with_max_tokens(Model::LONGEST))
}

/// Returns a reply that uses some tokens.
pub(crate) fn reply(message: AssistantMessage) -> ChatResponse {
    let finish = match message.has_tool_calls() {
        true => FinishReason::ToolCalls,
        false => FinishReason::Stop,
    };
    let choice = Choice {
        message,
        finish_reason: Some(finish),
        ..Choice::default()
    };
    ChatResponse {
        choices: vec![choice],
        usage: Some(Usage::new(Model::TOKENS - 20, 20)),
        ..ChatResponse::default()
    }
}

/// Returns a quota of a day without limits.
pub(crate) fn daily(scope: QuotaScope) -> Quota {
    Quota::new(scope, QuotaWindow::Day)
}

/// Returns a store with a quota of the tenant `local`, in memory or in the database server that the tests use.
pub(crate) async fn limited(quota: Quota) -> Arc<Watched> {
    let inner: Arc<dyn QuotaStore> = match postgres::url() {
        Some(url) => postgres::open(&url),
        None => Arc::new(InMemoryQuotas::new(Arc::new(SystemClock::new()))),
    };
    limited_in(inner, quota).await
}

/// Returns a store with a quota of the tenant `local`.
pub(crate) async fn limited_in(inner: Arc<dyn QuotaStore>, quota: Quota) -> Arc<Watched> {
    let quotas = Arc::new(Watched::new(inner));
    quotas.set_quota("local", &quota).await.unwrap();
    quotas
}

/// Returns what a user has used, once nothing is held and all allowances are closed.
pub(crate) async fn used(quotas: &Watched, user: &Actor, window: QuotaWindow) -> QuotaAmount {
    quotas.closed().await;
    let each = QuotaDefaults::new([Quota::new(QuotaScope::EachUser, window).with_runs(1_000_000)]).unwrap();
    let all = quotas.inner.quota_usage(user, &each).await.unwrap();
    let own = all
        .into_iter()
        .find(|usage| usage.quota.scope != QuotaScope::Tenant && usage.quota.window == window)
        .unwrap();
    assert!(own.held.is_zero(), "{own:?}");
    own.used
}

/// The events of a store.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// The sessions and runs of allowances that are open.
    open: BTreeSet<(String, String)>,
    shortages: u64,
    failures: u64,
}

/// A store of quotas that counts what happens, and fails on command.
#[derive(Debug)]
pub(crate) struct Watched {
    inner: Arc<dyn QuotaStore>,
    seen: watch::Sender<Seen>,
    /// The methods that fail, each once.
    failing: Mutex<Vec<&'static str>>,
}

impl Watched {
    pub(crate) fn new(inner: Arc<dyn QuotaStore>) -> Self {
        Self {
            inner,
            seen: watch::Sender::default(),
            failing: Mutex::default(),
        }
    }

    /// Returns the amount that is held for the user `local`.
    pub(crate) async fn held(&self) -> QuotaAmount {
        let none = QuotaDefaults::default();
        self.inner.quota_usage(&Actor::local(), &none).await.unwrap()[0].held
    }

    /// Lets the next calls of these methods fail.
    pub(crate) fn fail<const N: usize>(&self, methods: [&'static str; N]) {
        self.failing.lock().unwrap().extend(methods);
    }

    /// Waits until there have been as many shortages.
    pub(crate) async fn shortages(&self, count: u64) {
        self.until(|seen| seen.shortages >= count).await;
    }

    /// Waits until as many calls have failed.
    pub(crate) async fn failures(&self, count: u64) {
        self.until(|seen| seen.failures >= count).await;
    }

    /// Waits until all allowances are closed.
    pub(crate) async fn closed(&self) {
        self.until(|seen| seen.open.is_empty()).await;
    }

    async fn until(&self, is_over: impl Fn(&Seen) -> bool) {
        let mut seen = self.seen.subscribe();
        seen.wait_for(is_over).await.unwrap();
    }

    fn check(&self, method: &'static str) -> Result<(), SessionError> {
        let mut failing = self.failing.lock().unwrap();
        let Some(place) = failing.iter().position(|failing| *failing == method) else {
            return Ok(());
        };
        failing.remove(place);
        self.seen.send_modify(|seen| seen.failures += 1);
        Err(SessionError::new(SessionErrorKind::Unavailable, "the quotas are away"))
    }

    fn note<T>(&self, result: &Result<T, QuotaShortage>) {
        if result.is_err() {
            self.seen.send_modify(|seen| seen.shortages += 1);
        }
    }
}

#[async_trait]
impl QuotaStore for Watched {
    async fn set_quota(&self, tenant: &str, quota: &Quota) -> Result<(), SessionError> {
        self.inner.set_quota(tenant, quota).await
    }

    async fn quotas(&self, tenant: &str) -> Result<Vec<Quota>, SessionError> {
        self.inner.quotas(tenant).await
    }

    async fn delete_quota(&self, tenant: &str, scope: &QuotaScope, window: QuotaWindow) -> Result<bool, SessionError> {
        self.inner.delete_quota(tenant, scope, window).await
    }

    async fn quota_usage(&self, owner: &Actor, defaults: &QuotaDefaults) -> Result<Vec<QuotaUsage>, SessionError> {
        self.check("quota_usage")?;
        self.inner.quota_usage(owner, defaults).await
    }

    async fn count_run(
        &self,
        owner: &Actor,
        defaults: &QuotaDefaults,
    ) -> Result<Result<(), QuotaShortage>, SessionError> {
        self.check("count_run")?;
        let counted = self.inner.count_run(owner, defaults).await?;
        self.note(&counted);
        Ok(counted)
    }

    async fn uncount_run(&self, owner: &Actor) -> Result<(), SessionError> {
        self.inner.uncount_run(owner).await
    }

    async fn open_allowance(
        &self,
        key: &AllowanceKey,
        defaults: &QuotaDefaults,
    ) -> Result<Option<Allowance>, SessionError> {
        self.check("open_allowance")?;
        let opened = self.inner.open_allowance(key, defaults).await?;
        if opened.is_some() {
            self.seen.send_modify(|seen| {
                seen.open.insert((key.session.clone(), key.run.clone()));
            });
        }
        Ok(opened)
    }

    async fn draw(
        &self,
        allowance: &Allowance,
        report: &QuotaReport,
        wanted: &[QuotaAmount],
    ) -> Result<Result<usize, QuotaShortage>, SessionError> {
        self.check("draw")?;
        let drawn = self.inner.draw(allowance, report, wanted).await?;
        self.note(&drawn);
        for usage in self
            .inner
            .quota_usage(&allowance.key.owner, &allowance.defaults)
            .await?
        {
            let limit = usage.quota.tokens.unwrap_or(u64::MAX);
            assert!(usage.used.tokens + usage.held.tokens <= limit, "{usage:?}");
        }
        Ok(drawn)
    }

    async fn close_allowance(&self, allowance: &Allowance, spent: &QuotaAmount) -> Result<(), SessionError> {
        self.check("close_allowance")?;
        self.inner.close_allowance(allowance, spent).await?;
        let key = (allowance.key.session.clone(), allowance.key.run.clone());
        self.seen.send_modify(|seen| {
            seen.open.remove(&key);
        });
        Ok(())
    }

    async fn erase_quotas(&self, owner: &Actor) -> Result<(), SessionError> {
        self.inner.erase_quotas(owner).await
    }
}
