// The page in a real browser, on the hierarchies of make.py.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { click, colourOf, fragment, isHatched, limits, near, opened, placeOf, ready, server, show, sub, tagOf } from "./browser.mjs";

const shots = process.env.SHOTS;
const image = (page) => page.locator(".image canvas");

test("a click in the tree shows an array, its picture, its metadata and its storage", async (t) => {
  const page = await opened(t, "");
  await page.getByRole("treeitem", { name: /^t2m/ }).click();
  const [warm, cold] = [await colourOf(page, 1, 90), await colourOf(page, 180, 1)];
  // The equator is warmer than the pole: yellow and violet.
  assert.ok(near(warm, [253, 231, 37]) && near(cold, [68, 1, 84]), `${warm} ${cold}`);
  const panel = page.getByRole("complementary", { name: "Inspector" });
  await panel.getByRole("tab", { name: "Info" }).click();
  for (const text of ["48 × 181 × 360", "float32", "temperature", "Zarr v3 array"]) await panel.getByText(text, { exact: true }).first().waitFor();
  await panel.getByRole("tab", { name: "Storage" }).click();
  for (const text of ["12 × 60 × 90", "zstd", "64 of 64 written"]) await panel.getByText(text, { exact: true }).first().waitFor();
  await panel.getByRole("tab", { name: "Style" }).click();
  if (shots) await page.screenshot({ path: `${shots}/serve-image.png` });
});

test("a figure has a title, its slice, its statistics, and the larger part of the window", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await ready(page);
  assert.equal(await page.locator(".heading h2").textContent(), "temperature (K)");
  assert.match(await sub(page), /^2020-02-28 00:00 · 1 of 48 · mean 267\.\d · min 240 · max 296 · 0\.31 % missing$/);
  const share = await page.$eval(".view", (view) => (view.clientWidth * view.clientHeight) / (innerWidth * innerHeight));
  t.diagnostic(`the picture has ${(100 * share).toFixed(0)} % of the window`);
  assert.ok(share >= 0.55, `${share}`);
});

test("values and their coordinates are in a tag beside the pointer, missing ones too", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  assert.match(await tagOf(page, 141, 61), /^\d+\.\d+ K \| 29°N  141°E  \[61, 141\]$/);
  assert.match(await tagOf(page, 60, 105), /^missing \| 15°S  60°E/);
});

/** Returns the columns or rows of the elements whose colours the coastlines change, along a row or down a column. */
async function coasts(page, [from, to], place) {
  const box = page.getByRole("checkbox", { name: "Coastlines" });
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

test("coastlines lie where they are, whichever way latitudes and longitudes go", async (t) => {
  const near = (found, wanted) => assert.ok(found.length > 0 && found.every((at) => Math.abs(at - wanted) <= 2), `${found} ${wanted}`);
  // The coast of Mauritania at 20° north is at 17° west; at 20° east, Africa ends at 35° south.
  const page = await opened(t, "#/climate.zarr/t2m");
  near(await coasts(page, [325, 358], (lon) => [lon, 70]), 343);
  near(await coasts(page, [110, 140], (lat) => [20, lat]), 125);
  // Fiji lies on both sides of 180°: no line connects the ends of the world, for example across the Pacific at 120° west.
  assert.deepEqual(await coasts(page, [98, 114], (lat) => [240, lat]), []);
  const other = await opened(t, "#/mixed.zarr/world/height");
  near(await coasts(other, [145, 178], (lon) => [lon, 110]), 163);
  near(await coasts(other, [40, 70], (lat) => [200, lat]), 55);
  const none = await opened(t, "#/mixed.zarr/complex?view=image");
  await ready(none);
  assert.equal(await none.getByRole("checkbox", { name: "Coastlines" }).count(), 0);
});

test("a row steps through times, and back leads to where one was", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await ready(page);
  const slider = page.getByRole("slider", { name: "time" });
  await slider.focus();
  for (let n = 0; n < 3; n++) await page.keyboard.press("ArrowRight");
  assert.match(await fragment(page), /at=time:2020-02-28T18:00/);
  assert.equal(await page.getByLabel("Go to time").inputValue(), "2020-02-28 18:00");
  await page.getByRole("button", { name: "Next time" }).click();
  await page.getByText("5 / 48").waitFor();
  const map = async (name) => {
    await page.getByRole("button", { name: /^Colormap/ }).click();
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  };
  await map("magma");
  assert.match(await fragment(page), /map=magma/);
  await page.goBack();
  assert.match(await fragment(page), /at=time:2020-02-29T00:00/);
  await page.getByRole("button", { name: "Colormap: viridis" }).waitFor();
  await page.goForward();
  await page.getByRole("button", { name: "Colormap: magma" }).waitFor();
});

