// Data that is easily displayed wrongly: each test is about one kind of mistake.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { click, colourOf, fragment, isHatched, limits, near, opened, placeOf, ready, server, show, sub, tagOf } from "./browser.mjs";

const cells = (page) => page.$$eval("tbody td", (all) => all.map((one) => one.textContent));
const row = async (page, from) => (await cells(page)).slice(from);

/** Opens a table, and returns its cells. */
async function table(t, fragment) {
  const page = await opened(t, fragment);
  await page.locator("tbody td").first().waitFor();
  return cells(page);
}

test("whole numbers and floats have all their digits", async (t) => {
  assert.deepEqual(await table(t, "#/odd.zarr/big?view=table"), ["9007199254740993", "1000000000000001", "-9223372036854775808", "7"]);
  assert.deepEqual(await table(t, "#/odd.zarr/bigger?view=table"), ["18446744073709551615", "9007199254740993", "1", "2"]);
  assert.deepEqual(await table(t, "#/odd.zarr/exact?view=table"), ["0.1", "0.3333333333333333", "123456789.12345679", "1e20"]);
  assert.deepEqual(await table(t, "#/odd.zarr/single?view=table"), ["0.1", "271.88"]);
  const page = await opened(t, "#/odd.zarr/bigger?view=image");
  assert.match(await tagOf(page, 0, 0), /^18446744073709551615/);
  assert.match(await tagOf(page, 1, 0), /^9007199254740993/);
  await show(page, "#/odd.zarr/big?view=plot", ".plot canvas[aria-label]");
  const box = await page.locator(".plot canvas").boundingBox();
  await page.mouse.move(box.x + 100, box.y + 100);
  await page.getByText("9007199254740993").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.match(await readFile(await download.path(), "utf8"), /0,9007199254740993\n1,1000000000000001\n2,-9223372036854775808/);
});

test("a picture is never under the label of another slice, and a message goes when it is no longer true", async (t) => {
  const page = await opened(t, "#/odd.zarr/series?at=0:4", { expected: /status of 422/ });
  await ready(page);
  assert.match(await tagOf(page, 20, 20), /^420\.5/);
  // The next slice is damaged everywhere.
  await page.getByRole("button", { name: "Next t", exact: true }).click();
  await page.getByText("16 damaged chunks in this view").waitFor();
  assert.match(await sub(page), /^t 5 · 6 of 6/);
  assert.match(await tagOf(page, 20, 20), /^damaged chunk/);
  assert.ok(await isHatched(page, 20, 20));
  await page.getByRole("button", { name: "Previous t", exact: true }).click();
  await page.waitForFunction(() => document.querySelector(".sub").textContent.startsWith("t 4"));
  await ready(page);
  assert.equal(await page.locator(".message:visible").count(), 0);
  assert.match(await tagOf(page, 20, 20), /^420\.5/);
});

test("one damaged chunk is hatched in its place, and the others are shown", async (t) => {
  const page = await opened(t, "#/odd.zarr/series?at=0:3", { expected: /status of 422/ });
  await page.getByText("1 damaged chunk in this view").waitFor();
  assert.ok(await isHatched(page, 25, 15));
  assert.match(await tagOf(page, 5, 5), /^305\.125/);
  assert.match(await tagOf(page, 35, 35), /^335\.875/);
  assert.ok(near(await colourOf(page, 39, 39), [253, 231, 37]));
  await page.getByText("Details").click();
  await page.getByText(/codec|zstd/i).first().waitFor();
  await page.getByRole("button", { name: "Show chunks" }).click();
  await page.locator(".chunks canvas[aria-label]").waitFor();
});

