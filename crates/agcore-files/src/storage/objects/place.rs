//! [`BucketPlace`]: where a bucket is.

use crate::{
    origin::StorageProvider,
    storage::{StorageError, StorageErrorKind},
};

/// Where a bucket is: its vendor, server, region and name.
///
/// ```
/// use agcore_files::BucketPlace;
///
/// let place = BucketPlace::aws("reports", "eu-central-1")?;
/// assert_eq!(place.server(), "https://reports.s3.eu-central-1.amazonaws.com");
/// assert!(BucketPlace::aws("reports/../secrets", "eu-central-1").is_err());
/// # Ok::<(), agcore_files::StorageError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketPlace {
    provider: StorageProvider,
    scheme: String,
    /// With the port, if it is not the usual one.
    host: String,
    region: String,
    /// The name of the bucket, if it is a part of paths and not of the host.
    bucket: Option<String>,
}

impl BucketPlace {
    /// A bucket of Amazon S3 in a region such as `eu-central-1`.
    ///
    /// # Errors
    /// When the names cannot be those of a bucket and a region.
    pub fn aws(bucket: &str, region: &str) -> Result<Self, StorageError> {
        let host = format!("{}.s3.{}.amazonaws.com", named(bucket)?, named(region)?);
        Ok(Self::hosted(StorageProvider::Aws, host, region))
    }

    /// A bucket of Google Cloud Storage. Its keys are HMAC keys.
    ///
    /// # Errors
    /// When the name cannot be that of a bucket.
    pub fn gcp(bucket: &str) -> Result<Self, StorageError> {
        let mut place = Self::hosted(StorageProvider::Gcp, "storage.googleapis.com".to_owned(), "auto");
        place.bucket = Some(named(bucket)?.to_owned());
        Ok(place)
    }

    /// A bucket of Aliyun OSS in a region such as `cn-hangzhou`.
    ///
    /// # Errors
    /// When the names cannot be those of a bucket and a region.
    pub fn aliyun(bucket: &str, region: &str) -> Result<Self, StorageError> {
        let region = region.strip_prefix("oss-").unwrap_or(region);
        let host = format!("{}.s3.oss-{}.aliyuncs.com", named(bucket)?, named(region)?);
        Ok(Self::hosted(StorageProvider::Aliyun, host, region))
    }

    /// A bucket of Tencent COS, whose name ends with the id of the account, in a region such as `ap-guangzhou`.
    ///
    /// # Errors
    /// When the names cannot be those of a bucket and a region.
    pub fn tencent(bucket: &str, region: &str) -> Result<Self, StorageError> {
        let host = format!("{}.cos.{}.myqcloud.com", named(bucket)?, named(region)?);
        Ok(Self::hosted(StorageProvider::Tencent, host, region))
    }

    fn hosted(provider: StorageProvider, host: String, region: &str) -> Self {
        Self {
            provider,
            scheme: "https".to_owned(),
            host,
            region: region.to_owned(),
            bucket: None,
        }
    }

    /// A bucket on another server with the same API, such as `http://127.0.0.1:9000`, with the bucket in the path. Its files count
    /// as those of `provider`.
    ///
    /// # Errors
    /// When the names cannot be those of a bucket and a region, or the server is not an origin.
    pub fn at_server(
        provider: StorageProvider,
        server: &str,
        bucket: &str,
        region: &str,
    ) -> Result<Self, StorageError> {
        let (scheme, host) = server.split_once("://").unwrap_or_default();
        let host = host.trim_end_matches('/');
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        if !matches!(scheme, "http" | "https") || host.is_empty() || !host.bytes().all(is_host) {
            return Err(misconfigured(
                "the server of a storage is not an origin; use one such as \"https://storage.example.com\"".to_owned(),
            ));
        }
        // The signature contains the host as it is sent.
        let usual = if scheme == "https" { ":443" } else { ":80" };
        let host = host.strip_suffix(usual).unwrap_or(host).to_ascii_lowercase();
        Ok(Self {
            provider,
            scheme: scheme.to_owned(),
            host,
            region: named(region)?.to_owned(),
            bucket: Some(named(bucket)?.to_owned()),
        })
    }

