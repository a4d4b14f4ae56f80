//! One function per command: the server itself, and what is done beside it.

use std::io::IsTerminal as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use hookctl::cli::{self, Exit, human};
use hookctl::dialect::format_time;
use hookctl::files;
use hookctl::paths::Paths;
use hookctl::remote::breaker::unix_milliseconds;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::access::{self, Access, Frames, Proxy, PublicUrl, Reach};
use crate::bridge;
use crate::bus::Bus;
use crate::connect::{self, Connected, Connection};
use crate::context::{Server, Times};
use crate::install;
use crate::judge::Judge;
use crate::listen;
use crate::notify::{self, Notifier};
use crate::options::{AuditAction, Command, DevicesAction, Format, Options, Serving};
use crate::questions::Questions;
use crate::server;
use crate::sessions::Sessions;
use crate::store::audit::{self, Record};
use crate::store::sql::{SqlResult, Tx};
use crate::store::{self, DataDirectory, Store, device};

/// The longest token of hooks, in bytes.
const TOKEN: u64 = 1_024;
/// The shortest that is one: what stands in its file otherwise is replaced.
const SHORTEST_TOKEN: usize = 32;

/// argv to exit status.
pub fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Nobody may be reading.
            let _ = error.print();
            return if error.use_stderr() { Exit::Failed } else { Exit::Ok }.into();
        }
    };
    match dispatch(&options) {
        Ok(exit) => exit.into(),
        Err(error) => {
            cli::print_stderr(&format!("error: {error:#}"));
            Exit::Failed.into()
        }
    }
}

fn dispatch(options: &Options) -> Result<Exit> {
    let paths = Paths::discover(options.config.clone(), options.state.clone())
        .map_err(anyhow::Error::msg)?;
    let data = DataDirectory(paths.state.join("serve"));
    match &options.command {
        None => serve(options, paths, &data),
        Some(Command::Pair { person }) => pair(options, &data, person.as_deref()),
        Some(Command::Token { person }) => token(options, &data, person.as_deref()),
        Some(Command::Devices { action }) => {
            devices(&open_store(options, &data)?, action.as_ref().unwrap_or(&DevicesAction::List))
        }
        Some(Command::Audit { action }) => audit_command(&open_store(options, &data)?, action),
        Some(Command::Install { at }) => install_both(&paths, options, &data, at.as_deref()),
        Some(Command::Uninstall) => install::uninstall(&paths),
    }
}

/// The database that is named, or the server's own.
fn open_store(options: &Options, data: &DataDirectory) -> Result<Store> {
    let path = match options.database.as_deref() {
        None => {
            files::private_dir(&data.0)
                .with_context(|| format!("cannot make {}", data.0.display()))?;
            data.database()
        }
        Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
            return Store::connect(url);
        }
        Some(url) if url.contains("://") => {
            bail!("`{url}` is no database: name a file, or postgres://...")
        }
        Some(path) => PathBuf::from(path),
    };
    Store::open(&path)
}

/// Serves until it is stopped.
fn serve(options: &Options, paths: Paths, data: &DataDirectory) -> Result<Exit> {
    let serving = &options.serving;
    let logs = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false);
    logs.with_ansi(std::io::stderr().is_terminal()).with_max_level(tracing::Level::INFO).init();
    for url in [&serving.ntfy, &serving.webhook].into_iter().flatten() {
        notify::check_address(url)?;
    }
    raise_limit();
    let reach = Reach {
        scheme: serving.scheme(),
        public: serving.public_url.as_deref().map(PublicUrl::parse).transpose()?,
        proxy: serving.trust_header.as_deref().map(|name| proxy(name, data)).transpose()?,
    };
    let store = open_store(options, data)?;
    if serving.open || serving.pair {
        refuse_agents()?;
    }
    check_reach(serving, &store)?;
    let access = Access::new(store.clone(), reach, &shared_hook_token(&store, data)?)?;
    let tls = match (&serving.tls_cert, &serving.tls_key) {
        (Some(cert), Some(key)) => Some(listen::read_identity(cert, key)?),
        _ => None,
    };
    let judge = Arc::new(Judge::new(paths, serving.rules.as_deref())?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let address = SocketAddr::new(serving.listen, serving.port);
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}: is another server there?"))?;
        let address = listener.local_addr()?;
        let server = build_server(serving, store.clone(), access, judge);
        if let Some(port) = serving.bridge {
            let listener = bridge::bind(port).await.context("no port is free for the bridge")?;
            tracing::info!("the bridge is at port {}", listener.local_addr()?.port());
            tokio::spawn(server::run_bridge(Arc::clone(&server), listener));
        }
        tracing::info!("listening on {}://{address}", serving.scheme());
        note_address(data, &base_url(serving, address.port()));
        greet(serving, &store, address.port()).await?;
        tokio::select! {
            () = server::run(server, listener, tls) => {}
            () = stopped() => tracing::info!("stopped"),
        }
        Ok(Exit::Ok)
    })
}

