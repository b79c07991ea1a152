// Screenshots of the page, compared with those in `screens`, which are a quarter as large. Fonts differ between machines, so that the means of
// blocks are compared. With ANEW, the pictures in `screens` are replaced.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { opened } from "./browser.mjs";

const place = (name) => fileURLToPath(new URL(`screens/${name}.png`, import.meta.url));

/** The factor by which the stored pictures are smaller along each side, and the side of a block in their pixels. */
const [PART, BLOCK] = [4, 4];
/** The difference from which two colours differ, the largest fraction of different blocks, and the largest mean difference; colours go up to 255. */
const [OTHER, MOST, MEAN] = [28, 0.03, 2.5];

const SCREENS = {
  image: { at: "#/climate.zarr/t2m?at=0:3&points=60,100", ready: ".image[data-took]:not(.busy)" },
  microscopy: { at: "#/mixed.zarr/image", ready: ".image[data-took]:not(.busy)" },
  plot: { at: "#/mixed.zarr/wave", ready: ".plot canvas[aria-label]" },
  group: { at: "#/climate.zarr", ready: ".card [data-dimension=time] small" },
  table: { at: "#/mixed.zarr/points", ready: "tbody td" },
  chunks: { at: "#/mixed.zarr/sparse?view=chunks", ready: ".chunks canvas[aria-label]" },
  dark: { at: "#/climate.zarr/anomaly?map=rdbu", ready: ".image[data-took]:not(.busy)", options: { colorScheme: "dark" } },
  narrow: { at: "#/climate.zarr/t2m", ready: ".image[data-took]:not(.busy)", options: { viewport: { width: 400, height: 800 } } },
};

/** Downsamples a picture in the browser. Returns it as PNG, and as RGBA bytes. */
async function smaller(page, png, part) {
  return page.evaluate(async ([url, part]) => {
    const image = await createImageBitmap(await (await fetch(url)).blob());
    const [width, height] = [Math.floor(image.width / part), Math.floor(image.height / part)];
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d");
    const source = new OffscreenCanvas(image.width, image.height).getContext("2d");
    source.drawImage(image, 0, 0);
    const from = source.getImageData(0, 0, image.width, image.height).data;
    const to = context.createImageData(width, height);
    // Each pixel is the mean of its block: browsers do not specify how they downsample.
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        for (let colour = 0; colour < 4; colour++) {
          let sum = 0;
          for (let v = 0; v < part; v++) for (let u = 0; u < part; u++) sum += from[((y * part + v) * image.width + x * part + u) * 4 + colour];
          to.data[(y * width + x) * 4 + colour] = Math.round(sum / part ** 2);
        }
      }
    }
    context.putImageData(to, 0, 0);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
    return { width, height, pixels: [...to.data], png: [...bytes] };
  }, [`data:image/png;base64,${png.toString("base64")}`, part]);
}

/** Returns the fraction of pixels that differ much, and the mean difference of all pixels. */
function difference(found, wanted) {
  let [others, sum] = [0, 0];
  for (let at = 0; at < found.pixels.length; at += 4) {
    const apart = [0, 1, 2].map((colour) => Math.abs(found.pixels[at + colour] - wanted.pixels[at + colour]));
    sum += (apart[0] + apart[1] + apart[2]) / 3;
    if (Math.max(...apart) > OTHER) others += 1;
  }
  const count = found.pixels.length / 4;
  return { others: others / count, mean: sum / count };
}

for (const [name, { at, ready, options }] of Object.entries(SCREENS)) {
  test(`the page looks as it did: ${name}`, async (t) => {
    const page = await opened(t, at, { reducedMotion: "reduce", bypassCSP: true, ...options });
    await page.waitForSelector(ready);
    await page.locator(".view h2").waitFor();
    // The location of the data differs between machines.
    await page.evaluate(() => {
      for (const name of document.querySelectorAll("aside dt")) if (name.textContent === "location") name.nextElementSibling.textContent = "/data";
      // The loading time differs between runs.
      for (const chip of document.querySelectorAll(".chip")) chip.textContent = chip.textContent.replace(/\d+ ms/, "0 ms");
    });
    await page.waitForTimeout(400);
    const taken = await smaller(page, await page.screenshot(), PART);
    if (process.env.ANEW) {
      mkdirSync(fileURLToPath(new URL("screens", import.meta.url)), { recursive: true });
      writeFileSync(place(name), Buffer.from(taken.png));
      return;
    }
    const found = await smaller(page, Buffer.from(taken.png), BLOCK);
    const wanted = await smaller(page, readFileSync(place(name)), BLOCK);
    assert.deepEqual([found.width, found.height], [wanted.width, wanted.height]);
    const { others, mean } = difference(found, wanted);
    t.diagnostic(`${(100 * others).toFixed(2)} % of blocks differ, by ${mean.toFixed(2)} of 255 in the mean of all`);
    assert.ok(others <= MOST && mean <= MEAN, `${name}: ${(100 * others).toFixed(1)} % of blocks differ, by ${mean.toFixed(1)} in the mean of all`);
  });
}
