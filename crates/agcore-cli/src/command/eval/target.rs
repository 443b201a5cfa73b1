//! The agent that is evaluated: that of a chat, unless the file has one.

use std::{path::Path, sync::Arc};

use agcore::{
    AgentBuilder,
    agent::AgentConfig,
    chat::{Price, PriceFn},
    eval::{AgentTarget, Suite},
    llm::Budgets,
};

use crate::{
    args::{PermissionMode, SuiteArgs},
    command::chat::{ChatTools, agent},
    exit::Failure,
    policy::Policy,
    prices::Prices,
    sample_tools::NotesFile,
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
    let (offered, skills) = tools.offered(!args.no_tools);
    let mut config = AgentConfig::new()
        .with_trace_content(settings.trace_content)
        .with_retry(settings.retry());
    if let Some(price) = Prices::read(args.catalog.as_deref(), settings.prices.as_ref())?.map(price_fn) {
        config = config.with_budgets(Budgets::new().with_price(price));
    }
    let (folder, urls, agent) = (settings.tools.folder()?, settings.tools.web_access(), agent(settings));
    let target = AgentTarget::new(move |model| {
        AgentBuilder::new()
            .with_provider(model)
            .with_agent(agent.clone())
            .with_config(config.clone())
            .with_tools(offered.clone())
            .with_skills(skills.clone())
            .with_policy(policy.clone())
            .with_state(NotesFile::default())
            .with_state(folder.clone())
            .with_state(urls.clone())
            .build()
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
