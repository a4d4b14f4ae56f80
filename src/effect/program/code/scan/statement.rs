//! Statements: loops and operators.

use super::*;

impl Scan<'_, '_> {
    /// A statement is complete: what it assigned is bound.
    pub(super) fn statement(&mut self, c: &Cursor, line: &mut Line) {
        self.looped(c, line);
        let merge = self.depth > self.base + 1 || line.guarded;
        let right = std::mem::take(&mut line.right);
        if !line.assign.is_empty() {
            let targets = std::mem::take(&mut line.assign);
            let val = match right.len() {
                0 => Val::Unknown,
                1 => right[0].clone(),
                _ => Val::list(right),
            };
            if line.before.is_empty() {
                for target in &targets {
                    let val = match target {
                        Target::Name(name) if line.append => {
                            let old = self.env.get(name).cloned().unwrap_or(Val::Unknown);
                            if merge { old.join(&Val::Unknown, "") } else { old.join(&val, "") }
                        }
                        _ => val.clone(),
                    };
                    self.assign(c.tokens, target, &val, merge);
                }
            } else {
                line.before.extend(targets);
                for (i, target) in std::mem::take(&mut line.before).iter().enumerate() {
                    self.assign(c.tokens, target, &part(&val, i), merge);
                }
            }
        }
        line.before.clear();
        line.append = false;
        line.noted = Target::None;
        line.last = Target::None;
        line.ternary = 0;
    }

    /// A loop's list is complete: its variables are bound to what is in it.
    pub(super) fn looped(&mut self, c: &Cursor, line: &mut Line) {
        if line.loops.is_empty() {
            return;
        }
        let loops = std::mem::take(&mut line.loops);
        let val = line.value().unwrap_or(Val::Unknown).element();
        if let [one] = &loops[..] {
            self.assign(c.tokens, one, &val, false);
        } else {
            for (i, target) in loops.iter().enumerate() {
                self.assign(c.tokens, target, &part(&val, i), false);
            }
        }
    }

    /// An operator; false = the group ends here.
    pub(super) fn operator(
        &mut self,
        c: &mut Cursor,
        text: &str,
        line: &mut Line,
        args: &mut Vec<Arg>,
        stop: Stop,
        params: &Val,
    ) -> bool {
        let bracket = match stop {
            Stop::Bracket(b) => b,
            _ => 0,
        };
        c.at += 1;
        match text {
            "," => self.comma(c, line, args, stop),
            "=" | "+=" => {
                let keyed = match self.lang {
                    Lang::Python | Lang::R => bracket == b'(',
                    Lang::Lua => bracket == b'{',
                    _ => false,
                } && c.tokens[c.at - 1].text == "=";
                let mut target = std::mem::replace(&mut line.last, Target::None);
                if let Target::None = target {
                    target = std::mem::replace(&mut line.noted, Target::None);
                }
                if keyed {
                    if let Target::Name(name) = target {
                        line.key = Some(name);
                    }
                } else {
                    if bracket != 0 && line.assign.is_empty() && self.lang != Lang::Python {
                        line.before.clear();
                    }
                    line.append = text == "+=";
                    line.assign.push(target);
                }
                line.drop();
                line.alts.clear();
            }
            "&&" => line.drop(),
            "||" | "??" => {
                let left = line.cur.take();
                line.alts.extend(left);
                line.op = None;
            }
            "//" if self.lang == Lang::Perl => {
                let left = line.cur.take();
                line.alts.extend(left);
            }
            "?" => {
                line.drop();
                line.ternary += 1;
            }
            ":" if line.ternary > 0 => {
                line.ternary -= 1;
                let left = line.cur.take();
                line.alts.extend(left);
                line.op = None;
            }
            ":" => {
                self.looped(c, line);
                line.noted = std::mem::replace(&mut line.last, Target::None);
                let cur = line.value();
                if bracket == b'{' || bracket == b'(' {
                    line.key = match (&line.noted, cur) {
                        (_, Some(Val::Text(text))) => Some(text.to_string()),
                        (Target::Name(name), _) => Some(name.clone()),
                        _ => Some(String::new()),
                    };
                }
                if bracket == 0 && self.lang == Lang::Python {
                    line.guarded = true;
                }
            }
            "=>" if self.lang == Lang::Js => {
                let target = std::mem::replace(&mut line.last, Target::None);
                let val = match target {
                    Target::Group(..) => Val::list(vec![params.clone()]),
                    _ => params.clone(),
                };
                self.assign(c.tokens, &target, &val, false);
                line.drop();
            }
            "=>" => {
                let last = std::mem::replace(&mut line.last, Target::None);
                line.key = match (line.value(), last) {
                    (Some(Val::Text(text)), _) => Some(text.to_string()),
                    (_, Target::Name(name)) => Some(name),
                    _ => Some(String::new()),
                };
            }
            "|>" => {}
            "&" if line.cur.is_none() => line.block = true,
            "|" if line.cur.is_none() && self.lang == Lang::Ruby && bracket == b'{' => {
                c.at -= 1;
                self.block_params(c, params);
            }
            JOIN => line.op = Some(JOIN),
            "/" => line.op = Some("/"),
            "." => {
                // `$x->[0]`, `f.()`: the value goes on behind it.
            }
            "=~" if self.lang == Lang::Perl => line.drop(),
            "!" | "-" | "*" | "~" | "..." | "**" | "@" | "+" if line.cur.is_none() => {}
            "%" if line.cur.as_ref().is_some_and(|v| matches!(v, Val::Text(_))) => {
                // `"rm %s" % x`: the text up to its first place holder.
                let left = line.cur.take().unwrap_or(Val::Unknown);
                let (val, _) = self.primary_or_none(c, params);
                let given = match val {
                    Val::List(_, items) => items.to_vec(),
                    one => vec![one],
                };
                line.cur = Some(template(&left, &given));
                line.op = None;
            }
            _ => line.op = Some("?"),
        }
        true
    }
}
