import { expect, it } from "vitest";
import { createLogMatcher } from "../../../src/logs/logMatcher.ts";
import { ZERO_ADDRESS } from "../../../src/primitives/address.ts";
import { ZERO_HASH } from "../../../src/primitives/hash.ts";
import { EMPTY_BYTES, toHex } from "../../../src/primitives/hex.ts";
import { decodeLogFilter } from "../../../src/rpc/parameters/logFilterParameter.ts";

it("a filter with more positions than a log has topics matches no log, and keeps one of them too many", () => {
  const log = {
    address: ZERO_ADDRESS,
    topics: [ZERO_HASH, ZERO_HASH, ZERO_HASH, ZERO_HASH],
    data: EMPTY_BYTES,
  };
  const matches = (positions: number): boolean | undefined => {
    const filter = decodeLogFilter({ topics: Array.from({ length: positions }, () => null) });
    expect(filter?.topics.length).toBe(Math.min(positions, 5));
    return filter && createLogMatcher(filter).matches(log);
  };
  expect(matches(4)).toBe(true);
  expect(matches(5)).toBe(false);
  expect(matches(100_000)).toBe(false);
  expect(decodeLogFilter({ topics: [null, null, null, null, null, {}] })).toBeUndefined();
});

it("a filter with an empty list at a position matches any topic there, as with null", () => {
  const topic = ZERO_HASH;
  const log = { address: ZERO_ADDRESS, topics: [topic, topic], data: EMPTY_BYTES };
  for (const topics of [[[]], [[], []], [null, []], [[], toHex(topic)], [[toHex(topic)], []]]) {
    const filter = decodeLogFilter({ topics });
    expect(filter && createLogMatcher(filter).matches(log)).toBe(true);
  }
});
