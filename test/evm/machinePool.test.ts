import { expect, it } from "vitest";
import { FRAMES } from "../../src/evm/layout.ts";
import type { Machine } from "../../src/evm/machine.ts";
import { dropMachine, machineBytes, returnMachine, takeMachine } from "../../src/evm/machinePool.ts";

const MEGABYTE = 1024 * 1024;

it("keeps a few machines that stayed small, and tells the memory of all", () => {
  const before = machineBytes();
  const machines = Array.from({ length: 8 }, () => takeMachine("plain"));
  const [large, stopped, ...others] = machines as [Machine, Machine, ...Machine[]];
  expect(new Set(machines).size).toBe(8);
  expect(large.reserve(FRAMES + 20 * MEGABYTE)).toBe(true);
  expect(machineBytes()).toBeGreaterThan(20 * MEGABYTE);
  returnMachine("plain", large);
  dropMachine(stopped);
  for (const machine of others) returnMachine("plain", machine);
  expect(machineBytes()).toBeLessThan(Math.max(before, 1) + 4 * 9 * MEGABYTE);
  const again = Array.from({ length: 5 }, () => takeMachine("plain"));
  expect(again.filter((machine) => machines.includes(machine))).toHaveLength(4);
  expect(again.includes(large)).toBe(false);
  for (const machine of again) dropMachine(machine);
});