test("a server that is gone is told, with a way back", async (t) => {
  const serve = spawn(process.env.ZARROX, ["serve", "--no-token", `${process.env.SITE}/odd.zarr`]);
  t.after(() => serve.kill());
  const link = String((await once(serve.stdout, "data"))[0]).split("\n")[0];
  const page = await opened(t, `${link}#/odd.zarr/series`, { expected: /ERR_CONNECTION/ });
  await ready(page);
  serve.kill();
  await once(serve, "exit");
  await page.getByRole("button", { name: "Next t", exact: true }).click();
  await page.locator(".lost").getByText("Disconnected from the server").waitFor();
  // No part of the first slice remains.
  assert.match(await sub(page), /^t 1/);
  assert.equal(await tagOf(page, 20, 20), "");
  const again = spawn(process.env.ZARROX, ["serve", "--no-token", "--port", new URL(link).port, `${process.env.SITE}/odd.zarr`]);
  t.after(() => again.kill());
  await once(again.stdout, "data");
  await page.locator(".lost").getByRole("button", { name: "Retry" }).click();
  await page.locator(".lost").waitFor({ state: "hidden" });
  await ready(page);
  assert.match(await tagOf(page, 20, 20), /^120\.5/);
});

test("fields of structures are shown by their own types, and times are times in plots", async (t) => {
  const label = async (fragment, wanted) => {
    const page = await opened(t, fragment);
    await page.locator(`.plot canvas[aria-label*='${wanted}']`).waitFor();
    return page;
  };
  await label("#/odd.zarr/stations?view=plot&field=lat", "Values from 50 to 53.9");
  await label("#/odd.zarr/stations?view=plot&field=since", "Values from 2020-01-01 00:00 to 2020-02-09 00:00");
  await label("#/odd.zarr/moments?view=plot", "Values from 2020-01-01 00:00 to 2020-02-09 00:00");
  const page = await label("#/odd.zarr/stations?view=plot", "Values from 0 to 39");
  // Texts have no plot, so that the plot is not offered.
  assert.deepEqual(await page.getByRole("combobox", { name: "Field" }).locator("option").allTextContents(), ["id", "lat", "since"]);
});

test("a plot and an image say what they leave out", async (t) => {
  const page = await opened(t, "#/odd.zarr/long?view=plot");
  await page.getByText("1 of every 1,333,334 elements: extremes between them are not shown").waitFor();
  await show(page, "#/mixed.zarr/wave?view=plot", ".plot canvas[aria-label*='Values from -1 to 1']");
  await page.getByText("mean and range of every 67 elements").waitFor();
  const box = await page.locator(".plot canvas").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.getByText(/^ mean .* \(.* – .*\)$/).waitFor();
  await show(page, "#/mixed.zarr/wide");
  await page.getByText(/^1 of every \d+ × \d+ elements/).waitFor();
  assert.match(await tagOf(page, 4500, 4500), /^≈ 0/);
});

test("coordinates rise upwards, pressures fall, and both can be flipped", async (t) => {
  const page = await opened(t, "#/odd.zarr/north");
  const above = async (rows) => (await placeOf(page, 5, rows[0])).y < (await placeOf(page, 5, rows[1])).y;
  assert.ok(await above([60, 0]), "north is at the top");
  assert.ok(near(await colourOf(page, 5, 60), [253, 231, 37]));
  await page.getByRole("button", { name: "Flip the y axis" }).click();
  assert.match(await fragment(page), /flip=y/);
  assert.ok(await above([0, 60]));
  await show(page, "#/odd.zarr/u?x=1&y=0");
  assert.ok(await above([4, 0]), "100 hPa is above 1000 hPa");
  await show(page, "#/mixed.zarr/image");
  assert.ok(await above([0, 900]), "images begin at the top");
});

test("dates are those of their calendars", async (t) => {
  const dates = async (name) => {
    const page = await opened(t, `#/odd.zarr/of_${name}`);
    await ready(page);
    const slider = page.getByRole("slider", { name, exact: true });
    const found = [];
    for (const at of [0, 2, 11]) {
      await slider.fill(String(at));
      found.push(await page.getByLabel(`Go to ${name}`, { exact: true }).inputValue());
    }
    return found;
  };
  assert.deepEqual(await dates("month"), ["1859-12-01 12:00", "1859-12-03 12:00", "1859-12-12 12:00"]);
  assert.deepEqual(await dates("noleap"), ["2020-02-27", "2020-03-01", "2020-03-10"]);
  assert.deepEqual(await dates("julian"), ["1582-10-04", "1582-10-06", "1582-10-15"]);
  assert.deepEqual(await dates("mixed"), ["1582-10-04", "1582-10-16", "1582-10-25"]);
  assert.deepEqual(await dates("allleap"), ["2019-02-27", "2019-02-29", "2019-03-09"]);
});

