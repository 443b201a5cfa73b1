//! `web-clients`: the pages of `examples/web` and the console in Chromium, used as by a person, with `agcore serve` behind them.
//!
//! `scripts/web/drive.cjs` and `console.cjs` type and click, and take screenshots. The packages of the pages and of the driver are installed into the
//! target folder, beside copies of the pages. Chromium is that of the system. The vendor of the server is the mock server.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::foreign::served::{self, Served};
use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

/// The packages that control Chromium, and that look for what keeps people from using a page. Update them deliberately.
const DRIVER: [(&str, &str); 2] = [("playwright-core", "1.65.1"), ("axe-core", "4.14.1")];

/// The names under which Chromium is installed.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// A page.
struct Page {
    /// The name that the driver knows.
    name: &'static str,
    folder: &'static str,
    /// The script of the model.
    script: &'static str,
}

/// The pages. `copilotkit-direct` needs the files that the one before it has built.
const PAGES: &[Page] = &[
    Page::new("agui", "agui", "model.json"),
    Page::new("copilotkit", "copilotkit", "model.json"),
    Page::new("copilotkit-direct", "copilotkit", "model.json"),
    Page::new("use-chat", "use-chat", "chat.json"),
];

impl Page {
    const fn new(name: &'static str, folder: &'static str, script: &'static str) -> Self {
        Self { name, folder, script }
    }
}

/// Installs the packages if they are missing, and uses each page with a server of its own. Returns `false` if a page does not work, or
/// if the model was asked for anything else than its script. Without Node.js or Chromium, nothing is checked.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    let Some(browser) = BROWSERS.iter().find(|name| can_run(name)) else {
        return Ok(skip("Chromium is not installed: run `apt install chromium`"));
    };
    if !can_run("node") || !can_run(NPM) {
        return Ok(skip("Node.js and npm are not installed"));
    }
    let folders = Folders::of(workspace);
    folders.install()?;
    if !process::succeeds(&mut workspace.cargo.command(served::BUILD))? {
        return Ok(false);
    }
    let mut all_succeed = true;
    for page in PAGES {
        all_succeed &= folders.visit(&workspace.target, browser, page)?;
    }
    all_succeed &= folders.console(&workspace.target, browser)?;
    Ok(all_succeed)
}

/// The folders of the pages and of what they need.
struct Folders {
    /// The pages as they are.
    sources: PathBuf,
    /// The driver and the script of the model.
    scripts: PathBuf,
    /// The packages, copies and screenshots.
    target: PathBuf,
}

impl Folders {
    fn of(workspace: &Workspace) -> Self {
        Self {
            sources: workspace.root.join("examples/web"),
            scripts: workspace.root.join("scripts/web"),
            target: workspace.target.join("web"),
        }
    }

    /// Copies the pages, and installs the packages that they and the driver need.
    fn install(&self) -> anyhow::Result<()> {
        let driver = self.target.join("driver");
        let is_missing = |(name, _): &(&str, &str)| !driver.join("node_modules").join(name).exists();
        if DRIVER.iter().any(is_missing) {
            let packages = DRIVER.map(|(name, version)| format!("{name}@{version}"));
            install(&driver, &packages.each_ref().map(String::as_str))?;
        }
        for Page { folder, .. } in PAGES {
            let (from, to) = (self.sources.join(folder), self.target.join(folder));
            copy_files(&from, &to)?;
            let Ok(wanted) = std::fs::read_to_string(from.join("package.json")) else {
                continue;
            };
            // Written at the end, so that an installation that was interrupted is repeated.
            let marker = to.join("installed");
            if std::fs::read_to_string(&marker).ok().as_ref() != Some(&wanted) {
                install(&to, &[])?;
                std::fs::write(&marker, wanted)?;
            }
        }
        Ok(())
    }

    /// Uses a page. Returns whether it works.
    fn visit(&self, target: &Path, browser: &str, page: &Page) -> anyhow::Result<bool> {
        let script = self.scripts.join(page.script).display().to_string();
        let port = free_port()?.to_string();
        let origin = format!("http://127.0.0.1:{port}");
        let server = Served::start(target, &["--script", &script], &["--origin", &origin], "")?;
        let mut driver = Command::new("node");
        driver
            .arg(self.scripts.join("drive.cjs"))
            .arg(self.target.join("driver"));
        driver.args([browser, page.name]).arg(self.target.join(page.folder));
        driver.args([&server.url, &port]).arg(self.target.join("screenshots"));
        let works = process::succeeds(&mut driver)?;
        Ok(server.has_played_the_script()? && works)
    }
}

impl Folders {
    /// Uses the console of a server. Returns whether it works.
    fn console(&self, target: &Path, browser: &str) -> anyhow::Result<bool> {
        let script = self.scripts.join("console-model.json").display().to_string();
        let server = Served::start(target, &["--script", &script], &[], "")?;
        let mut driver = Command::new("node");
        driver
            .arg(self.scripts.join("console.cjs"))
            .arg(self.target.join("driver"));
        driver.args([browser, &server.url]).arg(self.target.join("screenshots"));
        let works = process::succeeds(&mut driver)?;
        Ok(server.has_played_the_script()? && works)
    }
}

/// Reports that nothing was checked. Returns what the command returns then.
fn skip(reason: &str) -> bool {
    Report::new("web-clients").add(&Check::skipped("pages in Chromium", reason));
    true
}

fn can_run(program: &str) -> bool {
    process::capture(Command::new(program).arg("--version")).is_ok()
}

/// Copies the files of a folder, without its folders.
fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    let entries = std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Installs packages into a folder, or those that its `package.json` names. Scripts of packages are not run: none of them is needed.
fn install(folder: &Path, packages: &[&str]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut npm = Command::new(NPM);
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--no-package-lock",
        "--ignore-scripts",
        "--prefix",
    ]);
    if process::succeeds(npm.arg(folder).args(packages))? {
        return Ok(());
    }
    bail!("cannot install the packages of the pages; see the output above")
}

/// Returns a port on which nothing listens. The server has to know the origin of the page before the page is served.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_exact(version: &str) -> bool {
        version.split('.').count() == 3 && version.split('.').all(|part| part.parse::<u32>().is_ok())
    }

    #[test]
    fn pins_the_version_of_every_package() {
        assert!(DRIVER.iter().all(|(_, version)| is_exact(version)));
        for package in [
            include_str!("../../../examples/web/copilotkit/package.json"),
            include_str!("../../../examples/web/use-chat/package.json"),
        ] {
            let (_, dependencies) = package.split_once("\"dependencies\"").unwrap();
            let versions: Vec<&str> = dependencies.lines().filter_map(|line| line.split('"').nth(3)).collect();
            assert!(versions.len() > 3, "{versions:?}");
            assert!(versions.iter().all(|version| is_exact(version)), "{versions:?}");
        }
        assert!(!is_exact("^1.74.0") && !is_exact("latest"));
    }

    #[test]
    fn copies_the_files_of_a_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir_all(from.join("node_modules")).unwrap();
        std::fs::write(from.join("page.js"), "let a;").unwrap();
        copy_files(&from, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join("page.js")).unwrap(), "let a;");
        assert!(!to.join("node_modules").exists());
        assert!(copy_files(&from.join("missing"), &to).is_err());
    }

    #[test]
    fn does_not_find_a_program_that_is_missing() {
        assert!(!can_run("a-program-that-is-missing"));
    }
}
