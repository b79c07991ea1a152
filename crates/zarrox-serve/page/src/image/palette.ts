/** The colours of an image: its colour map, its contrast limits, and what is known of its values. */

import { contrast, isDiverging, paint, pixelsOf, summary, table, type Limits, type Maps, type Summary } from "./colours";
import type { Bar, Layer } from "./figure";
import { fieldOf, reducedOf, valueTimes, valueUnits, type Channel, type Shown } from "../data/model";
import { rgb } from "../data/rgb";
import type { State } from "../data/state";

export class Palette {
  private colours: { key: string; table: Uint8Array; pixels: Uint32Array } = { key: "", table: new Uint8Array(768), pixels: new Uint32Array(259) };
  /** The limits of the first slice, which other slices keep. */
  private kept: { key: string; limits: Limits | null; isFinal: boolean } = { key: "", limits: null, isFinal: false };
  /** What is known of the channels that are shown. */
  private channels: Summary[] = [];
  /** What is known of the values that are shown; `null` before there are any. */
  summary: Summary | null = null;
  /** True if all values are there that the summary is of. */
  private isWhole = false;

  constructor(
    private readonly shown: Shown,
    private readonly maps: Maps,
    /** True for differences, which have colours on both sides of zero. */
    private readonly isDifference: boolean,
  ) {}

  /** Forgets the values that were shown. */
  clear(): void {
    this.summary = null;
    this.isWhole = false;
  }

  /** Takes no new limits of the values that are shown: others are on their way. */
  await(): void {
    this.isWhole = false;
  }

  /** Takes the values of a layer. */
  take(layer: Layer): void {
    this.summary = layer.planes[0] ? summary(layer.planes[0]) : null;
    this.isWhole = layer.isWhole;
    this.channels = this.shown.channels.length === 0 ? [] : layer.planes.map((plane, at) => (at === 0 ? this.summary! : summary(plane)));
  }

  /** What is known of the channel in a plane, with its limits: those that were chosen, of the metadata, or of its values. */
  tone(plane: number, channel: number, state: State): { summary: Summary; limits: Limits } | null {
    const of = this.channels[plane];
    const chosen = state.tones[channel]?.range ?? [];
    return of ? { summary: of, limits: chosen.length === 2 ? (chosen as Limits) : (this.shown.channels[channel]?.range ?? contrast(of, "linear", false) ?? [0, 1]) } : null;
  }

  /** The colour map of a state: that which was chosen, or that which suits the values. */
  map(state: State): string {
    if (state.map in this.maps) return state.map;
    if (this.isPhase(state)) return "twilight";
    if (this.isDifference) return "rdbu";
    const words = `${this.shown.node.name} ${this.shown.title} ${String(this.shown.node.attributes["standard_name"] ?? "")}`;
    const isSigned = /anomal|differen|bias|wind|velocity|trend|residual/i.test(words) && this.summary !== null && this.summary.min < 0 && this.summary.max > 0;
    return isSigned ? "rdbu" : "viridis";
  }

  private isPhase(state: State): boolean {
    return this.shown.node.data_type.kind === "complex" && state.component === "phase";
  }

  /** The contrast limits of a state; `null` where there is nothing to show. */
  limits(state: State): Limits | null {
    if (state.range.length === 2 && !(state.norm === "log" && state.range[0]! <= 0)) return state.range as Limits;
    if (this.isPhase(state)) return [-Math.PI, Math.PI];
    const usual = (): Limits | null => (this.summary ? contrast(this.summary, state.norm, this.isDifference || (isDiverging(this.map(state)) && this.summary.min < 0)) : null);
    if (state.isPerSlice) return usual();
    const key = JSON.stringify([fieldOf(this.shown, state)?.name, reducedOf(this.shown, state, "image") >= 0 && state.statistic, state.component, state.norm, isDiverging(this.map(state))]);
    if (this.kept.key !== key || !this.kept.limits || !this.kept.isFinal) {
      this.kept = { key, limits: usual(), isFinal: this.isWhole };
    }
    return this.kept.limits;
  }

  /** The limits as they are, for a state in which they stay. */
  fixed(state: State): Partial<State> {
    const limits = this.limits(state);
    const isOwn = this.shown.channels.length > 0 || this.shown.colours >= 0 || state.isPerSlice || this.isPhase(state);
    return isOwn || !limits || state.range.length === 2 ? {} : { range: limits };
  }

  /** Paints a layer, with the channels that it has. */
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
    else if (limits) pixels = paint(layer.planes[0]!, this.colours.pixels, limits, state.norm);
    else pixels = new Uint8ClampedArray(new ArrayBuffer(layer.columns * layer.rows * 4));
    context.putImageData(new ImageData(pixels, layer.columns, layer.rows), 0, 0);
  }

  /** The colour bar; `null` where colours are those of the elements. */
  bar(state: State): Bar | null {
    const limits = this.shown.colours >= 0 || this.shown.channels.length > 0 ? null : this.limits(state);
    if (!limits) return null;
    const times = valueTimes(this.shown, state);
    const ticks = this.isPhase(state) && limits[1] === Math.PI ? [-1, -0.5, 0, 0.5, 1].map((part): [number, string] => [part * Math.PI, pies(part)]) : null;
    return { limits, norm: state.norm, colours: this.colours.table, key: this.colours.key, ends: [state.under, state.over], units: valueUnits(this.shown, state), tell: times ? (value) => times.text(Math.round(value)) : null, ticks };
  }

  /** What a picture without anything to see means. */
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

/** A channel in another colour, if one was chosen. */
function toned(channel: Channel, colour: string | undefined): Channel {
  return colour ? { ...channel, colour: rgb(colour) } : channel;
}

/** A part of π as text. */
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

/** Channels as light of their colours. */
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
