//! Calls of the shell: which of them ran a command that failed.

use serde_json::Value;

/// The name of the tool that runs command lines for a model.
pub const SHELL: &str = "shell";

/// The member of the metadata of its results with the exit code, which is `null` if the command was killed.
pub const EXIT_CODE: &str = "exit_code";

/// Returns whether a call ran a command that failed or was killed, given the data for observers of its result.
pub fn command_failed(tool: &str, display: Option<&Value>) -> bool {
    // The member of another tool may have another meaning.
    let metadata = display
        .filter(|_| tool == SHELL)
        .and_then(|display| display.get("metadata"));
    metadata
        .and_then(|metadata| metadata.get(EXIT_CODE))
        .is_some_and(|code| code.as_i64() != Some(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_fail_unless_they_exit_with_0() {
        let check = |tool: &str, code: Value, expected: bool| {
            let display = json!({"metadata": {EXIT_CODE: code}});
            assert_eq!(command_failed(tool, Some(&display)), expected, "{tool} {display}");
        };
        check(SHELL, json!(0), false);
        check(SHELL, json!(127), true);
        check(SHELL, json!(-1), true);
        check(SHELL, Value::Null, true);
        check("files_shell", json!(1), false);
        assert!(!command_failed(SHELL, Some(&json!({}))) && !command_failed(SHELL, None));
    }
}
