import { describe, expect, it } from "vitest";
import type { ForkName } from "../../src/chainspec/forks.ts";
import type { BlockContext } from "../../src/execution/blockContext.ts";
import { BlockSession } from "../../src/execution/blockSession.ts";
import { executeTransaction } from "../../src/execution/executeTransaction.ts";
import { NEVER_YIELD, OutOfTime } from "../../src/execution/yieldPolicy.ts";
import { type Address, addressFromHex } from "../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { SECP256K1_ORDER } from "../../src/primitives/secp256k1.ts";
import type { Overlay } from "../../src/state/overlay.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { anAuthorization, aTransaction } from "../builders/aTransaction.ts";
import { account, accountFromSeed } from "../builders/testAccounts.ts";
import {
  anOverlay,
  BENEFICIARY,
  type ContextAccount,
  chainHashOf,
  contractAt,
  ETHER,
  execute,
  executed,
  slotOf,
  theRules,
  word,
} from "./context.ts";

const SENDER = account(0).address;
const CONTRACT = contractAt(1);

function withCode(code: string, rest: ContextAccount = {}): Overlay {
  return anOverlay([[CONTRACT, { code, ...rest }]]);
}

function callOf(changes: Parameters<typeof aTransaction>[0] = {}): SentTransaction {
  return aTransaction({ to: CONTRACT, value: 0n, ...changes });
}

/** The output of a call to a contract. */
async function outputOf(fork: ForkName, code: string, context: Partial<BlockContext> = {}): Promise<string> {
  const { output, outcome } = await executed(fork, withCode(code), callOf(), context);
  expect(outcome).toEqual({ kind: "succeeded" });
  return toHex(output);
}

/** Code that returns the word on the stack. */
const RETURN_WORD = "60005260206000f3";

describe("gas", () => {
  it("of a creation covers the transaction, the data, the init code, and each byte of code", async () => {
    const init = hexToBytes("0x600160005360016000f3");
    const overlay = anOverlay();
    const created = addressFromHex("0x5fbdb2315678afecb367f032d93f642f64180aa3");
    const creation = aTransaction({ to: undefined, data: init, value: 5n });
    expect(await executed("london", overlay, creation)).toMatchObject({
      gasUsed: 53_000n + 136n + 18n + 200n,
    });
    expect(overlay.account(created)).toMatchObject({ nonce: 1n, balance: 5n });
    expect(await executed("shanghai", anOverlay(), creation)).toMatchObject({ gasUsed: 53_354n + 2n });
  });

  it("is refunded for cleared storage: up to half before London, up to a fifth since", async () => {
    const clearing = "0x6000600055";
    const storage = { 0: 7n };
    expect(await executed("istanbul", withCode(clearing, { storage }), callOf())).toMatchObject({
      gasBeforeRefund: 26_006n,
      gasUsed: 13_003n,
    });
    expect(await executed("london", withCode(clearing, { storage }), callOf())).toMatchObject({
      gasBeforeRefund: 26_006n,
      gasUsed: 26_006n - 4_800n,
    });
  });

  it("is used up by an exceptional halt, but not by a revert", async () => {
    const halted = await executed("cancun", withCode("0xfe"), callOf({ gasLimit: 50_000n }));
    expect(halted).toMatchObject({
      outcome: { kind: "halted", reason: "INVALID_OPERATION" },
      gasUsed: 50_000n,
    });
    const reverted = await executed("cancun", withCode("0x60006000fd"), callOf({ gasLimit: 50_000n }));
    expect(reverted).toMatchObject({ outcome: { kind: "reverted" }, gasUsed: 21_006n });
  });

  it("for accessing the beneficiary is lower from Shanghai on", async () => {
    const balanceOfCoinbase = "0x4131";
    expect(await executed("london", withCode(balanceOfCoinbase), callOf())).toMatchObject({
      gasUsed: 21_000n + 2n + 2_600n,
    });
    expect(await executed("shanghai", withCode(balanceOfCoinbase), callOf())).toMatchObject({
      gasUsed: 21_000n + 2n + 100n,
    });
  });

  it("for entries of an access list is intrinsic", async () => {
    const reading = "0x600054";
    const accessList = [{ address: CONTRACT, storageKeys: [slotOf(0) as never] }];
    const listed = callOf({ type: 1, accessList });
    expect(await executed("berlin", withCode(reading), listed)).toMatchObject({
      gasUsed: 25_300n + 3n + 100n,
    });
    expect(await executed("berlin", withCode(reading), callOf())).toMatchObject({
      gasUsed: 21_000n + 3n + 2_100n,
    });
  });

  it("has a minimum for data from Prague on", async () => {
    const data = new Uint8Array(100).fill(1);
    expect(await executed("prague", withCode("0x00"), callOf({ data }))).toMatchObject({ gasUsed: 25_000n });
    expect(await executed("cancun", withCode("0x00"), callOf({ data }))).toMatchObject({ gasUsed: 22_600n });
  });
});

