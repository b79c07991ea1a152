//! `zarrox downsample`: creates the pyramid levels of an image.

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

/// Create the pyramid levels of an image in one pass, described as OME-Zarr
///
/// Without a destination, the levels are stored in the group of the array. With a destination, a new group is
/// created with the levels and a copy of the array, whose encoded chunks are copied unchanged if possible.
/// After an interruption, the same command continues.
#[derive(Debug, Args)]
pub(crate) struct Downsample {
    /// The array; or a group with one array, or with an image, whose highest resolution is used
    source: String,

    /// A new group for the array and its levels [default: the group of the array]
    destination: Option<String>,

    /// The downsampling method: mean, mode, nearest, min, max or median [default: mean; mode with --labels]
    #[arg(long, value_name = "METHOD", value_parser = method)]
    method: Option<Reduction>,

    /// The scale factor of all spatial axes, or of each axis, such as 1,1,2,4,4 [default: 2]
    #[arg(long, value_name = "FACTORS")]
    factors: Option<Lengths>,

    /// The number of downsampled levels [default: until a level has at most as many elements as a chunk]
    #[arg(long, value_name = "N")]
    levels: Option<usize>,

    /// Ignore NaN: an element becomes NaN only if all of its source elements are NaN
    #[arg(long)]
    skip_nan: bool,

    /// The version of OME-Zarr: 0.4 for groups of v2, 0.5 for groups of v3 [default: the version for the format]
    #[arg(long, value_name = "VERSION", value_parser = version, conflicts_with = "multiscales")]
    ome: Option<Multiscales>,

    /// Describe the levels by the multiscales convention of zarr-conventions instead of OME-Zarr
    #[arg(long)]
    multiscales: bool,

    /// The name of the image [default: the name of its group]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The axes, such as t,c,z,y,x; other names are spatial axes, or have a type: w:angle [default: the dimension names, or the
    /// last of t,c,z,y,x]
    #[arg(long, value_name = "AXES", value_delimiter = ',')]
    axes: Vec<Axis>,

    /// The spacing of elements along each axis, such as 1,1,0.5,0.1,0.1 [default: 1]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    scale: Vec<f64>,

    /// The coordinate of the first element along each axis [default: 0]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    translation: Vec<f64>,

    /// The unit of all spatial axes, such as micrometer, or of each axis, such as second,,micrometer,micrometer
    #[arg(long, value_name = "UNITS", value_delimiter = ',')]
    unit: Vec<String>,

    /// A channel, such as DAPI:0000FF or actin:green; repeat the option for each channel
    #[arg(long, value_name = "NAME[:COLOR]")]
    channel: Vec<Channel>,

    /// Treat the elements as labels: the default method is the mode, and if the image is in a group named labels, that group
    /// lists it
    #[arg(long)]
    labels: bool,

    #[command(flatten)]
    recoding: Recoding,

    /// Print the plan, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Replace existing levels, or an existing node at the destination
    #[arg(long)]
    force: bool,

    /// The memory limit for chunks and levels in progress
    #[arg(long, visible_alias = "memory", value_name = "SIZE", default_value = "256MiB")]
    max_memory: ByteSize,

    /// The number of blocks that are processed concurrently [default: chosen for the stores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Print the plan or the report as JSON
    #[arg(long)]
    json: bool,
}

fn method(text: &str) -> Result<Reduction, String> {
    text.parse().map_err(|error: zarrox::Error| error.to_string())
}

fn version(text: &str) -> Result<Multiscales, String> {
    match text.parse() {
        Ok(Multiscales::Convention) => {
            Err("expected 0.4 or 0.5; --multiscales selects the convention of zarr-conventions".to_owned())
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
        writeln!(out, "method {}, described as {}", pyramid.method(), pyramid.form())?;
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
                "  levels {from} to {to} in blocks of {part}, {threads} at a time, {memory} of memory"
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
