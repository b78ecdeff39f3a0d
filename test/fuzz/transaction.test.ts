import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { RLP } from "@ethereumjs/rlp";
import { createTxFromRLP } from "@ethereumjs/tx";
import { bytesToHex } from "@ethereumjs/util";
import fc from "fast-check";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { type Hash, keccak256 } from "../../src/primitives/hash.ts";
import { concatBytes, EMPTY_BYTES, equalBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../../src/primitives/quantity.ts";
import type { RlpItem } from "../../src/primitives/rlp.ts";
import { recoverPublicKey, SECP256K1_ORDER } from "../../src/primitives/secp256k1.ts";
import { decodeBody, encodeBody } from "../../src/types/block.ts";
import { type Authorization, decodeTransaction, type Transaction } from "../../src/types/transaction.ts";
import { withRecoveredSender } from "../../src/types/transactionSignature.ts";
import { anAuthorization, aTransaction, type TransactionFields } from "../builders/aTransaction.ts";
import { readVectorJson, vectorsDirectory } from "../vectors.ts";
import { ACCEPTED, fuzz } from "./fuzzing.ts";
import { mutatedRlp } from "./mutatedInputs.ts";

/**
 * Transactions of every type: decoded ones encode to the same bytes and hash, alone and in a body, and have the sender
 * that the library recovers. Where the library disagrees about accepting one, the reason must be a known one.
 */
fuzz({
  name: "transactions",
  inputs: () =>
    fc.oneof(
      { weight: 3, arbitrary: mutatedTyped(soundTransaction()) },
      { weight: 1, arbitrary: mutatedTyped(recordedTransaction()) },
      { weight: 1, arbitrary: soundTransaction() },
    ),
  dailyInputs: 800,
  spread: { outcomes: 12, accepted: [0.1, 0.7] },
  validate(bytes) {
    const decoded = decodeTransaction(bytes);
    const theirs = byLibrary(bytes, decoded.ok ? decoded.value.chainId : undefined);
    if (!decoded.ok) {
      const { message } = decoded.error;
      if (theirs.ok && !OURS_ALONE.some((reason) => reason.test(message)))
        throw new Error(`the library accepts it, we say: ${message}`);
      return `refused${theirs.ok ? " by us alone" : ""}: ${message.replace(/0x\w+|\d+/g, "n")}`;
    }
    expectFaithful(decoded.value, bytes);
    if (theirs.ok) {
      expectSameAs(decoded.value, theirs);
      return ACCEPTED;
    }
    const known = THEIRS_ALONE.find((reason) => reason.test(theirs.reason));
    if (known === undefined) throw new Error(`we accept it, the library says: ${theirs.reason}`);
    return `refused by the library alone: ${known.source}`;
  },
});

/** Invalid or unsigned transactions that the library accepts. */
const OURS_ALONE: readonly RegExp[] = [
  // The library ignores r and s until a sender is requested; without v, r and s a transaction counts as unsigned.
  /does not lie between 1 and the order of the curve/,
  /unsupported encoded `v`/,
  // The library compares the chain id as a number, with any leading zeros.
  /field 0 has leading zeros/,
  // The library accepts an empty string as an empty list.
  /must be a list/,
];

/**
 * Rules that the library checks while decoding and this node in execution (checkTransaction.ts), and the library's own
 * limits.
 */
const THEIRS_ALONE: readonly RegExp[] = [
  /chain ?id/i,
  /cannot exceed MAX_INTEGER/,
  /MAX_UINT64/,
  /cannot be less than maxPriorityFeePerGas/,
  /initcode size/,
  /s-values greater than/,
  /at least one blob/,
  /KZG commitment version/,
  // Its error message for a version such as 0xa0 fails itself: parseInt returns NaN.
  /NaN cannot be converted/,
  /total blob gas/,
  /authorization list/i,
  /either v = 27\/28 or v >= 37/,
];

const CHAIN_ID = 1337n;

/** The library validates transactions of one chain: that of the transaction, if it is among these. */
const LIBRARY_CHAINS: ReadonlyMap<bigint, Common> = new Map(
  [1n, CHAIN_ID, 7171n, 7772n].map((chainId) => [
    chainId,
    new Common({
      chain: { ...Mainnet, chainId: Number(chainId) },
      hardfork: Hardfork.Prague,
      customCrypto: {
        keccak256,
        ecrecover: recoverNatively,
        // Unused: no transaction here has its blobs.
        kzg: {} as never,
      },
    }),
  ]),
);

/** Twenty times as fast as the library's own, with which test/primitives/secp256k1.test.ts compares it. */
function recoverNatively(
  digest: Uint8Array,
  v: bigint,
  r: Uint8Array,
  s: Uint8Array,
  chainId?: bigint,
): Uint8Array {
  const parity = v < 2n ? v : chainId === undefined ? v - 27n : v - (chainId * 2n + 35n);
  if (parity !== 0n && parity !== 1n) throw new Error("no parity");
  const signature = { r: bytesToBigint(r), s: bytesToBigint(s), yParity: parity === 1n ? 1 : 0 } as const;
  const key = recoverPublicKey(digest, signature);
  if (key === undefined) throw new Error("no key");
  return key;
}

type LibraryResult =
  | { readonly ok: true; readonly hash: string; readonly sender: string | undefined }
  | { readonly ok: false; readonly reason: string };

function byLibrary(bytes: Uint8Array, chainId: bigint | undefined): LibraryResult {
  const common = LIBRARY_CHAINS.get(chainId ?? CHAIN_ID) ?? LIBRARY_CHAINS.get(CHAIN_ID);
  try {
    const transaction = createTxFromRLP(bytes, { freeze: false, ...(common && { common }) });
    return { ok: true, hash: hashOf(transaction), sender: senderOf(transaction) };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }

  function hashOf(transaction: ReturnType<typeof createTxFromRLP>): string {
    return transaction.isSigned() ? bytesToHex(transaction.hash()) : "unsigned";
  }

  function senderOf(transaction: ReturnType<typeof createTxFromRLP>): string | undefined {
    try {
      return transaction.getSenderAddress().toString();
    } catch {
      return undefined;
    }
  }
}

function expectSameAs(ours: Transaction, theirs: LibraryResult & { readonly ok: true }): void {
  if (toHex(ours.hash) !== theirs.hash) throw new Error(`the library's hash is ${theirs.hash}`);
  const sender = withRecoveredSender(ours)?.sender;
  const isHigh = ours.s > SECP256K1_ORDER / 2n;
  if (isHigh ? theirs.sender !== undefined : (sender && toHex(sender)) !== theirs.sender)
    throw new Error(`the library's sender is ${theirs.sender}, ours ${sender && toHex(sender)}`);
}

/** Encoded from its fields by the library's RLP, and as part of a block body. */
function expectFaithful(transaction: Transaction, bytes: Uint8Array): void {
  const again = RLP.encode(itemsOf(transaction) as Uint8Array[]);
  const whole = transaction.type === 0 ? again : concatBytes(Uint8Array.of(transaction.type), again);
  if (!equalBytes(whole, bytes)) throw new Error(`encoded otherwise than decoded: ${toHex(whole)}`);
  if (!equalBytes(keccak256(bytes), transaction.hash)) throw new Error("another hash");
  const body = decodeBody(encodeBody({ transactions: [transaction], ommers: [] }));
  const [inBody] = body.ok ? body.value.transactions : [];
  if (inBody === undefined || !equalBytes(inBody.hash, transaction.hash))
    throw new Error("another in a body");
}

function itemsOf(transaction: Transaction): RlpItem[] {
  const { type, accessList, authorizationList, blobVersionedHashes } = transaction;
  const numbers = (...values: readonly (bigint | undefined)[]): Uint8Array[] =>
    values.filter((value) => value !== undefined).map(bigintToBytes);
  const { chainId, nonce, gasPrice, maxPriorityFeePerGas, maxFeePerGas, gasLimit, value } = transaction;
  return [
    ...numbers(
      type === 0 ? undefined : chainId,
      nonce,
      gasPrice,
      maxPriorityFeePerGas,
      maxFeePerGas,
      gasLimit,
    ),
    transaction.to ?? EMPTY_BYTES,
    ...numbers(value),
    transaction.data,
    ...(type === 0 ? [] : [accessList.map(({ address, storageKeys }) => [address, [...storageKeys]])]),
    ...numbers(transaction.maxFeePerBlobGas),
    ...(type === 3 ? [[...blobVersionedHashes]] : []),
    ...(type === 4 ? [authorizationList.map(authorizationItems)] : []),
    ...numbers(transaction.v, transaction.r, transaction.s),
  ];
}

function authorizationItems({ chainId, address, nonce, yParity, r, s }: Authorization): RlpItem[] {
  return [bigintToBytes(chainId), address, ...[nonce, yParity, r, s].map(bigintToBytes)];
}

/** Changes inside the RLP after the type byte, and sometimes of that byte. */
function mutatedTyped(base: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const types = fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, fc.nat(255));
  return fc.tuple(base, types).chain(([bytes, otherType]) => {
    const isTyped = (bytes[0] ?? 0) < 0x80;
    const [lead, list] = isTyped ? [bytes.subarray(0, 1), bytes.subarray(1)] : [EMPTY_BYTES, bytes];
    const type = otherType === undefined ? lead : Uint8Array.of(otherType);
    return mutatedRlp(fc.constant(list), () => undefined).map((mutated) => concatBytes(type, mutated));
  });
}

