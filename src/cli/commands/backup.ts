import { join, resolve } from "node:path";
import { type ConfigSources, readDataFolder, readKeyFile } from "../../config/readSettings.ts";
import { integerType, pathType, switchType } from "../../config/valueTypes.ts";
import { Progress } from "../../observability/progress.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { translateDiskError } from "../../storage/diskErrors.ts";
import type { CopyPace } from "../backup/copyFile.ts";
import type { KeyToCopy } from "../backup/createBackup.ts";
import { KEY_NAME, KEYSTORE_NAME } from "../backup/fileList.ts";
import { reportDiskErrors, reportFailure } from "../commandErrors.ts";
import { EXIT } from "../exitCodes.ts";
import { refuseMarkedFolder } from "../markedFolder.ts";
import { PrintedOutput } from "../printedOutput.ts";
import { type ProcessIo, refuse } from "../processIo.ts";
import { type Command, defineCommand, type Invocation } from "./command.ts";

const FOLDER = { ...pathType, label: "<FOLDER>" };
const RATE = integerType({ label: "<MEGABYTES>", max: 1_000_000n });

export const BACKUP_COMMANDS: readonly Command[] = [
  defineCommand({
    words: "backup",
    help:
      "Back up the chain of a node, which may be running, and its lists of peers and permissions. Unchanged parts are hard " +
      "links to the previous backup, or to the node's own files on the same disk. The vote log is never copied. See " +
      "docs/operating/backup.md.",
    options: {
      to: {
        type: FOLDER,
        isRequired: true,
        help: "Folder for all backups of this node. Each backup is a folder in it, named by time and block.",
      },
      keep: {
        type: integerType({ label: "<COUNT>", min: 1n, max: 100_000n }),
        default: "7",
        help: "Number of backups of this chain to keep; older ones are removed once the new one is complete.",
      },
      "with-key": {
        type: switchType,
        help: "Also copy the node's private key, or its keystore without the password. The key is all that is needed to act as the validator.",
      },
      "max-mb-per-second": {
        type: RATE,
        default: "64",
        help: "Maximum speed of copying, so that the node's disk stays responsive; 0 for no limit.",
      },
    },
    nodeOptions: [
      "data-path",
      "config-file",
      "node-private-key-file",
      "node-keystore-file",
      "node-keystore-password-file",
    ],
    run: backUp,
  }),
  defineCommand({
    words: "backup restore",
    help:
      "Put the chain of a backup into a data folder that has none, with the node stopped. All files are checked. What a " +
      "restored validator may do: docs/operating/backup.md.",
    options: {
      from: { type: FOLDER, isRequired: true, help: "One backup: a folder with the file backup.json." },
    },
    nodeOptions: ["data-path", "config-file"],
    run: restore,
  }),
];

interface BackupValues {
  readonly to: string;
  readonly keep: number;
  readonly "with-key": boolean | undefined;
  readonly "max-mb-per-second": number;
}

async function backUp({ values, io, raw }: Invocation<BackupValues>): Promise<number> {
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const { dataPath } = folder.value;
  const unmarked = refuseMarkedFolder(dataPath, "it is not backed up");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  const to = resolve(io.workingDirectory, values.to);
  if (to === resolve(dataPath))
    return refuse("Backups need a folder of their own, apart from the node's files.", io);
  const key = values["with-key"] === true ? keyToCopy({ ...io, raw }) : ok(undefined);
  if (!key.ok) return refuse(key.error.message, io);
  io.giveWay();
  return run(io, `The backup to ${values.to} failed`, async (pace) => {
    const { createBackup } = await import("../backup/createBackup.ts");
    const megabytes = values["max-mb-per-second"];
    const result = await createBackup({
      ...{ dataPath, to, keep: values.keep, key: key.value, processId: io.processId },
      pace: { ...pace, bytesPerSecond: megabytes === 0 ? undefined : megabytes * 1024 ** 2 },
      progress: new Progress({ message: "backing up" }, new PrintedOutput(io)),
      nowMs: Date.now,
    });
    if (!result.ok)
      return reportFailure(
        result.error.message,
        io,
        result.error.code === "tooLittleRoom" ? EXIT.disk : EXIT.badInput,
      );
    const { folder: name, head, files, newBytes, removed } = result.value;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    io.print(`backup: ${name}\nhead number: ${head.number}\nhead hash: ${head.hash}\n`);
    io.print(`bytes: ${bytes}\nnew bytes: ${newBytes}\n`);
    for (const old of removed) io.print(`removed: ${old}\n`);
    return EXIT.ok;
  });
}

/** The key file of the node with these options, which need not be in its data folder. */
function keyToCopy(sources: ConfigSources): Result<KeyToCopy> {
  const key = readKeyFile(sources);
  if (!key.ok) return key;
  const { keystore, path } = key.value;
  return ok({ path: keystore?.path ?? path, isKeystore: keystore !== undefined });
}

async function restore({ values, io, raw }: Invocation<{ readonly from: string }>): Promise<number> {
  const folder = readDataFolder({ ...io, raw });
  if (!folder.ok) return refuse(folder.error.message, io);
  const { dataPath } = folder.value;
  const unmarked = refuseMarkedFolder(dataPath, "no backup is restored into it");
  if (!unmarked.ok) return refuse(unmarked.error.message, io);
  return run(io, `The backup ${values.from} cannot be restored`, async (pace) => {
    const { restoreBackup } = await import("../backup/restoreBackup.ts");
    const from = resolve(io.workingDirectory, values.from);
    const result = await restoreBackup({
      ...{ from, dataPath, processId: io.processId, pace },
      progress: new Progress({ message: "restoring" }, new PrintedOutput(io)),
    });
    if (!result.ok)
      return reportFailure(
        result.error.message,
        io,
        result.error.code === "badBackup" || result.error.code === "tooLittleRoom"
          ? EXIT.disk
          : EXIT.badInput,
      );
    const { head, files, kept, hasVotes, needsMigration } = result.value;
    io.print(`data folder: ${dataPath}\nhead number: ${head.number}\nhead hash: ${head.hash}\n`);
    for (const { path } of files)
      if ([KEY_NAME, KEYSTORE_NAME].includes(path) && !kept.includes(path))
        io.print(`key: ${join(dataPath, path)}\n`);
    for (const name of kept) io.print(`left as it was: ${name}\n`);
    io.print(
      hasVotes
        ? "The vote log of this folder stays in force.\n"
        : "A validator has no vote log now: it is silent at first, until it cannot contradict what it signed before " +
            "(docs/operating/backup.md).\n",
    );
    if (needsMigration)
      io.print(
        "migration needed: run `ibex database migrate`; a node with a small database migrates it at its start\n",
      );
    return EXIT.ok;
  });
}

/** Runs the command; a stop, or an error of the disk, results in a line and an exit code. */
function run(io: ProcessIo, what: string, work: (pace: CopyPace) => Promise<number>): Promise<number> {
  let isStopped = false;
  void io.awaitStop().received.then(() => {
    isStopped = true;
  });
  const continueOrThrow = (): void => {
    if (isStopped) throw new Stopped();
  };
  return reportDiskErrors(io, async () => {
    try {
      return await work({ bytesPerSecond: undefined, continueOrThrow });
    } catch (error) {
      if (error instanceof Stopped) return reportFailure(`${what}: it was stopped.`, io, EXIT.failed);
      throw translateDiskError(error, what);
    }
  });
}

/** Thrown at the next step of a command after a request to stop. */
class Stopped extends Error {
  override name = "Stopped";
}
