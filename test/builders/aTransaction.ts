import { RLP } from "@ethereumjs/rlp";
import type { Address } from "../../src/primitives/address.ts";
import { type Hash, keccak256 } from "../../src/primitives/hash.ts";
import { concatBytes, EMPTY_BYTES, hexToBytes } from "../../src/primitives/hex.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";
import type { RlpItem } from "../../src/primitives/rlp.ts";
import { addressOfPrivateKey, type Signature, sign } from "../../src/primitives/secp256k1.ts";
import {
  type AccessListEntry,
  type Authorization,
  decodeTransaction,
  type SentTransaction,
  type TransactionType,
  withSender,
} from "../../src/types/transaction.ts";
import { account } from "./testAccounts.ts";

/** What a test may change. A field that the type does not have is not encoded. */
export interface TransactionFields {
  readonly type: TransactionType;
  /** Undefined makes a legacy transaction without replay protection. */
  readonly chainId: bigint | undefined;
  readonly nonce: bigint;
  readonly gasPrice: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gasLimit: bigint;
  /** Undefined makes a contract creation. */
  readonly to: Address | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: readonly AccessListEntry[];
  readonly maxFeePerBlobGas: bigint;
  readonly blobVersionedHashes: readonly Hash[];
  readonly authorizationList: readonly Authorization[];
  readonly privateKey: Uint8Array;
  /** Spoils the signature after signing; the sender stays the key's. */
  readonly changeSignature: (signature: Signature) => Signature;
}

const VALID: TransactionFields = {
  type: 0,
  chainId: 1337n,
  nonce: 0n,
  gasPrice: 1_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  maxFeePerGas: 2_000_000_000n,
  gasLimit: 100_000n,
  to: account(1).address,
  value: 1n,
  data: EMPTY_BYTES,
  accessList: [],
  maxFeePerBlobGas: 1n,
  blobVersionedHashes: [hexToBytes(`01${"00".repeat(31)}`) as Hash],
  authorizationList: [],
  privateKey: account(0).privateKey,
  changeSignature: (signature) => signature,
};

/**
 * A signed transaction, decoded as the node would decode it: by default a legacy transfer of 1 wei from the first test
 * account to the second on chain 1337, nonce 0, valid wherever that account is funded. Its `raw` is what
 * eth_sendRawTransaction takes.
 */
export function aTransaction(changes: Partial<TransactionFields> = {}): SentTransaction {
  const fields: TransactionFields = { ...VALID, ...changes };
  const decoded = decodeTransaction(encodeSigned(fields));
  if (!decoded.ok) throw new Error(`the builder made nonsense: ${decoded.error.message}`);
  return withSender(decoded.value, addressOfPrivateKey(fields.privateKey));
}

/** An EIP-7702 authorization signed by `privateKey`. */
export function anAuthorization(
  changes: Partial<Pick<Authorization, "chainId" | "address" | "nonce">> & {
    readonly privateKey?: Uint8Array;
  } = {},
): Authorization {
  const { chainId = 1337n, address = account(9).address, nonce = 0n, privateKey } = changes;
  const message = RLP.encode([bigintToBytes(chainId), address, bigintToBytes(nonce)]);
  const digest = keccak256(concatBytes(Uint8Array.of(0x05), message));
  const { r, s, yParity } = sign(digest, privateKey ?? account(2).privateKey);
  return { chainId, address, nonce, yParity: BigInt(yParity), r, s };
}

function encodeSigned(fields: TransactionFields): Uint8Array {
  const unsigned = unsignedItems(fields);
  if (fields.type !== 0) {
    const typed = (items: RlpItem[]): Uint8Array =>
      concatBytes(Uint8Array.of(fields.type), RLP.encode(items as Uint8Array[]));
    const { r, s, yParity } = fields.changeSignature(sign(keccak256(typed(unsigned)), fields.privateKey));
    return typed([...unsigned, ...[BigInt(yParity), r, s].map(bigintToBytes)]);
  }
  const { chainId } = fields;
  const suffix = chainId === undefined ? [] : [bigintToBytes(chainId), EMPTY_BYTES, EMPTY_BYTES];
  const digest = keccak256(RLP.encode([...unsigned, ...suffix] as Uint8Array[]));
  const { r, s, yParity } = fields.changeSignature(sign(digest, fields.privateKey));
  const v = BigInt(yParity) + (chainId === undefined ? 27n : chainId * 2n + 35n);
  return RLP.encode([...unsigned, ...[v, r, s].map(bigintToBytes)] as Uint8Array[]);
}

function unsignedItems(fields: TransactionFields): RlpItem[] {
  const { type } = fields;
  const chainId = type === 0 ? [] : [bigintToBytes(fields.chainId ?? 0n)];
  const price = type >= 2 ? [fields.maxPriorityFeePerGas, fields.maxFeePerGas] : [fields.gasPrice];
  const items: RlpItem[] = [
    ...chainId,
    bigintToBytes(fields.nonce),
    ...price.map(bigintToBytes),
    bigintToBytes(fields.gasLimit),
    fields.to ?? EMPTY_BYTES,
    bigintToBytes(fields.value),
    fields.data,
  ];
  if (type >= 1) items.push(fields.accessList.map(({ address, storageKeys }) => [address, [...storageKeys]]));
  if (type === 3) items.push(bigintToBytes(fields.maxFeePerBlobGas), [...fields.blobVersionedHashes]);
  if (type === 4) items.push(fields.authorizationList.map(authorizationItems));
  return items;
}

function authorizationItems(authorization: Authorization): RlpItem[] {
  const { chainId, address, nonce, yParity, r, s } = authorization;
  return [bigintToBytes(chainId), address, ...[nonce, yParity, r, s].map(bigintToBytes)];
}
