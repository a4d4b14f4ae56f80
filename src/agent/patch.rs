//! The patches of `apply_patch`, which several agents have as a tool, as the operations that they are.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fields::operation;
use crate::effect::patch::{Line, patched_files};
use crate::event::Operation;
use crate::limits::OPERATIONS;

/// One file's part of a patch.
struct Part<'t> {
    tool: &'static str,
    path: &'t str,
    target: Option<&'t str>,
    old: String,
    new: String,
}

impl<'t> Part<'t> {
    fn new(tool: &'static str, path: &'t str) -> Part<'t> {
        Part { tool, path, target: None, old: String::new(), new: String::new() }
    }

    fn take_text(&mut self, line: &str) {
        let rest = line.get(1..).unwrap_or_default();
        let (old, new) = match line.as_bytes().first() {
            Some(b'+') => (false, true),
            Some(b'-') => (true, false),
            Some(b' ') => (true, true),
            _ => return,
        };
        for (_, text) in
            [(old, &mut self.old), (new, &mut self.new)].into_iter().filter(|one| one.0)
        {
            text.push_str(rest);
            text.push('\n');
        }
    }

    fn into_operations(self) -> impl Iterator<Item = Operation> {
        let Part { tool, path, target, old, new } = self;
        let moved = target.map(|target| {
            [
                operation("Write", json!({ "file_path": target, "content": new.as_str() })),
                operation("Delete", json!({ "file_path": path })),
            ]
        });
        let input = match tool {
            "Write" => json!({ "file_path": path, "content": new }),
            "Edit" => json!({ "file_path": path, "old_string": old, "new_string": new }),
            _ => json!({ "file_path": path }),
        };
        std::iter::once(operation(tool, input)).chain(moved.into_iter().flatten())
    }
}

/// The operations of a patch by Claude Code's names: `Write` for a new file, `Edit` for a changed one, `Delete` for
/// one that goes. A file that only another form of patch names (a unified diff's) is an `Edit`. Nothing = it names
/// no file. Of more than are judged only one more is made.
pub fn patch_operations(text: &str) -> Vec<Operation> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for line in text.lines() {
        if parts.len() > OPERATIONS {
            return parts.into_iter().flat_map(Part::into_operations).collect();
        }
        match Line::read(line) {
            Line::Add(path) => parts.push(Part::new("Write", path)),
            Line::Update(path) => parts.push(Part::new("Edit", path)),
            Line::Delete(path) => parts.push(Part::new("Delete", path)),
            Line::Move(path) => {
                if let Some(part) = parts.last_mut() {
                    part.target = Some(path);
                }
            }
            Line::Text(line) => {
                if let Some(part) = parts.last_mut() {
                    part.take_text(line);
                }
            }
        }
    }
    let known: BTreeSet<&str> =
        parts.iter().flat_map(|part| [Some(part.path), part.target]).flatten().collect();
    let other = |path: &String| !known.contains(path.as_str());
    let others: Vec<String> = patched_files(text, None).into_iter().filter(other).collect();
    let others = others.into_iter().map(|path| {
        operation("Edit", json!({ "file_path": path, "old_string": "", "new_string": "" }))
    });
    parts.into_iter().flat_map(Part::into_operations).chain(others).collect()
}

/// The operations of a call of a tool `own` that takes a patch, in whatever field. What is in no patch that can be
/// read stays a call of that tool, and is judged as that of any unknown tool is.
pub fn call_operations(own: &str, input: Value) -> Vec<Operation> {
    let texts = texts_in(&input);
    let mut all: Vec<Operation> = texts.iter().flat_map(|text| patch_operations(text)).collect();
    if all.is_empty() || texts.iter().any(|text| holds_unknown_parts(text)) {
        all.push(operation(own, input));
    }
    all
}

/// The operations of the patches in these fields.
pub fn field_operations<'v>(fields: impl Iterator<Item = &'v Value>) -> Vec<Operation> {
    fields.flat_map(texts_in).flat_map(patch_operations).collect()
}

/// Every text in a value, however deep.
fn texts_in(value: &Value) -> Vec<&str> {
    let (mut found, mut todo) = (Vec::new(), vec![value]);
    while let Some(value) = todo.pop() {
        match value {
            Value::String(text) => found.push(text.as_str()),
            Value::Array(all) => todo.extend(all.iter().rev()),
            Value::Object(map) => todo.extend(map.values().rev()),
            _ => {}
        }
    }
    found
}

/// Is there a part whose header says something that is not known?
fn holds_unknown_parts(text: &str) -> bool {
    text.lines().any(|line| {
        let known = ["*** Begin Patch", "*** End Patch", "*** End of File"];
        line.starts_with("*** ")
            && matches!(Line::read(line), Line::Text(_))
            && !known.contains(&line.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_an_operation() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.rs\n*** Move to: c.rs\n\
                     @@ fn x\n same\n-old\n+new\n*** Delete File: d\n*** End Patch\n";
        let found = patch_operations(patch);
        let found: Vec<_> =
            found.iter().map(|one| (one.tool.as_str(), one.input.clone())).collect();
        assert_eq!(
            found,
            [
                ("Write", json!({ "file_path": "a.txt", "content": "one\ntwo\n" })),
                (
                    "Edit",
                    json!({ "file_path": "b.rs", "old_string": "same\nold\n", "new_string": "same\nnew\n" })
                ),
                ("Write", json!({ "file_path": "c.rs", "content": "same\nnew\n" })),
                ("Delete", json!({ "file_path": "b.rs" })),
                ("Delete", json!({ "file_path": "d" })),
            ]
        );
        let unified = patch_operations("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(unified.iter().map(|one| one.tool.as_str()).collect::<Vec<_>>(), ["Edit"]);
        assert_eq!(patch_operations("nothing"), []);
    }
}
