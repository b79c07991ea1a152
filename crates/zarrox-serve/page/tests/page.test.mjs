// The page in a real browser, on the hierarchies of make.py.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";

import axe from "axe-core";

import { colour, colourOf, fragment, near, opened, server } from "./browser.mjs";

const shots = process.env.SHOTS;
const run = promisify(execFile);

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

test("a slider is dragged", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await colour(page, 0.5, 0.5);
  const slider = page.getByRole("slider", { name: "time" });
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + 8, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2, { steps: 5 });
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  assert.ok(Math.abs(Number(await slider.inputValue()) - 23.5) < 2, await slider.inputValue());
  assert.match(await fragment(page), /at=0%3A2\d/);
  await page.getByText(/2020-03-0\d .* of 48/).waitFor();
  assert.equal(await slider.getAttribute("aria-valuetext"), await page.locator(".slider output").textContent());
});

test("numbers of xarray mean what their attributes say, and missing ones are grey", async (t) => {
  for (const [name, value] of [["packed3", /^\d+ K/], ["packed2", /^\d+ K/], ["packed3f", /^\d+ K/], ["packed2f", /^\d+ K/]]) {
    const page = await opened(t, `#/packed/${name}/degrees`);
    assert.equal((await colourOf(page, 15, 5))[3], 70, `${name} is grey where it is missing`);
    assert.ok(near(await colourOf(page, 0, 0), [68, 1, 84]), name);
    assert.ok(near(await colourOf(page, 39, 35), [253, 231, 37]), name);
    const ends = await page.locator(".ends").textContent();
    const [low, high] = ends.split(" … ").map(Number);
    assert.ok(low >= 0 && low < 3 && high <= 39 && high > 36, `${name}: ${ends}`);
    const box = await page.locator(".image canvas").boundingBox();
    const [left, top, right, bottom] = (await page.locator(".image").getAttribute("data-box")).split(",").map(Number);
    const over = (x, y) => page.mouse.move(box.x + 64 + ((x - left) / (right - left)) * (box.width - 64), box.y + ((y - top) / (bottom - top)) * (box.height - 26));
    await over(25.5, 5.5);
    assert.match(await page.locator(".image .readout").textContent(), value);
    await over(15.5, 5.5);
    assert.match(await page.locator(".image .readout").textContent(), /^missing/);
    // Lines leave missing values out, and so do means of many elements.
    await page.goto(`${server}/#/packed/${name}/degrees?view=line&x=1`);
    await page.locator(".line canvas[aria-label*='Values from 0 to 29 K']").waitFor();
  }
  const said = await opened(t, "#/packed/packed3f/degrees");
  await said.getByText(/\(in base64, AAAAgB2vFUQ=\)/).waitFor();
});

test("tables and files have the numbers that are meant, and tell the stored ones", async (t) => {
  const page = await opened(t, "#/packed/packed3/degrees?view=table");
  const cell = (row, column) => page.locator("tbody tr").nth(row).locator("td").nth(column);
  await cell(25, 25).waitFor();
  assert.deepEqual([await cell(0, 3).textContent(), await cell(0, 3).getAttribute("title")], ["3", "stored: -194"]);
  assert.deepEqual([await cell(0, 15).textContent(), await cell(0, 15).getAttribute("title")], ["missing", "stored: -9999"]);
  await page.goto(`${server}/#/packed/packed3/degrees?view=line&x=1`);
  await page.locator(".line canvas[aria-label*='Values from 0 to 29 K']").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  const lines = (await readFile(await download.path(), "utf8")).split("\n");
  assert.deepEqual([lines[0], lines[4], lines[16]], ["x,degrees", "3,3", "15,NaN"]);
});

