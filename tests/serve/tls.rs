//! HTTPS: with a certificate of its own, the server is reached by nothing else.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

use super::{Serve, command, send, start};

fn file(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/remote/tls");
    folder.join(name).display().to_string()
}

/// The answer to a request, head and body, from a server whose certificate is believed.
fn ask(serve: &Serve, path: &str, headers: &str, body: &str) -> String {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(include_bytes!("../remote/tls/ca.pem")).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let mut session = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = TcpStream::connect(serve.address).unwrap();
    let mut tls = rustls::Stream::new(&mut session, &mut stream);
    let method = if body.is_empty() { "GET" } else { "POST" };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        serve.address.port(),
        body.len()
    );
    tls.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A close without a farewell is an end like another.
    let _ = tls.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_certificate_makes_it_https() {
    let home = tempfile::tempdir().unwrap();
    let arguments = ["--tls-cert", &file("server.pem"), "--tls-key", &file("server.key")];
    let (child, address, code) = start(&home, &arguments);
    let serve = Serve { home, child, address, token: String::new(), code };
    assert!(ask(&serve, "/health", "", "").contains("\"status\":\"ok\""));
    let body = json!({ "code": serve.code, "name": "phone" }).to_string();
    let origin = |scheme: &str| {
        format!(
            "Content-Type: application/json\r\nOrigin: {scheme}://localhost:{}\r\n",
            address.port()
        )
    };
    // A page that came without TLS is a page of others.
    let refused = ask(&serve, "/api/pair", &origin("http"), &body);
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    let paired = ask(&serve, "/api/pair", &origin("https"), &body);
    assert!(paired.starts_with("HTTP/1.1 200"), "{paired}");
    let cookie = paired.lines().find(|line| line.starts_with("set-cookie")).expect("a cookie");
    assert!(cookie.contains("; Secure") && cookie.contains("HttpOnly"), "{cookie}");
    // Plain HTTP gets nothing, and the server goes on; so it does for one that says nothing.
    let silent = TcpStream::connect(address).unwrap();
    assert_eq!(send(address, "GET", "/health", &[], "").status, 0);
    assert!(ask(&serve, "/health", "", "").starts_with("HTTP/1.1 200"));
    drop(silent);
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    for (cert, key, named, why) in [
        ("none.pem", "server.key", "none.pem", "cannot read"),
        ("server.pem", "none.key", "none.key", "cannot read"),
        ("server.key", "server.key", "server.key", "has no certificate in it"),
        ("server.pem", "server.pem", "server.pem", "has no private key in it"),
        ("server.pem", "client.key", "client.key", "is not the key of"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let arguments = ["--port", "0", "--tls-cert", &file(cert), "--tls-key", &file(key)];
        let ended = command(&home, &arguments).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(named) && said.contains(why), "{cert}, {key}: {said}");
    }
    let home = tempfile::tempdir().unwrap();
    let alone = command(&home, &["--tls-cert", &file("server.pem")]).output().unwrap();
    assert!(String::from_utf8_lossy(&alone.stderr).contains("--tls-key"));
}
