//! The workspace as data: members, their dependencies, features and targets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use cargo_metadata::semver::Version;
use cargo_metadata::{DependencyKind, Metadata, TargetKind};

use crate::process::{self, Cargo};

/// What cargo knows about the workspace that holds the current directory.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) cargo: Cargo,
    /// Sorted by name.
    pub(crate) members: Vec<Package>,
    /// The `rust-version` each package of the lock file states, by name and version.
    pub(crate) rust_versions: BTreeMap<(String, String), Version>,
}

/// A member of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The manifest, relative to the root.
    pub(crate) manifest: String,
    pub(crate) rust_version: Option<Version>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
}

/// A direct dependency as the manifest states it.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The version asked for; `None` when the manifest gives only a path.
    pub(crate) version: Option<String>,
    pub(crate) has_path: bool,
    pub(crate) default_features: bool,
    pub(crate) features: Vec<String>,
}

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Development,
}

/// Something that cargo builds of a package.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: TargetKind,
    pub(crate) source: PathBuf,
}

impl Workspace {
    /// Asks cargo about the workspace around the current directory.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let here = std::env::current_dir()?;
        let arguments = ["metadata", "--format-version", "1", "--all-features"];
        let json = process::stdout(&mut Cargo::at(&here).command(arguments))?;
        let metadata: Metadata = cargo_metadata::MetadataCommand::parse(json)?;
        Self::from_metadata(&metadata)
    }

    /// The same workspace with builds set up for ci.
    pub(crate) fn for_ci(mut self) -> Self {
        self.cargo = self.cargo.without_incremental();
        self
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Package> {
        self.members.iter().find(|member| member.name == name)
    }

    fn from_metadata(metadata: &Metadata) -> anyhow::Result<Self> {
        let root = metadata.workspace_root.as_std_path();
        let mut members = metadata
            .workspace_packages()
            .into_iter()
            .map(|package| member(package, root))
            .collect::<anyhow::Result<Vec<_>>>()?;
        members.sort_by(|a, b| a.name.cmp(&b.name));
        let stated = |package: &cargo_metadata::Package| {
            let key = (package.name.to_string(), package.version.to_string());
            Some((key, package.rust_version.clone()?))
        };
        Ok(Self {
            root: root.to_owned(),
            target: metadata.target_directory.clone().into_std_path_buf(),
            cargo: Cargo::at(root),
            members,
            rust_versions: metadata.packages.iter().filter_map(stated).collect(),
        })
    }
}

impl Package {
    /// The targets of one kind.
    pub(crate) fn targets_of(&self, kind: TargetKind) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(move |target| target.kind == kind)
    }

    pub(crate) fn has_library(&self) -> bool {
        self.targets_of(TargetKind::Lib).next().is_some()
    }
}

fn member(package: &cargo_metadata::Package, root: &Path) -> anyhow::Result<Package> {
    let manifest = package
        .manifest_path
        .strip_prefix(root)
        .with_context(|| format!("{} lies outside the workspace", package.manifest_path))?;
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
    // cargo writes a missing version as `*`.
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
