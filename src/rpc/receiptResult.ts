import { type Address, asAddress } from "../primitives/address.ts";
import { keccak256 } from "../primitives/hash.ts";
import { toHex } from "../primitives/hex.ts";
import { bigintToBytes, toQuantity } from "../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";
import type { StoredBlock } from "../types/block.ts";
import { EMPTY_BLOOM } from "../types/bloom.ts";
import type { Receipt } from "../types/receipt.ts";
import { effectiveGasPrice, type SentTransaction } from "../types/transaction.ts";
import { receiptLogsJson } from "./logResult.ts";

/**
 * The receipt of the transaction at `index` (json-rpc.md §1.4) as JSON text; undefined when there is none.
 * `blobGasPriceWei` is what a unit of blob gas cost in this block.
 */
export function receiptJson(block: StoredBlock, index: number, blobGasPriceWei: bigint): string | undefined {
  const transaction = block.transactions[index];
  const receipt = block.receipts[index];
  if (transaction === undefined || receipt === undefined) return undefined;
  let logsBefore = 0;
  for (let before = 0; before < index; before++) logsBefore += block.receipts[before]?.logs.length ?? 0;
  return encodeReceipt({ transaction, receipt, index, logsBefore, blobGasPriceWei }, placeOf(block));
}

/** The receipts of all transactions of a block, in order. */
export function blockReceiptsJson(block: StoredBlock, blobGasPriceWei: bigint): string {
  const place = placeOf(block);
  const texts: string[] = [];
  let logsBefore = 0;
  for (const [index, receipt] of block.receipts.entries()) {
    const transaction = block.transactions[index];
    if (transaction === undefined) break;
    texts.push(encodeReceipt({ transaction, receipt, index, logsBefore, blobGasPriceWei }, place));
    logsBefore += receipt.logs.length;
  }
  return `[${texts.join(",")}]`;
}

/** What all receipts of a block have in common, encoded once. */
interface Place {
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly baseFeePerGas: bigint | undefined;
}

interface PlacedReceipt {
  readonly transaction: SentTransaction;
  readonly receipt: Receipt;
  readonly index: number;
  /** Logs of earlier transactions of the block. */
  readonly logsBefore: number;
  readonly blobGasPriceWei: bigint;
}

const EMPTY_BLOOM_TEXT = toHex(EMPTY_BLOOM);
const BLOB_GAS_PER_BLOB = 131_072;

function placeOf({ hash, header }: StoredBlock): Place {
  return {
    blockHash: toHex(hash),
    blockNumber: toQuantity(header.number),
    baseFeePerGas: header.baseFeePerGas,
  };
}

function encodeReceipt(placed: PlacedReceipt, place: Place): string {
  const { transaction, receipt, index } = placed;
  const { to } = transaction;
  const created = to === undefined ? createdAddress(transaction.sender, transaction.nonce) : undefined;
  const transactionHash = toHex(transaction.hash);
  const transactionIndex = toQuantity(index);
  const bloom = receipt.logs.length === 0 ? EMPTY_BLOOM_TEXT : toHex(receipt.logsBloom);
  const logs = receiptLogsJson(
    receipt.logs,
    { ...place, transactionHash, transactionIndex },
    placed.logsBefore,
  );
  return (
    `{"blockHash":"${place.blockHash}","blockNumber":"${place.blockNumber}",` +
    `"contractAddress":${optionalAddress(created)},` +
    `"cumulativeGasUsed":"${toQuantity(receipt.cumulativeGasUsed)}","from":"${toHex(transaction.sender)}",` +
    `"gasUsed":"${toQuantity(receipt.gasUsed)}",` +
    `"effectiveGasPrice":"${toQuantity(effectiveGasPrice(transaction, place.baseFeePerGas))}","logs":${logs},` +
    `"logsBloom":"${bloom}",${outcomeMember(receipt)}"to":${optionalAddress(to)},` +
    `"transactionHash":"${transactionHash}","transactionIndex":"${transactionIndex}",` +
    `${revertMember(receipt)}"type":"0x${receipt.type}"${blobMembers(placed)}}`
  );
}

function optionalAddress(address: Address | undefined): string {
  return address === undefined ? "null" : `"${toHex(address)}"`;
}

function outcomeMember({ outcome }: Receipt): string {
  return "status" in outcome ? `"status":"0x${outcome.status}",` : `"root":"${toHex(outcome.stateRoot)}",`;
}

function revertMember({ revertReason }: Receipt): string {
  return revertReason === undefined ? "" : `"revertReason":"${toHex(revertReason)}",`;
}

function blobMembers({ transaction, blobGasPriceWei }: PlacedReceipt): string {
  if (transaction.type !== 3) return "";
  const used = BLOB_GAS_PER_BLOB * transaction.blobVersionedHashes.length;
  return `,"blobGasUsed":"${toQuantity(used)}","blobGasPrice":"${toQuantity(blobGasPriceWei)}"`;
}

/** Where a creation puts its contract (yellow paper, §7), shown for failed creations too. */
function createdAddress(sender: Address, nonce: bigint): Address {
  const items = [encodeRlpString(sender), encodeRlpString(bigintToBytes(nonce))];
  return asAddress(keccak256(encodeRlpList(items)).slice(12));
}
