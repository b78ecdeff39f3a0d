import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { messageOf } from "../../../src/primitives/errorMessage.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { HANG_MS } from "../../hang.ts";
import { type ParsedFamily, parseExposition, sampleValue } from "../../observability/exposition.ts";
import { type NodeProcess, startNodeProcess, until } from "../harness/nodeProcess.ts";

/** One node that has answered, mined, refused and queued before its metrics are read. */
let node: NodeProcess;
let socket: WebSocket;
let metricsUrl: string;

beforeAll(async () => {
  node = await startNodeProcess({
    options: ["--metrics-enabled", "--metrics-port=0", "--rpc-http-api=ETH,NET,WEB3,TXPOOL,MINER"],
  });
  metricsUrl = await until(async () => metricsUrlIn(node.dataPath), "the list of ports");
  socket = new WebSocket(node.wsUrl);
  await new Promise((resolve) => socket.once("open", resolve));
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
  socket.send('{"jsonrpc":"2.0","id":2,"method":"eth_subscribe","params":["syncing"]}');
  socket.send('{"jsonrpc":"2.0","id":3,"method":"eth_unsubscribe","params":["0x2"]}');
  const hashes = [await send({ nonce: 0n }), await send({ nonce: 1n }), await send({ nonce: 2n })];
  await send({ nonce: 7n });
  await expect(send({ nonce: 7n, value: 2n, gasPrice: 1n })).rejects.toThrow();
  await until(
    async () => (await node.rpc("eth_getTransactionReceipt", [hashes[2]])) ?? undefined,
    "three transactions in blocks",
  );
  await expect(send({ nonce: 0n, value: 3n })).rejects.toThrow();
  await expect(node.rpc("eth_getBalance", ["nonsense", "latest"])).rejects.toThrow();
  await expect(node.rpc("eth_nonsense", [])).rejects.toThrow();
  await fetch(node.httpUrl, { method: "POST", body: `[${"{},".repeat(2000)}{}]` });
});

afterAll(async () => {
  socket?.terminate();
  expect(await node?.stop()).toBe(0);
});

function metricsUrlIn(dataPath: string): string | undefined {
  try {
    const [, port] = /^metrics=(\d+)$/m.exec(readFileSync(join(dataPath, "besu.ports"), "utf8")) ?? [];
    return port === undefined ? undefined : `http://127.0.0.1:${port}/metrics`;
  } catch {
    return undefined;
  }
}

function send(fields: Parameters<typeof aTransaction>[0]): Promise<string> {
  return node.rpc("eth_sendRawTransaction", [toHex(aTransaction(fields).raw)]);
}

async function scrape(): Promise<ReadonlyMap<string, ParsedFamily>> {
  const response = await fetch(metricsUrl);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return parseExposition(await response.text());
}

type Row = readonly [name: string, type: "counter" | "gauge" | "summary", labels?: readonly string[]];

/**
 * Metrics of metrics.md#naming-rules and the following sections, including our own (metrics.md#metrics-of-our-own), with
 * labels where a series must exist by now.
 */
