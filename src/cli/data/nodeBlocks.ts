import type { Endpoint, RpcAnswer, RpcRequest } from "../compare/endpoint.ts";
import { firstBlockOf, isNull } from "../compare/firstBlock.ts";
import { headOf } from "../compare/identity.ts";
import { BadAnswer, type JsonObject, objectOf, objectsOf, textOf, wholeNumberOf } from "./answers.ts";
import { EXPORT_LIMITS } from "./limits.ts";
import type { Range } from "./ranges.ts";
import type { BlockData, Need } from "./tables/blockData.ts";

/** The node has answered with an error repeatedly. */
export class NodeRefused extends Error {
  override name = "NodeRefused";
}

/** Blocks do not follow each other: the chain was rewound while they were read. */
export class ChainChanged extends Error {
  override name = "ChainChanged";
}

export interface BlockSource {
  readonly node: Endpoint;
  readonly chainId: number;
  readonly needs: ReadonlySet<Need>;
  /** The pace, which is updated with each block of the export. */
  readonly pace: Pace;
  /** Resolves after `milliseconds`, or throws the reason of a stop. */
  sleep(milliseconds: number): Promise<void>;
}

/**
 * The blocks of a range in order, with their receipts and traces. A few pieces are requested ahead. Throws ChainChanged,
 * BadAnswer, NodeRefused, NodeUnreachable and Stopped.
 */
export async function* blocksOf(
  { from, to }: Range,
  parentHash: string | undefined,
  source: BlockSource,
): AsyncGenerator<BlockData, void> {
  const ahead: Piece[] = [];
  const { pace } = source;
  let next = from;
  let parent = parentHash;
  while (next <= to || ahead.length > 0) {
    while (next <= to && ahead.length < EXPORT_LIMITS.piecesAhead) {
      const last = Math.min(to, next + pace.blocks() - 1);
      const piece = askForPiece({ from: next, to: last }, source);
      ahead.push(piece);
      next = last + 1;
    }
    const piece = ahead.shift();
    if (piece === undefined) break;
    for await (const data of readPiece(piece, source)) {
      if (parent !== undefined && data.parentHash !== parent)
        throw new ChainChanged(`block ${data.number} does not follow the one before it`);
      parent = data.hash;
      pace.count();
      yield data;
    }
  }
}

/** Decides how many blocks are requested at once: few when their answers are large. */
interface Pace {
  blocks(): number;
  /** Called with each block that was read. */
  count(): void;
}

/** `bytesRead` returns the bytes of all answers so far. */
export function createPace(bytesRead: () => number): Pace {
  let [blocks, bytes] = [0, bytesRead()];
  let perBlock: number = EXPORT_LIMITS.pieceBytes;
  return {
    count(): void {
      blocks++;
      if (blocks < EXPORT_LIMITS.blocksPerPiece) return;
      perBlock = (bytesRead() - bytes) / blocks;
      [blocks, bytes] = [0, bytesRead()];
    },
    blocks: () =>
      Math.max(1, Math.min(EXPORT_LIMITS.blocksPerPiece, Math.floor(EXPORT_LIMITS.pieceBytes / perBlock))),
  };
}

/** Blocks that are requested ahead of their turn. */
interface Piece extends Range {
  /** The answers; undefined when they are too large to hold. */
  readonly answers: Promise<readonly RpcAnswer[] | undefined>;
}

function askForPiece({ from, to }: Range, { node, needs }: BlockSource): Piece {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const requests = numbers.flatMap((number) => requestsOf(number, needs));
  const answers = node.askTogether(requests, EXPORT_LIMITS.pieceAnswerBytes);
  // The promise is awaited in its turn; until then a failure must not count as unhandled.
  answers.catch(() => undefined);
  return { from, to, answers };
}

async function* readPiece(piece: Piece, source: BlockSource): AsyncGenerator<BlockData, void> {
  const answers = await piece.answers;
  for (let number = piece.from; number <= piece.to; number++) {
    const requests = requestsOf(number, source.needs);
    const at = (number - piece.from) * requests.length;
    const answered = answers?.slice(at, at + requests.length) ?? (await source.node.ask(requests));
    yield await readBlock(number, answered, source);
  }
}

function requestsOf(number: number, needs: ReadonlySet<Need>): readonly RpcRequest[] {
  const name = `0x${number.toString(16)}`;
  return [
    { method: "eth_getBlockByNumber", params: [name, true] },
    ...(needs.has("receipts") ? [{ method: "eth_getBlockReceipts", params: [name] }] : []),
    ...(needs.has("traces") ? [{ method: "trace_block", params: [name] }] : []),
  ];
}

