//! The commands of conditions: `when = { run }` of rules and of their `unless`, asked after everything
//! else holds, of each part of a match that they could tell apart.

use std::time::Duration;

use super::{Judge, PendingEnd};
use crate::act::{Job, Outcome};
use crate::effect::Analysis;
use crate::engine::{Match, MatchPart};
use crate::event::Event;
use crate::limits;
use crate::rule::template::PlaceholderName;
use crate::rule::{Command, Rule};
use crate::verdict::Verb;

/// A question to a command, and what it said: None = it could not tell.
pub(super) struct CommandQuestion {
    job: Job,
    limit: Option<Duration>,
    holds: Option<bool>,
}

/// Whose command it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// `when`: where it does not hold, neither does the rule.
    Rule,
    /// `unless`: where it holds, the rule does not.
    Unless,
}

/// Which part of which match hangs on which answer.
struct PartQuestion {
    at: usize,
    part: MatchPart,
    whose: Whose,
    /// Among `asked`; None = too many.
    answer: Option<usize>,
}

impl Judge<'_> {
    /// Takes away what does not hold after all: parts of matches, and matches without any left.
    /// `phase` tells the forms of one call apart.
    pub(super) fn ask_circumstances(
        &mut self,
        matches: &mut Vec<Match<'_>>,
        event: &Event,
        analysis: &Analysis,
        phase: &str,
    ) {
        let mut questions = Vec::new();
        let mut jobs = Vec::new();
        for (at, one) in matches.iter().enumerate().filter(|(_, one)| !one.observed) {
            let unless = one.rule.unless.as_ref().and_then(|unless| unless.when.run.as_ref());
            let commands =
                [(Whose::Rule, one.rule.conditions.when.run.as_ref()), (Whose::Unless, unless)];
            for (whose, command) in commands {
                let Some(command) = command else { continue };
                let parts = match whose {
                    Whose::Rule => one.parts(),
                    Whose::Unless => one.hinges.clone(),
                };
                let answers =
                    self.questions_of_parts((event, analysis), command, one, &parts, &mut jobs);
                let of = |(part, answer)| PartQuestion { at, part, whose, answer };
                questions.extend(parts.into_iter().zip(answers).map(of));
            }
        }
        if questions.is_empty() {
            return;
        }
        let first = self.asked.len() - jobs.len();
        for (at, outcome) in self.run_jobs(jobs, phase).into_iter().enumerate() {
            self.asked[first + at].holds = outcome.as_ref().and_then(command_answer);
            if let Some(outcome) = outcome.filter(Outcome::is_error) {
                let of = |q: &&PartQuestion| q.answer == Some(first + at);
                let rule = questions.iter().find(of).map(|q| matches[q.at].rule.qualified_name());
                let rule = rule.unwrap_or_default();
                self.out.notes.push(format!("{rule}: when.run {}", outcome.describe_end()));
            }
        }
        for PartQuestion { at, part, whose, answer } in questions {
            let one = &mut matches[at];
            if answer.is_none() {
                self.note_unasked(one.rule);
            }
            if let Some(at) = answer.filter(|_| self.is_dry()) {
                let job = self.asked[at].job.clone();
                let end = match whose {
                    Whose::Rule => PendingEnd::Succeeds,
                    Whose::Unless => PendingEnd::Fails,
                };
                self.note_pending(one, &job, end);
            }
            let answer = answer.and_then(|at| self.asked[at].holds);
            // Not known: that allows nothing, and relaxes nothing.
            let allow = one.verb() == Some(Verb::Allow);
            let stays = match whose {
                Whose::Rule => answer.unwrap_or(!allow),
                Whose::Unless => !answer.unwrap_or(allow),
            };
            if !stays {
                one.drop_part(part);
            }
        }
        matches.retain(Match::has_parts);
    }

    /// Says in the journal that a command was not asked of every part of the call.
    fn note_unasked(&mut self, rule: &Rule) {
        let name = rule.qualified_name();
        let note = format!(
            "{name}: when.run was asked {} questions about this call, and no more",
            limits::ASKED
        );
        if !self.out.notes.contains(&note) {
            self.out.notes.push(note);
        }
    }

    /// The question of each part to the command; those that were not asked before become jobs.
    fn questions_of_parts(
        &mut self,
        form: (&Event, &Analysis),
        command: &Command,
        one: &Match<'_>,
        parts: &[MatchPart],
        jobs: &mut Vec<Job>,
    ) -> Vec<Option<usize>> {
        let differs = [
            PlaceholderName::Path,
            PlaceholderName::Command,
            PlaceholderName::Host,
            PlaceholderName::Package,
        ];
        if !differs.iter().any(|name| command.script.uses_placeholder(name)) {
            let answer =
                self.question_index(command.limit, self.make_job(form, command, one, None), jobs);
            return vec![Some(answer); parts.len()];
        }
        let mut seen = Vec::new();
        let mut ask = |part: &MatchPart| {
            if seen.len() >= limits::ASKED {
                return None;
            }
            let about = match part {
                Some(effect) => Match { effects: vec![*effect], ..Match::from_rule(one.rule) },
                None => one.clone(),
            };
            let answer = self.question_index(
                command.limit,
                self.make_job(form, command, &about, None),
                jobs,
            );
            if !seen.contains(&answer) {
                seen.push(answer);
            }
            Some(answer)
        };
        parts.iter().map(&mut ask).collect()
    }

    /// The place of the job's answer among `asked`.
    fn question_index(&mut self, limit: Option<Duration>, job: Job, jobs: &mut Vec<Job>) -> usize {
        let same = |one: &CommandQuestion| {
            let other = &one.job;
            (&other.script, &other.variables, &other.dir) == (&job.script, &job.variables, &job.dir)
                && other.environment == job.environment
                && one.limit == limit
        };
        if let Some(at) = self.asked.iter().position(same) {
            return at;
        }
        self.asked.push(CommandQuestion { job: job.clone(), limit, holds: None });
        jobs.push(job);
        self.asked.len() - 1
    }
}

/// What the command said.
fn command_answer(outcome: &Outcome) -> Option<bool> {
    (!outcome.is_error()).then(|| outcome.is_success())
}
