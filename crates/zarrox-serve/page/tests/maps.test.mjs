// Maps: projections of latitudes and longitudes, and curvilinear grids.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { fragment, opened, ready, server } from "./browser.mjs";

const shots = process.env.SHOTS;

/** Shows another state of the same array, which may need no request. */
async function turn(page, fragment) {
  await page.evaluate((fragment) => (location.hash = fragment), fragment);
  await page.waitForTimeout(150);
  await ready(page);
}

/** Returns the middle of the map in the page. */
async function middle(page) {
  const [area, left, top] = await page.$eval(".image", (image) => {
    const { left, top } = image.querySelector("canvas").getBoundingClientRect();
    return [image.dataset.area.split(",").map(Number), left, top];
  });
  return [left + area[0] + area[2] / 2, top + area[1] + area[3] / 2];
}

/** Returns the text of the tooltip at pixels from the middle of the map. */
async function tagAt(page, dx = 0, dy = 0) {
  const [x, y] = await middle(page);
  await page.mouse.move(x + dx + 1, y + dy);
  await page.mouse.move(x + dx, y + dy);
  const parts = await page.$$eval(".tag:not([hidden]) > *", (all) => all.map((one) => one.textContent));
  return parts.join(" | ");
}

/** Returns the elements of a selection. */
async function elements(path, select) {
  const answer = await fetch(`${server}/api/v1/slice/${path}?as=json&select=${select}`);
  return (await answer.json()).values;
}

const number = (text) => Number(/-?[\d.]+/.exec(text.replace("−", "-"))[0]);

test("each projection shows the values at their places", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=0:3");
  await ready(page);
  const places = { plate: [30, 40], robinson: [-60, -30], orthographic: [100, 50], north: [0, 90], south: [0, -90] };
  for (const [name, [lon, lat]] of Object.entries(places)) {
    await page.getByRole("combobox", { name: "Projection" }).selectOption(name);
    await ready(page);
    assert.match(await fragment(page), new RegExp(`projection=${name}`));
    await turn(page, `#/climate.zarr/t2m?at=0:3&projection=${name}&globe=${lon},${lat},2`);
    const text = await tagAt(page, 1, 1);
    // All longitudes meet at a pole.
    const [row, column] = Math.abs(lat) === 90 ? /\[(\d+), (\d+)\]/.exec(text).slice(1).map(Number) : [90 - lat, (lon + 360) % 360];
    assert.ok(Math.abs(90 - lat - row) <= 1, text);
    const [value] = await elements("climate.zarr/t2m", `3,${row},${column}:${column + 1}`);
    assert.ok(Math.abs(number(text) - value) < 1, `${name}: ${text}, not ${value}`);
    if (Math.abs(lat) < 90) assert.match(text, new RegExp(`${Math.abs(lat)}°${lat < 0 ? "S" : "N"}  ${Math.abs(lon)}°${lon < 0 ? "W" : "E"}  \\[${row}, ${column}\\]`));
  }
  // Outside of the globe there are no values.
  await turn(page, "#/climate.zarr/t2m?projection=orthographic");
  assert.equal(await tagAt(page, -340, -300), "");
});

test("maps are dragged, zoomed and clicked, and keys do the same", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?projection=orthographic&globe=10,20,1");
  await ready(page);
  const [x, y] = await middle(page);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 60, y + 30, { steps: 4 });
  await page.mouse.up();
  const [lon, lat] = /globe=([-\d.]+),([-\d.]+),1/.exec(await fragment(page)).slice(1).map(Number);
  assert.ok(lon > 18 && lon < 26 && lat > 23 && lat < 28, `${lon} ${lat}`);
  await page.locator(".image canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  const [turned, , zoom] = /globe=([-\d.]+),([-\d.]+),([-\d.]+)/.exec(await fragment(page)).slice(1).map(Number);
  assert.ok(turned > lon + 5 && zoom > 1.2, `${turned} ${zoom}`);
  await page.mouse.click(x, y);
  await page.locator(".dock canvas[aria-label*='Plot along time']").waitFor();
  assert.match(await fragment(page), /points=6\d,3\d/);
  await page.keyboard.press("Escape");
  // A wheel zooms until single elements are visible, and only the visible part is read.
  const asked = [];
  page.on("request", (request) => request.url().includes("/slice/") && asked.push(decodeURIComponent(request.url())));
  await turn(page, "#/climate.zarr/t2m?projection=robinson&globe=10,20,12&at=0:7");
  await ready(page);
  assert.ok(asked.length > 0 && asked.every((url) => !url.includes("0:181")), asked.join("\n"));
  await page.getByRole("button", { name: "Fit (0)" }).click();
  assert.doesNotMatch(await fragment(page), /globe/);
});

