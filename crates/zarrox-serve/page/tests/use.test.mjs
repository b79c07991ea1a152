// User input in a real browser: keys, wheels, touch, copying and files.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";

import axe from "axe-core";

import { colourOf, fragment, limits, near, opened, placeOf, ready, server, show } from "./browser.mjs";

const shots = process.env.SHOTS;
const run = promisify(execFile);
const image = (page) => page.locator(".image canvas");

test("code is shown before it is copied, and reads the part that is shown", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=0:3&box=10,20,40.5,60", { permissions: ["clipboard-read", "clipboard-write"] });
  await ready(page);
  await page.getByRole("button", { name: "Code", exact: true }).click();
  const panel = page.getByRole("dialog", { name: "Code" });
  const copied = async (name) => {
    await panel.getByRole("button", { name, exact: true }).click();
    const shown = await panel.locator("pre").textContent();
    await panel.getByRole("button", { name: "Copy", exact: true }).click();
    await panel.getByRole("button", { name: "Copied" }).waitFor();
    await panel.getByRole("button", { name: "Copy", exact: true }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
    return shown;
  };
  const [python, rust, command, script] = [await copied("Python"), await copied("Rust"), await copied("Command"), await copied("JavaScript")];
  assert.match(python, /^import zarrox as zarr\n\nz = zarr.open_array\(".*climate.zarr\/t2m", mode="r"\)\nz\[3, 20:60, 10:41\]$/);
  assert.match(rust, /zarrox::open_array\(".*t2m"\)\?;\nlet part = array.read_dyn\(s!\[3, 20..60, 10..41\]\)\?;$/);
  assert.match(command, /^zarrox dump '.*climate.zarr\/t2m\[3, 20:60, 10:41\]'$/);
  assert.match(script, /FetchStore\("http.*\/v3\/climate.zarr\/t2m"\)[^]*\[3, zarr.slice\(20, 60\), zarr.slice\(10, 41\)\]/);
  const { stdout } = await run("sh", ["-c", command.replace(/^zarrox/, process.env.ZARROX)]);
  assert.match(stdout, /^\[\[\d+\.\d+ /);
  await page.keyboard.press("Escape");
  assert.equal(await panel.isVisible(), false);
});

test("exports say their size first, and figures have their title, axes and colour bar", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=0:3&box=10,20,40.5,60");
  await ready(page);
  const saved = async (name) => {
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    return readFile(await download.path());
  };
  const npy = await saved(/NumPy.*1,240 elements, 4\.8 KiB/);
  assert.match(npy.toString("latin1", 0, 128), /NUMPY.*'<f4'.*\(40, 31\)/);
  const png = await saved(/^PNG/);
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2400, 1800]);
  const svg = (await saved(/^SVG/)).toString();
  for (const text of ["temperature (K)", "2020-02-28 18:00", "°N<", "°E<", "<image", ">K<"]) assert.ok(svg.includes(text), text);
});

test("everything in an image is reached by keys", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=0:3");
  await ready(page);
  await image(page).focus();
  await page.keyboard.press("+");
  assert.match(await fragment(page), /box=/);
  assert.match(await page.locator(".tag").textContent(), /K0°  180°/);
  await page.keyboard.press("Enter");
  await page.locator(".dock canvas[aria-label*='Plot along time']").waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Shift+Enter");
  await page.locator(".dock canvas[aria-label*='; ']").waitFor();
  // The label for screen readers describes the image.
  assert.match(await image(page).getAttribute("aria-label"), /^Image of temperature, lon from .* to .*, lat from .* to .*, time 2020-02-28 18:00, contrast limits .* to .* K\.$/);
  await page.keyboard.press("Escape");
  assert.doesNotMatch(await fragment(page), /points/);
  await page.keyboard.press(".");
  await page.getByText("5 / 48").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("find in all roots").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.getByLabel("Place", { exact: true }).fill("52.5, 13.4");
  await page.keyboard.press("Enter");
  assert.match(await fragment(page), /points=3[78],13/);
  await page.keyboard.press("Escape");
  await page.locator("body").press("4");
  await page.locator(".chunks canvas[aria-label]").waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await show(page, "#/mixed.zarr/wave", ".plot canvas[aria-label*='Values from -1 to 1']");
  await page.locator(".plot canvas").focus();
  for (const key of ["+", "+", "ArrowRight", "-"]) await page.keyboard.press(key);
  assert.match(await fragment(page), /box=2\d{4},0,\d+,1/);
  await page.keyboard.press("0");
  assert.doesNotMatch(await fragment(page), /box/);
});

