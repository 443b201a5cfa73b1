//! The options of a segment of the agent loop: the settings of its agent, the executor of its tools, its recorder.

use std::sync::Arc;

use agcore_chat::ToolExecutor;
use agcore_cycle::{LlmCycle, OutcomeRecorder, PauseFlag, ResultView, TurnOptions};
use agcore_tools::{ExecutorBuilder, ToolContext, ToolSnapshot};

use super::{
    handoff_state::HandoffState,
    live::Conversation,
    prompt::system_prompt,
    scope::TurnScope,
    segment::Segment,
    tools::{forced_tools, handoff_tools, runs_agents, visible_tools},
};
use crate::{agent::Agent, bundle::AgentPart, error::AgentError, tape::TapeExecutor, tool_source::OfferedTools};

/// The tools that a turn offers, if these are not all that its agent sees.
type Offered = Option<Arc<dyn OfferedTools>>;

impl Segment<'_> {
    /// Applies what depends on the agent and the date.
    pub(super) fn apply(&self, agent: &dyn Agent, offered: Option<&dyn OfferedTools>, cycle: &mut LlmCycle) {
        let parts = self.session.bundle.parts();
        let loadable = offered.map(OfferedTools::prompt);
        let part = AgentPart {
            name: agent.name(),
            prompt: system_prompt(&parts.config, agent, &parts.skills, loadable, parts.clock.now()),
            request: &agent.request(),
        };
        if !part.is_in(cycle.settings()) {
            cycle.set_settings(parts.settings.with(part));
        }
    }

    /// Returns the options of a turn, and the tools that it offers if these are not all that the agent sees.
    pub(super) fn options(&self, conversation: &mut Conversation) -> Result<(TurnOptions, Offered), AgentError> {
        let parts = self.session.bundle.parts();
        let tools = visible_tools(parts, &*conversation.agent)?;
        let short = parts.short_results.as_ref().and_then(|short| short.with_tool(&tools));
        let results = self.session.results.as_ref().filter(|_| short.is_some());
        if let Some(results) = results {
            // Those of an earlier process, which a call that continues may read.
            results.learn(&conversation.cycle.machine().view().messages());
        }
        let tools = short.unwrap_or(tools);
        let pause = runs_agents(&tools).then(PauseFlag::new);
        let offered = parts.offer.as_ref().and_then(|offer| {
            let forced = forced_tools(conversation.agent.request().tool_choice.as_ref());
            offer.offered(&tools, &forced, &self.session.tools)
        });
        let callable = offered.as_ref().map_or(&tools, |offered| offered.callable());
        let tools = self.executor(conversation, Arc::clone(callable), pause.as_ref())?;
        let tools = match &offered {
            Some(offered) => Arc::clone(offered).executor(tools, self.session.tools.clone(), parts.tape.is_some()),
            None => tools,
        };
        let mut options = TurnOptions::cancelled_by(self.token.clone())
            .with_tools(tools)
            .with_actor(self.session.actor())
            .with_trace(Arc::clone(&self.session.id));
        options.session.clone_from(&self.session.lineage.whole);
        options.pause = pause;
        options.results = results.map(|results| Arc::clone(results) as Arc<dyn ResultView>);
        options.shared_budget.clone_from(&parts.shared_budget);
        options.stop_check.clone_from(&parts.stop_check);
        if let Some(recorder) = &self.session.recorder {
            let run_state = conversation.run_state.get_or_insert_default();
            recorder.prepare(&mut conversation.cycle, run_state);
            options.recorder = Some(Arc::clone(recorder) as Arc<dyn OutcomeRecorder>);
        }
        Ok((options, offered))
    }

    /// Builds the executor of the tools that the agent exposes, as of this turn.
    fn executor(
        &self,
        conversation: &mut Conversation,
        tools: Arc<ToolSnapshot>,
        pause: Option<&PauseFlag>,
    ) -> Result<Arc<dyn ToolExecutor>, AgentError> {
        let parts = self.session.bundle.parts();
        let run_state = conversation.run_state.get_or_insert_default().clone();
        let mut context = ToolContext::builder(Arc::clone(&parts.clock))
            .with_session_id(&*self.session.id)
            .with_trace_id(&*self.session.id)
            .with_actor(self.session.actor())
            .with_cancellation(self.token.clone())
            .with_run_state(run_state.clone())
            .with_extensions(parts.extensions.clone());
        if let Some(check) = &parts.stop_check {
            context = context.with_stop_check(check.clone());
        }
        if self.session.lineage.depth > 0 {
            context = context.with_agent(conversation.agent.name());
        }
        if let Some(call) = &self.session.lineage.call {
            context = context.with_parent_call(&**call);
        }
        if let Some(recorder) = &self.session.recorder {
            let turn = self.turn_index(conversation);
            context = context.with_key_scope(format!("{turn} {}", recorder.key_scope()));
        }
        if let Some(results) = &self.session.results {
            context = context.with_state(Arc::clone(results));
        }
        if let Some(pause) = pause {
            if HandoffState::of(&run_state).target().is_some() {
                // Requested before the process died.
                pause.request();
            }
            context = context.with_state(self.scope(conversation, pause.clone()));
        }
        let handoffs = parts.tape.is_some().then(|| handoff_tools(&tools));
        let mut builder = ExecutorBuilder::new(tools, context.build())
            .with_policy(parts.policy.clone())
            .with_session(self.session.tools.clone())
            .with_max_result_bytes(parts.config.limits.max_tool_result_bytes);
        if let Some(sink) = &parts.audit {
            builder = builder.with_audit(Arc::clone(sink));
        }
        let builder = builder
            .with_settings(&parts.config.tools)
            .with_trace_content(parts.config.trace_content);
        let executor = Arc::new(builder.build()?);
        Ok(match (&parts.tape, handoffs) {
            (Some(tape), Some(handoffs)) => Arc::new(TapeExecutor::new(Arc::clone(tape), executor, handoffs)),
            _ => executor,
        })
    }

    /// Returns what tools that run other agents know about the turn.
    fn scope(&self, conversation: &Conversation, pause: PauseFlag) -> TurnScope {
        let mut lineage = self.session.lineage.clone();
        if lineage.depth == 0 {
            lineage.pool.clone_from(&conversation.team);
            // What a stored session has spent is in its records.
            let is_noted = lineage.pool.is_some() && self.session.recorder.is_none();
            lineage.ledger = conversation.run_state.clone().filter(|_| is_noted);
        }
        TurnScope {
            bundle: self.session.bundle.clone(),
            agent: conversation.agent.name().to_owned(),
            observer: self.observer.filter(|_| self.shows_sub_agents).cloned(),
            recorder: self.session.recorder.clone(),
            session: Arc::clone(&self.session.id),
            memory: self.session.memory(),
            tools: self.session.tools.clone(),
            actor: self.session.actor(),
            turn: self.turn_index(conversation),
            lineage,
            pause,
        }
    }

    /// Returns the index of the turn that starts or continues.
    fn turn_index(&self, conversation: &Conversation) -> u32 {
        let machine = conversation.cycle.machine();
        match self.starts {
            true => machine.turns(),
            false => machine.turn_index(),
        }
    }
}
