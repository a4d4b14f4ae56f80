//! What the Grep tool reads: a tree, narrowed by `glob` and `type` as `rg --hidden -g ... --type ...`
//! narrows it.
//!
//! A look into the tree tells which files these are. Where it cannot see the whole, what the globs name
//! anywhere below is read.

use std::path::Path;

use serde_json::Value as Json;

use crate::effect::emitter::{Emitter, Spot};
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Target, Word, look};
use crate::glob;
use crate::limits;
use crate::names::grep::TYPES;

/// What the client itself leaves out.
const VERSIONS: &[&str] = &[".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// One glob of `-g`, its components.
struct Glob {
    parts: Vec<String>,
    /// `!`: what it names is left out.
    out: bool,
    /// It holds a slash: then it starts from where the client runs, not anywhere.
    anchored: bool,
}

/// What narrows a search.
struct Narrow {
    globs: Vec<Glob>,
    /// Of these types, where any is named and known.
    types: Option<&'static [&'static str]>,
}

/// The effects of a call of Grep that looks at `base`.
pub(super) fn emit_grep(out: &mut Emitter, input: &Json, base: &Value) {
    let whole = |out: &mut Emitter| {
        out.emit_path(Word::Read, base, Extent::Tree, Grade::Certain, Source::Tool);
    };
    // What other agents call it; one that does not know the field searches everything.
    if let Some(globs) = input.get("include").or_else(|| input.get("includePattern"))
        && input.get("glob").is_none()
    {
        whole(out);
        let globs = super::server::texts_of(globs).join(" ");
        return emit_grep(out, &serde_json::json!({ "glob": globs }), base);
    }
    let (Some(narrow), Spot::At(tree), Some(cwd)) =
        (parse_narrowing(input), out.locate_value(base, Extent::Tree, false), out.cwd.clone())
    else {
        return whole(out);
    };
    // A file that is named is searched whatever the globs say.
    let is_dir = out.resolver.is_dir(&tree.resolved);
    if out.resolver.exists(&tree.resolved) && !is_dir {
        return whole(out);
    }
    let found = if is_dir { look::list_below(&tree) } else { None };
    match found
        .map(|found| narrow.narrow_files(&found, &tree, &cwd))
        .filter(|all| all.len() <= limits::GREP_FILES)
    {
        Some(files) => {
            let grade = if narrow.names_files() { Grade::Certain } else { Grade::Possible };
            for file in files {
                out.push_effect(Word::Read, grade, Some(file), None, Source::Tool, 0..0);
            }
        }
        None if narrow.names_files() => narrow.emit_anywhere(out, &tree, &cwd),
        None => whole(out),
    }
}

/// None where nothing narrows, or where it is not understood how.
fn parse_narrowing(input: &Json) -> Option<Narrow> {
    let text = |key: &str| match input.get(key) {
        None | Some(Json::Null) => Some(""),
        Some(value) => value.as_str(),
    };
    let (globs, kind) = (text("glob")?, text("type")?);
    let types = TYPES.iter().find(|(name, _)| *name == kind).map(|(_, globs)| *globs);
    if globs.len() > limits::GREP_BYTES || !kind.is_empty() && types.is_none() {
        return None;
    }
    let globs =
        split_globs(globs).into_iter().map(expand_braces).collect::<Option<Vec<_>>>()?.concat();
    let globs: Vec<Glob> = globs.iter().filter_map(|text| Glob::from_text(text)).collect();
    // A glob that names everything narrows nothing.
    let all = globs.iter().any(|glob| !glob.out && glob.is_all());
    let narrow = Narrow { globs, types };
    (!all
        && (!narrow.globs.is_empty() || types.is_some())
        && narrow.globs.len() <= limits::GREP_GLOBS)
        .then_some(narrow)
}

