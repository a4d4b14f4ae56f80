#!/usr/bin/env python3
"""Mutation testing with one build: every mutant of a sample is compiled in behind a switch, and the tests run once for
each, with that one switched on. cargo-mutants (`.ci/run mutants`) builds anew for each; its operators are the same.

  mutants.py OUT [--sample 150] [--seed 1] [--only GLOB ...] [--list] [--lock COMMAND] [--again] [--jobs N]

Copies the tree to OUT/tree, changes that, builds it with OUT/target or CARGO_TARGET_DIR, and writes OUT/mutants.jsonl:
one line for each mutant, with what became of it: killed (and by which test program), timeout, survived, or unbuilt. What it changes
and leaves alone is said in .cargo/mutants.toml, what it runs too. Needs tree-sitter and tree-sitter-rust (pip), and mounts of its
own for more than one job: each job has another mutant switched on in the same tree.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import fnmatch
import glob
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

import tree_sitter
import tree_sitter_rust

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SWITCH = "crate::mutant_switch::is_on"
SWITCH_TEXT = '''//! The mutant that is switched on: its number stands in a file beside the tree, so that child processes see it, too.
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, OnceLock};

enum Asked {
    One(u32),
    /// None is switched on: the numbers of those that this process comes by are written there.
    Reached(String, Mutex<BTreeSet<u32>>),
}

/// Is it that one?
#[inline(never)]
pub fn is_on(number: u32) -> bool {
    static ASKED: OnceLock<Asked> = OnceLock::new();
    match ASKED.get_or_init(read) {
        Asked::One(active) => *active == number,
        Asked::Reached(path, seen) => {
            if seen.lock().is_ok_and(|mut seen| seen.insert(number)) {
                let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
                let _ = file.and_then(|mut file| file.write_all(format!("{number}\\n").as_bytes()));
            }
            false
        }
    }
}

fn read() -> Asked {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/active-mutant")).unwrap_or_default();
    match text.strip_prefix("reached ") {
        Some(path) => Asked::Reached(path.to_string(), Mutex::default()),
        None => Asked::One(text.trim().parse().unwrap_or(u32::MAX)),
    }
}
'''
# It holds what the build made against what the library makes: of a change in both it would see nothing.
AGREES = "the_build_and_the_reader_agree"
OWN_MOUNTS = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
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
                    text = f" if {SWITCH}(\0) {{ #[allow(unreachable_code)] {{ return {value}; }} }} "
                    self.add(node, f"replace {name} with {value or '()'}", [(body.start_byte + 1, body.start_byte + 1, text)], None)
        if kind == "binary_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = self.source(node.child_by_field_name("operator"))
            if operator in BINARY and "let " not in self.source(node):
                changed = f"({self.source(left)}) {BINARY[operator]} ({self.source(right)})"
                edits = [(node.start_byte, node.start_byte, f"(if {SWITCH}(\0) {{ {changed} }} else {{ "), (node.end_byte, node.end_byte, " })")]
                self.add(node, f"replace {operator} with {BINARY[operator]} in `{self.source(node)[:60]}`", edits, function)
        if kind == "unary_expression" and self.source(node).startswith("!"):
            inner = self.source(node)[1:]
            edits = [(node.start_byte, node.start_byte, f"(if {SWITCH}(\0) {{ {inner} }} else {{ "), (node.end_byte, node.end_byte, " })")]
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
                    edits = [(condition.start_byte, condition.start_byte, f"(if {SWITCH}(\0) {{ {value} }} else {{ "), (condition.end_byte, condition.end_byte, " })")]
                    self.add(arm, f"replace the guard `{self.source(condition)[:60]}` with {value}", edits, function)
            elif catch_all and arm is not arms[-1]:
                edits = [(pattern.end_byte, pattern.end_byte, f" if !{SWITCH}(\0) ")]
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


def draw(found, count, seed):
    """A sample that stays nearly the same when lines of the code move: each mutant's place is drawn from its own text."""
    same = collections.Counter()
    for mutant in found:
        text = re.sub(r":\d+: ", ": ", mutant["what"], count=1)
        same[text] += 1
        mutant["said"] = f"{text} #{same[text]}"
    return sorted(found, key=lambda one: hashlib.sha256(f"{seed} {one['said']}".encode()).digest())[:count]


def put(tree, names, mutants):
    """Writes these files with these mutants in them, each behind its number."""
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    for name in names:
        with open(os.path.join(TREE, name), "rb") as read:
            text = read.read()
        placed = []
        for mutant in by_file[name]:
            first, last = mutant["edits"][0][0], mutant["edits"][-1][1]
            for at, (start, end, new) in enumerate(mutant["edits"]):
                # Of two at one place the outer one opens first and closes last; what ends there does so before others begin.
                closes = at > 0
                order = (start, 0, -first, -mutant["id"]) if closes else (start, 1, -last, mutant["id"])
                placed.append((order, start, end, new.replace("\0", str(mutant["id"])).encode()))
        for _, start, end, new in sorted(placed, reverse=True):
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


