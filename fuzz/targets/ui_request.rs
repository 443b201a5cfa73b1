//! The requests of pages with the Vercel AI SDK: any bytes are either read or refused with a message, and what was read is the input
//! of a run without instructions of the application.
#![no_main]

use agcore_agui::InputLimits;
use agcore_ui_stream::UiChatRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let limits = InputLimits::new();
    match UiChatRequest::from_slice(input, &limits) {
        Ok(request) => {
            let read = request.to_input("run", &limits).unwrap();
            assert!(!request.replaces_history() || !request.continues_reply());
            assert!(!read.thread_id.is_empty());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