test("contrast limits stay over steps and colour maps, unless each slice is to have its own", async (t) => {
  const page = await opened(t, "#/odd.zarr/series");
  const first = await limits(page);
  const next = async () => {
    await page.getByRole("button", { name: "Next t", exact: true }).click();
    await page.waitForTimeout(200);
    return limits(page);
  };
  assert.deepEqual(await next(), first);
  await page.getByLabel("Upper limit", { exact: true }).fill("150");
  await page.getByLabel("Upper limit", { exact: true }).press("Enter");
  await page.getByRole("button", { name: /^Colormap/ }).click();
  await page.getByRole("button", { name: "magma", exact: true }).click();
  assert.deepEqual(await limits(page), [first[0], 150]);
  const from = page.getByRole("combobox", { name: "Limits from" });
  await from.selectOption("symmetric");
  assert.deepEqual(await limits(page), [-150, 150]);
  await from.selectOption("each");
  const own = await limits(page);
  assert.ok(own[0] > 100 && own[1] < 140, `${own}`);
  assert.notDeepEqual(await next(), own);
  await show(page, "#/climate.zarr/t2m");
  await ready(page);
  await from.selectOption("whole");
  await page.getByText(/of .*elements/).first().waitFor();
  const whole = await limits(page);
  assert.ok(whole[0] < 236 && whole[1] > 300, `${whole}`);
});

test("missing values have no colour of the data, and what has no values says so", async (t) => {
  for (const map of ["gray", "gray_r"]) {
    const page = await opened(t, `#/climate.zarr/t2m?map=${map}`);
    assert.ok(await isHatched(page, 60, 105), map);
  }
  const said = async (fragment, text) => {
    const page = await opened(t, fragment);
    await page.locator(".banner", { hasText: text }).waitFor();
    return page;
  };
  const holes = await said("#/odd.zarr/holes", "All values of this slice are missing");
  assert.equal(await holes.getByLabel("Lower limit", { exact: true }).inputValue(), "");
  await said("#/odd.zarr/infinite", "No value of this slice is finite");
  await said("#/odd.zarr/negative?norm=log", "No value is above 0");
  await said("#/odd.zarr/unwritten", "No chunk is written: all elements have the fill value 0");
});

test("phases have a cyclic map from −π to π, in radians", async (t) => {
  const page = await opened(t, "#/odd.zarr/waves?component=phase");
  await ready(page);
  assert.deepEqual((await limits(page)).map((limit) => limit.toFixed(4)), ["-3.1416", "3.1416"]);
  await page.getByRole("button", { name: "Colormap: twilight" }).waitFor();
  assert.equal(await page.locator(".heading h2").textContent(), "waves (rad)");
  assert.ok(near(await colourOf(page, 0, 0), await colourOf(page, 59, 39)), "both ends have one colour");
});

test("a double click zooms and pins nothing; a box is dragged with Shift", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  const { pageX, pageY } = await placeOf(page, 180, 90);
  await page.mouse.dblclick(pageX, pageY);
  await page.waitForTimeout(400);
  const zoomed = await fragment(page);
  assert.ok(/box=/.test(zoomed) && !/points/.test(zoomed), zoomed);
  await page.keyboard.down("Shift");
  await page.mouse.move(pageX - 100, pageY - 50);
  await page.mouse.down();
  await page.mouse.move(pageX + 100, pageY + 50, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const boxed = await fragment(page);
  assert.ok(boxed !== zoomed && !/points/.test(boxed), boxed);
});

