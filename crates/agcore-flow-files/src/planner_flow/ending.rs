//! The nodes after the loop: the output, and what outlives the turn.

use std::sync::Arc;

use agcore_chat::text::clip;
use agcore_flow::{NodeContext, NodeError, Step};
use serde_json::{Value, json};

use super::{
    memory::{MemoryNote, MemoryNoteKind},
    parts::{Parts, act, reference},
    phase,
    state::PlannerState,
    verdicts::Notes,
};
use crate::{
    planner::{ActionContent, ActionContext, ActionRecord, ContextUsage, OutputPart, Relevance},
    stage::{Ask, Done, Form},
};

/// The longest summary of an output, in bytes.
const SUMMARY_BYTES: usize = 200;

type Ended = Result<Step<PlannerState>, NodeError>;

/// Chooses what makes the output: what the planner named, all output tools, or the task `output`.
pub(super) async fn finish(parts: Arc<Parts>, state: PlannerState, _: NodeContext) -> Ended {
    let last = this_turn(&state)
        .iter()
        .rev()
        .find(|action| action.node == phase::PLANNER);
    let named = last.and_then(|action| action.result.get("outputs")?.as_array());
    let mut outputs: Vec<String> = Vec::new();
    for name in named.into_iter().flatten().filter_map(Value::as_str) {
        if !outputs.iter().any(|other| other == name) {
            outputs.push(name.to_owned());
        }
    }
    if outputs.is_empty() {
        let only = parts.tools.outputs().filter(|tool| !tool.kind().is_call());
        outputs = only.map(|tool| tool.name().to_owned()).collect();
    }
    if outputs.is_empty() {
        outputs.push(phase::OUTPUT.to_owned());
    }
    let next = outputs[0].clone();
    let record = ActionRecord::new(phase::FINISH).with_summary(format!("output by {}", outputs.join(", ")));
    act(state, record.with_next(next).with_result(json!({"outputs": outputs})))
}

fn this_turn(state: &PlannerState) -> &[ActionRecord] {
    let runtime = &state.runtime;
    runtime.action_history().get(runtime.turn()).map_or(&[], Vec::as_slice)
}

/// Returns what follows a node that makes a part of the output; `None` if the loop has not ended.
pub(super) fn after_output(state: &PlannerState, node: &str) -> Option<String> {
    let finish = this_turn(state)
        .iter()
        .rev()
        .find(|action| action.node == phase::FINISH)?;
    let outputs = finish.result.get("outputs")?.as_array()?;
    let at = outputs.iter().position(|name| name == node);
    let next = at.and_then(|at| outputs.get(at + 1)).and_then(Value::as_str);
    Some(next.unwrap_or(phase::ARCHIVE).to_owned())
}

/// Lets a model write the output.
pub(super) async fn output(parts: Arc<Parts>, mut state: PlannerState, at: NodeContext) -> Ended {
    let view = parts.view(&state, &at)?;
    let ask = Ask::new(&view, &at);
    let structure = state.runtime.output_structure.clone();
    let (text, usage) = match structure.is_empty() {
        true => {
            let done = parts.output.text(ask).await?;
            (done.value, done.usage)
        }
        false => {
            let form = Form::new(parts_schema(&structure)).checked_by_schema();
            let done: Done<serde_json::Map<String, Value>> = parts.output.value(ask, form).await?;
            for part in &mut state.runtime.output_structure {
                let content = done.value.get(&part.id).and_then(Value::as_str);
                content.unwrap_or_default().clone_into(&mut part.content);
            }
            let texts = state.runtime.output_structure.iter().map(|part| part.content.clone());
            (texts.collect::<Vec<_>>().join("\n\n"), done.usage)
        }
    };
    let context = ActionContext::new(ActionContent::Text, text.as_str(), ContextUsage::Output);
    let record = ActionRecord::new(phase::OUTPUT)
        .with_summary(clip(&text, SUMMARY_BYTES))
        .with_result(text)
        .with_context(context)
        .with_relevance(Relevance::new(1.0))
        .with_usage(usage)
        .with_next(after_output(&state, phase::OUTPUT).unwrap_or_else(|| phase::ARCHIVE.to_owned()));
    act(state, record)
}

/// Returns the schema of an object with the contents of all parts.
fn parts_schema(structure: &[OutputPart]) -> Value {
    let part = |part: &OutputPart| {
        let description = format!("{} ({})", part.expected, part.kind);
        (part.id.clone(), json!({"type": "string", "description": description}))
    };
    let ids: Vec<&str> = structure.iter().map(|part| part.id.as_str()).collect();
    json!({
        "title": "Output",
        "type": "object",
        "properties": structure.iter().map(part).collect::<serde_json::Map<_, _>>(),
        "required": ids,
        "additionalProperties": false,
    })
}

/// Keeps notes about the user, if the file has this task, and the conversation itself.
pub(super) async fn archive(parts: Arc<Parts>, mut state: PlannerState, at: NodeContext) -> Ended {
    let mut record = ActionRecord::new(phase::ARCHIVE).with_next(agcore_flow::END);
    if let (Some(stage), Some(memory)) = (&parts.archive, &parts.memory) {
        let view = parts.view(&state, &at)?;
        let form = Form::new(Notes::schema()).checked_by_schema();
        let done: Done<Notes> = stage.value(Ask::new(&view, &at), form).await?;
        let Notes { preferences, facts } = done.value;
        let preferences = preferences
            .into_iter()
            .map(|text| MemoryNote::new(MemoryNoteKind::Preference, text));
        let facts = facts
            .into_iter()
            .map(|text| MemoryNote::new(MemoryNoteKind::Fact, text));
        let notes: Vec<MemoryNote> = preferences.chain(facts).collect();
        record = record.with_result(serde_json::to_value(&notes)?).with_usage(done.usage);
        memory.keep(&state, notes).await?;
    }
    let kept = record.result.as_array().map_or(0, Vec::len);
    let usage = record.usage.clone();
    state.record(record.with_summary(format!("{kept} notes were kept")))?;
    if let (Some(memory), Some(conversation)) = (&parts.memory, &state.conversation) {
        memory.keep_conversation(conversation, &state.runtime).await?;
    }
    let data = reference(&state);
    Ok(Step::new(state).with_data(data).with_usage(usage))
}
