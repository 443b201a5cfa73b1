//! The parts that a chat does not use because its folder is not trusted.

use agcore_settings::{Effect, trust::FileKind};
use agcore_terminal::render::sanitized_line;

/// A part of the settings that a command of the chat shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Servers,
    Project,
    Hooks,
    Permissions,
}

/// Lists the disabled settings and files of a part, one on each line; empty if there are none.
pub(super) fn disabled(effects: &[Effect], part: Part) -> String {
    let is_of_part = |effect: &&Effect| match (effect.kind, part) {
        (FileKind::McpServers, Part::Servers) | (FileKind::Project, Part::Project) => true,
        (FileKind::Settings, part) => {
            let name = match part {
                Part::Servers => "mcp",
                Part::Hooks => "hooks",
                Part::Permissions => "permissions",
                Part::Project => return false,
            };
            effect.name.as_deref() == Some(name)
        }
        _ => false,
    };
    let found = effects.iter().filter(is_of_part);
    let line = |effect: &Effect| match &effect.name {
        Some(name) => format!("{} ({})", sanitized_line(name), sanitized_line(&effect.file)),
        None => sanitized_line(&effect.file),
    };
    found
        .map(|effect| {
            format!(
                "{}: disabled, because this folder is not trusted; see `agcore trust`\n",
                line(effect)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_belongs_to_the_part_is_named() {
        let effect = |file: &str, kind, name: Option<&str>| Effect {
            file: file.to_owned(),
            kind,
            name: name.map(str::to_owned),
            value: None,
            needs_trust: true,
        };
        let effects = [
            effect(".mcp.json", FileKind::McpServers, Some("wiki")),
            effect("agcore.toml", FileKind::Settings, Some("hooks")),
            effect("agcore.toml", FileKind::Settings, Some("base_url")),
            effect(".agcore", FileKind::Project, None),
        ];
        let reason = "disabled, because this folder is not trusted; see `agcore trust`\n";
        assert_eq!(disabled(&effects, Part::Servers), format!("wiki (.mcp.json): {reason}"));
        assert_eq!(
            disabled(&effects, Part::Hooks),
            format!("hooks (agcore.toml): {reason}")
        );
        assert_eq!(disabled(&effects, Part::Project), format!(".agcore: {reason}"));
        assert_eq!(disabled(&effects, Part::Permissions), "");
    }
}
