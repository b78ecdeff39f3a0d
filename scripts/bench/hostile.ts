import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requestText } from "./commonCalls.ts";
import { startProgram } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";
import { openHttpRequester } from "./httpRequester.ts";
import { prepareTransfers } from "./mixed.ts";
import { type LoggedBlock, readBlocks } from "./network.ts";
import { atQuantile } from "./report.ts";
import { senderAddresses } from "./workload.ts";

export interface HostileResult {
  /** Block spacing from the node's log, seconds. */
  readonly periodP50: number;
  readonly periodP95: number;
  readonly periodMax: number;
  readonly blocks: number;
  /** How often each of the calls was answered. */
  readonly answered: ReadonlyMap<string, number>;
}

const CONNECTIONS = 8;
const FILLING_SECONDS = 6;
const FILLING_RATE = 2000;

/** Block spacing while eight connections send the heaviest requests that a node with all methods enabled accepts. */
export async function measureHostile(seconds: number): Promise<HostileResult> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const logFile = join(folder, "node.log");
  const options = ["--rpc-http-api=ETH,NET,WEB3,DEBUG,TRACE,TXPOOL", "--logging-format=JSON"];
  const node = await startProgram(folder, options, logFile);
  try {
    const fill = await prepareTransfers(node.port, FILLING_SECONDS, FILLING_RATE);
    await fill();
    const bodies = heaviestCalls(await fullestBlock(node.port));
    const beganAtMs = Date.now();
    const answered = await askForAll(node.port, bodies, seconds);
    const periods = periodsSince(beganAtMs, readBlocks(logFile));
    return {
      periodP50: atQuantile(periods, 0.5),
      periodP95: atQuantile(periods, 0.95),
      periodMax: Math.max(...periods),
      blocks: periods.length,
      answered,
    };
  } finally {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Gaps from the last block before until now; a missing block counts as if it arrived now. */
function periodsSince(beganAtMs: number, blocks: readonly LoggedBlock[]): readonly number[] {
  const times = blocks.map(({ atMs }) => atMs);
  const first = times.findLastIndex((atMs) => atMs < beganAtMs);
  const marks = [...times.slice(Math.max(first, 0)), Date.now()];
  const periods = marks.slice(1).map((atMs, index) => (atMs - (marks[index] ?? 0)) / 1000);
  // The last gap is cut short by the end, so it only counts when it is long.
  return (periods.at(-1) ?? 0) > 1 ? periods : periods.slice(0, -1);
}

/** Each connection sends all of them in turn, with a different start. */
async function askForAll(
  port: number,
  bodies: ReadonlyMap<string, string>,
  seconds: number,
): Promise<ReadonlyMap<string, number>> {
  const named = [...bodies];
  const stopAtMs = performance.now() + seconds * 1000;
  const answered = new Map<string, number>();

  async function attack(first: number): Promise<void> {
    let requester = await openHttpRequester(port);
    const timer = setTimeout(() => requester.close(), seconds * 1000);
    for (let turn = first; performance.now() < stopAtMs; turn++) {
      const [name, body] = named[turn % named.length] ?? ["", ""];
      try {
        await requester.ask(body);
        answered.set(name, (answered.get(name) ?? 0) + 1);
      } catch {
        requester.close();
        requester = await openHttpRequester(port);
      }
    }
    requester.close();
    clearTimeout(timer);
  }

  const attacks = Array.from({ length: CONNECTIONS }, (_, index) => attack(index));
  // Does not wait for calls in progress when the time is over.
  const over = new Promise((resolve) => setTimeout(resolve, seconds * 1000 + 500));
  await Promise.race([Promise.all(attacks), over]);
  return answered;
}

/** JUMPDEST PUSH0 JUMP, for ever. */
const LOOP = "0x5b600056";
const CONTRACT = `0x${"c0de".repeat(10)}`;

/** The loop takes about half a millisecond to spend it. */
const SHORT_GAS = "0x40000";

/** A call to another address each time, so that no cost estimate applies. */
function endlessAt(_: unknown, id: number) {
  const to = `0x${(0xc0de0000 + id).toString(16).padStart(40, "0")}`;
  return { jsonrpc: "2.0", id, method: "eth_call", params: [{ to }, "latest", { [to]: { code: LOOP } }] };
}

function heaviestCalls(fullest: string): ReadonlyMap<string, string> {
  const looping = [{ to: CONTRACT }, "latest", { [CONTRACT]: { code: LOOP } }];
  const deploying = { data: LOOP };
  const [holder] = senderAddresses();
  const slots = Array.from({ length: 1024 }, (_, index) => `0x${index.toString(16).padStart(64, "0")}`);
  const calls = {
    "endless eth_call": requestText({ method: "eth_call", params: looping }),
    "endless eth_estimateGas": requestText({ method: "eth_estimateGas", params: [deploying] }),
    "eth_call x1024, endless": requestText({ method: "eth_call", params: looping }, 1024),
    "eth_call x1024, endless, each another": JSON.stringify(Array.from({ length: 1024 }, endlessAt)),
    "eth_call x1024, half a millisecond each": requestText(
      { method: "eth_call", params: [{ to: CONTRACT, gas: SHORT_GAS }, ...looping.slice(1)] },
      1024,
    ),
    "eth_getLogs of all": requestText({
      method: "eth_getLogs",
      params: [{ fromBlock: "earliest", toBlock: "latest" }],
    }),
    "debug_traceBlockByNumber, full": requestText({
      method: "debug_traceBlockByNumber",
      params: [fullest],
    }),
    "trace_filter of all": requestText({
      method: "trace_filter",
      params: [{ fromBlock: "earliest", toBlock: "latest" }],
    }),
    "eth_getBlockByNumber x1024, full": requestText(
      { method: "eth_getBlockByNumber", params: [fullest, true] },
      1024,
    ),
    "eth_getBlockReceipts x1024": requestText({ method: "eth_getBlockReceipts", params: [fullest] }, 1024),
    "eth_getProof, 1024 slots": requestText({ method: "eth_getProof", params: [holder, slots, "latest"] }),
    trace_replayBlockTransactions: requestText({
      method: "trace_replayBlockTransactions",
      params: [fullest, ["trace", "vmTrace", "stateDiff"]],
    }),
  };
  return new Map(Object.entries(calls));
}

async function fullestBlock(port: number): Promise<string> {
  const client = createRpcClient(port, 1);
  const head = Number(await client.call<string>("eth_blockNumber"));
  const numbers = Array.from({ length: head }, (_, index) => `0x${(index + 1).toString(16)}`);
  const counts = await client.batch<string>(
    numbers.map((number) => ["eth_getBlockTransactionCountByNumber", [number]] as const),
  );
  client.close();
  const most = Math.max(...counts.map(Number));
  return numbers[counts.findIndex((count) => Number(count) === most)] ?? "latest";
}
