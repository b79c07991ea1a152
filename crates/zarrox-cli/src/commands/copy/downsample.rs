//! `zarrox downsample`: makes smaller levels of an image.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use clap::Args;
use indicatif::HumanBytes;
use zarrox::Result;
use zarrox::json::{Json, json};
use zarrox_images::Downsample as Maker;
use zarrox_images::ome::{Axis, Channel, Multiscales};
use zarrox_images::pyramid::{Pyramid, PyramidLevel, Reduction};

use super::recoding::Recoding;
use crate::args::{ByteSize, Global, Lengths};
use crate::exit::{Failure, printable};
use crate::interrupt;
use crate::print::{print_json, tuple};
use crate::progress::Progress;

/// Make smaller levels of an image in one pass over the data, and describe all of them as OME-Zarr
///
/// Without a destination, the levels lie beside the array, in its group. With one, the destination becomes a new group with a copy of the
/// array, whose chunks are copied as they are where nothing about them changes. After an interruption, the same command continues.
#[derive(Debug, Args)]
pub(crate) struct Downsample {
    /// The array; or a group with one array, or with an image, of which the highest resolution is taken
    source: String,

    /// A new group for the array and its levels [default: the group of the array]
    destination: Option<String>,

    /// The element that a cell becomes: mean, mode, nearest, min, max or median [default: mean; mode with --labels]
    #[arg(long, value_name = "METHOD", value_parser = method)]
    method: Option<Reduction>,

    /// The factor for all axes of space, or for each axis, such as 1,1,2,4,4 [default: 2]
    #[arg(long, value_name = "FACTORS")]
    factors: Option<Lengths>,

    /// The number of smaller levels [default: until a level has no more elements than a chunk]
    #[arg(long, value_name = "N")]
    levels: Option<usize>,

    /// Leave NaN out: only a cell of nothing but NaN becomes NaN
    #[arg(long)]
    skip_nan: bool,

    /// The version of OME-Zarr: 0.4 is for groups of v2, and 0.5 for groups of v3 [default: that for the format]
    #[arg(long, value_name = "VERSION", value_parser = version, conflicts_with = "multiscales")]
    ome: Option<Multiscales>,

    /// Describe the levels by the convention multiscales of zarr-conventions, and not as OME-Zarr
    #[arg(long)]
    multiscales: bool,

    /// The name of the image [default: that of its group]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The axes, such as t,c,z,y,x; other names are axes of space, or have a type: w:angle [default: the names of the dimensions, or
    /// the last of t,c,z,y,x]
    #[arg(long, value_name = "AXES", value_delimiter = ',')]
    axes: Vec<Axis>,

    /// The distance of two elements along each axis, such as 1,1,0.5,0.1,0.1 [default: 1]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    scale: Vec<f64>,

    /// The position of the first element along each axis [default: 0]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    translation: Vec<f64>,

    /// The unit of all axes of space, such as micrometer, or of each axis, such as second,,micrometer,micrometer
    #[arg(long, value_name = "UNITS", value_delimiter = ',')]
    unit: Vec<String>,

    /// A channel, such as DAPI:0000FF or actin:green; repeated for each of them
    #[arg(long, value_name = "NAME[:COLOR]")]
    channel: Vec<Channel>,

    /// The elements are labels: the method is the mode, and the group labels lists the image if it is in one
    #[arg(long)]
    labels: bool,

    #[command(flatten)]
    recoding: Recoding,

    /// Print the plan, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Replace levels that are there, or what is at the destination
    #[arg(long)]
    force: bool,

    /// The memory for chunks and levels in progress
    #[arg(long, visible_alias = "memory", value_name = "SIZE", default_value = "256MiB")]
    max_memory: ByteSize,

    /// The number of parts in progress at a time [default: as many as the stores are good for]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Print the plan or what was done as JSON
    #[arg(long)]
    json: bool,
}

fn method(text: &str) -> Result<Reduction, String> {
    text.parse().map_err(|error: zarrox::Error| error.to_string())
}

fn version(text: &str) -> Result<Multiscales, String> {
    match text.parse() {
        Ok(Multiscales::Convention) => {
            Err("the versions are 0.4 and 0.5; --multiscales is the convention".to_owned())
        }
        parsed => parsed.map_err(|error: zarrox::Error| error.to_string()),
    }
}