const MUST: readonly Row[] = [
  ["ethereum_blockchain_height", "gauge"],
  ["ethereum_best_known_block_number", "gauge"],
  ["besu_blockchain_difficulty_total", "gauge"],
  ["besu_blockchain_chain_head_timestamp", "gauge"],
  ["besu_blockchain_chain_head_gas_used", "gauge"],
  ["besu_blockchain_chain_head_gas_limit", "gauge"],
  ["besu_blockchain_chain_head_transaction_count", "gauge"],
  ["besu_blockchain_chain_head_ommer_count", "gauge"],
  ["besu_blockchain_chain_head_gas_used_counter_total", "counter"],
  ["besu_blockchain_chain_head_transaction_count_counter_total", "counter"],
  ["ethereum_min_gas_price", "gauge"],
  ["ethereum_min_priority_fee", "gauge"],
  ["besu_synchronizer_in_sync", "gauge"],
  ["ethereum_peer_count", "gauge"],
  ["ethereum_peer_limit", "gauge"],
  ["besu_peers_connected_total", "counter"],
  ["besu_peers_pending_peer_requests_current", "gauge"],
  ["besu_transaction_pool_number_of_transactions", "gauge", ["layer"]],
  ["besu_transaction_pool_number_of_transactions_by_type", "gauge", ["layer", "type"]],
  ["besu_transaction_pool_space_used", "gauge", ["layer"]],
  ["besu_transaction_pool_unique_senders", "gauge", ["layer"]],
  ["besu_transaction_pool_added_total", "counter", ["source", "priority", "layer"]],
  ["besu_transaction_pool_removed_total", "counter", ["source", "priority", "operation", "layer"]],
  ["besu_transaction_pool_rejected_total", "counter", ["source", "priority", "reason", "layer"]],
  ["besu_transaction_pool_transactions", "gauge"],
  ["besu_transaction_pool_transactions_added_total", "counter", ["source"]],
  ["besu_transaction_pool_transactions_removed_total", "counter", ["source", "operation"]],
  ["besu_rpc_request_time", "summary", ["methodName"]],
  ["besu_rpc_errors_count_total", "counter", ["rpcMethod", "errorType"]],
  ["besu_rpc_active_http_connection_count", "gauge"],
  ["besu_rpc_active_ws_connection_count", "gauge"],
  ["rpc_graphql_connections", "gauge"],
  ["rpc_ipc_connections", "gauge"],
  ["besu_rpc_subscription_subscribe_total", "counter", ["type"]],
  ["besu_rpc_subscription_unsubscribe_total", "counter", ["type"]],
  ["process_cpu_seconds_total", "counter"],
  ["process_resident_memory_bytes", "gauge"],
  ["process_own_memory_bytes", "gauge"],
  ["process_mapped_memory_bytes", "gauge"],
  ["process_evm_memory_bytes", "gauge"],
  ["process_virtual_memory_bytes", "gauge"],
  ["process_open_fds", "gauge"],
  ["process_max_fds", "gauge"],
  ["process_start_time_seconds", "gauge"],
  ["process_release", "gauge", ["version"]],
  ["jvm_memory_bytes_used", "gauge", ["area"]],
  ["jvm_memory_bytes_committed", "gauge", ["area"]],
  ["jvm_memory_bytes_max", "gauge", ["area"]],
  ["jvm_memory_bytes_init", "gauge", ["area"]],
  ["jvm_memory_used_bytes", "gauge", ["area"]],
  ["jvm_memory_committed_bytes", "gauge", ["area"]],
  ["jvm_memory_max_bytes", "gauge", ["area"]],
  ["jvm_memory_init_bytes", "gauge", ["area"]],
  ["jvm_gc_collection_seconds", "summary", ["gc"]],
  ["jvm_threads_current", "gauge"],
  ["besu_executors_ethscheduler_computation_queue_length_current", "gauge"],
  ["besu_executors_ethscheduler_transactions_active_threads_current", "gauge"],
  ["jvm_threads_state", "gauge", ["state"]],
  ["bft_height", "gauge"],
  ["bft_round", "gauge"],
  ["bft_round_changes_total", "counter", ["reason"]],
  ["bft_is_validator", "gauge"],
  ["bft_paused", "gauge", ["reason"]],
  ["bft_validators", "gauge"],
  ["bft_quorum", "gauge"],
  ["bft_block_propose_seconds", "summary"],
  ["bft_commit_seconds", "summary"],
  ["bft_decision_seconds", "summary"],
  ["bft_messages_validated_total", "counter", ["result"]],
  ["bft_queue_dropped_total", "counter"],
  ["bft_future_messages_dropped_total", "counter"],
  ["node_head_age_seconds", "gauge"],
  ["node_disk_free_bytes", "gauge"],
  ["node_block_history_first_block", "gauge"],
  ["node_block_history_blocks_to_remove", "gauge"],
  ["node_state_history_first_block", "gauge"],
  ["node_state_history_blocks_to_remove", "gauge"],
  ["node_state_history_nodes_moved", "gauge"],
  ["node_state_history_pages_deleted", "gauge"],
  ["node_db_size_bytes", "gauge"],
  ["node_thread_failures_total", "counter", ["thread"]],
  ["node_event_loop_lag_p50_seconds", "gauge"],
  ["node_event_loop_lag_p99_seconds", "gauge"],
  ["node_event_loop_lag_max_seconds", "gauge"],
  ["rpc_requests_rejected_total", "counter", ["reason"]],
  ["tx_pool_fill_ratio", "gauge"],
  ["tx_pool_left_total", "counter", ["reason", "source"]],
  ["tx_pool_unmined_senders", "gauge"],
  ["tx_rejected_total", "counter", ["reason", "source"]],
];

