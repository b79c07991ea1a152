//! Bare loops that read by hand: the limit of the hardware. The library reports beforehand which bytes of which files are needed,
//! and the positions of their elements; the loops read these bytes, call the compression libraries, and copy elements to their
//! positions.

mod codecs;
mod layout;
mod plan;
mod reading;

use std::sync::Mutex;

use crate::case::{Case, Selection, Work};
use crate::failure::Failure;
use crate::library::selected;
use crate::parallel;
use crate::protocol::{Elements, Found, Job};
use layout::Layout;
use plan::Plan;
use reading::Output;

/// The size in bytes below which the calling thread does the work itself.
const SMALL: usize = 1 << 20;
/// The size from which memory is in huge pages.
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
        _ => return Err(Failure::Unsupported("bare loops support only reading".to_owned())),
    })
}

/// Reads several plans in parallel.
fn read_all(layout: Layout, plans: Vec<Plan>, at_once: usize, threads: usize) -> Job {
    let plans: Vec<Plan> = plans.into_iter().map(|plan| plan.divided(threads)).collect();
    Box::new(move |keep| {
        let kept = Mutex::new(Vec::<(usize, Elements)>::new());
        parallel::each(plans.len(), at_once, |index| {
            let plan = &plans[index];
            let mut memory = fresh(plan.size);
            let result = Output(memory.as_mut_ptr());
            let together = if at_once <= 1 && plan.size >= SMALL { threads } else { 1 };
            parallel::each(plan.tasks.len(), together, |task| {
                // SAFETY: the result has space for the whole plan, and the tasks write to disjoint positions.
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

/// Fresh memory for a result: in huge pages if it is large.
fn fresh(size: usize) -> Vec<u8> {
    let mut memory = vec![0; size];
    if size >= HUGE {
        let skipped = memory.as_ptr().align_offset(4096);
        // SAFETY: the pages belong to the memory, and only their mapping changes.
        let _ = unsafe {
            let start = memory.as_mut_ptr().add(skipped).cast();
            rustix::mm::madvise(start, size - skipped, rustix::mm::Advice::LinuxHugepage)
        };
    }
    memory
}