test("times are dates in tables, lines, files and images", async (t) => {
  const page = await opened(t, "#/climate.zarr/time?view=table");
  await page.getByRole("cell", { name: "2020-02-28 18:00", exact: true }).waitFor();
  await page.goto(`${server}/#/climate.zarr/time?view=line`);
  await page.locator(".line canvas[aria-label*='Values from 2020-02-28 to 2020-03-10 18:00']").or(page.locator(".line canvas[aria-label*='Values from 2020-02-28 00:00 to 2020-03-10 18:00']")).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.match((await readFile(await download.path(), "utf8")).split("\n")[4], /^3,2020-02-28 18:00$/);
  await page.goto(`${server}/#/mixed.zarr/days`);
  await colour(page, 0.5, 0.5);
  const box = await page.locator(".image canvas").boundingBox();
  await page.mouse.move(box.x + 64 + (box.width - 64) / 2, box.y + (box.height - 26) / 2);
  assert.match(await page.locator(".image .readout").textContent(), /^1970-01-\d\d · /);
  assert.match(await page.locator(".ends").textContent(), /^1970-01-01 … 1970-01-\d\d$/);
});

test("the elevation model of the demonstration is looked at in all ways", async (t) => {
  const page = await opened(t, "#/dem.zarr");
  await page.getByText("This is a group. Choose an array in the tree.").waitFor();
  await page.getByRole("treeitem", { name: /^elevation/ }).click();
  await colour(page, 0.5, 0.5);
  const [low, high] = (await page.locator(".ends").textContent()).split(" … ").map(Number);
  assert.ok(low > 200 && low < 400 && high > 600 && high < 1100, `${low} ${high}`);
  const canvas = page.locator(".image canvas");
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  assert.match(await page.locator(".image .readout").textContent(), /^\d{3,4} m · latitude \d+ · longitude \d+$/);
  await page.mouse.wheel(0, -800);
  await page.waitForFunction(() => location.hash.includes("box="));
  await page.getByRole("button", { name: "whole" }).click();
  await page.getByRole("tab", { name: "line" }).click();
  await page.locator(".line canvas[aria-label*='Plot along']").waitFor();
  await page.getByRole("tab", { name: "chunks" }).click();
  await page.getByText(/42 chunks are stored/).waitFor();
  await page.locator(".chunks canvas").click({ position: { x: 60, y: 20 } });
  await page.getByText("elevation/c/0/", { exact: false }).first().waitFor();
  await page.getByRole("tab", { name: "table" }).click();
  await page.getByText("rows 0 to 99 of 344", { exact: false }).waitFor();
});

test("a real image of OME-Zarr is shown slice by slice, with its values and its unit", async (t) => {
  const page = await opened(t, "#/brain.zarr");
  const asked = async (z, y, x) => (await (await fetch(`${server}/api/v1/slice/brain.zarr/0?select=${z},${y},${x}&as=json`)).json()).values;
  await colour(page, 0.5, 0.5);
  const canvas = await page.locator(".image canvas").boundingBox();
  const [left, top, right, bottom] = (await page.locator(".image").getAttribute("data-box")).split(",").map(Number);
  for (const [slice, row, column] of [[18, 20, 16], [3, 11, 25]]) {
    await page.getByRole("slider", { name: "z", exact: true }).fill(`${slice}`);
    await page.waitForFunction((slice) => location.hash.endsWith(`%3A${slice}`), slice);
    await colour(page, 0.5, 0.5);
    const x = canvas.x + 64 + ((column + 0.5 - left) / (right - left)) * (canvas.width - 64);
    const y = canvas.y + ((row + 0.5 - top) / (bottom - top)) * (canvas.height - 26);
    await page.mouse.move(x, y);
    const [value] = [await asked(slice, row, column)].flat();
    assert.match(await page.locator(".image .readout").textContent(), new RegExp(`^${value}\\b`));
  }
});

