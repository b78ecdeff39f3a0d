import { describe, expect, it } from "vitest";
import { Memory } from "../../../src/execution/interpreter/memory.ts";
import { releaseInSlices, reservedBufferOf } from "../../../src/execution/interpreter/reservedBuffer.ts";
import { MemoryBudget, MemoryExhausted } from "../../../src/execution/memoryBudget.ts";
import { NEVER_YIELD, type YieldPolicy } from "../../../src/execution/yieldPolicy.ts";

const MEGABYTE = 1024 * 1024;

describe("memory beyond 4 MB", () => {
  it("grows in place", async () => {
    const memory = new Memory();
    await memory.extendInSlices(5 * MEGABYTE, NEVER_YIELD);
    const view = memory.read(0, 32, true);
    memory.writeWord(0, 7n);
    await memory.extendInSlices(300 * MEGABYTE, NEVER_YIELD);
    memory.writeWord(300 * MEGABYTE - 32, 9n);
    expect(view.at(-1)).toBe(7);
    expect([memory.readWord(0), memory.readWord(300 * MEGABYTE - 32)]).toEqual([7n, 9n]);
  });

  it("keeps its contents when it moves to a reserved buffer", () => {
    const memory = new Memory();
    memory.writeWord(0, 7n);
    memory.writeWord(4 * MEGABYTE - 32, 8n);
    expect(memory.reserved).toBeUndefined();
    memory.writeWord(4 * MEGABYTE - 31, 9n);
    expect(memory.reserved).toBeDefined();
    expect(memory.readWord(0)).toBe(7n);
    expect(memory.readWord(4 * MEGABYTE - 32)).toBe(0n);
  });

  it("is released one megabyte at a time", async () => {
    const memory = new Memory();
    await memory.extendInSlices(6 * MEGABYTE, NEVER_YIELD);
    const left: number[] = [];
    const { reserved } = memory;
    if (reserved === undefined) throw new Error("six megabytes are reserved");
    const yieldPolicy: YieldPolicy = {
      isDue: () => true,
      yield: async () => void left.push(memory._store.length / MEGABYTE),
    };
    await releaseInSlices(reserved, yieldPolicy);
    expect(left).toEqual([5, 4, 3, 2, 1, 0]);
  });

  it("is counted before it is allocated", () => {
    const memory = new Memory(new MemoryBudget(5 * MEGABYTE));
    expect(() => memory.extend(0, 6 * MEGABYTE)).toThrow(MemoryExhausted);
    expect(memory._store.length).toBe(0);
  });

  it("is recognised by views of it, and other memory is not", () => {
    const memory = new Memory();
    memory.extend(0, MEGABYTE);
    expect(reservedBufferOf(memory.read(0, 32, true))).toBeUndefined();
    memory.extend(0, 6 * MEGABYTE);
    expect(reservedBufferOf(memory.read(0, 32, true))).toBe(memory.reserved);
    expect(reservedBufferOf(memory.read(0, 32))).toBeUndefined();
  });
});
