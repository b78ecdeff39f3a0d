import { describe, expect, it } from "vitest";
import { SECP256K1_ORDER } from "../../src/primitives/secp256k1.ts";
import type { TransactionOrigin } from "../../src/txpool/entry.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool, type PoolInHand } from "../builders/aPool.ts";
import { anAuthorization, aTransaction, type TransactionFields } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";

/** "admitted", or the code of the rejection. */
function resultOf(
  { pool }: PoolInHand,
  transaction: SentTransaction,
  origin: TransactionOrigin = "local",
): string {
  const result = pool.add(transaction, origin);
  return result.ok ? "admitted" : result.error.code;
}

const ETHER = 10n ** 18n;

describe("admission to the pool, row by row of eth_sendRawTransaction", () => {
  it("accepts a valid transaction of each type of the fork", () => {
    const taken = ([0, 1, 2] as const).map((type, nonce) =>
      resultOf(aPool(), aTransaction({ type, nonce: BigInt(nonce) })),
    );
    expect(taken).toEqual(["admitted", "admitted", "admitted"]);
  });

  it("1: rejects a known transaction", () => {
    const inHand = aPool();
    inHand.pool.add(aTransaction(), "local");
    expect(resultOf(inHand, aTransaction())).toBe("knownTransaction");
  });

  it.each([
    ["a gas price above the cap", { gasPrice: ETHER + 1n, gasLimit: 21_000n }, "feeCapExceeded"],
    ["a fee cap above the cap", { type: 2, maxFeePerGas: ETHER + 1n, gasLimit: 21_000n }, "feeCapExceeded"],
    ["a price equal to the cap", { gasPrice: ETHER, gasLimit: 21_000n }, "upfrontCostAboveBalance"],
  ] as const)(
    "2: compares the price of a gas, not the whole fee, with the cap: %s",
    (_, fields, expected) => {
      expect(resultOf(aPool(), aTransaction(fields))).toBe(expected);
    },
  );

  it("2: caps only local transactions, and none when the cap is 0", () => {
    const dear = aTransaction({ gasPrice: ETHER + 1n, gasLimit: 21_000n });
    const rich = (inHand: PoolInHand): PoolInHand => {
      inHand.head.set(dear.sender, { balanceWei: 10n ** 30n });
      return inHand;
    };
    expect(resultOf(rich(aPool()), dear, "remote")).toBe("admitted");
    expect(resultOf(rich(aPool({ limits: { feeCapWei: 0n } })), dear)).toBe("admitted");
  });

  it.each([
    ["local, below the protocol's floor", {}, {}, 6n, "local", "gasPriceTooLow"],
    ["local, at the protocol's floor", {}, {}, 7n, "local", "admitted"],
    [
      "local, free, where the base fee is fixed at zero",
      { isZeroBaseFee: true, isFreeFromStart: true },
      {},
      0n,
      "local",
      "admitted",
    ],
    [
      "local, free, where the base fee begins at zero",
      { isFreeFromStart: true },
      {},
      0n,
      "local",
      "admitted",
    ],
    ["local, free, before London", { hasBaseFee: false }, {}, 0n, "local", "admitted"],
    [
      "local without priority, below the floor",
      {},
      { hasLocalPriority: false },
      999n,
      "local",
      "gasPriceTooLow",
    ],
    ["local without priority, at the floor", {}, { hasLocalPriority: false }, 1000n, "local", "admitted"],
    ["remote, below the floor", {}, {}, 999n, "remote", "gasPriceTooLow"],
    ["remote, at the floor", {}, {}, 1000n, "remote", "admitted"],
    [
      "remote, a sender with priority",
      {},
      { prioritySenders: [account(0).address] },
      7n,
      "remote",
      "admitted",
    ],
    ["remote, a floor of its own", {}, { admissionFloorWei: 0n }, 0n, "remote", "admitted"],
  ] as const)("3: applies a price floor: %s", (_, rules, limits, gasPrice, origin, expected) => {
    expect(resultOf(aPool({ rules, limits }), aTransaction({ gasPrice }), origin)).toBe(expected);
  });

  it("4: rejects another chain's transaction, and accepts an unprotected one", () => {
    expect(resultOf(aPool(), aTransaction({ chainId: 1n }))).toBe("wrongChainId");
    expect(resultOf(aPool(), aTransaction({ chainId: undefined }))).toBe("admitted");
  });

  it("4: rejects any chain id before EIP-155", () => {
    expect(resultOf(aPool({ rules: { chainId: undefined } }), aTransaction())).toBe("chainIdNotSupported");
  });

  it("5: rejects a signature with a high s, which anyone can derive from the low one", () => {
    const mirrored = aTransaction({
      changeSignature: ({ r, s, yParity }) => ({ r, s: SECP256K1_ORDER - s, yParity: yParity === 0 ? 1 : 0 }),
    });
    expect(resultOf(aPool(), mirrored)).toBe("invalidSignature");
  });

  it("6: rejects a type that the fork does not know", () => {
    const berlin = { acceptedTypes: new Set([0, 1] as const) };
    expect(resultOf(aPool({ rules: berlin }), aTransaction({ type: 2 }))).toBe("invalidTransactionType");
  });

  it("6: rejects a blob transaction without its blobs, whatever the fork", () => {
    const cancun = { acceptedTypes: new Set([0, 1, 2, 3] as const) };
    expect(resultOf(aPool({ rules: cancun }), aTransaction({ type: 3 }))).toBe("invalidTransactionType");
  });

  it("6: accepts a set-code transaction under Prague, unless it has no authorization", () => {
    const prague = { acceptedTypes: new Set([0, 1, 2, 4] as const) };
    const withOne: Partial<TransactionFields> = { type: 4, authorizationList: [anAuthorization()] };
    expect(resultOf(aPool({ rules: prague }), aTransaction(withOne))).toBe("admitted");
    expect(resultOf(aPool({ rules: prague }), aTransaction({ type: 4 }))).toBe("invalidTransactionType");
    expect(resultOf(aPool(), aTransaction(withOne))).toBe("invalidTransactionType");
  });

  it("7: rejects the last nonce, which has no successor", () => {
    expect(resultOf(aPool(), aTransaction({ nonce: 2n ** 64n - 1n }))).toBe("nonceOverflow");
  });

  it("7: rejects init code above the limit from Shanghai on, and only init code", () => {
    const data = new Uint8Array(49_153);
    const shanghai = { initCodeLimit: 49_152 };
    expect(resultOf(aPool({ rules: shanghai }), aTransaction({ to: undefined, data }))).toBe(
      "initCodeTooLarge",
    );
    expect(resultOf(aPool({ rules: shanghai }), aTransaction({ data }))).toBe("admitted");
    expect(resultOf(aPool(), aTransaction({ to: undefined, data }))).toBe("admitted");
  });

  it("7: rejects gas whose price does not fit in 256 bits", () => {
    const unpayable = aTransaction({ gasPrice: 2n ** 255n, gasLimit: 30_000n });
    expect(resultOf(aPool(), unpayable, "remote")).toBe("upfrontCostOverflow");
  });

  it("8: rejects a tip above the fee cap", () => {
    const greedy = aTransaction({ type: 2, maxPriorityFeePerGas: 2001n, maxFeePerGas: 2000n });
    expect(resultOf(aPool(), greedy)).toBe("priorityFeeAboveFeeCap");
  });

  it("9: rejects a gas limit below the intrinsic gas", () => {
    expect(resultOf(aPool(), aTransaction({ gasLimit: 20_999n }))).toBe("intrinsicGasAboveLimit");
    expect(resultOf(aPool(), aTransaction({ gasLimit: 21_000n }))).toBe("admitted");
  });

  it("10: requires a chain id of local transactions when replay protection is strict", () => {
    const strict = { limits: { requiresReplayProtection: true } };
    const unprotected = aTransaction({ chainId: undefined });
    expect(resultOf(aPool(strict), unprotected)).toBe("replayProtectionRequired");
    expect(resultOf(aPool(strict), unprotected, "remote")).toBe("admitted");
  });

  it("11: rejects more gas than a block has", () => {
    expect(resultOf(aPool(), aTransaction({ gasLimit: 30_000_001n }))).toBe("gasLimitAboveBlock");
    expect(resultOf(aPool(), aTransaction({ gasLimit: 30_000_000n }))).toBe("admitted");
  });

  it("12: rejects everything while the state of the head is missing", () => {
    const inHand = aPool();
    inHand.head.isStateAvailable = false;
    expect(resultOf(inHand, aTransaction())).toBe("stateUnavailable");
  });

  it("13: rejects a sender that is not permitted", () => {
    const inHand = aPool({ parts: { isSenderPermitted: () => false } });
    expect(resultOf(inHand, aTransaction())).toBe("senderNotAuthorized");
  });

  it("14: rejects what the sender cannot pay at the highest price", () => {
    const inHand = aPool();
    const transaction = aTransaction({ gasPrice: 1000n, gasLimit: 21_000n, value: 5n });
    inHand.head.set(transaction.sender, { balanceWei: 21_000_004n });
    expect(resultOf(inHand, transaction)).toBe("upfrontCostAboveBalance");
    inHand.pool.headChanged({ added: [], removed: [] });
    inHand.head.set(transaction.sender, { balanceWei: 21_000_005n });
    expect(resultOf(inHand, transaction)).toBe("admitted");
  });

  it("15: rejects a used nonce", () => {
    const inHand = aPool();
    inHand.head.set(account(0).address, { nonce: 3n });
    expect(resultOf(inHand, aTransaction({ nonce: 2n }))).toBe("nonceTooLow");
    expect(resultOf(inHand, aTransaction({ nonce: 3n }))).toBe("admitted");
  });

  it("15b: rejects a contract as sender (EIP-3607)", () => {
    const inHand = aPool();
    inHand.head.set(account(0).address, { isContract: true });
    expect(resultOf(inHand, aTransaction())).toBe("senderNotAuthorized");
  });

  it("16: rejects a replacement that does not pay 10 % more", () => {
    const inHand = aPool();
    inHand.pool.add(aTransaction({ gasPrice: 2000n }), "local");
    expect(resultOf(inHand, aTransaction({ gasPrice: 2199n }))).toBe("replacementUnderpriced");
    expect(resultOf(inHand, aTransaction({ gasPrice: 2200n }))).toBe("admitted");
  });

  it("17: rejects a nonce 200 or more beyond the sender's next", () => {
    const inHand = aPool();
    expect(resultOf(inHand, aTransaction({ nonce: 200n }))).toBe("nonceTooDistant");
    expect(resultOf(inHand, aTransaction({ nonce: 199n }))).toBe("admitted");
  });

  it("17: counts from the end of the unbroken run, so one sender may have thousands pending", () => {
    const inHand = aPool();
    for (let nonce = 0n; nonce < 2000n; nonce++) {
      expect(resultOf(inHand, aTransaction({ nonce }))).toBe("admitted");
    }
    expect(resultOf(inHand, aTransaction({ nonce: 2200n }))).toBe("nonceTooDistant");
    expect(resultOf(inHand, aTransaction({ nonce: 2199n }))).toBe("admitted");
    expect(inHand.pool.statistics).toMatchObject({ pending: 2000, queued: 1 });
  });

  it("18: refuses what a full pool would evict at once", () => {
    const inHand = aPool({ limits: { maxTransactions: 1 } });
    inHand.pool.add(aTransaction({ gasPrice: 2000n }), "local");
    const worse = aTransaction({ gasPrice: 1999n, privateKey: account(1).privateKey });
    expect(resultOf(inHand, worse)).toBe("poolFull");
    expect(inHand.pool.get(worse.hash)).toBeUndefined();
    expect(inHand.events).toHaveLength(1);
  });
});