describe("code sees", () => {
  it("the chain hashes of the last 256 blocks, by BLOCKHASH", async () => {
    const hashOf = (number: string): string => `0x61${number}40${RETURN_WORD}`;
    const at = { number: 1000n };
    expect(await outputOf("cancun", hashOf((999).toString(16).padStart(4, "0")), at)).toBe(
      toHex(chainHashOf(999n)),
    );
    expect(await outputOf("cancun", hashOf((744).toString(16).padStart(4, "0")), at)).toBe(
      toHex(chainHashOf(744n)),
    );
    expect(await outputOf("cancun", hashOf((743).toString(16).padStart(4, "0")), at)).toBe(toHex(word(0n)));
    expect(await outputOf("cancun", hashOf((1000).toString(16).padStart(4, "0")), at)).toBe(toHex(word(0n)));
  });

  it("the difficulty under 0x44 up to London, and the mixHash from Shanghai on", async () => {
    const mixHash = chainHashOf(7n);
    expect(await outputOf("london", `0x44${RETURN_WORD}`, { mixHash, difficulty: 1n })).toBe(toHex(word(1n)));
    expect(await outputOf("shanghai", `0x44${RETURN_WORD}`, { mixHash, difficulty: 1n })).toBe(
      toHex(mixHash),
    );
  });

  it("the beneficiary, the base fee, the blob base fee and the chain id", async () => {
    expect(await outputOf("cancun", `0x41${RETURN_WORD}`)).toBe(toHex(word(BENEFICIARY)));
    expect(await outputOf("cancun", `0x48${RETURN_WORD}`, { baseFeePerGas: 9n })).toBe(toHex(word(9n)));
    expect(await outputOf("cancun", `0x4a${RETURN_WORD}`)).toBe(toHex(word(0n)));
    expect(await outputOf("cancun", `0x4a${RETURN_WORD}`, { blobBaseFee: 1n })).toBe(toHex(word(1n)));
    expect(await outputOf("cancun", `0x46${RETURN_WORD}`)).toBe(toHex(word(1337n)));
  });

  it("code that begins with 0xef00 as it is: until London anyone could deploy it", async () => {
    const odd = contractAt(2);
    const oddCode = "0xef0001020304";
    const push = `73${toHex(odd).slice(2)}`;
    const outputOfCall = async (code: string): Promise<string> => {
      const overlay = anOverlay([
        [CONTRACT, { code: `0x${code}` }],
        [odd, { code: oddCode }],
      ]);
      return toHex((await executed("berlin", overlay, callOf())).output);
    };
    expect(await outputOfCall(`${push}3b${RETURN_WORD}`)).toBe(toHex(word(6n)));
    expect(await outputOfCall(`${push}3f${RETURN_WORD}`)).toBe(
      toHex(anOverlay([[odd, { code: oddCode }]]).account(odd)?.codeHash ?? word(0n)),
    );
    expect(await outputOfCall(`600a60016000${push}3c60206000f3`)).toBe(`${"0x0001020304"}${"00".repeat(27)}`);
  });
});

describe("accounts", () => {
  it("are deleted when they destroy themselves, from Cancun on only in the transaction that created them", async () => {
    const dying = `0x73${toHex(account(1).address).slice(2)}ff`;
    const before = withCode(dying, { balance: 3n });
    await executed("shanghai", before, callOf());
    expect(before.account(CONTRACT)).toBeUndefined();
    const since = withCode(dying, { balance: 3n });
    await executed("cancun", since, callOf());
    expect(since.account(CONTRACT)).toMatchObject({ balance: 0n });
    expect(since.code(since.account(CONTRACT)?.codeHash ?? (word(0n) as never))).toHaveLength(22);
    const overlay = anOverlay();
    const creation = aTransaction({ to: undefined, data: hexToBytes(dying), value: 4n });
    await executed("cancun", overlay, creation);
    expect(overlay.account(addressFromHex("0x5fbdb2315678afecb367f032d93f642f64180aa3"))).toBeUndefined();
  });

  it("that are touched and empty are deleted from Spurious Dragon on, and created before", async () => {
    const absent = contractAt(9);
    const touching = `0x6000600060006000600073${toHex(absent).slice(2)}617530f1`;
    const since = withCode(touching);
    await executed("spuriousDragon", since, callOf());
    expect(since.account(absent)).toBeUndefined();
    const before = withCode(touching);
    await executed("tangerineWhistle", before, callOf({ chainId: undefined }));
    expect(before.account(absent)).toBeDefined();
  });

  it("that do not exist can send free transactions without value", async () => {
    const poor = account(0);
    const overlay = anOverlay();
    overlay.putAccount(poor.address, undefined);
    expect(await execute("cancun", overlay, aTransaction({ value: 0n, gasPrice: 0n }))).toMatchObject({
      ok: true,
    });
    expect(overlay.account(poor.address)).toMatchObject({ nonce: 1n, balance: 0n });
  });
});

