/** A map in a rectangle of the figure: its projection, its middle and its scale. */

import { projection, wrapped, type Projection, type ProjectionName } from "./projections";
import type { Rect } from "./figure";

/** The maximum magnification of a map. */
const MOST = 4000;

export class Globe {
  private readonly projection: Projection;
  /** The number of pixels per unit of the projection. */
  readonly scale: number;
  private readonly middle: [number, number];

  constructor(
    readonly name: ProjectionName,
    /** The longitude and the latitude in the middle, and the magnification. */
    readonly view: [number, number, number],
    readonly rect: Rect,
  ) {
    const [, latitude, zoom] = view;
    const [, , width, height] = rect;
    this.projection = projection(name, latitude);
    const { size, wide, forward } = this.projection;
    this.scale = Math.min(width / size[0], height / size[1]) * 0.5 * zoom;
    // Maps with straight parallels are moved up and down; others are turned.
    this.middle = wide ? [0, forward(0, latitude)![1]] : [0, 0];
  }

  get key(): string {
    return JSON.stringify([this.name, this.view, this.rect]);
  }

  /** True if the map can be moved up and down. */
  get isTilted(): boolean {
    return this.name !== "north" && this.name !== "south";
  }

  /** The number of degrees per pixel in the middle. */
  get degrees(): number {
    return 180 / Math.PI / this.scale;
  }

  get wide(): Projection["wide"] {
    return this.projection.wide;
  }

  /** Returns the pixel of a longitude relative to the middle, and a latitude. */
  toPixel(longitude: number, latitude: number): [number, number] | null {
    const place = this.projection.forward(longitude, latitude);
    if (!place) return null;
    const [left, top, width, height] = this.rect;
    return [left + width / 2 + (place[0] - this.middle[0]) * this.scale, top + height / 2 - (place[1] - this.middle[1]) * this.scale];
  }

  /** Returns the pixel of a place. */
  pixelOf(longitude: number, latitude: number): [number, number] | null {
    return this.toPixel(wrapped(longitude - this.view[0]), latitude);
  }

  /** Returns the longitude relative to the middle, and the latitude of a pixel; `null` outside the map. */
  from(x: number, y: number): [number, number] | null {
    const [left, top, width, height] = this.rect;
    return this.projection.inverse((x - left - width / 2) / this.scale + this.middle[0], (top + height / 2 - y) / this.scale + this.middle[1]);
  }

  /** Returns the middle and the magnification after a movement by pixels. */
  moved(dx: number, dy: number): [number, number, number] {
    const [longitude, latitude, zoom] = this.view;
    const turn = this.isTilted ? dx * this.degrees : (this.name === "north" ? dx : -dx) * this.degrees;
    const narrow = this.name === "orthographic" ? Math.max(0.2, Math.cos((latitude * Math.PI) / 180)) : 1;
    return [wrapped(longitude - turn / narrow), this.isTilted ? Math.max(-90, Math.min(90, latitude + dy * this.degrees)) : latitude, zoom];
  }

  /** Returns the middle and the magnification after zooming around a pixel. */
  zoomed(factor: number, x: number, y: number): [number, number, number] {
    const zoom = Math.max(0.8, Math.min(MOST, this.view[2] / factor));
    if (!this.isTilted) return [this.view[0], this.view[1], zoom];
    const [left, top, width, height] = this.rect;
    const part = 1 - this.view[2] / zoom;
    const [longitude, latitude] = this.moved((left + width / 2 - x) * part, (top + height / 2 - y) * part);
    return [longitude, latitude, zoom];
  }

  /** Returns the outline of the map in pixels. */
  outline(): [number, number][] {
    const { outline, size } = this.projection;
    const [left, top, width, height] = this.rect;
    const circle = (at: number): [number, number] => [left + width / 2 + Math.sin(at / 57.3) * size[0] * this.scale, top + height / 2 - Math.cos(at / 57.3) * size[1] * this.scale];
    if (outline.length === 0) return Array.from({ length: 181 }, (_, at) => circle(at * 2.0001));
    return outline.flatMap(([longitude, latitude]) => [this.toPixel(longitude, latitude)!]);
  }

  /** Returns lines of places in pixels. A line ends where it is not visible, and at the edges of the map. */
  lines(lines: [number, number][][]): [number, number][][] {
    const found: [number, number][][] = [];
    for (const line of lines) {
      let points: [number, number][] = [];
      let before = NaN;
      for (const [longitude, latitude] of line) {
        const relative = wrapped(longitude - this.view[0]);
        const pixel = this.toPixel(relative, latitude);
        if (!pixel || Math.abs(relative - before) > 180) {
          if (points.length > 1) found.push(points);
          points = [];
        }
        if (pixel) points.push(pixel);
        before = relative;
      }
      if (points.length > 1) found.push(points);
    }
    return found;
  }
}