test("tables go on to all rows and columns, of the dimensions that are chosen", async (t) => {
  const page = await opened(t, "#/odd.zarr/table?view=table");
  await page.getByText("Columns 0 to 49 of 120").waitFor();
  await page.getByRole("button", { name: "Next columns" }).click();
  await page.getByText("Columns 50 to 99 of 120").waitFor();
  assert.equal((await cells(page))[0], "50");
  await page.getByLabel("Go to row").fill("350");
  await page.getByLabel("Go to row").press("Enter");
  await page.getByText("Rows 350 to 399 of 400").waitFor();
  await page.getByRole("combobox", { name: "Rows" }).selectOption({ label: "column" });
  await page.getByText("Rows 0 to 99 of 120").waitFor();
  assert.equal((await row(page, 50))[0], "1");
});

test("another variable has the same place, time and colours", async (t) => {
  const page = await opened(t, "#/odd.zarr/u?at=0:2,1:7&box=10,10,40,40&map=plasma&points=20,20");
  await ready(page);
  await page.getByRole("treeitem", { name: /^v/ }).click();
  await page.waitForFunction(() => document.querySelector(".heading h2")?.textContent.startsWith("northward"));
  await ready(page);
  assert.match(await fragment(page), /odd.zarr\/v\?at=level:500,step:2020-06-24T07:00&box=10,10,40,40&map=plasma&range=.*&points=20,20/);
});

test("fingers pinch, and a long press pins", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m", { hasTouch: true });
  const { pageX, pageY } = await placeOf(page, 180, 90);
  const client = await page.context().newCDPSession(page);
  const touch = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await touch("touchStart", [pageX - 30, pageY], [pageX + 30, pageY]);
  for (let far = 40; far <= 90; far += 10) await touch("touchMove", [pageX - far, pageY], [pageX + far, pageY]);
  await touch("touchEnd");
  const [left, , right] = /box=([\d.,-]+)/.exec(await fragment(page))[1].split(",").map(Number);
  assert.ok(right - left < 200 && left < 180 && right > 180, `${left} ${right}`);
  await touch("touchStart", [pageX, pageY]);
  await page.waitForTimeout(700);
  await touch("touchEnd");
  assert.match(await fragment(page), /points=/);
});

test("a copy works without the clipboard of secure pages", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m");
  await ready(page);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.evaluate(() => document.addEventListener("copy", () => (window.copied = document.activeElement.value)));
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.match(await page.evaluate(() => window.copied), /#\/climate\.zarr\/t2m\?range=/);
});

test("a folder, a group and a plate are cards, and what cannot be listed has a field for a path", async (t) => {
  const page = await opened(t, "#/folder");
  await page.getByText("2 datasets in this folder").waitFor();
  assert.equal(await page.locator("[role=alert]:visible").count(), 0);
  await page.getByRole("button", { name: /^plate.zarr/ }).click();
  await page.getByRole("button", { name: "Well A2" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Well/ }).count(), 5);
  await page.waitForFunction(() => document.querySelectorAll(".plate img").length === 5);
  await page.getByRole("button", { name: "Well A2" }).click();
  await page.getByRole("button", { name: /^0/ }).click();
  await ready(page);
  assert.match(await tagOf(page, 10, 10), /y 5 µm  x 5 µm/);
  await page.goto(`${server}/#/climate.zarr`);
  const item = page.locator("[data-dimension=time]");
  await item.getByText("2020-02-28 00:00 … 2020-03-10 18:00").waitFor();
  await page.getByRole("button", { name: /^t2m temperature \(K\) time 48 × lat 181 × lon 360/ }).waitFor();
});

