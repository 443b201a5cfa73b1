//! Settings files: the parsers of `agcore.toml` and `.env` never panic, and their messages never contain a key.
//!
//! The input is the text around a line that sets a key, separated by NUL.
#![no_main]

// The command line is a binary without a library, so its parsers, which are pure, are included by path.
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/dotenv.rs"]
mod dotenv;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/duration.rs"]
mod duration;
#[path = "../../crates/agcore-cli/src/settings/error.rs"]
mod error;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/explanation.rs"]
mod explanation;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/file.rs"]
mod file;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/guards.rs"]
mod guards;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/hooks.rs"]
mod hooks;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/limits.rs"]
mod limits;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/listen_address.rs"]
mod listen_address;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/mistake.rs"]
mod mistake;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/permissions.rs"]
mod permissions;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/price_table.rs"]
mod price_table;
#[allow(dead_code, unreachable_pub, reason = "only the parsers are called here")]
#[path = "../../crates/agcore-cli/src/settings/serve.rs"]
mod serve;

use std::path::Path;

use agcore_fuzz::parts;
use libfuzzer_sys::fuzz_target;

/// No name of a setting can contain this key.
const KEY: &str = "sk-live/0123456789";

/// Returns the messages about a settings file.
fn messages(text: &str) -> Vec<String> {
    match file::File::parse(Path::new("agcore.toml"), text) {
        Ok(file) => file.unknown.iter().map(|(_, error)| error.to_string()).collect(),
        Err(error) => vec![error.to_string()],
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
        for message in messages(&file) {
            assert!(!message.contains(KEY), "{message}");
        }
        let lines = file.lines().count();
        for invalid in dotenv::parse(&file).invalid {
            assert!(
                (1..=lines).contains(&invalid.number),
                "there is no line {}",
                invalid.number
            );
            assert!(!invalid.word.contains(KEY), "{}", invalid.word);
        }
    }
});
