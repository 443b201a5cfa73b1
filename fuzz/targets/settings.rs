//! Settings files: the parsers of `agcore.toml` and `.env` never panic, and their messages never contain a key.
//!
//! The input is the text around a line that sets a key, separated by NUL.
#![no_main]

use std::path::Path;

use agcore_fuzz::parts;
use agcore_settings::{invalid_variables, messages_about};
use libfuzzer_sys::fuzz_target;

/// No name of a setting can contain this key.
const KEY: &str = "sk-live/0123456789";

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let [before, after] = parts(&text);
    for line in [
        format!("api_key = \"{KEY}\""),
        format!("api_key = {KEY}"),
        format!("OPENAI_API_KEY={KEY}"),
    ] {
        let file = format!("{before}\n{line}{after}");
        for message in messages_about(Path::new("agcore.toml"), &file) {
            assert!(!message.contains(KEY), "{message}");
        }
        let lines = file.lines().count();
        for (number, word) in invalid_variables(&file) {
            assert!((1..=lines).contains(&number), "there is no line {number}");
            assert!(!word.contains(KEY), "{word}");
        }
    }
});
