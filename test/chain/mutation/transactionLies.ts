import { concatBytes, toDigits } from "../../../src/primitives/hex.ts";
import { SECP256K1_ORDER } from "../../../src/primitives/secp256k1.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction, type TransactionFields } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import type { Ground } from "./ground.ts";
import type { Verdict } from "./lies.ts";

/** A change to one field of a transaction, signed anew by its sender, in a block sealed anew under the right root. */
export interface TransactionLie {
  readonly says: string;
  /** Undefined where the transaction has no such field or value. */
  change(transaction: SentTransaction): Partial<TransactionFields> | undefined;
  /** Several where it depends on what the transaction does. */
  readonly verdict: Verdict | readonly Verdict[];
}

type Field = Exclude<keyof TransactionFields, "privateKey" | "changeSignature"> | "signature";

const MAX_WORD = 2n ** 256n - 1n;
/** The effect is another one, wherever it shows first. */
const ELSEWHERE: readonly Verdict[] = ["wrongGasUsed", "wrongReceiptsRoot", "wrongStateRoot"];

/** Lies about every field that a transaction of any type can have; a field without an entry does not compile. */
export const TRANSACTION_LIES: Readonly<Record<Field, readonly TransactionLie[]>> = {
  type: [
    {
      says: "unknown before Prague, or another where it is known",
      change: ({ type, to }) =>
        type !== 4 && to !== undefined ? { type: 4, authorizationList: [] } : undefined,
      verdict: "invalidTransaction",
    },
  ],
  chainId: [
    {
      says: "another chain's",
      change: ({ chainId }) => (chainId === undefined ? undefined : { chainId: chainId + 1n }),
      verdict: "invalidTransaction",
    },
  ],
  nonce: [
    { says: "one more", change: ({ nonce }) => ({ nonce: nonce + 1n }), verdict: "invalidTransaction" },
    {
      says: "one less",
      change: ({ nonce }) => (nonce > 0n ? { nonce: nonce - 1n } : undefined),
      verdict: "invalidTransaction",
    },
    { says: "the largest", change: () => ({ nonce: 2n ** 64n - 1n }), verdict: "invalidTransaction" },
  ],
  gasPrice: [
    {
      says: "one more",
      change: ({ gasPrice }) => (gasPrice === undefined ? undefined : { gasPrice: gasPrice + 1n }),
      verdict: ["wrongReceiptsRoot", "wrongStateRoot"],
    },
    {
      says: "more than anyone has",
      change: ({ gasPrice }) => (gasPrice === undefined ? undefined : { gasPrice: MAX_WORD }),
      verdict: "invalidTransaction",
    },
  ],
  maxPriorityFeePerGas: [
    {
      says: "one less",
      change: ({ maxPriorityFeePerGas: tip = 0n }) =>
        tip > 0n ? { maxPriorityFeePerGas: tip - 1n } : undefined,
      verdict: "wrongStateRoot",
    },
    {
      says: "above the cap",
      change: ({ maxFeePerGas: cap }) => (cap === undefined ? undefined : { maxPriorityFeePerGas: cap + 1n }),
      verdict: "invalidTransaction",
    },
  ],
  maxFeePerGas: [
    {
      says: "more than anyone has",
      change: ({ maxFeePerGas: cap }) => (cap === undefined ? undefined : { maxFeePerGas: MAX_WORD }),
      verdict: "invalidTransaction",
    },
    {
      says: "one more, which is never paid",
      change: ({ maxFeePerGas: cap, maxPriorityFeePerGas: tip }) =>
        cap === undefined || cap === tip ? undefined : { maxFeePerGas: cap + 1n },
      verdict: "free",
    },
  ],
  gasLimit: [
    { says: "too little to begin", change: () => ({ gasLimit: 20_999n }), verdict: "invalidTransaction" },
    {
      says: "more than the block has",
      change: () => ({ gasLimit: 2n ** 63n }),
      verdict: "invalidTransaction",
    },
    { says: "the largest", change: () => ({ gasLimit: 2n ** 64n - 1n }), verdict: "invalidTransaction" },
  ],
  to: [
    {
      says: "somebody else",
      change: ({ to }) => (to === undefined ? undefined : { to: account(9).address }),
      verdict: ELSEWHERE,
    },
    {
      says: "nobody, a creation",
      change: ({ to, type }) => (to && type < 3 ? { to: undefined } : undefined),
      verdict: ["invalidTransaction", ...ELSEWHERE],
    },
  ],
  value: [
    { says: "one more", change: ({ value }) => ({ value: value + 1n }), verdict: ELSEWHERE },
    { says: "more than anyone has", change: () => ({ value: MAX_WORD }), verdict: "invalidTransaction" },
  ],
  data: [
    {
      says: "a byte more",
      change: ({ data }) => ({ data: concatBytes(data, Uint8Array.of(1)) }),
      verdict: ["invalidTransaction", ...ELSEWHERE],
    },
  ],
  accessList: [
    {
      says: "an entry more",
      change: ({ type, accessList }) =>
        type === 0
          ? undefined
          : { accessList: [...accessList, { address: account(9).address, storageKeys: [] }] },
      verdict: ["invalidTransaction", "wrongGasUsed"],
    },
  ],
  maxFeePerBlobGas: [
    {
      says: "none",
      change: ({ type }) => (type === 3 ? { maxFeePerBlobGas: 0n } : undefined),
      verdict: ["invalidTransaction", "free"],
    },
  ],
  blobVersionedHashes: [
    {
      says: "none",
      change: ({ type }) => (type === 3 ? { blobVersionedHashes: [] } : undefined),
      verdict: "invalidTransaction",
    },
    {
      says: "of another version",
      change: ({ type, blobVersionedHashes }) =>
        type === 3
          ? { blobVersionedHashes: blobVersionedHashes.map(() => new Uint8Array(32).fill(2) as never) }
          : undefined,
      verdict: "invalidTransaction",
    },
  ],
  authorizationList: [
    {
      says: "none",
      change: ({ type }) => (type === 4 ? { authorizationList: [] } : undefined),
      verdict: "invalidTransaction",
    },
    {
      says: "for another nonce",
      change: ({ type, authorizationList }) =>
        type === 4
          ? { authorizationList: authorizationList.map((each) => ({ ...each, nonce: each.nonce + 1n })) }
          : undefined,
      verdict: ELSEWHERE,
    },
  ],
  signature: [
    {
      says: "its other form, with s in the upper half",
      change: () => ({
        changeSignature: ({ r, s, yParity }) => ({
          r,
          s: SECP256K1_ORDER - s,
          yParity: yParity === 0 ? 1 : 0,
        }),
      }),
      verdict: "invalidTransaction",
    },
    {
      says: "the other parity, which is another sender's",
      change: () => ({
        changeSignature: (signature) => ({ ...signature, yParity: signature.yParity === 0 ? 1 : 0 }),
      }),
      verdict: ["invalidTransaction", "unknownSender"],
    },
    {
      says: "r that is on no curve",
      change: () => ({ changeSignature: (signature) => ({ ...signature, r: 5n }) }),
      verdict: "unknownSender",
    },
  ],
};

