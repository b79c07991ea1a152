// Figures of more than one slice: statistics over dimensions, colours beyond the limits, channels, and comparisons of two views.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { colourOf, fragment, near, opened, ready, server, show, sub, tagOf } from "./browser.mjs";

/** Returns the value in the tooltip at an element of an image. */
async function told(page, column, row) {
  const text = await tagOf(page, column, row);
  return text ? Number(/-?[\d.]+/.exec(text)[0]) : told(page, column, row);
}

/** Returns the elements of a selection. */
async function elements(path, select) {
  const answer = await fetch(`${server}/api/v1/slice/${path}?as=json&select=${select}`);
  return (await answer.json()).values;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

test("statistics over a dimension are maps", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await ready(page);
  const values = await elements("climate.zarr/t2m", ":,90,180");
  const wanted = { mean: mean(values), min: Math.min(...values), max: Math.max(...values), std: Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2))) };
  const words = { mean: "mean", min: "minimum", max: "maximum", std: "standard deviation" };
  const choice = page.getByRole("combobox", { name: "Statistic over time" });
  for (const statistic of ["mean", "min", "max", "std"]) {
    await choice.selectOption(statistic);
    await page.waitForFunction((text) => document.querySelector(".sub").textContent.startsWith(text), `${words[statistic]} over time (48)`);
    await ready(page);
    const found = await told(page, 180, 90);
    assert.ok(Math.abs(found - wanted[statistic]) < 1e-4, `${statistic}: ${found}, not ${wanted[statistic]}`);
    assert.match(await fragment(page), new RegExp(`reduced=0:${statistic}`));
  }
  assert.ok(await page.getByRole("slider", { name: "time" }).isDisabled());
  // Missing values are ignored; elements that are missing in every slice stay missing.
  assert.match(await page.getByLabel("Lower limit", { exact: true }).inputValue(), /^-?\d/);
  await choice.selectOption("");
  await page.waitForFunction(() => document.querySelector(".sub").textContent.startsWith("2020-02-28 00:00"));
  // A link restores the statistic, also for several tiles.
  const again = await opened(t, "#/odd.zarr/u?reduced=1:mean&at=0:2");
  await ready(again);
  assert.match(await sub(again), /^level 500 hPa · mean over step \(30\)/);
  const each = await elements("odd.zarr/u", "2,:,30,20");
  assert.ok(Math.abs((await told(again, 20, 30)) - mean(each)) < 1e-3, `${mean(each)}`);
});

test("statistics over a dimension are plots", async (t) => {
  const page = await opened(t, "#/odd.zarr/u?view=plot&along=2&at=0:0,3:5");
  await page.locator(".plot canvas[aria-label*='Plot along lat']").waitFor();
  await page.getByRole("combobox", { name: "Statistic over step" }).selectOption("max");
  await page.waitForFunction(() => /maximum over step \(30\)/.test(document.querySelector(".sub").textContent));
  const all = await elements("odd.zarr/u", "0,:,:,5");
  const most = Array.from({ length: 61 }, (_, row) => Math.max(...all.map((values) => values[row])));
  await page.locator(`.plot canvas[aria-label*='Values from ${Math.min(...most)} to ${Math.max(...most)}']`).waitFor();
  await page.getByRole("combobox", { name: "Statistic over step" }).selectOption("std");
  await page.waitForFunction(() => /standard deviation over step/.test(document.querySelector(".sub").textContent));
});

test("values beyond the limits and missing ones have colours of their own", async (t) => {
  const page = await opened(t, "#/odd.zarr/series?at=0:0&range=10,30");
  await ready(page);
  const ends = async () => [await colourOf(page, 0, 0), await colourOf(page, 39, 39)].map((colour) => colour.slice(0, 3));
  assert.deepEqual(await ends(), [[68, 1, 84], [253, 231, 37]]);
  await page.getByRole("combobox", { name: "Under", exact: true }).selectOption("own");
  await page.getByLabel("Colour: under").fill("#00ff00");
  await page.getByRole("combobox", { name: "Over", exact: true }).selectOption("own");
  assert.deepEqual(await ends(), [[0, 255, 0], [255, 0, 255]]);
  assert.match(await fragment(page), /under=00ff00&over=ff00ff/);
  const holes = await opened(t, "#/climate.zarr/t2m?bad=123456");
  await ready(holes);
  assert.deepEqual((await colourOf(holes, 60, 105)).slice(0, 3), [0x12, 0x34, 0x56]);
  // The color bar of the exported figure has these colours.
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /^SVG/ }).click()]);
  assert.match(await readFile(await download.path(), "utf8"), /fill="#00ff00"[^]*fill="#ff00ff"/);
});