    /// Returns the origin of the server, to which requests go.
    pub fn server(&self) -> String {
        format!("{}://{}", self.scheme, self.host)
    }

    /// Returns the vendor.
    pub fn provider(&self) -> StorageProvider {
        self.provider
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn region(&self) -> &str {
        &self.region
    }

    /// Returns the path of the URL of a file, or of the bucket if `path` is empty.
    pub(super) fn target(&self, path: &str) -> String {
        let mut target = String::new();
        if let Some(bucket) = &self.bucket {
            target.push('/');
            target.push_str(bucket);
        }
        if !path.is_empty() || target.is_empty() {
            target.push('/');
        }
        encode_path(&mut target, path);
        target
    }
}

/// Escapes everything but letters, digits, `-`, `.`, `_`, `~` and `/`, as the signature expects.
fn encode_path(target: &mut String, path: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            target.push(char::from(byte));
        } else {
            target.push('%');
            target.push(char::from(DIGITS[usize::from(byte >> 4)]));
            target.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

/// Accepts names that are a part of a host: nothing in them can lead to another server or path.
fn named(name: &str) -> Result<&str, StorageError> {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
    let is_valid = (1..=63).contains(&name.len())
        && name.bytes().all(is_part)
        && !name.contains("..")
        && !name.starts_with(['.', '-'])
        && !name.ends_with(['.', '-']);
    if is_valid {
        return Ok(name);
    }
    Err(misconfigured(format!(
        "{name:?} is not the name of a bucket or a region; use lowercase letters, digits, `-` and `.`"
    )))
}

#[cold]
pub(super) fn misconfigured(message: String) -> StorageError {
    StorageError::new(StorageErrorKind::Misconfigured, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendor_has_its_hosts() {
        let server = |place: Result<BucketPlace, StorageError>| {
            let place = place.unwrap();
            (place.server(), place.target("a b/ü.txt"))
        };
        let path = "/a%20b/%C3%BC.txt".to_owned();
        assert_eq!(
            server(BucketPlace::aliyun("b", "oss-cn-hangzhou")),
            ("https://b.s3.oss-cn-hangzhou.aliyuncs.com".to_owned(), path.clone())
        );
        assert_eq!(
            server(BucketPlace::tencent("b-125", "ap-guangzhou")),
            ("https://b-125.cos.ap-guangzhou.myqcloud.com".to_owned(), path.clone())
        );
        assert_eq!(
            server(BucketPlace::gcp("b")),
            ("https://storage.googleapis.com".to_owned(), format!("/b{path}"))
        );
        let own = |server: &str| BucketPlace::at_server(StorageProvider::Aws, server, "b", "r");
        assert_eq!(server(own("HTTP://x".to_lowercase().as_str())).0, "http://x");
        assert_eq!(own("https://Host:443/").unwrap().server(), "https://host");
        assert_eq!(own("http://127.0.0.1:9000").unwrap().target(""), "/b");
        for wrong in [
            "host",
            "ftp://host",
            "http://",
            "http://u:p@host",
            "http://host/path",
            "http://host?x",
        ] {
            let error = own(wrong).unwrap_err();
            assert_eq!(error.kind(), StorageErrorKind::Misconfigured, "{wrong}");
            assert!(!error.to_string().contains("u:p"));
        }
        for wrong in ["", "A", "a/b", "a..b", "-a", "a@b", &"x".repeat(64)] {
            assert!(BucketPlace::aws(wrong, "r").is_err(), "{wrong}");
            assert!(BucketPlace::tencent("b", wrong).is_err(), "{wrong}");
        }
    }
}
