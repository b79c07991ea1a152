//! Bare loops that read by hand: what the hardware allows. The library says beforehand which bytes of which files there are, and where
//! their elements belong; the loops read these bytes, call the compression libraries, and copy elements to their places.

mod codecs;
mod layout;
mod plan;
mod reading;

use std::sync::Mutex;

use crate::case::{Case, Selection, Work};
use crate::failure::Failure;
use crate::library::selected;
use crate::protocol::{Elements, Found, Job};
use crate::turns;
use layout::Layout;
use plan::Plan;
use reading::Output;

/// Less work than this, in bytes, is done by the thread that asks for it.
const SMALL: usize = 1 << 20;
/// From this size on, memory is in huge pages.
const HUGE: usize = 4 << 20;

pub(crate) fn prepare(case: &Case) -> Result<Job, Failure> {
    Ok(match &case.work {
        Work::Read { boxes, at_once, .. } => {
            let layout = Layout::open(&case.array)?;
            let plans = boxes.iter().map(|region| Plan::of_box(&layout, region)).collect::<Result<_, _>>()?;
            read_all(layout, plans, *at_once, case.threads)
        }
        Work::Select { selection, .. } => {
            let layout = Layout::open(&case.array)?;
            let plan = match &**selection {
                Selection::Blocks(blocks) => Plan::of_box(&layout, &layout.of_blocks(blocks))?,
                others => Plan::of_points(&layout, &layout.indices(&selected(others, &layout.array)?)?)?,
            };
            read_all(layout, vec![plan], 1, case.threads)
        }
        _ => return Err(Failure::Unsupported("there are bare loops of reading alone".to_owned())),
    })
}

/// Reads what each plan means, so many of them at once.
fn read_all(layout: Layout, plans: Vec<Plan>, at_once: usize, threads: usize) -> Job {
    let plans: Vec<Plan> = plans.into_iter().map(|plan| plan.divided(threads)).collect();
    Box::new(move |keep| {
        let kept = Mutex::new(Vec::<(usize, Elements)>::new());
        turns::each(plans.len(), at_once, |index| {
            let plan = &plans[index];
            let mut memory = fresh(plan.size);
            let result = Output(memory.as_mut_ptr());
            let together = if at_once <= 1 && plan.size >= SMALL { threads } else { 1 };
            turns::each(plan.tasks.len(), together, |task| {
                // SAFETY: the result has a place for everything in the plan, and no two tasks have the same.
                unsafe { reading::read(&layout, plan, &plan.tasks[task], &result) }
            })?;
            if keep {
                kept.lock().unwrap().push((index, Box::new(memory)));
            }
            Ok(())
        })?;
        Ok(Found::Boxes(layout.width, kept.into_inner().unwrap()))
    })
}

/// Fresh memory for a result: in huge pages where it is large.
fn fresh(size: usize) -> Vec<u8> {
    let mut memory = vec![0; size];
    if size >= HUGE {
        let skipped = memory.as_ptr().align_offset(4096);
        // SAFETY: the pages belong to the memory, and only how they are mapped changes.
        let _ = unsafe {
            let start = memory.as_mut_ptr().add(skipped).cast();
            rustix::mm::madvise(start, size - skipped, rustix::mm::Advice::LinuxHugepage)
        };
    }
    memory
}
