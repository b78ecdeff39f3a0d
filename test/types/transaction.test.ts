import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { parseTransaction, type Hex as ViemHex, keccak256 as viemKeccak } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { asAddress } from "../../src/primitives/address.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { concatBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { encodeRlpList, readRlpList } from "../../src/primitives/rlp.ts";
import { SECP256K1_ORDER } from "../../src/primitives/secp256k1.ts";
import { decodeBody, encodeBody } from "../../src/types/block.ts";
import {
  decodeTransaction,
  effectiveGasPrice,
  effectivePriorityFee,
  feeCap,
  type Transaction,
  type TransactionType,
  withSender,
} from "../../src/types/transaction.ts";
import { withRecoveredSender } from "../../src/types/transactionSignature.ts";
import { anAuthorization, aTransaction, type TransactionFields } from "../builders/aTransaction.ts";
import { countedBytes } from "../builders/countedBytes.ts";
import { nestedLists } from "../builders/nestedLists.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";
import { casesOf } from "../thorough.ts";

function decoded(bytes: Uint8Array): Transaction {
  const outcome = decodeTransaction(bytes);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

const uint = (bits: number): fc.Arbitrary<bigint> =>
  fc.oneof(
    fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n),
    fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }),
  );
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(asAddress);
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(asHash);
const versionedHash = hash.map((bytes) => asHash(concatBytes(Uint8Array.of(1), bytes.subarray(1))));
const type = fc.constantFrom<TransactionType>(0, 1, 2, 3, 4);
/** Chain ids and nonces stay within what viem reads as numbers. */
const anyFields: fc.Arbitrary<TransactionFields> = fc
  .record({
    type,
    isProtected: fc.boolean(),
    id: uint(52).map((value) => value + 1n),
    nonce: uint(53),
    gasPrice: uint(128),
    maxPriorityFeePerGas: uint(100),
    headroom: uint(100),
    gasLimit: uint(63),
    isCreation: fc.boolean(),
    recipient: address,
    value: uint(256),
    data: fc.uint8Array({ maxLength: 300, size: "max" }),
    accessList: fc.array(fc.record({ address, storageKeys: fc.array(hash, { maxLength: 3 }) }), {
      maxLength: 3,
    }),
    maxFeePerBlobGas: uint(100),
    blobVersionedHashes: fc.array(versionedHash, { minLength: 1, maxLength: 3 }),
    authorizations: fc.array(fc.record({ chainId: uint(53), address, nonce: uint(53) }), {
      minLength: 1,
      maxLength: 3,
    }),
    seed: fc.nat({ max: 1000 }),
  })
  .map(({ isProtected, id, headroom, isCreation, recipient, authorizations, seed, ...fields }) => ({
    ...fields,
    chainId: fields.type === 0 && !isProtected ? undefined : id,
    maxFeePerGas: fields.maxPriorityFeePerGas + headroom,
    to: isCreation && fields.type < 3 ? undefined : recipient,
    authorizationList: authorizations.map((one) => anAuthorization(one)),
    privateKey: accountFromSeed(seed).privateKey,
    changeSignature: (signature) => signature,
  }));

/** What viem decodes from the same bytes, as our type; absent fields are zero or empty. */
function readByViem(raw: Uint8Array): Record<string, unknown> {
  const parsed = parseTransaction(toHex(raw) as ViemHex) as Record<string, unknown>;
  const list = (parsed["accessList"] ?? []) as { address: string; storageKeys: string[] }[];
  return {
    chainId: parsed["chainId"],
    nonce: parsed["nonce"] ?? 0,
    value: parsed["value"] ?? 0n,
    gasLimit: parsed["gas"] ?? 0n,
    to: (parsed["to"] as string | undefined)?.toLowerCase(),
    data: parsed["data"] ?? "0x",
    gasPrice: parsed["gasPrice"],
    maxFeePerGas: parsed["maxFeePerGas"],
    maxPriorityFeePerGas: parsed["maxPriorityFeePerGas"],
    accessList: list.map((entry) => ({ ...entry, address: entry.address.toLowerCase() })),
    blobVersionedHashes: parsed["blobVersionedHashes"] ?? [],
  };
}

