import { rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { readSettings } from "../../config/readSettings.ts";
import type { Settings } from "../../config/settings.ts";
import { bigintType, bytesType, pathType, type ValueType } from "../../config/valueTypes.ts";
import { createLogger } from "../../observability/logger.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { asHash, type Hash } from "../../primitives/hash.ts";
import { fail } from "../../primitives/result.ts";
import { isDiskAtFault } from "../../storage/diskErrors.ts";
import { reportDiskErrors, reportFailure } from "../commandErrors.ts";
import { EXIT } from "../exitCodes.ts";
import { refuseMarkedFolder } from "../markedFolder.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

const FILE = { ...pathType, label: "<FILE>" };
const BLOCK_NUMBER = bigintType({ label: "<LONG>", max: 2n ** 53n - 1n });
const HASH_BYTES = bytesType({ maxBytes: 32 });
const HASH: ValueType<Hash> = {
  arity: "single",
  label: "<HASH>",
  accepts: "a hash of 64 hexadecimal digits",
  read(text) {
    const bytes = HASH_BYTES.read(text);
    if (bytes.ok && bytes.value.length === 32) return { ok: true, value: asHash(bytes.value) };
    return fail("caller", "badValue", `'${text}' is not a hash of 64 hexadecimal digits`);
  },
  show: (hash) => HASH_BYTES.show(hash),
};
const HEAD_OR_NUMBER: ValueType<bigint | "head"> = {
  arity: "single",
  label: "<LONG|head>",
  accepts: "a block number, or head",
  offers: ["head"],
  read: (text) => (text === "head" ? { ok: true, value: "head" } : BLOCK_NUMBER.read(text)),
  show: String,
};

export const SNAPSHOT_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "snapshot export",
    help:
      "Write the state at a block to a file, with the node stopped: a new node that imports it needs no earlier block. " +
      "Prints the block's hash, which the import asks for.",
    options: {
      to: {
        type: FILE,
        isRequired: true,
        help: "File to write. It replaces an old one when it is complete.",
      },
      block: {
        type: HEAD_OR_NUMBER,
        default: "head",
        help: "The block whose state is written; the node must have this state.",
      },
    },
    nodeOptions: ["data-path", "genesis-file", "config-file"],
    run: exportTo,
  }),
  defineCommand({
    words: "snapshot import",
    help:
      "Create the chain of an empty data folder from a snapshot, with the node stopped. Everything is checked against the " +
      "block hash that you give: get it from someone you trust, not from the source of the file.",
    options: {
      from: { type: FILE, isRequired: true, help: "File that snapshot export wrote." },
      "block-hash": { type: HASH, isRequired: true, help: "Hash of the snapshot's block." },
    },
    nodeOptions: ["data-path", "genesis-file", "config-file"],
    run: importFrom,
  }),
];

interface ExportValues {
  readonly to: string;
  readonly block: bigint | "head";
}

async function exportTo({ values, io, raw, unknown }: Invocation<ExportValues>): Promise<number> {
  const settings = readSettings({ ...io, raw, unknown });
  if (!settings.ok) return refuse(settings.error.message, io);
  const { dataPath } = settings.value;
  const unmarked = refuseMarkedFolder(dataPath, "its states are not exported");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  return reportDiskErrors(io, async () => {
    const { openStoredBlocks } = await import("../blocks/storedBlocks.ts");
    const stored = await openStoredBlocks(dataPath);
    if (stored === undefined)
      return refuse(`There is no chain to export in the data folder ${dataPath}.`, io);
    try {
      return await writeSnapshot(settings.value, values, stored, io);
    } finally {
      await stored.close();
    }
  });
}

type Stored = NonNullable<Awaited<ReturnType<typeof import("../blocks/storedBlocks.ts").openStoredBlocks>>>;

/** Writes to a temporary file and renames it, so that a partial snapshot never has the final name. */
async function writeSnapshot(
  settings: Settings,
  { to, block }: ExportValues,
  { blocks, database, head }: Stored,
  io: ProcessIo,
): Promise<number> {
  const { exportSnapshot, exportFields } = await import("../snapshot/exportSnapshot.ts");
  const { isChainOf } = await import("../../chain/genesisBlock.ts");
  const { withGenesisOfChain } = await import("../../node/dataFolder/genesisOfChain.ts");
  const { chainSpec, genesisFile, dataPath, logging } = withGenesisOfChain(settings, blocks);
  if (!isChainOf(chainSpec, blocks))
    return refuse(`The genesis file ${genesisFile} does not belong to the chain stored in ${dataPath}.`, io);
  const number = block === "head" ? head.header.number : block;
  const path = resolve(io.workingDirectory, to);
  const partPath = `${path}.part`;
  const logger = createLogger(logging);
  const isStopped = listen(io);
  try {
    const result = await exportSnapshot({
      ...{ spec: chainSpec, database, blocks, number, path: partPath, logger, isStopped },
    });
    if (!result.ok) return reportFailure(result.error.message, io, EXIT.failed);
    if (result.value === undefined) {
      await rm(partPath, { force: true });
      return reportFailure("The export was stopped; there is no snapshot.", io, EXIT.failed);
    }
    await rename(partPath, path);
    const fields = exportFields(result.value, to);
    logger.info(fields, "export finished");
    io.print(`block: ${fields.number}\nblock hash: ${fields.hash}\n`);
    return EXIT.ok;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!/^E[A-Z]+$/.test(code)) throw error;
    const message = `The file ${to} cannot be written: ${messageOf(error)}`;
    return isDiskAtFault(error) ? reportFailure(message, io, EXIT.disk) : refuse(message, io);
  }
}

interface ImportValues {
  readonly from: string;
  readonly "block-hash": Hash;
}

async function importFrom({ values, io, raw, unknown }: Invocation<ImportValues>): Promise<number> {
  const settings = readSettings({ ...io, raw, unknown });
  if (!settings.ok) return refuse(settings.error.message, io);
  const unmarked = refuseMarkedFolder(settings.value.dataPath, "no snapshot is imported into it");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  const logger = createLogger(settings.value.logging);
  return reportDiskErrors(io, async () => {
    const { importSnapshot } = await import("../snapshot/importSnapshot.ts");
    const result = await importSnapshot({
      settings: settings.value,
      file: { name: values.from, path: resolve(io.workingDirectory, values.from) },
      blockHash: values["block-hash"],
      logger,
      isStopped: listen(io),
    });
    if (!result.ok) {
      const { code, message } = result.error;
      return reportFailure(message, io, code === "diskFailure" ? EXIT.disk : exitCodeOfRefusal(code));
    }
    if (result.value === undefined)
      return reportFailure("The import was stopped; the data folder has no chain.", io, EXIT.failed);
    const { block, accounts, slots } = result.value;
    logger.info({ number: block.header.number, hash: block.hash, accounts, slots }, "import finished");
    return EXIT.ok;
  });
}

/** Arguments that do not fit are bad input; a file that turns out to be wrong is a failed command, as in blocks import. */
function exitCodeOfRefusal(code: string): number {
  return code === "badSnapshot" ? EXIT.failed : EXIT.badInput;
}

/** Returns a function that tells whether a stop was requested. */
function listen(io: ProcessIo): () => boolean {
  let isStopped = false;
  void io.awaitStop().received.then(() => {
    isStopped = true;
  });
  return () => isStopped;
}
