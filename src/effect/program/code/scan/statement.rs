//! Statements: loops and operators.

use super::*;

impl Scan<'_, '_> {
    /// A statement is complete: what it assigned is bound.
    pub(super) fn finish_statement(&mut self, c: &Cursor, line: &mut StatementState) {
        self.bind_loop_variables(c, line);
        let merge = self.depth > self.base + 1 || line.guarded;
        let mut right = std::mem::take(&mut line.right);
        if !line.assign.is_empty() {
            let targets = std::mem::take(&mut line.assign);
            let val = match right.len() {
                0 => Val::Unknown,
                1 => right.remove(0),
                _ => Val::list(right),
            };
            self.bind_all(c, line, targets, val, merge);
        }
        line.before.clear();
        line.append = false;
        line.noted = AssignTarget::None;
        line.last = AssignTarget::None;
        line.ternary = 0;
    }

    /// What is assigned, to one name after another or to several at once.
    fn bind_all(
        &mut self,
        c: &Cursor,
        line: &mut StatementState,
        targets: Vec<AssignTarget>,
        val: Val,
        merge: bool,
    ) {
        if !line.before.is_empty() {
            line.before.extend(targets);
            for (i, target) in std::mem::take(&mut line.before).iter().enumerate() {
                self.assign_target(c.tokens, target, &part_at(&val, i), merge);
            }
            return;
        }
        for target in &targets {
            let val = match target {
                AssignTarget::Name(name) if line.append => {
                    let old = self.env.get(name).cloned().unwrap_or(Val::Unknown);
                    old.join(if merge { &Val::Unknown } else { &val }, "")
                }
                // A count, most of the time.
                AssignTarget::Entry(..) if line.append => continue,
                _ => val.clone(),
            };
            self.assign_target(c.tokens, target, &val, merge);
        }
    }

    /// A loop's list is complete: its variables are bound to what is in it.
    pub(super) fn bind_loop_variables(&mut self, c: &Cursor, line: &mut StatementState) {
        if line.loops.is_empty() {
            return;
        }
        let loops = std::mem::take(&mut line.loops);
        let val = line.take_value().unwrap_or(Val::Unknown).loop_element();
        if let [one] = &loops[..] {
            self.assign_target(c.tokens, one, &val, false);
        } else {
            for (i, target) in loops.iter().enumerate() {
                self.assign_target(c.tokens, target, &part_at(&val, i), false);
            }
        }
    }

    /// An operator.
    pub(super) fn scan_operator(
        &mut self,
        c: &mut Cursor,
        text: &str,
        line: &mut StatementState,
        args: &mut Vec<CallArg>,
        stop: GroupEnd,
        params: &Val,
    ) {
        let bracket = match stop {
            GroupEnd::Bracket(b) | GroupEnd::Part(b) => b,
            _ => 0,
        };
        c.at += 1;
        match text {
            "," => self.finish_value(c, line, args, stop),
            "=" | "+=" => self.assigns(c, text, line, bracket),
            "&&" => line.drop_value(),
            "||" | "??" => {
                line.or();
                line.op = None;
            }
            "//" if self.lang == Lang::Perl => line.or(),
            "?" => {
                line.drop_value();
                line.ternary += 1;
            }
            ":" => self.colon(c, line, bracket),
            "=>" => self.arrow(c, line, params),
            "&" if line.cur.is_none() => line.block = true,
            "|" if line.cur.is_none() && self.lang == Lang::Ruby && bracket == b'{' => {
                c.at -= 1;
                self.block_params(c, params);
            }
            JOIN => line.op = Some(JOIN),
            "/" => line.op = Some("/"),
            // `$x->[0]`, `f.()`: the value goes on behind it.
            "|>" | "." => {}
            "=~" if self.lang == Lang::Perl => line.drop_value(),
            "*" | "**" | "..." if line.cur.is_none() => {
                line.spread = matches!(bracket, b'(' | b'[') && self.lang != Lang::R;
            }
            "!" | "-" | "~" | "@" | "+" if line.cur.is_none() => {}
            "%" if matches!(line.cur, Some(Val::Text(_))) => self.format(c, line, params),
            _ => line.op = Some("?"),
        }
    }

    /// `=` and `+=`: a named argument, or an assignment.
    fn assigns(&mut self, c: &Cursor, text: &str, line: &mut StatementState, bracket: u8) {
        let keyed = match self.lang {
            Lang::Python | Lang::R => bracket == b'(',
            Lang::Lua => bracket == b'{',
            _ => false,
        };
        let mut target = std::mem::replace(&mut line.last, AssignTarget::None);
        if let AssignTarget::None = target {
            target = std::mem::replace(&mut line.noted, AssignTarget::None);
        }
        if keyed && c.tokens[c.at - 1].text == "=" {
            if let AssignTarget::Name(name) = target {
                line.key = Some(name);
            }
        } else {
            if bracket != 0 && line.assign.is_empty() && self.lang != Lang::Python {
                line.before.clear();
            }
            line.append = text == "+=";
            line.assign.push(target);
        }
        line.drop_value();
        line.alts.clear();
    }

    /// `:` of a condition, behind a key, or before a block.
    fn colon(&mut self, c: &Cursor, line: &mut StatementState, bracket: u8) {
        if line.ternary > 0 {
            line.ternary -= 1;
            line.or();
            line.op = None;
            return;
        }
        self.bind_loop_variables(c, line);
        line.noted = std::mem::replace(&mut line.last, AssignTarget::None);
        let cur = line.take_value();
        if matches!(bracket, b'{' | b'(') {
            line.key = Some(key(cur, &line.noted, self.lang));
        }
        if bracket == 0 && self.lang == Lang::Python {
            line.guarded = true;
        }
    }

    /// `=>`: the parameters of a function (JavaScript), or behind a key.
    fn arrow(&mut self, c: &Cursor, line: &mut StatementState, params: &Val) {
        let target = std::mem::replace(&mut line.last, AssignTarget::None);
        if self.lang != Lang::Js {
            line.key = Some(key(line.take_value(), &target, self.lang));
            return;
        }
        let val = match target {
            AssignTarget::Group(..) => Val::list(vec![params.clone()]),
            _ => params.clone(),
        };
        self.assign_target(c.tokens, &target, &val, false);
        line.drop_value();
    }

    /// `"rm %s" % x`: the text with what stands behind it in its places.
    fn format(&mut self, c: &mut Cursor, line: &mut StatementState, params: &Val) {
        let left = line.cur.take().unwrap_or(Val::Unknown);
        let (val, _) = self.primary_or_none(c, params);
        let given = match val {
            Val::List(_, items) => items.to_vec(),
            one => vec![one],
        };
        line.cur = Some(fill_template(&left, &given));
        line.op = None;
    }
}

/// The name of an entry: a text, or a name that stands for itself.
fn key(val: Option<Val>, target: &AssignTarget, lang: Lang) -> String {
    match (val, target) {
        (Some(Val::Text(text)), _) => text.to_string(),
        (Some(val @ (Val::Path(_) | Val::Glob(_))), _) if lang == Lang::Python => val.as_key(),
        (_, AssignTarget::Name(name)) => name.clone(),
        _ => String::new(),
    }
}
