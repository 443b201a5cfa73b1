//! The check of the sandbox of commands.

use agcore_sandbox::{Mode, Support};
use agcore_settings::{Choices, SandboxSettings};

use super::check::Check;

/// The name of the check.
const NAME: &str = "sandbox";

/// Reports how commands of the shell tool are confined, what does not hold on this system, and what happens then.
pub(super) fn check(choices: &Choices) -> Check {
    of(&choices.tools.sandbox, Support::of_system())
}

fn of(settings: &SandboxSettings, support: &Support) -> Check {
    let mode = format!("{} ({})", settings.mode, settings.origin);
    match &support.missing {
        _ if settings.mode == Mode::Off => Check::ok(NAME, format!("{mode}: commands are not confined")),
        Some(reason) if settings.is_required => Check::warn(
            NAME,
            format!("{mode}: commands are refused, because this system cannot confine them: {reason}"),
            "Pass --sandbox off, or set `required = false` in the table [sandbox], to run commands without a sandbox.",
        ),
        Some(reason) => Check::warn(
            NAME,
            format!("{mode}: commands run without a sandbox, because this system cannot confine them: {reason}"),
            "Set `required = true` in the table [sandbox] to refuse commands instead.",
        ),
        None => {
            let gaps = support.gaps().join("; ");
            let gaps = if gaps.is_empty() {
                gaps
            } else {
                format!("; does not hold here: {gaps}")
            };
            Check::ok(NAME, format!("{mode}: {}{gaps}", support.parts()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::check::Status, *};

    #[test]
    fn a_system_without_a_sandbox_is_a_warning_with_its_consequence() {
        let mut support = Support::of_system().clone();
        support.missing = Some("the kernel has no Landlock".to_owned());
        let mut settings = SandboxSettings::default();
        let check = of(&settings, &support);
        assert!(
            check.status == Status::Warn && check.message.contains("run without a sandbox"),
            "{check:?}"
        );
        settings.is_required = true;
        let check = of(&settings, &support);
        assert!(
            check.message.contains("refused") && check.message.contains("no Landlock"),
            "{check:?}"
        );
        settings.mode = Mode::Off;
        assert_eq!(of(&settings, &support).status, Status::Ok);
    }

    #[test]
    fn what_does_not_hold_is_listed() {
        let mut support = Support::of_system().clone();
        (support.missing, support.namespaces) = (None, Err("Operation not permitted".to_owned()));
        let check = of(&SandboxSettings::default(), &support);
        assert_eq!(check.status, Status::Ok);
        assert!(
            cfg!(not(target_os = "linux")) || check.message.contains("user namespaces cannot be used"),
            "{check:?}"
        );
    }
}
