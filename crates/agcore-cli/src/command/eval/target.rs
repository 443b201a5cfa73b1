//! The agent that is evaluated: that of a chat, unless the file has one.

use std::{path::Path, sync::Arc};

use agcore::{
    chat::{Price, PriceFn},
    eval::{AgentTarget, Suite},
};
use agcore_args::SuiteArgs;
use agcore_settings::Settings;
use agcore_workbench::{Surface, Workbench};

use crate::{command::chat::agent, exit::Failure, prices::Prices};

/// Returns the target, without a model.
///
/// # Errors
/// When a rule names an unknown tool, or the prices cannot be read.
pub(super) fn target(
    args: &SuiteArgs,
    file: &Path,
    settings: &Settings,
    workbench: &Workbench,
) -> Result<AgentTarget, Failure> {
    let prices = Prices::read(args.catalog.as_deref(), settings.prices.as_ref(), &settings.provider)?;
    let price = prices.map(price_fn);
    let guarded = workbench.agent(settings, Surface::Eval)?.with_price(price);
    let agent = agent(settings);
    let target = AgentTarget::new(move |model| guarded.builder(model).with_agent(agent.clone()).build());
    Ok(target.with_folder(file.parent().unwrap_or(Path::new("."))))
}

/// Returns whether a case is answered by the model of the settings.
pub(super) fn needs_model(suite: &Suite) -> bool {
    suite
        .cases
        .iter()
        .any(|case| case.replies.is_none() && case.cassette.is_none())
}

/// Returns whether the answer of a case is judged.
pub(super) fn needs_judge(suite: &Suite) -> bool {
    suite.cases.iter().any(|case| case.expect.judge.is_some())
}

fn price_fn(prices: Prices) -> PriceFn {
    Arc::new(move |query| prices.cost(query.provider, query.model, query.usage).map(Price::from))
}
