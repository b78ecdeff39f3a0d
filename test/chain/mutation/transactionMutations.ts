import { concatBytes, toDigits } from "../../../src/primitives/hex.ts";
import { SECP256K1_ORDER } from "../../../src/primitives/secp256k1.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction, type TransactionFields } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import type { BlockFixture } from "./fixture.ts";
import type { ImportResult } from "./headerMutations.ts";

/** A change to one field of a transaction, signed again by its sender, in a resealed block with the matching root. */
export interface TransactionMutation {
  readonly name: string;
  /** Undefined where the transaction has no such field or value. */
  change(transaction: SentTransaction): Partial<TransactionFields> | undefined;
  /** Several where it depends on what the transaction does. */
  readonly expected: ImportResult | readonly ImportResult[];
}

type Field = Exclude<keyof TransactionFields, "privateKey" | "changeSignature"> | "signature";

const MAX_WORD = 2n ** 256n - 1n;
/** The execution has another effect, which shows in one of these first. */
const OTHER_EFFECT: readonly ImportResult[] = ["wrongGasUsed", "wrongReceiptsRoot", "wrongStateRoot"];

/** Mutations of every field that a transaction of any type can have; a field without an entry does not compile. */
export const TRANSACTION_MUTATIONS: Readonly<Record<Field, readonly TransactionMutation[]>> = {
  type: [
    {
      name: "set code with an empty list",
      change: ({ type, to }) =>
        type !== 4 && to !== undefined ? { type: 4, authorizationList: [] } : undefined,
      expected: "invalidTransaction",
    },
  ],
  chainId: [
    {
      name: "another chain's",
      change: ({ chainId }) => (chainId === undefined ? undefined : { chainId: chainId + 1n }),
      expected: "invalidTransaction",
    },
  ],
  nonce: [
    { name: "one more", change: ({ nonce }) => ({ nonce: nonce + 1n }), expected: "invalidTransaction" },
    {
      name: "one less",
      change: ({ nonce }) => (nonce > 0n ? { nonce: nonce - 1n } : undefined),
      expected: "invalidTransaction",
    },
    { name: "the largest", change: () => ({ nonce: 2n ** 64n - 1n }), expected: "invalidTransaction" },
  ],
  gasPrice: [
    {
      name: "one more",
      change: ({ gasPrice }) => (gasPrice === undefined ? undefined : { gasPrice: gasPrice + 1n }),
      expected: ["wrongReceiptsRoot", "wrongStateRoot"],
    },
    {
      name: "more than anyone has",
      change: ({ gasPrice }) => (gasPrice === undefined ? undefined : { gasPrice: MAX_WORD }),
      expected: "invalidTransaction",
    },
  ],
  maxPriorityFeePerGas: [
    {
      name: "one less",
      change: ({ maxPriorityFeePerGas: tip = 0n }) =>
        tip > 0n ? { maxPriorityFeePerGas: tip - 1n } : undefined,
      expected: "wrongStateRoot",
    },
    {
      name: "above the cap",
      change: ({ maxFeePerGas: cap }) => (cap === undefined ? undefined : { maxPriorityFeePerGas: cap + 1n }),
      expected: "invalidTransaction",
    },
  ],
  maxFeePerGas: [
    {
      name: "more than anyone has",
      change: ({ maxFeePerGas: cap }) => (cap === undefined ? undefined : { maxFeePerGas: MAX_WORD }),
      expected: "invalidTransaction",
    },
    {
      name: "one more, which is never paid",
      change: ({ maxFeePerGas: cap, maxPriorityFeePerGas: tip }) =>
        cap === undefined || cap === tip ? undefined : { maxFeePerGas: cap + 1n },
      expected: "accepted",
    },
  ],
  gasLimit: [
    { name: "too little to begin", change: () => ({ gasLimit: 20_999n }), expected: "invalidTransaction" },
    {
      name: "more than the block has",
      change: () => ({ gasLimit: 2n ** 63n }),
      expected: "invalidTransaction",
    },
    { name: "the largest", change: () => ({ gasLimit: 2n ** 64n - 1n }), expected: "invalidTransaction" },
  ],
  to: [
    {
      name: "another account",
      change: ({ to }) => (to === undefined ? undefined : { to: account(9).address }),
      expected: OTHER_EFFECT,
    },
    {
      name: "none, a creation",
      change: ({ to, type }) => (to && type < 3 ? { to: undefined } : undefined),
      expected: ["invalidTransaction", ...OTHER_EFFECT],
    },
  ],
  value: [
    { name: "one more", change: ({ value }) => ({ value: value + 1n }), expected: OTHER_EFFECT },
    { name: "more than anyone has", change: () => ({ value: MAX_WORD }), expected: "invalidTransaction" },
  ],
  data: [
    {
      name: "a byte more",
      change: ({ data }) => ({ data: concatBytes(data, Uint8Array.of(1)) }),
      expected: ["invalidTransaction", ...OTHER_EFFECT],
    },
  ],
  accessList: [
    {
      name: "an entry more",
      change: ({ type, accessList }) =>
        type === 0
          ? undefined
          : { accessList: [...accessList, { address: account(9).address, storageKeys: [] }] },
      expected: ["invalidTransaction", "wrongGasUsed"],
    },
  ],
  maxFeePerBlobGas: [
    {
      name: "none",
      change: ({ type }) => (type === 3 ? { maxFeePerBlobGas: 0n } : undefined),
      expected: ["invalidTransaction", "accepted"],
    },
  ],
  blobVersionedHashes: [
    {
      name: "none",
      change: ({ type }) => (type === 3 ? { blobVersionedHashes: [] } : undefined),
      expected: "invalidTransaction",
    },
    {
      name: "of another version",
      change: ({ type, blobVersionedHashes }) =>
        type === 3
          ? { blobVersionedHashes: blobVersionedHashes.map(() => new Uint8Array(32).fill(2) as never) }
          : undefined,
      expected: "invalidTransaction",
    },
  ],
  authorizationList: [
    {
      name: "none",
      change: ({ type }) => (type === 4 ? { authorizationList: [] } : undefined),
      expected: "invalidTransaction",
    },
    {
      name: "for another nonce",
      change: ({ type, authorizationList }) =>
        type === 4
          ? { authorizationList: authorizationList.map((each) => ({ ...each, nonce: each.nonce + 1n })) }
          : undefined,
      expected: OTHER_EFFECT,
    },
  ],
  signature: [
    {
      name: "its other form, with s in the upper half",
      change: () => ({
        changeSignature: ({ r, s, yParity }) => ({
          r,
          s: SECP256K1_ORDER - s,
          yParity: yParity === 0 ? 1 : 0,
        }),
      }),
      expected: "invalidTransaction",
    },
    {
      name: "the other parity, which is another sender's",
      change: () => ({
        changeSignature: (signature) => ({ ...signature, yParity: signature.yParity === 0 ? 1 : 0 }),
      }),
      expected: ["invalidTransaction", "unknownSender"],
    },
    {
      name: "r that is on no curve",
      change: () => ({ changeSignature: (signature) => ({ ...signature, r: 5n }) }),
      expected: "unknownSender",
    },
  ],
};

