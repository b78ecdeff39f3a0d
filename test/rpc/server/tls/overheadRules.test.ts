import { describe, expect, it } from "vitest";
import {
  OVERHEAD_BURST_MS,
  OVERHEAD_BYTES_PER_MS,
  OVERHEAD_PER_CONTENT,
  OVERHEAD_TIME_SHARE,
  OVERHEAD_TOTAL_BURST_MS,
  OVERHEAD_TOTAL_SHARE,
  RECORD_BYTES,
  SHORT_RECORD_BYTES,
} from "../../../../src/rpc/server/tls/handshakeLimits.ts";
import { OverheadTime, UnexplainedBytes } from "../../../../src/rpc/server/tls/overheadRules.ts";
import { createHandClock } from "../../../builders/handClock.ts";

describe("bytes that content does not explain", () => {
  it("are none while a record comes slowly, and when its content is there", () => {
    const upload = new UnexplainedBytes(1000, 0);
    const record = 16 * 1024;
    const charged = Array.from({ length: record / 64 }, (_, part) =>
      upload.count(1000 + 64 * part, 0, RECORD_BYTES),
    );
    expect(new Set(charged)).toEqual(new Set([0]));
    expect(upload.count(1000 + record + 22, record, 0)).toBe(0);
  });

  it("are what comes without content, whatever content came before", () => {
    const primed = new UnexplainedBytes(0, 0);
    expect(primed.count(5_000_000, 4_990_000, RECORD_BYTES)).toBe(0);
    expect(primed.count(5_000_000 + RECORD_BYTES + 2700, 4_990_000, RECORD_BYTES)).toBe(2700);
    expect(primed.count(5_000_000 + RECORD_BYTES + 5400, 4_990_000, RECORD_BYTES)).toBe(2700);
  });

  it("are given back when it was a record after all, and charged whole when the connection ends", () => {
    const one = new UnexplainedBytes(0, 0);
    expect(one.count(RECORD_BYTES + 3000, 0, RECORD_BYTES)).toBe(3000);
    expect(one.count(RECORD_BYTES + 3100, 1000, RECORD_BYTES)).toBe(-2900);
    const charged = 3000 - 2900;
    const atEnd = RECORD_BYTES + 3100 - (1 + OVERHEAD_PER_CONTENT) * 1000;
    expect(charged + one.count(RECORD_BYTES + 3100, 1000, 0)).toBe(atEnd);
  });

  it("are none of calls in records of their own, with any suite", () => {
    const call = 58;
    for (const record of [22, 29, 85]) {
      const busy = new UnexplainedBytes(0, 0);
      const charged = Array.from({ length: 10_000 }, (_, calls) =>
        busy.count(calls * (call + record), calls * call, 0),
      );
      expect(new Set(charged)).toEqual(new Set([0]));
    }
  });
});

describe("the time for them", () => {
  it("is one per cent of the thread's for a host, however much it takes at once", () => {
    const clock = createHandClock(0);
    const time = new OverheadTime(clock);
    const burst = OVERHEAD_BURST_MS * OVERHEAD_BYTES_PER_MS;
    expect(time.spend("a", burst)).toBe(0);
    // Sixteen seconds of the thread, by connections that were primed: it waits for sixteen hundred.
    const waitMs = time.spend("a", 16_000 * OVERHEAD_BYTES_PER_MS);
    expect(waitMs).toBeCloseTo(1_600_000);
    clock.advanceTo(waitMs);
    expect(time.spend("a", 0)).toBe(0);
    expect(time.spend("a", OVERHEAD_BYTES_PER_MS)).toBeCloseTo(1 / OVERHEAD_TIME_SHARE);
  });

  it("is less for each host while all of them take more than twenty times as much", () => {
    const clock = createHandClock(0);
    const time = new OverheadTime(clock);
    const record = 16_500;
    expect(time.freeBytes).toBe(RECORD_BYTES);
    const waits = Array.from({ length: 20 }, (_, host) => time.spend(`${host}`, record));
    expect(waits.findIndex((waitMs) => waitMs > 0)).toBe(
      Math.floor((OVERHEAD_TOTAL_BURST_MS * OVERHEAD_BYTES_PER_MS) / record),
    );
    expect(time.freeBytes).toBe(SHORT_RECORD_BYTES);
    expect(time.spend("small", 1000)).toBe(0);
    clock.advanceTo(OVERHEAD_TOTAL_BURST_MS / OVERHEAD_TOTAL_SHARE);
    expect(time.freeBytes).toBe(RECORD_BYTES);
    expect(time.spend("later", record)).toBe(0);
  });

  it("is enough for five hundred idle clients of one address that answer pings in the costliest suite", () => {
    const clock = createHandClock(0);
    const time = new OverheadTime(clock);
    const idle = Array.from({ length: 500 }, () => new UnexplainedBytes(0, 0));
    const waits = new Set<number>();
    for (let pings = 1; pings <= 500; pings++) {
      clock.advanceTo(pings * 30_000);
      for (const one of idle) waits.add(time.spend("a", one.count(pings * 85, pings * 6, 0)));
    }
    expect(waits).toEqual(new Set([0]));
  });
});
