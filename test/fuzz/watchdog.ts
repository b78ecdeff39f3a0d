import { Worker } from "node:worker_threads";

/** Knows the input in progress, and reports it when it never ends. */
export interface Watchdog {
  begin(input: string | Uint8Array): void;
  end(): void;
  close(): void;
}

const LONGEST_INPUT_BYTES = 1 << 20;
const TIMEOUT_MS = 20_000;

/**
 * An input that hangs the code hangs the thread that would report it. So a separate thread watches through shared
 * memory: when one input takes longer than 20 s it prints it and kills the process.
 */
export function watchOver(name: string): Watchdog {
  const shared = new SharedArrayBuffer(8 + LONGEST_INPUT_BYTES);
  // The number of the input in progress, 0 in between; its length.
  const state = new Int32Array(shared, 0, 2);
  const bytes = new Uint8Array(shared, 8);
  const worker = new Worker(WATCHER, { eval: true, workerData: { shared, name, timeoutMs: TIMEOUT_MS } });
  worker.unref();
  let count = 0;
  return {
    begin(input) {
      const copied =
        typeof input === "string"
          ? new TextEncoder().encodeInto(input, bytes as Uint8Array<never>).written
          : Math.min(input.length, LONGEST_INPUT_BYTES);
      if (typeof input !== "string") bytes.set(input.subarray(0, copied));
      Atomics.store(state, 1, copied);
      count++;
      Atomics.store(state, 0, count);
    },
    end: () => void Atomics.store(state, 0, 0),
    close: () => void worker.terminate(),
  };
}

const WATCHER = `
const { workerData: { shared, name, timeoutMs } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const state = new Int32Array(shared, 0, 2);
let seen = 0;
let sinceMs = Date.now();
setInterval(() => {
  const current = Atomics.load(state, 0);
  if (current === 0 || current !== seen) {
    seen = current;
    sinceMs = Date.now();
  } else if (Date.now() - sinceMs > timeoutMs) {
    const input = Buffer.from(new Uint8Array(shared, 8, Atomics.load(state, 1)));
    writeSync(2, name + ": input " + current + " never ends: 0x" + input.toString("hex") + "\\n");
    process.kill(process.pid, "SIGKILL");
  }
}, 1000);
`;
