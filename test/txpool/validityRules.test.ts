import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createNextBlockView } from "../../src/chain/nextBlockView.ts";
import { FORK_NAMES, type ForkName, isAtLeast } from "../../src/chainspec/forks.ts";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import type { TransactionCheckErrorCode } from "../../src/execution/checkTransaction.ts";
import { asHash, type Hash, keccak256 } from "../../src/primitives/hash.ts";
import { SECP256K1_ORDER, type Signature } from "../../src/primitives/secp256k1.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { TxPool } from "../../src/txpool/txPool.ts";
import type { SentTransaction, TransactionType } from "../../src/types/transaction.ts";
import { anAuthorization, aTransaction, type TransactionFields } from "../builders/aTransaction.ts";
import { genesisWith } from "../builders/genesisWith.ts";
import { account } from "../builders/testAccounts.ts";
import { anOverlay, type ContextAccount, ETHER, execute } from "../execution/context.ts";
import { IS_THOROUGH } from "../thorough.ts";

/*
 * Execution decides whether a block may hold a transaction (checkTransaction.ts), and the pool has rules of its own for
 * the same, in Besu's order (admission.ts). Here both judge the same transaction on the same head: what execution
 * refuses, the pool refuses too, or keeps without offering it to the next block.
 */

interface Case {
  readonly fork?: ForkName;
  readonly changes: Partial<TransactionFields>;
  /** The sender's account. */
  readonly sender?: ContextAccount;
}

type PoolAnswer = "refused" | "waits" | "offered";

const BASE_FEE_WEI = 1000n;
const BLOB_BASE_FEE_WEI = 1n;
const HEAD_TIME = 1_699_999_999n;
/** No price limits: only the rules of the chain count here. */
const LIMITS = {
  ...DEFAULT_TX_POOL_LIMITS,
  feeCapWei: 0n,
  admissionFloorWei: 0n,
  blockFloors: { minGasPriceWei: 0n, minPriorityFeeWei: 0n },
};

const dev = parseGenesis(genesisWith({}), "the development network");
if (!dev.ok) throw new Error(dev.error.message);
const { fixedBaseFeePerGas: _, ...devSpec } = dev.value;

/** What the pool does with the transaction, and then why execution refuses it. */
async function judge({ fork = "prague", changes, sender = {} }: Case) {
  const transaction = aTransaction(changes);
  const overlay = anOverlay([[account(0).address, { balance: 10n * ETHER, ...sender }]]);
  const header = { ...devSpec.genesis.header, number: 99n, timestamp: HEAD_TIME, gasLimit: 30_000_000n };
  const { baseFeePerGas: __, ...beforeLondon } = header;
  const view = createNextBlockView(
    {
      ...devSpec,
      forks: { activations: [{ fork, at: { block: 0n } }] },
      isZeroBaseFee: false,
      initialBaseFeePerGas: BASE_FEE_WEI,
    },
    { head: { header: beforeLondon, hash: asHash(keccak256(Uint8Array.of(99))), totalDifficulty: 100n } },
    overlay,
    { nowMs: () => Number(HEAD_TIME) * 1000 },
  );
  const { nextBaseFeePerGas } = view;
  const answer = answerOfPool(transaction, view);
  const executed = await execute(fork, overlay, transaction, {
    timestamp: HEAD_TIME + 1n,
    ...(nextBaseFeePerGas !== undefined && { baseFeePerGas: nextBaseFeePerGas }),
    blobBaseFee: BLOB_BASE_FEE_WEI,
  });
  return { answer, refusal: executed.ok ? undefined : executed.error.code };
}

function answerOfPool(
  transaction: SentTransaction,
  chain: ReturnType<typeof createNextBlockView>,
): PoolAnswer {
  const pool = new TxPool(LIMITS, { chain, clock: { nowMs: () => 0 } });
  if (!pool.add(transaction, "remote").ok) return "refused";
  return pool.select(chain.nextBaseFeePerGas).next() === undefined ? "waits" : "offered";
}

const UINT64_MAX = 2n ** 64n - 1n;
const UINT256_MAX = 2n ** 256n - 1n;
const CONTRACT = "0x6001600101";
const DELEGATION = `0xef0100${"77".repeat(20)}`;

function withHighS({ r, s, yParity }: Signature): Signature {
  return { r, s: SECP256K1_ORDER - s, yParity: yParity === 0 ? 1 : 0 };
}

