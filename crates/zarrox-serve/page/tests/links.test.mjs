// Links: the state that they contain, the access that they grant, and missing targets.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { fragment, opened, ready, server, show, sub } from "./browser.mjs";

/** Starts a separate server, and returns its link. */
async function serving(t, roots, environment = {}) {
  const serve = spawn(process.env.ZARROX, ["serve", ...roots], { env: { ...process.env, ...environment } });
  t.after(() => serve.kill());
  return { serve, link: new URL(String((await once(serve.stdout, "data"))[0]).split("\n")[0]) };
}

test("links have coordinates, which lead to the same place", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=time:2020-03-01");
  await ready(page);
  assert.match(await sub(page), /^2020-03-01 00:00 · 9 of 48/);
  await page.getByRole("button", { name: "Next time", exact: true }).click();
  await page.waitForFunction(() => document.querySelector(".sub").textContent.startsWith("2020-03-01 06:00"));
  assert.match(await fragment(page), /at=time:2020-03-01T06:00/);
  await show(page, "#/odd.zarr/u?at=level:500 hPa,1:3");
  assert.match(await sub(page), /^level 500 hPa · 2020-06-24 03:00/);
  assert.match(await fragment(page), /at=level:500,step:2020-06-24T03:00/);
  // Another position in the same array.
  await show(page, "#/odd.zarr/u?at=level:100,step:2020-06-24T05:00");
  assert.match(await sub(page), /^level 100 hPa · 2020-06-24 05:00/);
  // Older links have only indices, and so have dimensions without coordinates.
  await show(page, "#/odd.zarr/series?at=0:4");
  assert.match(await fragment(page), /at=0:4/);
});

test("a link to what an array does not have says so", async (t) => {
  const page = await opened(t, "#/climate.zarr/t2m?at=time:2031-01-01");
  await page.getByText("The link has time 2031-01-01; the nearest is 2020-03-10 18:00").waitFor();
  await show(page, "#/climate.zarr/t2m?at=level:850", ".message:not([hidden])");
  await page.getByText("The link has level 850, and this array has no dimension level").waitFor();
  await show(page, "#/climate.zarr/t2m?at=time:soon", ".message:not([hidden])");
  await page.getByText("The link has time soon, which is not a coordinate of this array").waitFor();
  for (const odd of ["at=:,a:,%3A:1,time", "at=time:%25,__proto__:1", "at=9:9,lat:<b>1</b>"]) {
    await show(page, `#/climate.zarr/t2m?${odd}`, ".image canvas[aria-label]");
    assert.equal(await page.locator(".message b").count(), 0);
  }
});

test("a token that is given stays over restarts, and so do links", async (t) => {
  const token = "a-token-of-the-tests";
  const first = await serving(t, [`${process.env.SITE}/climate.zarr`], { ZARROX_TOKEN: token });
  assert.equal(first.link.searchParams.get("token"), token);
  const link = `${first.link}#/climate.zarr/t2m?at=time:2020-03-01`;
  await ready(await opened(t, link));
  first.serve.kill();
  await once(first.serve, "exit");
  const again = await serving(t, ["--token", token, "--port", first.link.port, `${process.env.SITE}/climate.zarr`]);
  assert.equal(again.link.href, first.link.href);
  const page = await opened(t, link);
  await ready(page);
  assert.match(await sub(page), /^2020-03-01 00:00/);
});

test("arrays of many elements are exported whole, and what is refused says why in its panel", async (t) => {
  const page = await opened(t, "#/mixed.zarr/gaps", { expected: /status of 413/ });
  await ready(page);
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const item = page.getByRole("button", { name: /NumPy.*9,000,000 elements, 34\.3 MiB/ });
  const [download] = await Promise.all([page.waitForEvent("download"), item.click()]);
  assert.equal((await stat(await download.path())).size, 128 + 36_000_000);
  await page.route(/as=npy/, (route) => route.fulfill({ status: 413, json: { error: { status: 413, kind: "too-much", message: "the elements take too much", advice: "ask for fewer" } } }));
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await item.click();
  await page.getByText("the elements take too much: ask for fewer").waitFor();
  assert.ok(await page.locator(".image canvas").isVisible(), "the page is still there");
});

