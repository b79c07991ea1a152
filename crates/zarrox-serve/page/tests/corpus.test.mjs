// Data of other programs: every node of every hierarchy of the corpus is requested through the server's interface, and opened in the page.

import assert from "node:assert/strict";
import { test } from "node:test";

import { blank, server } from "./browser.mjs";

/** The time for opening nodes in the page, in milliseconds. The nodes of all writers take turns, so that some of each are opened. */
const TIME = 75_000;
/** The number of nodes that are opened in any case. */
const LEAST = 500;
const AT_ONCE = 6;
const VIEWS = ["image", "plot", "table", "chunks"];

const address = (call, { root, path }, query = "") =>
  `${server}/api/v1/${[call, root, ...path.split("/").filter(Boolean)].map(encodeURIComponent).join("/")}${query}`;

async function asked(call, place, query) {
  const response = await fetch(address(call, place, query));
  return { status: response.status, body: await response.json() };
}

/** Returns all nodes below a root, and the root itself. */
async function nodesOf(root) {
  const found = [];
  const open = async (path) => {
    let after = "";
    do {
      const { status, body } = await asked("tree", { root, path }, `?after=${encodeURIComponent(after)}`);
      assert.equal(status, 200, `${root} ${path}: ${JSON.stringify(body)}`);
      if (after === "" && body.node.kind !== "folder") found.push({ ...body.node, root });
      for (const child of body.children) {
        if (child.kind === "group" || child.kind === "folder") await open(child.path);
        else found.push({ ...child, root });
      }
      after = body.next ?? "";
    } while (after !== "");
  };
  await open("");
  return found;
}

async function allNodes() {
  const { roots } = await (await fetch(`${server}/api/v1/`)).json();
  const lists = await Promise.all(roots.map((root) => nodesOf(root.name ?? root)));
  return { roots: roots.length, lists };
}

/** Does work on all items, several at a time. */
async function each(items, work) {
  const rest = [...items];
  const worker = async () => {
    for (let item = rest.shift(); item; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const isNumeric = ({ data_type }) => ["bool", "int", "uint", "float"].includes(data_type.kind) && !/time/.test(data_type.name);

/** Parts of the error messages of data that may be refused. */
const REFUSED = [
  /gdeflate/,
  // Data that is in the corpus because it must be refused.
  /pickle/,
  /example\.org/,
  /'jpeg'|'nobody-knows'/,
  // A block of N5 with a list of elements, which is not a part of an array.
  /the block stores 7 elements/,
];
const isRefused = (text) => REFUSED.some((pattern) => pattern.test(text));

test("every call answers for every node of the corpus", async (t) => {
  const { roots, lists } = await allNodes();
  const wrong = [];
  const counts = { array: 0, group: 0, damaged: 0, unreadable: 0 };
  await each(lists.flat(), async (place) => {
    counts[place.kind] += 1;
    const tell = (...words) => isRefused(words.join(" ")) || wrong.push([place.root, place.path, ...words]);
    if (place.kind === "damaged") return tell(place.error);
    const check = async (call, query) => {
      const { status, body } = await asked(call, place, query);
      if (status !== 200) tell(call, query, JSON.stringify(body));
      return body;
    };
    const node = await check("node", "");
    if (place.kind === "group" || !node.shape) return;
    await check("chunks", "?inner=true");
    if (node.unreadable) {
      counts.unreadable += 1;
      return tell(node.unreadable);
    }
    await check("slice", "?as=json&max_elements=10000");
    if (!isNumeric(node) || node.shape.includes(0)) return;
    await check("stats", "");
    if (node.shape.length > 0) await check("line", `?select=${node.shape.map((_, at) => (at === 0 ? ":" : 0)).join(",")}`);
  });
  t.diagnostic(`${roots} roots, ${JSON.stringify(counts)}`);
  assert.deepEqual(wrong, []);
  assert.ok(counts.array > 4000 && counts.damaged < 50, JSON.stringify(counts));
});

/** Opens a state in the page as a click in the tree does, and waits until it is shown. Returns its problems. */
async function show(page, hash) {
  return page.evaluate(async (hash) => {
    location.hash = hash;
    const wanted = decodeURIComponent(hash.replace(/^#\//, "").replace(/\?.*/, "")).split("/").pop();
    const view = hash.split("view=")[1];
    const begun = performance.now();
    const message = () => document.querySelector("main > .message:not([hidden]), .view-of > .message:not([hidden])");
    const ready = () => {
      if (document.title !== `${wanted} – Zarrox` || document.body.classList.contains("loading") || document.querySelector(".busy")) return false;
      if (message() || document.querySelector(".card .note, .card .problem")) return true;
      if (view && document.querySelector('[data-view][aria-selected="true"]')?.dataset.view !== view) return false;
      return document.querySelector(".image[data-took], .plot canvas[aria-label], .table table, .chunks canvas[aria-label], .view .nothing");
    };
    while (!ready()) {
      if (performance.now() - begun > 10_000) return "nothing is shown";
      await new Promise((done) => setTimeout(done, 4));
    }
    return message()?.textContent ?? document.querySelector(".view > .nothing")?.textContent ?? null;
  }, hash);
}

const tabs = (page) => page.$$eval("[data-view]", (all) => all.map((one) => one.dataset.view));

test("the stores of other programs are opened one after the other, with no error in the console", async (t) => {
  const { lists } = await allNodes();
  const { page, problems } = await blank(t);
  await page.goto(`${server}/`);
  await page.waitForSelector('[role="treeitem"]');
  const [wrong, refused] = [[], new Set()];
  let [count, views] = [0, 0];
  const begun = Date.now();
  const longest = Math.max(...lists.map((list) => list.length));
  const turns = Array.from({ length: longest }, (_, at) => lists.map((list) => list[at])).flat().filter(Boolean);
  const kinds = new Set();
  for (const node of turns) {
    // On a busy machine, the minimum number of nodes may take longer than the time.
    if (Date.now() - begun > TIME && count > LEAST) break;
    const place = [node.root, ...node.path.split("/").filter(Boolean)].map(encodeURIComponent).join("/");
    const hash = `#/${place}`;
    const isRight = (told) => !told || (node.shape?.includes(0) && told === "The array has no elements.");
    const tell = (told, view) => isRight(told) || (isRefused(told) ? refused.add(place) : wrong.push([hash, view, told]));
    tell(await show(page, hash) ?? node.error, "");
    count += 1;
    // All views of one array of each data type and number of dimensions.
    const kind = `${node.data_type} ${node.shape?.length}`;
    if (node.kind !== "array" || node.unreadable || kinds.has(kind)) continue;
    kinds.add(kind);
    for (const view of (await tabs(page)).filter((tab) => VIEWS.includes(tab))) {
      tell(await show(page, `${hash}?view=${view}`), view);
      views += 1;
    }
  }
  t.diagnostic(`${count} nodes of ${turns.length}, and ${views} views of ${kinds.size} kinds, in ${Date.now() - begun} ms`);
  assert.deepEqual(wrong, []);
  // Browsers log each error response. Only refused nodes have error responses.
  const isExpected = (text) => /status of 422/.test(text) && [...refused].some((path) => text.includes(`/${path}`));
  assert.deepEqual(problems.filter((text) => !isExpected(text)), []);
  assert.ok(count > LEAST, `${count}`);
});
