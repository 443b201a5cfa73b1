//! Costs by day, model and agent.

use agcore_session::CostTotals;
use schemars::JsonSchema;
use serde::Serialize;

use super::UsageTotals;
use crate::reports::{CostReport, ModelCosts};

/// The costs of a user in a time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CostReportView {
    /// The first day, in UTC.
    pub(crate) since: String,
    /// The last day, in UTC.
    pub(crate) until: String,
    /// All model calls together.
    pub(crate) total: UsageTotals,
    /// The model calls of each day on which there were some.
    pub(crate) days: Vec<DayCosts>,
    /// The model calls of each model.
    pub(crate) models: Vec<ModelCostsView>,
    /// The model calls in the threads of each agent or flow.
    pub(crate) agents: Vec<AgentCosts>,
    /// Whether there are more model calls, which are left out. Ask for a shorter time.
    pub(crate) is_cut: bool,
}

/// The model calls of a day.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DayCosts {
    /// The day in UTC, such as `2026-11-30`.
    pub(crate) day: String,
    /// The sum.
    pub(crate) usage: UsageTotals,
}

/// The model calls of a model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelCostsView {
    /// The provider; empty if it was not recorded.
    pub(crate) provider: String,
    /// The model; empty if it was not recorded.
    pub(crate) model: String,
    /// The versions of the prices by which the calls were billed.
    pub(crate) price_versions: Vec<String>,
    /// The sum.
    pub(crate) usage: UsageTotals,
}

/// The model calls in the threads of an agent or a flow.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentCosts {
    /// The agent or flow; absent if it is not known any more, because the thread was erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// The sum.
    pub(crate) usage: UsageTotals,
}

impl From<CostReport> for CostReportView {
    fn from(report: CostReport) -> Self {
        let (since, until) = report.range.days();
        let usage = |totals: &CostTotals| UsageTotals::from(totals);
        let days = report.days.iter().map(|(day, totals)| DayCosts {
            day: day.clone(),
            usage: usage(totals),
        });
        let models = report.models.into_iter().map(|((provider, model), costs)| {
            let ModelCosts { totals, price_versions } = costs;
            ModelCostsView {
                provider,
                model,
                price_versions: price_versions.into_iter().collect(),
                usage: usage(&totals),
            }
        });
        let agents = report.agents.iter().map(|(agent, totals)| AgentCosts {
            agent: agent.clone(),
            usage: usage(totals),
        });
        Self {
            since,
            until,
            total: usage(&report.total),
            days: days.collect(),
            models: models.collect(),
            agents: agents.collect(),
            is_cut: report.is_cut,
        }
    }
}
