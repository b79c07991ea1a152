//! Bare loops that do the work by hand: files are read and written, the compression libraries called with contexts and memory
//! that are used again, and elements copied to their places. What the hardware allows.

mod codecs;
mod document;
mod memory;
mod nodes;
mod part;
mod plan;
mod reading;
mod writing;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::case::{Case, Selection, Work};
use crate::failure::Failure;
use crate::pieces::Pieces;
use crate::protocol::{Elements, Found, Job};
use crate::region::{Region, lengths};
use crate::turns::Turns;
use crate::values::increment;
use document::Document;
use memory::Memory;
use plan::{Plan, mask_of};
use reading::{read_task, with_space};
use writing::write_task;

/// Less work than this, in bytes, is done by the thread that asks for it.
const SMALL: usize = 1 << 20;

pub(crate) fn prepare(case: &Case) -> Result<Job, Failure> {
    let threads = Threads::new(case.threads)?;
    let (input, output) = (case.array.clone(), case.output.clone());
    Ok(match &case.work {
        Work::Read { boxes, at_once, opened } => {
            let (boxes, at_once) = (boxes.clone(), *at_once);
            let source = Source::new(input, *opened)?;
            Box::new(move |keep| source.with(|document| threads.read_boxes(document, &boxes, at_once, keep)))
        }
        Work::Write { boxes, at_once } => {
            let (boxes, at_once) = (boxes.clone(), *at_once);
            let document = Document::open(&input)?;
            let values = boxes.iter().map(|region| threads.read_box(&document, region, true));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Box::new(move |_| {
                let output = Document::open(&output)?;
                let write = |index: usize| {
                    let plan = Plan::of_box(&output, &boxes[index]);
                    threads.write(&plan, values[index].pointer(), at_once <= 1)
                };
                threads.each(boxes.len(), at_once > 1, write)?;
                Ok(Found::Nothing)
            })
        }
        Work::Copy => {
            let source = Document::open(&input)?;
            Box::new(move |_| threads.copy(&source, &Document::open(&output)?))
        }
        Work::Rechunk { memory } => {
            let (source, memory) = (Document::open(&input)?, *memory);
            Box::new(move |_| threads.rechunk(&source, &Document::open(&output)?, memory))
        }
        Work::Select { selection, opened } => {
            let selection = Prepared::new(selection, &Document::open(&input)?);
            let source = Source::new(input, *opened)?;
            Box::new(move |keep| {
                source.with(|document| {
                    let elements = threads.select(document, &selection)?;
                    let kept: Vec<(usize, Elements)> =
                        if keep { vec![(0, Box::new(elements))] } else { Vec::new() };
                    Ok(Found::Boxes(document.width(), kept))
                })
            })
        }
        Work::SelectWrite { selection } => {
            let document = Document::open(&input)?;
            let selection = Prepared::new(selection, &document);
            let mut values = threads.select(&document, &selection)?.as_ref().to_vec();
            increment(&mut values, document.width());
            Box::new(move |_| {
                let output = Document::open(&output)?;
                let (plan, _) = Plan::of(&output, &selection.selection, selection.flags.as_ref())?;
                threads.write(&plan, values.as_ptr(), true)?;
                Ok(Found::Nothing)
            })
        }
        Work::Append { count, rows } => {
            let values = rows_of_numbers(&Document::open(&output)?, *count, *rows);
            let rows = *rows;
            Box::new(move |_| {
                let mut output = Document::open(&output)?;
                values.iter().try_for_each(|values| threads.append(&mut output, rows, values))?;
                Ok(Found::Nothing)
            })
        }
        Work::Open { names } => {
            let names = names.clone();
            Box::new(move |_| nodes::open(&input, &names))
        }
        Work::OpenConsolidated { names } => {
            let names = names.clone();
            Box::new(move |_| nodes::open_consolidated(&input, &names))
        }
        Work::List => Box::new(move |_| Ok(Found::Number(nodes::count_below(&input)?))),
        Work::Info => Box::new(move |_| {
            Document::open(&input)?;
            Ok(Found::Number(nodes::stored(&input)?.0))
        }),
        Work::Fill(_) => return Err(Failure::Unsupported("filling".to_owned())),
    })
}

/// A document that was read, or that is read each time.
enum Source {
    Opened(Box<Document>),
    Closed(PathBuf),
}

impl Source {
    fn new(path: PathBuf, opened: bool) -> Result<Self, Failure> {
        Ok(if opened { Self::Opened(Box::new(Document::open(&path)?)) } else { Self::Closed(path) })
    }

    fn with<R>(&self, work: impl FnOnce(&Document) -> Result<R, Failure>) -> Result<R, Failure> {
        match self {
            Self::Opened(document) => work(document),
            Self::Closed(path) => work(&Document::open(path)?),
        }
    }
}

/// A selection, with a mask's flags.
struct Prepared {
    selection: Arc<Selection>,
    flags: Option<Arc<Vec<bool>>>,
}

impl Prepared {
    fn new(selection: &Arc<Selection>, document: &Document) -> Self {
        let flags = match **selection {
            Selection::Mask { seed } => Some(mask_of(document, seed).into()),
            _ => None,
        };
        Self { selection: selection.clone(), flags }
    }
}

/// The threads, which wait for work.
struct Threads {
    pool: rayon::ThreadPool,
    count: usize,
}

