import { bytesOf, wholeNumberOf } from "../answers.ts";
import type { BlockData } from "./blockData.ts";
import { amount, column, extra } from "./column.ts";
import { CRYO_TRACE_TABLES } from "./cryoTraces.ts";
import { type LogRow, logRows, type TransactionRow, transactionRows } from "./rows.ts";
import { defineTable, type TableDefinition } from "./table.ts";
import { erc20Transfer, type TokenTransfer } from "./transferLogs.ts";

/** A log of an ERC-20 transfer. */
interface TransferRow extends LogRow, Omit<TokenTransfer, "log"> {}

const chainId = column("chain_id", "uint64", ({ data }: { readonly data: BlockData }) => data.chainId);

/**
 * The tables of cryo 0.3, named, ordered and typed as cryo writes them: bytes as bytes, and an amount as three columns. Cryo
 * has no table of receipts; ours follows its style.
 */
export const CRYO_TABLES: readonly TableDefinition[] = [
  defineTable<BlockData>({
    name: "blocks",
    needs: [],
    rows: (data) => [data],
    columns: [
      column("block_hash", "bytes", ({ hash }) => hash),
      extra("parent_hash", "bytes", ({ parentHash }) => parentHash),
      extra("uncles_hash", "bytes", ({ block }) => block["sha3Uncles"]),
      column("author", "bytes", ({ block }) => block["miner"]),
      extra("state_root", "bytes", ({ block }) => block["stateRoot"]),
      extra("transactions_root", "bytes", ({ block }) => block["transactionsRoot"]),
      extra("receipts_root", "bytes", ({ block }) => block["receiptsRoot"]),
      column("block_number", "uint32", ({ number }) => number),
      column("gas_used", "uint64", ({ block }) => block["gasUsed"]),
      extra("gas_limit", "uint64", ({ block }) => block["gasLimit"]),
      column("extra_data", "bytes", ({ block }) => block["extraData"]),
      extra("logs_bloom", "bytes", ({ block }) => block["logsBloom"]),
      column("timestamp", "uint32", ({ block }) => block["timestamp"]),
      extra("difficulty", "uint64", ({ block }) => block["difficulty"]),
      ...amount<BlockData>(extra, "total_difficulty", ({ block }) => block["totalDifficulty"]),
      extra("size", "uint64", ({ block }) => block["size"]),
      extra("mix_hash", "bytes", ({ block }) => block["mixHash"]),
      extra("nonce", "bytes", ({ block }) => block["nonce"]),
      column("base_fee_per_gas", "uint64", ({ block }) => block["baseFeePerGas"]),
      extra("withdrawals_root", "bytes", ({ block }) => block["withdrawalsRoot"]),
      column("chain_id", "uint64", (data) => data.chainId),
    ],
  }),
  defineTable<TransactionRow>({
    name: "transactions",
    needs: ["receipts"],
    rows: transactionRows,
    columns: [
      column("block_number", "uint32", ({ data }) => data.number),
      column("transaction_index", "uint64", ({ transaction }) => transaction["transactionIndex"]),
      column("transaction_hash", "bytes", ({ transaction }) => transaction["hash"]),
      column("nonce", "uint64", ({ transaction }) => transaction["nonce"]),
      column("from_address", "bytes", ({ transaction }) => transaction["from"]),
      column("to_address", "bytes", ({ transaction }) => transaction["to"]),
      ...amount<TransactionRow>(column, "value", ({ transaction }) => transaction["value"]),
      column("input", "bytes", ({ transaction }) => transaction["input"]),
      column("gas_limit", "uint64", ({ transaction }) => transaction["gas"]),
      column("gas_used", "uint64", ({ receipt }) => receipt?.["gasUsed"]),
      column("gas_price", "uint64", ({ transaction }) => transaction["gasPrice"]),
      column("transaction_type", "uint32", ({ transaction }) => transaction["type"]),
      column("max_priority_fee_per_gas", "uint64", ({ transaction }) => transaction["maxPriorityFeePerGas"]),
      column("max_fee_per_gas", "uint64", ({ transaction }) => transaction["maxFeePerGas"]),
      column("success", "boolean", ({ receipt }) => successOf(receipt?.["status"])),
      column("n_input_bytes", "uint32", ({ transaction }) => inputOf(transaction).length),
      column("n_input_zero_bytes", "uint32", ({ transaction }) => zerosIn(inputOf(transaction))),
      column("n_input_nonzero_bytes", "uint32", ({ transaction }) => {
        const input = inputOf(transaction);
        return input.length - zerosIn(input);
      }),
      extra("block_hash", "bytes", ({ data }) => data.hash),
      extra("timestamp", "uint32", ({ data }) => data.block["timestamp"]),
      extra("r", "uint256Bytes", ({ transaction }) => transaction["r"]),
      extra("s", "uint256Bytes", ({ transaction }) => transaction["s"]),
      extra("v", "boolean", ({ transaction }) => parityOf(transaction)),
      chainId,
    ],
  }),
  defineTable<TransactionRow>({
    name: "receipts",
    needs: ["receipts"],
    rows: transactionRows,
    columns: [
      column("block_number", "uint32", ({ data }) => data.number),
      extra("block_hash", "bytes", ({ data }) => data.hash),
      column("transaction_index", "uint64", ({ receipt }) => receipt?.["transactionIndex"]),
      column("transaction_hash", "bytes", ({ receipt }) => receipt?.["transactionHash"]),
      column("from_address", "bytes", ({ receipt }) => receipt?.["from"]),
      column("to_address", "bytes", ({ receipt }) => receipt?.["to"]),
      column("contract_address", "bytes", ({ receipt }) => receipt?.["contractAddress"]),
      column("success", "boolean", ({ receipt }) => successOf(receipt?.["status"])),
      column("root", "bytes", ({ receipt }) => receipt?.["root"]),
      column("gas_used", "uint64", ({ receipt }) => receipt?.["gasUsed"]),
      column("cumulative_gas_used", "uint64", ({ receipt }) => receipt?.["cumulativeGasUsed"]),
      column("effective_gas_price", "uint64", ({ receipt }) => receipt?.["effectiveGasPrice"]),
      extra("logs_bloom", "bytes", ({ receipt }) => receipt?.["logsBloom"]),
      column("revert_reason", "bytes", ({ receipt }) => receipt?.["revertReason"]),
      chainId,
    ],
  }),
  defineTable<LogRow>({
    name: "logs",
    needs: ["receipts"],
    rows: logRows,
    columns: [
      column("block_number", "uint32", ({ data }) => data.number),
      extra("block_hash", "bytes", ({ data }) => data.hash),
      column("transaction_index", "uint32", ({ log }) => log["transactionIndex"]),
      column("log_index", "uint32", ({ log }) => log["logIndex"]),
      column("transaction_hash", "bytes", ({ log }) => log["transactionHash"]),
      column("address", "bytes", ({ log }) => log["address"]),
      column("topic0", "bytes", ({ topics }) => topics[0]),
      column("topic1", "bytes", ({ topics }) => topics[1]),
      column("topic2", "bytes", ({ topics }) => topics[2]),
      column("topic3", "bytes", ({ topics }) => topics[3]),
      column("data", "bytes", ({ log }) => log["data"]),
      column("n_data_bytes", "uint32", ({ log }) => bytesOf(log["data"]).length),
      chainId,
    ],
  }),
  defineTable<TransferRow>({
    name: "erc20_transfers",
    needs: ["receipts"],
    *rows(data) {
      for (const log of logRows(data)) {
        const transfer = erc20Transfer(log);
        if (transfer !== undefined)
          yield { ...log, from: transfer.from, to: transfer.to, value: transfer.value };
      }
    },
    columns: [
      column("block_number", "uint32", ({ data }) => data.number),
      extra("block_hash", "bytes", ({ data }) => data.hash),
      column("transaction_index", "uint32", ({ log }) => log["transactionIndex"]),
      column("log_index", "uint32", ({ log }) => log["logIndex"]),
      column("transaction_hash", "bytes", ({ log }) => log["transactionHash"]),
      column("erc20", "bytes", ({ log }) => log["address"]),
      column("from_address", "bytes", ({ from }) => from),
      column("to_address", "bytes", ({ to }) => to),
      ...amount<TransferRow>(column, "value", ({ value }) => value),
      chainId,
    ],
  }),
  ...CRYO_TRACE_TABLES,
];

/** Whether a transaction succeeded; undefined for a receipt from before Byzantium, which has no status. */
function successOf(status: unknown): boolean | undefined {
  return status === undefined ? undefined : wholeNumberOf(status) === 1n;
}

function inputOf(transaction: TransactionRow["transaction"]): Uint8Array {
  return bytesOf(transaction["input"]);
}

function zerosIn(bytes: Uint8Array): number {
  let zeros = 0;
  for (const byte of bytes) if (byte === 0) zeros++;
  return zeros;
}

/** The parity of the signature's point. A legacy transaction has it only in `v`: 27 or 28, or 35 and more by EIP-155. */
function parityOf({ yParity, v }: TransactionRow["transaction"]): boolean {
  return yParity === undefined ? wholeNumberOf(v) % 2n === 0n : wholeNumberOf(yParity) === 1n;
}