/** The transaction with changes, signed by its sender's key; undefined where the key is not known. */
export function signedAnew(
  { senderKeys }: Pick<Ground, "senderKeys">,
  transaction: SentTransaction,
  changes: Partial<TransactionFields>,
): SentTransaction | undefined {
  const privateKey = senderKeys.get(toDigits(transaction.sender));
  if (privateKey === undefined) return undefined;
  const {
    v: _v,
    r: _r,
    s: _s,
    yParity: _y,
    raw: _raw,
    hash: _hash,
    sender: _sender,
    ...fields
  } = transaction;
  return aTransaction({ chainId: undefined, to: undefined, ...fields, ...changes, privateKey });
}

/** Changes to the list of transactions as a whole. */
export const LIST_LIES: readonly {
  readonly says: string;
  change(transactions: readonly SentTransaction[]): readonly SentTransaction[] | undefined;
  readonly verdict: readonly Verdict[];
}[] = [
  { says: "all left out", change: () => [], verdict: ["wrongGasUsed"] },
  {
    says: "the first left out",
    change: (all) => all.slice(1),
    verdict: ["invalidTransaction", "wrongGasUsed"],
  },
  { says: "the last left out", change: (all) => all.slice(0, -1), verdict: ["wrongGasUsed"] },
  { says: "the first twice", change: (all) => [...all.slice(0, 1), ...all], verdict: ["invalidTransaction"] },
  { says: "the last twice", change: (all) => [...all, ...all.slice(-1)], verdict: ["invalidTransaction"] },
  {
    says: "in reverse order",
    change: (all) => (all.length > 1 ? [...all].reverse() : undefined),
    verdict: ["invalidTransaction", "wrongReceiptsRoot"],
  },
  {
    says: "a stranger's added",
    change: (all) => [
      ...all,
      aTransaction({ chainId: undefined, privateKey: account(3).privateKey, nonce: 77n }),
    ],
    verdict: ["invalidTransaction"],
  },
];
