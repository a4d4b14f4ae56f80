//! Inline programs: the first byte chooses the language, the rest is the program.
#![no_main]

use hookctl_fuzz::MOST;

/// How each language gets its program as a word; `{}` is the word.
const ROADS: &[&str] = &[
    "python3 -c {}",
    "node -e {}",
    "awk {} data.txt",
    "sed {} data.txt",
    "sed -i {} data.txt",
    "perl -e {}",
    "perl -pi -e {} data.txt",
    "ruby -e {}",
    "php -r {}",
    "lua -e {}",
    "pwsh -c {}",
    "osascript -e {}",
    "Rscript -e {}",
    "deno eval {}",
    "bash -c {}",
    "eval {}",
    "psql -c {}",
    "mysql -e {}",
    "sqlite3 app.db {}",
    "jq {} data.json",
    "echo {} | python3",
    "echo {} | node",
    "xargs -I% sh -c {}",
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, program)) = data.split_first() else { return };
    let Ok(program) = std::str::from_utf8(program) else { return };
    if program.len() > MOST / 2 {
        return;
    }
    let road = ROADS[usize::from(*first) % ROADS.len()];
    let word = format!("'{}'", program.replace('\'', r"'\''"));
    hookctl_fuzz::shell(&road.replacen("{}", &word, 1));
});
