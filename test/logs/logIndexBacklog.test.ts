import { describe, expect, it } from "vitest";
import { LogIndexBacklog } from "../../src/logs/logIndexBacklog.ts";
import { SEGMENT_BLOCKS } from "../../src/storage/blooms/bloomFiles.ts";

const EXTENDED = { wasExtended: true, wasRewound: false };
const REWOUND = { wasExtended: false, wasRewound: true };
const SEGMENT = BigInt(SEGMENT_BLOCKS);

function missingFrom(first: number) {
  return { first, last: Number.MAX_SAFE_INTEGER, isRewrite: false };
}

describe("the backlog of the log index", () => {
  it("has the missing files once there are a thousand blocks, and again with each thousand more", () => {
    const backlog = new LogIndexBacklog(true);
    expect(backlog.take(998n)).toBeUndefined();
    expect(backlog.take(999n)).toEqual(missingFrom(0));
    expect(backlog.take(999n)).toBeUndefined();
    backlog.written(missingFrom(0), 999n);
    expect(backlog.headChanged(1_500n, EXTENDED)).toBe(false);
    expect(backlog.headChanged(1_999n, EXTENDED)).toBe(true);
    expect(backlog.take(1_999n)).toEqual(missingFrom(0));
  });

  it("leaves out segments that are complete, until a rewind removes blocks of them", () => {
    const backlog = new LogIndexBacklog(true);
    const head = 2n * SEGMENT + 999n;
    backlog.written(missingFrom(0), head);
    expect(backlog.take(head)).toEqual(missingFrom(2));
    expect(backlog.headChanged(SEGMENT + 999n, REWOUND)).toBe(true);
    expect(backlog.take(SEGMENT + 999n)).toEqual(missingFrom(1));
  });

  it("has an invalid segment once, before missing ones, also where nothing is written without a request", () => {
    for (const isAutomatic of [true, false]) {
      const backlog = new LogIndexBacklog(isAutomatic);
      expect(backlog.reportInvalid(3)).toBe(true);
      expect(backlog.reportInvalid(3)).toBe(false);
      expect(backlog.take(999n)).toEqual({ first: 3, last: 3, isRewrite: true });
      expect(backlog.take(999n)).toEqual(isAutomatic ? missingFrom(0) : undefined);
      expect(backlog.headChanged(1_999n, EXTENDED)).toBe(isAutomatic);
    }
  });
});
