//! One turn of a session: checks, the agent's view of prompt and tools, the cycle.

use std::sync::Arc;

use agcore_chat::{Message, ToolExecutor};
use agcore_llm::{LlmCycle, Observer, TurnInput, TurnOptions, TurnOutcome};
use agcore_tools::ToolContext;
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::{agent::Agent, error::AgentError, prompt_layers::system_prompt};

pub(super) async fn run(
    shared: Arc<Shared>,
    input: TurnInput,
    token: CancellationToken,
    observer: Option<&Observer>,
) -> Result<TurnOutcome, AgentError> {
    let mut occupied = shared.cycle.occupy(&token).await?;
    shared.check_limits(&input, &occupied.value)?;
    let agent = Arc::clone(&shared.agent.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    shared.apply(&*agent, &mut occupied.value);
    if matches!(input, TurnInput::Begin(_)) {
        shared.tools.begin_turn();
    }
    let tools = shared.executor(&agent, &occupied.token)?;
    let options = TurnOptions::new()
        .with_token(occupied.token.clone())
        .with_tools(tools)
        .with_trace(Arc::clone(&shared.id));
    let outcome = match observer {
        Some(observer) => occupied.value.run_observed(input, options, observer).await,
        None => occupied.value.run(input, options).await,
    };
    Ok(outcome?)
}

impl Shared {
    /// Whether another turn may begin at all.
    fn check_limits(&self, input: &TurnInput, cycle: &LlmCycle) -> Result<(), AgentError> {
        let config = self.bundle.config();
        if let Some(ttl) = config.session_ttl.filter(|ttl| self.age() >= *ttl) {
            let message = format!("the session is older than session_ttl ({} s); begin a new one", ttl.as_secs());
            return Err(AgentError::LimitExceeded(message));
        }
        let begins = matches!(input, TurnInput::Begin(_));
        if let Some(most) = config.max_turns.filter(|most| begins && cycle.machine().turns() >= *most) {
            let message = format!("the session has had all {most} turns of max_turns; begin a new one, or raise it");
            return Err(AgentError::LimitExceeded(message));
        }
        Ok(())
    }

    /// Recomputes what the agent and the day decide.
    fn apply(&self, agent: &dyn Agent, cycle: &mut LlmCycle) {
        let parts = self.bundle.parts();
        let prompt = system_prompt(&parts.config, agent, parts.clock.now());
        let settings = cycle.settings_mut();
        settings.agent = agent.name().into();
        settings.request = agent.request();
        settings.prelude = prompt.map(|prompt| Arc::new(Message::system(prompt))).into_iter().collect();
    }

    /// The tools that the agent exposes, as of this turn.
    fn executor(
        &self,
        agent: &Arc<dyn Agent>,
        token: &CancellationToken,
    ) -> Result<Arc<dyn ToolExecutor>, AgentError> {
        let parts = self.bundle.parts();
        let context = ToolContext::builder(Arc::clone(&parts.clock))
            .session_id(&*self.id)
            .trace_id(&*self.id)
            .cancellation(token.clone())
            .extensions(parts.extensions.clone())
            .build();
        let chooser = Arc::clone(agent);
        let mut builder = parts
            .tools
            .subset(move |tool| chooser.exposes(tool))
            .executor(context)
            .policy(parts.policy.clone())
            .session(self.tools.clone())
            .max_result_bytes(parts.config.limits.max_tool_result_bytes);
        if let Some(sink) = &parts.audit {
            builder = builder.audit(Arc::clone(sink));
        }
        Ok(Arc::new(builder.build()?))
    }
}