test("a coordinate is typed, and the nearest one is found", async (t) => {
  const page = await opened(t, "#/odd.zarr/u");
  await ready(page);
  const field = page.getByLabel("Go to step");
  await field.fill("2020-06-25 03:20");
  await field.press("Enter");
  assert.match(await fragment(page), /at=step:2020-06-25T03:00/);
  await page.waitForFunction(() => document.querySelector(".sub").textContent.includes("2020-06-25 03:00"));
  const level = page.getByLabel("Go to level");
  await level.fill("480 hPa");
  await level.press("Enter");
  assert.match(await fragment(page), /at=level:500,step:2020-06-25T03:00/);
  assert.equal(await level.inputValue(), "500 hPa");
  await level.fill("nowhere");
  await level.press("Enter");
  assert.match(await level.getAttribute("title"), /is not a coordinate of level/);
});

test("a slider is dragged", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await ready(page);
  const slider = page.getByRole("slider", { name: "time" });
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + 8, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2, { steps: 5 });
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  assert.ok(Math.abs(Number(await slider.inputValue()) - 23.5) < 2, await slider.inputValue());
  assert.match(await fragment(page), /at=time:2020-03-0\dT/);
  assert.match(await slider.getAttribute("aria-valuetext"), /^2020-03-0\d .*, 2\d of 48$/);
});

test("numbers of xarray mean what their attributes say, and missing ones are hatched", async (t) => {
  for (const name of ["packed3", "packed2", "packed3f", "packed2f"]) {
    const page = await opened(t, `#/packed/${name}/degrees`);
    assert.ok(await isHatched(page, 15, 5), `${name} is hatched where it is missing`);
    assert.ok(near(await colourOf(page, 0, 0), [68, 1, 84]), name);
    assert.ok(near(await colourOf(page, 39, 35), [253, 231, 37]), name);
    const [low, high] = await limits(page);
    assert.ok(low >= 0 && low < 3 && high <= 39 && high > 36, `${name}: ${low} ${high}`);
    assert.match(await tagOf(page, 25, 5), /^25 K/);
    assert.match(await tagOf(page, 15, 5), /^missing/);
    // Plots ignore missing values, and so do means of many elements.
    await show(page, `#/packed/${name}/degrees?view=plot&along=1`, ".plot canvas[aria-label*='Values from 0 to 29 K']");
  }
  const page = await opened(t, "#/packed/packed3f/degrees");
  await page.getByRole("tab", { name: "Info" }).click();
  await page.getByText(/\(in base64, AAAAgB2vFUQ=\)/).waitFor();
});

test("tables and files have the numbers that are meant, and tell the stored ones", async (t) => {
  const page = await opened(t, "#/packed/packed3/degrees?view=table");
  const cell = (row, column) => page.locator("tbody tr").nth(row).locator("td").nth(column);
  await cell(25, 25).waitFor();
  assert.deepEqual([await cell(0, 3).textContent(), await cell(0, 3).getAttribute("title")], ["3", "stored: -194"]);
  assert.deepEqual([await cell(0, 15).textContent(), await cell(0, 15).getAttribute("title")], ["missing", "stored: -9999"]);
  await show(page, "#/packed/packed3/degrees?view=plot&along=1", ".plot canvas[aria-label*='Values from 0 to 29 K']");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  const lines = (await readFile(await download.path(), "utf8")).split("\n");
  assert.deepEqual([lines[0], lines[4], lines[16]], ["x,degrees", "3,3", "15,NaN"]);
});