impl Downsample {
    pub(crate) fn run(&self, global: &Global, out: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let progress = Progress::new(&self.source, 0);
        let maker = self.recoding.apply(self.maker(global, &progress))?;
        let pyramid = match &self.destination {
            Some(destination) => maker.plan_into(&self.source, destination)?,
            None => maker.plan(&self.source)?,
        };
        if self.dry_run {
            self.print_plan(&pyramid, out)?;
            return Ok(pyramid.check()?);
        }
        pyramid.check()?;
        let findings: Vec<String> = pyramid.report().obstacles.iter().map(ToString::to_string).collect();
        let levels = interrupt::or_interrupted(pyramid.run())?;
        progress.finish(None);
        if self.json {
            return Ok(print_json(out, &json!({"levels": levels_to_json(&levels)}))?);
        }
        Ok(findings.iter().try_for_each(|finding| writeln!(out, "{}", printable(finding)))?)
    }

    fn maker(&self, global: &Global, progress: &Progress) -> Maker {
        let bar = progress.clone();
        let memory = usize::try_from(self.max_memory.0).unwrap_or(usize::MAX);
        let options = global.of_any_format().options().access(&interrupt::options());
        let maker = Maker::new().open_options(options).memory(memory).overwrite(self.force);
        let maker = maker.skip_nan(self.skip_nan).labels(self.labels).on_progress(move |done| {
            bar.set(done.done, done.total);
            interrupt::check()
        });
        let maker = self.jobs.iter().fold(maker, |maker, jobs| maker.jobs(jobs.get()));
        let maker = global.format().into_iter().fold(maker, Maker::format);
        let maker = self.method.into_iter().fold(maker, Maker::method);
        let maker = self.levels.into_iter().fold(maker, Maker::levels);
        let maker = self.factors.iter().fold(maker, |maker, factors| maker.factors(factors.0.clone()));
        let form = self.multiscales.then_some(Multiscales::Convention).or(self.ome);
        let maker = form.into_iter().fold(maker, Maker::form);
        let maker = self.name.iter().fold(maker, Maker::name);
        let maker = maker.axes(self.axes.clone()).units(self.unit.clone()).channels(self.channel.clone());
        maker.scale(self.scale.clone()).translation(self.translation.clone())
    }

    fn print_plan(&self, pyramid: &Pyramid, out: &mut dyn Write) -> io::Result<()> {
        let (levels, passes) = (pyramid.levels(), pyramid.passes());
        if self.json {
            let passes = passes.iter().map(|pass| {
                json!({
                    "from": pass.from, "to": pass.to, "part": pass.part.as_slice(), "threads": pass.threads,
                    "memory": pass.memory,
                })
            });
            let passes = Json::Array(passes.collect());
            let plan = json!({
                "method": pyramid.method().name(), "form": pyramid.form().name(), "levels": levels_to_json(&levels),
                "passes": passes,
            });
            return print_json(out, &plan);
        }
        writeln!(out, "{} of cells, described as {}", pyramid.method(), pyramid.form())?;
        for level in &levels {
            let (shape, chunks, factors) = (tuple(&level.shape), tuple(&level.chunks), tuple(&level.factors));
            let bytes = HumanBytes(level.bytes);
            writeln!(
                out,
                "  {} {shape} in chunks {chunks}, factors {factors}, {bytes}",
                printable(&level.path)
            )?;
        }
        for pass in &passes {
            let (part, memory) = (tuple(&pass.part), HumanBytes(pass.memory));
            let (from, to, threads) = (pass.from, pass.to, pass.threads);
            writeln!(
                out,
                "  levels {from} to {to} in parts of {part}, {threads} at a time, {memory} of memory"
            )?;
        }
        let findings = pyramid.report().obstacles.iter();
        findings.into_iter().try_for_each(|finding| writeln!(out, "{}", printable(&finding.to_string())))
    }
}

fn levels_to_json(levels: &[PyramidLevel]) -> Json {
    let level = |level: &PyramidLevel| {
        json!({
            "path": level.path.as_str(), "shape": level.shape.as_slice(), "chunks": level.chunks.as_slice(),
            "factors": level.factors.as_slice(), "scale": level.scale.as_slice(),
            "translation": level.translation.as_slice(), "bytes": level.bytes,
        })
    };
    Json::Array(levels.iter().map(level).collect())
}