it("before Spurious Dragon, accounts that a call without value creates count for a transaction's effects", async () => {
  const callsTo = (to: number) => `6000600060006000600073${toHex(contractAt(to)).slice(2)}61fffff150`;
  const overlay = withCode(`0x${[11, 12, 13].map(callsTo).join("")}`);
  overlay.beginTransaction();
  const limit = { bytes: Number.POSITIVE_INFINITY, changes: 2 };
  const yieldPolicy = { ...NEVER_YIELD, effects: { limit } };
  const session = new BlockSession({ ...theRules("homestead"), overlay, yieldPolicy });
  const transaction = callOf({ chainId: undefined, gasLimit: 1_000_000n });
  await expect(async () => executeTransaction(session, transaction)).rejects.toMatchObject({
    name: "EffectsBeyondLimit",
    needed: { changes: 3 },
  });
});

describe("a set-code transaction", () => {
  const authority = account(2).address;
  const target = contractAt(3);
  const delegating = (changes: Parameters<typeof anAuthorization>[0] = {}) =>
    aTransaction({
      type: 4,
      gasLimit: 200_000n,
      to: authority,
      value: 0n,
      authorizationList: [anAuthorization({ address: target, ...changes })],
    });
  /** Stores 1 in its own slot 0. */
  const targetCode = { code: "0x6001600055" };

  it("lets an account run the code of another, and refunds the cost of a new account", async () => {
    const overlay = anOverlay([[target, targetCode]]);
    const result = await executed("prague", overlay, delegating());
    expect(result.outcome).toEqual({ kind: "succeeded" });
    expect(overlay.account(authority)?.nonce).toBe(1n);
    expect(toHex(overlay.code(overlay.account(authority)?.codeHash ?? (word(0n) as never)))).toBe(
      `0xef0100${toHex(target).slice(2)}`,
    );
    expect(overlay.storage(authority, slotOf(0))).toEqual(Uint8Array.of(1));
    // 21,000 + 25,000, two pushes, a cold SSTORE; refunds 12,500 for an existing account, at most a fifth.
    expect(result.gasBeforeRefund).toBe(46_000n + 6n + 22_100n);
    expect(result.gasUsed).toBe(68_106n - 12_500n);
  });

  it("keeps the delegation if the call fails", async () => {
    const overlay = anOverlay([[target, { code: "0xfe" }]]);
    expect((await executed("prague", overlay, delegating())).outcome).toMatchObject({ kind: "halted" });
    expect(overlay.account(authority)?.nonce).toBe(1n);
  });

  it.each([
    ["for another chain", { chainId: 2n }],
    ["with another nonce", { nonce: 1n }],
    ["signed by a contract", { privateKey: account(4).privateKey }],
  ])("skips an authorization %s", async (_, changes) => {
    const overlay = anOverlay([[account(4).address, { code: "0x00" }]]);
    expect((await executed("prague", overlay, delegating(changes))).outcome).toEqual({ kind: "succeeded" });
    for (const index of [2, 4]) expect(overlay.account(account(index).address)?.nonce).toBe(0n);
  });

  it("yields between authorizations, of which it may have a thousand, and ends at its deadline", async () => {
    const authorizationList = Array.from({ length: 20 }, (_, n) =>
      anAuthorization({ privateKey: accountFromSeed(n + 1).privateKey }),
    );
    const many = aTransaction({ type: 4, gasLimit: 1_000_000n, to: authority, authorizationList });
    const overlay = anOverlay();
    overlay.beginTransaction();
    let yields = 0;
    const countYield = async () => void yields++;
    const yieldPolicy = { isDue: () => true, yield: countYield };
    await executeTransaction(new BlockSession({ ...theRules("prague"), overlay, yieldPolicy }), many);
    expect(yields).toBeGreaterThanOrEqual(20);
    expect(overlay.account(accountFromSeed(20).address)?.nonce).toBe(1n);
    const stopped = anOverlay();
    stopped.beginTransaction();
    const stop = { isDue: () => true, yield: () => Promise.reject(new OutOfTime("over")) };
    const session = new BlockSession({ ...theRules("prague"), overlay: stopped, yieldPolicy: stop });
    await expect(async () => executeTransaction(session, many)).rejects.toThrow(OutOfTime);
    expect(stopped.account(accountFromSeed(1).address)).toBeUndefined();
  });

  it("counts the accounts that authorized it for its effects, and is stopped when they are too many", async () => {
    const authorizationList = Array.from({ length: 20 }, (_, n) =>
      anAuthorization({ privateKey: accountFromSeed(n + 1).privateKey, address: target }),
    );
    const many = aTransaction({ type: 4, gasLimit: 1_000_000n, to: authority, value: 0n, authorizationList });
    const limited = (changes: number) => {
      const overlay = anOverlay([[authority, targetCode]]);
      overlay.beginTransaction();
      const limit = { bytes: Number.POSITIVE_INFINITY, changes };
      const yieldPolicy = { ...NEVER_YIELD, effects: { limit } };
      return executeTransaction(new BlockSession({ ...theRules("prague"), overlay, yieldPolicy }), many);
    };
    // The message changes one account and its slot.
    expect(await limited(22)).toMatchObject({ ok: true, value: { effects: { changes: 22 } } });
    for (const tooFew of [21, 5])
      await expect(async () => limited(tooFew)).rejects.toMatchObject({
        name: "EffectsBeyondLimit",
        needed: { changes: tooFew + 1 },
      });
  });

  it("removes a delegation with the zero address, and lets delegated accounts send", async () => {
    const delegated = { balance: ETHER, code: `0xef0100${toHex(target).slice(2)}` };
    const overlay = anOverlay([[authority, delegated]]);
    await executed("prague", overlay, delegating({ address: addressFromHex(`0x${"00".repeat(20)}`) }));
    expect(overlay.code(overlay.account(authority)?.codeHash ?? (word(0n) as never))).toHaveLength(0);
    const sending = aTransaction({ privateKey: account(2).privateKey });
    expect(await execute("prague", anOverlay([[authority, delegated]]), sending)).toMatchObject({ ok: true });
  });
});

