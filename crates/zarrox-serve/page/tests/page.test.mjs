// The page in a real browser, on the hierarchies of make.py.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import axe from "axe-core";

import { colour, colourOf, fragment, near, opened, server } from "./browser.mjs";

const shots = process.env.SHOTS;

test("a click in the tree shows an array, its metadata, and its picture", async (t) => {
  const page = await opened(t, "");
  await page.getByRole("treeitem", { name: /^t2m/ }).click();
  const [warm, cold] = [await colourOf(page, 1, 90), await colourOf(page, 180, 1)];
  // The equator is warmer than the pole: yellow and violet.
  assert.ok(near(warm, [253, 231, 37]) && near(cold, [68, 1, 84]), `${warm} ${cold}`);
  const panel = page.getByRole("complementary", { name: "metadata" });
  for (const text of ["48 × 181 × 360", "12 × 60 × 90", "float32", "zstd", "temperature"]) await panel.getByText(text, { exact: true }).first().waitFor();
  if (shots) await page.screenshot({ path: `${shots}/serve-image.png` });
});

test("values and their coordinates are told under the pointer, missing ones too", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?view=image");
  await colour(page, 0.5, 0.5);
  const box = await page.locator(".image canvas").boundingBox();
  const over = (x, y) => page.mouse.move(box.x + 64 + x * (box.width - 64), box.y + y * (box.height - 26));
  await over(0.5, 0.5);
  const told = await page.locator(".image .readout").textContent();
  assert.match(told, /K · lat -?\d+ degrees_north \[\d+\] · lon 1[78]\d degrees_east/);
  await over(60 / 360, 0.5 + (105 - 90.5) / 360 * ((box.width - 64) / (box.height - 26)));
  assert.match(await page.locator(".image .readout").textContent(), /^missing/);
});

/** The columns or rows of elements whose colours the coasts change: along a row, or down a column. */
async function coasts(page, [from, to], place) {
  const box = page.getByRole("checkbox", { name: "coasts" });
  const all = async () => {
    const found = [];
    for (let at = from; at < to; at++) found.push(String(await colourOf(page, ...place(at))));
    return found;
  };
  const drawn = await all();
  await box.uncheck();
  assert.match(await fragment(page), /coast=0/);
  const plain = await all();
  await box.check();
  assert.doesNotMatch(await fragment(page), /coast/);
  return drawn.flatMap((one, at) => (one === plain[at] ? [] : [from + at]));
}

test("coasts lie where they are, whichever way latitudes and longitudes go", async (t) => {
  const near = (found, wanted) => assert.ok(found.length > 0 && found.every((at) => Math.abs(at - wanted) <= 2), `${found} ${wanted}`);
  // The coast of Mauritania at 20° north is at 17° west; at 20° east, Africa ends at 35° south.
  const page = await opened(t, "#/climate.zarr/t2m");
  near(await coasts(page, [325, 358], (lon) => [lon, 70]), 343);
  near(await coasts(page, [110, 140], (lat) => [20, lat]), 125);
  // Fiji lies on both sides of 180°: no line leads from one end of the world to the other, as over the Pacific at 120° west.
  assert.deepEqual(await coasts(page, [98, 114], (lat) => [240, lat]), []);
  const other = await opened(t, "#/mixed.zarr/world/height");
  near(await coasts(other, [145, 178], (lon) => [lon, 110]), 163);
  near(await coasts(other, [40, 70], (lat) => [200, lat]), 55);
  const none = await opened(t, "#/mixed.zarr/complex?view=image");
  await colour(none, 0.5, 0.5);
  assert.equal(await none.getByRole("checkbox", { name: "coasts" }).count(), 0);
});

test("a slider moves through times, and back leads to where one was", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await colour(page, 0.5, 0.5);
  const slider = page.getByRole("slider", { name: "time" });
  await slider.focus();
  for (let n = 0; n < 3; n++) await page.keyboard.press("ArrowRight");
  assert.match(await fragment(page), /at=0%3A3/);
  await page.getByText("2020-02-28 18:00 [3] of 48").waitFor();
  const colours = page.getByRole("combobox", { name: "colours" });
  await colours.selectOption("magma");
  assert.match(await fragment(page), /map=magma/);
  await page.goBack();
  assert.match(await fragment(page), /at=0%3A3$/);
  assert.equal(await colours.inputValue(), "viridis");
  await page.goForward();
  assert.equal(await colours.inputValue(), "magma");
});

test("it plays by itself, and stops", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await colour(page, 0.5, 0.5);
  await page.getByRole("button", { name: "play time" }).click();
  await page.waitForFunction(() => /at=0%3A[2-9]/.test(location.hash));
  await page.getByRole("button", { name: "play time" }).click();
  const stopped = await fragment(page);
  await page.waitForTimeout(500);
  assert.equal(await fragment(page), stopped);
});