/// The globs of a call as the client parts them: by blanks, and by commas where no braces stand.
fn split_globs(globs: &str) -> Vec<&str> {
    let parts = globs.split_whitespace().flat_map(|word| {
        let whole = word.contains('{') && word.contains('}');
        word.split(move |c| c == ',' && !whole)
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// The glob without braces: one for each way through them. None where there are too many.
fn expand_braces(glob: &str) -> Option<Vec<String>> {
    let (mut todo, mut done) = (vec![glob.to_string()], Vec::new());
    while let Some(text) = todo.pop() {
        // The first that closes, and what opened it.
        let close = text.find('}');
        let open = close.and_then(|close| text[..close].rfind('{'));
        let (Some(open), Some(close)) = (open, close) else {
            done.push(text);
            continue;
        };
        if todo.len() + done.len() > limits::GREP_GLOBS {
            return None;
        }
        let (before, inner, after) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
        todo.extend(inner.split(',').rev().map(|one| format!("{before}{one}{after}")));
    }
    Some(done)
}

impl Glob {
    fn from_text(text: &str) -> Option<Glob> {
        let (out, text) = text.strip_prefix('!').map_or((false, text), |text| (true, text));
        let plain = text.trim_end_matches('/');
        let anchored = plain.contains('/');
        let parts: Vec<String> =
            plain.split('/').filter(|part| !part.is_empty()).map(str::to_string).collect();
        (!parts.is_empty()).then_some(Glob { parts, out, anchored })
    }

    fn is_all(&self) -> bool {
        self.parts.iter().all(|part| matches!(part.as_str(), "*" | "**"))
            && (self.parts.len() == 1 || self.parts[0] == "**")
    }

    /// Does it match the path, whose components start from where the client runs?
    fn matches_path(&self, path: &[&str]) -> bool {
        let Some(name) = path.last() else { return false };
        if !self.anchored {
            return self.parts[0] == "**" || glob::matches(&self.parts[0], name);
        }
        // Which components of the glob may come next: `**` any number of them.
        let mut at = vec![false; self.parts.len() + 1];
        at[0] = true;
        self.skip_wildcards(&mut at);
        for name in path {
            let mut next = vec![false; at.len()];
            for (n, part) in self.parts.iter().enumerate().filter(|(n, _)| at[*n]) {
                match part.as_str() {
                    "**" => next[n] = true,
                    part => next[n + 1] |= glob::matches(part, name),
                }
            }
            self.skip_wildcards(&mut next);
            at = next;
        }
        at[self.parts.len()]
            // `x/**` is what lies below, not `x` itself.
            && !(self.parts.last().is_some_and(|last| last == "**") && path.len() < self.parts.len())
    }

    fn skip_wildcards(&self, at: &mut [bool]) {
        for (n, part) in self.parts.iter().enumerate() {
            at[n + 1] |= at[n] && part == "**";
        }
    }
}

impl Narrow {
    /// Does it say what is read, not only what is not?
    fn names_files(&self) -> bool {
        self.types.is_some() || self.globs.iter().any(|glob| !glob.out)
    }

    /// Those of the files that are searched.
    fn narrow_files(&self, found: &[Target], tree: &Target, cwd: &str) -> Vec<Target> {
        let searched = |file: &&Target| {
            let below = file.lexical.strip_prefix(&tree.lexical).unwrap_or_default();
            let below = below.trim_start_matches('/');
            // What lies elsewhere than where the client runs has its whole path.
            let from = file.lexical.strip_prefix(cwd).filter(|rest| rest.starts_with('/'));
            let path: Vec<&str> =
                from.unwrap_or(&file.lexical).split('/').filter(|part| !part.is_empty()).collect();
            let depth = below.split('/').count();
            !below.is_empty()
                && !below.split('/').any(|part| VERSIONS.contains(&part))
                && (1..depth).all(|up| self.last_match(&path[..path.len() - up]) != Some(false))
                && self.accepts_path(&path)
                && !Path::new(&file.resolved).is_dir()
        };
        found.iter().filter(searched).cloned().collect()
    }

    /// What the last glob that matches says.
    fn last_match(&self, path: &[&str]) -> Option<bool> {
        self.globs.iter().rev().find(|glob| glob.matches_path(path)).map(|glob| !glob.out)
    }

    fn accepts_path(&self, path: &[&str]) -> bool {
        self.last_match(path).unwrap_or_else(|| {
            let name = path.last().copied().unwrap_or_default();
            !self.globs.iter().any(|glob| !glob.out)
                && self.types.is_none_or(|globs| globs.iter().any(|one| glob::matches(one, name)))
        })
    }

    /// Whatever the globs name below a tree that nobody can look into.
    fn emit_anywhere(&self, out: &mut Emitter, tree: &Target, cwd: &str) {
        let root = tree.lexical.trim_end_matches('/');
        let inside = |dir: &str| dir == root || dir.starts_with(&format!("{root}/"));
        let mut add = |text: String, grade: Grade| {
            let (extent, text) = match text.strip_suffix("/**") {
                Some(dir) if !glob::has_active(dir) => (Extent::Tree, dir.to_string()),
                _ if glob::has_active(&text) => (Extent::Glob, text),
                _ => (Extent::Exact, text),
            };
            let target = Target { lexical: text.clone(), resolved: text, extent };
            out.push_effect(Word::Read, grade, Some(target), None, Source::Tool, 0..0);
        };
        let taken = self.globs.iter().filter(|glob| !glob.out);
        for glob in taken.clone().filter(|glob| glob.anchored && glob.parts[0] != "**") {
            // From where the client runs; below another tree it is the name that counts.
            match inside(cwd) {
                true => add(format!("{cwd}/{}", glob.parts.join("/")), Grade::Certain),
                false => add(format!("{root}/**"), Grade::Certain),
            }
        }
        let loose = taken.clone().filter(|glob| !glob.anchored || glob.parts[0] == "**");
        let loose = loose.map(|glob| glob.parts.join("/"));
        let types = self.types.filter(|_| taken.clone().next().is_none());
        let types = types.into_iter().flatten().map(|glob| (*glob).to_string());
        for glob in loose.chain(types) {
            let glob = glob.trim_start_matches("**/");
            add(format!("{root}/**/{glob}"), Grade::Certain);
            // With `--hidden` a wildcard takes the point as well.
            if glob.starts_with(['*', '?', '[']) && !glob.starts_with("**") {
                let rest = match glob.as_bytes()[0] {
                    b'*' => glob,
                    b'?' => &glob[1..],
                    _ => glob.split_once(']').map_or("*", |(_, rest)| rest),
                };
                add(format!("{root}/**/.{rest}"), Grade::Possible);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dry, effect, effect::Place, event::Kind};
    use serde_json::json;

    /// What a call reads of a small tree; `?` where it is only possible, `/` where the tree is read.
    fn reads(input: Json) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = crate::files::real_path(dir.path()).unwrap();
        for name in
            [".env", "a.rs", "k.pem", "src/.env", "src/b.rs", "src/d.py", ".git/config", "x/y/c.rs"]
        {
            let file = root.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let cwd = effect::windows::native_text(&root);
        let (_, event) =
            dry::parse_event(dry::tool_call_payload(Kind::PreToolUse, "Grep", input, &cwd), None);
        let place = Place { cwd: cwd.clone(), project: cwd.clone(), ..Place::default() };
        let mut all: Vec<String> = effect::analyse_event(&event, &place)
            .effects
            .iter()
            .map(|effect| {
                let target = effect.path.as_ref().unwrap();
                let below = target.lexical.strip_prefix(&cwd).unwrap().trim_start_matches('/');
                let maybe = if effect.grade == Grade::Possible { "?" } else { "" };
                let wide = if target.extent == Extent::Tree { "/" } else { "" };
                format!("{below}{wide}{maybe}")
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn grep_reads_what_its_globs_and_its_type_leave() {
        let all = ["/"];
        for (glob, read) in [
            ("*.rs", &["a.rs", "src/b.rs", "x/y/c.rs"][..]),
            (".env", &[".env", "src/.env"]),
            (".env*", &[".env", "src/.env"]),
            ("{.env,x}", &[".env", "src/.env"]),
            ("{.{env,x},*.{pem,key}}", &[".env", "k.pem", "src/.env"]),
            ("*env", &[".env", "src/.env"]),
            ("?env", &[".env", "src/.env"]),
            ("[.]env", &[".env", "src/.env"]),
            ("**/.env", &[".env", "src/.env"]),
            ("**/*.{pem,key}", &["k.pem"]),
            ("*.pem,.env", &[".env", "k.pem", "src/.env"]),
            ("*.pem *.py", &["k.pem", "src/d.py"]),
            ("src/*.rs", &["src/b.rs"]),
            ("/src/*.rs", &["src/b.rs"]),
            ("/a.rs", &["a.rs"]),
            ("src/**", &["src/.env", "src/b.rs", "src/d.py"]),
            ("x/**/*.rs", &["x/y/c.rs"]),
            ("*.rs !src", &["a.rs", "x/y/c.rs"]),
            ("*.rs !**/y/**", &["a.rs", "src/b.rs"]),
            ("!*.rs *.rs", &["a.rs", "src/b.rs", "x/y/c.rs"]),
            ("*.nothing", &[]),
            ("*", &all),
            ("**", &all),
            ("**/*", &all),
            ("*.rs,*", &all),
            ("", &all),
            ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", &all),
        ] {
            assert_eq!(reads(json!({ "pattern": "x", "glob": glob })), read, "{glob}");
        }
        // What is left out only narrows: nobody has asked for what is left.
        let left = reads(json!({ "pattern": "x", "glob": "!.env" }));
        assert!(left.contains(&"a.rs?".into()) && !left.iter().any(|one| one.contains(".env")));
        assert_eq!(reads(json!({ "pattern": "x", "type": "py" })), ["src/d.py"]);
        assert_eq!(reads(json!({ "pattern": "x", "type": "no-such-type" })), all);
        assert_eq!(
            reads(json!({ "pattern": "x", "type": "py", "glob": ".env" })),
            [".env", "src/.env"]
        );
        assert_eq!(reads(json!({ "pattern": "x", "glob": 1 })), all);
        assert_eq!(reads(json!({ "pattern": "x", "glob": "*.rs", "path": "src" })), ["src/b.rs"]);
        assert_eq!(reads(json!({ "pattern": "x", "glob": "*.rs", "path": ".env" })), [".env/"]);
    }
}
