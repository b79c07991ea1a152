// The browser that all tests of the page share. `cargo xtask page --test` starts the server, and runs them with ZARROX_SERVER, the address of
// the server, and CHROMIUM, the path of the browser.

import assert from "node:assert/strict";
import { after, before } from "node:test";

import { chromium } from "playwright-core";

export const server = process.env.ZARROX_SERVER;
let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});
after(() => browser.close());

/** Returns an empty page, and the problems that occur in it. */
export async function blank(t, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(`${message.text()} ${message.location().url}`));
  t.after(() => context.close());
  return { page, problems };
}

/** Opens a state of the page, or another page. The test fails if the console has errors at the end, except `expected` ones. */
export async function opened(t, fragment, { expected = null, ...options } = {}) {
  const { page, problems } = await blank(t, options);
  t.after(() => assert.deepEqual(problems.filter((text) => !expected?.test(text)), []));
  await page.goto(fragment.startsWith("http") ? fragment : `${server}/${fragment}`);
  return page;
}

/** Shows another state in an open page, and waits for it. */
export async function show(page, fragment, ready = ".image[data-took]:not(.busy)") {
  await page.evaluate((fragment) => {
    document.querySelector(".image")?.removeAttribute("data-took");
    location.hash = fragment;
  }, fragment);
  await page.waitForSelector(ready);
}

/** Waits for a picture. */
export const ready = (page) => page.waitForSelector(".image[data-whole]:not(.busy)");

/** Returns the geometry of a picture. */
export async function geometry(page) {
  await page.waitForSelector(".image[data-took]:not(.busy)");
  return page.$eval(".image", (image) => {
    const numbers = (name) => image.dataset[name].split(",").map(Number);
    const { left, top } = image.querySelector("canvas").getBoundingClientRect();
    return { area: numbers("area"), box: numbers("box"), turned: numbers("turned"), left, top };
  });
}

/** Returns the position of an element within the canvas, by its indices across and down. */
export async function placeOf(page, column, row) {
  const { area, box, turned, left, top } = await geometry(page);
  const part = (at, side) => {
    const part = (at + 0.5 - box[side]) / (box[side + 2] - box[side]);
    return turned[side] ? 1 - part : part;
  };
  const [x, y] = [area[0] + part(column, 0) * area[2], area[1] + part(row, 1) * area[3]];
  return { x, y, pageX: left + x, pageY: top + y };
}

/** Returns the colour of an element, by its indices across and down. */
export async function colourOf(page, column, row) {
  const { x, y } = await placeOf(page, column, row);
  return page.$eval(".image canvas", (canvas, [x, y]) => {
    const ratio = canvas.width / canvas.clientWidth;
    return [...canvas.getContext("2d").getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data];
  }, [x, y]);
}

/** Returns true if some colours around an element are those of the hatching, as for a missing value. */
export async function isHatched(page, column, row, paper = 255) {
  const { x, y } = await placeOf(page, column, row);
  const found = await page.$eval(".image canvas", (canvas, [x, y]) => {
    const ratio = canvas.width / canvas.clientWidth;
    const { data } = canvas.getContext("2d").getImageData(Math.floor(x * ratio) - 8, Math.floor(y * ratio) - 8, 16, 16);
    return Array.from({ length: 256 }, (_, at) => data[at * 4]);
  }, [x, y]);
  const bright = found.filter((red) => red === paper).length;
  return bright > 30 && bright < 250;
}

/** Returns the text of the tooltip at an element. */
export async function tagOf(page, column, row) {
  const { pageX, pageY } = await placeOf(page, column, row);
  await page.mouse.move(pageX + 1, pageY);
  await page.mouse.move(pageX, pageY);
  const parts = await page.$$eval(".tag:not([hidden]) > *", (all) => all.map((one) => one.textContent));
  return parts.join(" | ");
}

/** Clicks an element of the image, and waits until the click cannot become a double click. */
export async function click(page, column, row, modifiers = []) {
  const { x, y } = await placeOf(page, column, row);
  await page.locator(".image canvas").click({ position: { x, y }, modifiers });
  await page.waitForTimeout(350);
}

/** Returns the contrast limits in their fields. */
export async function limits(page) {
  await ready(page);
  return Promise.all(["Lower limit", "Upper limit"].map(async (name) => Number(await page.getByLabel(name, { exact: true }).inputValue())));
}

/** Returns the fragment of the URL, which is written soon after the state changes. */
export async function fragment(page) {
  await page.waitForTimeout(400);
  return decodeURIComponent(await page.evaluate(() => location.hash));
}

export const near = (found, wanted) => found.slice(0, 3).every((part, index) => Math.abs(part - wanted[index]) < 24);
export const sub = (page) => page.locator(".sub").textContent();
