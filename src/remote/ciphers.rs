//! What TLS is made of: rustls's choice from ring without ChaCha20. That is 43 KB of code for servers without AES, which TLS 1.3
//! demands of every server and TLS 1.2 finds with nearly every one.

use std::sync::Arc;

use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::Error;
use rustls::SignatureScheme as Scheme;
use rustls::crypto::ring::{ALL_KX_GROUPS, cipher_suite, sign};
use rustls::crypto::{
    CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, WebPkiSupportedAlgorithms,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use webpki::ring as verify;

/// All of it. Made of its parts: rustls's own provider, once named, brings the rest along.
pub fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_256_GCM_SHA384,
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            cipher_suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        ],
        kx_groups: ALL_KX_GROUPS.to_vec(),
        signature_verification_algorithms: SIGNATURES,
        secure_random: &Ring,
        key_provider: &Ring,
    }
}

/// As rustls has them for ring.
const SIGNATURES: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[
        verify::ECDSA_P256_SHA256,
        verify::ECDSA_P256_SHA384,
        verify::ECDSA_P384_SHA256,
        verify::ECDSA_P384_SHA384,
        verify::ED25519,
        verify::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
        verify::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
        verify::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
        verify::RSA_PKCS1_2048_8192_SHA256,
        verify::RSA_PKCS1_2048_8192_SHA384,
        verify::RSA_PKCS1_2048_8192_SHA512,
        verify::RSA_PKCS1_2048_8192_SHA256_ABSENT_PARAMS,
        verify::RSA_PKCS1_2048_8192_SHA384_ABSENT_PARAMS,
        verify::RSA_PKCS1_2048_8192_SHA512_ABSENT_PARAMS,
    ],
    // TLS 1.3 takes the first of each alone.
    mapping: &[
        (Scheme::ECDSA_NISTP384_SHA384, &[verify::ECDSA_P384_SHA384, verify::ECDSA_P256_SHA384]),
        (Scheme::ECDSA_NISTP256_SHA256, &[verify::ECDSA_P256_SHA256, verify::ECDSA_P384_SHA256]),
        (Scheme::ED25519, &[verify::ED25519]),
        (Scheme::RSA_PSS_SHA512, &[verify::RSA_PSS_2048_8192_SHA512_LEGACY_KEY]),
        (Scheme::RSA_PSS_SHA384, &[verify::RSA_PSS_2048_8192_SHA384_LEGACY_KEY]),
        (Scheme::RSA_PSS_SHA256, &[verify::RSA_PSS_2048_8192_SHA256_LEGACY_KEY]),
        (Scheme::RSA_PKCS1_SHA512, &[verify::RSA_PKCS1_2048_8192_SHA512]),
        (Scheme::RSA_PKCS1_SHA384, &[verify::RSA_PKCS1_2048_8192_SHA384]),
        (Scheme::RSA_PKCS1_SHA256, &[verify::RSA_PKCS1_2048_8192_SHA256]),
    ],
};

/// Random bytes and private keys as ring has them.
#[derive(Debug)]
struct Ring;

impl SecureRandom for Ring {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        SystemRandom::new().fill(bytes).map_err(|_| GetRandomFailed)
    }
}

impl KeyProvider for Ring {
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        sign::any_supported_type(&key)
    }
}

#[cfg(test)]
mod tests {
    use rustls::crypto::ring::default_provider;

    use super::*;

    #[test]
    fn it_is_rustls_own_without_chacha20() {
        let (own, theirs) = (provider(), default_provider());
        let suites = |provider: &CryptoProvider| -> Vec<String> {
            provider.cipher_suites.iter().map(|suite| format!("{:?}", suite.suite())).collect()
        };
        let mut expected = suites(&theirs);
        expected.retain(|name| !name.contains("CHACHA20"));
        assert_eq!(suites(&own), expected);
        assert_eq!(format!("{:?}", own.kx_groups), format!("{:?}", theirs.kx_groups));
        let (own, theirs) =
            (own.signature_verification_algorithms, theirs.signature_verification_algorithms);
        let known = |all: &[&dyn rustls::pki_types::SignatureVerificationAlgorithm]| -> Vec<_> {
            all.iter().map(|one| (one.public_key_alg_id(), one.signature_alg_id())).collect()
        };
        assert_eq!(known(own.all), known(theirs.all));
        let schemes = |all: &WebPkiSupportedAlgorithms| -> Vec<_> {
            all.mapping.iter().map(|(scheme, these)| (*scheme, known(these))).collect()
        };
        assert_eq!(schemes(&own), schemes(&theirs));
    }
}
