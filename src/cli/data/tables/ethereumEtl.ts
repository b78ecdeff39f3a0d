import type { BlockData } from "./blockData.ts";
import { column } from "./column.ts";
import {
  type LogRow,
  logRows,
  type TraceRow,
  type TransactionRow,
  traceRows,
  transactionRows,
} from "./rows.ts";
import { defineTable, type TableDefinition } from "./table.ts";
import { type TokenTransfer, transferOf } from "./transferLogs.ts";

/**
 * The tables of ethereum-etl 2.4, named and ordered as its exporters write them: bytes as hexadecimal text, amounts as
 * decimal text. Fields that an IBFT chain cannot have (withdrawals, fees of an L1) are left out.
 */
export const ETHEREUM_ETL_TABLES: readonly TableDefinition[] = [
  defineTable<BlockData>({
    name: "blocks",
    needs: [],
    rows: (data) => [data],
    columns: [
      column("number", "int64", ({ block }) => block["number"]),
      column("hash", "text", ({ block }) => block["hash"]),
      column("parent_hash", "text", ({ block }) => block["parentHash"]),
      column("nonce", "text", ({ block }) => block["nonce"]),
      column("sha3_uncles", "text", ({ block }) => block["sha3Uncles"]),
      column("logs_bloom", "text", ({ block }) => block["logsBloom"]),
      column("transactions_root", "text", ({ block }) => block["transactionsRoot"]),
      column("state_root", "text", ({ block }) => block["stateRoot"]),
      column("receipts_root", "text", ({ block }) => block["receiptsRoot"]),
      column("miner", "text", ({ block }) => block["miner"]),
      column("difficulty", "uint256", ({ block }) => block["difficulty"]),
      column("total_difficulty", "uint256", ({ block }) => block["totalDifficulty"]),
      column("size", "int64", ({ block }) => block["size"]),
      column("extra_data", "text", ({ block }) => block["extraData"]),
      column("gas_limit", "int64", ({ block }) => block["gasLimit"]),
      column("gas_used", "int64", ({ block }) => block["gasUsed"]),
      column("timestamp", "int64", ({ block }) => block["timestamp"]),
      column("transaction_count", "int64", ({ transactions }) => transactions.length),
      column("base_fee_per_gas", "int64", ({ block }) => block["baseFeePerGas"]),
    ],
  }),
  defineTable<TransactionRow>({
    name: "transactions",
    needs: [],
    rows: transactionRows,
    columns: [
      column("hash", "text", ({ transaction }) => transaction["hash"]),
      column("nonce", "int64", ({ transaction }) => transaction["nonce"]),
      column("block_hash", "text", ({ data }) => data.hash),
      column("block_number", "int64", ({ data }) => data.number),
      column("transaction_index", "int64", ({ transaction }) => transaction["transactionIndex"]),
      column("from_address", "text", ({ transaction }) => transaction["from"]),
      column("to_address", "text", ({ transaction }) => transaction["to"]),
      column("value", "uint256", ({ transaction }) => transaction["value"]),
      column("gas", "int64", ({ transaction }) => transaction["gas"]),
      column("gas_price", "int64", ({ transaction }) => transaction["gasPrice"]),
      column("input", "text", ({ transaction }) => transaction["input"]),
      column("block_timestamp", "int64", ({ data }) => data.block["timestamp"]),
      column("max_fee_per_gas", "int64", ({ transaction }) => transaction["maxFeePerGas"]),
      column("max_priority_fee_per_gas", "int64", ({ transaction }) => transaction["maxPriorityFeePerGas"]),
      column("transaction_type", "int64", ({ transaction }) => transaction["type"]),
    ],
  }),
  defineTable<TransactionRow>({
    name: "receipts",
    needs: ["receipts"],
    rows: transactionRows,
    columns: [
      column("transaction_hash", "text", ({ receipt }) => receipt?.["transactionHash"]),
      column("transaction_index", "int64", ({ receipt }) => receipt?.["transactionIndex"]),
      column("block_hash", "text", ({ data }) => data.hash),
      column("block_number", "int64", ({ data }) => data.number),
      column("cumulative_gas_used", "int64", ({ receipt }) => receipt?.["cumulativeGasUsed"]),
      column("gas_used", "int64", ({ receipt }) => receipt?.["gasUsed"]),
      column("contract_address", "text", ({ receipt }) => receipt?.["contractAddress"]),
      column("root", "text", ({ receipt }) => receipt?.["root"]),
      column("status", "int64", ({ receipt }) => receipt?.["status"]),
      column("effective_gas_price", "int64", ({ receipt }) => receipt?.["effectiveGasPrice"]),
    ],
  }),
  defineTable<LogRow>({
    name: "logs",
    needs: ["receipts"],
    rows: logRows,
    columns: [
      column("log_index", "int64", ({ log }) => log["logIndex"]),
      column("transaction_hash", "text", ({ log }) => log["transactionHash"]),
      column("transaction_index", "int64", ({ log }) => log["transactionIndex"]),
      column("block_hash", "text", ({ data }) => data.hash),
      column("block_number", "int64", ({ data }) => data.number),
      column("address", "text", ({ log }) => log["address"]),
      column("data", "text", ({ log }) => log["data"]),
      column("topics", "list", ({ topics }) => topics),
    ],
  }),
  defineTable<TokenTransfer>({
    name: "token_transfers",
    needs: ["receipts"],
    *rows(data) {
      for (const log of logRows(data)) {
        const transfer = transferOf(log);
        if (transfer !== undefined) yield transfer;
      }
    },
    columns: [
      column("token_address", "text", ({ log }) => log.log["address"]),
      column("from_address", "text", ({ from }) => from),
      column("to_address", "text", ({ to }) => to),
      column("value", "uint256", ({ value }) => value),
      column("transaction_hash", "text", ({ log }) => log.log["transactionHash"]),
      column("log_index", "int64", ({ log }) => log.log["logIndex"]),
      column("block_number", "int64", ({ log }) => log.data.number),
    ],
  }),
  defineTable<TraceRow>({
    name: "traces",
    needs: ["traces"],
    rows: traceRows,
    columns: [
      column("block_number", "int64", ({ data }) => data.number),
      column("transaction_hash", "text", ({ trace }) => trace["transactionHash"]),
      column("transaction_index", "int64", ({ trace }) => trace["transactionPosition"]),
      column("from_address", "text", ({ action }) => action["from"] ?? action["address"]),
      column("to_address", "text", recipientOf),
      column("value", "uint256", ({ action }) => action["value"] ?? action["balance"]),
      column("input", "text", ({ action }) => action["input"] ?? action["init"]),
      column("output", "text", ({ result }) => result["output"] ?? result["code"]),
      column("trace_type", "text", ({ trace }) => trace["type"]),
      column("call_type", "text", ({ action }) => action["callType"]),
      column("reward_type", "text", ({ action }) => action["rewardType"]),
      column("gas", "int64", ({ action }) => action["gas"]),
      column("gas_used", "int64", ({ result }) => result["gasUsed"]),
      column("subtraces", "int64", ({ trace }) => trace["subtraces"]),
      column("trace_address", "list", ({ path }) => path),
      column("error", "text", ({ trace }) => trace["error"]),
      column("status", "int64", ({ isUndone }) => (isUndone ? 0 : 1)),
      column("trace_id", "text", traceIdOf),
    ],
  }),
];

function recipientOf({ action, result }: TraceRow): unknown {
  return action["to"] ?? result["address"] ?? action["refundAddress"] ?? action["author"];
}

/** The id of a trace. The reward is the only trace of a block without a transaction. */
function traceIdOf({ data, trace, path }: TraceRow): string {
  const type = String(trace["type"]);
  const hash = trace["transactionHash"];
  return typeof hash === "string" ? `${type}_${hash}_${path.join("_")}` : `${type}_${data.number}_0`;
}