function recordedTransaction(): fc.Arbitrary<Uint8Array> {
  if (vectorsDirectory === undefined) return soundTransaction();
  const raw = ["net1", "net2"].flatMap((network) =>
    readVectorJson<{ txs: { raw?: string; rawTransaction?: string }[] }>(
      "besu-ibft",
      network,
      "scenario.json",
    ).txs.flatMap((transaction) => transaction.raw ?? transaction.rawTransaction ?? []),
  );
  return fc.constantFrom(...raw.map(hexToBytes));
}

function soundTransaction(): fc.Arbitrary<Uint8Array> {
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(asAddress);
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytes as Hash);
  const number = (bits: number): fc.Arbitrary<bigint> =>
    fc.oneof(
      { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 100_000n }) },
      { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }) },
      { weight: 1, arbitrary: fc.constantFrom(0n, 0x7fn, 0x80n, 0xffn, 0x100n, 2n ** BigInt(bits) - 1n) },
    );
  const accessList = fc.array(fc.record({ address, storageKeys: fc.array(hash, { maxLength: 3 }) }), {
    maxLength: 3,
  });
  const authorization = fc
    .record({ chainId: number(64), address, nonce: number(63) })
    .map((fields) => anAuthorization(fields));
  const fields = fc.record<Partial<TransactionFields>>({
    type: fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const, 4 as const),
    nonce: number(64),
    gasPrice: number(128),
    maxPriorityFeePerGas: fc.constantFrom(0n, 1n, 1_000_000_000n),
    maxFeePerGas: number(160).map((value) => value + 1_000_000_000n),
    gasLimit: number(64),
    value: number(256),
    data: fc.oneof(fc.uint8Array({ maxLength: 80 }), fc.uint8Array({ maxLength: 600 })),
    accessList,
    maxFeePerBlobGas: number(128),
    blobVersionedHashes: fc.array(hash.map(withVersion), { maxLength: 4 }),
    authorizationList: fc.array(authorization, { maxLength: 2 }),
  });
  const chainId = fc.constantFrom(
    undefined,
    CHAIN_ID,
    CHAIN_ID,
    CHAIN_ID,
    CHAIN_ID,
    1n,
    2n ** 64n,
    2n ** 254n,
  );
  return fc.tuple(fields, chainId, fc.option(address, { freq: 6 })).map(([some, id, to]) => {
    const type = some.type ?? 0;
    const recipient: Address | undefined = to ?? (type >= 3 ? asAddress(new Uint8Array(20)) : undefined);
    return aTransaction({ ...some, chainId: type === 0 ? id : (id ?? CHAIN_ID), to: recipient }).raw;
  });
}

function withVersion(hash: Hash): Hash {
  return concatBytes(Uint8Array.of(1), hash.subarray(1)) as Hash;
}
