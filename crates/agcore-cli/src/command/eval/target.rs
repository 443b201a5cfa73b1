//! The agent that is evaluated: that of a chat, unless the file has one.

use std::{path::Path, sync::Arc};

use agcore::{
    chat::{Price, PriceFn},
    eval::{AgentTarget, Suite},
};

use crate::{
    args::{PermissionMode, SuiteArgs},
    command::chat::{ChatTools, agent},
    exit::Failure,
    guards::Guards,
    policy::Policy,
    prices::Prices,
    settings::Settings,
};

/// Returns the target, without a model.
///
/// # Errors
/// When a rule names an unknown tool, or the prices cannot be read.
pub(super) fn target(
    args: &SuiteArgs,
    file: &Path,
    settings: &Settings,
    tools: &ChatTools,
) -> Result<AgentTarget, Failure> {
    // No one is there to be asked.
    let policy = Policy::for_mode(&tools.registry, &settings.tools, PermissionMode::DontAsk)?.with_approver(None);
    let price = Prices::read(args.catalog.as_deref(), settings.prices.as_ref())?.map(price_fn);
    let guards = Guards::new(settings, policy, PermissionMode::DontAsk, settings.tools.folder()?)?.with_price(price);
    let (offered, agent) = (tools.offered(!args.no_tools), agent(settings));
    let target = AgentTarget::new(move |model| {
        let builder = guards.builder(model, offered.clone());
        builder.with_agent(agent.clone()).build()
    });
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
