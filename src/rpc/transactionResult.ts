import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { recoverPublicKey } from "../primitives/secp256k1.ts";
import type { StoredBlock } from "../types/block.ts";
import {
  effectiveGasPrice,
  feeCap,
  type SentTransaction,
  signatureOf,
  signingHash,
  type Transaction,
} from "../types/transaction.ts";

/** The mined transaction at `index` of its block (json-rpc.md §1.2) as JSON text; undefined when there is none. */
export function minedTransactionJson(block: StoredBlock, index: number): string | undefined {
  const transaction = block.transactions[index];
  return transaction && encodeMined(transaction, index, placeOf(block), block.header.baseFeePerGas);
}

/** All transactions of a block, in full. */
export function minedTransactionsJson(block: StoredBlock): string {
  const place = placeOf(block);
  const { baseFeePerGas } = block.header;
  const texts = block.transactions.map((transaction, index) =>
    encodeMined(transaction, index, place, baseFeePerGas),
  );
  return `[${texts.join(",")}]`;
}

/**
 * A pooled transaction (json-rpc.md §1.3) as JSON text. It shows the sender's public key, whose recovery costs some
 * 50 µs: a caller with many of them gives the event loop its turn in between.
 */
export function pendingTransactionJson(transaction: SentTransaction): string {
  const publicKey = recoverPublicKey(signingHash(transaction), signatureOf(transaction));
  return (
    `{"blockHash":null,"blockNumber":null,"from":"${toHex(transaction.sender)}",` +
    `"gas":"${toQuantity(transaction.gasLimit)}","gasPrice":"${toQuantity(feeCap(transaction))}",` +
    `${feeMembers(transaction)}"hash":"${toHex(transaction.hash)}","input":"${toHex(transaction.data)}",` +
    `"nonce":"${toQuantity(transaction.nonce)}","to":${recipientJson(transaction)},"transactionIndex":null,` +
    `"value":"${toQuantity(transaction.value)}",${signatureMembers(transaction)}${blobMember(transaction)},` +
    `${listMembers(transaction)}${chainIdMember(transaction)}` +
    `"publicKey":${publicKey === undefined ? "null" : `"${toHex(publicKey)}"`},` +
    `"raw":"${toHex(transaction.raw)}","type":"0x${transaction.type}"}`
  );
}

/** What all transactions of a block have in common, encoded once. */
function placeOf(block: StoredBlock): string {
  return `"blockHash":"${toHex(block.hash)}","blockNumber":"${toQuantity(block.header.number)}",`;
}

function encodeMined(
  transaction: SentTransaction,
  index: number,
  place: string,
  baseFeePerGas: bigint | undefined,
): string {
  return (
    `{${listMembers(transaction)}${place}${chainIdMember(transaction)}"from":"${toHex(transaction.sender)}",` +
    `"gas":"${toQuantity(transaction.gasLimit)}",` +
    `"gasPrice":"${toQuantity(effectiveGasPrice(transaction, baseFeePerGas))}",${feeMembers(transaction)}` +
    `"hash":"${toHex(transaction.hash)}","input":"${toHex(transaction.data)}",` +
    `"nonce":"${toQuantity(transaction.nonce)}","to":${recipientJson(transaction)},` +
    `"transactionIndex":"${toQuantity(index)}","type":"0x${transaction.type}",` +
    `"value":"${toQuantity(transaction.value)}",${signatureMembers(transaction)}${blobMember(transaction)}}`
  );
}

function recipientJson({ to }: Transaction): string {
  return to === undefined ? "null" : `"${toHex(to)}"`;
}

function chainIdMember({ chainId }: Transaction): string {
  return chainId === undefined ? "" : `"chainId":"${toQuantity(chainId)}",`;
}

function feeMembers(transaction: Transaction): string {
  const { maxPriorityFeePerGas, maxFeePerGas, maxFeePerBlobGas } = transaction;
  if (maxPriorityFeePerGas === undefined || maxFeePerGas === undefined) return "";
  const caps = `"maxPriorityFeePerGas":"${toQuantity(maxPriorityFeePerGas)}","maxFeePerGas":"${toQuantity(maxFeePerGas)}",`;
  return maxFeePerBlobGas === undefined
    ? caps
    : `${caps}"maxFeePerBlobGas":"${toQuantity(maxFeePerBlobGas)}",`;
}

/** A blob transaction shows no v, a legacy one no yParity. */
function signatureMembers({ type, yParity, v, r, s }: Transaction): string {
  const parity = type === 0 ? "" : `"yParity":"0x${yParity}",`;
  const recovery = type === 3 ? "" : `"v":"${toQuantity(v)}",`;
  return `${parity}${recovery}"r":"${toQuantity(r)}","s":"${toQuantity(s)}"`;
}

function blobMember({ type, blobVersionedHashes }: Transaction): string {
  if (type !== 3) return "";
  return `,"blobVersionedHashes":[${blobVersionedHashes.map((hash) => `"${toHex(hash)}"`).join(",")}]`;
}

function listMembers(transaction: Transaction): string {
  if (transaction.type === 0) return "";
  const accessList = `"accessList":${JSON.stringify(accessListResult(transaction.accessList))},`;
  if (transaction.type !== 4) return accessList;
  const authorizations = transaction.authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => ({
    chainId: toQuantity(chainId),
    address: toHex(address),
    nonce: toQuantity(nonce),
    yParity: toQuantity(yParity),
    r: toQuantity(r),
    s: toQuantity(s),
  }));
  return `${accessList}"authorizationList":${JSON.stringify(authorizations)},`;
}

/** An access list as JSON shows it, also in the answer of eth_createAccessList. */
export function accessListResult(accessList: Transaction["accessList"]): readonly object[] {
  return accessList.map(({ address, storageKeys }) => ({
    address: toHex(address),
    storageKeys: storageKeys.map(toHex),
  }));
}