test("times are dates in tables, plots, files and images", async (t) => {
  const page = await opened(t, "#/climate.zarr/time?view=table");
  await page.getByRole("cell", { name: "2020-02-28 18:00", exact: true }).waitFor();
  await show(page, "#/climate.zarr/time?view=plot", ".plot canvas[aria-label*='Values from 2020-02-28 00:00 to 2020-03-10 18:00']");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.match((await readFile(await download.path(), "utf8")).split("\n")[4], /^3,2020-02-28 18:00$/);
  await show(page, "#/mixed.zarr/days");
  assert.match(await tagOf(page, 15, 10), /^1970-01-\d\d \| /);
  assert.equal(await page.getByLabel("Lower limit", { exact: true }).inputValue(), "1970-01-01");
});

test("the elevation model of the demonstration is looked at in all ways", async (t) => {
  const page = await opened(t, "#/dem.zarr");
  await page.getByRole("button", { name: /^elevation/ }).click();
  const [low, high] = await limits(page);
  assert.ok(low > 200 && low < 400 && high > 600 && high < 1100, `${low} ${high}`);
  assert.match(await tagOf(page, 200, 170), /^\d{3,4} m \| latitude 170  longitude 200$/);
  await page.mouse.wheel(0, -800);
  await page.waitForFunction(() => location.hash.includes("box="));
  await page.getByRole("button", { name: "Fit (0)" }).click();
  await page.getByRole("tab", { name: "Plot" }).click();
  await page.locator(".plot canvas[aria-label*='Plot along']").waitFor();
  await page.getByRole("tab", { name: "Chunks" }).click();
  await page.locator(".sub", { hasText: "42 of 42 chunks written" }).waitFor();
  await page.locator(".chunks canvas").click({ position: { x: 60, y: 20 } });
  await page.getByText("elevation/c/0/", { exact: false }).first().waitFor();
  await page.getByRole("tab", { name: "Table" }).click();
  await page.getByText("Rows 0 to 99 of 344", { exact: false }).waitFor();
});

test("a real image of OME-Zarr is shown slice by slice, with its values, micrometres and a scale bar", async (t) => {
  const page = await opened(t, "#/brain.zarr");
  const asked = async (z, y, x) => (await (await fetch(`${server}/api/v1/slice/brain.zarr/0?select=${z},${y},${x}&as=json`)).json()).values;
  await ready(page);
  for (const [slice, row, column] of [[18, 20, 16], [3, 11, 25]]) {
    await page.getByRole("slider", { name: "z", exact: true }).fill(`${slice}`);
    await page.waitForFunction((slice) => document.querySelector(".sub").textContent.includes(`${slice + 1} of`), slice);
    await ready(page);
    const [value] = [await asked(slice, row, column)].flat();
    assert.match(await tagOf(page, column, row), new RegExp(`^${value}\\b.* mm`));
  }
});

test("numbers that mean missing are not in the mean of many elements", async (t) => {
  const page = await opened(t, "#/mixed.zarr/gaps?reduce=mean");
  const [low, high] = await limits(page);
  assert.ok(low > 0 && high <= 10, `${low} ${high}`);
  await show(page, "#/mixed.zarr/gaps?view=plot&at=1:1", ".plot canvas[aria-label*='Values from 5 to 5']");
});

