import { joinBytes } from "../primitives/hex.ts";
import { type JsonWriter, jsonPieces } from "../primitives/jsonWriter.ts";
import type { Pacer } from "../primitives/pacer.ts";
import { hashesOf, type StoredBlock, transactionCountOf } from "../types/block.ts";
import { TRANSACTIONS_LIMIT } from "./limits.ts";

/** Who the node says that it is. */
export interface NodeIdentity {
  /** 0x and the hex of its public key. */
  readonly id: string;
  /** Port for peers; undefined when it does not listen. */
  readonly port: number | undefined;
  readonly clientVersion: string;
  readonly chainId: bigint;
  /** Protocols for peers, such as eth/68. */
  readonly protocols: readonly string[];
}

/** What the node says of itself every few seconds. */
export interface NodeStats {
  readonly isMining: boolean;
  readonly isSyncing: boolean;
  readonly peers: number;
  readonly pendingTransactions: number;
  readonly gasPriceWei: bigint;
}

interface Login {
  readonly nodeName: string;
  readonly secret: string;
  readonly contact: string;
  readonly platform: string;
  readonly architecture: string;
}

/** Introduces the node, with the server's secret: never for a log. */
export function helloText({ id, port = 0, ...node }: NodeIdentity, login: Login): string {
  return emitText("hello", {
    id,
    info: {
      name: login.nodeName,
      node: node.clientVersion,
      port: String(port),
      net: String(node.chainId),
      protocol: `[${node.protocols.join(", ")}]`,
      api: "No",
      os: login.platform,
      os_v: login.architecture,
      client: PROTOCOL_VERSION,
      canUpdateHistory: true,
      contact: login.contact,
    },
    secret: login.secret,
  });
}

/** Version of the program that first spoke this protocol, which Besu and go-ethereum name as well. */
const PROTOCOL_VERSION = "0.1.1";

export function pingText(id: string, nowMs: number): string {
  return emitText("node-ping", { id, clientTime: String(nowMs) });
}

export function latencyText(id: string, latencyMs: number): string {
  return emitText("latency", { id, latency: String(latencyMs) });
}

export function pendingText(id: string, { pendingTransactions }: NodeStats): string {
  return emitText("pending", { id, stats: { pending: pendingTransactions } });
}

export function statsText(id: string, { isMining, isSyncing, peers, gasPriceWei }: NodeStats): string {
  const stats = {
    active: true,
    mining: isMining,
    hashrate: 0,
    peers,
    gasPrice: Number(gasPriceWei),
    syncing: isSyncing,
    uptime: 100,
  };
  return emitText("stats", { id, stats });
}

/** Answers the server's heartbeat. */
export function heartbeatText(nowMs: number): string {
  return JSON.stringify(`primus::pong::${nowMs}`);
}

function emitText(name: string, content: object): string {
  return JSON.stringify({ emit: [name, content] });
}

/** The head, in a text that is made in steps. */
export function blockReport(id: string, block: StoredBlock, pacer: Pacer): Promise<Uint8Array> {
  return reportOf("block", id, pacer, function* (writer) {
    yield* writeBlock(writer, "block", block);
  });
}

/** Blocks that the server asked for, in the order that they are given in. */
export function historyReport(id: string, blocks: readonly StoredBlock[], pacer: Pacer): Promise<Uint8Array> {
  return reportOf("history", id, pacer, function* (writer) {
    writer.beginList("history");
    for (const block of blocks) yield* writeBlock(writer, "", block);
    writer.endList();
  });
}

async function reportOf(
  name: string,
  id: string,
  pacer: Pacer,
  write: (writer: JsonWriter) => Iterable<void>,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const text = jsonPieces(function* (writer) {
    writer.beginObject();
    writer.beginList("emit");
    writer.members(JSON.stringify(name));
    writer.beginObject();
    writer.members(`"id":${JSON.stringify(id)}`);
    yield* write(writer);
    writer.endObject();
    writer.endList();
    writer.endObject();
  }, PIECE_BYTES);
  for (const piece of text) {
    pieces.push(piece);
    if (pacer.isDue()) await pacer.yield();
  }
  return joinBytes(pieces);
}

const PIECE_BYTES = 16 * 1024;

/**
 * A block as go-ethereum reports it: with JSON numbers, which the server compares, and with the hashes of its transactions, of
 * which the server counts the number.
 */
function* writeBlock(writer: JsonWriter, name: string, block: StoredBlock): Generator<void, void> {
  const { header, hash, totalDifficulty } = block;
  writer.beginObject(name);
  writer.members(`"number":${header.number}`);
  writer.data("hash", hash);
  writer.data("parentHash", header.parentHash);
  writer.members(`"timestamp":${header.timestamp}`);
  writer.data("miner", header.coinbase);
  writer.members(`"gasUsed":${header.gasUsed},"gasLimit":${header.gasLimit}`);
  writer.members(`"difficulty":"${header.difficulty}","totalDifficulty":"${totalDifficulty}"`);
  writer.beginList("transactions");
  yield* writeHashes(writer, block);
  writer.endList();
  writer.data("transactionsRoot", header.transactionsRoot);
  writer.data("stateRoot", header.stateRoot);
  writer.beginList("uncles");
  writer.endList();
  writer.endObject();
  yield;
}

function* writeHashes(writer: JsonWriter, block: StoredBlock): Generator<void, void> {
  let left = Math.min(transactionCountOf(block), TRANSACTIONS_LIMIT);
  for (const hashes of hashesOf(block)) {
    for (let at = 0; at < hashes.length && left > 0; at += HASH_BYTES, left--) {
      writer.beginObject();
      writer.data("hash", hashes.subarray(at, at + HASH_BYTES));
      writer.endObject();
      if (left % STEP_HASHES === 0) yield;
    }
    if (left === 0) return;
    yield;
  }
}

const HASH_BYTES = 32;
/** Hashes between two pauses. */
const STEP_HASHES = 500;
