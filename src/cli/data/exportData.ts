import { translateDiskError } from "../../storage/diskErrors.ts";
import { reportFailure } from "../commandErrors.ts";
import { Endpoint, NodeUnreachable } from "../compare/endpoint.ts";
import { headOf, identify, type NodeIdentity } from "../compare/identity.ts";
import { Stop, Stopped } from "../compare/stop.ts";
import { EXIT } from "../exitCodes.ts";
import { PrintedOutput } from "../printedOutput.ts";
import type { ProcessIo } from "../processIo.ts";
import { BadAnswer } from "./answers.ts";
import { type ExportFolder, openExportFolder } from "./exportFolder.ts";
import { ExportProgress, rangeText } from "./exportProgress.ts";
import type { Naming } from "./fileNames.ts";
import { tableFilesOf } from "./files/fileFormat.ts";
import { EXPORT_LIMITS } from "./limits.ts";
import { ChainChanged, createPace, NodeRefused } from "./nodeBlocks.ts";
import { missingRanges, type Range } from "./ranges.ts";
import { replacedRanges } from "./replacedRanges.ts";
import type { Table } from "./tables/table.ts";
import { type RangeWriter, writeRange } from "./writeRange.ts";

interface DataExportRequest {
  readonly node: URL;
  readonly folder: string;
  readonly startBlock: number;
  /** End of the range, exclusive; undefined for the newest block, or for no end while following. */
  readonly endBlock: number | undefined;
  readonly isFollowing: boolean;
  readonly blocksPerFile: number;
  readonly tables: readonly Table[];
  readonly columns: "default" | "all";
  /** How files are named, with the network's name if the caller gives one. */
  readonly naming: Omit<Naming, "network"> & { readonly network: string | undefined };
  /** How long the node may be away; for ever while following. */
  readonly giveUpAfterMs: number;
}

/**
 * Exports a range of blocks from a running node into files, and returns the exit code.
 *
 *     identity ──> the folder of the export ──> ranges that it lacks ──> new ones, while following
 *                                                 └ blocks, receipts, traces ──> rows ──> a file for each table
 *
 * The node is read over JSON-RPC, because it holds its database while it runs. Invariants: a file is complete or absent, and
 * a range has all of its files or none (exportFolder.ts); the same blocks and options give the same files, however often the
 * export was stopped; blocks of a chain that was rewound are removed and rewritten.
 */
export async function exportData(request: DataExportRequest, processIo: ProcessIo): Promise<number> {
  const output = new PrintedOutput(processIo);
  const io: ProcessIo = { ...processIo, print: output.print };
  const stop = new Stop(io.awaitStop().received);
  let bytesRead = 0;
  let isAway = false;
  const node = new Endpoint(request.node, {
    answerBytes: EXPORT_LIMITS.answerBytes,
    parse(text) {
      bytesRead += text.length;
      return JSON.parse(text);
    },
    giveUpAfterMs: request.isFollowing ? Number.POSITIVE_INFINITY : request.giveUpAfterMs,
    stop: stop.signal,
    sleep: (milliseconds) => stop.sleep(milliseconds),
    nowMs: () => performance.now(),
    onAway: (name, reason) => {
      if (!isAway) io.print(`${name} does not answer; waiting for it: ${reason}\n`);
      isAway = true;
    },
    onBack: () => {
      isAway = false;
    },
  });
  try {
    return await exportFrom(node, () => bytesRead, request, stop, { ...io, output });
  } catch (error) {
    return reportEnd(error, request, io);
  }
}

/** Throws errors that are bugs. */
function reportEnd(error: unknown, { isFollowing, folder }: DataExportRequest, io: ProcessIo): number {
  if (error instanceof Stopped) {
    io.print("Stopped. Run the command again to continue.\n");
    return isFollowing ? EXIT.ok : EXIT.failed;
  }
  if (error instanceof BadAnswer)
    return reportFailure(`The node's answer violates JSON-RPC: ${error.message}.`, io, EXIT.failed);
  if (error instanceof NodeUnreachable || error instanceof NodeRefused || error instanceof ChainChanged)
    return reportFailure(error.message, io, EXIT.failed);
  const translated = translateDiskError(error, `The export in ${folder} cannot be written`);
  if (translated === error) throw error;
  const advice = "Complete files stay; run the command again to continue.";
  return reportFailure(`${messageWithoutAdvice(translated.message)} ${advice}`, io, EXIT.disk);
}

/** Removes the advice in the node's disk errors, which is to start the node. */
function messageWithoutAdvice(message: string): string {
  return message.replace(/,? then start the node again\.$/, ".").replace("--data-path", "--to");
}