test("coastlines and the graticule are drawn, on the screen and in files", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?projection=robinson");
  await ready(page);
  if (shots) await page.screenshot({ path: `${shots}/serve-map.png` });
  const drawn = () => page.$eval(".image canvas", (canvas) => canvas.toDataURL());
  const all = await drawn();
  await page.getByRole("checkbox", { name: "Graticule" }).uncheck();
  const without = await drawn();
  assert.notEqual(without, all);
  await page.getByRole("checkbox", { name: "Coastlines" }).uncheck();
  assert.notEqual(await drawn(), without);
  assert.match(await fragment(page), /coast=0&graticule=0/);
  await page.getByRole("checkbox", { name: "Graticule" }).check();
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /^SVG/ }).click()]);
  const svg = await readFile(await download.path(), "utf8");
  for (const text of ["temperature (K)", ">60°N<", ">120°W<", "<image", ">K<"]) assert.ok(svg.includes(text), text);
});

test("curvilinear grids are maps, whose coordinates are those of their arrays", async (t) => {
  const page = await opened(t, "#/curved.zarr/europe/tas");
  await ready(page);
  assert.equal(await page.getByRole("combobox", { name: "Projection" }).inputValue(), "plate");
  const at = async (path, grid, row, column, projection, of) => {
    const [lat, lon] = await Promise.all(grid.map(async (name) => (await elements(`${path}/${name}`, `${row},${column}:${column + 1}`))[0]));
    await turn(page, `#/${path}/${of}?projection=${projection}&globe=${lon},${lat},12`);
    const value = (await elements(`${path}/${of}`, of === "tas" ? `0,${row},${column}:${column + 1}` : `${row},${column}:${column + 1}`))[0];
    const text = await tagAt(page);
    assert.ok(text.endsWith(`[${row}, ${column}]`), `${path} ${projection} ${row} ${column}: ${text}`);
    if (value === "NaN") assert.match(text, /^missing/);
    else assert.ok(Math.abs(number(text) - value) < 1e-3, `${text}, not ${value}`);
  };
  for (const projection of ["plate", "robinson", "orthographic", "north"]) {
    for (const [row, column] of projection === "north" ? [] : [[0, 0], [44, 46], [80, 12], [88, 92]]) await at("curved.zarr/europe", ["lat", "lon"], row, column, projection, "tas");
    // The columns 53 and 54 are on both sides of 180 degrees.
    for (const [row, column] of projection === "north" ? [] : [[60, 53], [60, 54], [100, 10], [140, 100]]) await at("curved.zarr/ocean", ["nav_lat", "nav_lon"], row, column, projection, "sst");
  }
  // As a grid, the tooltip has the same coordinates.
  await turn(page, "#/curved.zarr/europe/tas?projection=grid");
  assert.match(await tagAt(page), /^[\d.]+ K \| [\d.]+°N  [\d.]+°E  \[4\d, 4\d\]$/);
  // Slices share the map.
  await turn(page, "#/curved.zarr/europe/tas");
  await page.getByRole("button", { name: "Next time" }).click();
  await page.locator(".sub", { hasText: "2020-06-24 06:00" }).waitFor();
  await ready(page);
});
