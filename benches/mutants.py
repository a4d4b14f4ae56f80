#!/usr/bin/env python3
"""Mutation testing with one build: every mutant of a sample is compiled in behind a switch, and the tests run once for
each, with that one switched on. cargo-mutants (`.ci/run mutants`) builds anew for each; its operators are the same.

  mutants.py OUT [--sample 150] [--seed 1] [--only GLOB ...] [--list] [--lock COMMAND]

Copies the tree to OUT/tree, changes that, builds it with OUT/target or CARGO_TARGET_DIR, and writes OUT/mutants.jsonl:
one line for each mutant, with what became of it: killed (and by which test program), timeout, survived, or unbuilt. What it changes
and leaves alone is said in .cargo/mutants.toml, what it runs too. Needs tree-sitter and tree-sitter-rust (pip).
"""
import argparse
import collections
import fnmatch
import glob
import json
import os
import random
import re
import subprocess
import sys
import time
import tomllib

import tree_sitter
import tree_sitter_rust

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SWITCH = "crate::mutant_switch::is_on"
SWITCH_TEXT = '''//! The mutant that is switched on: its number stands in a file beside the tree, so that child processes see it, too.
/// Is it that one?
#[inline(never)]
pub fn is_on(number: u32) -> bool {
    static ACTIVE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let read = || std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/active-mutant"));
    *ACTIVE.get_or_init(|| read().ok().and_then(|text| text.trim().parse().ok()).unwrap_or(u32::MAX)) == number
}
'''
BINARY = {"==": "!=", "!=": "==", "&&": "||", "||": "&&", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "+"}
LANGUAGE = tree_sitter.Language(tree_sitter_rust.language())


def values(kind):
    """What a function of that type returns instead."""
    if kind is None:
        return [""]
    if kind == "bool":
        return ["true", "false"]
    if re.fullmatch(r"[ui](8|16|32|64|128|size)", kind):
        return ["0", "1"]
    if kind == "&str" or kind == "&'static str":
        return ['""']
    if kind == "String":
        return ["String::new()", '"xyzzy".to_string()']
    if kind.startswith("Option<"):
        return ["None"]
    if kind.startswith("Vec<"):
        return ["Vec::new()"]
    inner = re.match(r"(?:io::|std::io::)?Result<(.*)", kind)
    if inner:
        rest = inner.group(1)
        for head, text in (("()", "()"), ("bool", "true"), ("Option<", "None"), ("String", "String::new()"), ("Vec<", "Vec::new()")):
            if rest.startswith(head):
                return [f"Ok({text})"]
        return []
    if kind[0] in "&(![*" or kind.startswith(("impl", "dyn", "Self", "fn", "Box<dyn")):
        return []
    return ["Default::default()"]


