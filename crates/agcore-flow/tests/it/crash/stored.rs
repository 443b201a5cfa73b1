//! The contents of the store of a run.

use std::collections::HashSet;

use agcore_chat::Actor;
use agcore_session::RunKey;
use agcore_testkit::crash::{Boundaries, Place};
use serde_json::Value;

use super::{
    run::{State, state_at},
    store::{RUN, Stores, block_on},
};

/// Returns the calls whose results are stored, and the state if the run has ended.
pub(super) fn stored(place: &Place) -> (HashSet<String>, Option<State>) {
    block_on(async {
        let stores = Stores::open(place).await.unwrap();
        let checkpoints = stores.run(place, &Actor::local(), &Boundaries::without_stop()).await;
        let key = place.name();
        let run = RunKey::new("local", &key, RUN);
        let all = stores.checkpoints.checkpoints(run, 0).await.unwrap();
        let mut calls = HashSet::new();
        for checkpoint in &all {
            collect(&checkpoint.data, &mut calls);
        }
        let has_ended = all.last().is_some_and(|last| {
            last.data["record"]["node"] == "sub" && last.data["record"]["next"] == serde_json::json!(["end"])
        });
        let mut state = None;
        if has_ended {
            let last = checkpoints.last().await.unwrap();
            state = state_at(place, checkpoints, last).await;
        }
        (calls, state)
    })
}

/// Collects the names of all calls whose results occur in a checkpoint.
fn collect(data: &Value, calls: &mut HashSet<String>) {
    match data {
        Value::String(text) => calls.extend(text.strip_prefix("result of ").map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, calls)),
        Value::Object(members) => members.values().for_each(|item| collect(item, calls)),
        _ => {}
    }
}