/** The transaction with changes, signed by its sender's key; undefined where the key is not known. */
export function resigned(
  { senderKeys }: Pick<BlockFixture, "senderKeys">,
  transaction: SentTransaction,
  changes: Partial<TransactionFields>,
): SentTransaction | undefined {
  const privateKey = senderKeys.get(toDigits(transaction.sender));
  if (privateKey === undefined) return undefined;
  const { type, chainId, nonce, gasLimit, to, value, data, accessList } = transaction;
  const { blobVersionedHashes, authorizationList, gasPrice, maxFeePerGas } = transaction;
  const { maxPriorityFeePerGas, maxFeePerBlobGas } = transaction;
  const fields = {
    ...{
      type,
      chainId,
      nonce,
      gasLimit,
      to,
      value,
      data,
      accessList,
      blobVersionedHashes,
      authorizationList,
    },
    ...(gasPrice !== undefined && { gasPrice }),
    ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas }),
    ...(maxFeePerGas !== undefined && { maxFeePerGas }),
    ...(maxFeePerBlobGas !== undefined && { maxFeePerBlobGas }),
  };
  return aTransaction({ ...fields, ...changes, privateKey });
}

/** Changes to the list of transactions as a whole. */
export const LIST_MUTATIONS: readonly {
  readonly name: string;
  change(transactions: readonly SentTransaction[]): readonly SentTransaction[] | undefined;
  readonly expected: readonly ImportResult[];
}[] = [
  { name: "all left out", change: () => [], expected: ["wrongGasUsed"] },
  {
    name: "the first left out",
    change: (all) => all.slice(1),
    expected: ["invalidTransaction", "wrongGasUsed"],
  },
  { name: "the last left out", change: (all) => all.slice(0, -1), expected: ["wrongGasUsed"] },
  {
    name: "the first twice",
    change: (all) => [...all.slice(0, 1), ...all],
    expected: ["invalidTransaction"],
  },
  { name: "the last twice", change: (all) => [...all, ...all.slice(-1)], expected: ["invalidTransaction"] },
  {
    name: "in reverse order",
    change: (all) => (all.length > 1 ? [...all].reverse() : undefined),
    expected: ["invalidTransaction", "wrongReceiptsRoot"],
  },
  {
    name: "another sender's added",
    change: (all) => [
      ...all,
      aTransaction({ chainId: undefined, privateKey: account(3).privateKey, nonce: 77n }),
    ],
    expected: ["invalidTransaction"],
  },
];