def build(tree, lock, arguments, env):
    done = subprocess.run([*lock, "cargo", *arguments, "--message-format=json"], cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    programs = [one["executable"] for one in messages if one.get("executable") and one.get("profile", {}).get("test")]
    errors = [one["message"] for one in messages if one.get("reason") == "compiler-message" and one["message"]["level"] == "error"]
    return done.returncode, programs, errors, done.stderr


def make(tree, lock, alive, arguments, env):
    """Builds the tests with these mutants, without those that do not compile."""
    unbuilt, checked, names = [], False, {mutant["file"] for mutant in alive}
    while True:
        put(tree, names, alive)
        what = ["test", "--no-run", *arguments] if checked else ["check", "--lib"]
        status, programs, errors, told = build(tree, lock, what, env)
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


class Job:
    """Runs tests of one tree with the mutant that is switched on for it alone."""

    def __init__(self, tree, number, alone):
        self.tree, active = tree, os.path.join(tree, "active-mutant")
        self.switch_file = active if alone else f"{active}-{number}"
        self.reached = os.path.join(tree, f"reached-mutants-{os.getpid()}-{number}")
        # The file that the tests read is this job's own one: so it is for what they start, whatever environment they give it.
        self.start = [] if alone else [*OWN_MOUNTS, 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "job", self.switch_file, active]
        self.switch("none")

    def switch(self, text):
        with open(self.switch_file, "w", encoding="utf-8") as write:
            write.write(text)

    def run(self, limit, program, *arguments):
        """Runs tests for at most so many seconds: the status (None: too long), what they took, and which of them failed."""
        def bounds():
            # The processor's time is what a busy machine does not lengthen; an endless list ends before the memory does.
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 1))
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        start = time.monotonic()
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen([*self.start, program, *arguments], cwd=self.tree, stdin=subprocess.DEVNULL, stdout=said,
                                     stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=bounds)
            try:
                status = child.wait(3 * limit + 30)
            except subprocess.TimeoutExpired:
                status = None
            # What a killed test started ends, too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, 9)
            child.wait()
            said.seek(0)
            text = said.read().decode(errors="replace")
        if status in (-signal.SIGXCPU, -signal.SIGKILL):
            status = None
        return status, time.monotonic() - start, re.findall(r"^test (\S+)(?: - should panic)? *\.\.\. FAILED", text, re.M)

    def learn(self, program, name):
        """Runs one test with no mutant on: what it took and which mutants it came by; None where it fails without any."""
        for _ in range(2):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.reached)
            self.switch(f"reached {self.reached}")
            status, took, _ = self.run(300, program, "--exact", name)
            if status == 0:
                break
        else:
            return None
        if not os.path.exists(self.reached):
            return took, []
        with open(self.reached, encoding="utf-8") as read:
            return took, sorted({int(line) for line in read if line.strip()})


def jobs(tree, wanted):
    """So many jobs; one where mounts of one's own cannot be had."""
    with open(os.path.join(tree, "active-mutant"), "w", encoding="utf-8") as write:
        write.write("none")
    possible = wanted > 1 and subprocess.run([*OWN_MOUNTS, "true"], check=False).returncode == 0
    return [Job(tree, number, not possible) for number in range(wanted if possible else 1)]


def shared_with_build():
    """The files of the library that the build's own script compiles as well: there no mutant is put in."""
    found = set()
    for name in glob.glob(os.path.join(TREE, "build", "*.rs")) + [os.path.join(TREE, "build.rs")]:
        with open(name, encoding="utf-8") as read:
            found |= set(re.findall(r'#\[path = "(?:\.\./)?(src/[^"]+)"\]', read.read()))
    return found


