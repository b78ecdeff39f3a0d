import { describe, expect, it } from "vitest";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { followingBaseFee, nextBaseFee } from "../../src/execution/baseFee.ts";
import { nextGasLimit } from "../../src/execution/gasLimit.ts";
import { minimumGas } from "../../src/execution/intrinsicGas.ts";
import { rulesOf } from "../../src/execution/rules.ts";
import { EMPTY_BYTES, hexToBytes } from "../../src/primitives/hex.ts";
import { decodeBlock } from "../../src/types/block.ts";
import type { Header } from "../../src/types/header.ts";
import { anAuthorization, aTransaction } from "../builders/aTransaction.ts";
import { countedBytes } from "../builders/countedBytes.ts";
import { rlpItems } from "../builders/rlpItems.ts";
import { account } from "../builders/testAccounts.ts";
import { describeWithVectors, readVectorBytes } from "../vectors.ts";

const LONDON_AT_10 = {
  forks: {
    activations: [
      { fork: "frontier", at: { block: 0n } },
      { fork: "berlin", at: { block: 0n } },
      { fork: "london", at: { block: 10n } },
    ],
  },
  isZeroBaseFee: false,
  initialBaseFeePerGas: 1_000_000_000n,
} as unknown as ChainSpec;

function parent(number: bigint, changes: object = {}) {
  return { number, timestamp: number, gasLimit: 10_000_000n, gasUsed: 0n, ...changes };
}

describeWithVectors("base fees of recorded chains", () => {
  it("are derived from the parent, for every block", () => {
    let parent: Header | undefined;
    let compared = 0;
    for (const bytes of rlpItems(readVectorBytes("geth-hivechain", "chain.rlp"))) {
      const block = decodeBlock(bytes);
      if (!block.ok) throw new Error(block.error.message);
      const { header } = block.value;
      if (parent?.baseFeePerGas !== undefined) {
        const { baseFeePerGas, gasUsed, gasLimit } = parent;
        expect(followingBaseFee({ baseFeePerGas, gasUsed, gasTarget: gasLimit / 2n })).toBe(
          header.baseFeePerGas,
        );
        compared++;
      }
      parent = header;
    }
    expect(compared).toBeGreaterThan(100);
  });
});

describe("the base fee of the next block", () => {
  it("is undefined before London, and starts with the initial value", () => {
    expect(nextBaseFee(LONDON_AT_10, parent(8n), 9n)).toBeUndefined();
    expect(nextBaseFee(LONDON_AT_10, parent(9n), 10n)).toBe(1_000_000_000n);
  });

  it("falls by an eighth after an empty block, and rises by at least one wei after a full one", () => {
    expect(nextBaseFee(LONDON_AT_10, parent(10n, { baseFeePerGas: 1000n }), 11n)).toBe(875n);
    const full = { baseFeePerGas: 1n, gasUsed: 10_000_000n };
    expect(nextBaseFee(LONDON_AT_10, parent(10n, full), 11n)).toBe(2n);
  });

  it("is the value that the genesis file pins", () => {
    const atLondon = parent(10n, { baseFeePerGas: 1000n });
    expect(nextBaseFee({ ...LONDON_AT_10, isZeroBaseFee: true }, atLondon, 11n)).toBe(0n);
    expect(nextBaseFee({ ...LONDON_AT_10, fixedBaseFeePerGas: 7n }, atLondon, 11n)).toBe(7n);
  });
});

describe("the gas limit of the next block", () => {
  it("stays the same without a target", () => {
    expect(nextGasLimit(LONDON_AT_10, parent(20n), 21n, undefined)).toBe(10_000_000n);
  });

  it("moves by parent / 1024 - 1 towards the target, and does not pass it", () => {
    expect(nextGasLimit(LONDON_AT_10, parent(20n), 21n, 20_000_000n)).toBe(10_009_764n);
    expect(nextGasLimit(LONDON_AT_10, parent(20n), 21n, 5_000_000n)).toBe(9_990_236n);
    expect(nextGasLimit(LONDON_AT_10, parent(20n), 21n, 10_000_100n)).toBe(10_000_100n);
    expect(nextGasLimit(LONDON_AT_10, parent(20n), 21n, 9_999_900n)).toBe(9_999_900n);
  });

  it("doubles in the first London block", () => {
    expect(nextGasLimit(LONDON_AT_10, parent(9n), 10n, undefined)).toBe(20_000_000n);
  });
});

describe("the minimum gas of a transaction", () => {
  const data = hexToBytes("0x0000ff");

  it("prices bytes by the fork", () => {
    const transaction = aTransaction({ data });
    expect(minimumGas(rulesOf("petersburg"), transaction)).toBe(21_000n + 2n * 4n + 68n);
    expect(minimumGas(rulesOf("istanbul"), transaction)).toBe(21_000n + 2n * 4n + 16n);
  });

  it("reads long data once, however often its transaction is checked", () => {
    const long = countedBytes(new Uint8Array(10_000).fill(1, 5_000));
    const transaction = { ...aTransaction({}), data: long.bytes };
    const gas = 21_000n + 5_000n * 4n + 5_000n * 16n;
    for (let check = 0; check < 3; check++) expect(minimumGas(rulesOf("istanbul"), transaction)).toBe(gas);
    expect(minimumGas(rulesOf("prague"), transaction)).toBe(21_000n + 25_000n * 10n);
    expect(long.reads).toBe(10_000);
  });

  it("is higher for a creation from Homestead on, and for each word of init code from Shanghai on", () => {
    const creation = aTransaction({ to: undefined, data: new Uint8Array(33) });
    expect(minimumGas(rulesOf("frontier"), creation)).toBe(21_000n + 33n * 4n);
    expect(minimumGas(rulesOf("homestead"), creation)).toBe(53_000n + 33n * 4n);
    expect(minimumGas(rulesOf("shanghai"), creation)).toBe(53_000n + 33n * 4n + 2n * 2n);
  });

  it("counts access lists and authorizations", () => {
    const listing = aTransaction({
      type: 1,
      accessList: [{ address: account(1).address, storageKeys: [new Uint8Array(32) as never] }],
      data: EMPTY_BYTES,
    });
    expect(minimumGas(rulesOf("berlin"), listing)).toBe(21_000n + 2_400n + 1_900n);
    const delegating = aTransaction({ type: 4, authorizationList: [anAuthorization()] });
    expect(minimumGas(rulesOf("prague"), delegating)).toBe(21_000n + 25_000n);
  });

  it("is at least the floor for the data, from Prague on", () => {
    const transaction = aTransaction({ data: new Uint8Array(1000).fill(1) });
    expect(minimumGas(rulesOf("cancun"), transaction)).toBe(21_000n + 16_000n);
    expect(minimumGas(rulesOf("prague"), transaction)).toBe(21_000n + 40_000n);
  });
});
