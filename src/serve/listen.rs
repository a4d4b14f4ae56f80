//! Connections: taken one by one, each with a limit on its headers' time, so that none of them holds the server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use axum::Router;
use axum::extract::Request;
use hookctl::files;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tower_service::Service;

use crate::access::Peer;

/// How long the headers of a request may take, and the handshake of TLS before them.
const HEADERS: Duration = Duration::from_secs(10);
/// The largest headers, in bytes.
const LARGEST_HEADERS: usize = 32 << 10;
/// How many connections there are at most; others wait for their turn.
const CONNECTIONS: usize = 8_192;
/// The largest file of certificates or of a key, in bytes.
const LARGEST_PEM: u64 = 1 << 20;
/// After a connection could not be taken (no more descriptors, say).
const PAUSE: Duration = Duration::from_millis(100);

/// Reads a certificate with those above it, and its key.
///
/// # Errors
/// Where a file cannot be read, holds something else, or the two do not belong together.
pub fn read_identity(cert: &Path, key: &Path) -> Result<TlsAcceptor> {
    let read = |path: &Path| {
        files::read(path, LARGEST_PEM)
            .map_err(|why| anyhow::anyhow!("cannot read {}: {why}", path.display()))
    };
    let chain = CertificateDer::pem_slice_iter(&read(cert)?)
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| format!("{} is no certificate in PEM", cert.display()))?;
    if chain.is_empty() {
        bail!("{} has no certificate in it", cert.display());
    }
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?)
        .with_context(|| format!("{} has no private key in it", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .with_context(|| format!("{} is not the key of {}", key.display(), cert.display()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

/// Answers requests until the process ends: by HTTPS with `tls`.
pub async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, router: Router) {
    let turns = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(turn) = Arc::clone(&turns).acquire_owned().await else { return };
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a connection cannot be taken: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // An answer is one small write, and a human waits for it.
        let _ = stream.set_nodelay(true);
        let service = Numbered { router: router.clone(), peer: Peer(address.ip()) };
        let tls = tls.clone();
        tokio::spawn(async move {
            match tls {
                None => converse(stream, service).await,
                // Whoever speaks plain HTTP, or does not trust the certificate, cannot be told so.
                Some(tls) => {
                    if let Ok(Ok(stream)) = tokio::time::timeout(HEADERS, tls.accept(stream)).await
                    {
                        converse(stream, service).await;
                    }
                }
            }
            drop(turn);
        });
    }
}

/// Answers the requests of one connection.
async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    service: Numbered,
) {
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(LARGEST_HEADERS);
    let connection =
        builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    // Whoever went away has nothing to be told.
    let _ = connection.with_upgrades().await;
}

/// The router, with who is at the other end in every request.
#[derive(Clone)]
struct Numbered {
    router: Router,
    peer: Peer,
}

impl Service<hyper::Request<Incoming>> for Numbered {
    type Response = axum::response::Response;
    type Error = std::convert::Infallible;
    type Future = <Router as Service<Request>>::Future;

    fn poll_ready(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        Service::<Request>::poll_ready(&mut self.router, context)
    }

    fn call(&mut self, request: hyper::Request<Incoming>) -> Self::Future {
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(self.peer);
        self.router.call(request)
    }
}