test("each channel has limits, a colour and a histogram", async (t) => {
  const page = await opened(t, "#/mixed.zarr/image?channels=0,1&opacity=0");
  await ready(page);
  await page.getByLabel("Lower limit of DAPI", { exact: true }).waitFor();
  assert.deepEqual(await page.locator(".channel").evaluateAll((all) => all.map((one) => one.querySelectorAll("canvas").length)), [1, 1]);
  await page.getByRole("checkbox", { name: "DAPI" }).uncheck();
  await page.waitForFunction(() => document.querySelectorAll(".channel canvas").length === 1);
  await ready(page);
  const [, green] = await colourOf(page, 600, 500);
  await page.getByLabel("Upper limit of GFP", { exact: true }).fill("100");
  await page.getByLabel("Upper limit of GFP", { exact: true }).press("Enter");
  await page.waitForTimeout(200);
  assert.match(await fragment(page), /tones=1:0:100:/);
  const [, brighter] = await colourOf(page, 600, 500);
  assert.ok(brighter > green, `${brighter} > ${green}`);
  await page.getByLabel("Colour of GFP").fill("#ff0000");
  await page.waitForTimeout(200);
  const [red, none] = await colourOf(page, 600, 500);
  assert.ok(red > 100 && none === 0, `${red} ${none}`);
  const again = await opened(t, await fragment(page));
  await ready(again);
  assert.ok(near(await colourOf(again, 600, 500), [red, 0, 0]));
  await page.getByRole("button", { name: "Limits of GFP as at first" }).click();
  await page.waitForTimeout(200);
  assert.ok(near(await colourOf(page, 600, 500), [0, green, 0]));
});

/** Returns the position of an element of an image in the page. */
async function placeIn(image, column, row) {
  const { area, box, turned, left, top } = await image.evaluate((image) => {
    const numbers = (name) => image.dataset[name].split(",").map(Number);
    const { left, top } = image.querySelector("canvas").getBoundingClientRect();
    return { area: numbers("area"), box: numbers("box"), turned: numbers("turned"), left, top };
  });
  const place = (at, side) => ((part) => (turned[side] ? 1 - part : part))((at + 0.5 - box[side]) / (box[side + 2] - box[side]));
  return [left + area[0] + place(column, 0) * area[2], top + area[1] + place(row, 1) * area[3]];
}

/** Returns the value in the tooltip of one of several images. */
async function valueIn(page, image, column, row) {
  const [x, y] = await placeIn(image, column, row);
  await page.mouse.move(x + 1, y);
  await page.mouse.move(x, y);
  const tag = await image.locator(".tag:not([hidden]) strong").textContent();
  return Number(/-?[\d.]+/.exec(tag.replace("−", "-"))[0]);
}

