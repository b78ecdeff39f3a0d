import type { Hash } from "../../../primitives/hash.ts";
import { equalBytes, toHex } from "../../../primitives/hex.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import type { StandardTraceOptions } from "../../../tracers/standardTrace.ts";
import type { BlockChoice } from "../../../tracers/traceJob.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, optional, required } from "../../method.ts";
import { decodeBoolean, decodeHash, isAbsent, isObject } from "../../parameters/parameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { BOOLEAN, HASH, listOf, TEXT } from "../../schemas.ts";
import { decodeBadBlock } from "./badBlock.ts";

interface FileOptions extends StandardTraceOptions {
  /** The only transaction of the block to trace; all of them when absent. */
  readonly txHash?: Hash;
}

const BLOCK = required("block", decodeHash, HASH);
const OPTIONS = optional("options", decodeFileOptions, {
  type: "object",
  properties: { txHash: HASH, disableMemory: BOOLEAN },
});
const PATHS = { name: "paths", schema: listOf(TEXT) };

/** Memory is written only on request, as the interface document says; Besu writes it unless it is disabled. */
export const debugStandardTraceBlockToFile = defineMethod({
  name: "debug_standardTraceBlockToFile",
  namespace: "DEBUG",
  isGuarded: true,
  summary:
    "Executes the transactions of a block again and writes a trace file for each, one line per instruction.",
  parameters: [BLOCK, OPTIONS],
  result: PATHS,
  ports: ["chain", "clock", "jobs"],
  async run([hash, options = WHOLE], context) {
    const block = context.backend.chain.blockByHash(hash);
    if (block === undefined) return ERRORS.blockNotFound;
    const hashes = block.transactions.map((transaction) => transaction.hash);
    return writeFiles(context, { hash, hashes }, { number: block.header.number }, options);
  },
});

export const debugStandardTraceBadBlockToFile = defineMethod({
  name: "debug_standardTraceBadBlockToFile",
  namespace: "DEBUG",
  isGuarded: true,
  summary: "As debug_standardTraceBlockToFile, for a block rejected as invalid.",
  parameters: [BLOCK, OPTIONS],
  result: PATHS,
  ports: ["node", "clock", "jobs"],
  async run([hash, options = WHOLE], context) {
    const raw = await context.backend.node.badBlock(hash, context);
    if (raw === undefined) return ERRORS.blockNotFound;
    const { transactions } = await decodeBadBlock(raw, new EventLoopPacer());
    const hashes = transactions.map((transaction) => transaction.hash);
    return writeFiles(context, { hash, hashes }, { raw }, options);
  },
});

const WHOLE: FileOptions = { disableMemory: true };

function decodeFileOptions(value: unknown): FileOptions | undefined {
  if (!isObject(value)) return undefined;
  const { txHash, disableMemory } = value;
  const hash = isAbsent(txHash) ? undefined : decodeHash(txHash);
  const isDisabled = isAbsent(disableMemory) ? true : decodeBoolean(disableMemory);
  if (isDisabled === undefined || (hash === undefined && !isAbsent(txHash))) return undefined;
  return { disableMemory: isDisabled, ...(hash !== undefined && { txHash: hash }) };
}

/** Traces one transaction at a time, so that only one trace is in memory, and returns the paths of the files. */
async function writeFiles(
  context: ContextOf<"clock" | "jobs">,
  block: { readonly hash: Hash; readonly hashes: readonly Hash[] },
  choice: BlockChoice,
  { txHash, disableMemory }: FileOptions,
): Promise<Answer> {
  const { clock, jobs } = context.backend;
  const paths: string[] = [];
  for (const [index, hash] of block.hashes.entries()) {
    if (txHash !== undefined && !equalBytes(hash, txHash)) continue;
    const job = { kind: "file", block: choice, index, options: { disableMemory } } as const;
    const name = `block_${shortName(block.hash)}-${index}-${shortName(hash)}-${clock.nowMs()}`;
    const written = await jobs.traceToFile(job, name, context);
    if (written === "noRoom") return NO_ROOM;
    if (!("path" in written)) return traceAnswer(written);
    paths.push(written.path);
  }
  return paths;
}

const NO_ROOM = new RpcError(-32000, "No room for more trace files: remove some from the folder traces");

function shortName(hash: Hash): string {
  return toHex(hash).slice(0, 10);
}