fn build_server(serving: &Serving, store: Store, access: Access, judge: Arc<Judge>) -> Arc<Server> {
    let name = access::new_token()[..16].to_string();
    let bus = Arc::new(Bus::new(name, &store));
    let notifier = Notifier::new(serving.ntfy.clone(), serving.webhook.clone());
    let times = Times {
        answer: Duration::from_secs(serving.answer_within),
        stale: Duration::from_secs(serving.stale_after),
        heartbeat: Duration::from_secs(serving.heartbeat),
    };
    Arc::new(Server {
        questions: Questions::new(
            store.clone(),
            Arc::clone(&bus),
            Arc::clone(&judge),
            notifier,
            serving.approvals.into(),
        ),
        sessions: Sessions::new(store.clone(), times.stale),
        store,
        access,
        bus,
        judge,
        times,
        frames: Frames::default(),
        started: Instant::now(),
    })
}

/// Both ends: the server in this user's session, unless it runs elsewhere, and its address in the hooks' config.
fn install_both(
    paths: &Paths,
    options: &Options,
    data: &DataDirectory,
    elsewhere: Option<&str>,
) -> Result<Exit> {
    refuse_agents()?;
    let serving = &options.serving;
    if let Some(url) = elsewhere {
        let url = url.trim_end_matches('/').to_string();
        PublicUrl::parse(&url)?;
        let connection = Connection { url, token: paths.config.join("serve.token") };
        let told = tell_connected(&connect::connect(paths, &connection)?)?;
        if !connection.token.exists() {
            cli::print_stderr(&format!(
                "note: put what `hookctl serve token --person YOU` prints there into {}",
                connection.token.display()
            ));
        }
        return Ok(told);
    }
    let url = serving.hooks_url()?;
    let store = open_store(options, data)?;
    shared_hook_token(&store, data)?;
    tell_connected(&connect::connect(paths, &Connection { url, token: data.hook_token() })?)?;
    let lets_nobody_in = !serving.listen.is_loopback() && !store.run_blocking(is_let_in)?;
    if lets_nobody_in {
        pair(options, data, None)?;
    }
    install::install(paths, options)
}

fn tell_connected(done: &Connected) -> Result<Exit> {
    cli::print(&match done {
        Connected::Added(file) => format!("Added [remote.serve] to {}.\n", file.display()),
        Connected::Already(file) => format!("{} names the server already.\n", file.display()),
    })
}

/// Is there a device that can answer, or a code by which one comes in?
fn is_let_in(tx: &Tx<'_>) -> SqlResult<bool> {
    let paired = device::all(tx)?.iter().any(|device| !device.revoked);
    Ok(paired || device::has_code(tx, unix_milliseconds())?)
}

/// What other machines reach must let somebody in, and nobody else.
fn check_reach(serving: &Serving, store: &Store) -> Result<()> {
    if !serving.listen.is_loopback() && !serving.pair && !store.run_blocking(is_let_in)? {
        bail!(
            "{} is reached by other machines, and no device is paired: add --pair, or run `hookctl serve pair` first",
            serving.listen
        );
    }
    if !serving.listen.is_loopback() && serving.scheme() == "http" {
        tracing::warn!(
            "whoever listens on the network reads along: add --tls-cert, or use a tunnel"
        );
    }
    Ok(())
}

/// Each hook that waits has a connection: what the system allows is used, not the little that it starts with.
fn raise_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!("more connections cannot be had: {error}");
        }
    }
}

/// The page, where it is wanted.
async fn greet(serving: &Serving, store: &Store, port: u16) -> Result<()> {
    if !serving.open && !serving.pair {
        return Ok(());
    }
    // What is opened here is this machine's own, and the phone its human's.
    let code = store.run(|tx| access::make_code(tx, "")).await?;
    let url = pairing_url(&base_url(serving, port), &code);
    if serving.pair {
        cli::print(&pairing_text(&url, &code)?)?;
    }
    if serving.open {
        open_page(&format!("{}://127.0.0.1:{port}/pair#{code}", serving.scheme()));
    }
    Ok(())
}