class Tests:
    """Every test by itself: which mutants it comes by, what it takes, and whether it was one that killed."""

    def __init__(self, workers, known):
        self.workers, self.known = workers, known
        self.kills = collections.Counter()
        self.built = shared_with_build()
        self.lock = threading.Lock()

    def each(self, does, items):
        """Does it for each of them, with a job that nobody else has; in the order in which they end."""
        free = list(self.workers)

        def one(item):
            job = free.pop()
            try:
                return item, does(job, item)
            finally:
                free.append(job)

        with concurrent.futures.ThreadPoolExecutor(len(free)) as pool:
            yield from (done.result() for done in concurrent.futures.as_completed([pool.submit(one, item) for item in items]))

    def learn(self, programs):
        """Runs every test once with no mutant on. A mutant that a test does not come by cannot change what it says."""
        start, tests = time.monotonic(), []
        for program in programs:
            listed = subprocess.run([program, "--list"], cwd=self.workers[0].tree, stdout=subprocess.PIPE, text=True, check=True).stdout
            many = "[FILTERS" in subprocess.run([program, "--help"], cwd=self.workers[0].tree, stdout=subprocess.PIPE, text=True, check=True).stdout
            tests += [(program, name, many) for name in re.findall(r"^(.*): test$", listed, re.M)]
        for (program, name, many), learned in self.each(lambda job, test: job.learn(*test[:2]), tests):
            if learned is None:
                print(f"fails without any mutant, left out: {name} of {os.path.basename(program)}", flush=True)
            else:
                self.known.append({"program": program, "name": name, "many": many, "took": learned[0], "reached": learned[1]})
        print(f"{len(self.known)} tests in {time.monotonic() - start:.0f} s", flush=True)

    def batches(self, mutant):
        """The tests that come by it, first what kills most in a second, in runs that grow."""
        blind = AGREES if mutant["file"] in self.built else "\0"
        asked = [test for test in self.known if mutant["id"] in test["reached"] and blind not in test["name"]]
        with self.lock:
            asked.sort(key=lambda one: (one["took"] + 0.05) / (1 + self.kills[one["program"], one["name"]]))
        bound, taken, batch = 0.5, 0.0, collections.defaultdict(list)
        for test in asked:
            batch[test["program"] if test["many"] else (test["program"], test["name"])].append(test)
            taken += test["took"]
            if taken > bound:
                yield from batch.values()
                bound, taken, batch = 2 * bound, 0.0, collections.defaultdict(list)
        yield from batch.values()

    def judge(self, job, mutant):
        """What becomes of it, by which program and tests; of survivors those that failed but not always."""
        doubtful, count = [], 0
        for batch in self.batches(mutant):
            count += len(batch)
            program, names, limit = batch[0]["program"], [one["name"] for one in batch], 10 + 5 * sum(one["took"] for one in batch)
            job.switch(str(mutant["id"]))
            status, _, failed = job.run(limit, program, "--exact", *names)
            if status == 0:
                continue
            by = failed[:3] or names
            # It is the mutant that it fails by: with it it fails again, and without it it does not.
            again = job.run(limit, program, "--exact", *by)[0]
            job.switch("none")
            if again != 0 and job.run(limit, program, "--exact", *by)[0] == 0:
                with self.lock:
                    self.kills[program, by[0]] += 1
                return "timeout" if status is None else "killed", os.path.basename(program), by, count
            doubtful += by
        return "survived" if count else "unreached", "", doubtful, count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--sample", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--lock", default="", help="a command that cargo is run by, as one that waits its turn")
    parser.add_argument("--build", action="store_true", help="only build")
    parser.add_argument("--run", action="store_true", help="only run what was built")
    parser.add_argument("--again", action="store_true", help="of the run before only what survived")
    parser.add_argument("--learned", action="store_true", help="which test comes by what is known from the run before")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--tests", help="names of test programs, the cheapest first")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many mutants at once")
    options = parser.parse_args()
    with open(os.path.join(TREE, ".cargo/mutants.toml"), "rb") as read:
        config = tomllib.load(read)
    found = find(config, options.only)
    if options.list:
        print("\n".join(mutant["what"] for mutant in found), f"\n{len(found)} mutants")
        return 0
    chosen = draw(found, options.sample, options.seed)
    for number, mutant in enumerate(chosen):
        mutant["id"] = number
    out, tree = os.path.abspath(options.out), os.path.join(os.path.abspath(options.out), "tree")
    os.makedirs(tree, exist_ok=True)
    if not options.run:
        copy(tree)
    env = {"CARGO_TARGET_DIR": os.path.join(out, "target"), **os.environ}
    arguments = options.tests.split() if options.tests else config["additional_cargo_test_args"]
    built = os.path.join(out, "built.json")
    if not options.run:
        alive, unbuilt, programs = make(tree, options.lock.split(), chosen, arguments, env)
        with open(built, "w", encoding="utf-8") as write:
            json.dump([alive, unbuilt, programs], write)
    if options.build:
        return 0
    with open(built, encoding="utf-8") as read:
        alive, unbuilt, programs = json.load(read)
    learned = os.path.join(out, "tests.json")
    tests = Tests(jobs(tree, options.jobs), [])
    if options.learned:
        with open(learned, encoding="utf-8") as read:
            tests.known = json.load(read)
    else:
        tests.learn(programs)
        with open(learned, "w", encoding="utf-8") as write:
            json.dump(tests.known, write)
    counts, start = collections.Counter(unbuilt=len(unbuilt)), time.monotonic()
    lines, seen = os.path.join(out, "mutants.jsonl"), {}
    if options.again:
        with open(lines, encoding="utf-8") as read:
            seen = {one["said"]: one for one in map(json.loads, read) if one["became"] in ("killed", "timeout")}
    with open(lines, "w", encoding="utf-8") as write:
        def judged(job, mutant):
            line = seen.get(mutant["said"])
            if line is not None or time.monotonic() - start > options.seconds:
                return line
            became, by, failed, ran = tests.judge(job, mutant)
            if became != "killed" or options.again:
                print(became, mutant["id"], mutant["what"], by, flush=True)
            return {"id": mutant["id"], "what": mutant["what"], "said": mutant["said"], "became": became, "by": by, "tests": failed, "ran": ran}

        for _, line in tests.each(judged, alive):
            if line is not None:
                counts[line["became"]] += 1
                write.write(json.dumps(line) + "\n")
                write.flush()
    seen = counts["killed"] + counts["timeout"]
    tried = seen + counts["survived"] + counts["unreached"]
    print(f"{dict(counts)}; of {tried} tried {seen} were seen ({100 * seen / max(tried, 1):.1f} %), a sample of {len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
