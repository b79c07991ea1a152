/** The channels of an image: shown or not, each with a colour, a histogram and contrast limits. */

import { check, h } from "../dom";
import { Histogram, limitText } from "./histogram";
import type { ImageView } from "../image/image";
import type { Shown } from "../data/model";
import { hex } from "../data/rgb";
import type { Store, Tone } from "../data/state";

export class ChannelRows {
  readonly element: HTMLElement;
  private readonly histograms: Histogram[];

  constructor(
    private readonly shown: Shown,
    private readonly store: Store,
    chosen: number[],
  ) {
    this.histograms = shown.channels.map((channel, number) => new Histogram((range, quietly) => this.tone(number, { range }, quietly), limitText, (text) => Number(text.replace("−", "-")), channel.label));
    this.element = h("div", { class: "channels" }, ...shown.channels.map((_, number) => this.row(number, chosen)));
  }

  private row(number: number, chosen: number[]): HTMLElement {
    const channel = this.shown.channels[number]!;
    const isShown = chosen.includes(number);
    const show = (isOn: boolean): void => this.store.change({ channels: isOn ? [...chosen, number].sort((a, b) => a - b) : chosen.filter((one) => one !== number) });
    const tone = this.store.state.tones[number];
    const colour = h("input", { type: "color", value: `#${tone?.colour || hex(channel.colour)}`, "aria-label": `Colour of ${channel.label}`, "data-control": `colour-${number}`, change: () => this.tone(number, { colour: colour.value.slice(1) }, false) });
    const auto = h("button", { type: "button", class: "icon", "aria-label": `Limits of ${channel.label} as at first`, title: "Limits and colour as at first", disabled: !tone, click: () => this.reset(number) }, "↺");
    return h("div", { class: "channel" }, h("div", { class: "bar" }, check(channel.label, isShown, show), h("span", { class: "space" }), colour, auto), isShown && this.histograms[number]!.element);
  }

  /** Shows the values of the channels, and their limits. */
  changed(view: ImageView): void {
    this.histograms.forEach((histogram, number) => {
      const tone = view.tone(number);
      if (tone) histogram.show(tone.summary, tone.limits);
    });
  }

  private tone(number: number, changes: Partial<Tone>, quietly: boolean): void {
    const { tones } = this.store.state;
    this.store.change({ tones: { ...tones, [number]: { range: [], colour: "", ...tones[number], ...changes } } }, quietly);
  }

  private reset(number: number): void {
    this.store.change({ tones: Object.fromEntries(Object.entries(this.store.state.tones).filter(([channel]) => Number(channel) !== number)) });
  }
}
