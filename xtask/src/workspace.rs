//! The workspace as data: members, their dependencies, features and targets.

pub(crate) mod feature_set;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use cargo_metadata::semver::Version;
use cargo_metadata::{DependencyKind, Metadata, TargetKind};

use crate::process::{self, Cargo};

/// The workspace of the current directory, as cargo describes it.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) cargo: Cargo,
    /// Sorted by name.
    pub(crate) members: Vec<Package>,
    /// The `rust-version` that each package of the lock file declares, by name and version.
    pub(crate) rust_versions: BTreeMap<(String, String), Version>,
}

/// A member of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The path of the manifest relative to the root.
    pub(crate) manifest: String,
    pub(crate) rust_version: Option<Version>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
}

/// A direct dependency as declared in the manifest.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The required version, or `None` if the manifest has only a path.
    pub(crate) version: Option<String>,
    pub(crate) has_path: bool,
    pub(crate) default_features: bool,
    pub(crate) features: Vec<String>,
}

/// The kind of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Development,
}

/// A build target of a package.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: TargetKind,
    pub(crate) source: PathBuf,
}

impl Workspace {
    /// Loads the workspace of the current directory from `cargo metadata`.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let here = std::env::current_dir()?;
        let arguments = ["metadata", "--format-version", "1", "--all-features"];
        let json = process::stdout(&mut Cargo::at(&here).command(arguments))?;
        let metadata: Metadata = cargo_metadata::MetadataCommand::parse(json)?;
        Self::from_metadata(&metadata)
    }

    /// Returns the workspace with the build settings of CI.
    pub(crate) fn for_ci(mut self) -> Self {
        self.cargo = self.cargo.without_incremental().without_debug_info();
        self
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Package> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Returns the path of the log file for the output of a tool.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.target.join("xtask-logs").join(format!("{name}.log"))
    }

    fn from_metadata(metadata: &Metadata) -> anyhow::Result<Self> {
        let root = metadata.workspace_root.as_std_path();
        let mut members = metadata
            .workspace_packages()
            .into_iter()
            .map(|package| member(package, root))
            .collect::<anyhow::Result<Vec<_>>>()?;
        members.sort_by(|a, b| a.name.cmp(&b.name));
        let declared = |package: &cargo_metadata::Package| {
            let key = (package.name.to_string(), package.version.to_string());
            Some((key, package.rust_version.clone()?))
        };
        Ok(Self {
            root: root.to_owned(),
            target: metadata.target_directory.clone().into_std_path_buf(),
            cargo: Cargo::at(root),
            members,
            rust_versions: metadata.packages.iter().filter_map(declared).collect(),
        })
    }
}

impl Package {
    /// Returns the targets of one kind.
    pub(crate) fn targets_of(&self, kind: TargetKind) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(move |target| target.kind == kind)
    }

    /// Returns whether the package is a library or defines macros.
    pub(crate) fn is_library(&self) -> bool {
        self.has_library() || self.targets_of(TargetKind::ProcMacro).next().is_some()
    }

    pub(crate) fn has_library(&self) -> bool {
        self.targets_of(TargetKind::Lib).next().is_some()
    }
}

fn member(package: &cargo_metadata::Package, root: &Path) -> anyhow::Result<Package> {
    let manifest = package
        .manifest_path
        .strip_prefix(root)
        .with_context(|| format!("{} is outside the workspace", package.manifest_path))?;
    Ok(Package {
        name: package.name.to_string(),
        manifest: manifest.as_str().replace('\\', "/"),
        rust_version: package.rust_version.clone(),
        dependencies: package.dependencies.iter().map(dependency).collect(),
        features: package.features.clone(),
        targets: package.targets.iter().filter_map(target).collect(),
    })
}

fn dependency(dependency: &cargo_metadata::Dependency) -> Dependency {
    // cargo represents a missing version as `*`.
    let version = dependency.req.to_string();
    Dependency {
        name: dependency.name.clone(),
        kind: match dependency.kind {
            DependencyKind::Development => Kind::Development,
            DependencyKind::Build => Kind::Build,
            _ => Kind::Normal,
        },
        version: (version != "*").then_some(version),
        has_path: dependency.path.is_some(),
        default_features: dependency.uses_default_features,
        features: dependency.features.clone(),
    }
}

fn target(target: &cargo_metadata::Target) -> Option<Target> {
    Some(Target {
        name: target.name.clone(),
        kind: target.kind.first()?.clone(),
        source: target.src_path.clone().into_std_path_buf(),
    })
}