test("two slices are compared side by side, by swiping and by their difference", async (t) => {
  const page = await opened(t, "#/odd.zarr/u?at=0:0,1:5");
  await ready(page);
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  const other = page.locator(".view > .view-of + .view-of");
  await other.locator(".sub", { hasText: "level 1000 hPa · 2020-06-24 05:00" }).waitFor();
  // The other image stays at its slice, and follows the position.
  await page.getByRole("slider", { name: "level", exact: true }).fill("2");
  await page.locator(".view > .view-of >> nth=0").locator(".sub", { hasText: "level 500 hPa" }).waitFor();
  assert.match(await other.locator(".sub").textContent(), /^level 1000 hPa/);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.waitForFunction(() => {
    const [one, two] = [...document.querySelectorAll(".view > .view-of")].map((image) => image.dataset.box);
    return one === two && !one.startsWith("0,");
  });
  // An empty field follows the image.
  await page.getByLabel("Other level").fill("");
  await page.getByLabel("Other level").press("Enter");
  await other.locator(".sub", { hasText: "level 500 hPa" }).waitFor();
  await page.getByLabel("Other step").fill("2020-06-24 00:00");
  await page.getByLabel("Other step").press("Enter");
  await other.locator(".sub", { hasText: "2020-06-24 00:00" }).waitFor();
  assert.match(await fragment(page), /compare=side&other=odd.zarr\/u@1:0/);
  await page.getByRole("button", { name: "Swipe", exact: true }).click();
  assert.match(await other.evaluate((one) => getComputedStyle(one).clipPath), /inset\(/);
  await page.getByRole("slider", { name: "Swipe" }).fill("80");
  assert.match(await other.evaluate((one) => getComputedStyle(one).clipPath), /80%/);
  await page.getByRole("button", { name: "Difference", exact: true }).click();
  await other.locator("h2", { hasText: "eastward wind − other slice" }).waitFor();
  await page.waitForFunction(() => document.querySelector(".view > .view-of + .view-of[data-whole]:not(.busy)"));
  const [[one], [two]] = [await elements("odd.zarr/u", "2,5,30:31,25"), await elements("odd.zarr/u", "2,0,30:31,25")];
  assert.equal(await valueIn(page, other, 25, 30), one - two);
  await page.getByRole("button", { name: "Ratio", exact: true }).click();
  await other.locator("h2", { hasText: "eastward wind ÷ other slice" }).waitFor();
  await page.waitForFunction(() => document.querySelector(".view > .view-of + .view-of[data-whole]:not(.busy)"));
  assert.ok(Math.abs((await valueIn(page, other, 25, 30)) - one / two) < 1e-6);
  // A link opens a comparison with another array.
  const link = await opened(t, "#/climate.zarr/t2m?compare=side&other=climate.zarr/anomaly@0:3");
  await link.locator(".view > .view-of + .view-of h2", { hasText: "anomaly" }).waitFor();
  await link.getByRole("button", { name: "End the comparison" }).click();
  await link.waitForFunction(() => document.querySelectorAll(".view > .view-of").length === 1);
  assert.doesNotMatch(await fragment(link), /compare|other/);
});

test("four views of arrays of other groups and roots follow the image", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=0:3");
  await ready(page);
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  // Arrays are found by a part of their names, in all roots.
  const field = page.getByRole("combobox", { name: "Compare with", exact: true });
  await field.fill("north");
  await page.locator("datalist option[value='odd.zarr/north']").waitFor({ state: "attached" });
  await field.fill("odd.zarr/north");
  await field.press("Enter");
  const views = page.locator(".view > .view-of");
  await views.nth(1).locator("h2", { hasText: "north" }).waitFor();
  assert.match(await fragment(page), /other=odd\.zarr\/north@$/);
  for (const number of [3, 4]) {
    await page.getByRole("button", { name: "+ View" }).click();
    await page.getByRole("combobox", { name: `Compare with ${number}` }).waitFor();
  }
  assert.ok(await page.getByRole("button", { name: "+ View" }).isDisabled());
  await page.waitForFunction(() => document.querySelectorAll(".quad > .view-of[data-whole]:not(.busy)").length === 4);
  // The other array has another grid: it shows the same coordinates.
  await page.getByRole("button", { name: "Go to a place (g)" }).click();
  await page.getByLabel("Place", { exact: true }).fill("10, 20");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Clear the pins" }).click();
  await show(page, `#/climate.zarr/t2m?at=0:3&box=10,80,30,100&compare=side&other=odd.zarr/north@`);
  const [x0, , x1] = (await views.nth(1).getAttribute("data-box")).split(",").map(Number);
  const [a0, , a1] = (await views.nth(0).getAttribute("data-box")).split(",").map(Number);
  assert.ok(Math.abs((x0 + x1) * 2 - (a0 + a1)) < 3 && Math.abs((x1 - x0) * 2 - (a1 - a0)) < 3, `${[x0, x1]} ${[a0, a1]}`);
  // A difference needs the same lengths, and says so.
  await page.getByRole("button", { name: "Difference", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "needs the same lengths along both axes" }).waitFor();
  // A path that is no array is an error in its row.
  await page.getByRole("combobox", { name: "Compare with", exact: true }).fill("climate.zarr/lat");
  await page.getByRole("combobox", { name: "Compare with", exact: true }).press("Enter");
  await page.getByRole("alert").filter({ hasText: "'climate.zarr/lat' is not an array that can be shown as an image" }).waitFor();
});

