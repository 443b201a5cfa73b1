//! The nodes of the loop: planner, tools, reflection.

use std::sync::Arc;

use agcore_flow::{NodeContext, NodeError, Step};

use super::{
    decision::{Decision, DecisionCheck, processing},
    ending::after_output,
    parts::{Parts, act, now},
    phase,
    state::PlannerState,
    state_tool::StateTool,
    verdicts::{Attempt, Reflection},
};
use crate::{
    planner::ActionRecord,
    stage::{Ask, Done, Form},
};

type Ended = Result<Step<PlannerState>, NodeError>;

/// Lets a model decide what comes next.
pub(super) async fn plan(parts: Arc<Parts>, mut state: PlannerState, at: NodeContext) -> Ended {
    reset(&mut state);
    wait_for_retry(&state, &at).await;
    let view = parts.view(&state, &at)?;
    let check = DecisionCheck {
        tools: parts.tools.clone(),
        state: state.runtime.clone(),
        now: now(&at),
    };
    let form = Form::new(Decision::schema(&parts.tools)).with_check(Arc::new(check));
    let done: Done<Decision> = parts.planner.value(Ask::new(&view, &at), form).await?;
    let decision = done.value;
    decision
        .apply(&mut state.runtime, now(&at))
        .map_err(NodeError::permanent)?;
    let record = ActionRecord::new(phase::PLANNER)
        .with_summary(&decision.summary)
        .with_preparation(decision.todo.as_deref().unwrap_or_default())
        .with_next(&decision.next)
        .with_result(serde_json::to_value(&decision)?)
        .with_usage(done.usage);
    act(state, record)
}

/// Makes todos pending again that no action completed.
fn reset(state: &mut PlannerState) {
    let turn = state.runtime.turn();
    let open = state
        .runtime
        .todos
        .get(turn)
        .filter(|todos| processing(todos).is_some());
    if let Some(mut todos) = open.cloned() {
        todos.reset_processing();
        state.runtime.todos.insert(turn, todos);
    }
}

/// Waits until a todo can be tried again, if there is nothing else to do.
async fn wait_for_retry(state: &PlannerState, at: &NodeContext) {
    let Some(todos) = state.runtime.todos.get(state.runtime.turn()) else {
        return;
    };
    let now = now(at);
    if todos.ready(now).next().is_none()
        && let Some(retry) = todos.next_retry(now)
    {
        at.clock().sleep(retry.since(now)).await;
    }
}

/// Runs a tool.
pub(super) async fn run_tool(tool: Arc<dyn StateTool>, mut state: PlannerState, at: NodeContext) -> Ended {
    let mut record = tool.run(&mut state.runtime, &at).await?;
    tool.name().clone_into(&mut record.node);
    let next = after_output(&state, tool.name()).unwrap_or_else(|| phase::REFLECTION.to_owned());
    record.next = vec![next];
    act(state, record)
}

/// Lets a model judge the last action, and completes the todo that it carried out.
pub(super) async fn reflect(parts: Arc<Parts>, mut state: PlannerState, at: NodeContext) -> Ended {
    let tool = state
        .runtime
        .last_action()
        .map(|action| action.node.clone())
        .unwrap_or_default();
    let view = parts.view(&state, &at)?;
    let form = Form::new(Reflection::schema()).checked_by_schema();
    let done: Done<Reflection> = parts.reflection.value(Ask::new(&view, &at), form).await?;
    let reflection = done.value;
    let millis = at.last().map_or(0, |record| record.duration.as_millis());
    let attempt = Attempt {
        tool: &tool,
        millis: u64::try_from(millis).unwrap_or(u64::MAX),
        now: now(&at),
    };
    reflection.apply(&mut state.runtime, &attempt)?;
    let next = if reflection.is_finished {
        phase::FINISH
    } else {
        phase::PLANNER
    };
    let record = ActionRecord::new(phase::REFLECTION)
        .with_summary(&reflection.summary)
        .with_relevance(reflection.relevance)
        .with_next(next)
        .with_result(serde_json::to_value(&reflection)?)
        .with_usage(done.usage);
    act(state, record)
}
