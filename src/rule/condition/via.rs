//! `via`: whether an effect stands in a file that the call runs, and on which way it is found.

use super::{NamePattern, Sort, Value};
use crate::effect::path::split;
use crate::rule::PatternList;
use crate::rule::reader::TreeValue;
use crate::rule::reader::{Item, Reader};

/// What is asked of the way: that there is one or none, or what stands on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ways(PatternList<NamePattern>);

impl Ways {
    /// Do they speak of what is found on that way (None = in the call's own text)?
    pub(super) fn hold_for(&self, way: Option<&str>) -> bool {
        let Some(way) = way else { return self.0.named().is_empty() };
        // `make clean -> Makefile:12 -> lib/x.sh:3`: each command and file, the files by their names too.
        let steps =
            || way.split(" -> ").map(|step| step.rsplit_once(':').map_or(step, |(file, _)| file));
        let meets = |name: &NamePattern| {
            steps().any(|step| name.matches_file(step) || name.matches_file(split(step).1))
        };
        (self.0.named().is_empty() || self.0.named().iter().any(meets))
            && !self.0.excluded().iter().any(meets)
    }
}

impl Value for Ways {
    const SORT: Sort = Sort::Ways;

    fn read(value: &Item<'_>, r: &mut Reader<'_>) -> Self {
        let TreeValue::Boolean(wanted) = value.get_ref() else { return Ways(r.names(value)) };
        let mut any = PatternList::default();
        any.push(!wanted, NamePattern::Glob("*".into()));
        Ways(any)
    }

    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }
}
