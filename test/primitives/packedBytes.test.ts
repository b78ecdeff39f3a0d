import { expect, it } from "vitest";
import { packBytes, packBytesInSteps, unpackBytes } from "../../src/primitives/packedBytes.ts";

it("strings are packed and unpacked in their order, many or long ones in steps", () => {
  const strings = Array.from({ length: 20_000 }, (_, index) => new Uint8Array(index % 300).fill(index));
  strings.push(new Uint8Array(1_000_000).fill(7), new Uint8Array(1_000_000).fill(8), new Uint8Array(0));
  const steps = packBytesInSteps(strings);
  let pauses = 0;
  let last = steps.next();
  for (; last.done !== true; last = steps.next()) pauses++;
  expect(pauses).toBeGreaterThan(20);
  expect([...unpackBytes(last.value)]).toEqual(strings);
  expect(packBytes(strings)).toEqual(last.value);
});