test("the wheel and keys zoom, and a link shows the same part again", async (t) => {
  const page = await opened(t, "#/mixed.zarr/sparse?view=image");
  await colour(page, 0.5, 0.5);
  const box = await page.locator(".image canvas").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -800);
  await page.waitForFunction(() => location.hash.includes("box="));
  const zoomed = await fragment(page);
  await page.locator(".image canvas").focus();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await fragment(page), zoomed);
  const link = await fragment(page);
  const again = await opened(t, link);
  await colour(again, 0.5, 0.5);
  assert.equal(await fragment(again), link);
  await page.keyboard.press("0");
  assert.ok(!(await fragment(page)).includes("box="));
});

test("the handles of the histogram change the colours", async (t) => {
  const page = await opened(t, "#/climate.zarr/anomaly");
  const first = await colour(page, 0.3, 0.3);
  const handle = page.getByRole("slider", { name: "lowest value of the colours" });
  const [place, all] = [await handle.boundingBox(), await page.locator(".histogram").boundingBox()];
  await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2);
  await page.mouse.down();
  await page.mouse.move(all.x + all.width * 0.7, place.y + 5, { steps: 5 });
  await page.mouse.up();
  assert.match(await fragment(page), /range=/);
  assert.notDeepEqual(await colour(page, 0.3, 0.3), first);
  await handle.focus();
  const before = await fragment(page);
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await fragment(page), before);
  await page.getByRole("button", { name: "automatic" }).click();
  assert.deepEqual(await colour(page, 0.3, 0.3), first);
});

test("a click in the image shows the series there, and another one beside it", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await colour(page, 0.5, 0.5);
  const canvas = page.locator(".image canvas");
  await canvas.click({ position: { x: 300, y: 150 } });
  await page.locator(".below canvas[aria-label*='time']").waitFor();
  await canvas.click({ position: { x: 500, y: 150 }, modifiers: ["Shift"] });
  await page.waitForFunction(() => document.querySelector(".below canvas")?.getAttribute("aria-label")?.includes("; "));
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.equal(download.suggestedFilename(), "t2m.csv");
  if (shots) await page.screenshot({ path: `${shots}/serve-series.png` });
});

test("channels of an image in several sizes are shown and hidden", async (t) => {
  const page = await opened(t, "#/mixed.zarr/image");
  const both = await colour(page, 0.05, 0.5);
  await page.getByLabel("GFP").uncheck();
  await page.waitForFunction(() => location.hash.includes("channels=0"));
  await page.waitForTimeout(300);
  const one = await colour(page, 0.05, 0.5);
  assert.ok(one[1] === 0 && one[2] > 0, `${both} ${one}`);
});

test("labels lie over an image in colours of their own, as opaque as one likes", async (t) => {
  const page = await opened(t, "#/mixed.zarr/image?opacity=100");
  const places = [[300, 400], [500, 400], [300, 250], [650, 400]];
  const all = async () => {
    const found = [];
    for (const place of places) found.push(await colourOf(page, ...place));
    return found;
  };
  const [one, two, above, beside] = await all();
  const slider = page.getByRole("slider", { name: "opacity of labels" });
  await slider.fill("0");
  await page.waitForFunction(() => location.hash.includes("opacity=0"));
  const plain = await all();
  assert.deepEqual([above, beside], plain.slice(2));
  const apart = (a, b) => Math.hypot(...[0, 1, 2].map((part) => a[part] - b[part])) > 100;
  assert.ok(apart(one, two) && apart(one, plain[0]) && apart(two, plain[1]), `${one} ${two} ${plain}`);
  await slider.fill("50");
  await page.waitForFunction(() => !location.hash.includes("opacity"));
  await page.waitForTimeout(300);
  const half = await colourOf(page, ...places[0]);
  assert.ok([0, 1, 2].every((part) => Math.abs(half[part] - (one[part] + plain[0][part]) / 2) < 4), `${half}`);
});

test("colours are shown as they are", async (t) => {
  const page = await opened(t, "#/mixed.zarr/rgb");
  const [left, right] = [await colour(page, 0.4, 0.5), await colour(page, 0.6, 0.5)];
  assert.ok(near(left, [255, 0, 0]) && near(right, [0, 0, 255]), `${left} ${right}`);
});

test("lines are drawn, and a drag shows a part of one", async (t) => {
  const page = await opened(t, "#/mixed.zarr/wave");
  await page.locator(".line canvas[aria-label*='Values from -1 to 1']").waitFor();
  const box = await page.locator(".line canvas").boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 100, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("box="));
});

