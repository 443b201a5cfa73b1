//! The JSON forms of the quotas of a tenant.

use agcore_chat::Money;
use agcore_session::quota::Quota;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// The quotas of a tenant itself.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TenantQuotaList {
    /// The quotas. Those of every tenant in the settings of the server are not among them.
    pub(crate) quotas: Vec<TenantQuotaView>,
}

/// A quota: the most that may be used within a window.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TenantQuotaView {
    /// Whose use counts: `tenant` for all users together, `each_user` for each alone, or `user` for one.
    pub(crate) scope: &'static str,
    /// The user, if the scope is `user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<String>,
    /// The period in which it counts: `minute`, `hour`, `day` or `month`, by the calendar in UTC.
    pub(crate) window: &'static str,
    /// The most that may be used.
    pub(crate) limits: QuotaLimitsBody,
}

/// The most that may be used. Absent members are not limited.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct QuotaLimitsBody {
    /// Runs that are started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) runs: Option<u64>,
    /// Calls of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model_calls: Option<u64>,
    /// Input and output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    /// Money, as a decimal number with its currency, such as `5.00 USD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) money: Option<String>,
}

impl QuotaLimitsBody {
    /// Sets the limits of a quota.
    ///
    /// # Errors
    /// `invalid_request` if the money has a wrong form.
    pub(crate) fn apply_to(self, quota: &mut Quota) -> Result<(), Problem> {
        let money = self.money.map(|text| text.parse::<Money>()).transpose();
        quota.money = money.map_err(|_| Problem::invalid("`money` must be an amount such as `5.00 USD`"))?;
        quota.runs = self.runs;
        quota.model_calls = self.model_calls;
        quota.tokens = self.tokens;
        Ok(())
    }
}

impl From<&Quota> for TenantQuotaView {
    fn from(quota: &Quota) -> Self {
        Self {
            scope: quota.scope.as_str(),
            user_id: quota.scope.user().map(str::to_owned),
            window: quota.window.as_str(),
            limits: QuotaLimitsBody {
                runs: quota.runs,
                model_calls: quota.model_calls,
                tokens: quota.tokens,
                money: quota.money.as_ref().map(Money::to_string),
            },
        }
    }
}
