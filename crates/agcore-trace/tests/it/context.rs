//! Contexts are read as the specification demands, and hostile ones are ignored.

use agcore_trace::{MAX_STATE_BYTES, MAX_STATE_MEMBERS, TraceContext};
use proptest::prelude::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn parent(version: &str, trace: &str, span: &str, rest: &str) -> String {
    format!("{version}-{trace}-{span}-{rest}")
}

#[test]
fn a_valid_context_is_written_as_it_was_read() {
    for flags in ["00", "01"] {
        let text = parent("00", TRACE, SPAN, flags);
        let context = TraceContext::parse(&text).unwrap();
        assert_eq!(context.traceparent(), text);
        assert_eq!(context.is_sampled(), flags == "01");
        assert_eq!(context.span_id(), [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        assert_eq!(context.trace_id()[..2], [0x4b, 0xf9]);
    }
    // Unknown flags are not passed on.
    let context = TraceContext::parse(&parent("00", TRACE, SPAN, "ff")).unwrap();
    assert_eq!(context.traceparent(), parent("00", TRACE, SPAN, "01"));
}

#[test]
fn later_versions_are_read_like_the_first() {
    for text in [
        parent("01", TRACE, SPAN, "01"),
        parent("fe", TRACE, SPAN, "01-more-data"),
    ] {
        let context = TraceContext::parse(&text).unwrap();
        assert_eq!(context.traceparent(), parent("00", TRACE, SPAN, "01"), "{text}");
    }
}

#[test]
fn hostile_parents_are_no_context() {
    let zeros = "0".repeat(32);
    let hostile = [
        String::new(),
        "00".to_owned(),
        parent("ff", TRACE, SPAN, "01"),
        parent("0x", TRACE, SPAN, "01"),
        parent("00", &zeros, SPAN, "01"),
        parent("00", TRACE, &zeros[..16], "01"),
        parent("00", &TRACE.to_uppercase(), SPAN, "01"),
        parent("00", &TRACE.replace('4', "g"), SPAN, "01"),
        parent("00", &TRACE.replacen("4b", "é", 1), SPAN, "01"),
        parent("00", TRACE, SPAN, "01-"),
        parent("00", TRACE, SPAN, "1"),
        parent("01", TRACE, SPAN, "01x"),
        parent("01", TRACE, SPAN, &format!("01-{}", "x".repeat(100_000))),
        format!(" {}", parent("00", TRACE, SPAN, "01")),
        format!("{}\n", parent("00", TRACE, SPAN, "01")),
        parent("00", TRACE, SPAN, "01").replace('-', "_"),
    ];
    for text in hostile {
        assert_eq!(TraceContext::parse(&text), None, "{text}");
    }
}

#[test]
fn two_parents_are_none() {
    let one = parent("00", TRACE, SPAN, "01");
    assert!(TraceContext::from_headers([&one], [""; 0]).is_some());
    assert_eq!(TraceContext::from_headers([&one, &one], [""; 0]), None);
    assert_eq!(TraceContext::from_headers([&[0xff_u8, 0xfe][..]], [""; 0]), None);
    assert_eq!(TraceContext::from_headers([""; 0], ["a=b"]), None);
}

#[test]
fn the_state_is_kept_or_ignored_as_a_whole() {
    let one = parent("00", TRACE, SPAN, "01");
    let state = |values: &[&str]| {
        let context = TraceContext::from_headers([&one], values).unwrap();
        // Whatever the state is, the context counts.
        assert_eq!(context.traceparent(), one);
        context.tracestate().map(str::to_owned)
    };
    assert_eq!(state(&["a=1", " b@vendor=2 ,,"]).as_deref(), Some("a=1,b@vendor=2"));
    let members = |count: usize| (0..count).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
    assert_eq!(state(&[&members(MAX_STATE_MEMBERS)]), Some(members(MAX_STATE_MEMBERS)));
    let long = format!("a={}", "x".repeat(MAX_STATE_BYTES));
    let hostile = [
        "",
        "a",
        "a=",
        "=b",
        "A=b",
        "a=b=c",
        "a=1,a=2",
        "a=é",
        "a=b\u{7}",
        "1@=b",
        "a@1=b",
        &members(MAX_STATE_MEMBERS + 1),
        &long,
    ];
    for text in hostile {
        assert_eq!(state(&[text]), None, "{text}");
    }
    assert_eq!(state(&["a=1"; 300]), None);
}

#[test]
fn debugging_shows_no_state() {
    let context = TraceContext::parse(&parent("00", TRACE, SPAN, "01")).unwrap();
    let text = format!("{:?}", context.with_tracestate("vendor=hush"));
    assert!(text.contains(TRACE) && !text.contains("hush"), "{text}");
}

proptest! {
    #[test]
    fn what_is_written_is_read(trace in any::<[u8; 16]>(), span in any::<[u8; 8]>(), sampled in any::<bool>()) {
        if let Some(context) = TraceContext::new(trace, span, sampled) {
            prop_assert_eq!(TraceContext::parse(&context.traceparent()), Some(context));
        }
    }

    #[test]
    fn any_bytes_are_a_valid_context_or_none(parent in any::<Vec<u8>>(), state in any::<Vec<u8>>(), flip in 0..55_usize) {
        prop_assert_eq!(TraceContext::from_headers([&parent], [&state]), None);
        let mut near = self::parent("00", TRACE, SPAN, "01").into_bytes();
        near[flip] = near[flip].wrapping_add(1);
        if let Some(context) = TraceContext::from_headers([&near], [&state]) {
            let state = context.tracestate().unwrap_or_default();
            prop_assert!(state.is_ascii() && state.len() <= MAX_STATE_BYTES);
            prop_assert_eq!(TraceContext::parse(&context.traceparent()).map(|again| again.trace_id()), Some(context.trace_id()));
        }
    }
}