/** Requests a single block again that was answered with an error. */
async function readBlock(
  number: number,
  answered: readonly RpcAnswer[],
  source: BlockSource,
): Promise<BlockData> {
  const requests = requestsOf(number, source.needs);
  let answers = answered;
  let pauseMs: number = EXPORT_LIMITS.firstPauseMs;
  for (let tries = 1; ; tries++) {
    const refusal = refusalAmong(answers, requests, number);
    const [block] = answers;
    if (block !== undefined && isNull(block)) throw await absenceOf(number, source);
    if (refusal === undefined) return blockDataOf(number, answers, source);
    if (refusal.isFinal || tries > EXPORT_LIMITS.askedAgain) throw new NodeRefused(refusal.reason);
    await source.sleep(pauseMs);
    pauseMs *= 2;
    answers = await source.node.ask(requests);
  }
}

async function absenceOf(number: number, { node }: BlockSource): Promise<NodeRefused> {
  const first = await firstBlockOf(node, (await headOf(node)) ?? 0n);
  const cause = "it was made from a snapshot, or removes old ones (--block-history)";
  return new NodeRefused(
    first <= BigInt(number)
      ? `The node has no block ${number}.`
      : `The node has no block ${number}, only those from ${first} on: ${cause}. Use --start-block=${first}, or a node that has all blocks.`,
  );
}

interface Refusal {
  readonly reason: string;
  /** True when a retry would not help. */
  readonly isFinal: boolean;
}

/** Codes of "method not found", and of "method not enabled" in Besu and Ibex. */
const NO_SUCH_METHOD: readonly unknown[] = [-32601, -32604];

function refusalAmong(
  answers: readonly RpcAnswer[],
  requests: readonly RpcRequest[],
  number: number,
): Refusal | undefined {
  for (const [index, { method }] of requests.entries()) {
    const answer = answers[index];
    const about = `${method} of block ${number}`;
    if (answer === undefined) return { reason: `The node does not answer ${about}.`, isFinal: false };
    if (answer.kind === "unread")
      return { reason: `The answer to ${about}: ${answer.reason}.`, isFinal: true };
    if (answer.error === undefined) continue;
    const { code, message } = objectOf(answer.error, "an error");
    if (NO_SUCH_METHOD.includes(code))
      return {
        reason: `The node does not offer ${method}: start it with ${method.startsWith("trace") ? "TRACE" : "ETH"} in --rpc-http-api.`,
        isFinal: true,
      };
    const advice = /world state unavailable/i.test(String(message)) ? NO_STATE_ADVICE : "";
    return { reason: `The node answers ${about} with an error: ${String(message)}${advice}`, isFinal: false };
  }
  return undefined;
}

const NO_STATE_ADVICE =
  ". It does not have the state before that block: it was made from a snapshot, or removes old states (--state-history). Use a later " +
  "--start-block, leave out the traces, or use a node that has all states.";

function blockDataOf(number: number, answers: readonly RpcAnswer[], source: BlockSource): BlockData {
  const [block, ...rest] = answers.map((answer) => (answer.kind === "answer" ? answer.result : undefined));
  const header = objectOf(block, `block ${number}`);
  const hash = textOf(header["hash"], "the hash of a block");
  const transactions = objectsOf(header["transactions"], "the list of transactions");
  const receipts = source.needs.has("receipts")
    ? objectsOf(rest.shift(), `the receipts of block ${number}`)
    : [];
  const traces = source.needs.has("traces") ? objectsOf(rest.shift(), `the traces of block ${number}`) : [];
  const data: BlockData = {
    number,
    hash,
    parentHash: textOf(header["parentHash"], "the parent's hash of a block"),
    chainId: source.chainId,
    block: header,
    transactions,
    receipts,
    traces,
  };
  checkBelongTogether(data, source.needs);
  return data;
}

/**
 * Checks that a block, its receipts and its traces belong together: they are answered one after another, and the chain may
 * be rewound in between.
 */
function checkBelongTogether(data: BlockData, needs: ReadonlySet<Need>): void {
  const { number, hash, block, transactions, receipts, traces } = data;
  if (wholeNumberOf(block["number"]) !== BigInt(number))
    throw new BadAnswer(`block ${number} has another number`);
  const isOfBlock = (part: JsonObject): boolean => part["blockHash"] === hash;
  if (!receipts.every(isOfBlock) || !traces.every(isOfBlock))
    throw new ChainChanged(`block ${number} was replaced while it was read`);
  if (needs.has("receipts") && receipts.length !== transactions.length)
    throw new BadAnswer(
      `block ${number} has ${transactions.length} transactions and ${receipts.length} receipts`,
    );
}
