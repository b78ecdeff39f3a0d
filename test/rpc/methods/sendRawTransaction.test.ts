import { RLP } from "@ethereumjs/rlp";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { concatBytes, toHex } from "../../../src/primitives/hex.ts";
import { SECP256K1_ORDER } from "../../../src/primitives/secp256k1.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { debugBatchSendRawTransaction } from "../../../src/rpc/methods/debug/batchSendRawTransaction.ts";
import { ethSendRawTransaction } from "../../../src/rpc/methods/eth/sendRawTransaction.ts";
import { AdmissionQueue } from "../../../src/txpool/admissionQueue.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aCore } from "../../builders/anRpcBackend.ts";
import { aPool, type PoolInHand } from "../../builders/aPool.ts";
import { anAuthorization, aTransaction } from "../../builders/aTransaction.ts";
import { recoverSignersHere } from "../../builders/recoverSignersHere.ts";
import { account } from "../../builders/testAccounts.ts";
import { INVALID_PARAMS } from "../invalidParams.ts";

type Setting = Parameters<typeof aPool>[0];

/** Sends a request to a node with this pool. */
async function ask(inHand: PoolInHand, method: string, params: readonly unknown[]): Promise<Answer> {
  const queue = new AdmissionQueue(inHand.pool, recoverSignersHere);
  const { pool } = aCore({ submit: (raw) => queue.submit(raw) });
  const dispatcher = createDispatcher(
    {
      methods: [debugBatchSendRawTransaction, ethSendRawTransaction],
      modules: new Set(["ETH", "DEBUG"] as const),
    },
    { backend: { pool }, logger: silentLogger },
  );
  const request = { jsonrpc: "2.0", id: 1, method, params };
  const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
  return JSON.parse(expectDefined(reply, "the reply").text) as Answer;
}

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Sends bytes over JSON-RPC to a real pool: "accepted" with their hash, or the error's code and message. */
async function send(testPool: PoolInHand, raw: Uint8Array): Promise<string> {
  const { result, error } = await ask(testPool, "eth_sendRawTransaction", [toHex(raw)]);
  return error === undefined ? `accepted ${result}` : `${error.code} ${error.message}`;
}

const ETHER = 10n ** 18n;
const SENDER = account(0).address;

interface Row {
  readonly setting?: Setting;
  prepare?(testPool: PoolInHand): void;
  readonly transaction: SentTransaction;
  readonly answer: string;
}

/**
 * The rows of json-rpc.md#eth_sendrawtransaction, with codes and messages of json-rpc-errors.md#transaction-errors.
 */