class Finder:
    """The mutants of one file: what is put in where."""

    def __init__(self, name, text, excluded):
        self.name, self.text, self.excluded = name, text, excluded
        self.found = []
        self.walk(tree_sitter.Parser(LANGUAGE).parse(text).root_node, None)

    def source(self, node):
        return self.text[node.start_byte:node.end_byte].decode()

    def add(self, node, what, edits, function):
        said = f"{self.name}:{node.start_point[0] + 1}: {what}" + (f" in {function}" if function else "")
        if not self.excluded(said):
            self.found.append({"file": self.name, "line": node.start_point[0] + 1, "what": said, "edits": edits})

    def walk(self, node, function):
        attributes = []
        for child in node.children:
            if child.type == "attribute_item":
                attributes.append(self.source(child))
                continue
            if child.type in ("line_comment", "block_comment"):
                continue
            dropped = any(re.search(r"#\[(test|cfg\((test|not\(unix\)|windows|not\(test\)|any\(windows|target_os)|proptest)", one) for one in attributes)
            attributes = []
            if not dropped:
                self.visit(child, function)

    def visit(self, node, function):
        kind = node.type
        if kind in ("const_item", "static_item", "macro_invocation", "macro_definition", "attribute_item", "const_block"):
            return
        if kind in ("impl_item",) and re.match(r"impl(<[^{]*?>)? (fmt::)?(Display|Debug) for", self.source(node)):
            return
        if kind == "function_item":
            head = self.source(node).split("{", 1)[0]
            name = self.source(node.child_by_field_name("name"))
            if re.search(r"\bconst fn\b|\bunsafe\b|\bextern\b", head):
                return
            function = name
            body, result = node.child_by_field_name("body"), node.child_by_field_name("return_type")
            if body is not None and body.named_child_count:
                for value in values(self.source(result) if result is not None else None):
                    text = f" if {SWITCH}(@) {{ #[allow(unreachable_code)] {{ return {value}; }} }} "
                    self.add(node, f"replace {name} with {value or '()'}", [(body.start_byte + 1, body.start_byte + 1, text)], None)
        if kind == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = self.source(node.child_by_field_name("operator"))
            if operator in BINARY and "let " not in self.source(node):
                changed = f"({self.source(left)}) {BINARY[operator]} ({self.source(right)})"
                edits = [(node.start_byte, node.start_byte, f"(if {SWITCH}(@) {{ {changed} }} else {{ "), (node.end_byte, node.end_byte, " })")]
                self.add(node, f"replace {operator} with {BINARY[operator]} in `{self.source(node)[:60]}`", edits, function)
        if kind == "unary_expression" and self.source(node).startswith("!"):
            inner = self.source(node)[1:]
            edits = [(node.start_byte, node.start_byte, f"(if {SWITCH}(@) {{ {inner} }} else {{ "), (node.end_byte, node.end_byte, " })")]
            self.add(node, f"delete ! in `{self.source(node)[:60]}`", edits, function)
        if kind == "match_block":
            self.arms(node, function)
        self.walk(node, function)

    def arms(self, node, function):
        arms = [child for child in node.children if child.type == "match_arm"]
        patterns = [arm.child_by_field_name("pattern") for arm in arms]
        catch_all = bool(patterns) and self.source(patterns[-1]) == "_"
        for arm, pattern in zip(arms, patterns):
            condition = pattern.child_by_field_name("condition")
            if condition is not None:
                if condition.type.startswith("let"):
                    continue
                for value in ("true", "false"):
                    edits = [(condition.start_byte, condition.start_byte, f"(if {SWITCH}(@) {{ {value} }} else {{ "), (condition.end_byte, condition.end_byte, " })")]
                    self.add(arm, f"replace the guard `{self.source(condition)[:60]}` with {value}", edits, function)
            elif catch_all and arm is not arms[-1]:
                edits = [(pattern.end_byte, pattern.end_byte, f" if !{SWITCH}(@) ")]
                self.add(arm, f"delete the arm `{self.source(pattern)[:60]}`", edits, function)


def find(config, only):
    patterns = only or config["examine_globs"]
    names = sorted(name for name in subprocess.check_output(["git", "ls-files", "src"], cwd=TREE, text=True).splitlines()
                   if any(fnmatch.fnmatch(name, one.replace("**/", "*")) for one in patterns)
                   and not any(fnmatch.fnmatch(name, one.replace("**/", "*")) for one in config["exclude_globs"]))
    shapes = [re.compile(one) for one in config["exclude_re"]]
    found = []
    for name in names:
        with open(os.path.join(TREE, name), "rb") as read:
            found += Finder(name, read.read(), lambda said: any(shape.search(said) for shape in shapes)).found
    return found


def put(tree, names, mutants):
    """Writes these files with these mutants in them, each behind its number."""
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    for name in names:
        with open(os.path.join(TREE, name), "rb") as read:
            text = read.read()
        edits = [(start, end, new.replace("@", str(mutant["id"])).encode(), at)
                 for mutant in by_file[name] for at, (start, end, new) in enumerate(mutant["edits"])]
        # Of two at one place the outer one opens first and closes last.
        for start, end, new, _ in sorted(edits, key=lambda edit: (edit[0], edit[3]), reverse=True):
            text = text[:start] + new + text[end:]
        with open(os.path.join(tree, name), "wb") as out:
            out.write(text)


def copy(tree):
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=TREE)
    present = [name for name in files.decode().split("\0") if name and os.path.exists(os.path.join(TREE, name))]
    subprocess.run(["cp", "--parents", "-p", "-t", tree, *present], cwd=TREE, check=True)
    with open(os.path.join(tree, "src/mutant_switch.rs"), "w", encoding="utf-8") as write:
        write.write(SWITCH_TEXT)
    # The build's own script compiles some of the files as well: there nothing is switched on.
    for root, text in (("src/lib.rs", "pub mod mutant_switch;\n"),
                       ("build.rs", "mod mutant_switch { pub fn is_on(_: u32) -> bool { false } }\n")):
        with open(os.path.join(tree, root), "a", encoding="utf-8") as write:
            write.write(text)


