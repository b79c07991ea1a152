// Measures the page on arrays of 40 GB, compared with zarrita.js in the same browser, and the time of a step and of a key:
// `bench.mjs ZARROX PYTHON DIRECTORY`.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { chromium } from "playwright-core";

const [zarrox, python, directory] = process.argv.slice(2);
const NAMES = { planes: "1000 × 1000 × 1", blocks: "250 × 250 × 25" };
/** The number of repetitions of each measurement; the median counts. */
const TIMES = 5;
/** The goals, in milliseconds and MiB. */
const GOALS = { first: 300, slice: 100, memory: 300, step: 20, key: 50 };

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const ms = (time) => `${Math.round(time)} ms`;
const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Starts a server, and waits until it responds. */
async function started(program, parameters, url) {
  const child = spawn(program, parameters, { stdio: "ignore" });
  for (let n = 0; n < 200; n++) {
    if (await fetch(url).then(() => true, () => false)) return child;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${program} does not answer`);
}

/** Returns the peak memory and the current memory of a process, in MiB. */
function memory({ pid }) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return ["VmHWM", "VmRSS"].map((name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024);
}

/** Counts the bytes of the responses to a page. */
async function counted(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const sent = { bytes: 0 };
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (sent.bytes += encodedDataLength));
  return sent;
}

/** Returns the time from a click in the tree to the first part of the picture, and to the whole picture. */
async function ours(browser, server, name) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(server);
  const item = page.getByRole("treeitem", { name: new RegExp(`^${name}`) });
  await item.waitFor();
  const sent = await counted(page);
  const [first, whole] = await page.evaluate(async (name) => {
    const label = [...document.querySelectorAll('[role="treeitem"]')].find((one) => one.textContent.includes(name));
    const begun = performance.now();
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    label.click();
    while (!document.querySelector(".image[data-took]")) await frame();
    const first = performance.now() - begun;
    while (!document.querySelector(".image[data-whole]")) await frame();
    return [first, performance.now() - begun];
  }, name);
  await page.waitForTimeout(200);
  await context.close();
  return { first, whole, bytes: sent.bytes };
}

/** Returns the times of reading windows of 1000² elements in further layers, with the requests of the page. */
async function windows(server, name) {
  const times = [];
  for (let n = 0; n < 24; n++) {
    const [y, x, layer] = [3000 + 130 * (n % 3), 4000, 3 + n];
    const begun = performance.now();
    const response = await fetch(`${server}/api/v1/slice/${name}.zarr?select=${y}:${y + 1000},${x}:${x + 1000},${layer}&as=raw`);
    const { byteLength } = await response.arrayBuffer();
    if (byteLength !== 4e6) throw new Error(`${byteLength} bytes came`);
    times.push(performance.now() - begun);
  }
  return times;
}

/** Returns the processor time of the main thread for a step along time, in milliseconds. */
async function step(page, server) {
  await page.goto(`${server}/#/climate.zarr/t2m`);
  await page.waitForSelector(".image[data-whole]:not(.busy)");
  const session = await page.context().newCDPSession(page);
  // Measures processor time, since wall time includes the work of other programs.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  const steps = (count) =>
    page.evaluate(async (count) => {
      for (let n = 0; n < count; n++) {
        document.querySelector("[aria-label='Next time']").click();
        await new Promise((done) => setTimeout(done, 250));
      }
    }, count);
  await steps(3);
  const before = await spent();
  await steps(16);
  return ((await spent()) - before) / 16;
}

/** Returns the times from a key to the next frame in a group of 10,000 arrays, in milliseconds. */
async function keys(page, server) {
  await page.goto(`${server}/#/plenty.zarr/a09000`);
  const chosen = page.locator('[role="treeitem"][aria-selected="true"]');
  await chosen.filter({ hasText: "a09000" }).waitFor();
  await chosen.focus();
  const times = [];
  for (let n = 0; n < 40; n++) {
    const begun = performance.now();
    await page.keyboard.press("ArrowUp");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    times.push(performance.now() - begun);
  }
  return times;
}

/** A page with zarrita.js that draws the same elements: every n-th element of a layer, or a window. */
const THEIRS = `
import * as zarr from "zarrita";
window.draw = async (url, rows, columns, step) => {
  const array = await zarr.open.v3(new zarr.FetchStore(url), { kind: "array" });
  const { data, shape } = await zarr.get(array, [zarr.slice(...rows, step), zarr.slice(...columns, step), 3]);
  const canvas = document.body.appendChild(document.createElement("canvas"));
  [canvas.width, canvas.height] = [shape[1], shape[0]];
  const pixels = new ImageData(shape[1], shape[0]);
  for (let at = 0; at < data.length; at++) pixels.data.set([(data[at] - 260) * 6, 0, 0, 255], at * 4);
  canvas.getContext("2d").putImageData(pixels, 0, 0);
};`;

async function theirs(browser, server, name, rows, columns, step) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(`${server}/index.html`);
  const sent = await counted(page);
  const time = await page.evaluate(async ([url, ...part]) => {
    const begun = performance.now();
    await window.draw(url, ...part);
    await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - begun;
  }, [`${server}/${name}.zarr`, rows, columns, step]).catch((error) => error.message.split("\n")[0]);
  await context.close();
  return { time, bytes: sent.bytes };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const [port, other] = [await freePort(), await freePort()];
const [server, files] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${other}`];
const work = fileURLToPath(new URL("..", import.meta.url));
const bundle = await build({ stdin: { contents: THEIRS, resolveDir: work }, bundle: true, format: "esm", write: false, target: "es2022" });
writeFileSync(`${directory}/theirs.js`, bundle.outputFiles[0].contents);
writeFileSync(`${directory}/index.html`, '<!doctype html><script type="module" src="theirs.js"></script>');

const rows = [];
const told = [];
const check = (what, found, goal, unit) => told.push(`${found <= goal ? "met" : "MISSED"}: ${what}: ${found.toFixed(0)} ${unit}, at most ${goal}`);

const small = await started(zarrox, ["serve", "--no-token", "--port", String(port), `${directory}/climate.zarr`, `${directory}/plenty.zarr`], server);
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  check("step along time", await step(page, server), GOALS.step, "ms of the main thread");
  check("key among 10,000 arrays", median(await keys(page, server)), GOALS.key, "ms");
  await page.close();
} finally {
  small.kill();
}

for (const [name, chunks] of Object.entries(NAMES)) {
  const serve = await started(zarrox, ["serve", "--no-token", "--port", String(port), `${directory}/${name}.zarr`], server);
  const plain = await started(python, ["-m", "http.server", String(other), "--bind", "127.0.0.1", "--directory", directory], files);
  try {
    const opened = [];
    for (let n = 0; n < TIMES; n++) opened.push(await ours(browser, server, `${name}.zarr`));
    const slices = await windows(server, name);
    const [most, now] = memory(serve);
    const all = [];
    // A slow measurement is made once.
    for (let n = 0; n < 3 && (n === 0 || all[0].time < 5000); n++) all.push(await theirs(browser, files, name, [0, 10_000], [0, 10_000], 10));
    const part = [];
    for (let n = 0; n < 3; n++) part.push(await theirs(browser, files, name, [3000, 4000], [4000, 5000], 1));
    const of = (list, key) => median(list.map((one) => one[key]));
    const time = (list) => (typeof list[0].time === "number" ? ms(of(list, "time")) : `fails: ${list[0].time.replace(/^.*Error: /, "")}`);
    rows.push(
      [`${chunks}: the first part of a layer`, ms(of(opened, "first")), ""],
      [`${chunks}: the whole layer`, `${ms(of(opened, "whole"))}, ${mb(of(opened, "bytes"))}`, `${time(all)}, ${mb(of(all, "bytes"))}`],
      [`${chunks}: 1000² of another layer`, `${ms(median(slices))}, ${mb(4e6)}`, `${time(part)}, ${mb(of(part, "bytes"))}`],
      [`${chunks}: the most memory of the server`, `${Math.round(most)} MiB`, ""],
    );
    check(`${chunks}, first picture`, of(opened, "first"), GOALS.first, "ms");
    check(`${chunks}, slice of 1000²`, median(slices), GOALS.slice, "ms");
    check(`${chunks}, memory (now ${Math.round(now)})`, most, GOALS.memory, "MiB");
  } finally {
    serve.kill();
    plain.kill();
  }
}
await browser.close();
console.log(["| chunks of 10000 × 10000 × 100 | the page | zarrita.js |", "|---|---|---|", ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n"));
console.log(told.join("\n"));
