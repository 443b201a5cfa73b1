//! [`FileQuota`]: how many files users and tenants may have.

use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::settings::Limits;

/// A number of files with the sum of their sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Total {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// The most files that users and tenants may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileQuota {
    per_user: u64,
    per_tenant: u64,
    bytes_per_tenant: u64,
}

/// Why there is no space for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortage {
    /// The user has this many files.
    User(u64),
    /// The users of the tenant have too many files.
    Tenant,
    /// The files of the tenant are too large.
    TenantBytes,
}

impl Total {
    /// Returns the total of one file.
    pub(crate) fn of_file(bytes: u64) -> Self {
        Self { files: 1, bytes }
    }

    pub(super) fn add_to(self, other: Self) -> Self {
        self + other
    }
}

impl Add for Total {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            files: self.files.saturating_add(other.files),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl FileQuota {
    pub(crate) fn new(limits: &Limits) -> Self {
        let count = |files: usize| u64::try_from(files).unwrap_or(u64::MAX);
        Self {
            per_user: count(limits.max_files_per_user),
            per_tenant: count(limits.max_files_per_tenant),
            bytes_per_tenant: limits.max_file_bytes_per_tenant,
        }
    }

    /// Checks whether a user with these files may have another one.
    pub(super) fn check_user(&self, total: Total) -> Result<(), Shortage> {
        match total.files < self.per_user {
            true => Ok(()),
            false => Err(Shortage::User(total.files)),
        }
    }

    /// Checks whether the users of a tenant may have this much.
    pub(super) fn check_tenant(&self, total: Total) -> Result<(), Shortage> {
        match total {
            Total { files, .. } if files > self.per_tenant => Err(Shortage::Tenant),
            Total { bytes, .. } if bytes > self.bytes_per_tenant => Err(Shortage::TenantBytes),
            _ => Ok(()),
        }
    }
}