const ROWS: Readonly<Record<string, Row>> = {
  "1 known": {
    prepare: ({ pool }) => pool.add(aTransaction(), "remote"),
    transaction: aTransaction(),
    answer: "-32000 Known transaction",
  },
  "2 above the fee cap": {
    transaction: aTransaction({ gasPrice: ETHER + 1n }),
    answer: "-32000 Transaction fee cap exceeded",
  },
  "2 above the operator's cap": {
    setting: { limits: { feeCapWei: 5000n } },
    transaction: aTransaction({ type: 2, maxFeePerGas: 5001n, maxPriorityFeePerGas: 1n }),
    answer: "-32000 Transaction fee cap exceeded",
  },
  "3 below the protocol's floor": {
    transaction: aTransaction({ gasPrice: 6n }),
    answer: "-32009 Gas price below configured minimum gas price",
  },
  "3 below the pool's floor, without local priority": {
    setting: { limits: { hasLocalPriority: false } },
    transaction: aTransaction({ gasPrice: 999n }),
    answer: "-32009 Gas price below configured minimum gas price",
  },
  "4 another chain": { transaction: aTransaction({ chainId: 7171n }), answer: "-32000 Wrong chainId" },
  "4 a chain id before EIP-155": {
    setting: { rules: { chainId: undefined } },
    transaction: aTransaction(),
    answer: "-32000 ChainId not supported",
  },
  "5 high s": {
    transaction: aTransaction({
      changeSignature: ({ r, s, yParity }) => ({ r, s: SECP256K1_ORDER - s, yParity: yParity === 0 ? 1 : 0 }),
    }),
    answer: "-32002 Invalid signature",
  },
  "5 an unrecoverable signature": {
    transaction: aTransaction({ changeSignature: ({ s, yParity }) => ({ r: 5n, s, yParity }) }),
    answer: "-32002 Invalid signature",
  },
  "6 a type of a later fork": {
    setting: { rules: { acceptedTypes: new Set([0, 1] as const) } },
    transaction: aTransaction({ type: 2 }),
    answer: "-32602 Invalid transaction type",
  },
  "6 a blob transaction without its blobs, also when the fork has the type": {
    setting: { rules: { acceptedTypes: new Set([0, 1, 2, 3] as const) } },
    transaction: aTransaction({ type: 3 }),
    answer: "-32602 Invalid params",
  },
  "6 a set-code transaction without authorizations": {
    setting: { rules: { acceptedTypes: new Set([0, 1, 2, 4] as const) } },
    transaction: aTransaction({ type: 4 }),
    answer: "-32602 Invalid transaction type",
  },
  "7 the highest nonce": {
    transaction: aTransaction({ nonce: 2n ** 64n - 1n }),
    answer: "-32000 Nonce overflow",
  },
  "7 too much init code": {
    setting: { rules: { initCodeLimit: 49_152 } },
    transaction: aTransaction({ to: undefined, data: new Uint8Array(49_153) }),
    answer: "-32000 Initcode too large",
  },
  "7 an upfront cost beyond 256 bits": {
    setting: { limits: { feeCapWei: 0n } },
    transaction: aTransaction({ gasPrice: 2n ** 255n }),
    answer: "-32000 Upfront cost overflow",
  },
  "8 a priority fee above the fee cap": {
    transaction: aTransaction({ type: 2, maxPriorityFeePerGas: 2001n, maxFeePerGas: 2000n }),
    answer: "-32000 Max priority fee per gas exceeds max fee per gas",
  },
  "9 too little gas": {
    transaction: aTransaction({ gasLimit: 20_999n }),
    answer: "-32003 Intrinsic gas exceeds gas limit",
  },
  "10 no chain id when one is required": {
    setting: { limits: { requiresReplayProtection: true } },
    transaction: aTransaction({ chainId: undefined }),
    answer: "-32000 ChainId is required",
  },
  "11 more gas than a block has": {
    transaction: aTransaction({ gasLimit: 30_000_001n }),
    answer: "-32005 Transaction gas limit exceeds block gas limit",
  },
  "12 no state at the head": {
    prepare: ({ head }) => {
      head.isStateAvailable = false;
    },
    transaction: aTransaction(),
    answer: "-32008 Initial sync is still in progress",
  },
  "13 not on the allowlist": {
    setting: { parts: { isSenderPermitted: () => false } },
    transaction: aTransaction(),
    answer: "-32007 Sender account not authorized to send transactions",
  },
  "14 too little balance": {
    prepare: ({ head }) => head.set(SENDER, { balanceWei: 1n }),
    transaction: aTransaction(),
    answer: "-32004 Upfront cost exceeds account balance",
  },
  "15 a used nonce": {
    prepare: ({ head }) => head.set(SENDER, { nonce: 1n }),
    transaction: aTransaction(),
    answer: "-32001 Nonce too low",
  },
  "15b a sender with code": {
    prepare: ({ head }) => head.set(SENDER, { isContract: true }),
    transaction: aTransaction(),
    answer: "-32007 Sender account not authorized to send transactions",
  },
  "16 a replacement that pays too little": {
    prepare: ({ pool }) => pool.add(aTransaction({ gasPrice: 2000n }), "local"),
    transaction: aTransaction({ gasPrice: 2199n }),
    answer: "-32000 Replacement transaction underpriced",
  },
  "17 too far ahead": {
    transaction: aTransaction({ nonce: 200n }),
    answer: "-32000 Transaction nonce is too distant from current sender nonce",
  },
};

describe("eth_sendRawTransaction refuses with Besu's code and text", () => {
  it.each(Object.entries(ROWS))("row %s", async (_, { setting, prepare, transaction, answer }) => {
    const testPool = aPool(setting);
    prepare?.(testPool);
    expect(await send(testPool, transaction.raw)).toBe(answer);
  });

  it("row 19: a transaction that the full pool would evict first, which Besu acknowledges", async () => {
    const testPool = aPool({ limits: { maxTransactions: 1 } });
    testPool.pool.add(aTransaction({ privateKey: account(1).privateKey, gasPrice: 5000n }), "local");
    const worse = aTransaction({ gasPrice: 4000n });
    expect(await send(testPool, worse.raw)).toBe(
      "-32005 The transaction pool is full. Try again later, or with a higher gas price.",
    );
    expect(testPool.pool.get(worse.hash)).toBeUndefined();
  });

  it.each([
    ["invalid RLP", Uint8Array.of(0x12, 0x34)],
    ["an unknown type", Uint8Array.of(0x05, 0xc0)],
    ["surplus bytes", concatBytes(aTransaction().raw, Uint8Array.of(0))],
    ["a missing end", aTransaction({ type: 2 }).raw.slice(0, -1)],
  ])("bytes that are not a transaction: %s", async (_, raw) => {
    expect(await send(aPool(), raw)).toBe("-32602 Invalid params");
  });

  it("but accepts each type of the fork", async () => {
    const prague = { rules: { acceptedTypes: new Set([0, 1, 2, 4] as const) } };
    for (const type of [0, 1, 2, 4] as const) {
      const transaction = aTransaction({ type, authorizationList: type === 4 ? [anAuthorization()] : [] });
      expect(await send(aPool(prague), transaction.raw)).toBe(`accepted ${toHex(transaction.hash)}`);
    }
  });
});

