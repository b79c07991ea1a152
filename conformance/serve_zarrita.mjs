// Reads hierarchies from `zarrox serve` with zarrita.js, and compares every value; see `serve.py`.

import { readFileSync } from "node:fs";
import * as zarr from "zarrita";

const { url, token, names, arrays } = JSON.parse(readFileSync(0, "utf8"));

/** A store that sends the token with each request. */
function store(name) {
  const fetched = (request) => {
    const headers = new Headers(request.headers);
    headers.set("Authorization", `Bearer ${token}`);
    return fetch(new Request(request, { headers }));
  };
  return new zarr.FetchStore(`${url}/v3/${name}`, { fetch: fetched });
}

let compared = 0;
for (const name of names) {
  const root = zarr.root(store(name));
  for (const [path, wanted] of Object.entries(arrays)) {
    const array = await zarr.open.v3(root.resolve(path), { kind: "array" });
    const { data, shape } = await zarr.get(array);
    const found = Array.from(data, Number);
    const same = JSON.stringify(shape) === JSON.stringify(wanted.shape) && found.length === wanted.values.length
      && found.every((value, index) => value === wanted.values[index]);
    if (!same) {
      throw new Error(`zarrita.js: ${name}/${path}: ${JSON.stringify(shape)} ${found}`);
    }
    compared += 1;
  }
}
console.log(`zarrita.js has read ${compared} arrays`);
