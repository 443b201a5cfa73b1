//! [`Key`]: a key that checks signatures.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm},
};
use serde::Deserialize;
use serde_json::Value;

/// The smallest secret, in bytes: that of HS256.
const MIN_SECRET: usize = 32;

/// A key that checks signatures of one algorithm.
pub(super) struct Key {
    id: Option<String>,
    algorithm: &'static str,
    material: Material,
}

enum Material {
    Rsa(&'static RsaParameters, RsaPublicKeyComponents<Vec<u8>>),
    Curve(&'static dyn VerificationAlgorithm, Vec<u8>),
    Secret(hmac::Key),
}

/// Why a JWK Set cannot be used. It never contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwkSetError {
    /// The text is not a JWK Set.
    #[error("the text is not a JWK Set, which is JSON with a list `keys`")]
    Syntax,
    /// No key can be used for signatures.
    #[error("the JWK Set has no key for signatures of a known algorithm")]
    NoKey,
    /// The set cannot be fetched.
    #[error("the JWK Set cannot be fetched: {reason}")]
    Unreachable {
        /// The reason, such as the answer of the server.
        reason: String,
    },
    /// A key cannot be used.
    #[error("key {index} of the JWK Set cannot be used: {reason}")]
    Key {
        /// The place in the list, from 0.
        index: usize,
        /// The problem with it.
        reason: &'static str,
    },
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Value>,
}

/// A key as the set has it.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    r#use: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    k: Option<String>,
}

/// Where a JWK Set comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From the operator, who corrects mistakes in it. It may have secrets.
    Given,
    /// From a public address. A secret there is known to everybody, so it is skipped, and so are keys that cannot be used: the
    /// others must still work.
    Published,
}

/// Reads the keys of a JWK Set.
///
/// # Errors
/// When there is none, or one that was given cannot be used.
pub(super) fn read(text: &str, origin: Origin) -> Result<Vec<Key>, JwkSetError> {
    let JwkSet { keys } = serde_json::from_str(text).map_err(|_| JwkSetError::Syntax)?;
    let mut usable = Vec::new();
    for (index, key) in keys.into_iter().enumerate() {
        match (Key::read(key), origin) {
            (
                Ok(Some(Key {
                    material: Material::Secret(_),
                    ..
                })),
                Origin::Published,
            ) => tracing::warn!(index, "a secret in a published JWK Set is not used"),
            (Ok(key), _) => usable.extend(key),
            (Err(reason), Origin::Given) => return Err(JwkSetError::Key { index, reason }),
            (Err(reason), Origin::Published) => tracing::warn!(index, reason, "a key of the JWK Set cannot be used"),
        }
    }
    match usable.is_empty() {
        true => Err(JwkSetError::NoKey),
        false => Ok(usable),
    }
}

impl Jwk {
    /// Returns the algorithm and the key; `None` if the algorithm is not known.
    fn material(&self) -> Result<Option<(&'static str, Material)>, &'static str> {
        let algorithm = self.alg.as_deref();
        Ok(match (&*self.kty, self.crv.as_deref()) {
            ("RSA", _) => self.rsa(algorithm.unwrap_or("RS256"))?,
            ("EC", Some("P-256")) if matches!(algorithm, None | Some("ES256")) => Some((
                "ES256",
                Material::Curve(&signature::ECDSA_P256_SHA256_FIXED, self.point(32)?),
            )),
            ("EC", Some("P-384")) if matches!(algorithm, None | Some("ES384")) => Some((
                "ES384",
                Material::Curve(&signature::ECDSA_P384_SHA384_FIXED, self.point(48)?),
            )),
            ("OKP", Some("Ed25519")) if matches!(algorithm, None | Some("EdDSA" | "Ed25519")) => {
                let key = bytes(self.x.as_deref(), Some(32))?;
                Some(("EdDSA", Material::Curve(&signature::ED25519, key)))
            }
            ("oct", _) if matches!(algorithm, None | Some("HS256")) => {
                let secret = bytes(self.k.as_deref(), None)?;
                if secret.len() < MIN_SECRET {
                    return Err("a secret must have at least 32 bytes");
                }
                Some(("HS256", Material::Secret(hmac::Key::new(hmac::HMAC_SHA256, &secret))))
            }
            _ => None,
        })
    }

    fn rsa(&self, algorithm: &str) -> Result<Option<(&'static str, Material)>, &'static str> {
        let (name, parameters): (_, &'static RsaParameters) = match algorithm {
            "RS256" => ("RS256", &signature::RSA_PKCS1_2048_8192_SHA256),
            "RS384" => ("RS384", &signature::RSA_PKCS1_2048_8192_SHA384),
            "RS512" => ("RS512", &signature::RSA_PKCS1_2048_8192_SHA512),
            "PS256" => ("PS256", &signature::RSA_PSS_2048_8192_SHA256),
            _ => return Ok(None),
        };
        let n = bytes(self.n.as_deref(), None)?;
        if n.len() < 256 {
            return Err("an RSA key must have at least 2048 bits");
        }
        let e = bytes(self.e.as_deref(), None)?;
        Ok(Some((name, Material::Rsa(parameters, RsaPublicKeyComponents { n, e }))))
    }

    /// Returns a point of a curve in its uncompressed form.
    fn point(&self, size: usize) -> Result<Vec<u8>, &'static str> {
        let (x, y) = (
            bytes(self.x.as_deref(), Some(size))?,
            bytes(self.y.as_deref(), Some(size))?,
        );
        Ok([vec![4], x, y].concat())
    }
}

impl Key {
    /// Reads a key of a set; `None` if it is not for signatures, or of an unknown type.
    fn read(key: Value) -> Result<Option<Self>, &'static str> {
        let jwk: Jwk = serde_json::from_value(key).map_err(|_| "a member is missing or has a wrong type")?;
        if jwk.r#use.as_deref().unwrap_or("sig") != "sig" {
            return Ok(None);
        }
        let found = jwk.material()?;
        Ok(found.map(|(algorithm, material)| Self {
            id: jwk.kid,
            algorithm,
            material,
        }))
    }

    /// Returns whether the key may have signed a token: by its algorithm, and by its id if both have one.
    pub(super) fn is_meant(&self, algorithm: &str, id: Option<&str>) -> bool {
        let is_same_id = match (&self.id, id) {
            (Some(own), Some(id)) => own == id,
            _ => true,
        };
        self.algorithm == algorithm && is_same_id
    }

    pub(super) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Rsa(parameters, key) => key.verify(parameters, signed, signature).is_ok(),
            Material::Curve(algorithm, key) => UnparsedPublicKey::new(*algorithm, key)
                .verify(signed, signature)
                .is_ok(),
            Material::Secret(key) => hmac::verify(key, signed, signature).is_ok(),
        }
    }
}

