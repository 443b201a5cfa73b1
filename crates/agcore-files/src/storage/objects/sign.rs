//! [`signed`]: requests with version 4 of Amazon's signatures.

use std::time::SystemTime;

use agcore_aws::{RequestParts, Signer};

use super::{keys::ObjectKeys, place::BucketPlace, request::ObjectRequest};

/// The service that is signed for, also if another vendor serves the API.
const SERVICE: &str = "s3";

/// Signs a request for an escaped path.
pub(super) fn signed(
    place: &BucketPlace,
    keys: &ObjectKeys,
    now: SystemTime,
    method: &'static str,
    path: String,
    body: Vec<u8>,
) -> ObjectRequest {
    let request = RequestParts::new(method, place.host(), &path).with_body(&body);
    let headers = Signer::new(SERVICE, place.region()).sign(&keys.keys, &request, now);
    ObjectRequest {
        method,
        path,
        headers,
        body,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::StorageProvider;

    #[test]
    fn signatures_are_those_of_amazons_library() {
        // The signature of botocore for a path with characters that are escaped.
        let place = "https://storage.example.com";
        let place = BucketPlace::at_server(StorageProvider::Aws, place, "files", "eu-central-1").unwrap();
        let keys = ObjectKeys::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
        let keys = keys.with_session_token("session-token");
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let sign = |path: String, body: &[u8]| signed(&place, &keys, now, "PUT", path, body.to_vec());
        let request = sign(place.target("uploads/7 & 8/ü 日本+~%25.csv"), b"one");
        assert_eq!(
            request.path,
            "/files/uploads/7%20%26%208/%C3%BC%20%E6%97%A5%E6%9C%AC%2B~%2525.csv"
        );
        let names: Vec<&str> = request.headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "x-amz-content-sha256",
                "x-amz-date",
                "x-amz-security-token",
                "authorization"
            ]
        );
        let (_, authorization) = request.headers.last().unwrap();
        assert_eq!(
            authorization.rsplit('=').next(),
            Some("7f9639f2ec6d6ef2f55298f1b0e852f6c8746992777c8ac9ce3f72b79fc38e76")
        );

        let request = sign("/a".to_owned(), b"secret content");
        let shown = format!("{request:?} {keys:?}");
        assert!(
            !shown.contains("Signature") && !shown.contains("AKIA") && !shown.contains("secret"),
            "{shown}"
        );
    }
}
