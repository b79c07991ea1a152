// Looks at hierarchies of `zarrox serve` with neuroglancer in Chromium, and compares every value that it shows; see `serve.py`.

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const { browser: executablePath, views } = JSON.parse(readFileSync(0, "utf8"));

/** Returns the values of a layer on neuroglancer's screen, in row-major order; null for each value that is not shown. */
function shown({ name, shape }) {
  const managed = globalThis.viewer?.layerManager.managedLayers.find((layer) => layer.name === name);
  const pictures = (managed?.layer?.renderLayers ?? []).filter((layer) => layer.getValueAt);
  const at = (row, column) => {
    for (const picture of pictures) {
      const value = picture.getValueAt(new Float32Array([row + 0.5, column + 0.5]));
      if (value !== null && value !== undefined) {
        return Number(Array.isArray(value) ? value[0] : value);
      }
    }
    return null;
  };
  return Array.from({ length: shape[0] * shape[1] }, (_, index) => at(Math.floor(index / shape[1]), index % shape[1]));
}

const software = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
const browser = await chromium.launch({ executablePath, args: software });
let compared = 0;
for (const { url, address, layers } of views) {
  const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  const failures = [];
  page.on("requestfailed", (request) => failures.push(`${request.url()}: ${request.failure().errorText}`));
  await page.goto(url);
  for (const layer of layers) {
    const wanted = JSON.stringify(layer.values);
    let found = null;
    for (const end = Date.now() + 30_000; Date.now() < end && found !== wanted; await page.waitForTimeout(50)) {
      found = JSON.stringify(await page.evaluate(shown, layer));
    }
    if (found !== wanted) {
      throw new Error(`neuroglancer: ${address}, ${layer.name}: ${found}, expected ${wanted}\n${failures.join("\n")}`);
    }
    compared += 1;
  }
  await page.close();
}
await browser.close();
console.log(`neuroglancer has shown ${compared} arrays`);
