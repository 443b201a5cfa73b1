//! The tables `[[serve.quotas]]` of the settings.

use agcore::session::quota::{Quota, QuotaDefaults, QuotaScope, QuotaWindow};
use agcore_settings::{QuotaEntry, QuotaScopeName, QuotaWindowName};

/// Returns the quotas of every tenant.
///
/// # Errors
/// When a quota limits nothing, or does not fit the others.
pub(crate) fn quota_defaults(entries: &[QuotaEntry]) -> Result<QuotaDefaults, String> {
    let defaults = QuotaDefaults::new(entries.iter().map(quota));
    defaults.map_err(|error| format!("[[serve.quotas]]: {error}"))
}

fn quota(entry: &QuotaEntry) -> Quota {
    let scope = match entry.scope {
        QuotaScopeName::Tenant => QuotaScope::Tenant,
        QuotaScopeName::EachUser => QuotaScope::EachUser,
    };
    let window = match entry.per {
        QuotaWindowName::Minute => QuotaWindow::Minute,
        QuotaWindowName::Hour => QuotaWindow::Hour,
        QuotaWindowName::Day => QuotaWindow::Day,
        QuotaWindowName::Month => QuotaWindow::Month,
    };
    let mut quota = Quota::new(scope, window);
    quota.runs = entry.runs;
    quota.model_calls = entry.model_calls;
    quota.tokens = entry.tokens;
    quota.money.clone_from(&entry.money);
    quota
}