function inTheSameWords(transaction: Transaction): Record<string, unknown> {
  const { type, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  // viem omits a price of zero.
  const unlessZero = (price: bigint | undefined): bigint | undefined => (price === 0n ? undefined : price);
  return {
    chainId: transaction.chainId === undefined ? undefined : Number(transaction.chainId),
    nonce: Number(transaction.nonce),
    value: transaction.value,
    gasLimit: transaction.gasLimit,
    to: transaction.to && toHex(transaction.to),
    data: toHex(transaction.data),
    gasPrice: type < 2 ? unlessZero(gasPrice) : undefined,
    maxFeePerGas: type < 2 ? undefined : unlessZero(maxFeePerGas),
    maxPriorityFeePerGas: type < 2 ? undefined : unlessZero(maxPriorityFeePerGas),
    accessList: transaction.accessList.map((entry) => ({
      address: toHex(entry.address),
      storageKeys: entry.storageKeys.map(toHex),
    })),
    blobVersionedHashes: transaction.blobVersionedHashes.map(toHex),
  };
}

const DEEP = nestedLists(100_000);

describe("decoding a transaction", () => {
  it("agrees with viem on fields and hash, for any fields of any type", () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const { raw, sender } = aTransaction(fields);
        const transaction = decoded(raw);
        expect(inTheSameWords(transaction)).toEqual(readByViem(raw));
        expect(toHex(transaction.hash)).toBe(viemKeccak(raw));
        expect(toHex(withRecoveredSender(transaction)?.sender ?? new Uint8Array())).toBe(toHex(sender));
        expect(transaction.raw).toBe(raw);
      }),
      { numRuns: casesOf(300) },
    );
  });

  it("reads the authorizations of a set-code transaction", () => {
    const authorizationList = [anAuthorization({ chainId: 0n }), anAuthorization({ nonce: 2n ** 64n - 1n })];
    expect(decoded(aTransaction({ type: 4, authorizationList }).raw).authorizationList).toEqual(
      authorizationList,
    );
  });

  it("keeps the widest nonce, chain id and amounts", () => {
    const widest = {
      nonce: 2n ** 64n - 1n,
      chainId: 2n ** 254n,
      gasLimit: 2n ** 64n - 1n,
      value: 2n ** 256n - 1n,
    };
    for (const type of [0, 2] as const)
      expect(decoded(aTransaction({ type, ...widest }).raw)).toMatchObject(widest);
  });

  it("recovers the sender of transactions that viem signed", async () => {
    const account = privateKeyToAccount(toHex(accountFromSeed(7).privateKey));
    const shared = { chainId: 1337, nonce: 3, gas: 21_000n, to: account.address, value: 5n } as const;
    const signed = await Promise.all([
      account.signTransaction({ ...shared, type: "legacy", gasPrice: 9n }),
      account.signTransaction({ ...shared, type: "eip2930", gasPrice: 9n, accessList: [] }),
      account.signTransaction({ ...shared, type: "eip1559", maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }),
    ]);
    for (const text of signed) {
      const sender = withRecoveredSender(decoded(hexToBytes(text)))?.sender ?? new Uint8Array();
      expect(toHex(sender)).toBe(account.address.toLowerCase());
    }
  });

  it("encodes into a block body and decodes from it unchanged", () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const { raw } = aTransaction(fields);
        const body = decodeBody(encodeBody({ transactions: [decoded(raw)], ommers: [] }));
        expect(body.ok && body.value.transactions.map((transaction) => toHex(transaction.raw))).toEqual([
          toHex(raw),
        ]);
      }),
      { numRuns: 50 },
    );
  });
});

