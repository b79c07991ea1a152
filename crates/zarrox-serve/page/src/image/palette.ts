/** The colours of an image: its colormap, its contrast limits, and summaries of its values. */

import { aroundOne, contrast, isDiverging, paint, pixelsOf, summary, table, type Limits, type Maps, type Norm, type Summary } from "./colours";
import type { Bar, Layer } from "./figure";
import { fieldOf, reducedOf, valueTimes, valueUnits, type Channel, type Shown } from "../data/model";
import { rgb } from "../data/rgb";
import type { State } from "../data/state";

export class Palette {
  private colours: { key: string; table: Uint8Array; pixels: Uint32Array } = { key: "", table: new Uint8Array(768), pixels: new Uint32Array(259) };
  /** The limits of the first slice, which other slices keep. */
  private kept: { key: string; limits: Limits | null; isFinal: boolean } = { key: "", limits: null, isFinal: false };
  /** The summaries of the shown channels. */
  private channels: Summary[] = [];
  /** The summary of the shown values; `null` before any are loaded. */
  summary: Summary | null = null;
  /** True if the summary includes all shown values. */
  private isWhole = false;

  constructor(
    private readonly shown: Shown,
    private readonly maps: Maps,
    /** The comparison of two arrays: differences have colours on both sides of zero, and ratios on both sides of one. */
    private readonly way: "difference" | "ratio" | null,
  ) {}

  /** Clears the summaries. */
  clear(): void {
    this.summary = null;
    this.isWhole = false;
  }

  /** Keeps the limits until the values of another state are loaded. */
  await(): void {
    this.isWhole = false;
  }

  /** Summarizes the values of a layer. */
  take(layer: Layer): void {
    this.summary = layer.planes[0] ? summary(layer.planes[0]) : null;
    this.isWhole = layer.isWhole;
    this.channels = this.shown.channels.length === 0 ? [] : layer.planes.map((plane, at) => (at === 0 ? this.summary! : summary(plane)));
  }

  /** Returns the summary of the channel in a plane and its limits: those of the user, of the metadata, or of its values. */
  tone(plane: number, channel: number, state: State): { summary: Summary; limits: Limits } | null {
    const of = this.channels[plane];
    const chosen = state.tones[channel]?.range ?? [];
    return of ? { summary: of, limits: chosen.length === 2 ? (chosen as Limits) : (this.shown.channels[channel]?.range ?? contrast(of, "linear", false) ?? [0, 1]) } : null;
  }

  /** Returns the colormap of a state: the chosen one, or the most suitable one for the values. */
  map(state: State): string {
    if (state.map in this.maps) return state.map;
    if (this.isPhase(state)) return "twilight";
    if (this.way) return "rdbu";
    const words = `${this.shown.node.name} ${this.shown.title} ${String(this.shown.node.attributes["standard_name"] ?? "")}`;
    const isSigned = /anomal|differen|bias|wind|velocity|trend|residual/i.test(words) && this.summary !== null && this.summary.min < 0 && this.summary.max > 0;
    return isSigned ? "rdbu" : "viridis";
  }

  private isPhase(state: State): boolean {
    return this.shown.node.data_type.kind === "complex" && state.component === "phase";
  }

  /** Returns the contrast limits of a state; `null` if there is nothing to show. */
  limits(state: State): Limits | null {
    if (state.range.length === 2 && !(state.norm === "log" && state.range[0]! <= 0)) return state.range as Limits;
    if (this.isPhase(state)) return [-Math.PI, Math.PI];
    const usual = (): Limits | null => (!this.summary ? null : this.way === "ratio" ? aroundOne(this.summary) : contrast(this.summary, state.norm, this.way !== null || (isDiverging(this.map(state)) && this.summary.min < 0)));
    if (state.isPerSlice) return usual();
    const key = JSON.stringify([fieldOf(this.shown, state)?.name, reducedOf(this.shown, state, "image") >= 0 && state.statistic, state.component, state.norm, isDiverging(this.map(state))]);
    if (this.kept.key !== key || !this.kept.limits || !this.kept.isFinal) {
      this.kept = { key, limits: usual(), isFinal: this.isWhole };
    }
    return this.kept.limits;
  }

  /** Returns the norm of a state. Ratios that are not negative are logarithmic: a half is as far from one as two. */
  private norm(state: State): Norm {
    return this.way === "ratio" && this.summary !== null && this.summary.min >= 0 ? "log" : state.norm;
  }

