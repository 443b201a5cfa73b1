//! The simple commands of a command line: `cd src && git log | head`.

use serde_json::Value;

use super::{command::CommandPattern, glob::Match};

/// Tests a command line against patterns: it passes if each of its commands matches one of them, and might pass if any command
/// does, or if the line contains syntax whose effect is not known without a shell.
pub(super) fn test(patterns: &[CommandPattern], value: &Value) -> Match {
    let Value::String(line) = value else {
        return match value {
            Value::Array(_) => any(patterns, |pattern| pattern.test(value)),
            _ => Match::No,
        };
    };
    let Some(commands) = simple_commands(line) else {
        return Match::Unknown;
    };
    let results: Vec<Match> = commands
        .iter()
        .map(|words| any(patterns, |pattern| pattern.test_words(words.iter().map(String::as_str))))
        .collect();
    match () {
        () if results.is_empty() => Match::No,
        () if results.iter().all(|result| *result == Match::Yes) => Match::Yes,
        () if results.iter().any(|result| matches!(result, Match::Yes | Match::Part)) => Match::Part,
        () if results.contains(&Match::Unknown) => Match::Unknown,
        () => Match::No,
    }
}

/// Returns the best result of the patterns.
fn any(patterns: &[CommandPattern], test: impl Fn(&CommandPattern) -> Match) -> Match {
    patterns.iter().fold(Match::No, |best, pattern| best.or(test(pattern)))
}

/// Splits a command line into the words of its commands, at `;`, `&`, `&&`, `|`, `||`, `|&` and line breaks. Returns `None` if it
/// contains anything else that a shell would interpret: expansions, redirections, groups, escapes, comments, assignments,
/// unfinished quotes or control characters.
///
/// ```
/// use agcore_tools::permission::simple_commands;
///
/// let commands = simple_commands("cd src && git log 'a b'").unwrap();
/// assert_eq!(commands, [vec!["cd", "src"], vec!["git", "log", "a b"]]);
/// assert_eq!(simple_commands("ls > files"), None);
/// ```
pub fn simple_commands(line: &str) -> Option<Vec<Vec<String>>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            ';' | '&' | '|' | '\n' => {
                words.extend(word.take());
                commands.push(std::mem::take(&mut words));
            }
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '$' | '`' | '\\' | '!' if c == '"' => return None,
                        inner if inner.is_control() && inner != '\t' => return None,
                        inner => text.push(inner),
                    }
                }
            }
            '$' | '`' | '\\' | '<' | '>' | '(' | ')' | '{' | '}' | '[' | ']' | '*' | '?' | '!' | '#' | '~' => {
                return None;
            }
            c if c.is_control() => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    commands.push(words);
    // `a && b` leaves an empty command between the two characters.
    commands.retain(|words| !words.is_empty());
    let assigns = |words: &Vec<String>| words.first().is_some_and(|word| word.contains('='));
    (!commands.iter().any(assigns)).then_some(commands)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(patterns: &[&str], line: &str, expected: Match) {
        let patterns: Vec<CommandPattern> = patterns.iter().map(|pattern| CommandPattern::new(*pattern)).collect();
        assert_eq!(test(&patterns, &json!(line)), expected, "{line}");
    }

    #[test]
    fn all_commands_must_match() {
        let patterns = ["git log *", "head *", "ls"];
        check(&patterns, "git log -5", Match::Yes);
        check(&patterns, "ls && git log | head -3", Match::Yes);
        check(&patterns, "ls;ls\nls & ls", Match::Yes);
        check(&patterns, "git log --grep 'a; rm b' \"c d\"", Match::Yes);
        check(&patterns, "ls && rm -rf x", Match::Part);
        check(&patterns, "rm -rf x || ls", Match::Part);
        check(&patterns, "ls && git log --output=x", Match::Part);
        check(
            &patterns,
            "git log -1 --format='touch PWN' --output=.agcore/hooks/check.sh",
            Match::Part,
        );
        check(&patterns, "rm -rf x; reboot", Match::No);
        check(&patterns, "", Match::No);
        check(&patterns, " ; ", Match::No);
        check(&[], "ls", Match::No);
    }

    #[test]
    fn quotes_do_not_hide_a_command() {
        check(&["rm *"], "'rm' -rf x", Match::Yes);
        check(&["rm *"], "r''m x", Match::Yes);
        check(&["rm *"], "echo 'rm x'", Match::No);
    }

    #[test]
    fn syntax_that_only_a_shell_understands_is_unknown() {
        for line in [
            "ls $(reboot)",
            "ls `reboot`",
            "ls > /etc/passwd",
            "ls < x",
            "(ls)",
            "{ ls; }",
            "ls $HOME",
            "ls \\; reboot",
            "ls \"$(reboot)\"",
            "ls 'unfinished",
            "PATH=. ls",
            "ls # comment",
            "ls *",
            "ls ~",
            "ls !1",
            "ls \r reboot",
            "ls \u{0}",
        ] {
            check(&["ls *", "ls"], line, Match::Unknown);
        }
    }
}
