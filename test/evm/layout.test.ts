import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  ENVIRONMENT,
  FIELD,
  FOUND,
  LONG_BYTES,
  MISSING,
  PREPARED_AT_ONCE,
  STATUS,
  UNPREPARED,
} from "../../src/evm/layout.ts";

it("the driver's layout is the core's", () => {
  const core = readFileSync(new URL("../../src/evm/core/layout.ts", import.meta.url), "utf8");
  const numbersOf = (type: string): Record<string, number> =>
    Object.fromEntries(
      [...core.matchAll(new RegExp(`export const (\\w+): ${type} = (\\d+);`, "g"))].map(([, name, value]) => [
        name,
        Number(value),
      ]),
    );
  const { SCRATCH: _, KECCAK: __, ...positions } = numbersOf("usize");
  expect(positions).toEqual({ ENVIRONMENT, MISSING, FOUND, ...FIELD });
  expect(numbersOf("i32")).toEqual(STATUS);
  expect(numbersOf("u8")).toEqual({ UNPREPARED });
  expect(numbersOf("u64")).toEqual({ PREPARED_AT_ONCE, LONG_BYTES });
});