async function exportFrom(
  node: Endpoint,
  bytesRead: () => number,
  request: DataExportRequest,
  stop: Stop,
  io: ProcessIo & { readonly output: PrintedOutput },
): Promise<number> {
  const identity = await identify(node);
  if (!identity.ok) return reportFailure(identity.error.message, io, EXIT.badInput);
  const chainId = Number(identity.value.chainId);
  const network = request.naming.network ?? `network_${chainId}`;
  const naming: Naming = { ...request.naming, network };
  const progress = new ExportProgress(io.output, rangeOf(request, Number(identity.value.head)));
  const opened = openExportFolder(request.folder, settingsOf(request, naming, identity.value), {
    processId: io.processId,
    onDamage: (range, path) =>
      io.print(`${path} is missing or damaged: ${rangeText(range)} will be rewritten\n`),
  });
  if (!opened.ok) return reportFailure(opened.error.message, io, EXIT.badInput);
  const folder = opened.value;
  try {
    const { tables } = request;
    const needs = new Set(tables.flatMap((table) => table.needs));
    const source = {
      node,
      chainId,
      needs,
      pace: createPace(bytesRead),
      sleep: (milliseconds: number) => stop.sleep(milliseconds),
    };
    const createFile = await tableFilesOf(naming.format);
    const writer: RangeWriter = { tables, naming, folder, source, progress, createFile };
    const wasWritten = await exportRanges(writer, identity.value, request, stop, io).finally(() =>
      progress.end(),
    );
    if (wasWritten) io.print(`Exported: ${progress.summary()}\n`);
    return wasWritten ? EXIT.ok : EXIT.failed;
  } finally {
    folder.close();
  }
}

function settingsOf(
  { tables, columns }: DataExportRequest,
  naming: Naming,
  { chainId, genesisHash }: NodeIdentity,
) {
  return {
    format: 1 as const,
    chainId: Number(chainId),
    genesisHash,
    schema: naming.schema,
    tables: tables.map(({ name }) => name),
    columns,
    fileFormat: naming.format,
    compression: naming.compression,
    network: naming.network,
  };
}

/** Exports the ranges; false when there is nothing to export. */
async function exportRanges(
  writer: RangeWriter,
  { client, head }: NodeIdentity,
  request: DataExportRequest,
  stop: Stop,
  io: ProcessIo,
): Promise<boolean> {
  const { startBlock, endBlock, isFollowing } = request;
  const { node } = writer.source;
  const newest = Number(head);
  const last = lastOf(request, newest);
  if (!isFollowing && startBlock > last) {
    io.printError(`Block ${startBlock} is above the newest block, ${newest}.\n`);
    return false;
  }
  const end = isFollowing ? (endBlock === undefined ? undefined : endBlock - 1) : last;
  io.print(
    `Exporting ${end === undefined ? `block ${startBlock} and all later ones` : rangeText({ from: startBlock, to: end })} ` +
      `of ${node.name} (${client}) to ${request.folder}\n`,
  );
  for (let seen = newest; ; seen = Number((await headOf(node)) ?? seen)) {
    await removeReplaced(writer, io);
    await writeMissing({ from: startBlock, to: Math.min(seen, end ?? seen) }, end, writer, request, io);
    if (!isFollowing || (end !== undefined && isDone(end, writer.folder))) return true;
    await stop.sleep(EXPORT_LIMITS.pollMs);
  }
}

/** The last block of an export that does not follow the chain. */
function lastOf({ endBlock }: DataExportRequest, newest: number): number {
  return Math.min(endBlock === undefined ? newest : endBlock - 1, newest);
}

/** The blocks of an export; undefined for one without end. */
function rangeOf(request: DataExportRequest, newest: number): Range | undefined {
  return request.isFollowing ? undefined : { from: request.startBlock, to: lastOf(request, newest) };
}

function isDone(block: number, { ranges }: ExportFolder): boolean {
  return ranges.some(({ from, to }) => from <= block && block <= to);
}

/** Writes the missing ranges of these blocks; starts over when the chain is rewound meanwhile. */
async function writeMissing(
  wanted: Range,
  end: number | undefined,
  writer: RangeWriter,
  { isFollowing, blocksPerFile }: DataExportRequest,
  io: ProcessIo,
): Promise<void> {
  const { folder, source } = writer;
  for (let tries = 1; ; tries++) {
    try {
      for (const range of missingRanges(wanted, folder.ranges, blocksPerFile)) {
        // While following, the newest range waits until all of its blocks exist.
        const isGrowing = range.to === wanted.to && range.to !== end && (range.to + 1) % blocksPerFile !== 0;
        if (isFollowing && isGrowing) continue;
        const before = folder.ranges.find(({ to }) => to === range.from - 1);
        await writeRange(range, before?.lastHash, writer);
      }
      return;
    } catch (error) {
      if (!(error instanceof ChainChanged) || tries >= EXPORT_LIMITS.writtenAnew) throw error;
      io.print(`The chain was rewound: ${error.message}\n`);
      await source.sleep(EXPORT_LIMITS.pollMs);
      await removeReplaced(writer, io);
    }
  }
}

/** Removes ranges whose blocks are no longer on the chain. */
async function removeReplaced({ folder, source }: RangeWriter, io: ProcessIo): Promise<void> {
  const replaced = await replacedRanges(folder.ranges, source.node);
  for (const range of replaced) io.print(`The chain was rewound: ${rangeText(range)} will be rewritten\n`);
  folder.remove(replaced);
}
