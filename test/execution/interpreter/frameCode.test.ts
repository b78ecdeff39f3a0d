import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import type { StateReader } from "../../../src/state/stateReader.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { anOverlay, contractAt, executed } from "../context.ts";

const AT = contractAt(1);
/** Jumps to the first of 24,000 jump targets, runs over them, copies some of itself, and stops. */
const LONG_CODE = `61000456${"5b".repeat(24_000)}602060006000${"39"}00`;

describe("code", () => {
  it("of a contract is read once while it runs, though it is prepared in pieces", async () => {
    const reads: string[] = [];
    const below = anOverlay([[AT, { code: `0x${LONG_CODE}` }]]);
    const counted: StateReader = {
      account: (address) => below.account(address),
      storage: (address, slot) => below.storage(address, slot),
      code(codeHash) {
        reads.push(toHex(codeHash));
        return below.code(codeHash);
      },
      codeSize: (codeHash) => below.codeSize(codeHash),
    };
    const transaction = aTransaction({ to: AT, value: 0n });
    const result = await executed("cancun", anOverlay([], counted), transaction);
    expect(result.outcome.kind).toBe("succeeded");
    expect(reads).toHaveLength(1);
  });
});
