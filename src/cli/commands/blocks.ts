import { resolve } from "node:path";
import { readConfiguration, readDataFolder } from "../../config/readSettings.ts";
import type { Settings } from "../../config/settings.ts";
import { bigintType, choiceType, pathType, switchType } from "../../config/valueTypes.ts";
import { createLogger, type Logger, type LoggingSettings } from "../../observability/logger.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { smaller } from "../../primitives/quantity.ts";
import type { BlockStore } from "../../storage/blocks/blockStore.ts";
import { isDiskAtFault } from "../../storage/diskErrors.ts";
import { readHistoryStart } from "../../storage/historyStart.ts";
import { reportDiskErrors, reportFailure, reportOpenError } from "../commandErrors.ts";
import { EXIT } from "../exitCodes.ts";
import { refuseMarkedFolder } from "../markedFolder.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

const FILE = { ...pathType, label: "<FILE>" };
const BLOCK_NUMBER = bigintType({ label: "<LONG>", max: 2n ** 63n - 1n });
const FORMAT = {
  type: choiceType(["RLP", "JSON"]),
  default: "RLP",
  help: "Format of the file: RLP, one block after another. JSON is refused.",
} as const;
const START_BLOCK = { type: BLOCK_NUMBER, default: "0", help: "The first block." } as const;
const END_BLOCK = {
  type: BLOCK_NUMBER,
  help: "The block to stop before. Default: none, so all blocks to the end.",
} as const;

export const BLOCKS_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "blocks import",
    help:
      "Validate, execute and store the blocks of files, with the node stopped. Known blocks are skipped, so a stopped " +
      "import continues when it is run again.",
    options: {
      from: { type: FILE, help: "File with the blocks." },
      format: FORMAT,
      "start-block": START_BLOCK,
      "end-block": END_BLOCK,
      "start-time": { type: BLOCK_NUMBER, help: "For JSON, which is refused." },
      "skip-pow-validation-enabled": {
        type: switchType,
        help: "Accepted; there is no proof of work in these blocks.",
      },
      run: { type: switchType, help: "Run the node after the import." },
    },
    nodeOptions: ["data-path", "genesis-file", "config-file"],
    operands: "<FILE>...",
    run: importFrom,
  }),
  defineCommand({
    words: "blocks export",
    help: "Write blocks to a file, with the node stopped.",
    options: {
      to: {
        type: FILE,
        isRequired: true,
        help: "File to write; with --start-block the blocks are appended.",
      },
      format: FORMAT,
      "start-block": { type: BLOCK_NUMBER, help: "The first block. Default: 0." },
      "end-block": END_BLOCK,
    },
    nodeOptions: ["data-path", "config-file"],
    run: exportTo,
  }),
];

interface ImportValues {
  readonly from: string | undefined;
  readonly format: "RLP" | "JSON";
  readonly "start-block": bigint;
  readonly "end-block": bigint | undefined;
  readonly run: boolean | undefined;
}

async function importFrom(invocation: Invocation<ImportValues>): Promise<number> {
  const { values, operands, io, raw, unknown } = invocation;
  const names = [...(values.from === undefined ? [] : [values.from]), ...operands];
  if (names.length === 0) return refuse("No files specified to import.", io);
  const badRange = checkRange(values["start-block"], values["end-block"]);
  if (badRange !== undefined) return refuse(badRange, io);
  if (values.format === "JSON") return refuse(NO_JSON, io);
  const configuration = readConfiguration({ ...io, raw, unknown });
  if (!configuration.ok) return refuse(configuration.error.message, io);
  const { settings } = configuration.value;
  const unmarked = refuseMarkedFolder(settings.dataPath, "no blocks are imported into it");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  const logger = createLogger(settings.logging);
  const exitCode = await reportDiskErrors(io, () => importWith(settings, names, logger, invocation));
  if (exitCode !== EXIT.ok || values.run !== true) return exitCode;
  return invocation.runNode(configuration.value, logger);
}