test("numbers that mean missing are not in the mean of many elements", async (t) => {
  const page = await opened(t, "#/mixed.zarr/gaps?reduce=mean");
  await colour(page, 0.5, 0.5);
  const [low, high] = (await page.locator(".ends").textContent()).split(" … ").map(Number);
  assert.ok(low > 0 && high <= 10, `${low} ${high}`);
  await page.goto(`${server}/#/mixed.zarr/gaps?view=line&at=1:1`);
  await page.locator(".line canvas[aria-label*='Values from 5 to 5']").or(page.locator(".line canvas[aria-label*='Values from 4.5 to 5.5']")).waitFor();
});

test("maps with a middle have zero there, and automatic ends are percentiles", async (t) => {
  const page = await opened(t, "#/climate.zarr/anomaly?map=rdbu");
  await colour(page, 0.5, 0.5);
  const ends = async () => (await page.locator(".ends").textContent()).split(" … ").map(Number);
  const [low, high] = await ends();
  assert.ok(high > 1 && low === -high, `${low} ${high}`);
  await page.goto(`${server}/#/dem.zarr/elevation`);
  await page.waitForFunction(() => document.querySelector("aside h2")?.textContent === "elevation");
  await colour(page, 0.5, 0.5);
  const { percentiles } = await (await fetch(`${server}/api/v1/stats/dem.zarr/elevation?percentiles=2,98`)).json();
  const found = await ends();
  assert.ok(percentiles.every(({ value }, at) => Math.abs(value - found[at]) < 12), `${JSON.stringify(percentiles)} ${found}`);
});

test("the map of chunks is used by keys, and attributes tell what they mean", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?view=chunks");
  await page.locator(".chunks canvas[aria-label]").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.getByText("t2m/c/0/0/1", { exact: true }).waitFor();
  assert.equal(await page.getByTitle("the unit of the values").textContent(), "K");
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

test("labels of OME-Zarr 0.4 fit their image, in all sizes and with swapped sides", async (t) => {
  const labelled = ["at=1:1&opacity=100&channels=0", "at=1:1&opacity=100&channels=0&x=2&y=3"];
  for (const [number, state] of labelled.entries()) {
    const page = await opened(t, `#/old.zarr?${state}`);
    const at = (x, y) => (number === 0 ? colourOf(page, x, y) : colourOf(page, y, x));
    const [seven, eight, none] = [await at(90, 60), await at(210, 140), await at(150, 100)];
    const corners = [await at(61, 41), await at(118, 78), await at(58, 41), await at(122, 78)];
    assert.deepEqual(corners.slice(0, 2), [seven, seven]);
    assert.ok(corners.slice(2).every((one) => String(one) !== String(seven)), `${corners}`);
    assert.ok(String(seven) !== String(eight) && String(seven) !== String(none) && String(eight) !== String(none), `${seven} ${eight} ${none}`);
    // Another depth has another label everywhere.
    await page.getByRole("slider", { name: "z", exact: true }).fill("2");
    await page.waitForFunction(() => location.hash.includes("1%3A2"));
    await page.waitForTimeout(300);
    assert.deepEqual(await at(90, 60), await at(150, 100));
  }
  // In a small window the second size is enough, of the image and of the labels.
  const small = await opened(t, "#/old.zarr?at=1:1&opacity=100&box=-300,-200,600,400", { viewport: { width: 400, height: 600 } });
  const asked = [];
  small.on("request", (request) => asked.push(request.url()));
  await small.reload();
  await colour(small, 0.5, 0.5);
  assert.ok(asked.some((url) => url.includes("/slice/old.zarr/1?")) && asked.some((url) => url.includes("/slice/old.zarr/labels/cells/1?")), asked.join("\n"));
});

test("colours are shown as they are", async (t) => {
  const page = await opened(t, "#/mixed.zarr/rgb");
  const [left, right] = [await colour(page, 0.4, 0.5), await colour(page, 0.6, 0.5)];
  assert.ok(near(left, [255, 0, 0]) && near(right, [0, 0, 255]), `${left} ${right}`);
});

test("buttons copy what reads the part that is shown", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=0:3&box=10,20,40.5,60", { permissions: ["clipboard-read", "clipboard-write"] });
  await colour(page, 0.5, 0.5);
  const copied = async (name) => {
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByRole("button", { name: "copied" }).first().waitFor();
    await page.getByRole("button", { name, exact: true }).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const [python, rust, command] = [await copied("Python"), await copied("Rust"), await copied("command")];
  assert.match(python, /^import zarrox as zarr\n\nz = zarr.open_array\(".*climate.zarr\/t2m", mode="r"\)\nz\[3, 20:60, 10:41\]$/);
  assert.match(rust, /zarrox::open_array\(".*t2m"\)\?;\nlet part = array.read_dyn\(s!\[3, 20..60, 10..41\]\)\?;$/);
  assert.match(command, /^zarrox dump '.*climate.zarr\/t2m\[3, 20:60, 10:41\]'$/);
  const { stdout } = await run("sh", ["-c", command.replace(/^zarrox/, process.env.ZARROX)]);
  assert.match(stdout, /^\[\[\d+\.\d+ /);
  const file = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: ".npy" }).click()]);
  const npy = await readFile(await file[0].path());
  assert.match(npy.toString("latin1", 0, 128), /NUMPY.*'<f4'.*\(40, 31\)/);
  const picture = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "PNG" }).click()]);
  assert.equal((await readFile(await picture[0].path())).toString("latin1", 1, 4), "PNG");
});

