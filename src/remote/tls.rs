//! TLS as a `[remote.NAME]` wants it: a private authority, a client's certificate.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::at_home;
use super::ciphers::provider;
use crate::files;
use crate::rule::file::Remote;

/// Its settings.
///
/// # Errors
/// The file that cannot be used, and why.
pub fn config(remote: &Remote, home: &Path) -> Result<TlsConfig, String> {
    let mut config = TlsConfig::builder().unversioned_rustls_crypto_provider(Arc::new(provider()));
    if let Some(path) = &remote.ca {
        let authorities = read_certificates(&at_home(path, home))?;
        config = config.root_certs(RootCerts::new_with_certs(&to_certificates(&authorities)));
    }
    if let Some((cert, key)) = &remote.identity {
        config =
            config.client_cert(Some(client_identity(&at_home(cert, home), &at_home(key, home))?));
    }
    Ok(config.build())
}

fn client_identity(cert: &Path, key: &Path) -> Result<ClientCert, String> {
    let chain = read_certificates(cert)?;
    let fail = |why: &dyn fmt::Display| format!("{}: {why}", key.display());
    let bytes = files::read(key, files::LARGE).map_err(|refusal| refusal.describe_for(key))?;
    let parsed = PrivateKeyDer::from_pem_slice(&bytes)
        .map_err(|_| fail(&"no private key in it that is not encrypted"))?;
    let shown = to_certificates(&chain);
    // ureq panics where they do not go together.
    CertifiedKey::from_der(chain, parsed, &provider())
        .map_err(|_| fail(&format!("it is not the key of {}", cert.display())))?;
    let key = PrivateKey::from_pem(&bytes).map_err(|error| fail(&error))?;
    Ok(ClientCert::new_with_certs(&shown, key))
}

/// The certificates of a PEM file, of which it has at least one.
fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let fail = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
    let bytes = files::read(path, files::LARGE).map_err(|refusal| refusal.describe_for(path))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(fail(&"no certificate in it")),
        Err(error) => Err(fail(&error)),
    }
}

fn to_certificates(found: &[CertificateDer<'static>]) -> Vec<Certificate<'static>> {
    found.iter().map(|one| Certificate::from_der(one).to_owned()).collect()
}