  /** Returns the current limits, for a state that keeps them. */
  fixed(state: State, visible: number[]): Partial<State> {
    const limits = this.limits(state);
    if (this.shown.channels.length > 0) {
      // Channels without limits in the metadata have those of the first slice.
      const open = visible.flatMap((channel, plane) => (this.shown.channels[channel]?.range || state.tones[channel]?.range.length === 2 || !this.channels[plane] ? [] : [[channel, plane] as const]));
      const tones = open.map(([channel, plane]) => [channel, { colour: "", ...state.tones[channel], range: this.tone(plane, channel, state)!.limits }] as const);
      return open.length > 0 ? { tones: { ...state.tones, ...Object.fromEntries(tones) } } : {};
    }
    const isOwn = this.shown.channels.length > 0 || this.shown.colours >= 0 || state.isPerSlice || this.isPhase(state);
    return isOwn || !limits || state.range.length === 2 ? {} : { range: limits };
  }

  /** Paints a layer with its channels. */
  paint(layer: Layer, state: State, visible: number[]): void {
    const context = layer.canvas.getContext("2d");
    if (!context || layer.columns * layer.rows === 0) return;
    const key = JSON.stringify([this.map(state), state.reverse, state.levels, state.under, state.over, state.bad]);
    if (key !== this.colours.key) {
      const colours = table(this.maps, this.map(state), state.reverse, state.levels);
      this.colours = { key, table: colours, pixels: pixelsOf(colours, state) };
    }
    const limits = this.limits(state);
    let pixels: Uint8ClampedArray<ArrayBuffer>;
    if (layer.bytes) pixels = opaque(layer.bytes, layer.columns * layer.rows);
    else if (this.shown.channels.length > 0) pixels = blended(layer, visible.map((channel) => toned(this.shown.channels[channel]!, state.tones[channel]?.colour)), visible.map((channel, plane) => this.tone(plane, channel, state)?.limits ?? [0, 1]));
    else if (limits) pixels = paint(layer.planes[0]!, this.colours.pixels, limits, this.norm(state));
    else pixels = new Uint8ClampedArray(new ArrayBuffer(layer.columns * layer.rows * 4));
    layer.pixels = pixels;
    context.putImageData(new ImageData(pixels, layer.columns, layer.rows), 0, 0);
  }

  /** Returns the color bar; `null` if the elements are colours. */
  bar(state: State): Bar | null {
    const limits = this.shown.colours >= 0 || this.shown.channels.length > 0 ? null : this.limits(state);
    if (!limits) return null;
    const times = valueTimes(this.shown, state);
    const ticks = this.isPhase(state) && limits[1] === Math.PI ? [-1, -0.5, 0, 0.5, 1].map((part): [number, string] => [part * Math.PI, pies(part)]) : null;
    return { limits, norm: this.norm(state), colours: this.colours.table, key: this.colours.key, ends: [state.under, state.over], units: valueUnits(this.shown, state), tell: times ? (value) => times.text(Math.round(value)) : null, ticks };
  }

  /** Returns an explanation of a picture in which nothing is visible. */
  warning(layer: Layer, state: State): string {
    const { summary: known } = this;
    if (this.shown.channels.length > 0 && layer.planes.length === 0) return "No channel is shown";
    if (!known || layer.damaged.length > 0) return "";
    if (known.count > 0 && known.missing === known.count) return "All values of this slice are missing";
    if (known.finite === 0) return "No value of this slice is finite";
    if (state.norm === "log" && known.positive === 0) return "No value is above 0: a logarithmic norm has nothing to show";
    const stored = this.shown.node.stored;
    return stored && stored.stored === 0 ? `No chunk is written: all elements have the fill value ${this.shown.node.fill_text}` : "";
  }
}

/** Returns a channel in the chosen colour, if one was chosen. */
function toned(channel: Channel, colour: string | undefined): Channel {
  return colour ? { ...channel, colour: rgb(colour) } : channel;
}

/** Returns a fraction of π as text. */
function pies(part: number): string {
  const size = { 1: "π", 0.5: "π/2" }[Math.abs(part)];
  return size ? `${part < 0 ? "−" : ""}${size}` : "0";
}

function opaque(bytes: Float64Array, count: number): Uint8ClampedArray<ArrayBuffer> {
  const parts = bytes.length / count;
  const pixels = new Uint8ClampedArray(new ArrayBuffer(count * 4));
  for (let at = 0; at < count; at++) {
    for (let part = 0; part < 3; part++) pixels[at * 4 + part] = bytes[at * parts + part]!;
    pixels[at * 4 + 3] = parts === 4 ? bytes[at * parts + 3]! : 255;
  }
  return pixels;
}

/** Blends channels as light of their colours. */
function blended({ planes, columns, rows }: Layer, channels: Channel[], limits: Limits[]): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(new ArrayBuffer(columns * rows * 4));
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = 255;
  planes.forEach((plane, number) => {
    const [low, high] = limits[number] ?? [0, 1];
    const colour = channels[number]?.colour ?? [255, 255, 255];
    for (let at = 0; at < plane.length; at++) {
      const light = Math.max(0, Math.min(1, (plane[at]! - low) / (high - low || 1))) || 0;
      for (let part = 0; part < 3; part++) pixels[at * 4 + part]! += light * colour[part]!;
    }
  });
  return pixels;
}