test("everything in an image is reached by keys", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=0:3");
  await colour(page, 0.5, 0.5);
  const canvas = page.locator(".image canvas");
  await canvas.focus();
  await page.keyboard.press("+");
  await page.waitForFunction(() => location.hash.includes("box="));
  assert.match(await page.locator(".image .readout").textContent(), /K · lat .* lon 180/);
  await page.keyboard.press("Enter");
  await page.locator(".below canvas[aria-label*='time']").waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Shift+Enter");
  await page.waitForFunction(() => document.querySelector(".below canvas")?.getAttribute("aria-label")?.includes("; "));
  // Screen readers hear what is shown.
  assert.match(await canvas.getAttribute("aria-label"), /^Image of t2m, lon from .* to .*, lat from .* to .*, time 2020-02-28 18:00, Values from .* to .* K\.$/);
  await page.goto(`${server}/#/mixed.zarr/wave`);
  await page.locator(".line canvas[aria-label*='Values from -1 to 1']").focus();
  for (const key of ["+", "+", "ArrowRight", "-"]) await page.keyboard.press(key);
  assert.match(await fragment(page), /box=2\d{4}%2C0%2C\d+%2C1/);
  await page.keyboard.press("0");
  assert.doesNotMatch(await fragment(page), /box/);
});

test("edges of chunks are drawn over an image, and a link keeps them", async (t) => {
  const page = await opened(t, "#/climate.zarr/anomaly");
  const box = page.getByRole("checkbox", { name: "chunks" });
  await colour(page, 0.5, 0.5);
  await box.check();
  assert.match(await fragment(page), /grid=1/);
  await page.reload();
  assert.ok(await box.isChecked());
});

test("logarithms, percentiles and other colours are kept in the link", async (t) => {
  const page = await opened(t, "#/mixed.zarr/sparse?view=image&box=700,500,1100,900");
  const linear = await colour(page, 0.5, 0.1);
  await page.getByRole("combobox", { name: "scale" }).selectOption("log");
  const logarithmic = await colour(page, 0.5, 0.1);
  assert.notDeepEqual(logarithmic, linear);
  await page.getByRole("combobox", { name: "colours" }).selectOption("gray");
  const link = await fragment(page);
  const again = await opened(t, link);
  const grey = await colour(again, 0.5, 0.1);
  assert.ok(grey[0] === grey[1] && grey[1] === grey[2] && grey[0] > 0, `${grey}`);
});