test("edges of chunks are drawn over an image, and a link keeps them", async (t) => {
  const page = await opened(t, "#/climate.zarr/anomaly");
  const box = page.getByRole("checkbox", { name: "Chunk grid" });
  await ready(page);
  await box.check();
  assert.match(await fragment(page), /grid=1/);
  await page.reload();
  await ready(page);
  assert.ok(await box.isChecked());
});

test("norms, levels and colour maps are kept in the link", async (t) => {
  const page = await opened(t, "#/mixed.zarr/sparse?view=image&box=700,500,1100,900");
  const linear = await colourOf(page, 900, 540);
  await page.getByRole("combobox", { name: "Norm" }).selectOption("log");
  assert.notDeepEqual(await colourOf(page, 900, 540), linear);
  await page.getByRole("combobox", { name: "Norm" }).selectOption("symlog");
  await ready(page);
  await page.getByRole("button", { name: /^Colormap/ }).click();
  await page.getByRole("button", { name: "gray", exact: true }).click();
  await page.getByLabel("Levels").fill("4");
  await page.getByLabel("Levels").press("Enter");
  const again = await opened(t, await fragment(page));
  const greys = new Set();
  for (let row = 510; row < 900; row += 10) {
    const grey = await colourOf(again, 900, row);
    assert.ok(grey[0] === grey[1] && grey[1] === grey[2], `${grey}`);
    greys.add(grey[0]);
  }
  assert.ok([...greys].every((grey) => [0, 85, 170, 255].includes(grey)), `${[...greys]}`);
});

test("reductions of many elements are those of the server", async (t) => {
  const page = await opened(t, "#/mixed.zarr/wide?map=gray&range=0,7");
  await ready(page);
  const options = await page.getByRole("combobox", { name: "Downsampling" }).locator("option").evaluateAll((all) => all.map((one) => one.value));
  assert.deepEqual(options, ["nearest", "mean", "min", "max", "median", "mode"]);
});

test("complex numbers, booleans and fields are images", async (t) => {
  const page = await opened(t, "#/mixed.zarr/complex");
  const magnitude = await limits(page);
  await page.getByRole("combobox", { name: "Component" }).selectOption("real");
  await page.waitForFunction((before) => document.querySelector("[aria-label='Lower limit']").value !== String(before), magnitude[0]);
  const [low] = await limits(page);
  assert.ok(low < 0, `${low}`);
  await show(page, "#/mixed.zarr/mask");
  assert.notDeepEqual(await colourOf(page, 5, 5), await colourOf(page, 5, 6));
  await show(page, "#/mixed.zarr/points?view=plot&field=n", ".plot canvas[aria-label*='Values from 0 to 49']");
});

test("a window of half the size, as at 200 %, has all in reach and nothing beside it", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
  await ready(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 640));
  for (const name of ["Play time", "Export", "Code", "Copy link"]) {
    await page.getByRole("button", { name, exact: true }).scrollIntoViewIfNeeded();
    assert.ok(await page.getByRole("button", { name, exact: true }).isVisible(), name);
  }
});

test("large images come tile by tile, each chunk once", async (t) => {
  const page = await opened(t, "#/mixed.zarr/scalar");
  await page.getByRole("cell", { name: "3.5" }).waitFor();
  const asked = [];
  page.on("request", (request) => request.url().includes("/slice/") && asked.push(decodeURIComponent(request.url().replaceAll("+", " "))));
  await show(page, "#/mixed.zarr/wide?map=gray&range=0,7");
  await ready(page);
  assert.ok(asked.length > 4, `${asked.length}`);
  // Pixels have the colours of the array in every tile.
  for (const [x, y] of [[100, 100], [4100, 100], [100, 7900], [7900, 7900], [4000, 4000]]) {
    const [red, green, blue] = await colourOf(page, x, y);
    const wanted = ((Math.floor(x / 1000) + Math.floor(y / 1000)) % 8) * 36;
    assert.ok(Math.abs(red - wanted) < 24 && red === green && green === blue, `${x} ${y}: ${red}, not ${wanted}`);
  }
  for (const reduce of ["mean", "max"]) {
    await page.getByRole("combobox", { name: "Downsampling" }).selectOption(reduce);
    await page.waitForFunction((words) => document.querySelector(".chip").textContent.startsWith(words), { mean: "mean of", max: "maximum of" }[reduce]);
    const [red] = await colourOf(page, 7500, 2500);
    assert.ok(Math.abs(red - 36) < 24, `${reduce}: ${red}`);
  }
});