test("a token that is missing or old is asked for on a page", async (t) => {
  const serve = spawn(process.env.ZARROX, ["serve", `${process.env.SITE}/climate.zarr`]);
  t.after(() => serve.kill());
  const link = new URL(String((await once(serve.stdout, "data"))[0]).split("\n")[0]);
  const page = await opened(t, `${link.origin}/#/climate.zarr/t2m`, { expected: /status of 401/ });
  await page.getByRole("heading", { name: "This server needs its token" }).waitFor();
  await page.getByLabel("Token").fill(link.searchParams.get("token"));
  await page.getByRole("button", { name: "Open" }).click();
  await ready(page);
  assert.equal(await page.locator(".heading h2").textContent(), "temperature (K)");
  // A copied link grants access.
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (window.copied = text) } }));
  await page.getByRole("button", { name: "Copy link" }).click();
  const copied = await page.evaluate(() => window.copied);
  const other = await opened(t, copied);
  await ready(other);
});

test("large selections are exported by a command, and the page stays", async (t) => {
  const page = await opened(t, "#/odd.zarr/long?view=plot");
  await page.locator(".plot canvas[aria-label]").waitFor();
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByText(/2,000,000,000 elements, 7\.5 GiB: more than/).waitFor();
  await page.getByText(/^zarrox export '.*odd.zarr\/long' long.npy$/).waitFor();
});

test("storage says what a view and a series read", async (t) => {
  const page = await opened(t, "#/odd.zarr/v");
  await ready(page);
  await page.getByRole("tab", { name: "Storage" }).click();
  await page.getByText(/^This view reads 1 of 15 chunks/).waitFor();
  // Times of fetching, decoding, sending and painting, of which the server measures the first two.
  const time = async (name) => page.locator("dt", { hasText: new RegExp(`^${name}$`) }).locator("xpath=following-sibling::dd[1]").textContent();
  assert.match(await time("fetching"), /^[\d.]+ m?s$/);
  assert.match(await time("decoding"), /^[\d.]+ m?s · [\d.]+ (B|KiB) on disk$|^0 ms · decoded before$/);
  assert.match(await time("sending"), /^[\d.]+ m?s · [\d.]+ KiB in 1 request$/);
  assert.match(await time("painting"), /^[\d.]+ m?s$/);
  await page.getByText(/^A series along step at a point reads 3 of 15 chunks/).waitFor();
});

test("a step reads one slice and paints it once", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=3,,");
  await ready(page);
  const slices = [];
  page.on("request", (request) => request.url().includes("/slice/climate.zarr/t2m") && slices.push(request.url()));
  const before = await page.locator(".image").getAttribute("data-whole");
  await page.getByRole("button", { name: "Next time" }).click();
  await page.waitForFunction((before) => document.querySelector(".image").dataset.whole !== before, before);
  await ready(page);
  // The next slices are prefetched only while the steps are played.
  assert.ok(slices.length <= 1, slices.join("\n"));
});

test("the first picture comes with few requests", async (t) => {
  const asked = [];
  const page = await opened(t, "#/odd.zarr");
  await page.goto("about:blank");
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${server}/#/climate.zarr/t2m`);
  await ready(page);
  const calls = asked.filter((path) => path.includes("/api/") && !path.includes("/tree/"));
  t.diagnostic(`${asked.length} requests`);
  assert.deepEqual([...new Set(calls.map((path) => path.split("/")[3]))].sort(), ["node", "slice"]);
  assert.ok(calls.filter((path) => path.includes("/node/")).length <= 2, calls.join("\n"));
});

test("long names, many attributes and many dimensions do not break the frame", async (t) => {
  const page = await opened(t, "#/odd.zarr/u");
  await ready(page);
  const place = await page.locator(".panel .tabs").boundingBox();
  await page.getByRole("treeitem", { name: /^north/ }).click();
  await ready(page);
  assert.deepEqual(await page.locator(".panel .tabs").boundingBox(), place, "controls do not move from array to array");
  const edge = page.getByRole("separator", { name: "Width of the panel" });
  await edge.focus();
  for (let n = 0; n < 5; n++) await page.keyboard.press("ArrowLeft");
  assert.ok((await page.locator("aside").boundingBox()).width > 300);
  await page.locator("body").press("]");
  assert.equal(await page.locator("aside").isVisible(), false);
});
