//! The HTTP client: ureq with rustls, one deadline over everything, no redirects, no proxy from the
//! environment (a repository's settings can set variables).

use std::time::{Duration, Instant};

/// What came of reaching for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The HTTP status.
    pub status: u16,
    /// How long it took.
    pub took: Duration,
}

/// Asks the server for its front page's head, to see whether it is there.
///
/// # Errors
/// A sentence for people: refused, no such host, TLS, timeout.
pub fn reach(url: &str, timeout: Duration) -> Result<Reached, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .proxy(None)
        .http_status_as_error(false)
        .user_agent(concat!("hookctl/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let start = Instant::now();
    match agent.head(url).call() {
        Ok(response) => Ok(Reached { status: response.status().as_u16(), took: start.elapsed() }),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    #[test]
    fn a_server_answers_and_a_dead_one_is_told() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 1024];
            let _ = stream.read(&mut buffer);
            stream.write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n").unwrap();
        });
        assert_eq!(reach(&url, Duration::from_secs(5)).unwrap().status, 204);
        server.join().unwrap();
        assert!(reach(&url, Duration::from_secs(5)).is_err());
    }
}