/// Returns the bytes of a part of a token or a key; `None` if the text has another form. Every value has one text only.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn bytes(text: Option<&str>, size: Option<usize>) -> Result<Vec<u8>, &'static str> {
    let bytes = text
        .and_then(decode)
        .ok_or("a part of the key is missing or is not base64url")?;
    match size.is_some_and(|size| size != bytes.len()) {
        true => Err("a part of the key has a wrong length"),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(keys: &str, expected: Result<&[&str], &str>) {
        let read = read(&format!(r#"{{"keys": [{keys}]}}"#), Origin::Given);
        let algorithms = read.map(|keys| keys.iter().map(|key| key.algorithm).collect::<Vec<_>>());
        match (algorithms, expected) {
            (Ok(algorithms), Ok(expected)) => assert_eq!(algorithms, expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (other, _) => panic!("{keys}: {other:?}"),
        }
    }

    #[test]
    fn reads_keys_for_signatures() {
        let (x32, x48, n) = ("A".repeat(43), "A".repeat(64), "A".repeat(342));
        check(
            &format!(r#"{{"kty": "OKP", "crv": "Ed25519", "x": "{x32}"}}"#),
            Ok(&["EdDSA"]),
        );
        check(
            &format!(
                r#"{{"kty": "EC", "crv": "P-256", "x": "{x32}", "y": "{x32}"}},
                   {{"kty": "EC", "crv": "P-384", "x": "{x48}", "y": "{x48}", "alg": "ES384"}}"#
            ),
            Ok(&["ES256", "ES384"]),
        );
        check(
            &format!(
                r#"{{"kty": "RSA", "n": "{n}", "e": "AQAB"}}, {{"kty": "RSA", "n": "{n}", "e": "AQAB", "alg": "PS256"}},
                   {{"kty": "RSA", "n": "{n}", "e": "AQAB", "use": "enc"}}, {{"kty": "RSA", "alg": "RSA-OAEP"}}"#
            ),
            Ok(&["RS256", "PS256"]),
        );
        check(&format!(r#"{{"kty": "oct", "k": "{x32}"}}"#), Ok(&["HS256"]));
    }

    #[test]
    fn refuses_what_cannot_check_signatures() {
        check("", Err("no key"));
        check(r#"{"kty": "new"}"#, Err("no key"));
        check(r#"{"kty": "oct", "alg": "none", "k": "AAAA"}"#, Err("no key"));
        check(r#"{"kty": "oct", "k": "c2hvcnQ"}"#, Err("at least 32 bytes"));
        check(r#"{"kty": "oct"}"#, Err("key 0 of the JWK Set cannot be used: a part"));
        check(r#"{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}"#, Err("wrong length"));
        check(r#"{"kty": "RSA", "n": "AAAA", "e": "AQAB"}"#, Err("2048 bits"));
        check(r#"{"kid": "a"}"#, Err("a member is missing"));
        assert_eq!(read("[]", Origin::Given).err(), Some(JwkSetError::Syntax));
        assert_eq!(read("{", Origin::Given).err(), Some(JwkSetError::Syntax));
    }

    #[test]
    fn skips_what_cannot_be_used_in_a_published_set() {
        let x32 = "A".repeat(43);
        let good = format!(r#"{{"kty": "OKP", "crv": "Ed25519", "x": "{x32}"}}"#);
        let secret = format!(r#"{{"kty": "oct", "k": "{x32}"}}"#);
        let set = |keys: &str| format!(r#"{{"keys": [{keys}]}}"#);
        let published = |keys: &str| read(&set(keys), Origin::Published).map(|keys| keys.len());
        assert_eq!(published(&format!(r#"{secret}, {{"kty": "RSA"}}, {good}, 7"#)), Ok(1));
        assert_eq!(published(&secret), Err(JwkSetError::NoKey));
        assert_eq!(read("[]", Origin::Published).err(), Some(JwkSetError::Syntax));
    }
}
