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

/** Returns the elements in row-major order. Their order in memory is that of storage, which the strides describe. */
function rowMajor({ data, shape, stride }) {
  const found = [];
  const visit = (dim, at) => {
    if (dim === shape.length) {
      found.push(Number(data[at]));
      return;
    }
    for (let index = 0; index < shape[dim]; index += 1) {
      visit(dim + 1, at + index * stride[dim]);
    }
  };
  visit(0, 0);
  return found;
}

let compared = 0;
for (const name of names) {
  const root = zarr.root(store(name));
  for (const [path, wanted] of Object.entries(arrays)) {
    const array = await zarr.open.v3(root.resolve(path), { kind: "array" });
    const read = await zarr.get(array);
    const found = rowMajor(read);
    const same = JSON.stringify(read.shape) === JSON.stringify(wanted.shape) && found.length === wanted.values.length
      && found.every((value, index) => value === wanted.values[index]);
    if (!same) {
      throw new Error(`zarrita.js: ${name}/${path}: ${JSON.stringify(read.shape)} ${found}`);
    }
    compared += 1;
  }
}
console.log(`zarrita.js has read ${compared} arrays`);
