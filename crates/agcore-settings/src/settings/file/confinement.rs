//! [`SandboxSettings`]: what commands of tools may do, from the options and all settings files.

use agcore_sandbox::{Limits, Mode, Network};

use super::{super::origin::Origin, sandbox::SandboxTable};

/// The number of processes of a command without a setting.
const PROCESSES: u64 = 2048;

/// The rights of commands of tools: the merged tables `[sandbox]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// How much commands are confined.
    pub mode: Mode,
    /// The source of the mode.
    pub origin: Origin,
    /// Whether commands reach the network.
    pub network: Network,
    /// The paths that commands may change beside the workspace, as they are written.
    pub write: Vec<String>,
    /// The paths that commands may read although they are hidden, or in the mode `strict`, as they are written.
    pub read: Vec<String>,
    /// The limits of the processes of a command.
    pub limits: Limits,
    /// Whether commands are refused on a system that cannot confine them. By default, if a setting or an option asks for a mode.
    pub is_required: bool,
    /// Whether MCP servers that are started as child processes are confined as well.
    pub confines_servers: bool,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self::new(None, std::iter::empty())
    }
}

impl SandboxSettings {
    /// Merges the option with the tables, the first of them with the highest precedence.
    pub(in crate::settings) fn new(option: Option<Mode>, tables: impl Iterator<Item = (Origin, SandboxTable)>) -> Self {
        let (tightening, tables): (Vec<_>, Vec<_>) = tables.partition(|(_, table)| table.only_tightens);
        let option = option.map(|mode| (mode, Origin::Option("--sandbox")));
        let in_files = || {
            tables
                .iter()
                .find_map(|(origin, table)| Some((table.mode?.into(), origin.clone())))
        };
        let chosen = option.or_else(in_files);
        let required = tables.iter().find_map(|(_, table)| table.required);
        let is_required = required.unwrap_or(chosen.as_ref().is_some_and(|(mode, _)| *mode != Mode::Off));
        let (mode, origin) = chosen.unwrap_or((Mode::Workspace, Origin::Default));
        let network = tables.iter().find_map(|(_, table)| table.network);
        let processes = tables.iter().find_map(|(_, table)| table.processes);
        let paths = |paths: fn(&SandboxTable) -> &[String]| {
            tables.iter().flat_map(|(_, table)| paths(table)).cloned().collect()
        };
        let mut settings = Self {
            mode,
            origin,
            network: network.map(Network::from).unwrap_or_default(),
            write: paths(|table| &table.write),
            read: paths(|table| &table.read),
            limits: Limits {
                processes: Some(processes.map_or(PROCESSES, Into::into)),
                memory: tables.iter().find_map(|(_, table)| table.memory),
            },
            is_required,
            confines_servers: tables.iter().find_map(|(_, table)| table.mcp).unwrap_or_default(),
        };
        for (origin, table) in tightening {
            settings.tighten(&origin, &table);
        }
        settings
    }

    /// Applies the table of a folder that is not trusted: only those settings that allow less.
    fn tighten(&mut self, origin: &Origin, table: &SandboxTable) {
        if let Some(mode) = table.mode.map(Mode::from).filter(|mode| *mode > self.mode) {
            (self.mode, self.origin) = (mode, origin.clone());
        }
        self.network = table
            .network
            .map_or(self.network, |network| self.network.max(network.into()));
        let smaller = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        self.limits.processes = smaller(self.limits.processes, table.processes.map(Into::into));
        self.limits.memory = smaller(self.limits.memory, table.memory);
        self.is_required |= table.required == Some(true);
        self.confines_servers |= table.mcp == Some(true);
    }
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    fn table(text: &str) -> SandboxTable {
        Format::Toml.parse(text).and_then(|root| root.read()).unwrap()
    }

    fn merged(option: Option<Mode>, tables: &[SandboxTable]) -> SandboxSettings {
        let origin = |at: usize| Origin::File(format!("{at}.toml").into());
        let tables = tables.iter().enumerate().map(|(at, table)| (origin(at), table.clone()));
        SandboxSettings::new(option, tables)
    }

    #[test]
    fn commands_are_confined_unless_a_setting_says_otherwise() {
        let none = merged(None, &[]);
        assert_eq!(
            (none.mode, none.network, none.is_required),
            (Mode::Workspace, Network::Off, false)
        );
        assert_eq!(none.limits.processes, Some(PROCESSES));
        let user = table("mode = 'strict'\nnetwork = 'on'\nwrite = ['~/.cache']\nmemory = '1GB'\nprocesses = 9");
        let set = merged(None, std::slice::from_ref(&user));
        assert_eq!(
            (set.mode, set.network, set.is_required),
            (Mode::Strict, Network::On, true)
        );
        assert_eq!((set.limits.memory, set.limits.processes), (Some(1 << 30), Some(9)));
        let option = merged(Some(Mode::Off), std::slice::from_ref(&user));
        assert_eq!((option.mode, option.is_required), (Mode::Off, false));
        assert_eq!(option.origin, Origin::Option("--sandbox"));
    }

    #[test]
    fn a_trusted_folder_precedes_the_user_and_paths_add_up() {
        let (folder, user) = (
            table("mode = 'off'\nwrite = ['a']"),
            table("mode = 'strict'\nwrite = ['b']"),
        );
        let both = merged(None, &[folder, user]);
        assert_eq!(
            (both.mode, both.write),
            (Mode::Off, vec!["a".to_owned(), "b".to_owned()])
        );
    }

    #[test]
    fn a_folder_without_trust_only_allows_less() {
        let user = table("network = 'on'\nprocesses = 9");
        let loose =
            table("mode = 'off'\nnetwork = 'on'\nwrite = ['/']\nread = ['/']\nprocesses = 99\nrequired = false");
        let unchanged = merged(None, &[loose.tightening(), user.clone()]);
        assert_eq!(unchanged, merged(None, &[SandboxTable::default(), user.clone()]));
        let tight = table("mode = 'strict'\nnetwork = 'off'\nprocesses = 5\nmemory = '1GB'\nrequired = true");
        let tightened = merged(Some(Mode::Workspace), &[tight.tightening(), user]);
        assert_eq!((tightened.mode, tightened.network), (Mode::Strict, Network::Off));
        assert_eq!(
            (tightened.limits.processes, tightened.limits.memory),
            (Some(5), Some(1 << 30))
        );
        assert!(tightened.is_required);
    }

    #[test]
    fn errors_name_what_is_expected() {
        let error = |text: &str| {
            let read = Format::Toml.parse(text).and_then(|root| root.read::<SandboxTable>());
            read.unwrap_err().to_string()
        };
        for (text, expected) in [
            ("mode = 'read-only'", "workspace"),
            ("network = true", "off"),
            ("memory = '1MB'", "a size such as"),
            ("processes = 0", "processes"),
            ("writable = []", "write"),
        ] {
            assert!(error(text).contains(expected), "{}", error(text));
        }
    }
}