test("lines are drawn, and a drag shows a part of one", async (t) => {
  const page = await opened(t, "#/mixed.zarr/wave");
  await page.locator(".plot canvas[aria-label*='Values from -1 to 1']").waitFor();
  const box = await page.locator(".plot canvas").boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 100, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("box="));
});

test("structures, text, times and single values are tables, in pages", async (t) => {
  const page = await opened(t, "#/mixed.zarr/text");
  await page.getByRole("cell", { name: "name 7 ü", exact: true }).waitFor();
  await page.getByRole("button", { name: "Next rows" }).click();
  await page.getByRole("cell", { name: "name 107 ü" }).waitFor();
  await page.goto(`${server}/#/mixed.zarr/points`);
  await page.getByRole("columnheader", { name: "n", exact: true }).waitFor();
  await page.getByRole("cell", { name: "0.25", exact: true }).waitFor();
  await page.goto(`${server}/#/mixed.zarr/scalar`);
  await page.getByRole("cell", { name: "3.5" }).waitFor();
  await page.goto(`${server}/#/mixed.zarr/times?view=table`);
  await page.getByRole("cell", { name: /1970-01-01/ }).first().waitFor();
});

test("the map of chunks tells what is written, inside of shards too", async (t) => {
  const page = await opened(t, "#/mixed.zarr/sparse?view=chunks");
  await page.locator(".sub", { hasText: "8 of 100 shards written" }).waitFor();
  await page.locator(".chunks canvas").click({ position: { x: 120, y: 70 } });
  await page.getByText("12 of 16 written").waitFor();
  await page.getByText(/^sparse\/c\/1\/[012]$/).waitFor();
  if (shots) await page.screenshot({ path: `${shots}/serve-chunks.png` });
  await page.getByText("Shard index").click();
  await page.getByRole("row", { name: /not written/ }).first().waitFor();
  // The first row of the shard's chunks is missing, and the last one is stored.
  const [above, below] = await page.$eval(".chunks canvas", (canvas) => {
    const ratio = canvas.width / canvas.clientWidth;
    const side = Math.max(3, Math.min(48, canvas.clientWidth / 10, canvas.clientHeight / 10)) * ratio;
    const at = (x, y) => [...canvas.getContext("2d").getImageData(x * side, y * side, 1, 1).data].join();
    return [at(2.6, 1.15), at(2.6, 1.9)];
  });
  assert.notEqual(above, below);
  assert.equal(below, await page.$eval(".legend .stored", (one) => `${getComputedStyle(one).backgroundColor.match(/\d+/g).join()},255`));
});

test("damaged chunks are shown as such, and everything else works", async (t) => {
  const page = await opened(t, "#/mixed.zarr/damaged?view=chunks");
  await page.getByRole("button", { name: "Check these 16 chunks" }).click();
  await page.locator(".sub", { hasText: "1 damaged" }).waitFor();
  const broken = await opened(t, "#/mixed.zarr/broken", { expected: /status of 422/ });
  await broken.getByRole("alert").filter({ hasText: /shape/ }).first().waitFor();
  await broken.getByRole("treeitem", { name: /^mask/ }).click();
  await ready(broken);
  assert.equal(await broken.locator("[role=alert]:visible").count(), 0);
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
  await ready(page);
  assert.doesNotMatch(await page.locator("body").innerText(), /in time/);
  await page.getByRole("treeitem", { name: /^hangs/ }).click();
  await page.getByRole("alert").filter({ hasText: "did not answer in time" }).first().waitFor();
});

test("nodes are found in all roots, by their names and in words", async (t) => {
  // The picture of a damaged array is an error.
  const page = await opened(t, "#/mixed.zarr", { expected: /status of 422/ });
  const field = page.getByLabel("Find in all roots");
  await field.fill("g0123");
  await page.getByRole("button", { name: "many/g0123" }).click();
  assert.match(await fragment(page), /mixed\.zarr\/many\/g0123/);
  // The variable of another root is found by its long name, with its shape.
  await field.fill("northward");
  await page.getByRole("button", { name: /^v northward wind · m s⁻¹ · 5 × 30 × 61 × 60/ }).click();
  await ready(page);
  await field.fill("nothing has this name");
  await page.getByText("no match").first().waitFor();
  await field.fill("g0");
  await page.locator("section", { hasText: "mixed.zarr" }).getByText("first 20 of many").waitFor();
  await page.locator("section", { hasText: "mixed.zarr" }).getByRole("button", { name: "More" }).click();
  await page.getByText("first 100 of many").waitFor();
});

