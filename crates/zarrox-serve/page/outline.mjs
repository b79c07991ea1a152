// Writes src/outline.json: the coastlines of Natural Earth at 1:110 million, which are in the public domain, as the package world-atlas
// has them. `npm pack world-atlas@2.0.2`, then `node outline.mjs land-110m.json`. Each line is a list of longitudes and latitudes in
// tenths of a degree; each number is the difference from the previous one.

import { readFileSync, writeFileSync } from "node:fs";

const { arcs, transform } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { scale, translate } = transform;

/** Returns true for a line along the edge of the map, which is not a coast. */
const isEdge = ([a, b], [c, d]) => (Math.abs(a) >= 1799 && Math.abs(c) >= 1799) || (b <= -895 && d <= -895);

const lines = [];
for (const arc of arcs) {
  let [x, y] = [0, 0];
  const points = arc.map(([dx, dy]) => {
    [x, y] = [x + dx, y + dy];
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]].map((degrees) => Math.round(degrees * 10));
  });
  let line = [];
  const end = () => {
    if (line.length > 1) lines.push(line);
  };
  for (const point of points) {
    const last = line[line.length - 1];
    if (last && isEdge(last, point)) {
      end();
      line = [];
    } else if (last && last[0] === point[0] && last[1] === point[1]) continue;
    line.push(point);
  }
  end();
}
const differences = (line) => line.flatMap(([x, y], at) => [x - (line[at - 1]?.[0] ?? 0), y - (line[at - 1]?.[1] ?? 0)]);
writeFileSync(new URL("src/outline.json", import.meta.url), `${JSON.stringify(lines.map(differences))}\n`);