test("a web server without listings is opened by a path", async (t) => {
  // Like an object store behind a web server: there are files, but no listings.
  const files = http.createServer(async (request, response) => {
    const file = path.join(process.env.SITE, decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const found = await stat(file).catch(() => null);
    if (!found?.isFile()) return response.writeHead(404).end();
    response.writeHead(200, { "content-length": found.size });
    if (request.method === "HEAD") return response.end();
    createReadStream(file).pipe(response);
  });
  await new Promise((listening) => files.listen(0, "127.0.0.1", listening));
  t.after(() => (files.close(), files.closeAllConnections()));
  const { link } = await serving(t, ["--no-token", `far=http://127.0.0.1:${files.address().port}/odd.zarr`]);
  const page = await opened(t, `${link}#/far`, { expected: /status of 4\d\d/ });
  await page.getByText(/^The nodes below cannot be listed/).waitFor();
  await page.getByRole("textbox", { name: "Path" }).fill("table");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await ready(page);
  assert.equal(await page.locator(".heading h2").textContent(), "table");
});

test("files of other formats are looked at as they are", async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), "zarrox-page-"));
  t.after(() => rm(directory, { recursive: true }));
  const [dataset, image] = ["climate.nc", "rgb.tif"].map((name) => path.join(directory, name));
  const run = promisify(execFile);
  await run(process.env.ZARROX, ["export", `${process.env.SITE}/climate.zarr`, dataset]);
  await run(process.env.ZARROX, ["export", `${process.env.SITE}/mixed.zarr/rgb`, image]);
  const { link } = await serving(t, ["--no-token", dataset, image]);
  const page = await opened(t, `${link}#/climate.nc/t2m?at=time:2020-03-01`);
  await ready(page);
  assert.match(await sub(page), /^2020-03-01 00:00/);
  await page.getByRole("tab", { name: "Info" }).click();
  await page.getByText("HDF5, read as Zarr v3").waitFor();
  await page.getByRole("button", { name: "Code", exact: true }).click();
  await page.getByText(/^zarrox import '.*climate\.nc' 'climate\.zarr'$/).waitFor();
  await page.goto(`${link}#/rgb.tif`);
  await page.waitForFunction(() => document.querySelector(".heading h2, .card h2")?.textContent.startsWith("rgb"));
});

test("a table goes to any row of two thousand million", async (t) => {
  const page = await opened(t, "#/odd.zarr/long?view=table");
  await page.getByText("Rows 0 to 99 of 2,000,000,000").waitFor();
  await page.getByLabel("Go to row").fill("1999999950");
  await page.getByLabel("Go to row").press("Enter");
  await page.getByText("Rows 1,999,999,950 to 1,999,999,999 of 2,000,000,000").waitFor();
  assert.equal(await page.locator("tbody tr").count(), 50);
});

test("the mean of a sparse array of 40 GB comes soon", async (t) => {
  const page = await opened(t, "#/odd.zarr/plain?reduce=mean");
  const asked = [];
  page.on("request", (request) => request.url().includes("/slice/odd.zarr/huge") && asked.push(request.url()));
  await show(page, "#/odd.zarr/huge?reduce=mean", ".view");
  await page.waitForSelector(".image[data-whole]:not(.busy)", { timeout: 60_000 });
  await page.getByText("mean of 125 × 125 elements").waitFor();
  const took = Number(await page.locator(".image").getAttribute("data-whole"));
  t.diagnostic(`the mean of 100,000² elements: ${took} ms, ${asked.length} requests`);
  // Five of the 100 shards are stored.
  assert.equal(asked.length, 5, asked.join("\n"));
  const whole = await fetch(`${server}/api/v1/slice/odd.zarr/huge?select=:10000,10000:20000&step=100,100&reduce=mean&as=json`);
  assert.equal(whole.status, 200);
  assert.equal((await whole.json()).values[0][0], 0);
});
