//! [`ModelLimits`]: the timeouts and retries of the provider, with their sources.

use std::time::Duration;

use agcore::llm::{ProviderType, TimeoutStage, layer::retry::RetryPolicy, transport::http::Timeouts};

use super::{
    file::{
        duration::{Limit, Span},
        limits::{RetryTable, TimeoutTable},
    },
    origin::{Chosen, Origin},
    sources::Sources,
};
use crate::places::{SETTINGS_FILE, user_settings};

/// The time that requests may take, and the number of their repetitions.
#[derive(Debug, Clone)]
pub struct ModelLimits {
    /// The time limits of each stage of a request.
    pub timeouts: Timeouts,
    /// When and how often a failed request is sent again.
    pub retry: RetryPolicy,
    /// The limits one by one.
    pub settings: Vec<LimitSetting>,
}

/// A limit, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitSetting {
    /// The name with its table, such as `timeouts.idle`.
    pub name: &'static str,
    /// The value, as it is written in a settings file.
    pub value: String,
    /// The source of the value.
    pub origin: Origin,
    /// The table that contains it, or that can: `timeouts`, or `providers.ollama.timeouts`.
    table: String,
}

impl ModelLimits {
    /// Takes the limits of a provider from the settings files.
    pub(super) fn new(provider: &ProviderType, sources: &Sources) -> Self {
        let mut finder = Finder {
            provider,
            sources,
            settings: Vec::new(),
        };
        let (times, policy) = (Timeouts::default(), RetryPolicy::default());
        let timeouts = Timeouts::new()
            .with_connect(finder.timeout("timeouts.connect", times.connect, |table| table.connect))
            .with_first_byte(finder.timeout("timeouts.first_byte", times.first_byte, |table| table.first_byte))
            .with_idle(finder.timeout("timeouts.idle", times.idle, |table| table.idle))
            .with_total(finder.timeout("timeouts.total", times.total, |table| table.total));
        let count = |number: u32| number.to_string();
        let span = |time: Duration| Span(time).to_string();
        let time = |time: Option<Span>| time.map(|span| span.0);
        let retry = RetryPolicy::new()
            .with_max_retries(finder.retry(
                "retry.max_retries",
                policy.max_retries,
                |table| table.max_retries,
                count,
            ))
            .with_local_retries(finder.retry(
                "retry.local_retries",
                policy.local_retries,
                |table| table.local_retries,
                count,
            ))
            .with_backoff(
                finder.retry("retry.base", policy.base, |table| time(table.base), span),
                finder.retry("retry.cap", policy.cap, |table| time(table.cap), span),
            )
            .with_budget(finder.retry("retry.budget", policy.budget, |table| time(table.budget), span));
        Self {
            timeouts,
            retry,
            settings: finder.settings,
        }
    }

    /// Returns advice for waiting longer at this stage: the setting that ends the wait, and its file.
    pub fn advice(&self, stage: TimeoutStage) -> String {
        let name = timeout_setting(stage);
        let is_meant = |setting: &&LimitSetting| setting.name.strip_prefix("timeouts.") == Some(name);
        let found = self.settings.iter().find(is_meant);
        let table = found.map_or("timeouts", |setting| &setting.table);
        let own = || user_settings().map(|path| path.display().to_string());
        let file = found.and_then(|setting| setting.origin.place()).or_else(own);
        timeout_advice(stage, table, file.as_deref().unwrap_or(SETTINGS_FILE))
    }
}

/// Searches the settings files.
struct Finder<'a> {
    provider: &'a ProviderType,
    sources: &'a Sources,
    settings: Vec<LimitSetting>,
}

impl Finder<'_> {
    fn timeout(
        &mut self,
        name: &'static str,
        default: Option<Duration>,
        pick: impl Fn(&TimeoutTable) -> Option<Limit>,
    ) -> Option<Duration> {
        let found = self.find("timeouts", |timeouts, _| pick(timeouts));
        let limit = |limit: Limit| limit.to_string();
        self.keep(name, found, Limit(default), limit).0
    }

    fn retry<T: Clone>(
        &mut self,
        name: &'static str,
        default: T,
        pick: impl Fn(&RetryTable) -> Option<T>,
        shown: impl Fn(T) -> String,
    ) -> T {
        let found = self.find("retry", |_, retry| pick(retry));
        self.keep(name, found, default, shown)
    }

    /// Returns the first value and its table: in each file, that of the provider precedes that of all.
    fn find<T>(
        &self,
        table: &str,
        pick: impl Fn(&TimeoutTable, &RetryTable) -> Option<T>,
    ) -> Option<Chosen<(T, String)>> {
        self.sources.setting(|file| {
            let mut own = file.providers.iter();
            let own = own.find(|(name, _)| {
                name.value
                    .parse()
                    .is_ok_and(|named: ProviderType| named == *self.provider)
            });
            let of_provider = own.and_then(|(name, own)| {
                let value = pick(&own.timeouts, &own.retry)?;
                Some((value, format!("providers.{}.{table}", name.value)))
            });
            of_provider.or_else(|| Some((pick(&file.timeouts, &file.retry)?, table.to_owned())))
        })
    }

    fn keep<T: Clone>(
        &mut self,
        name: &'static str,
        found: Option<Chosen<(T, String)>>,
        default: T,
        shown: impl Fn(T) -> String,
    ) -> T {
        let table = name.split('.').next().unwrap_or(name).to_owned();
        let Chosen {
            value: (value, table),
            origin,
        } = found.unwrap_or_else(|| Chosen::default((default, table)));
        self.settings.push(LimitSetting {
            name,
            value: shown(value.clone()),
            origin,
            table,
        });
        value
    }
}

/// Returns the name of the setting that limits this stage of a request.
pub fn timeout_setting(stage: TimeoutStage) -> &'static str {
    match stage {
        TimeoutStage::Connect => "connect",
        TimeoutStage::FirstByte => "first_byte",
        TimeoutStage::Idle => "idle",
        TimeoutStage::Total => "total",
    }
}

/// Returns advice for waiting longer: the setting to raise, its table and its file.
pub fn timeout_advice(stage: TimeoutStage, table: &str, file: &str) -> String {
    let name = timeout_setting(stage);
    format!("To wait for longer, raise `{name}` in the table [{table}] of {file}, for example to \"10m\".")
}
