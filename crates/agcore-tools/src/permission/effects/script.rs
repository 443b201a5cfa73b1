//! Scripts of sed and awk, which can write files and run programs without an option.

/// Options of sed that change neither a file nor the meaning of the other words.
const SED_FLAGS: &str = "nErsuz";

/// Returns whether a call of sed may write a file or run a command. Only simple scripts are known not to: printing, deleting
/// and quitting at lines, and replacements.
pub(super) fn sed_acts(words: &[&str]) -> bool {
    let (mut has_script, mut operands_only) = (false, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let script = match *word {
            _ if operands_only => None,
            "--" => {
                operands_only = true;
                continue;
            }
            "--quiet" | "--silent" | "--regexp-extended" | "--posix" | "--debug" | "--null-data" | "--unbuffered"
            | "--separate" => continue,
            "-e" | "--expression" => Some(words.next().copied().unwrap_or_default()),
            word if word.starts_with("--expression=") => Some(&word["--expression=".len()..]),
            word if word.starts_with("--") => return true,
            word if word.starts_with('-') && word.len() > 1 => {
                match word[1..].trim_start_matches(|c| SED_FLAGS.contains(c)) {
                    "" => continue,
                    "e" => Some(words.next().copied().unwrap_or_default()),
                    rest => match rest.strip_prefix('e') {
                        Some(script) => Some(script),
                        None => return true,
                    },
                }
            }
            _ => None,
        };
        match script {
            Some(script) if is_harmless_sed(script) => has_script = true,
            Some(_) => return true,
            // The first operand is the script, unless there was one.
            None if has_script => {}
            None if is_harmless_sed(word) => has_script = true,
            None => return true,
        }
    }
    false
}

/// Returns whether a script of sed is one simple command.
fn is_harmless_sed(script: &str) -> bool {
    let script = script.trim();
    if script.contains(['\n', '\r']) {
        return false;
    }
    let command = after_addresses(script).trim_start().trim_start_matches('!');
    let mut chars = command.chars();
    match chars.next() {
        Some('p' | 'd' | 'q' | 'Q' | '=' | 'P' | 'D') => chars.all(|c| c.is_ascii_digit() || c == ' '),
        Some('s' | 'y') => {
            let Some(delimiter) = chars.next().filter(|c| !c.is_alphanumeric() && *c != '\\') else {
                return false;
            };
            let (mut parts, mut escaped) = (0, false);
            let flags: String = chars
                .skip_while(|c| {
                    match (escaped, *c) {
                        (true, _) => escaped = false,
                        (false, '\\') => escaped = true,
                        (false, c) if c == delimiter => parts += 1,
                        _ => {}
                    }
                    parts < 2
                })
                .skip(1)
                .collect();
            parts == 2 && flags.chars().all(|c| "gpiIM0123456789".contains(c))
        }
        _ => false,
    }
}

/// Returns what follows line numbers, `$` and simple patterns.
fn after_addresses(script: &str) -> &str {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | ' '));
        let Some(pattern) = rest.strip_prefix('/') else {
            return rest;
        };
        match pattern.split_once('/') {
            Some((text, after)) if !text.contains('\\') => rest = after,
            _ => return "",
        }
    }
}

/// Returns whether a call of awk may write a file or run a command: a program in a file is not known, and one in the command
/// line has an output or a call of the shell in its text.
pub(super) fn awk_acts(words: &[&str]) -> bool {
    let is_active = |word: &&str| {
        ["system", "getline", "@load", "@include", "close"]
            .iter()
            .any(|part| word.contains(part))
            || word.contains(['>', '|'])
    };
    let is_option = |word: &&str| {
        word.starts_with("--") && word.len() > 2
            || word.starts_with('-') && word[1..].starts_with(|c| "fiElodpDL".contains(c))
    };
    words.iter().any(|word| is_active(word) || is_option(word))
}