test("numbers of two parts, booleans and fields are images", async (t) => {
  const page = await opened(t, "#/mixed.zarr/complex");
  await colour(page, 0.5, 0.5);
  const magnitude = await page.locator(".ends").textContent();
  await page.getByRole("combobox", { name: "part" }).selectOption("phase");
  await page.waitForFunction((before) => document.querySelector(".ends").textContent !== before, magnitude);
  const [low, high] = (await page.locator(".ends").textContent()).split(" … ").map(Number);
  assert.ok(low >= -Math.PI && high <= Math.PI, `${low} ${high}`);
  await page.goto(`${server}/#/mixed.zarr/mask`);
  await page.waitForFunction(() => document.querySelector("aside h2")?.textContent === "mask");
  assert.notDeepEqual(await colourOf(page, 5, 5), await colourOf(page, 5, 6));
  await page.goto(`${server}/#/mixed.zarr/points?view=line&field=n`);
  await page.locator(".line canvas[aria-label*='Values from 0 to 49']").waitFor();
});

test("a window of half the size, as at 200 %, has all in reach and nothing beside it", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
  await colour(page, 0.5, 0.5);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 640));
  for (const name of ["play time", "PNG", "automatic", "Python"]) {
    await page.getByRole("button", { name, exact: true }).scrollIntoViewIfNeeded();
    assert.ok(await page.getByRole("button", { name, exact: true }).isVisible(), name);
  }
});

test("large images come tile by tile, each chunk once", async (t) => {
  const page = await opened(t, "#/mixed.zarr/scalar");
  await page.getByRole("cell", { name: "3.5" }).waitFor();
  const asked = [];
  page.on("request", (request) => request.url().includes("/slice/") && asked.push(decodeURIComponent(request.url().replaceAll("+", " "))));
  await page.evaluate(() => (location.hash = "#/mixed.zarr/wide?map=gray&range=0,7"));
  await page.waitForSelector(".image[data-whole]");
  assert.ok(asked.length > 4, `${asked.length}`);
  // Pixels are those of the array, whichever tile they are of.
  for (const [x, y] of [[100, 100], [4100, 100], [100, 7900], [7900, 7900], [4000, 4000]]) {
    const [red, green, blue] = await colourOf(page, x, y);
    const wanted = ((Math.floor(x / 1000) + Math.floor(y / 1000)) % 8) * 36;
    assert.ok(Math.abs(red - wanted) < 24 && red === green && green === blue, `${x} ${y}: ${red}, not ${wanted}`);
  }
  for (const reduce of ["mean", "max"]) {
    await page.getByRole("combobox", { name: "of many elements" }).selectOption(reduce);
    await page.waitForFunction((reduce) => location.hash.includes(reduce), reduce);
    await page.waitForTimeout(100);
    const [red] = await colourOf(page, 7500, 2500);
    assert.ok(Math.abs(red - 36) < 24, `${reduce}: ${red}`);
  }
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
  await page.getByText(/12 stored of 16/).waitFor();
  await page.getByText("sparse/c/1/0").or(page.getByText("sparse/c/1/1")).or(page.getByText("sparse/c/1/2")).first().waitFor();
  if (shots) await page.screenshot({ path: `${shots}/serve-chunks.png` });
  await page.getByText("index of the shard").click();
  await page.getByRole("row", { name: /missing/ }).first().waitFor();
  // The first row of the shard's chunks is missing, and the last one is stored.
  const [above, below] = await page.$eval(".chunks canvas", (canvas) => {
    const ratio = canvas.width / canvas.clientWidth;
    const side = Math.max(3, Math.min(40, canvas.clientWidth / 10, canvas.clientHeight / 10)) * ratio;
    const at = (x, y) => [...canvas.getContext("2d").getImageData(x * side, y * side, 1, 1).data].join();
    return [at(2.6, 1.15), at(2.6, 1.9)];
  });
  assert.notEqual(above, below);
  assert.equal(below, await page.$eval(".legend .stored", (one) => `${getComputedStyle(one).backgroundColor.match(/\d+/g).join()},255`));
});

