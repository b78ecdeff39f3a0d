import { type Address, addressFromHex } from "../../../src/primitives/address.ts";
import { hashFromHex } from "../../../src/primitives/hash.ts";
import { hexToBytes } from "../../../src/primitives/hex.ts";
import { decodeTransaction, type Transaction, type TransactionType } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";

/** A transaction in the vectors' JSON, with the key to sign it, or signed. */
export interface JsonTransaction {
  readonly type?: string;
  readonly chainId?: string;
  readonly protected?: boolean;
  readonly nonce: string;
  readonly gasPrice?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly maxFeePerGas?: string;
  readonly gas: string;
  /** Absent or empty for a contract creation. */
  readonly to?: string;
  readonly value: string;
  readonly input: string;
  readonly accessList?: readonly JsonAccess[];
  readonly maxFeePerBlobGas?: string;
  readonly blobVersionedHashes?: readonly string[];
  readonly secretKey?: string;
  readonly v?: string;
  readonly r?: string;
  readonly s?: string;
}

export interface JsonAccess {
  readonly address: string;
  readonly storageKeys: readonly string[];
}

/** The transaction as decoded from the wire, without its sender. */
export function transactionOf(json: JsonTransaction): Transaction {
  const quantity = (value: string | undefined): bigint => BigInt(value ?? "0x0");
  const type = Number(json.type ?? 0) as TransactionType;
  const signed = json.secretKey === undefined ? signatureOf(json) : undefined;
  const { raw } = aTransaction({
    type,
    chainId: signed === undefined ? chainIdToSign(json) : signed.chainId,
    nonce: quantity(json.nonce),
    gasPrice: quantity(json.gasPrice),
    maxPriorityFeePerGas: quantity(json.maxPriorityFeePerGas),
    maxFeePerGas: quantity(json.maxFeePerGas),
    gasLimit: quantity(json.gas),
    to: recipientOf(json),
    value: quantity(json.value),
    data: hexToBytes(json.input),
    accessList: (json.accessList ?? []).map(({ address, storageKeys }) => ({
      address: addressFromHex(address),
      storageKeys: storageKeys.map(hashFromHex),
    })),
    maxFeePerBlobGas: quantity(json.maxFeePerBlobGas),
    blobVersionedHashes: (json.blobVersionedHashes ?? []).map(hashFromHex),
    ...(json.secretKey !== undefined && { privateKey: hexToBytes(json.secretKey) }),
    ...(signed !== undefined && { changeSignature: () => signed.signature }),
  });
  const decoded = decodeTransaction(raw);
  if (!decoded.ok) throw new Error(decoded.error.message);
  return decoded.value;
}

function recipientOf({ to }: JsonTransaction): Address | undefined {
  return to === undefined || to === "" || to === "0x" ? undefined : addressFromHex(to);
}

/** Undefined for a legacy transaction without replay protection. */
function chainIdToSign(json: JsonTransaction): bigint | undefined {
  const chainId = BigInt(json.chainId ?? "0x0");
  return json.protected === false || chainId === 0n ? undefined : chainId;
}

function signatureOf({ type, chainId, v = "0x0", r = "0x0", s = "0x0" }: JsonTransaction) {
  const recovery = BigInt(v);
  const isTyped = Number(type ?? 0) !== 0;
  const isUnprotected = recovery === 27n || recovery === 28n;
  const parity = isTyped ? recovery : isUnprotected ? recovery - 27n : (recovery - 35n) % 2n;
  return {
    chainId: isTyped ? BigInt(chainId ?? "0x1") : isUnprotected ? undefined : (recovery - 35n) / 2n,
    signature: { r: BigInt(r), s: BigInt(s), yParity: parity === 1n ? (1 as const) : (0 as const) },
  };
}