describe("a blob transaction with its blobs", () => {
  const cancun = { rules: { acceptedTypes: new Set([0, 1, 2, 3] as const) } };

  function withBlobs(transaction: SentTransaction): Uint8Array {
    const blob = new Uint8Array(131_072);
    const fields = RLP.decode(transaction.raw.subarray(1));
    const list = RLP.encode([fields, [blob], [new Uint8Array(48)], [new Uint8Array(48)]]);
    return concatBytes(Uint8Array.of(3), list);
  }

  it("is refused for its type, not for its encoding", async () => {
    expect(await send(aPool(cancun), withBlobs(aTransaction({ type: 3 })))).toBe(
      "-32602 Invalid transaction type",
    );
  });

  it("is refused for an error that comes before the type in the table", async () => {
    const raw = withBlobs(aTransaction({ type: 3, chainId: 1n }));
    expect(await send(aPool(cancun), raw)).toBe("-32000 Wrong chainId");
  });

  it("is refused as malformed when it has the encoding of later releases, or lacks a list", async () => {
    const fields = RLP.decode(aTransaction({ type: 3 }).raw.subarray(1));
    const [blob, short] = [new Uint8Array(131_072), new Uint8Array(48)];
    for (const list of [
      [fields, Uint8Array.of(1), [blob], [short], [short]],
      [fields, [blob], [short]],
      [fields],
    ]) {
      const raw = concatBytes(Uint8Array.of(3), RLP.encode(list as Uint8Array[]));
      expect(await send(aPool(cancun), raw)).toBe("-32602 Invalid params");
    }
  });

  it("is refused as malformed when it is truncated", async () => {
    const raw = withBlobs(aTransaction({ type: 3 })).slice(0, -1);
    expect(await send(aPool(cancun), raw)).toBe("-32602 Invalid params");
  });
});

describe("debug_batchSendRawTransaction", () => {
  it("answers the error of each transaction with Besu's texts", async () => {
    const withV31 =
      "0xf868808203e882520894627306090abab3a6e1400e9345bc60c78a8bef57872386f26fc10000801f" +
      "a0ac74ecfa0e9b85785f042c143ead4780931234cc9a032fce99fab1f45e0d90faa02fd17e8eb433d4ca47727653232045d4f81322619c0852d3fe8ddcfcedb66a43";
    const [good, bare] = [toHex(aTransaction().raw), toHex(aTransaction({ type: 3 }).raw)];
    const { result } = await ask(aPool(), "debug_batchSendRawTransaction", [
      withV31,
      good,
      bare,
      "0x1234",
      good,
    ]);
    expect(result).toEqual([
      { index: 0, success: false, errorMessage: "An unsupported encoded `v` value of 31 was found" },
      { index: 1, success: true },
      { index: 2, success: false, errorMessage: "Invalid RLP in raw transaction hex" },
      { index: 3, success: false, errorMessage: "Invalid raw transaction hex" },
      { index: 4, success: false, errorMessage: "TRANSACTION_ALREADY_KNOWN" },
    ]);
    const { error } = await ask(aPool(), "eth_sendRawTransaction", [withV31]);
    expect(error).toEqual(INVALID_PARAMS);
  });

  it("names the v of a transaction that was not signed", async () => {
    const fields = RLP.decode(aTransaction({ type: 0 }).raw) as Uint8Array[];
    const zero = new Uint8Array(0);
    const unsigned = toHex(RLP.encode([...fields.slice(0, 6), zero, zero, zero]));
    const { result } = await ask(aPool(), "debug_batchSendRawTransaction", [unsigned]);
    const errorMessage = "An unsupported encoded `v` value of 0 was found";
    expect(result).toEqual([{ index: 0, success: false, errorMessage }]);
  });
});