async function importWith(
  settings: Settings,
  names: readonly string[],
  logger: Logger,
  { values, io }: Invocation<ImportValues>,
): Promise<number> {
  const { openImportChain } = await import("../blocks/importChain.ts");
  const { importBlocks, measureFiles } = await import("../blocks/importBlocks.ts");
  const files = names.map((name) => ({ name, path: resolve(io.workingDirectory, name) }));
  const measured = await measureFiles(files);
  if (!measured.ok) return reportFailure(measured.error.message, io, EXIT.failed);
  const isStopped = listen(io);
  const opened = await openImportChain(settings, logger);
  if (!opened.ok) return reportOpenError(opened.error, settings, io);
  try {
    const request = {
      files,
      startBlock: values["start-block"],
      endBlock: values["end-block"],
      isStopped,
    };
    const result = await importBlocks(request, opened.value, logger);
    if (!result.ok) return reportFailure(result.error.message, io, EXIT.failed);
    return result.value.wasStopped ? EXIT.failed : EXIT.ok;
  } finally {
    await opened.value.close();
  }
}

interface ExportValues {
  readonly to: string;
  readonly format: "RLP" | "JSON";
  readonly "start-block": bigint | undefined;
  readonly "end-block": bigint | undefined;
}

async function exportTo({ values, io, raw }: Invocation<ExportValues>): Promise<number> {
  const startBlock = values["start-block"] ?? 0n;
  const badRange = checkRange(startBlock, values["end-block"]);
  if (badRange !== undefined) return refuse(badRange, io);
  if (values.format === "JSON") return refuse(NO_JSON, io);
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const { dataPath, logging } = folder.value;
  const unmarked = refuseMarkedFolder(dataPath, "its blocks are not exported");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  return reportDiskErrors(io, async () => {
    const { openStoredBlocks } = await import("../blocks/storedBlocks.ts");
    const stored = await openStoredBlocks(dataPath);
    if (stored === undefined) return refuse(`${CHAIN_IS_EMPTY}: ${dataPath}`, io);
    try {
      const after = stored.head.header.number + 1n;
      if (startBlock >= after)
        return reportFailure(
          `Block ${startBlock} is above the newest block, ${after - 1n}.`,
          io,
          EXIT.failed,
        );
      const { blocks: begin } = readHistoryStart(stored.database);
      if (startBlock < begin)
        return reportFailure(
          `This node has no whole blocks before block ${begin}: the snapshot that it was made from lacks them, or --block-history removed them. Give --start-block=${begin}.`,
          io,
          EXIT.failed,
        );
      const asked = values["end-block"] ?? after;
      const endBlock = smaller(asked, after);
      return await writeBlocks({ startBlock, endBlock, values, blocks: stored.blocks, io, logging });
    } finally {
      await stored.close();
    }
  });
}

interface WriteRequest {
  readonly startBlock: bigint;
  readonly endBlock: bigint;
  readonly values: ExportValues;
  readonly blocks: BlockStore;
  readonly io: ProcessIo;
  readonly logging: LoggingSettings;
}

async function writeBlocks(request: WriteRequest): Promise<number> {
  const { startBlock, endBlock, values, blocks, io, logging } = request;
  const { exportBlocks } = await import("../blocks/exportBlocks.ts");
  const isStopped = listen(io);
  const path = resolve(io.workingDirectory, values.to);
  const isAppended = values["start-block"] !== undefined;
  try {
    await exportBlocks({ path, startBlock, endBlock, isAppended, isStopped }, blocks, createLogger(logging));
    return isStopped() ? EXIT.failed : EXIT.ok;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!/^E[A-Z]+$/.test(code)) throw error;
    const message = `The file ${values.to} cannot be written: ${messageOf(error)}`;
    return isDiskAtFault(error) ? reportFailure(message, io, EXIT.disk) : refuse(message, io);
  }
}

const NO_JSON = "--format=JSON is not supported: blocks are imported and exported as RLP.";
const CHAIN_IS_EMPTY = "Chain is empty.  Unable to export blocks from specified data directory";

function checkRange(startBlock: bigint, endBlock: bigint | undefined): string | undefined {
  if (endBlock === undefined || endBlock > startBlock) return undefined;
  return `Parameter --end-block (${endBlock}) must be greater start block (${startBlock}).`;
}

/** Returns a function that tells whether a stop was requested. */
function listen(io: ProcessIo): () => boolean {
  let isStopped = false;
  void io.awaitStop().received.then(() => {
    isStopped = true;
  });
  return () => isStopped;
}
