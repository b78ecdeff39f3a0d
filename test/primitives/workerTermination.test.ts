import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { terminateWorker } from "../../src/primitives/workerTermination.ts";
import { compiledModule } from "../compiledModule.ts";
import { HANG_MS } from "../hang.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { itIfThorough } from "../thorough.ts";

const root = resolve(import.meta.dirname, "..", "..");

/** Posts a message before it loads, and after it has loaded. */
const slowLoader = (module: string) => `
import { parentPort } from "node:worker_threads";
import { loadAddon } from ${JSON.stringify(module)};
loadAddon(() => {
  parentPort.postMessage("loading");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  parentPort.postMessage("loaded");
});
setInterval(() => undefined, 1000);
`;

it("terminates a thread that loads an addon only after the load, and other threads can load then", async () => {
  const file = join(temporaryFolder(), "slowLoader.mjs");
  writeFileSync(file, slowLoader(compiledModule("primitives/workerTermination")));
  for (let round = 0; round < 2; round++) {
    const messages: string[] = [];
    const worker = new Worker(file);
    await new Promise<void>((resolve) => {
      worker.on("message", (message: string) => {
        messages.push(message);
        resolve();
      });
    });
    await terminateWorker(worker);
    expect(messages).toEqual(["loading", "loaded"]);
  }
});
/** Two of three runs of a hundred ended the process of one that did not keep loading and terminating apart. */
const TERMINATIONS = 120;

/** A process with worker threads that load the addon again and again, each terminated at a random moment. */
const program = (module: string) => `
import { Worker, isMainThread, parentPort } from "node:worker_threads";
import { createRequire } from "node:module";
import { loadAddon, terminateWorker } from ${JSON.stringify(module)};
const AT_ONCE = 8;
const require = createRequire(${JSON.stringify(join(root, "package.json"))});
if (isMainThread) {
  for (let count = 0; count < ${TERMINATIONS}; count += AT_ONCE) {
    const workers = Array.from({ length: AT_ONCE }, () => new Worker(new URL(import.meta.url)));
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("message", resolve))));
    for (const worker of workers) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
      await terminateWorker(worker);
    }
  }
} else {
  parentPort.postMessage("begun");
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    Atomics.wait(nothing, 0, 0, 0.1);
    for (const name of Object.keys(require.cache)) delete require.cache[name];
    loadAddon(() => require("secp256k1/bindings"));
  }
}
`;

itIfThorough("does not end the process when threads are terminated while they load an addon", () => {
  const file = join(temporaryFolder(), "terminations.mjs");
  writeFileSync(file, program(compiledModule("primitives/workerTermination")));
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8", timeout: HANG_MS });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
