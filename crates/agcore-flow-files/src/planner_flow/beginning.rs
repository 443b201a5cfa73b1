//! The nodes before the loop, which collect facts about the user, the files and the request.

use std::sync::Arc;

use agcore_files::{OriginFile, preprocess_all};
use agcore_flow::{NodeContext, NodeError, Step};
use agcore_profile::{UserAgentContext, Uuid};
use serde_json::json;

use super::{
    parts::{Parts, act},
    phase,
    state::PlannerState,
    user_facts::user_facts,
    verdicts::Scenario,
};
use crate::{
    planner::{ActionRecord, Relevance},
    stage::{Ask, Done, Form},
};

type Ended = Result<Step<PlannerState>, NodeError>;

fn record(node: &str, next: &str, summary: impl Into<String>) -> ActionRecord {
    ActionRecord::new(node).with_summary(summary).with_next(next)
}

/// Checks what the run begins with.
pub(super) async fn initialise(_: Arc<Parts>, state: PlannerState, _: NodeContext) -> Ended {
    if state.runtime.prompt().is_none_or(|prompt| prompt.trim().is_empty()) {
        return Err(NodeError::permanent(
            "the request is empty; begin the run with a request",
        ));
    }
    act(state, record(phase::INITIALISE, phase::INHERIT, "the turn began"))
}

/// Continues the conversation to which the request belongs.
pub(super) async fn inherit(parts: Arc<Parts>, mut state: PlannerState, _: NodeContext) -> Ended {
    let earlier = match (&parts.memory, &state.conversation) {
        (Some(memory), Some(conversation)) => memory.conversation(conversation).await?,
        _ => None,
    };
    let turns = earlier.as_ref().map_or(0, crate::planner::RuntimeState::turn);
    if let Some(earlier) = earlier {
        state.runtime.inherit(earlier);
    }
    let summary = format!("{turns} earlier turns");
    let record = record(phase::INHERIT, phase::USER_CONTEXT, summary);
    act(state, record.with_result(json!({"turns": turns})))
}

/// Reads the profile of the user.
pub(super) async fn user_context(parts: Arc<Parts>, mut state: PlannerState, _: NodeContext) -> Ended {
    if let (Some(profiles), Some(user)) = (&parts.profiles, &state.user) {
        let id = Uuid::parse_str(user).map_err(|error| NodeError::from(error).with_retryable(false))?;
        let context = UserAgentContext::load(&**profiles, id).await?;
        state.runtime.user_context = user_facts(&context);
    }
    let known: Vec<&String> = state.runtime.user_context.keys().collect();
    let record = record(
        phase::USER_CONTEXT,
        phase::PREPROCESS,
        format!("{} facts about the user", known.len()),
    );
    let record = record.with_result(json!({"known": known}));
    act(state, record)
}

/// Reads the files that no earlier turn has read.
pub(super) async fn preprocess(parts: Arc<Parts>, mut state: PlannerState, _: NodeContext) -> Ended {
    let new = new_files(&state);
    if let Some((preprocessor, storages)) = &parts.files {
        for (number, storage) in storages.iter().enumerate() {
            // The first storage reports the files that are in none.
            let here = |file: &&OriginFile| {
                let mapping = file.mapping.as_ref();
                let own = |mapping| storages.iter().position(|one| one.provider() == mapping);
                mapping.and_then(|mapping| own(mapping.provider)).unwrap_or(0) == number
            };
            let files: Vec<OriginFile> = new.iter().filter(here).cloned().collect();
            let found = preprocess_all(&**preprocessor, &**storage, &files).await;
            state.runtime.preprocessed_files.append(found);
        }
    }
    let found = &state.runtime.preprocessed_files;
    let (documents, tables, others) = (found.documents.len(), found.tables.len(), found.other_files.len());
    let summary = format!("{documents} documents, {tables} tables, {others} other files");
    let record = record(phase::PREPROCESS, phase::RECALL, summary);
    let names: Vec<&str> = new.iter().map(|file| file.name.as_str()).collect();
    act(state, record.with_result(json!({"read": names})))
}

fn new_files(state: &PlannerState) -> Vec<OriginFile> {
    let found = &state.runtime.preprocessed_files;
    let is_read = |name: &str| {
        found.documents.iter().any(|document| document.name == name)
            || found.tables.iter().any(|table| table.name == name)
            || found.other_files.iter().any(|other| other.file.name == name)
    };
    let files = state.runtime.origin_files.iter();
    files.filter(|file| !is_read(&file.name)).cloned().collect()
}

/// Recalls notes that help with the request.
pub(super) async fn recall(parts: Arc<Parts>, mut state: PlannerState, _: NodeContext) -> Ended {
    if let Some(memory) = &parts.memory {
        for hit in memory.recall(&state).await? {
            let known = state.runtime.memory_hits.iter_mut().find(|known| known.id == hit.id);
            match known {
                Some(known) => *known = hit,
                None => state.runtime.memory_hits.push(hit),
            }
        }
    }
    let ids: Vec<&String> = state.runtime.memory_hits.iter().map(|hit| &hit.id).collect();
    let record = record(phase::RECALL, phase::SCENARIO, format!("{} notes", ids.len()));
    let record = record.with_result(json!({"notes": ids}));
    act(state, record)
}

/// Lets a model choose the scenario and the goals, if the file has this task.
pub(super) async fn scenario(parts: Arc<Parts>, mut state: PlannerState, at: NodeContext) -> Ended {
    let Some(stage) = &parts.scenario else {
        return act(state, record(phase::SCENARIO, phase::PLANNER, "there are no scenarios"));
    };
    let view = parts.view(&state, &at)?;
    let form = Form::new(Scenario::schema(&parts.scenarios)).checked_by_schema();
    let done: Done<Scenario> = stage.value(Ask::new(&view, &at), form).await?;
    done.value.apply(&mut state.runtime);
    let record = record(phase::SCENARIO, phase::PLANNER, &done.value.summary)
        .with_result(serde_json::to_value(&done.value)?)
        .with_relevance(Relevance::new(1.0))
        .with_usage(done.usage);
    act(state, record)
}
