//! Assembling tool calls from fragments: for any fragments in any order, ids are distinct and not empty, every fragment
//! belongs to a call, and the deltas of the assembled calls fold into the same calls.
#![no_main]

use std::collections::BTreeSet;

use agcore_chat::ToolCall;
use agcore_llm::{
    Fold, ReplyDelta,
    wire::{CallFragment, deltas_from_response},
};
use libfuzzer_sys::{
    arbitrary::{Result, Unstructured},
    fuzz_target,
};

/// Ids that collide with each other and with generated ones.
const IDS: &[&str] = &["", "a", "b", "a_1", "call", "call_0", "call_1", "call_2"];
const NAMES: &[&str] = &["", "f", "g", "get_", "weather"];

fn fragment(u: &mut Unstructured<'_>) -> Result<CallFragment> {
    let mut fragment = CallFragment {
        index: u.arbitrary::<Option<u8>>()?.map(|index| u32::from(index % 4)),
        whole_input: u.ratio(1, 8)?,
        custom: u.ratio(1, 8)?,
        ..CallFragment::default()
    };
    if u.arbitrary()? {
        fragment.id = Some((*u.choose(IDS)?).into());
    }
    if u.arbitrary()? {
        fragment.name = Some((*u.choose(NAMES)?).into());
    }
    if u.arbitrary()? {
        fragment.input = Some(u.arbitrary::<&str>()?.into());
    }
    if u.ratio(1, 8)? {
        fragment.extra.insert("more", u.arbitrary::<u8>()?);
    }
    Ok(fragment)
}

fn fragments(data: &[u8]) -> Vec<CallFragment> {
    let mut u = Unstructured::new(data);
    std::iter::from_fn(|| (!u.is_empty()).then(|| fragment(&mut u).ok()).flatten())
        .take(64)
        .collect()
}

fuzz_target!(|data: &[u8]| {
    let fragments = fragments(data);
    let mut fold = Fold::new();
    let mut positions = BTreeSet::new();
    for fragment in &fragments {
        let fragment = Box::new(fragment.clone());
        let position = fold
            .push(&ReplyDelta::Call { choice: 0, fragment })
            .expect("a call has a position");
        assert!(position <= positions.len(), "positions have no gaps");
        assert!(fold.call(0, position).is_some());
        positions.insert(position);
    }
    let response = fold.response();
    let calls: Vec<&ToolCall> = response
        .choices
        .iter()
        .flat_map(|choice| choice.message.tool_calls())
        .collect();
    assert_eq!(calls.len(), positions.len(), "one call per position");
    let ids: BTreeSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), calls.len(), "ids are distinct: {calls:?}");
    assert!(!ids.contains(""), "ids are not empty: {calls:?}");
    let received: usize = fragments
        .iter()
        .filter_map(|fragment| fragment.input.as_ref())
        .map(|text| text.len())
        .sum();
    let kept: usize = calls.iter().map(|call| call.raw_input().len()).sum();
    assert!(kept <= received, "more input than received");
    for call in &calls {
        let _ = call.arguments();
    }

    let mut refolded = Fold::new();
    for delta in deltas_from_response(response.clone()) {
        refolded.push(&delta);
    }
    assert_eq!(refolded.response(), response, "deltas of the response, folded again");
});
