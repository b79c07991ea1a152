/** Gestures on an image: dragging, pinching, the mouse wheel and keys. */

/** The actions of gestures. Positions are in pixels of the image's element. */
export interface Hands {
  /** Moves the shown part. */
  pan: (dx: number, dy: number) => void;
  /** Zooms around a position. */
  zoom: (factor: number, x: number, y: number) => void;
  /** Zooms to a box. */
  box: (x0: number, y0: number, x1: number, y1: number) => void;
  /** Draws the dragged box; `null` removes it. */
  drawn: (rect: [number, number, number, number] | null) => void;
  fit: () => void;
  pin: (x: number, y: number, add: boolean) => void;
  hover: (x: number, y: number) => void;
  leave: () => void;
  /** Explains how to zoom where the wheel scrolls the page. */
  hint: () => void;
}

/** The distance in pixels from which a pointer has moved, and the time in milliseconds of a long press. */
const [MOVED, LONG] = [4, 550];
/** The maximum time between the two clicks of a double click, in milliseconds. */
const DOUBLE = 280;

export function listen(canvas: HTMLCanvasElement, hands: Hands): void {
  const isFramed = window.self !== window.top;
  const pointers = new Map<number, [number, number]>();
  let start: { x: number; y: number; isMoved: boolean; isBox: boolean } | null = null;
  let [press, click] = [0, 0];
  let isPinched = false;
  const place = (event: MouseEvent): [number, number] => {
    const bounds = canvas.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = place(event);
    pointers.set(event.pointerId, [x, y]);
    clearTimeout(press);
    if (pointers.size > 1) {
      [isPinched, start] = [true, null];
      return;
    }
    isPinched = false;
    start = { x, y, isMoved: false, isBox: event.shiftKey };
    if (event.pointerType !== "touch") return;
    press = setTimeout(() => {
      if (!start || start.isMoved) return;
      start = null;
      hands.pin(x, y, true);
    }, LONG) as unknown as number;
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const before = pointers.get(event.pointerId);
    if (before && pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)![1];
      const [was, now] = [Math.hypot(before[0] - other[0], before[1] - other[1]), Math.hypot(x - other[0], y - other[1])];
      pointers.set(event.pointerId, [x, y]);
      hands.pan((x - before[0]) / 2, (y - before[1]) / 2);
      if (was > 10 && now > 10) hands.zoom(was / now, (x + other[0]) / 2, (y + other[1]) / 2);
      return;
    }
    hands.hover(x, y);
    if (!before || !start) return;
    if (!start.isMoved && Math.hypot(x - start.x, y - start.y) < MOVED) return;
    start.isMoved = true;
    clearTimeout(press);
    pointers.set(event.pointerId, [x, y]);
    if (start.isBox) hands.drawn([start.x, start.y, x - start.x, y - start.y]);
    else hands.pan(x - before[0], y - before[1]);
  });

  canvas.addEventListener("pointerup", (event) => {
    clearTimeout(press);
    pointers.delete(event.pointerId);
    const [x, y] = place(event);
    const was = start;
    start = null;
    if (!was || isPinched) return;
    if (was.isMoved && was.isBox) {
      hands.drawn(null);
      hands.box(was.x, was.y, x, y);
    }
    if (was.isMoved || event.detail > 1) return;
    // A double click zooms, and its first click adds no pin.
    const add = event.shiftKey || event.metaKey || event.ctrlKey;
    clearTimeout(click);
    click = setTimeout(() => hands.pin(x, y, add), DOUBLE) as unknown as number;
  });

  canvas.addEventListener("pointercancel", (event) => {
    clearTimeout(press);
    pointers.delete(event.pointerId);
    start = null;
    hands.drawn(null);
  });
  canvas.addEventListener("pointerleave", () => hands.leave());
  canvas.addEventListener("dblclick", (event) => {
    clearTimeout(click);
    hands.zoom(event.shiftKey ? 2 : 0.5, ...place(event));
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      // In a notebook, the wheel scrolls the notebook.
      if (isFramed && !event.ctrlKey && !event.metaKey) return hands.hint();
      event.preventDefault();
      hands.zoom(2 ** (Math.max(-400, Math.min(400, event.deltaY)) / (event.ctrlKey ? 150 : 400)), ...place(event));
    },
    { passive: false },
  );
}
