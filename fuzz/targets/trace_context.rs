//! A context that is read from headers is valid, and written as headers that are read again.
#![no_main]

use agcore_trace::{MAX_STATE_BYTES, TraceContext};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|headers: &[u8]| {
    // Lines are the values of the headers, the first one that of `traceparent`.
    let mut lines = headers.split(|byte| *byte == b'\n');
    let parent = lines.next();
    let Some(context) = TraceContext::from_headers(parent, lines) else {
        return;
    };
    let state = context.tracestate().unwrap_or_default();
    assert!(state.is_ascii() && state.len() <= MAX_STATE_BYTES);
    let again = TraceContext::from_headers([context.traceparent()], context.tracestate());
    assert_eq!(again, Some(context));
});