/// Ends with the signal that everybody sends first.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut term) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = term.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// An authenticating proxy, by the header in which it names humans.
fn proxy(header: &str, data: &DataDirectory) -> Result<Proxy> {
    let header = header
        .parse()
        .with_context(|| format!("--trust-header: `{header}` is no name of a header"))?;
    let path = data.proxy_token();
    let token = kept_token(&path)?;
    tracing::info!("the proxy shows the token of {} as X-Hookctl-Proxy", path.display());
    Ok(Proxy { header, token })
}

/// The token of hooks on other machines.
fn hook_token(data: &DataDirectory) -> Result<String> {
    kept_token(&data.hook_token())
}

/// The token in that file: made once, for this user alone.
fn kept_token(path: &Path) -> Result<String> {
    store::refuse_foreign(path)?;
    refuse_readable(path)?;
    if let Ok(text) = files::read_text(path, TOKEN)
        && text.trim().len() >= SHORTEST_TOKEN
    {
        return Ok(text.trim().into());
    }
    let token = access::new_token();
    cli::write_private(path, format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// A token that others could read is no secret any more.
fn refuse_readable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::symlink_metadata(path).map_or(0, |meta| meta.permissions().mode());
        if mode & 0o077 != 0 {
            bail!("{0} can be read by others: remove it, and a new one is made", path.display());
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The same token for all servers on the database: hooks need not know which of them they post to.
fn shared_hook_token(store: &Store, data: &DataDirectory) -> Result<String> {
    let own = hook_token(data)?;
    if !store.is_shared() {
        return Ok(own);
    }
    let fresh = own.clone();
    let shared = store.run_blocking(move |tx| device::secret(tx, "hook-token", &fresh))?;
    if shared != own {
        cli::write_private(&data.hook_token(), format!("{shared}\n").as_bytes())?;
    }
    Ok(shared)
}

/// Whoever is paired answers questions: an agent that pairs itself would answer its own.
fn refuse_agents() -> Result<()> {
    match human::detect_agent() {
        Some(mark) => {
            bail!("{mark} says that an agent started this, and who may answer is for humans to say")
        }
        None => Ok(()),
    }
}

/// The name of a human, as it is given on the command line; none = empty.
fn read_person(person: Option<&str>) -> Result<String> {
    let Some(name) = person else { return Ok(String::new()) };
    let read = access::read_person(name).map(String::from);
    read.with_context(|| {
        format!("--person: write a name of letters, digits and @ - _ + . in place of `{name}`")
    })
}

/// Prints what a hook elsewhere shows.
fn token(options: &Options, data: &DataDirectory, person: Option<&str>) -> Result<Exit> {
    refuse_agents()?;
    let person = read_person(person)?;
    let shared = shared_hook_token(&open_store(options, data)?, data)?;
    let token = match person.as_str() {
        "" => shared,
        person => Access::hook_token_of(&shared, person),
    };
    cli::print(&format!("{token}\n"))
}

fn pair(options: &Options, data: &DataDirectory, person: Option<&str>) -> Result<Exit> {
    refuse_agents()?;
    let person = read_person(person)?;
    let store = open_store(options, data)?;
    let code = store.run_blocking(move |tx| access::make_code(tx, &person))?;
    let url = pairing_url(&known_address(&options.serving, data), &code);
    cli::print(&pairing_text(&url, &code)?)
}

/// Where browsers reach the server.
fn base_url(serving: &Serving, port: u16) -> String {
    match &serving.public_url {
        Some(url) => url.trim_end_matches('/').to_string(),
        None => {
            format!("{}://{}", serving.scheme(), SocketAddr::new(reachable(serving.listen), port))
        }
    }
}

/// Where the code is to be used. It stands behind `#`, which no server and no log is told.
fn pairing_url(base: &str, code: &str) -> String {
    format!("{base}/pair#{code}")
}

/// Where the server is reached, for the commands beside it: they are not told its flags again.
fn note_address(data: &DataDirectory, url: &str) {
    if let Err(error) = cli::write_private(&data.address(), format!("{url}\n").as_bytes()) {
        tracing::warn!("{error:#}");
    }
}

/// The address that the command line names, or else that of the server that runs or ran last.
fn known_address(serving: &Serving, data: &DataDirectory) -> String {
    let named = serving.public_url.is_some()
        || serving.tls_cert.is_some()
        || !serving.listen.is_loopback()
        || serving.port != Serving::PORT;
    let noted = files::read_text(&data.address(), TOKEN).unwrap_or_default();
    match noted.trim() {
        noted if !named && !noted.is_empty() => noted.to_string(),
        _ => base_url(serving, serving.port),
    }
}

/// An address that leads here, where the server listens on all of them: the one that this machine would
/// send from. Nothing is sent.
fn reachable(listen: IpAddr) -> IpAddr {
    if !listen.is_unspecified() {
        return listen;
    }
    let own = || {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
        // A documentation address: connecting a datagram socket only picks the way.
        socket.connect("192.0.2.1:9").ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    own().filter(|ip| !ip.is_unspecified()).unwrap_or(listen)
}

fn pairing_text(url: &str, code: &str) -> Result<String> {
    let qr = QrCode::new(url).context("the address is too long for a QR code")?;
    let picture = qr.render::<Dense1x2>().quiet_zone(true).build();
    let minutes = access::CODE / 60_000;
    Ok(format!(
        "{picture}\nOpen {url}\nor type the code {code} there. It pairs one device, within {minutes} minutes.\n"
    ))
}

fn open_page(url: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let null = std::process::Stdio::null;
    let started = std::process::Command::new(program)
        .arg(url)
        .stdin(null())
        .stdout(null())
        .stderr(null())
        .spawn();
    match started {
        // It is waited for, or it would stay as a dead child for as long as this runs.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => tracing::warn!("{program} cannot open the page: {error}"),
    }
}

fn devices(store: &Store, action: &DevicesAction) -> Result<Exit> {
    match action {
        DevicesAction::Revoke { id } => {
            let own = id.clone();
            if !store.run_blocking(move |tx| access::revoke(tx, &own))? {
                bail!("no device `{id}` is paired: `hookctl serve devices` lists them");
            }
            cli::print(&format!("{id} is shut out.\n"))
        }
        DevicesAction::List => {
            let all = store.run_blocking(device::all)?;
            if all.is_empty() {
                return cli::print("No device is paired: `hookctl serve pair`.\n");
            }
            let lines = all.iter().map(|one| {
                let state = if one.revoked { "shut out" } else { "paired" };
                let (since, seen) = (format_time(one.created), format_time(one.last_seen));
                format!(
                    "{}  {state}  since {since}, last here {seen}  {}{}\n",
                    one.id,
                    cli::one_line(&one.name, 60),
                    if one.person == one.id {
                        String::new()
                    } else {
                        format!(" of {}", one.person)
                    }
                )
            });
            cli::print(&lines.collect::<String>())
        }
    }
}

fn audit_command(store: &Store, action: &AuditAction) -> Result<Exit> {
    let (records, wrong) = store.run_blocking(|tx| {
        let mut records = Vec::new();
        let wrong = audit::walk(tx, |record| records.push(record.clone()))?;
        Ok((records, wrong))
    })?;
    match action {
        AuditAction::Verify => match wrong {
            None => cli::print(&format!("{} records, all as they were written.\n", records.len())),
            Some(wrong) => {
                cli::print_stderr(&format!("the audit was changed: {wrong}"));
                Ok(Exit::Found)
            }
        },
        AuditAction::Export { format } => {
            let lines = records.iter().map(|record| match format {
                Format::Jsonl => {
                    format!("{}\n", hookctl::text::escape_json(&record.to_json().to_string()))
                }
                Format::Csv => csv_line(record),
            });
            let head =
                if *format == Format::Csv { CSV_COLUMNS.join(",") + "\n" } else { String::new() };
            cli::print(&(head + &lines.collect::<String>()))
        }
    }
}

const CSV_COLUMNS: [&str; 16] = [
    "seq",
    "time",
    "kind",
    "tool_use_id",
    "session_id",
    "cwd",
    "tool_name",
    "target",
    "decision",
    "scope",
    "pattern",
    "reason",
    "source",
    "by",
    "prev",
    "hash",
];

fn csv_line(record: &Record) -> String {
    let mut all = record.to_json();
    let body = all["body"].take();
    let cells = CSV_COLUMNS.iter().map(|column| {
        let value = all.get(*column).filter(|value| !value.is_null()).or(body.get(*column));
        csv_cell(value.unwrap_or(&Value::Null))
    });
    cells.collect::<Vec<_>>().join(",") + "\n"
}

/// One cell (RFC 4180). What a spreadsheet would take for a formula is text.
fn csv_cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cell_is_no_formula_and_one_cell() {
        for (value, cell) in [
            (json!("a"), "a"),
            (json!("=1+1"), "'=1+1"),
            (json!("-x"), "'-x"),
            (json!("a,\"b\"\n"), "\"a,\"\"b\"\"\n\""),
            (json!(7), "7"),
            (Value::Null, ""),
        ] {
            assert_eq!(csv_cell(&value), cell);
        }
    }
}
