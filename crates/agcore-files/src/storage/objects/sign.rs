//! [`Signer`]: signs requests with version 4 of Amazon's signatures.

use std::{fmt::Write, time::SystemTime};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::{keys::ObjectKeys, place::BucketPlace, request::ObjectRequest};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Signs requests at a time.
pub(super) struct Signer<'a> {
    place: &'a BucketPlace,
    keys: &'a ObjectKeys,
    /// Such as `20130524T000000Z`.
    time: String,
}

impl<'a> Signer<'a> {
    pub(super) fn new(place: &'a BucketPlace, keys: &'a ObjectKeys, now: SystemTime) -> Self {
        let now = OffsetDateTime::from(now);
        let time = format!(
            "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
            now.year(),
            u8::from(now.month()),
            now.day(),
            now.hour(),
            now.minute(),
            now.second()
        );
        Self { place, keys, time }
    }

    /// Signs a request for an escaped path.
    pub(super) fn sign(&self, method: &'static str, path: String, body: Vec<u8>) -> ObjectRequest {
        let hash = hex(&Sha256::digest(&body));
        let mut headers = vec![
            ("x-amz-content-sha256", hash.clone()),
            ("x-amz-date", self.time.clone()),
        ];
        if let Some(token) = &self.keys.session_token {
            headers.push(("x-amz-security-token", token.clone()));
        }
        let authorization = self.authorization(method, &path, &headers, &hash);
        headers.push(("authorization", authorization));
        ObjectRequest {
            method,
            path,
            headers,
            body,
        }
    }

    /// Returns the header with the signature. The other headers are sorted by name, and `host` comes before them.
    fn authorization(&self, method: &str, path: &str, headers: &[(&str, String)], hash: &str) -> String {
        let mut canonical = format!("{method}\n{path}\n\nhost:{}\n", self.place.host());
        let mut signed = "host".to_owned();
        for (name, value) in headers {
            // Writing to a string cannot fail.
            let _ = writeln!(canonical, "{name}:{value}");
            let _ = write!(signed, ";{name}");
        }
        let _ = write!(canonical, "\n{signed}\n{hash}");
        let day = self.time.split('T').next().unwrap_or_default();
        let region = self.place.region();
        let scope = format!("{day}/{region}/s3/aws4_request");
        let text = format!(
            "{ALGORITHM}\n{}\n{scope}\n{}",
            self.time,
            hex(&Sha256::digest(canonical))
        );
        let mut key = format!("AWS4{}", self.keys.secret).into_bytes();
        for part in [day, region, "s3", "aws4_request"] {
            key = mac(&key, part);
        }
        let signature = hex(&mac(&key, &text));
        let id = &self.keys.id;
        format!("{ALGORITHM} Credential={id}/{scope}, SignedHeaders={signed}, Signature={signature}")
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // Keys of every length are accepted.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Signs the example "GET Object" in Amazon's description of the signatures, whose request has a `range` as well.
    #[test]
    fn signatures_are_those_of_the_description() {
        let place = BucketPlace::at_server(
            crate::StorageProvider::Aws,
            "https://examplebucket.s3.amazonaws.com",
            "unused",
            "us-east-1",
        )
        .unwrap();
        let keys = ObjectKeys::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let signer = Signer::new(&place, &keys, now);
        assert_eq!(signer.time, "20130524T000000Z");
        let hash = hex(&Sha256::digest(b""));
        let headers = [
            ("range", "bytes=0-9".to_owned()),
            ("x-amz-content-sha256", hash.clone()),
            ("x-amz-date", signer.time.clone()),
        ];
        let authorization = signer.authorization("GET", "/test.txt", &headers, &hash);
        assert_eq!(
            authorization,
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        // The signature of botocore, Amazon's own library, for a path with characters that are escaped.
        let place = "https://storage.example.com";
        let place = BucketPlace::at_server(crate::StorageProvider::Aws, place, "files", "eu-central-1").unwrap();
        let keys = keys.with_session_token("session-token");
        let signer = Signer::new(&place, &keys, now);
        let request = signer.sign("PUT", place.target("uploads/7 & 8/ü 日本+~%25.csv"), b"one".to_vec());
        assert_eq!(
            request.path,
            "/files/uploads/7%20%26%208/%C3%BC%20%E6%97%A5%E6%9C%AC%2B~%2525.csv"
        );
        let (name, authorization) = request.headers.last().unwrap();
        assert_eq!(
            (*name, authorization.rsplit('=').next().unwrap()),
            (
                "authorization",
                "7f9639f2ec6d6ef2f55298f1b0e852f6c8746992777c8ac9ce3f72b79fc38e76"
            )
        );

        let request = signer.sign("PUT", "/a".to_owned(), b"secret content".to_vec());
        let shown = format!("{request:?} {keys:?}");
        assert!(
            !shown.contains("Signature") && !shown.contains("AKIA") && !shown.contains("secret"),
            "{shown}"
        );
    }
}
