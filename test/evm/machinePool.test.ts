import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { FRAMES } from "../../src/evm/layout.ts";
import type { Machine } from "../../src/evm/machine.ts";
import { dropMachine, returnMachine, takeMachine } from "../../src/evm/machinePool.ts";

import { bytesOfThreads, forgetThread } from "../../src/primitives/threadPages.ts";

const MEGABYTE = 1024 * 1024;

it("keeps a few machines that stayed small, and tells the memory of all", () => {
  const before = bytesOfThreads();
  const machines = Array.from({ length: 8 }, () => takeMachine("plain"));
  const [large, stopped, ...others] = machines as [Machine, Machine, ...Machine[]];
  expect(new Set(machines).size).toBe(8);
  expect(large.reserve(FRAMES + 20 * MEGABYTE)).toBe(true);
  expect(bytesOfThreads()).toBeGreaterThan(20 * MEGABYTE);
  returnMachine("plain", large);
  dropMachine(stopped);
  for (const machine of others) returnMachine("plain", machine);
  expect(bytesOfThreads()).toBeLessThan(Math.max(before, 1) + 4 * 9 * MEGABYTE);
  const again = Array.from({ length: 5 }, () => takeMachine("plain"));
  expect(again.filter((machine) => machines.includes(machine))).toHaveLength(4);
  expect(again.includes(large)).toBe(false);
  for (const machine of again) dropMachine(machine);
});

it("tells the memory of other threads until they end", async () => {
  const before = bytesOfThreads();
  const code = `
    const places = new Int32Array(require("node:worker_threads").getEnvironmentData("ibex pages of EVM instances"));
    Atomics.add(places, require("node:worker_threads").threadId % 1024, 16);`;
  const worker = new Worker(code, { eval: true });
  const { threadId } = worker;
  await new Promise((resolve) => worker.once("exit", resolve));
  expect(bytesOfThreads()).toBe(before + MEGABYTE);
  forgetThread(threadId);
  expect(bytesOfThreads()).toBe(before);
});
