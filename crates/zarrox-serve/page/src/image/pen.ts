/** The output of figures: a canvas, or SVG. */

export interface Pen {
  /** Draws each line through its points. */
  lines: (lines: [number, number][][], colour: string, width: number) => void;
  fill: (x: number, y: number, width: number, height: number, colour: string) => void;
  frame: (x: number, y: number, width: number, height: number, colour: string, thick: number) => void;
  circle: (x: number, y: number, radius: number, colour: string, width: number) => void;
  text: (x: number, y: number, text: string, style: TextStyle) => void;
  /** Draws a part of a canvas into a rectangle. Negative lengths of the part flip it. */
  image: (source: HTMLCanvasElement, from: [number, number, number, number], to: [number, number, number, number], opacity: number) => void;
  hatch: (x: number, y: number, width: number, height: number, paper: string, ink: string) => void;
  /** Draws only within a rectangle. */
  within: (x: number, y: number, width: number, height: number, draw: () => void) => void;
}

export interface TextStyle {
  colour: string;
  size?: number;
  align?: "left" | "center" | "right";
  isBold?: boolean;
  /** True for text that runs upwards. */
  isUpright?: boolean;
  /** The maximum width of the text in pixels. */
  most?: number;
}

const FONT = "system-ui, sans-serif";

/** Returns the XML namespace of SVG from the browser. */
function nameSpace(): string {
  const template = document.createElement("template");
  template.innerHTML = "<svg/>";
  return template.content.firstElementChild?.namespaceURI ?? "";
}

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  lines(lines: [number, number][][], colour: string, width: number): void {
    const { context } = this;
    context.beginPath();
    for (const line of lines) line.forEach(([x, y], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.lineJoin = "round";
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
  }

  fill(x: number, y: number, width: number, height: number, colour: string): void {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  frame(x: number, y: number, width: number, height: number, colour: string, thick: number): void {
    this.context.lineWidth = thick;
    this.context.strokeStyle = colour;
    this.context.strokeRect(x, y, width, height);
  }

  circle(x: number, y: number, radius: number, colour: string, width: number): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 7);
    this.context.lineWidth = width;
    this.context.strokeStyle = colour;
    this.context.stroke();
  }

  text(x: number, y: number, text: string, { colour, size = 11, align = "left", isBold = false, isUpright = false, most }: TextStyle): void {
    const { context } = this;
    context.save();
    context.font = `${isBold ? "600 " : ""}${size}px ${FONT}`;
    context.fillStyle = colour;
    context.textAlign = align;
    context.translate(x, y);
    if (isUpright) context.rotate(-Math.PI / 2);
    if (most === undefined) context.fillText(text, 0, 0);
    else context.fillText(text, 0, 0, most);
    context.restore();
  }

  image(source: HTMLCanvasElement, [sx, sy, sw, sh]: [number, number, number, number], [dx, dy, dw, dh]: [number, number, number, number], opacity: number): void {
    const { context } = this;
    context.save();
    context.imageSmoothingEnabled = false;
    context.globalAlpha = opacity;
    context.translate(dx, dy);
    context.scale(Math.sign(dw) || 1, Math.sign(dh) || 1);
    context.drawImage(source, sx, sy, sw, sh, 0, 0, Math.abs(dw), Math.abs(dh));
    context.restore();
  }

  hatch(x: number, y: number, width: number, height: number, paper: string, ink: string): void {
    this.context.fillStyle = this.context.createPattern(stripe(paper, ink), "repeat") ?? paper;
    this.context.fillRect(x, y, width, height);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

/** Tiles of diagonal lines by colour. Filling with a tile is faster than drawing lines. */
const tiles = new Map<string, HTMLCanvasElement>();
const SIDE = 7;

function stripe(paper: string, ink: string): HTMLCanvasElement {
  const key = `${paper} ${ink}`;
  const known = tiles.get(key);
  if (known) return known;
  const tile = document.createElement("canvas");
  [tile.width, tile.height] = [SIDE, SIDE];
  const context = tile.getContext("2d");
  if (context) {
    const pen = new CanvasPen(context);
    pen.fill(0, 0, SIDE, SIDE, paper);
    pen.lines([-SIDE, 0, SIDE].map((shift) => [[shift + 2 * SIDE, -SIDE], [shift - SIDE, 2 * SIDE]]), ink, 1);
  }
  tiles.set(key, tile);
  return tile;
}

/** Returns diagonal lines over a rectangle. */
function stripes(x: number, y: number, width: number, height: number): [number, number][][] {
  const found: [number, number][][] = [];
  // The lines of adjacent rectangles meet.
  for (let at = Math.floor((x + y) / 7) * 7; at < x + y + width + height; at += 7) found.push([[at - y, y], [at - y - height, y + height]]);
  return found;
}

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  /** Returns the SVG document with everything that was drawn. */
  document(width: number, height: number, title: string): string {
    return `<svg xmlns="${nameSpace()}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}"><title>${escaped(title)}</title>${this.parts.join("\n")}</svg>\n`;
  }

  lines(lines: [number, number][][], colour: string, width: number): void {
    const path = lines.map((line) => line.map(([x, y], at) => `${at === 0 ? "M" : "L"}${short(x)} ${short(y)}`).join("")).join("");
    if (path !== "") this.parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linejoin="round"/>`);
  }

  fill(x: number, y: number, width: number, height: number, colour: string): void {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${colour}"/>`);
  }

  frame(x: number, y: number, width: number, height: number, colour: string, thick: number): void {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="none" stroke="${colour}" stroke-width="${thick}"/>`);
  }

  circle(x: number, y: number, radius: number, colour: string, width: number): void {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${radius}" fill="none" stroke="${colour}" stroke-width="${width}"/>`);
  }

  text(x: number, y: number, text: string, { colour, size = 11, align = "left", isBold = false, isUpright = false }: TextStyle): void {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    const turn = isUpright ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : "";
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" font-size="${size}"${isBold ? ' font-weight="600"' : ""} fill="${colour}" text-anchor="${anchor}"${turn}>${escaped(text)}</text>`);
  }

  image(source: HTMLCanvasElement, [sx, sy, sw, sh]: [number, number, number, number], [dx, dy, dw, dh]: [number, number, number, number], opacity: number): void {
    const part = document.createElement("canvas");
    [part.width, part.height] = [sw, sh];
    part.getContext("2d")?.drawImage(source, sx, sy, sw, sh, 0, 0, sw, sh);
    const turn = `translate(${short(dx)} ${short(dy)}) scale(${Math.sign(dw) || 1} ${Math.sign(dh) || 1})`;
    this.parts.push(`<image transform="${turn}" width="${short(Math.abs(dw))}" height="${short(Math.abs(dh))}" preserveAspectRatio="none" opacity="${opacity}" style="image-rendering:pixelated" href="${part.toDataURL()}"/>`);
  }

  hatch(x: number, y: number, width: number, height: number, paper: string, ink: string): void {
    this.fill(x, y, width, height, paper);
    this.within(x, y, width, height, () => this.lines(stripes(x, y, width, height), ink, 1));
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }
}

const short = (number: number): string => String(Math.round(number * 100) / 100);
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