impl Threads {
    fn new(count: usize) -> Result<Self, Failure> {
        Ok(Self { pool: rayon::ThreadPoolBuilder::new().num_threads(count).build()?, count })
    }

    /// Does pieces of work, on all threads or on this one.
    fn each(
        &self,
        count: usize,
        together: bool,
        work: impl Fn(usize) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        if !together || count <= 1 || self.count <= 1 {
            return (0..count).try_for_each(work);
        }
        let turns = Turns::default();
        self.pool.broadcast(|_| turns.take(count, &work));
        turns.finish()
    }

    fn read(&self, plan: Plan<'_>, result: *mut u8, together: bool) -> Result<(), Failure> {
        let together = together && plan.bytes() >= SMALL;
        let plan = if together { plan.divided_for(self.count) } else { plan };
        let result = Shared(result);
        self.each(plan.count(), together, |index| {
            // SAFETY: the result has a place for everything in the plan, and no two tasks have the same.
            with_space(|space| unsafe { read_task(plan.document(), &plan.task(index), result.get(), space) })
        })
    }

    fn write(&self, plan: &Plan<'_>, values: *const u8, together: bool) -> Result<(), Failure> {
        let together = together && plan.bytes() >= SMALL;
        let values = Shared(values.cast_mut());
        self.each(plan.count(), together, |index| {
            // SAFETY: the values are those of the plan.
            with_space(|space| unsafe { write_task(plan.document(), &plan.task(index), values.get(), space) })
        })
    }

    fn read_box(&self, document: &Document, region: &Region, together: bool) -> Result<Memory, Failure> {
        let memory = Memory::new(lengths(region).iter().product::<usize>() * document.width());
        self.read(Plan::of_box(document, region), memory.pointer(), together)?;
        Ok(memory)
    }

    fn read_boxes(
        &self,
        document: &Document,
        boxes: &[Region],
        at_once: usize,
        keep: bool,
    ) -> Result<Found, Failure> {
        let kept = Mutex::new(Vec::<(usize, Elements)>::new());
        self.each(boxes.len(), at_once > 1, |index| {
            let elements = self.read_box(document, &boxes[index], at_once <= 1)?;
            if keep {
                kept.lock().unwrap().push((index, Box::new(elements)));
            }
            Ok(())
        })?;
        Ok(Found::Boxes(document.width(), kept.into_inner().unwrap()))
    }

    fn select(&self, document: &Document, selection: &Prepared) -> Result<Memory, Failure> {
        let (plan, count) = Plan::of(document, &selection.selection, selection.flags.as_ref())?;
        let memory = Memory::new(count * document.width());
        self.read(plan, memory.pointer(), true)?;
        Ok(memory)
    }

    /// Each thread takes one file of the output after the other.
    fn copy(&self, source: &Document, output: &Document) -> Result<Found, Failure> {
        thread_local! {
            static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let pieces = Pieces::new(&source.shape, &source.stored, &output.stored, 1, 0);
        self.each(pieces.count(), true, |index| {
            let region = pieces.get(index);
            BUFFER.with_borrow_mut(|buffer| {
                buffer.resize(lengths(&region).iter().product::<usize>() * source.width(), 0);
                self.read(Plan::of_box(source, &region), buffer.as_mut_ptr(), false)?;
                self.write(&Plan::of_box(output, &region), buffer.as_ptr(), false)
            })
        })?;
        Ok(Found::Nothing)
    }

    /// Pieces as large as the memory allows, on which all threads work.
    fn rechunk(&self, source: &Document, output: &Document, memory: usize) -> Result<Found, Failure> {
        // Beside the piece, each thread has what it encodes or decodes, twice.
        let own = 2 * source.leaf_size().max(output.stored.iter().product::<usize>() * output.width());
        let room = memory.saturating_sub(own * self.count).max(memory / 4);
        let pieces = Pieces::new(&source.shape, &source.stored, &output.stored, source.width(), room);
        let size = |region: &Region| lengths(region).iter().product::<usize>() * source.width();
        let buffer = Memory::new(if pieces.count() == 0 { 0 } else { size(&pieces.get(0)) });
        for region in (0..pieces.count()).map(|index| pieces.get(index)) {
            self.read(Plan::of_box(source, &region), buffer.pointer(), true)?;
            self.write(&Plan::of_box(output, &region), buffer.pointer(), true)?;
        }
        Ok(Found::Nothing)
    }

    /// Writes to the last chunks, and stores the new shape.
    fn append(&self, output: &mut Document, rows: usize, values: &[u8]) -> Result<(), Failure> {
        let start = output.shape[0];
        output.shape[0] += rows;
        let mut region: Region = output.shape.iter().map(|&length| 0..length).collect();
        region[0].start = start;
        self.write(&Plan::of_box(output, &region), values.as_ptr(), true)?;
        output.store_shape()
    }
}

/// Memory that threads use at different places.
#[derive(Clone, Copy)]
struct Shared(*mut u8);

// SAFETY: no two tasks of a plan use the same places.
unsafe impl Sync for Shared {}

impl Shared {
    fn get(&self) -> *mut u8 {
        self.0
    }
}

/// For each number below `count`, so many rows of it.
fn rows_of_numbers(document: &Document, count: usize, rows: usize) -> Vec<Vec<u8>> {
    let elements = rows * document.shape[1..].iter().product::<usize>();
    let rows = |number| document.number.integer(number)[..document.width()].repeat(elements);
    (0..count as i64).map(rows).collect()
}
