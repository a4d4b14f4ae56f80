//! What a human is told of a call beside its own text, of which all is the agent's: what it would do, by its
//! effects, the gravest first.

use crate::effect::{Analysis, Effect, Grade, Word};
use crate::limits;
use crate::redact;
use crate::text;

/// The effects in one text: `delete /srv/x (tree); execute rm`.
pub fn describe_effects(analysis: &Analysis) -> String {
    let mut effects: Vec<&Effect> = analysis.effects.iter().collect();
    crate::order::sort_by_key(&mut effects, |effect| effect_rank(effect));
    let mut all: Vec<String> = Vec::new();
    for effect in effects {
        let one = told_one(analysis, effect);
        if !all.contains(&one) {
            all.push(one);
        }
    }
    let more = all.len().saturating_sub(limits::TOLD_EFFECTS);
    all.truncate(limits::TOLD_EFFECTS);
    match (all.is_empty(), more) {
        (true, _) => "no effect is known".into(),
        (_, 0) => all.join("; "),
        (_, more) => format!("{} [{more} more effects]", all.join("; ")),
    }
}

/// What is done comes before what is looked at, and that before the programs that do it.
fn effect_rank(effect: &Effect) -> u8 {
    match effect.word {
        Word::Execute if effect.grade != Grade::Unknown => 3,
        Word::Read => 2,
        word if !word.is_grave() => 1,
        _ => 0,
    }
}

fn told_one(analysis: &Analysis, effect: &Effect) -> String {
    let program = || analysis.commands.get(effect.command?).map(|command| command.name.clone());
    let object = match (effect.grade, effect.object_text(), effect.word) {
        (_, Some(object), _) => quote_object(&object),
        (Grade::Unknown, ..) => " what is not known".into(),
        (_, None, Word::Execute) => program().map_or_else(String::new, |name| quote_object(&name)),
        _ => String::new(),
    };
    let perhaps = if effect.grade == Grade::Certain { "" } else { "perhaps " };
    let one = format!("{perhaps}{}{object}", effect.word.text());
    text::cut(&one, limits::TOLD_EFFECT).into_owned()
}

/// What the agent calls it, so that it cannot pass for the effect behind it, nor for the end of them.
fn quote_object(object: &str) -> String {
    let object = redact::mask_secrets(object);
    match object.contains([';', '[', ']', '"', '\n', '\t']) {
        true => format!(" {object:?}"),
        false => format!(" {object}"),
    }
}