test("maps with a middle have zero there, and limits are percentiles at first", async (t) => {
  const page = await opened(t, "#/climate.zarr/anomaly?map=rdbu");
  const [low, high] = await limits(page);
  assert.ok(high > 1 && low === -high, `${low} ${high}`);
  await show(page, "#/dem.zarr/elevation?map=viridis");
  const { percentiles } = await (await fetch(`${server}/api/v1/stats/dem.zarr/elevation?percentiles=2,98`)).json();
  const found = await limits(page);
  assert.ok(percentiles.every(({ value }, at) => Math.abs(value - found[at]) < 12), `${JSON.stringify(percentiles)} ${found}`);
});

test("the map of chunks is used by keys, and attributes tell what they mean", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?view=chunks&x=2&y=1");
  await page.locator(".chunks canvas[aria-label]").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.getByText("t2m/c/0/0/1", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Info" }).click();
  assert.equal(await page.getByTitle("the unit of the values").textContent(), "K");
});

test("it plays by itself, without asking twice, and stops", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await ready(page);
  const asked = [];
  page.on("request", (request) => request.url().includes("/slice/") && asked.push(request.url()));
  await page.getByRole("button", { name: "Play time" }).click();
  await page.getByText("5 / 48").waitFor();
  await page.getByRole("button", { name: "Play time" }).click();
  const stopped = await fragment(page);
  assert.equal(await fragment(page), stopped);
  await ready(page);
  assert.equal(new Set(asked).size, asked.length);
  // A step back sends no request.
  const before = asked.length;
  await page.getByRole("button", { name: "Previous time" }).click();
  assert.notEqual(await fragment(page), stopped);
  await ready(page);
  assert.equal(asked.length, before);
});

test("the wheel and keys zoom within bounds, and a link shows the same part again", async (t) => {
  const page = await opened(t, "#/mixed.zarr/sparse?view=image");
  const { pageX, pageY } = await placeOf(page, 2000, 2000);
  await page.mouse.move(pageX, pageY);
  await page.mouse.wheel(0, -800);
  const zoomed = await fragment(page);
  assert.match(zoomed, /box=/);
  await image(page).focus();
  await page.keyboard.press("ArrowRight");
  const link = await fragment(page);
  assert.notEqual(link, zoomed);
  const again = await opened(t, link);
  await ready(again);
  assert.equal(await fragment(again), link);
  for (let n = 0; n < 40; n++) await page.keyboard.press("ArrowRight");
  const [left, , right] = /box=([\d.,-]+)/.exec(await fragment(page))[1].split(",").map(Number);
  assert.ok(left < 4000 && right > left, "a part of the image stays in sight");
  for (let n = 0; n < 30; n++) await page.keyboard.press("-");
  assert.doesNotMatch(await fragment(page), /box=/, "the whole image is the least zoom");
  for (let n = 0; n < 60; n++) await page.keyboard.press("+");
  const most = /box=([\d.,-]+)/.exec(await fragment(page))[1].split(",").map(Number);
  assert.ok(most[2] - most[0] > 0.5, `${most}`);
  await page.keyboard.press("0");
  assert.doesNotMatch(await fragment(page), /box=/);
});

test("handles and fields set the contrast limits", async (t) => {
  const page = await opened(t, "#/climate.zarr/anomaly?map=viridis");
  const first = await colourOf(page, 100, 50);
  const handle = page.getByRole("slider", { name: "Lower contrast limit" });
  const [place, all] = [await handle.boundingBox(), await page.locator(".histogram").boundingBox()];
  await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2);
  await page.mouse.down();
  await page.mouse.move(all.x + all.width * 0.7, place.y + 5, { steps: 5 });
  await page.mouse.up();
  assert.match(await fragment(page), /range=/);
  assert.notDeepEqual(await colourOf(page, 100, 50), first);
  await handle.focus();
  const before = await fragment(page);
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await fragment(page), before);
  await page.getByLabel("Lower limit", { exact: true }).fill("-12.5");
  await page.getByLabel("Upper limit", { exact: true }).fill("20");
  await page.getByLabel("Upper limit", { exact: true }).press("Enter");
  assert.match(await fragment(page), /range=-12.5,20/);
  await page.getByRole("combobox", { name: "Limits from" }).selectOption("first");
  assert.deepEqual(await colourOf(page, 100, 50), first);
});