describe("the first failing row decides", () => {
  /** Every defect at once; each step fixes the first. The state's defects are fixed by hand below. */
  const steps: readonly (readonly [Partial<TransactionFields>, string])[] = [
    [{ gasPrice: ETHER + 1n }, "feeCapExceeded"],
    [{ gasPrice: 6n }, "gasPriceTooLow"],
    [{ gasPrice: 10n ** 17n }, "wrongChainId"],
    [{ chainId: undefined }, "invalidSignature"],
    [{ changeSignature: (signature) => signature }, "initCodeTooLarge"],
    [{ data: new Uint8Array(4) }, "intrinsicGasAboveLimit"],
    [{ gasLimit: 30_000_001n }, "replayProtectionRequired"],
    [{ chainId: 1337n }, "gasLimitAboveBlock"],
    [{ gasLimit: 21_000n }, "stateUnavailable"],
  ];

  it("walks the table from top to bottom", () => {
    let isPermitted = false;
    const inHand = aPool({
      limits: { requiresReplayProtection: true },
      rules: { initCodeLimit: 10 },
      parts: { isSenderPermitted: () => isPermitted },
    });
    const { head } = inHand;
    const { address } = account(0);
    head.isStateAvailable = false;
    head.set(address, { nonce: 2n, isContract: true, balanceWei: 0n });
    let fields: Partial<TransactionFields> = {
      to: undefined,
      data: new Uint8Array(11),
      chainId: 1n,
      nonce: 1n,
      gasLimit: 20_000n,
      changeSignature: ({ r, s, yParity }) => ({ r, s: SECP256K1_ORDER - s, yParity }),
    };
    for (const [fixed, expected] of steps) {
      fields = { ...fields, ...fixed };
      expect(resultOf(inHand, aTransaction(fields))).toBe(expected);
    }
    const now = (): string => resultOf(inHand, aTransaction(fields));
    head.isStateAvailable = true;
    expect(now()).toBe("senderNotAuthorized");
    isPermitted = true;
    expect(now()).toBe("upfrontCostAboveBalance");
    head.set(address, { balanceWei: ETHER ** 2n });
    expect(now()).toBe("nonceTooLow");
    head.set(address, { nonce: 1n });
    expect(now()).toBe("senderNotAuthorized");
    head.set(address, { isContract: false });
    expect(now()).toBe("admitted");
    expect(now()).toBe("knownTransaction");
  });
});

describe("the fault of a rejection", () => {
  it("blames a peer only for what no honest peer would relay", () => {
    const fault = (transaction: SentTransaction, origin: TransactionOrigin): unknown => {
      const result = aPool().pool.add(transaction, origin);
      return result.ok || result.error.fault;
    };
    expect(fault(aTransaction({ chainId: 1n }), "remote")).toBe("peer");
    expect(fault(aTransaction({ gasLimit: 20_000n }), "remote")).toBe("peer");
    expect(fault(aTransaction({ chainId: 1n }), "local")).toBe("caller");
    expect(fault(aTransaction({ nonce: 200n }), "remote")).toBe("caller");
  });
});