test("structures, text, times and single values are tables, in pages", async (t) => {
  const page = await opened(t, "#/mixed.zarr/text");
  await page.getByRole("cell", { name: "name 7 ü", exact: true }).waitFor();
  await page.getByRole("button", { name: "next" }).click();
  await page.getByRole("cell", { name: "name 107 ü" }).waitFor();
  await page.goto(`${server}/#/mixed.zarr/points`);
  await page.getByRole("columnheader", { name: "n", exact: true }).waitFor();
  await page.getByRole("cell", { name: "0.25", exact: true }).waitFor();
  await page.goto(`${server}/#/mixed.zarr/scalar`);
  await page.getByRole("cell", { name: "3.5" }).waitFor();
  await page.goto(`${server}/#/mixed.zarr/times?view=table`);
  await page.getByRole("cell", { name: /1970-01-01/ }).first().waitFor();
});

test("the map of chunks tells what is stored, inside of shards too", async (t) => {
  const page = await opened(t, "#/mixed.zarr/sparse?view=chunks");
  await page.getByText("8 chunks are stored, 92 are missing").waitFor();
  await page.locator(".chunks canvas").click({ position: { x: 100, y: 60 } });
  await page.getByText(/chunks inside/).waitFor();
  await page.getByText(/stored of 16/).waitFor();
  if (shots) await page.screenshot({ path: `${shots}/serve-chunks.png` });
});

test("damaged chunks are shown as such, and everything else works", async (t) => {
  const page = await opened(t, "#/mixed.zarr/damaged?view=chunks");
  await page.getByRole("button", { name: "verify these chunks" }).click();
  await page.getByText("1 are damaged").waitFor();
  const broken = await opened(t, "#/mixed.zarr/broken");
  await broken.getByRole("alert").filter({ hasText: /shape/ }).first().waitFor();
  await broken.getByRole("treeitem", { name: /^mask/ }).click();
  await colour(broken, 0.5, 0.5);
});

test("the tree is searched, paged, and moved through by keys", async (t) => {
  const page = await opened(t, "#/mixed.zarr");
  await page.getByLabel("search nodes").fill("g0123");
  await page.getByRole("button", { name: "many/g0123" }).click();
  assert.match(await fragment(page), /mixed\.zarr\/many\/g0123/);
  await page.getByLabel("search nodes").fill("");
  const many = page.getByRole("treeitem", { name: /^many/ });
  await many.focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await many.getAttribute("aria-expanded"), "false");
  await page.keyboard.press("ArrowRight");
  assert.equal(await many.getAttribute("aria-expanded"), "true");
  const more = page.getByRole("button", { name: "more …" });
  await more.click();
  await page.getByRole("treeitem", { name: /^g0299/ }).waitFor();
  await page.keyboard.press("ArrowDown");
});

test("it is dark for who wants that, and fits a narrow window", async (t) => {
  const dark = await opened(t, "#/climate.zarr/t2m", { colorScheme: "dark" });
  await colour(dark, 0.5, 0.5);
  const paper = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(paper, "rgb(22, 25, 29)");
  const narrow = await opened(t, "#/climate.zarr/t2m", { viewport: { width: 400, height: 800 } });
  await colour(narrow, 0.5, 0.5);
  assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= 400));
});

test("a page of another origin has a picture in a frame, where the tree is closed at first", async (t) => {
  // As a notebook is: no address that it asks for is of the server, but for what the frame has.
  const parent = createServer((_, response) => {
    const frame = `<iframe src="${server}/t/-/#/climate.zarr/t2m" width="1100" height="600" allow="clipboard-write; fullscreen"></iframe>`;
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><link rel="icon" href="data:,"><title>Notebook</title>${frame}`);
  });
  await new Promise((listening) => parent.listen(0, "127.0.0.1", listening));
  t.after(() => parent.close());
  const page = await opened(t, `http://localhost:${parent.address().port}/`);
  const shown = page.frame({ url: /\/t\/-\// }) ?? (await page.waitForEvent("framenavigated", (frame) => frame !== page.mainFrame()));
  const [warm, cold] = [await colourOf(shown, 1, 90), await colourOf(shown, 180, 1)];
  assert.ok(near(warm, [253, 231, 37]) && near(cold, [68, 1, 84]), `${warm} ${cold}`);
  const tree = shown.getByRole("treeitem", { name: /^t2m/ });
  assert.equal(await tree.isVisible(), false);
  await shown.getByRole("button", { name: "show or hide the tree" }).click();
  await tree.waitFor();
  // All that it asks for goes through the same path.
  const asked = await shown.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  assert.ok(asked.length > 3 && asked.every((path) => path.startsWith("/t/-/")), asked.join(" "));
  // Without the token in the path there is nothing in the frame.
  const refused = await fetch(`${server}/`);
  assert.match(refused.headers.get("content-security-policy"), /frame-ancestors 'self'/);
});

for (const [name, fragment] of Object.entries({ image: "#/climate.zarr/t2m", table: "#/mixed.zarr/points", chunks: "#/mixed.zarr/sparse?view=chunks" })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing serious: ${name}, ${colorScheme}`, async (t) => {
      const page = await opened(t, fragment, { colorScheme, bypassCSP: true });
      await page.locator("aside h2").waitFor();
      await page.waitForTimeout(500);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]), []);
    });
  }
}