describe("a transaction is refused", () => {
  const refusals: readonly (readonly [code: string, ForkName, Parameters<typeof aTransaction>[0]])[] = [
    ["wrongChainId", "cancun", { chainId: 5n }],
    ["chainIdNotSupported", "homestead", {}],
    [
      "invalidSignature",
      "cancun",
      { changeSignature: ({ r, s, yParity }) => ({ r, s: SECP256K1_ORDER - s, yParity }) },
    ],
    ["invalidTransactionType", "istanbul", { type: 1 }],
    ["invalidTransactionType", "berlin", { type: 2 }],
    ["invalidTransactionType", "shanghai", { type: 3 }],
    ["invalidTransactionType", "cancun", { type: 4 }],
    ["invalidTransactionType", "prague", { type: 4, authorizationList: [] }],
    ["invalidBlobs", "cancun", { type: 3, blobVersionedHashes: [] }],
    ["invalidBlobs", "cancun", { type: 3, blobVersionedHashes: [slotOf(2) as never] }],
    ["nonceOverflow", "cancun", { nonce: 2n ** 64n - 1n }],
    ["initCodeTooLarge", "shanghai", { to: undefined, data: new Uint8Array(49_153), gasLimit: 10_000_000n }],
    ["gasPriceBelowBaseFee", "london", { gasPrice: 6n }],
    ["priorityFeeAboveFeeCap", "london", { type: 2, maxFeePerGas: 10n, maxPriorityFeePerGas: 11n }],
    ["intrinsicGasAboveLimit", "london", { gasLimit: 20_999n }],
    ["upfrontCostOverflow", "london", { gasPrice: 2n ** 255n }],
    ["upfrontCostAboveBalance", "london", { value: 11n * ETHER }],
    ["nonceTooHigh", "london", { nonce: 1n }],
    ["nonceTooLow", "london", { privateKey: account(5).privateKey }],
    ["senderNotAuthorized", "london", { privateKey: account(6).privateKey }],
  ];

  it.each(refusals)("as %s under %s", async (code, fork, changes) => {
    const accounts: readonly (readonly [Address, ContextAccount])[] = [
      [account(5).address, { balance: ETHER, nonce: 1n }],
      [account(6).address, { balance: ETHER, code: "0x00" }],
    ];
    const overlay = anOverlay(accounts);
    const result = await execute(fork, overlay, aTransaction(changes), { baseFeePerGas: 7n });
    expect(result).toMatchObject({ ok: false, error: { code } });
    expect(overlay.changes().accounts).toEqual([]);
  });

  it("when its blobs pay less than the blob base fee", async () => {
    const transaction = aTransaction({ type: 3, maxFeePerBlobGas: 1n });
    expect(await execute("cancun", anOverlay(), transaction, { blobBaseFee: 2n })).toMatchObject({
      ok: false,
      error: { code: "blobFeeBelowBaseFee" },
    });
    const overlay = anOverlay();
    expect(await execute("cancun", overlay, transaction, { blobBaseFee: 1n })).toMatchObject({ ok: true });
    const paid = 10n * ETHER - (overlay.account(SENDER)?.balance ?? 0n);
    expect(paid).toBe(21_000n * 1_000_000_000n + 131_072n + 1n);
  });
});