/** One transaction for each reason. A new reason does not compile until it has one here. */
const CASES: Readonly<Record<TransactionCheckErrorCode, Case & { readonly pool: PoolAnswer }>> = {
  wrongChainId: { changes: { chainId: 5n }, pool: "refused" },
  chainIdNotSupported: { fork: "homestead", changes: { chainId: 1337n }, pool: "refused" },
  invalidSignature: { changes: { changeSignature: withHighS }, pool: "refused" },
  invalidTransactionType: { fork: "istanbul", changes: { type: 2 }, pool: "refused" },
  invalidBlobs: { changes: { type: 3, blobVersionedHashes: [] }, pool: "refused" },
  nonceOverflow: { changes: { nonce: UINT64_MAX }, pool: "refused" },
  initCodeTooLarge: {
    changes: { to: undefined, data: new Uint8Array(49_153), gasLimit: 10_000_000n },
    pool: "refused",
  },
  gasPriceBelowBaseFee: { changes: { gasPrice: BASE_FEE_WEI - 1n }, pool: "waits" },
  priorityFeeAboveFeeCap: {
    changes: { type: 2, maxPriorityFeePerGas: 2n * ETHER, maxFeePerGas: 1_000_000n },
    pool: "refused",
  },
  blobFeeBelowBaseFee: { changes: { type: 3, maxFeePerBlobGas: 0n }, pool: "refused" },
  intrinsicGasAboveLimit: { changes: { gasLimit: 20_999n }, pool: "refused" },
  upfrontCostOverflow: { changes: { gasPrice: UINT256_MAX }, pool: "refused" },
  upfrontCostAboveBalance: { changes: { value: 10n * ETHER }, pool: "refused" },
  nonceTooLow: { changes: {}, sender: { nonce: 1n }, pool: "refused" },
  nonceTooHigh: { changes: { nonce: 1n }, pool: "waits" },
  senderNotAuthorized: { changes: {}, sender: { code: CONTRACT }, pool: "refused" },
};

describe("a transaction that no block may hold", () => {
  it.each(Object.entries(CASES))("because of %s is not offered by the pool either", async (code, one) => {
    expect(await judge(one)).toEqual({ refusal: code, answer: one.pool });
  });

  it("is not offered by the pool, whatever is wrong with it", async () => {
    const reached = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(aCase(), async (one) => {
        const { refusal = "none", answer } = await judge(one);
        reached.set(refusal, (reached.get(refusal) ?? 0) + 1);
        if (refusal !== "none") expect(answer).not.toBe("offered");
      }),
      { numRuns: RUNS, seed: 14 },
    );
    // The cases are near the limits on both sides.
    expect(reached.get("none")).toBeGreaterThan(RUNS / 20);
    expect(Object.keys(CASES).filter((code) => !reached.has(code))).toEqual([]);
  });
});

const RUNS = IS_THOROUGH ? 4000 : 1300;

/** Values near the limits, each in one of the fields. A new rule needs its own here. */
const VARIATIONS: readonly Omit<Case, "fork">[] = [
  ...[undefined, 5n].map((chainId) => ({ changes: { chainId } })),
  ...[1n, UINT64_MAX - 1n, UINT64_MAX].map((nonce) => ({ changes: { nonce } })),
  ...[0n, BASE_FEE_WEI - 1n, BASE_FEE_WEI, UINT256_MAX].flatMap((wei) => [
    { changes: { gasPrice: wei, maxFeePerGas: wei } },
    { changes: { maxPriorityFeePerGas: wei } },
  ]),
  ...[20_999n, 21_000n, 53_000n, 2n ** 24n, 2n ** 24n + 1n, 30_000_000n].map((gasLimit) => ({
    changes: { gasLimit },
  })),
  { changes: { to: undefined, gasLimit: 2_000_000n } },
  ...[49_152, 49_153].map((length) => ({
    changes: { to: undefined, data: new Uint8Array(length), gasLimit: 2_000_000n },
  })),
  { changes: { data: new Uint8Array(2_000).fill(1) } },
  ...[0n, 10n * ETHER, UINT256_MAX].map((value) => ({ changes: { value } })),
  { changes: { accessList: [{ address: account(3).address, storageKeys: [asHash(new Uint8Array(32))] }] } },
  { changes: { maxFeePerBlobGas: 0n } },
  ...[0, 6, 7, 9, 10].map((count) => ({ changes: { blobVersionedHashes: blobHashes(count, 1) } })),
  { changes: { blobVersionedHashes: blobHashes(1, 2) } },
  { changes: { authorizationList: [] } },
  { changes: { changeSignature: withHighS } },
  ...[1n, UINT64_MAX - 1n].map((nonce) => ({ changes: {}, sender: { nonce } })),
  ...[0n, 21_000n * 1_000_000_000n, UINT256_MAX].map((balance) => ({ changes: {}, sender: { balance } })),
  ...[CONTRACT, DELEGATION].map((code) => ({ changes: {}, sender: { code } })),
];

/** A valid transaction with a few variations, of the newest fork in half of the cases. */
function aCase(): fc.Arbitrary<Case> {
  const types: readonly TransactionType[] = [0, 0, 1, 2, 3, 4];
  return fc
    .record({
      fork: fc.oneof(fc.constantFrom(...FORK_NAMES.slice(-1)), fc.constantFrom(...FORK_NAMES)),
      type: fc.constantFrom(...types),
      variations: fc.array(fc.constantFrom(...VARIATIONS), { maxLength: 3 }),
    })
    .map(({ fork, type, variations }) => {
      const base = { type, authorizationList: [anAuthorization()] };
      const changes = Object.assign(
        base,
        ...variations.map((one) => one.changes),
      ) as Partial<TransactionFields>;
      const sender: ContextAccount = Object.assign({}, ...variations.map((one) => one.sender));
      const hasChainId = type > 0 || "chainId" in changes || isAtLeast(fork, "spuriousDragon");
      return {
        fork,
        sender,
        changes: {
          ...changes,
          ...(!hasChainId && { chainId: undefined }),
          // The later types cannot be encoded without a recipient.
          ...(type >= 3 && { to: account(1).address }),
        },
      };
    });
}

function blobHashes(count: number, version: number): readonly Hash[] {
  return Array.from({ length: count }, () => asHash(Uint8Array.of(version, ...new Uint8Array(31))));
}
