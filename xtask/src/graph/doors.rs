//! Doors: each outside system is reached through one crate. Only direct dependencies are checked, and not those of
//! tests.

use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::{Kind, Workspace};

/// An outside system, the libraries that reach it, and the crates that may use them.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) system: &'static str,
    pub(crate) libraries: &'static [&'static str],
    users: &'static [&'static str],
}

/// The benches, which compare agcore with clients written by hand.
const BENCHES: &str = "agcore-benches";

/// Every door of the workspace.
pub(crate) const DOORS: &[Door] = &[
    Door {
        system: "outgoing HTTP",
        libraries: &["attohttpc", "curl", "isahc", "minreq", "reqwest", "surf", "ureq"],
        // rmcp sends the requests to MCP servers with a client that agcore-mcp makes.
        users: &["agcore-llm", "agcore-mcp", BENCHES],
    },
    Door {
        system: "TLS",
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
        // The server checks signatures of tokens with ring.
        users: &[
            "agcore-llm",
            "agcore-mcp",
            "agcore-server",
            "agcore-store",
            "agcore-settings",
            "agcore-workbench",
            "agcore-cli",
            BENCHES,
        ],
    },
    Door {
        system: "MCP",
        libraries: &["rmcp"],
        users: &["agcore-mcp"],
    },
    Door {
        system: "the Agent Client Protocol",
        libraries: &["agent-client-protocol", "agent-client-protocol-schema"],
        users: &["agcore-acp"],
    },
    Door {
        system: "databases",
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
        users: &["agcore-store"],
    },
    // html5ever is not in the list: the program renders the pages that it fetches.
    Door {
        system: "formats of files",
        libraries: &[
            "calamine",
            "chardetng",
            "csv",
            "docx-rs",
            "encoding_rs",
            "hayro",
            "infer",
            "lopdf",
            "pdf-extract",
            "quick-xml",
            "zip",
        ],
        users: &["agcore-files"],
    },
    // Files and the console make different things of it; the terminal has a parser of its own, which streams.
    Door {
        system: "Markdown",
        libraries: &["comrak", "markdown", "pulldown-cmark"],
        users: &["agcore-files", "agcore-console"],
    },
    Door {
        system: "HTML pages",
        libraries: &["askama", "hypertext", "maud", "minijinja", "tera"],
        users: &["agcore-console"],
    },
    Door {
        system: "incoming HTTP",
        libraries: &["actix-web", "axum", "axum-server", "poem", "tiny_http", "warp"],
        users: &["agcore-mcp", "agcore-server", "agcore-testkit", BENCHES],
    },
    // A client needs its connections and rules for proxies, a server its connections.
    Door {
        system: "parts of HTTP",
        libraries: &["hyper", "hyper-util"],
        users: &["agcore-llm", "agcore-mcp", "agcore-server", "agcore-testkit", BENCHES],
    },
    Door {
        system: "the keyring of the system",
        libraries: &["keyring", "keyring-core", "secret-service", "zbus"],
        users: &["agcore-settings"],
    },
    Door {
        system: "the terminal",
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
            "rpassword",
            "rustyline",
            "termimad",
        ],
        // The options of settings and permission modes can be parsed by clap.
        users: &[
            "agcore-terminal",
            "agcore-settings",
            "agcore-workbench",
            "agcore-args",
            "agcore-cli",
        ],
    },
];

/// Checks the direct dependencies of every member.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
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
                        "{} depends on {}, but {} is only for {}",
                        member.name,
                        dependency.name,
                        door.system,
                        door.users.join(", ")
                    ),
                    "accept the value or a trait object, and create it in the crate that may use the library",
                ));
            }
        }
    }
    report.add(&Check::new("doors", findings));
}

fn wrong_door(user: &str, library: &str) -> Option<&'static Door> {
    let door = DOORS.iter().find(|door| door.libraries.contains(&library))?;
    (!door.users.contains(&user)).then_some(door)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(user: &str, library: &str, allowed: bool) {
        assert_eq!(wrong_door(user, library).is_none(), allowed, "{user} -> {library}");
    }

    #[test]
    fn only_the_listed_crates_use_a_door() {
        check("agcore-llm", "reqwest", true);
        check("agcore-tools", "reqwest", false);
        check("agcore-mcp", "rmcp", true);
        check("agcore-agent", "rmcp", false);
        check("agcore-acp", "agent-client-protocol", true);
        check("agcore-cli", "agent-client-protocol", false);
        check("agcore-store", "rusqlite", true);
        check("agcore-cli", "rusqlite", false);
        check("agcore-testkit", "hyper", true);
        check("agcore-llm", "hyper", true);
        check("agcore-tools", "hyper", false);
        check("agcore-llm", "axum", false);
        check("agcore-llm", "hyper-util", true);
        check("agcore-tools", "hyper-util", false);
        check("agcore-cli", "clap", true);
        check("agcore-terminal", "rustyline", true);
        check("agcore-settings", "keyring", true);
        check("agcore-cli", "keyring", false);
        check("agcore", "crossterm", false);
        check("agcore-cli", "rustls", true);
        check("agcore-server", "ring", true);
        check("agcore-agent", "ring", false);
        check("agcore-files", "lopdf", true);
        check("agcore-flow-files", "calamine", false);
        check("agcore-console", "pulldown-cmark", true);
        check("agcore-server", "maud", false);
    }

    #[test]
    fn other_libraries_may_be_used_by_all() {
        check("agcore-chat", "serde", true);
    }
}
