//! The JSON forms of quotas.

use agcore_chat::Money;
use agcore_session::quota::{QuotaAmount, QuotaResource, QuotaUsage};
use schemars::JsonSchema;
use serde::Serialize;

/// The quotas that apply to the user.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuotaList {
    /// The quotas: those of the tenant first, the shortest windows first.
    pub(crate) quotas: Vec<QuotaView>,
}

/// A quota: the most that may be used within a window, with the amount that is used.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuotaView {
    /// Whose use counts: `tenant` for all users of the tenant together; `each_user` or `user` for the user alone.
    pub(crate) scope: &'static str,
    /// The period in which it counts: `minute`, `hour`, `day` or `month`, by the calendar in UTC.
    pub(crate) window: &'static str,
    /// The most that may be used.
    pub(crate) limits: AmountView,
    /// The amount that is used.
    pub(crate) used: AmountView,
    /// The amount that calls of models which have not ended may use.
    pub(crate) held: AmountView,
    /// The end of the window, as an RFC 3339 time.
    pub(crate) resets_at: String,
}

/// An amount of each resource that the quota limits.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AmountView {
    /// Runs that were started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runs: Option<u64>,
    /// Calls of models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_calls: Option<u64>,
    /// Input and output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    /// Money, as a decimal number with its currency, such as `0.500000 USD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) money: Option<String>,
}

impl From<QuotaUsage> for QuotaView {
    fn from(usage: QuotaUsage) -> Self {
        let quota = &usage.quota;
        let shown = |of: &dyn Fn(QuotaResource) -> u64| {
            let amount = |resource| quota.limit(resource).map(|_| of(resource));
            AmountView {
                runs: amount(QuotaResource::Runs),
                model_calls: amount(QuotaResource::ModelCalls),
                tokens: amount(QuotaResource::Tokens),
                money: quota.currency().map(|currency| {
                    let micros = i64::try_from(of(QuotaResource::Money)).unwrap_or(i64::MAX);
                    Money::from_micros(micros, currency.clone()).to_string()
                }),
            }
        };
        let counted = |amount: QuotaAmount| shown(&move |resource| amount.of(resource));
        Self {
            scope: quota.scope.as_str(),
            window: quota.window.as_str(),
            limits: shown(&|resource| quota.limit(resource).unwrap_or(0)),
            used: counted(usage.used),
            held: counted(usage.held),
            resets_at: usage.resets_at.to_string(),
        }
    }
}