/** Metrics without series until their first use, which a node without peers does not reach. */
const ANNOUNCED: readonly Row[] = [
  ["rpc_tls_certificate_expiry_timestamp_seconds", "gauge"],
  ["besu_peers_disconnected_total", "counter"],
  ["besu_network_p2p_messages_inbound_total", "counter"],
  ["p2p_inbound_refused_total", "counter"],
  ["p2p_input_refused_total", "counter"],
  ["p2p_nodes_refused_total", "counter"],
  ["bft_messages_received_total", "counter"],
  ["bft_validator_last_seen_seconds", "gauge"],
  ["bft_expected_proposer_missed_total", "counter"],
  ["besu_transaction_pool_messages_expired_total", "counter"],
  ["besu_transaction_pool_remote_transactions_already_seen_total", "counter"],
  ["besu_network_p2p_messages_outbound_total", "counter"],
  ["besu_network_discovery_messages_inbound_total", "counter"],
  ["besu_network_discovery_messages_outbound_total", "counter"],
];

/**
 * Queries of the panels of the public board 10273, including its older revisions (metrics.md#boards-and-alerts).
 */
const BOARD = [
  "ethereum_blockchain_height",
  "ethereum_best_known_block_number",
  "besu_blockchain_difficulty_total",
  "besu_blockchain_chain_head_timestamp",
  "ethereum_peer_count",
  "ethereum_peer_limit",
  "process_cpu_seconds_total",
  'jvm_memory_bytes_used{area="heap"}',
  "jvm_gc_collection_seconds_sum",
  "besu_synchronizer_fast_sync_pivot_block_current",
  "besu_blockchain_height",
  "besu_synchronizer_best_known_block",
  "besu_peers_peer_count_current",
  "besu_network_peers_limit",
];