test("the tree is paged, and moved through by keys", async (t) => {
  const page = await opened(t, "#/mixed.zarr/many/g0123");
  const many = page.getByRole("treeitem", { name: /^many/ });
  await many.waitFor();
  await many.focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await many.getAttribute("aria-expanded"), "false");
  await page.keyboard.press("ArrowRight");
  assert.equal(await many.getAttribute("aria-expanded"), "true");
  // Further nodes are loaded while the user scrolls.
  const final = page.locator('[role="treeitem"]', { hasText: "g0299" });
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
  // A link selects an array far down, which is visible and marked.
  const chosen = page.locator('[role="treeitem"][aria-selected="true"]');
  await chosen.filter({ hasText: "a09000" }).waitFor();
  assert.ok(await chosen.evaluate((item) => item.getBoundingClientRect().bottom <= innerHeight));
  const last = page.locator('[role="treeitem"]', { hasText: "a09999" });
  await chosen.focus();
  while ((await last.count()) === 0) await page.keyboard.press("End");
  await page.keyboard.press("End");
  // page/tests/bench.mjs measures the time of a key.
  for (let n = 0; n < 40; n++) await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("cell", { name: "11", exact: true }).or(page.locator(".image[data-took]")).first().waitFor();
  await page.getByLabel("Find in all roots").fill("a0777");
  await page.getByText("10 found").waitFor();
});

test("it is dark where that is preferred, and a phone gets the picture first", async (t) => {
  const dark = await opened(t, "#/climate.zarr/t2m", { colorScheme: "dark" });
  await ready(dark);
  const paper = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(paper, "rgb(22, 25, 29)");
  const phone = await opened(t, "#/climate.zarr/t2m", { viewport: { width: 400, height: 800 } });
  await ready(phone);
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 400));
  const [picture, row] = [await image(phone).boundingBox(), await phone.locator(".dimensions").boundingBox()];
  assert.ok(picture.y < 200 && picture.height > 250 && row.y + row.height <= 800, JSON.stringify([picture, row]));
  assert.equal(await phone.getByRole("treeitem", { name: /^t2m/ }).isVisible(), false);
  await phone.getByRole("button", { name: "Show or hide the tree" }).click();
  await phone.getByRole("treeitem", { name: /^t2m/ }).waitFor();
});

test("a page of another origin has a picture in a frame, where the tree is closed at first", async (t) => {
  // Like a notebook: it requests nothing from the server, except through its frame.
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
  await shown.getByRole("button", { name: "Show or hide the tree" }).click();
  await tree.waitFor();
  // The wheel scrolls the notebook; with Ctrl, it zooms.
  const { pageX, pageY } = await placeOf(shown, 180, 90);
  const frame = await page.locator("iframe").boundingBox();
  await page.mouse.move(frame.x + pageX, frame.y + pageY);
  await page.mouse.wheel(0, -300);
  await shown.getByText("Use Ctrl + scroll to zoom").waitFor();
  assert.doesNotMatch(await shown.evaluate(() => location.hash), /box/);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await shown.waitForFunction(() => location.hash.includes("box="));
  // All requests of the frame go through the same path.
  const asked = await shown.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  assert.ok(asked.length > 3 && asked.every((path) => path.startsWith("/t/-/")), asked.join(" "));
  // Without the token in its path, the page refuses to be embedded.
  const refused = await fetch(`${server}/`);
  assert.match(refused.headers.get("content-security-policy"), /frame-ancestors 'self'/);
});

for (const [name, fragment] of Object.entries({ image: "#/climate.zarr/t2m?points=60,100", plot: "#/mixed.zarr/wave", group: "#/climate.zarr", plate: "#/folder/plate.zarr", table: "#/mixed.zarr/points", chunks: "#/mixed.zarr/sparse?view=chunks", compare: "#/climate.zarr/t2m?compare=side&other=climate.zarr/anomaly@", ratio: "#/climate.zarr/t2m?compare=ratio&other=climate.zarr/t2m@0:3", map: "#/curved.zarr/europe/tas?points=20,30", planes: "#/old.zarr?planes=1&at=1:1,2:50,3:80", channels: "#/mixed.zarr/image" })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing serious: ${name}, ${colorScheme}`, async (t) => {
      const page = await opened(t, fragment, { colorScheme, bypassCSP: true });
      await page.locator(".view h2").first().waitFor();
      await page.waitForTimeout(500);
      await page.evaluate(axe.source);
      for (const tab of await page.locator("aside [role=tab]").all()) {
        await tab.click();
        const { violations } = await page.evaluate(() => axe.run());
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]), []);
      }
    });
  }
}