test("views blink, by themselves and by a key", async (t) => {
  const page = await opened(t, "#/odd.zarr/u?at=0:0,1:5&compare=side&other=odd.zarr/u@0:2");
  await page.waitForFunction(() => document.querySelectorAll(".view > .view-of[data-whole]:not(.busy)").length === 2);
  await page.getByRole("button", { name: "Blink", exact: true }).click();
  const visible = () => page.locator(".view > .view-of").nth(1).evaluate((one) => getComputedStyle(one).visibility);
  const wait = (wanted) => page.waitForFunction((wanted) => getComputedStyle(document.querySelectorAll(".view > .view-of")[1]).visibility === wanted, wanted);
  await wait("visible");
  await wait("hidden");
  await page.getByRole("button", { name: "Stop blinking" }).click();
  const before = await visible();
  await page.locator("body").press("b");
  assert.notEqual(await visible(), before);
  await page.locator("body").press("b");
  assert.equal(await visible(), before);
  await page.waitForTimeout(900);
  assert.equal(await visible(), before);
  // Where less motion is preferred, nothing blinks by itself.
  const still = await opened(t, "#/odd.zarr/u?at=0:0&compare=side&other=odd.zarr/u@0:2", { reducedMotion: "reduce" });
  await still.getByRole("button", { name: "Blink", exact: true }).click();
  assert.equal(await still.getByRole("button", { name: "Stop blinking" }).count(), 0);
});

test("a maximum projection combines the channels, and labels", async (t) => {
  const page = await opened(t, "#/old.zarr?opacity=0&tones=0:0:200:00ff00,1:0:200:ff00ff&at=1:0");
  await ready(page);
  const [, before] = await colourOf(page, 100, 100);
  await page.getByRole("combobox", { name: "Statistic over z" }).selectOption("max");
  await page.waitForFunction(() => /maximum over z \(3\)/.test(document.querySelector(".sub").textContent));
  await ready(page);
  const [red, green, blue] = await colourOf(page, 100, 100);
  // The last slice has the largest values: 50 of 200 in the first channel, and 150 of 200 in the second one.
  assert.ok(before < green && near([red, green, blue], [191, 64, 191]), `${[red, green, blue]}`);
  assert.equal(await tagOf(page, 100, 100), "channel 0 50 | channel 1 150 | y 100  x 100");
  const labels = await opened(t, "#/old.zarr?reduced=1:max&opacity=100");
  await ready(labels);
  assert.match(await tagOf(labels, 20, 20), /label 9$/);
});

test("three orthogonal planes meet in a point that a click or a slider moves", async (t) => {
  const page = await opened(t, "#/odd.zarr/u?at=0:1,1:5");
  await ready(page);
  await page.getByRole("button", { name: "Orthogonal planes" }).click();
  const views = page.locator(".view > .view-of");
  const whole = () => page.waitForFunction(() => document.querySelectorAll(".ortho > .view-of[data-whole]:not(.busy)").length === 3);
  await whole();
  const point = page.getByRole("region", { name: "Point" });
  assert.match(await point.textContent(), /lon60°E \[30\]lat0° \[30\]level850 hPa \[1\]/);
  // A click in the image moves the other planes.
  await page.mouse.click(...(await placeIn(views.nth(0), 10, 50)));
  await point.getByText("40°N [50]").waitFor();
  await whole();
  const value = async (level, lat, lon) => (await elements("odd.zarr/u", `${level},5,${lat},${lon}:${lon + 1}`))[0];
  assert.equal(await valueIn(page, views.nth(1), 12, 3), await value(3, 50, 12));
  assert.equal(await valueIn(page, views.nth(2), 4, 20), await value(4, 20, 10));
  // A click in a plane across the image moves its slice.
  await page.mouse.click(...(await placeIn(views.nth(1), 20, 4)));
  await point.getByText("100 hPa [4]").waitFor();
  await views.nth(0).locator(".sub", { hasText: "level 100 hPa" }).waitFor();
  await whole();
  await page.waitForFunction((value) => document.querySelector(".point strong").textContent.startsWith(String(value)), await value(4, 50, 20));
  // Each axis has a slider, so that keys move the point as well.
  await page.getByRole("slider", { name: "lat", exact: true }).press("ArrowLeft");
  await point.getByText("38°N [49]").waitFor();
  // Planes are zoomed together, and a link restores them.
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.waitForFunction(() => !document.querySelectorAll(".view-of")[1].dataset.box.startsWith("0,"));
  const link = await fragment(page);
  assert.match(link, /planes=0/);
  const again = await opened(t, link);
  await again.getByRole("region", { name: "Point" }).getByText("38°N [49]").waitFor();
  await again.getByRole("combobox", { name: "Orthogonal planes" }).selectOption("along step");
  await again.locator(".view-of h2", { hasText: "lon – step" }).waitFor();
  await again.getByRole("combobox", { name: "Orthogonal planes" }).selectOption("off");
  await again.waitForFunction(() => document.querySelectorAll(".view-of").length === 1);
});