test("damaged chunks are shown as such, and everything else works", async (t) => {
  const page = await opened(t, "#/mixed.zarr/damaged?view=chunks");
  await page.getByRole("button", { name: "verify these chunks" }).click();
  await page.getByText("1 are damaged").waitFor();
  const broken = await opened(t, "#/mixed.zarr/broken", { expected: /status of 422/ });
  await broken.getByRole("alert").filter({ hasText: /shape/ }).first().waitFor();
  await broken.getByRole("treeitem", { name: /^mask/ }).click();
  await colour(broken, 0.5, 0.5);
});

test("a root that hangs does not hang the page", async (t) => {
  const silent = net.createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const roots = [`hangs=http://127.0.0.1:${silent.address().port}/a.zarr`, process.env.SITE + "/climate.zarr"];
  const serve = spawn(process.env.ZARROX, ["serve", "--no-token", "--time-limit", "3", ...roots]);
  t.after(() => {
    serve.kill();
    silent.close();
    silent.closeAllConnections?.();
  });
  const link = String((await once(serve.stdout, "data"))[0]).split("\n")[0];
  const page = await opened(t, "", { expected: /status of 504/ });
  await page.goto(`${link}#/hangs`);
  await page.getByRole("treeitem", { name: /^climate/ }).click();
  await page.getByRole("treeitem", { name: /^t2m/ }).click();
  await colour(page, 0.5, 0.5);
  assert.doesNotMatch(await page.locator("body").innerText(), /in time/);
  await page.getByRole("treeitem", { name: /^hangs/ }).click();
  await page.getByRole("alert").filter({ hasText: "did not answer in time" }).first().waitFor();
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
  // What is below comes as far as somebody scrolls.
  const final = page.getByRole("treeitem", { name: /^g0299/ });
  while ((await final.count()) === 0) await page.keyboard.press("End");
  await many.focus();
  for (let n = 0; n < 250; n++) await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /g0249/);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  assert.match(await fragment(page), /many\/g0248$/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await many.getAttribute("aria-expanded"), "false");
});

test("a group of 10,000 arrays is fluent", async (t) => {
  const page = await opened(t, "#/plenty.zarr/a09000");
  // A link leads to an array far down, which is seen and marked.
  const chosen = page.locator('[role="treeitem"][aria-selected="true"]');
  await chosen.filter({ hasText: "a09000" }).waitFor();
  assert.ok(await chosen.evaluate((item) => item.getBoundingClientRect().bottom <= innerHeight));
  const last = page.getByRole("treeitem", { name: /^a09999/ });
  await chosen.focus();
  while ((await last.count()) === 0) await page.keyboard.press("End");
  await page.keyboard.press("End");
  // The times from a key to the next frame.
  const times = [];
  for (let n = 0; n < 40; n++) {
    const begun = performance.now();
    await page.keyboard.press("ArrowUp");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  t.diagnostic(`a key takes ${times[20].toFixed(0)} ms among 10,000 arrays, at most ${times[39].toFixed(0)} ms`);
  assert.ok(times[20] < 150, `${times}`);
  await page.keyboard.press("Enter");
  await page.getByRole("cell", { name: "11", exact: true }).or(page.locator(".image[data-took]")).first().waitFor();
  await page.getByLabel("search nodes").fill("a0777");
  await page.getByText("10 found").waitFor();
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
  const parent = http.createServer((_, response) => {
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

for (const [name, fragment] of Object.entries({ image: "#/climate.zarr/t2m", line: "#/mixed.zarr/wave", group: "#/dem.zarr", table: "#/mixed.zarr/points", chunks: "#/mixed.zarr/sparse?view=chunks" })) {
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
