import { expect, it } from "vitest";
import { packCriteria, unpackCriteria } from "../../src/logs/packedCriteria.ts";
import { ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { ZERO_HASH } from "../../src/primitives/hash.ts";

it("criteria cross threads packed, topics of any length among them", () => {
  const criteria = {
    addresses: [ZERO_ADDRESS, ZERO_ADDRESS],
    topics: ["any", [ZERO_HASH, Uint8Array.of(1, 2, 3), new Uint8Array(0)]],
  } as const;
  expect(unpackCriteria(structuredClone(packCriteria(criteria)))).toEqual(criteria);
  expect(unpackCriteria(packCriteria({ addresses: [], topics: [] }))).toEqual({ addresses: [], topics: [] });
});
