//! [`Outcome`]: what the exit code and the output of a hook mean.

use agcore::chat::text::prefix;
use serde::Deserialize;

/// The exit code with which a command blocks.
const BLOCKS: i32 = 2;

/// The longest reason, in bytes.
const MAX_REASON: usize = 4 * 1024;

/// The consequence of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing.
    Continue,
    /// The action that it was asked about is refused, for this reason.
    Block(String),
    /// It failed, which has no effect.
    Failed(String),
}

/// The JSON object that a command may print instead of exiting with 2.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Decision {
    decision: String,
    reason: String,
    #[serde(rename = "hookSpecificOutput")]
    specific: Specific,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Specific {
    permission_decision: String,
    permission_decision_reason: String,
}

impl Outcome {
    /// Judges a command that has ended: 0 continues, 2 blocks with the error output as reason, and everything else is a failure.
    pub(super) fn of(code: Option<i32>, stdout: &[u8], stderr: &[u8]) -> Self {
        let text = String::from_utf8_lossy(stderr);
        let text = prefix(text.trim(), MAX_REASON);
        match code {
            Some(0) => Self::printed(stdout),
            Some(BLOCKS) => Self::Block(text.to_owned()),
            Some(code) => Self::Failed(format!("ended with exit code {code}: {text}")),
            None => Self::Failed(format!("was ended by a signal: {text}")),
        }
    }

    fn printed(stdout: &[u8]) -> Self {
        let Ok(Decision {
            decision,
            reason,
            specific,
        }) = serde_json::from_slice(stdout)
        else {
            return Self::Continue;
        };
        let reason = match (decision.as_str(), specific.permission_decision.as_str()) {
            (_, "deny") => specific.permission_decision_reason,
            ("block", _) => reason,
            _ => return Self::Continue,
        };
        Self::Block(prefix(reason.trim(), MAX_REASON).to_owned())
    }

    /// Names the command where the reader needs to know it.
    pub(super) fn about(self, command: &str) -> Self {
        match self {
            Self::Block(reason) if reason.is_empty() => Self::Block(format!("the hook `{command}` gave no reason")),
            Self::Failed(problem) => Self::Failed(format!("`{command}` {problem}")),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_decides_and_the_output_can_block() {
        let check = |code, stdout: &str, stderr: &str, expected: Outcome| {
            assert_eq!(
                Outcome::of(code, stdout.as_bytes(), stderr.as_bytes()),
                expected,
                "{stdout}{stderr}"
            );
        };
        check(Some(0), "", "noise", Outcome::Continue);
        check(Some(0), "plain text", "", Outcome::Continue);
        check(Some(2), "", " no \n", Outcome::Block("no".to_owned()));
        check(
            Some(7),
            "",
            "x",
            Outcome::Failed("ended with exit code 7: x".to_owned()),
        );
        check(None, "", "", Outcome::Failed("was ended by a signal: ".to_owned()));
        let block = r#"{"decision": "block", "reason": "later"}"#;
        check(Some(0), block, "", Outcome::Block("later".to_owned()));
        let deny = r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "never"}}"#;
        check(Some(0), deny, "", Outcome::Block("never".to_owned()));
        check(Some(0), r#"{"decision": "approve"}"#, "", Outcome::Continue);
    }

    #[test]
    fn a_block_without_a_reason_names_the_command() {
        let named = Outcome::Block(String::new()).about("check.sh");
        assert_eq!(named, Outcome::Block("the hook `check.sh` gave no reason".to_owned()));
    }
}
