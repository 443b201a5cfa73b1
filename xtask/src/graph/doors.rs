//! Doors: each outside world is reached through one crate. Checked on direct
//! dependencies; tests may use what they like.

use crate::check::Check;
use crate::finding::Finding;
use crate::workspace::{Kind, Workspace};

/// An outside world, the libraries that lead to it, and who may use them.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) world: &'static str,
    pub(crate) libraries: &'static [&'static str],
    holders: &'static [&'static str],
}

/// Every door of the house.
pub(crate) const DOORS: &[Door] = &[
    Door {
        world: "HTTP out",
        libraries: &["attohttpc", "curl", "isahc", "minreq", "reqwest", "surf", "ureq"],
        holders: &["agcore-llm"],
    },
    Door {
        world: "TLS",
        libraries: &[
            "native-tls",
            "openssl",
            "ring",
            "rustls",
            "rustls-native-certs",
            "rustls-platform-verifier",
            "tokio-native-tls",
            "tokio-rustls",
            "webpki-roots",
        ],
        holders: &["agcore-llm", "agcore-cli"],
    },
    Door {
        world: "MCP",
        libraries: &["rmcp"],
        holders: &["agcore-mcp"],
    },
    Door {
        world: "databases",
        libraries: &[
            "deadpool-postgres",
            "deadpool-redis",
            "diesel",
            "fred",
            "libsqlite3-sys",
            "postgres",
            "redb",
            "redis",
            "rusqlite",
            "sea-orm",
            "sled",
            "sqlx",
            "tantivy",
            "tokio-postgres",
        ],
        holders: &["agcore-store"],
    },
    Door {
        world: "HTTP in",
        libraries: &[
            "actix-web",
            "axum",
            "axum-server",
            "hyper",
            "hyper-util",
            "poem",
            "tiny_http",
            "warp",
        ],
        holders: &["agcore-mcp", "agcore-server", "agcore-testkit"],
    },
    Door {
        world: "the terminal",
        libraries: &[
            "clap",
            "clap_complete",
            "console",
            "crossterm",
            "dialoguer",
            "indicatif",
            "inquire",
            "ratatui",
            "reedline",
            "rustyline",
            "termimad",
        ],
        holders: &["agcore-cli"],
    },
];

/// Checks the direct dependencies of every member.
pub(crate) fn check(workspace: &Workspace) -> Vec<Check> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        for dependency in &member.dependencies {
            if dependency.kind == Kind::Development {
                continue;
            }
            if let Some(door) = wrong_door(&member.name, &dependency.name) {
                findings.push(Finding::new(
                    &member.manifest,
                    format!(
                        "{} depends on {}, but {} is reached only by {}",
                        member.name,
                        dependency.name,
                        door.world,
                        door.holders.join(", ")
                    ),
                    "take the value or a trait object from outside, and let the crate that holds the door make it",
                ));
            }
        }
    }
    vec![Check::new("doors", findings)]
}

fn wrong_door(user: &str, library: &str) -> Option<&'static Door> {
    let door = DOORS.iter().find(|door| door.libraries.contains(&library))?;
    (!door.holders.contains(&user)).then_some(door)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(user: &str, library: &str, allowed: bool) {
        assert_eq!(wrong_door(user, library).is_none(), allowed, "{user} -> {library}");
    }

    #[test]
    fn each_world_has_its_holders() {
        check("agcore-llm", "reqwest", true);
        check("agcore-tools", "reqwest", false);
        check("agcore-mcp", "rmcp", true);
        check("agcore-agent", "rmcp", false);
        check("agcore-store", "rusqlite", true);
        check("agcore-cli", "rusqlite", false);
        check("agcore-testkit", "hyper", true);
        check("agcore-llm", "hyper", false);
        check("agcore-cli", "clap", true);
        check("agcore", "crossterm", false);
        check("agcore-cli", "rustls", true);
        check("agcore-server", "ring", false);
    }

    #[test]
    fn other_libraries_have_no_door() {
        check("agcore-chat", "serde", true);
    }
}
