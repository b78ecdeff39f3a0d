import { keccak256 } from "../../../primitives/hash.ts";
import { toHex } from "../../../primitives/hex.ts";
import { bytesOf } from "../answers.ts";
import type { BlockData } from "./blockData.ts";
import { amount, column } from "./column.ts";
import { type TraceRow, traceRows } from "./rows.ts";
import { defineTable, type TableDefinition } from "./table.ts";

/** The tables made from traces. */
export const CRYO_TRACE_TABLES: readonly TableDefinition[] = [
  defineTable<TraceRow>({
    name: "traces",
    needs: ["traces"],
    rows: traceRows,
    columns: [
      column("action_from", "bytes", ({ action }) => action["from"] ?? action["address"] ?? action["author"]),
      column("action_to", "bytes", ({ action }) => action["to"] ?? action["refundAddress"]),
      column("action_value", "uint256", ({ action }) => action["value"] ?? action["balance"]),
      column("action_gas", "uint64", ({ action }) => action["gas"]),
      column("action_input", "bytes", ({ action }) => action["input"]),
      column("action_call_type", "text", ({ action }) => callTypeOf(action["callType"])),
      column("action_init", "bytes", ({ action }) => action["init"]),
      column("action_reward_type", "text", ({ action }) => rewardTypeOf(action["rewardType"])),
      column("action_type", "text", ({ trace }) => trace["type"]),
      column("result_gas_used", "uint64", ({ result }) => result["gasUsed"]),
      column("result_output", "bytes", ({ result }) => result["output"]),
      column("result_code", "bytes", ({ result }) => result["code"]),
      column("result_address", "bytes", ({ result }) => result["address"]),
      column("trace_address", "text", ({ path }) => path.join("_")),
      column("subtraces", "uint32", ({ trace }) => trace["subtraces"]),
      column("transaction_index", "uint32", ({ trace }) => trace["transactionPosition"]),
      column("transaction_hash", "bytes", ({ trace }) => trace["transactionHash"]),
      column("block_number", "uint32", ({ data }) => data.number),
      column("block_hash", "bytes", ({ data }) => data.hash),
      column("error", "text", ({ trace }) => trace["error"]),
      column("chain_id", "uint64", ({ data }) => data.chainId),
    ],
  }),
  defineTable<NativeTransfer>({
    name: "native_transfers",
    needs: ["traces"],
    rows: nativeTransfers,
    columns: [
      column("block_number", "uint32", ({ data }) => data.number),
      column("block_hash", "bytes", ({ data }) => data.hash),
      column("transaction_index", "uint32", ({ trace }) => trace["transactionPosition"]),
      column("transfer_index", "uint32", ({ index }) => index),
      column("transaction_hash", "bytes", ({ trace }) => trace["transactionHash"]),
      column("from_address", "bytes", ({ from }) => from),
      column("to_address", "bytes", ({ to }) => to),
      ...amount<NativeTransfer>(column, "value", ({ value }) => value),
      column("chain_id", "uint64", ({ data }) => data.chainId),
    ],
  }),
  defineTable<Creation>({
    name: "contracts",
    needs: ["traces"],
    rows: creations,
    columns: [
      column("block_number", "uint32", ({ data }) => data.number),
      column("block_hash", "bytes", ({ data }) => data.hash),
      column("create_index", "uint32", ({ createIndex }) => createIndex),
      column("transaction_hash", "bytes", ({ trace }) => trace["transactionHash"]),
      column("contract_address", "bytes", ({ result }) => result["address"]),
      column("deployer", "bytes", ({ deployer }) => deployer),
      column("factory", "bytes", ({ action }) => action["from"]),
      column("init_code", "bytes", ({ action }) => action["init"]),
      column("code", "bytes", ({ result }) => result["code"]),
      column("init_code_hash", "bytes", ({ action }) => hashOf(action["init"])),
      column("n_init_code_bytes", "uint32", ({ action }) => bytesOf(action["init"]).length),
      column("n_code_bytes", "uint32", ({ result }) => bytesOf(result["code"]).length),
      column("code_hash", "bytes", ({ result }) => hashOf(result["code"])),
      column("chain_id", "uint64", ({ data }) => data.chainId),
    ],
  }),
];

/** The call type in cryo's spelling, with an underscore. */
function callTypeOf(callType: unknown): unknown {
  const spelled: Readonly<Record<string, string>> = {
    callcode: "call_code",
    delegatecall: "delegate_call",
    staticcall: "static_call",
  };
  return typeof callType === "string" ? (spelled[callType] ?? callType) : callType;
}

function rewardTypeOf(rewardType: unknown): unknown {
  return rewardType === "block" ? "reward" : rewardType;
}

interface NativeTransfer extends TraceRow {
  readonly from: unknown;
  readonly to: unknown;
  readonly value: unknown;
}

const NOBODY = `0x${"00".repeat(20)}`;

/**
 * Traces that moved the native coin, rewards included. Reverted calls, and calls that run foreign code in their own context,
 * did not.
 */
function* nativeTransfers(data: BlockData): Iterable<NativeTransfer> {
  for (const row of traceRows(data)) {
    const { action, result, isUndone } = row;
    const value = action["value"] ?? action["balance"];
    const { callType } = action;
    if (isUndone || value === "0x0" || value === undefined) continue;
    if (callType === "delegatecall" || callType === "callcode") continue;
    const from = action["from"] ?? action["address"] ?? NOBODY;
    const to = action["to"] ?? result["address"] ?? action["refundAddress"] ?? action["author"];
    yield { ...row, from, to, value };
  }
}

interface Creation extends TraceRow {
  /** Index among the creations of the block. */
  readonly createIndex: number;
  /** Sender of the transaction. */
  readonly deployer: unknown;
}

/** Contracts created in a block that still exist after their transaction, apart from later destructions. */
function* creations(data: BlockData): Iterable<Creation> {
  let createIndex = 0;
  let deployer: unknown;
  for (const row of traceRows(data)) {
    const { trace, action, path, isUndone } = row;
    if (path.length === 0) deployer = action["from"];
    if (trace["type"] === "create" && !isUndone) yield { ...row, createIndex: createIndex++, deployer };
  }
}

function hashOf(code: unknown): string {
  return toHex(keccak256(bytesOf(code)));
}
