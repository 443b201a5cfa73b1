//! Tool calls out of fragments: whatever comes in which order, ids are distinct and not empty, each fragment has its
//! call, and the calls taken apart fold to themselves.
#![no_main]

use std::collections::BTreeSet;

use agcore_chat::ToolCall;
use agcore_llm::{
    delta::{CallFragment, ReplyDelta, deltas_of},
    fold::Fold,
};
use libfuzzer_sys::{
    arbitrary::{Result, Unstructured},
    fuzz_target,
};

/// Ids that meet each other, and those that are made up.
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
    let mut places = BTreeSet::new();
    for fragment in &fragments {
        let fragment = Box::new(fragment.clone());
        let place = fold
            .push(&ReplyDelta::Call { choice: 0, fragment })
            .expect("a call has a place");
        assert!(place <= places.len(), "places have no gaps");
        assert!(fold.call(0, place).is_some());
        places.insert(place);
    }
    let response = fold.response();
    let calls: Vec<&ToolCall> = response
        .choices
        .iter()
        .flat_map(|choice| choice.message.tool_calls())
        .collect();
    assert_eq!(calls.len(), places.len(), "a call for each place");
    let ids: BTreeSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), calls.len(), "ids are distinct: {calls:?}");
    assert!(!ids.contains(""), "ids are not empty: {calls:?}");
    let told: usize = fragments
        .iter()
        .filter_map(|fragment| fragment.input.as_ref())
        .map(|text| text.len())
        .sum();
    let kept: usize = calls.iter().map(|call| call.raw_input().len()).sum();
    assert!(kept <= told, "input from nowhere");
    for call in &calls {
        let _ = call.arguments();
    }

    let mut again = Fold::new();
    for delta in deltas_of(response.clone()) {
        again.push(&delta);
    }
    assert_eq!(again.response(), response, "taken apart and folded again");
});