def build(tree, arguments, env):
    done = subprocess.run(["cargo", *arguments, "--message-format=json"], cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    programs = [one["executable"] for one in messages if one.get("executable") and one.get("profile", {}).get("test")]
    errors = [one["message"] for one in messages if one.get("reason") == "compiler-message" and one["message"]["level"] == "error"]
    return done.returncode, programs, errors, done.stderr


def make(tree, alive, arguments, env):
    """Builds the tests with these mutants, without those that do not compile."""
    unbuilt, checked, names = [], False, {mutant["file"] for mutant in alive}
    while True:
        put(tree, names, alive)
        what = ["test", "--no-run", *arguments] if checked else ["check", "--lib"]
        status, programs, errors, told = build(tree, what, env)
        if status == 0 and checked:
            return alive, unbuilt, programs
        checked = status == 0
        bad = set()
        for error in errors:
            for span in error["spans"] + [span for child in error["children"] for span in child["spans"]]:
                for text in span["text"]:
                    bad |= {int(number) for number in re.findall(r"mutant_switch::is_on\((\d+)\)", text["text"])}
                if not bad:
                    bad |= {one["id"] for one in alive if one["file"] == span["file_name"]
                            and span["line_start"] - 3 <= one["line"] <= span["line_end"]}
        if status != 0 and not bad:
            sys.exit(told[-3000:] + "".join(error["rendered"] for error in errors[:3]))
        if bad:
            print(f"{len(bad)} do not build: {sorted(bad)}", flush=True)
        unbuilt += [mutant for mutant in alive if mutant["id"] in bad]
        alive = [mutant for mutant in alive if mutant["id"] not in bad]


def run(program, tree, limit):
    start = time.monotonic()
    child = subprocess.Popen([program, "--quiet"], cwd=tree, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        status = child.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.wait()
        status = None
    return status, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", action="store_true", help="only build")
    parser.add_argument("--run", action="store_true", help="only run what was built")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--tests", help="names of test programs, the cheapest first")
    options = parser.parse_args()
    with open(os.path.join(TREE, ".cargo/mutants.toml"), "rb") as read:
        config = tomllib.load(read)
    found = find(config, options.only)
    if options.list:
        print("\n".join(mutant["what"] for mutant in found), f"\n{len(found)} mutants")
        return 0
    random.Random(options.seed).shuffle(found)
    chosen = found[:options.sample]
    for number, mutant in enumerate(chosen):
        mutant["id"] = number
    out, tree = os.path.abspath(options.out), os.path.join(os.path.abspath(options.out), "tree")
    os.makedirs(tree, exist_ok=True)
    if not options.run:
        copy(tree)
    env = {"CARGO_TARGET_DIR": os.path.join(out, "target"), "CARGO_PROFILE_DEV_OPT_LEVEL": "0", **os.environ}
    arguments = options.tests.split() if options.tests else config["additional_cargo_test_args"]
    built = os.path.join(out, "built.json")
    if not options.run:
        alive, unbuilt, programs = make(tree, chosen, arguments, env)
        with open(built, "w", encoding="utf-8") as write:
            json.dump([alive, unbuilt, programs], write)
    if options.build:
        return 0
    with open(built, encoding="utf-8") as read:
        alive, unbuilt, programs = json.load(read)
    active = os.path.join(tree, "active-mutant")
    if os.path.exists(active):
        os.remove(active)
    times = {}
    for program in programs:
        status, times[program] = run(program, tree, 900)
        print(f"{os.path.basename(program)}: {times[program]:.1f} s, status {status}", flush=True)
        if status != 0:
            print("fails without any mutant: left out")
            del times[program]
    order = sorted(times, key=times.get)
    counts, start = collections.Counter(unbuilt=len(unbuilt)), time.monotonic()
    with open(os.path.join(out, "mutants.jsonl"), "w", encoding="utf-8") as write:
        for mutant in alive:
            if time.monotonic() - start > options.seconds:
                break
            with open(active, "w", encoding="utf-8") as switch:
                switch.write(str(mutant["id"]))
            became, by = "survived", ""
            for program in order:
                status, _ = run(program, tree, 60 + 5 * times[program])
                if status != 0:
                    became, by = "timeout" if status is None else "killed", os.path.basename(program)
                    break
            counts[became] += 1
            write.write(json.dumps({"what": mutant["what"], "became": became, "by": by}) + "\n")
            write.flush()
            if became != "killed":
                print(became, mutant["what"], flush=True)
    os.remove(active)
    tried = counts["killed"] + counts["timeout"] + counts["survived"]
    print(f"{dict(counts)}; of {tried} tried {counts['killed'] + counts['timeout']} were seen "
          f"({100 * (tried - counts['survived']) / max(tried, 1):.1f} %), a sample of {len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
