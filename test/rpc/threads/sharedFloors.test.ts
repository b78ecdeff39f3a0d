import { describe, expect, it } from "vitest";
import { openSharedFloors } from "../../../src/rpc/threads/sharedFloors.ts";

describe("price floors in shared memory", () => {
  it("are 0 at first, and read as they were written by any thread that has the memory", () => {
    const written = openSharedFloors();
    const read = openSharedFloors(written.memory);
    expect(read.read()).toEqual({ minGasPriceWei: 0n, minPriorityFeeWei: 0n });
    const floors = { minGasPriceWei: 2n ** 256n - 1n, minPriorityFeeWei: 1_000_000_007n };
    written.write(floors);
    expect(read.read()).toEqual(floors);
  });

  it("take a price that no transaction can have for the largest one", () => {
    const floors = openSharedFloors();
    floors.write({ minGasPriceWei: 2n ** 300n, minPriorityFeeWei: 0n });
    expect(floors.read().minGasPriceWei).toBe(2n ** 256n - 1n);
  });
});
