import { type Hex, toHex } from "../primitives/hex.ts";
import { bytesToBigint, toQuantity } from "../primitives/quantity.ts";
import type { StoredBlock } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import { minedTransactionsJson } from "./transactionResult.ts";

/** How a block shows its transactions: by hash or in full. */
export type BlockDetail = "hashes" | "transactions";

/**
 * The block object (json-rpc.md §1.1) as JSON text: members in the incumbent's order, those without a value left out.
 * The text is built directly because a block of thousands of transactions is asked for by every explorer, every second.
 */
export function blockJson(block: StoredBlock, detail: BlockDetail): string {
  const { header } = block;
  const transactions =
    detail === "transactions"
      ? minedTransactionsJson(block)
      : `[${block.transactions.map(({ hash }) => `"${toHex(hash)}"`).join(",")}]`;
  return (
    `{"number":"${toQuantity(header.number)}","hash":"${toHex(block.hash)}","mixHash":"${toHex(header.mixHash)}",` +
    `"parentHash":"${toHex(header.parentHash)}","nonce":"${toHex(header.nonce)}",` +
    `"sha3Uncles":"${toHex(header.ommersHash)}","logsBloom":"${toHex(header.logsBloom)}",` +
    `"transactionsRoot":"${toHex(header.transactionsRoot)}","stateRoot":"${toHex(header.stateRoot)}",` +
    `"receiptsRoot":"${toHex(header.receiptsRoot)}","miner":"${toHex(header.coinbase)}",` +
    `"difficulty":"${toQuantity(header.difficulty)}","totalDifficulty":"${toQuantity(block.totalDifficulty)}",` +
    `"extraData":"${toHex(header.extraData)}",${quantityMember("baseFeePerGas", header.baseFeePerGas)}` +
    `"size":"${toQuantity(block.size)}","gasLimit":"${toQuantity(header.gasLimit)}",` +
    `"gasUsed":"${toQuantity(header.gasUsed)}","timestamp":"${toQuantity(header.timestamp)}",` +
    `"uncles":[],"transactions":${transactions}${laterMembers(header, block.withdrawals)}}`
  );
}

function quantityMember(name: string, value: bigint | undefined): string {
  return value === undefined ? "" : `"${name}":"${toQuantity(value)}",`;
}

/** What Shanghai, Cancun and Prague add; on an IBFT chain only a genesis block can have it (ibft2.md §17). */
function laterMembers(header: Header, withdrawals: readonly unknown[] | undefined): string {
  const members: readonly (readonly [name: string, value: Hex | undefined])[] = [
    ["requestsHash", header.requestsHash && toHex(header.requestsHash)],
    ["blobGasUsed", header.blobGasUsed === undefined ? undefined : toQuantity(header.blobGasUsed)],
    ["excessBlobGas", header.excessBlobGas === undefined ? undefined : toQuantity(header.excessBlobGas)],
    ["parentBeaconBlockRoot", header.parentBeaconBlockRoot && toHex(header.parentBeaconBlockRoot)],
  ];
  const texts = members.flatMap(([name, value]) => (value === undefined ? [] : [`,"${name}":"${value}"`]));
  if (header.withdrawalsRoot === undefined) return texts.join("");
  const list = (withdrawals ?? []).map(withdrawalJson).join(",");
  return `,"withdrawalsRoot":"${toHex(header.withdrawalsRoot)}","withdrawals":[${list}]${texts.join("")}`;
}

/** A withdrawal is kept as its RLP items: index, validator, address, gwei. */
function withdrawalJson(items: unknown): string {
  const [index, validator, address, amount] = (Array.isArray(items) ? items : []).map((item) =>
    item instanceof Uint8Array ? item : new Uint8Array(),
  );
  const quantity = (bytes: Uint8Array | undefined): Hex =>
    toQuantity(bytesToBigint(bytes ?? new Uint8Array()));
  return (
    `{"index":"${quantity(index)}","validatorIndex":"${quantity(validator)}",` +
    `"address":"${toHex(address ?? new Uint8Array())}","amount":"${quantity(amount)}"}`
  );
}
