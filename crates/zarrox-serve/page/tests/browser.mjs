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

/** A page without an address, and what goes wrong in it from now on. */
export async function blank(t, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(`${message.text()} ${message.location().url}`));
  t.after(() => context.close());
  return { page, problems };
}

/** Opens a state of the page, or another page, and fails the test if the console has an error at its end, beside those that are `expected`. */
export async function opened(t, fragment, { expected = null, ...options } = {}) {
  const { page, problems } = await blank(t, options);
  t.after(() => assert.deepEqual(problems.filter((text) => !expected?.test(text)), []));
  await page.goto(fragment.startsWith("http") ? fragment : `${server}/${fragment}`);
  return page;
}

/** Waits for a picture, and gives the colour at a part of its width and height. */
export async function colour(page, x, y) {
  await page.waitForSelector(".image[data-took]:not(.busy)");
  return page.$eval(".image canvas", (canvas, [x, y]) => {
    const ratio = canvas.width / canvas.clientWidth;
    const [left, bottom] = [64 * ratio, 26 * ratio];
    const at = [left + x * (canvas.width - left), y * (canvas.height - bottom)].map(Math.round);
    return [...canvas.getContext("2d").getImageData(at[0], at[1], 1, 1).data];
  }, [x, y]);
}

/** The colour of an element, by its indices across and down. */
export async function colourOf(page, column, row) {
  await page.waitForSelector(".image[data-took]:not(.busy)");
  const [left, top, right, bottom] = (await page.locator(".image").getAttribute("data-box")).split(",").map(Number);
  return colour(page, (column + 0.5 - left) / (right - left), (row + 0.5 - top) / (bottom - top));
}

export const fragment = (page) => page.evaluate(() => location.hash);
export const near = (found, wanted) => found.slice(0, 3).every((part, index) => Math.abs(part - wanted[index]) < 24);