test("a click pins the series there without moving the picture, and another one beside it", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  const before = await placeOf(page, 100, 60);
  await click(page, 100, 60);
  await page.locator(".dock canvas[aria-label*='Plot along time: 30°N 100°E.']").waitFor();
  assert.deepEqual(await placeOf(page, 100, 60), before);
  await click(page, 250, 60, ["Shift"]);
  await page.locator(".dock canvas[aria-label*='30°N 100°E; 30°N 110°W']").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.equal(download.suggestedFilename(), "t2m.csv");
  if (shots) await page.screenshot({ path: `${shots}/serve-series.png` });
  // A click in the plot selects that time.
  const plot = await page.locator(".dock canvas").boundingBox();
  await page.mouse.click(plot.x + plot.width / 2, plot.y + plot.height / 2);
  assert.match(await fragment(page), /at=time:2020-03-0\dT/);
  await page.getByRole("combobox", { name: "Plot pins along" }).selectOption({ label: "lon" });
  await page.locator(".dock canvas[aria-label*='Plot along lon: 30°N; 30°N.']").waitFor();
  await page.getByRole("button", { name: "Clear the pins" }).click();
  assert.doesNotMatch(await fragment(page), /points/);
});

test("colours are shown as they are", async (t) => {
  const page = await opened(t, "#/mixed.zarr/rgb");
  const [left, right] = [await colourOf(page, 30, 30), await colourOf(page, 50, 30)];
  assert.ok(near(left, [255, 0, 0]) && near(right, [0, 0, 255]), `${left} ${right}`);
  assert.match(await tagOf(page, 30, 30), /R 255  G 0  B 0/);
});

test("channels are shown and hidden, all of them too", async (t) => {
  const page = await opened(t, "#/mixed.zarr/image?opacity=0");
  assert.match(await tagOf(page, 60, 500), /DAPI \d+ \| GFP \d+ \| y 500 µm  x 60 µm/);
  await page.getByRole("checkbox", { name: "GFP" }).uncheck();
  await page.waitForFunction(() => location.hash.includes("channels=0"));
  await ready(page);
  const one = await colourOf(page, 60, 500);
  assert.ok(one[1] === 0 && one[2] > 0, `${one}`);
  await page.getByRole("checkbox", { name: "DAPI" }).uncheck();
  await page.getByText("No channel is shown").waitFor();
  assert.equal(await page.getByRole("checkbox", { name: "GFP" }).isChecked(), false);
  await page.getByRole("checkbox", { name: "DAPI" }).check();
  await page.getByRole("checkbox", { name: "GFP" }).check();
  await ready(page);
  await click(page, 60, 500);
  await page.locator(".dock canvas[aria-label*='DAPI'][aria-label*='GFP']").waitFor();
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
  const slider = page.getByRole("slider", { name: "Label opacity" });
  await slider.fill("0");
  await page.waitForFunction(() => location.hash.includes("opacity=0"));
  await ready(page);
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
    // The slice at another depth has a different label everywhere.
    await page.getByRole("slider", { name: "z", exact: true }).fill("2");
    await page.waitForFunction(() => location.hash.includes("1:2"));
    await page.waitForTimeout(300);
    assert.deepEqual(await at(90, 60), await at(150, 100));
  }
  // In a small window, the second sizes of the image and of the labels are enough.
  const small = await opened(t, "#/old.zarr?at=1:1&opacity=100&box=-300,-200,600,400", { viewport: { width: 400, height: 600 } });
  const asked = [];
  small.on("request", (request) => asked.push(request.url()));
  await small.reload();
  await ready(small);
  assert.ok(asked.some((url) => url.includes("/slice/old.zarr/1?")) && asked.some((url) => url.includes("/slice/old.zarr/labels/cells/1?")), asked.join("\n"));
});