describe("decoding malformed bytes", () => {
  it("refuses truncated, extended and mutated bytes, or decodes exactly what they encode", () => {
    const damage = fc.oneof(
      fc.record({ cut: fc.nat({ max: 400 }) }),
      fc.record({ extra: fc.uint8Array({ minLength: 1, maxLength: 5 }) }),
      fc.record({ at: fc.nat({ max: 400 }), byte: fc.nat({ max: 255 }) }),
    );
    fc.assert(
      fc.property(anyFields, damage, (fields, how) => {
        const { raw } = aTransaction(fields);
        if ("cut" in how) {
          expect(decodeTransaction(raw.subarray(0, how.cut % raw.length)).ok).toBe(false);
        } else if ("extra" in how) {
          expect(decodeTransaction(concatBytes(raw, how.extra)).ok).toBe(false);
        } else {
          const mutated = Uint8Array.from(raw);
          mutated[how.at % raw.length] = how.byte;
          const outcome = decodeTransaction(mutated);
          if (outcome.ok) expect(toHex(encodeAgain(outcome.value))).toBe(toHex(mutated));
          else expect(outcome.error.fault).toBe("peer");
        }
      }),
      { numRuns: casesOf(1000) },
    );
  });

  it("refuses lists nested without end, in any field and of any type, and reads hardly any of them", () => {
    for (const type of [0, 1, 2, 3, 4] as const) {
      const { raw } = aTransaction({ type });
      const fields = readRlpList(type === 0 ? raw : raw.subarray(1)).map(({ start, until }) =>
        raw.subarray(type === 0 ? start : start + 1, type === 0 ? until : until + 1),
      );
      for (const index of fields.keys()) {
        const spoilt = encodeRlpList(fields.with(index, DEEP));
        const counted = countedBytes(type === 0 ? spoilt : concatBytes(Uint8Array.of(type), spoilt));
        expect(decodeTransaction(counted.bytes)).toMatchObject({
          ok: false,
          error: { code: "malformedTransaction" },
        });
        expect(counted.reads).toBeLessThan(1000);
      }
    }
  });

  it("refuses any bytes at all without throwing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120, size: "max" }), (bytes) => {
        expect(decodeTransaction(bytes).ok).toBe(false);
      }),
      { numRuns: casesOf(2000) },
    );
  });

  it.each([
    ["nothing", "", "malformedTransaction"],
    ["type 0 written out", `00${"c0"}`, "unknownTransactionType"],
    ["type 5", "05c0", "unknownTransactionType"],
    ["type 0x7f", "7fc0", "unknownTransactionType"],
    ["a string", "83010203", "malformedTransaction"],
    ["an empty list", "c0", "malformedTransaction"],
    ["a typed empty list", "02c0", "malformedTransaction"],
  ])("distinguishes an unknown type from a malformed transaction: %s", (_, text, code) => {
    const outcome = decodeTransaction(hexToBytes(text));
    expect(outcome.ok || outcome.error.code).toBe(code);
  });

  it.each([
    ["r of zero", { r: 0n }],
    ["s of zero", { s: 0n }],
    ["r at the order", { r: SECP256K1_ORDER }],
    ["s at the order", { s: SECP256K1_ORDER }],
  ])("refuses a signature with %s", (_, part) => {
    for (const type of [0, 2] as const) {
      const sign = (): unknown =>
        aTransaction({ type, changeSignature: (signature) => ({ ...signature, ...part }) });
      expect(sign).toThrow(/order of the curve/);
    }
  });

  it.each([0n, 1n, 26n, 29n, 34n])("refuses a legacy v of %s", (v) => {
    const items = RLP.decode(aTransaction().raw) as Uint8Array[];
    items[6] = v === 0n ? new Uint8Array() : Uint8Array.of(Number(v));
    expect(decodeTransaction(RLP.encode(items)).ok).toBe(false);
  });
});

describe("prices", () => {
  const legacy = aTransaction({ gasPrice: 50n });
  const capped = aTransaction({ type: 2, maxFeePerGas: 50n, maxPriorityFeePerGas: 10n });

  it.each([
    ["a gas price", legacy, 30n, 50n, 20n],
    ["a gas price before London", legacy, undefined, 50n, 50n],
    ["a gas price below the base fee", legacy, 60n, 50n, -10n],
    ["a tip within the cap", capped, 30n, 40n, 10n],
    ["a tip that the cap cuts", capped, 45n, 50n, 5n],
    ["a cap below the base fee", capped, 60n, 50n, -10n],
  ])("of %s", (_, transaction, baseFeePerGas, price, tip) => {
    expect(effectiveGasPrice(transaction, baseFeePerGas)).toBe(price);
    expect(effectivePriorityFee(transaction, baseFeePerGas)).toBe(tip);
    expect(feeCap(transaction)).toBe(50n);
  });
});

describe("the signature", () => {
  it.each([0, 2] as const)("of type %s has a low s up to the middle of the curve's order", (type) => {
    const withS = (s: bigint) =>
      aTransaction({ type, changeSignature: (signature) => ({ ...signature, s }) });
    for (const s of [1n, 2n ** 248n, SECP256K1_ORDER / 2n])
      expect(withS(s)).toMatchObject({ s, hasLowS: true });
    for (const s of [SECP256K1_ORDER / 2n + 1n, SECP256K1_ORDER - 1n])
      expect(withS(s)).toMatchObject({ s, hasLowS: false });
  });
});

describe("withSender", () => {
  it("keeps a decoded transaction and its first sender, and copies it for another sender", () => {
    const { raw, sender } = aTransaction({ type: 2 });
    const transaction = decoded(raw);
    const sent = withSender(transaction, sender);
    expect(sent).toBe(transaction);
    const { v, r, s } = sent;
    const other = accountFromSeed(3).address;
    expect(withSender(transaction, other)).toMatchObject({ sender: other, v, r, s });
    expect(sent.sender).toEqual(sender);
  });
});

/** The canonical encoding, produced from the decoded fields. */
function encodeAgain(transaction: Transaction): Uint8Array {
  const { v, r, s, yParity, chainId } = transaction;
  if (transaction.type === 0 && v > 28n && (v - 35n) / 2n !== chainId)
    throw new Error("v does not fit its chain id");
  const { gasPrice = 0n, maxPriorityFeePerGas = 0n, maxFeePerGas = 0n, maxFeePerBlobGas = 0n } = transaction;
  const prices = { gasPrice, maxPriorityFeePerGas, maxFeePerGas, maxFeePerBlobGas };
  const fields: Partial<TransactionFields> = { ...transaction, ...prices, chainId, to: transaction.to };
  return aTransaction({ ...fields, changeSignature: () => ({ r, s, yParity }) }).raw;
}
