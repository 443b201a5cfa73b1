//! The settings files: no text makes the readers of `agcore.toml` and `.env` panic, and what they say never holds a key.
//!
//! The input is the text around a line that sets a key, divided by NUL.
#![no_main]

// The command line is a program and no library, so its readers are taken from where they lie: pure, and without anything
// else of it.
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/dotenv.rs"]
mod dotenv;
#[path = "../../crates/agcore-cli/src/settings/fault.rs"]
mod fault;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/file.rs"]
mod file;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/permissions.rs"]
mod permissions;
#[path = "../../crates/agcore-cli/src/settings/place.rs"]
mod place;

use std::path::Path;

use agcore_fuzz::parts;
use libfuzzer_sys::fuzz_target;

/// No name of a setting can hold it.
const KEY: &str = "sk-live/0123456789";

/// What a person reads about a settings file.
fn said(text: &str) -> Vec<String> {
    match file::File::parse(Path::new("agcore.toml"), text) {
        Ok(file) => file.unknown.iter().map(|(_, fault)| fault.to_string()).collect(),
        Err(fault) => vec![fault.to_string()],
    }
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let [before, after] = parts(&text);
    for line in [
        format!("api_key = \"{KEY}\""),
        format!("api_key = {KEY}"),
        format!("OPENAI_API_KEY={KEY}"),
    ] {
        let file = format!("{before}\n{line}{after}");
        let mut told = said(&file);
        told.extend(
            dotenv::parse(Path::new(".env"), &file)
                .err()
                .map(|fault| fault.to_string()),
        );
        for told in told {
            assert!(!told.contains(KEY), "{told}");
        }
    }
});