describe("code halts", () => {
  const tooLarge = "0x6160016000f3";
  const halts: readonly (readonly [reason: string, code: string])[] = [
    ["INVALID_OPERATION", "0x0c"],
    ["INSUFFICIENT_GAS", "0x5b600056"],
    ["INSUFFICIENT_STACK_ITEMS", "0x01"],
    ["TOO_MANY_STACK_ITEMS", "0x5b60016000565b"],
    ["INVALID_JUMP_DESTINATION", "0x600356"],
    ["INVALID_RETURN_DATA_BUFFER_ACCESS", "0x6001600060003e"],
  ];

  it.each(halts)("with %s", async (reason, code) => {
    const result = await executed("cancun", withCode(code), callOf({ gasLimit: 100_000n }));
    expect(result.outcome).toEqual({ kind: "halted", reason });
  });

  it("with CODE_TOO_LARGE or INVALID_CODE if a creation returns such code", async () => {
    const creating = (data: string) =>
      aTransaction({ to: undefined, data: hexToBytes(data), gasLimit: 8_000_000n, value: 0n });
    const outcomeOf = async (fork: ForkName, data: string) =>
      (await executed(fork, anOverlay(), creating(data))).outcome;
    expect(await outcomeOf("london", tooLarge)).toEqual({ kind: "halted", reason: "CODE_TOO_LARGE" });
    expect(await outcomeOf("london", "0x60ef60005360016000f3")).toEqual({
      kind: "halted",
      reason: "INVALID_CODE",
    });
    expect(await outcomeOf("berlin", "0x60ef60005360016000f3")).toEqual({ kind: "succeeded" });
  });

  it("not with INVALID_CODE if init code reverts with such bytes", async () => {
    const reverting = "60ef60005360016000fd";
    const data = hexToBytes(`0x${reverting}`);
    const creation = aTransaction({ to: undefined, data, gasLimit: 100_000n, value: 0n });
    const result = await executed("london", anOverlay(), creation);
    expect(result.outcome).toEqual({ kind: "reverted" });
    expect(toHex(result.output)).toBe("0xef");
    expect(result.gasUsed).toBeLessThan(60_000n);
    // The creator keeps its gas too, and finds the bytes.
    const nested = withCode(`0x69${reverting}600052600a60166000f03d60005260206000f3`);
    const outer = await executed("london", nested, callOf({ gasLimit: 100_000n }));
    expect(toHex(outer.output)).toBe(toHex(word(1n)));
    expect(outer.gasUsed).toBeLessThan(60_000n);
  });

  it("with PRECOMPILE_ERROR if a precompiled contract fails", async () => {
    const blake2f = addressFromHex("0x0000000000000000000000000000000000000009");
    const result = await executed("cancun", anOverlay(), callOf({ to: blake2f }));
    expect(result.outcome).toEqual({ kind: "halted", reason: "PRECOMPILE_ERROR" });
    const pairing = addressFromHex("0x0000000000000000000000000000000000000006");
    const offCurve = callOf({ to: pairing, data: word(1n) });
    expect((await executed("cancun", anOverlay(), offCurve)).outcome).toEqual({
      kind: "halted",
      reason: "PRECOMPILE_ERROR",
    });
  });
});