describe("a running node's metrics", () => {
  it("all exist, each with its type and labels", async () => {
    const families = await scrape();
    const wrong = [...MUST, ...ANNOUNCED].filter(([name, type]) => families.get(name)?.type !== type);
    expect(wrong).toEqual([]);
    const unlabelled = MUST.filter(([name, type, labels = []]) => {
      const samples = families.get(name)?.samples ?? [];
      const own = (found: readonly string[]) =>
        found.filter((label) => type !== "summary" || label !== "quantile");
      return (
        samples.length === 0 ||
        samples.some((each) => String(own(Object.keys(each.labels))) !== String(labels))
      );
    });
    expect(unlabelled.map(([name]) => name)).toEqual([]);
  });

  it("answer every query of the public board", async () => {
    const samples = [...(await scrape()).values()].flatMap((family) => family.samples);
    const empty = BOARD.filter((query) => {
      const [, name, area] = /^([a-z_0-9]+)(?:\{area="(.*)"\})?$/.exec(query) ?? [];
      return !samples.some(
        (each) => each.name === name && (area === undefined || each.labels["area"] === area),
      );
    });
    expect(empty).toEqual([]);
  });

  it("match JSON-RPC about the chain", async () => {
    const before = await node.rpc<string>("eth_blockNumber");
    const families = await scrape();
    const after = await node.rpc<string>("eth_blockNumber");
    const height = sampleValue(families, "ethereum_blockchain_height") ?? -1;
    expect(height).toBeGreaterThanOrEqual(Number(before));
    expect(height).toBeLessThanOrEqual(Number(after));
    const block = await node.rpc<Record<string, string> & { transactions: string[] }>(
      "eth_getBlockByNumber",
      [`0x${height.toString(16)}`, false],
    );
    const head = (name: string) => sampleValue(families, `besu_blockchain_chain_head_${name}`);
    expect({
      timestamp: head("timestamp"),
      gasUsed: head("gas_used"),
      gasLimit: head("gas_limit"),
      transactions: head("transaction_count"),
      difficulty: sampleValue(families, "besu_blockchain_difficulty_total"),
    }).toEqual({
      timestamp: Number(block["timestamp"]),
      gasUsed: Number(block["gasUsed"]),
      gasLimit: Number(block["gasLimit"]),
      transactions: block.transactions.length,
      difficulty: height + 1,
    });
    expect(sampleValue(families, "besu_blockchain_chain_head_transaction_count_counter_total")).toBe(3);
    expect(sampleValue(families, "besu_blockchain_chain_head_gas_used_counter_total")).toBe(3 * 21_000);
    expect(sampleValue(families, "ethereum_best_known_block_number")).toBe(height);
    expect(sampleValue(families, "besu_synchronizer_in_sync")).toBe(1);
  });

  it("tell the EVM's memory while a call has much of it, and when it has ended", async () => {
    const megabytes = async (): Promise<number> =>
      (sampleValue(await scrape(), "process_evm_memory_bytes") ?? 0) / 2 ** 20;
    const reaches = (isReached: (megabytes: number) => boolean) =>
      until(async () => (isReached(await megabytes()) ? true : undefined), "the EVM's memory");
    const before = await megabytes();
    // Hashes 64 MB three times: 6304000000 5f 20 50 is PUSH4 64 MB, PUSH0, KECCAK256, POP.
    const data = `0x${"63040000005f2050".repeat(3)}`;
    let isSeen = false;
    // One may end before the metrics are read.
    const calls = (async () => {
      while (!isSeen) {
        const answer = await node
          .rpc("eth_call", [{ data, gas: "0xffffffffffff" }, "latest"])
          .catch(messageOf);
        // Its end may be that of its time, where the machine has none for it.
        expect(["0x", "Timeout expired"]).toContain(answer);
      }
    })();
    await Promise.race([calls, reaches((now) => now > before + 60)]);
    isSeen = true;
    await calls;
    await reaches((now) => now < before + 16);
  });

  it("count the pool's changes under the names of both of Besu's pools", async () => {
    const families = await scrape();
    const pool = (name: string, labels = {}) =>
      sampleValue(families, `besu_transaction_pool_${name}`, labels);
    expect(pool("added_total", { source: "local", priority: "yes", layer: "prioritized" })).toBe(3);
    expect(pool("added_total", { source: "local", priority: "yes", layer: "sparse" })).toBe(1);
    expect(pool("removed_total", { operation: "confirmed", layer: "prioritized" })).toBe(3);
    expect(pool("rejected_total", { reason: "TRANSACTION_REPLACEMENT_UNDERPRICED" })).toBe(1);
    expect(pool("rejected_total", { reason: "NONCE_TOO_LOW", source: "local", layer: "txpool" })).toBe(1);
    expect(pool("number_of_transactions", { layer: "prioritized" })).toBe(0);
    expect(pool("number_of_transactions", { layer: "sparse" })).toBe(1);
    expect(pool("number_of_transactions_by_type", { layer: "sparse", type: "FRONTIER" })).toBe(1);
    expect(pool("space_used", { layer: "sparse" })).toBe(aTransaction({ nonce: 7n }).raw.length);
    expect(pool("transactions_added_total", { source: "local" })).toBe(4);
    expect(pool("transactions_removed_total", { operation: "addedToBlock" })).toBe(3);
    expect(sampleValue(families, "tx_rejected_total", { reason: "NONCE_TOO_LOW", source: "local" })).toBe(1);
    const statistics = await node.rpc<{ localCount: number; remoteCount: number }>("txpool_besuStatistics");
    expect(pool("transactions")).toBe(statistics.localCount + statistics.remoteCount);
  });

  it("count calls and errors by method, open connections, and refused requests", async () => {
    const families = await scrape();
    const errors = (rpcMethod: string, errorType: string) =>
      sampleValue(families, "besu_rpc_errors_count_total", { rpcMethod, errorType });
    const calls = (methodName: string) =>
      sampleValue(families, "besu_rpc_request_time_count", { methodName });
    expect(calls("eth_sendRawTransaction")).toBe(6);
    expect(calls("eth_subscribe")).toBe(2);
    expect(calls("eth_nonsense")).toBeUndefined();
    expect(errors("eth_sendRawTransaction", "NONCE_TOO_LOW")).toBe(1);
    expect(errors("eth_sendRawTransaction", "ETH_SEND_TX_REPLACEMENT_UNDERPRICED")).toBe(1);
    expect(errors("eth_getBalance", "INVALID_PARAMS")).toBe(1);
    expect(errors("unknown", "METHOD_NOT_FOUND")).toBe(1);
    expect(sampleValue(families, "besu_rpc_active_ws_connection_count")).toBe(1);
    expect(sampleValue(families, "besu_rpc_subscription_subscribe_total", { type: "newHeads" })).toBe(1);
    expect(sampleValue(families, "besu_rpc_subscription_unsubscribe_total", { type: "syncing" })).toBe(1);
    expect(sampleValue(families, "rpc_requests_rejected_total", { reason: "batch" })).toBe(1);
    expect(sampleValue(families, "rpc_requests_rejected_total", { reason: "host" })).toBe(0);
  });

  it("show consensus, the process and the disk", async () => {
    const families = await scrape();
    const value = (name: string, labels = {}) => sampleValue(families, name, labels) ?? Number.NaN;
    expect([value("bft_validators"), value("bft_quorum"), value("bft_is_validator")]).toEqual([1, 1, 1]);
    // Consensus may be notified of a head a moment after the metrics are read.
    const height = value("ethereum_blockchain_height");
    expect([height, height + 1]).toContain(value("bft_height"));
    expect([height - 1, height]).toContain(value("bft_commit_seconds_count"));
    expect(value("bft_block_propose_seconds", { quantile: "1.0" })).toBeGreaterThan(0);
    expect(value("besu_executors_ethscheduler_computation_pool_size_current")).toBeGreaterThan(0);
    expect(value("node_thread_failures_total", { thread: "callWorker" })).toBe(0);
    expect(value("bft_paused", { reason: "operator" })).toBe(0);
    expect(value("tx_pool_fill_ratio")).toBeCloseTo(1 / 60_000);
    expect(value("besu_executors_ethscheduler_transactions_queue_length_current")).toBe(0);
    expect(value("node_head_age_seconds")).toBeLessThan(HANG_MS / 1000);
    expect(value("node_disk_free_bytes")).toBeGreaterThan(1e6);
    expect(value("node_db_size_bytes")).toBeGreaterThan(1000);
    expect(value("process_open_fds")).toBeLessThan(value("process_max_fds"));
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(3e7);
    expect(value("process_own_memory_bytes")).toBeGreaterThan(3e7);
    expect(value("process_mapped_memory_bytes")).toBeGreaterThan(1e6);
    expect(value("process_start_time_seconds")).toBeLessThan(Date.now() / 1000);
    expect(value("jvm_memory_bytes_used", { area: "heap" })).toBeGreaterThan(1e6);
    expect(value("jvm_threads_current")).toBeGreaterThan(1);
  });

  it("show why blocks are paused", async () => {
    const paused = async () => sampleValue(await scrape(), "bft_paused", { reason: "operator" });
    await node.rpc("miner_stop");
    expect(await paused()).toBe(1);
    await node.rpc("miner_start");
    expect(await paused()).toBe(0);
  });

  it("are found where net_services says", async () => {
    const services = await node.rpc<{ metrics: { port: string } }>("net_services");
    expect(services.metrics.port).toBe(new URL(metricsUrl).port);
  });
});

it("a metrics port in use is reported like that of any server, with the option to change", async () => {
  const { port } = new URL(metricsUrl);
  const started = startNodeProcess({ options: ["--metrics-enabled", `--metrics-port=${port}`] });
  await expect(started).rejects.toThrow(new RegExp(`${port} is in use .* --metrics-port`));
});
