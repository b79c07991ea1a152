//! Shrinking a failing run: [`shrink`].

use std::collections::BTreeMap;

use zarrox_testkit::simulation::{Decision, Schedule};

use super::plan::Plan;
use super::play::{Shown, play};

/// The number of schedules with which a smaller plan is tried.
const TRIES: u64 = 60;

/// Removes acts of the plan and decisions of the schedule as long as the run still fails for the same reason, and runs the rest
/// with a trace.
pub(super) fn shrink(mut plan: Plan, mut shown: Shown) -> (Plan, Shown) {
    let Some(reason) = shown.reason() else { return (plan, shown) };
    let fails = |plan: &Plan, schedule: Schedule, traced: bool| {
        let shown = play(plan, schedule, traced).ok()?;
        (shown.reason().as_ref() == Some(&reason)).then_some(shown)
    };
    while let Some((smaller, found)) = smaller_plans(&plan).into_iter().find_map(|smaller| {
        let schedules = (0..TRIES).map(|seed| Schedule::random(seed, smaller.odds));
        let mut found = schedules.filter_map(|schedule| fails(&smaller, schedule, false));
        found.next().map(|found| (smaller.clone(), found))
    }) {
        (plan, shown) = (smaller, found);
    }
    let mut decisions = shown.ended.schedule.decisions().clone();
    let mut steps: Vec<u64> = decisions.keys().copied().collect();
    // Each decision depends on all earlier ones, so that the last ones are removed first.
    steps.reverse();
    for step in steps {
        let mut fewer: BTreeMap<u64, Decision> = decisions.clone();
        fewer.remove(&step);
        if fails(&plan, Schedule::given(fewer.clone()), false).is_some() {
            decisions = fewer;
        }
    }
    let shown = fails(&plan, Schedule::given(decisions), true).unwrap_or(shown);
    (plan, shown)
}

/// Returns all smaller plans: without one task, or without one act of a task.
fn smaller_plans(plan: &Plan) -> Vec<Plan> {
    let mut smaller = Vec::new();
    for hand in 0..plan.hands.len() {
        if plan.hands.len() > 1 {
            let mut without = plan.clone();
            without.hands.remove(hand);
            smaller.push(without);
        }
        for act in 0..plan.hands[hand].acts.len() {
            let mut without = plan.clone();
            without.hands[hand].acts.remove(act);
            smaller.push(without);
        }
    }
    smaller
}
